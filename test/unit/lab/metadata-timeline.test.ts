import {describe, expect, test} from 'vitest'
import type {ClusterNode} from '../../../src/cluster/cluster.js'
import {readTimeline} from '../../../src/lab/metadata-timeline.js'
import {bufferSource} from '../../../src/log/byte-source.js'
import {varint, writeBatch} from '../../../src/log/write-batch.js'
import {encode, messageNamed} from '../../../src/protocol/messages.js'

// The controller's log, made with the same codec that reads real ones (test/golden/log has those), so that each case has
// just what it is about.

const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ'
const other = 'AAAAAAAAAAAAAAAAAAAAAg'

function record(name: string, data: Readonly<Record<string, unknown>>, version = 0): Buffer {
  const {apiKey = 0} = messageNamed(name)
  return Buffer.concat([Buffer.from([1, apiKey, version]), encode(name, version, data)])
}

/** A node whose `__cluster_metadata` holds these batches: wall clock and records. */
function controller(
  batches: readonly (readonly [wallMs: number, ...records: Buffer[]])[],
  change = (bytes: Buffer) => bytes,
): ClusterNode {
  let baseOffset = 0n
  const bytes = batches.map(([wallMs, ...values]) => {
    const batch = writeBatch({
      baseOffset,
      leaderEpoch: 1,
      records: values.map(value => ({timestamp: BigInt(wallMs), key: null, value})),
    })
    baseOffset += BigInt(values.length)
    return batch
  })
  const log = change(Buffer.concat(bytes))
  const files = async () => [
    {name: '00000000000000000000.index', size: 8, open: () => bufferSource(Buffer.alloc(8))},
    {name: '00000000000000000000.log', size: log.length, open: () => bufferSource(log)},
  ]
  return {files} as unknown as ClusterNode
}

const made = (id: string, name: string) => [
  record('TopicRecord', {name, topicId: id}),
  record('PartitionRecord', {
    partitionId: 0,
    topicId: id,
    replicas: [1, 2, 3],
    isr: [1, 2, 3],
    leader: 1,
    leaderEpoch: 0,
    partitionEpoch: 0,
  }),
]
const changed = (data: Readonly<Record<string, unknown>>) =>
  record('PartitionChangeRecord', {partitionId: 0, topicId, ...data})
const request = {topics: new Map([['kx-x-1-orders', 'orders']]), sinceWallMs: 1_000}
const read = (...batches: Parameters<typeof controller>[0]) => readTimeline(controller(batches), request)

describe('the timeline', () => {
  test('folds what each record changes into whole states, and counts a leader epoch per leader', async () => {
    const events = await read(
      [1_050, ...made(topicId, 'kx-x-1-orders')],
      [
        9_000,
        changed({isr: [2, 3], leader: 2}),
        record('BrokerRegistrationChangeRecord', {brokerId: 1, brokerEpoch: 5n, fenced: 1}),
      ],
      [12_000, changed({isr: [2, 3, 1]})],
    )
    expect(
      events.map(({atMs, kind, leader, leaderEpoch, inSyncReplicas, nodeId}) => [
        atMs,
        kind,
        leader ?? nodeId,
        leaderEpoch,
        inSyncReplicas,
      ]),
    ).toEqual([
      [50, 'partition', 1, 0, [1, 2, 3]],
      [8_000, 'partition', 2, 1, [2, 3]],
      [8_000, 'fenced', 1, undefined, undefined],
      [11_000, 'partition', 2, 1, [2, 3, 1]],
    ])
    expect(events[1]?.batch).toBe(events[2]?.batch)
  })

  test('leaves out other topics, and broker events from before the trial', async () => {
    const events = await read(
      [900, record('BrokerRegistrationChangeRecord', {brokerId: 3, brokerEpoch: 5n, fenced: -1})],
      [1_010, ...made(other, 'somebody-elses'), ...made(topicId, 'kx-x-1-orders')],
    )
    expect(events.map(({kind, topic}) => [kind, topic])).toEqual([['partition', 'orders']])
  })

  test('refuses to be silent about a topic that the log does not have', async () => {
    await expect(read([1_010, ...made(other, 'somebody-elses')])).rejects.toMatchObject({
      code: 'KX_METADATA_LOG',
      kind: 'inconclusive',
    })
  })

  test('refuses a record of the trial that it can’t read; one from before is no matter', async () => {
    const unknown = Buffer.from([1, 0x7f, 0])
    await expect(read([1_010, ...made(topicId, 'kx-x-1-orders')], [1_020, unknown])).rejects.toMatchObject({
      code: 'KX_METADATA_LOG',
    })
    await expect(read([500, unknown], [1_010, ...made(topicId, 'kx-x-1-orders')])).resolves.toHaveLength(1)
  })

  test('refuses a batch with a false CRC: a change in it would be missed', async () => {
    const node = controller(
      [
        [1_010, ...made(topicId, 'kx-x-1-orders')],
        [1_020, changed({isr: [1]})],
      ],
      bytes => {
        bytes[bytes.length - 1]! ^= 1
        return bytes
      },
    )
    await expect(readTimeline(node, request)).rejects.toMatchObject({code: 'KX_METADATA_LOG'})
  })

  test('is content with a batch that is cut off at the end: the controller is just writing it', async () => {
    const node = controller(
      [
        [1_010, ...made(topicId, 'kx-x-1-orders')],
        [1_020, changed({isr: [1]})],
      ],
      bytes => bytes.subarray(0, bytes.length - 5),
    )
    await expect(readTimeline(node, request)).resolves.toHaveLength(1)
  })
})

test('varints of more than one byte are written as Kafka does', () => {
  expect(varint(64)).toEqual(Buffer.from([0x80, 0x01]))
})
