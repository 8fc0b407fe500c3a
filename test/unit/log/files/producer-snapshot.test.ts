import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {crc32c} from '../../../../src/log/crc32c.js'
import {
  openProducerSnapshot,
  type ProducerEntry,
  writeProducerSnapshot,
} from '../../../../src/log/files/producer-snapshot.js'

/** Encoded independently of Kafka's code. */
const golden = Buffer.from(
  '0001f59ae56c0000000100000000000003e80001000000000000000000000002000000000000018bcfe5681400000007ffffffffffffffff',
  'hex',
)
const schema = 'Snapshot failed schema validation:'

/** Sets the count, drops or adds bytes, sets the right CRC. */
function made({count = 1, body = golden.subarray(10), version = 1} = {}): Buffer {
  const bytes = Buffer.concat([golden.subarray(0, 10), body])
  bytes.writeInt16BE(version, 0)
  bytes.writeInt32BE(count, 6)
  bytes.writeUInt32BE(crc32c(bytes.subarray(6)), 2)
  return bytes
}

async function read(bytes: Buffer) {
  const snapshot = await openProducerSnapshot(bufferSource(bytes))
  const entries: ProducerEntry[] = []
  for await (const chunk of snapshot.entries()) entries.push(...chunk)
  return {snapshot, entries, kinds: snapshot.problems.map(({kind}) => kind)}
}

describe('a producer snapshot', () => {
  test('gives its entries, and is written back as it was', async () => {
    const {snapshot, entries, kinds} = await read(golden)
    expect(entries).toEqual([
      {
        index: 0,
        producerId: 1000n,
        producerEpoch: 1,
        firstSequence: 0,
        lastSequence: 0,
        lastOffset: 2n,
        offsetDelta: 0,
        timestamp: 1_700_000_000_020n,
        coordinatorEpoch: 7,
        currentTxnFirstOffset: null,
      },
    ])
    expect(kinds).toEqual([])
    expect(snapshot).toMatchObject({version: 1, storedCrc: 4_120_569_196, computedCrc: 4_120_569_196, statedCount: 1})
    expect(snapshot).not.toHaveProperty('kafkaRefuses')
    expect(writeProducerSnapshot(entries)).toEqual(golden)
  })

  test('of no producers is normal', async () => {
    const empty = writeProducerSnapshot([])
    expect(empty).toHaveLength(10)
    expect(await read(empty)).toMatchObject({entries: [], kinds: [], snapshot: {entryCount: 0, crcIsRight: true}})
  })

  test('of an open transaction says where it begins', async () => {
    const {entries} = await read(golden)
    const open = writeProducerSnapshot([{...(entries[0] as ProducerEntry), currentTxnFirstOffset: 2n ** 62n + 1n}])
    expect((await read(open)).entries[0]?.currentTxnFirstOffset).toBe(2n ** 62n + 1n)
  })

  test('of a transaction that begins at a negative offset: none is open, as to Kafka', async () => {
    const {entries} = await read(golden)
    for (const currentTxnFirstOffset of [-2n, -(2n ** 63n)]) {
      const damaged = writeProducerSnapshot([{...(entries[0] as ProducerEntry), currentTxnFirstOffset}])
      expect((await read(damaged)).entries[0]?.currentTxnFirstOffset).toBeNull()
    }
  })

  test.each([
    [3, 1, 2],
    [1, 3, 2_147_483_646],
    [0, 0, 0],
    [0, 1, 2_147_483_647],
    [-1, 0, 2_147_483_647],
  ])('goes back in sequences from %i by %i to %i', async (lastSequence, offsetDelta, firstSequence) => {
    const [entry] = (await read(golden)).entries
    const bytes = writeProducerSnapshot([{...(entry as ProducerEntry), lastSequence, offsetDelta}])
    expect((await read(bytes)).entries[0]).toMatchObject({lastSequence, offsetDelta, firstSequence})
  })

  // What Kafka 4.4.0's own tool says of the same bytes.
  test.each([
    ['no bytes', Buffer.alloc(0), ['header'], `${schema} null`],
    ['a byte', golden.subarray(0, 1), ['header'], `${schema} null`],
    ['five bytes', golden.subarray(0, 5), ['header'], `${schema} null`],
    ['nine bytes', golden.subarray(0, 9), ['header', 'crc'], `${schema} null`],
    ['version 0', made({version: 0}), ['version'], `${schema} Snapshot contained an unknown file version 0`],
    ['version 2', made({version: 2}), ['version'], `${schema} Snapshot contained an unknown file version 2`],
    ['version -1', made({version: -1}), ['version'], `${schema} Snapshot contained an unknown file version -1`],
    ['a cut end', golden.subarray(0, 51), ['cut', 'crc'], `${schema} null`],
    ['a count of 2 for one entry', made({count: 2}), ['cut'], `${schema} null`],
    [
      'a count above the bytes left',
      made({count: 1000}),
      ['cut'],
      `${schema} Tried to allocate a collection of size 1000, but there are only 46 bytes remaining.`,
    ],
    [
      'a negative count',
      made({count: -2}),
      ['count'],
      `${schema} non-nullable field producerEntries was serialized as null`,
    ],
  ])('with %s is told, and what Kafka says of it', async (_, bytes, expected, kafkaRefuses) => {
    const {snapshot, kinds} = await read(bytes)
    expect(snapshot.kafkaRefuses).toBe(kafkaRefuses)
    expect(kinds.filter(kind => kind !== 'crc' || expected.includes('crc'))).toEqual(
      expected.filter(kind => kinds.includes(kind as never)),
    )
    expect(kinds).toContain(expected[0])
  })

  test('with a false CRC shows its entries all the same', async () => {
    const bytes = Buffer.from(golden)
    bytes[20] = 7
    const {snapshot, entries, kinds} = await read(bytes)
    expect(kinds).toEqual(['crc'])
    expect(entries).toHaveLength(1)
    expect(snapshot.kafkaRefuses).toBe(
      'Snapshot is corrupt (CRC is no longer valid). Stored crc: 4120569196. Computed crc: 1862125400',
    )
  })

  test('with more behind its entries is read by Kafka, and told', async () => {
    const {snapshot, entries, kinds} = await read(made({body: Buffer.concat([golden.subarray(10), Buffer.alloc(3)])}))
    expect(kinds).toEqual(['leftover'])
    expect(snapshot).toMatchObject({leftoverBytes: 3, crcIsRight: true})
    expect(snapshot).not.toHaveProperty('kafkaRefuses')
    expect(entries).toHaveLength(1)
  })

  test('that promises two thousand million entries allocates none of them', async () => {
    const {snapshot, entries} = await read(made({count: 2_147_483_647}))
    expect(entries).toHaveLength(1)
    expect(snapshot.entryCount).toBe(1)
  })
})
