import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {describe, expect, test} from 'vitest'
import {stateChanges} from '../../../../src/log/state/diff.js'
import {entitiesOf, redacted} from '../../../../src/log/state/entities.js'
import {valueJson} from '../../../../src/log/json.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {allSchemas} from '../../../../src/protocol/schema.js'
import {isApplied} from '../../../../src/log/state/apply.js'
import {framedValue, logOf, type NamedRecord, uuid} from './histories.js'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {stateOfLog} from '../../../../src/log/state/load.js'
import {differences, folderOf, load} from './loading.js'
import {control, snapshotOf} from './snapshots.js'

const real = fileURLToPath(new URL('../../../golden/dump-log/real/', import.meta.url))
const log = '00000000000000000000.log'

function files(name: string, which: (file: string) => boolean = () => true): Record<string, Buffer> {
  const folder = join(real, name)
  const names = readdirSync(folder).filter(file => /\.(log|checkpoint)$/.test(file) && which(file))
  return Object.fromEntries(names.map(file => [file, readFileSync(join(folder, file))]))
}

const one = (name: string, data: NamedRecord['data']): NamedRecord => ({name, data})
const topic = (n: number) => one('TopicRecord', {name: `topic-${n}`, topicId: uuid('T', n)})
const partition = (n: number, rest: object = {}) =>
  one('PartitionRecord', {
    partitionId: 0,
    topicId: uuid('T', n),
    replicas: [1, 2],
    isr: [1, 2],
    leader: 1,
    leaderEpoch: 3,
    partitionEpoch: 7,
    ...rest,
  })
const change = (n: number, rest: object) =>
  one('PartitionChangeRecord', {partitionId: 0, topicId: uuid('T', n), ...rest})

async function stateOf(...history: (readonly NamedRecord[])[]) {
  return load(folderOf({[log]: logOf(history)}))
}

const explanations = (findings: readonly {code: string; explanation: string}[]) =>
  findings.map(({code, explanation}) => `${code}: ${explanation}`)

describe('metadata of real clusters', () => {
  test.each(['metadata-broker', 'metadata-controller'])(
    '%s: the snapshot that a node wrote is what kx makes of the log up to there',
    async name => {
      const end = 36n
      const replayed = await load(folderOf(files(name, file => file.endsWith('.log'))), {upTo: end - 1n})
      const written = await load(folderOf(files(name, file => file.includes('36-'))))
      expect(written.logs).toEqual([])
      expect(differences(replayed.state, written.state)).toEqual([])
      expect(written.state).toMatchObject({offset: 35n, epoch: 1, timestamp: replayed.state.timestamp})
      expect(written.state.quorum).toMatchObject({kraftVersion: 1, voters: replayed.state.quorum.voters})
      const [whole, fromLog] = [
        await load(folderOf(files(name))),
        await load(folderOf(files(name, file => file.endsWith('.log')))),
      ]
      expect(stateChanges(whole.state, fromLog.state)).toEqual([])
      expect([whole.snapshot, fromLog.snapshot]).toEqual(['00000000000000000036-0000000001.checkpoint', undefined])
      expect([...replayed.findings, ...written.findings, ...whole.findings]).toEqual([])
    },
  )

  test('a controller and a broker have the same state at the same offset, and the bootstrap snapshot tells the voters only', async () => {
    const broker = await load(folderOf(files('metadata-broker')), {upTo: 50n})
    const controller = await load(folderOf(files('metadata-controller')), {upTo: 50n})
    expect(stateChanges(broker.state, controller.state)).toEqual([])
    const bootstrap = await load(folderOf(files('metadata-controller')), {upTo: 3n})
    expect(bootstrap).toMatchObject({snapshot: '00000000000000000000-0000000000.checkpoint', logs: [log]})
    expect([...bootstrap.state.features]).toEqual([])
    const alone = await load(folderOf(files('metadata-formatted')))
    expect(alone.state.features.get('metadata.version')).toBe(33)
    expect(alone.state.quorum.voters.map(({voterId}) => voterId)).toEqual([101, 102, 103])
  })

  test('Kafka 4.0: voters are those that the leader names', async () => {
    const {state, findings} = await load(folderOf(files('k40-metadata')))
    expect(state.quorum).toMatchObject({leaderId: 1, leaderEpoch: 1, kraftVersion: 0, voters: [{voterId: 1}]})
    expect([...state.topicIds.keys()]).toEqual(expect.arrayContaining(['plain', 'txn', '__consumer_offsets']))
    expect(state.nextProducerId).toBe(1000n)
    expect(findings).toEqual([])
  })

  test('removed voters and a new leader are told, and what was there before stays as it was', async () => {
    const before = await load(folderOf(files('metadata-controller')), {upTo: 38n})
    const after = await load(folderOf(files('metadata-controller')))
    const changes = stateChanges(before.state, after.state)
    expect(changes[0]).toMatchObject({
      kind: 'quorum',
      change: 'changed',
      before: {leaderId: 103},
      after: {leaderId: 102},
    })
    expect(changes.filter(({kind}) => kind === 'voter')).toMatchObject([{change: 'removed', label: 'voter 103'}])
  })
})

test('every record type of the metadata log that any line of Kafka 4 has is applied', () => {
  const types = [...allSchemas()].filter(({kind, topic: of}) => kind === 'metadata' && of === '__cluster_metadata')
  expect(types.length).toBe(27)
  expect(types.filter(({name}) => !isApplied(name)).map(({name}) => name)).toEqual([])
})

describe('a change of a partition', () => {
  const partitionOf = async (...changes: object[]) => {
    const {state, findings} = await stateOf([topic(1), partition(1)], ...changes.map(each => [change(1, each)]))
    expect(findings).toEqual([])
    return state.topics.get(uuid('T', 1))?.partitions.get(0)
  }

  test('without a leader leaves leader and leader epoch as they are', async () => {
    expect(await partitionOf({isr: [1]})).toMatchObject({
      leader: 1,
      leaderEpoch: 3,
      partitionEpoch: 8,
      inSyncReplicas: [1],
    })
  })

  test('that names the same leader raises its epoch', async () => {
    expect(await partitionOf({leader: 1})).toMatchObject({leader: 1, leaderEpoch: 4, inSyncReplicas: [1, 2]})
  })

  test('that names none takes the leader away', async () => {
    expect(await partitionOf({leader: -1, isr: []})).toMatchObject({leader: -1, leaderEpoch: 4, inSyncReplicas: []})
  })

  test('by an empty list empties, by none leaves', async () => {
    expect(await partitionOf({addingReplicas: [3]}, {removingReplicas: [2]}, {addingReplicas: []})).toMatchObject({
      addingReplicas: [],
      removingReplicas: [2],
      partitionEpoch: 10,
    })
  })

  test('of an older version knows no directories and eligible leaders, and leaves them', async () => {
    const elr = {eligibleLeaderReplicas: [2], lastKnownElr: [3], directories: [uuid('D', 1), uuid('D', 2)]}
    const value = framedValue(change(1, {leader: 2}), 0)
    const records = logOf([[topic(1), partition(1, elr)]])
    const older = writeBatch({baseOffset: 2n, leaderEpoch: 1, records: [{timestamp: 1n, key: null, value}]})
    const {state} = await load(folderOf({[log]: Buffer.concat([records, older])}))
    expect(state.topics.get(uuid('T', 1))?.partitions.get(0)).toMatchObject({
      leader: 2,
      eligibleLeaderReplicas: [2],
      lastKnownEligibleLeaderReplicas: [3],
      directories: elr.directories,
    })
  })
})

test('a topic that is removed takes its settings along, and comes back as another one', async () => {
  const setting = one('ConfigRecord', {resourceType: 2, resourceName: 'topic-1', name: 'retention.ms', value: '5'})
  const removal = one('RemoveTopicRecord', {topicId: uuid('T', 1)})
  const again = one('TopicRecord', {name: 'topic-1', topicId: uuid('T', 9)})
  const before = await stateOf([topic(1), setting])
  const after = await stateOf([topic(1), setting], [removal], [again])
  const changes = stateChanges(before.state, after.state).map(({change: what, label}) => `${what} ${label}`)
  expect(changes).toEqual([
    'removed topic topic-1',
    'added topic topic-1',
    'removed setting of topic topic-1: retention.ms',
  ])
})

describe('what does not add up is told', () => {
  test('a record type, a version or bytes that are not known are not in the state', async () => {
    const unknown = Buffer.from([1, 99, 0, 1, 2, 3])
    const newer = Buffer.from(framedValue(topic(2)))
    newer[2] = 9
    const trailing = Buffer.concat([framedValue(topic(3)), Buffer.of(7)])
    const values = [framedValue(topic(1)), unknown, newer, trailing, null, framedValue(topic(4))]
    const bytes = writeBatch({leaderEpoch: 1, records: values.map(value => ({timestamp: 1n, key: null, value}))})
    const {state, findings} = await load(folderOf({[log]: bytes}))
    expect([...state.topicIds.keys()]).toEqual(['topic-1', 'topic-4'])
    expect(findings.map(({code, offset}) => `${code} ${offset}`)).toEqual(
      ['1', '2', '3', '4'].map(offset => `state-record ${offset}`),
    )
    expect(findings[0]?.explanation).toBe('The record is not in the state: record type 99 is not known.')
  })

  test('records that change what is not there', async () => {
    const broker = {brokerId: 1, brokerEpoch: 5n, incarnationId: uuid('I', 1), endPoints: [], features: [], rack: null}
    const {findings} = await stateOf(
      [topic(1), partition(2), change(1, {leader: 2}), one('RemoveTopicRecord', {topicId: uuid('T', 3)})],
      [
        one('FenceBrokerRecord', {id: 1, epoch: 5n}),
        one('RegisterBrokerRecord', broker),
        one('FenceBrokerRecord', {id: 1, epoch: 4n}),
      ],
      [one('RemoveAccessControlEntryRecord', {id: uuid('L', 1)}), one('ClearElrRecord', {topicName: 'gone'})],
      [one('EndTransactionRecord', {}), one('BeginTransactionRecord', {}), one('BeginTransactionRecord', {})],
    )
    expect(new Set(findings.map(({code}) => code))).toEqual(new Set(['state-conflict']))
    expect(findings.map(({offset}) => Number(offset))).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 11])
    expect(findings[1]?.explanation).toMatch(
      /^The PartitionChangeRecord does not fit the state before it: the topic with the id \S+ has no partition 0\.$/,
    )
  })

  test('a gap in the log, and a batch with a false CRC', async () => {
    const first = logOf([[topic(1), topic(2)]])
    const damaged = logOf([[topic(3)]], {baseOffset: 5n})
    damaged[damaged.length - 1] = (damaged[damaged.length - 1] as number) ^ 1
    const last = logOf([[topic(4)]], {baseOffset: 6n})
    const {state, findings} = await load(folderOf({[log]: Buffer.concat([first, damaged, last])}))
    expect([...state.topicIds.keys()]).toEqual(['topic-1', 'topic-2', 'topic-4'])
    expect(explanations(findings)).toEqual([
      'state-gap: The records at offsets 2 to 4 are not in the state: they are not in the log.',
      'state-gap: The record at offset 5 is not in the state: they are in a batch with a false CRC.',
    ])
  })

  test('batches behind an offset that is too high, and records that are in the state already', async () => {
    const far = logOf([[topic(1)]])
    far.writeBigInt64BE(1_000n, 0)
    const bytes = Buffer.concat([far, logOf([[topic(2), topic(3)]], {baseOffset: 1n})])
    const {state, findings} = await load(folderOf({[log]: bytes}))
    expect([...state.topicIds.keys()]).toEqual(['topic-1'])
    expect(explanations(findings)).toEqual([
      'state-gap: The records at offsets 0 to 999 are not in the state: they are not in the log.',
      'state-gap: The records at offsets 1 to 2 are not in the state: they lie behind offset 1000 in the log.',
    ])
    const base = await stateOf([topic(1), topic(2)])
    const files = {
      '00000000000000000002-0000000001.checkpoint': snapshotOf(base.state),
      [log]: logOf([[topic(1), topic(2), topic(3)]]),
    }
    const both = await load(folderOf(files))
    expect([both.records, both.findings, [...both.state.topicIds.keys()]]).toEqual([
      3,
      [],
      ['topic-1', 'topic-2', 'topic-3'],
    ])
  })

  test('a snapshot that is not whole: the one before it, or the log is taken', async () => {
    const base = await stateOf([topic(1), topic(2)])
    const whole = snapshotOf(base.state)
    const names = ['00000000000000000001-0000000001.checkpoint', '00000000000000000002-0000000001.checkpoint']
    const cut = whole.subarray(0, whole.length - 80)
    const flipped = Buffer.from(whole)
    flipped[200] = (flipped[200] as number) ^ 0x10
    for (const bad of [cut, flipped]) {
      const found = await load(
        folderOf({
          [names[0] as string]: snapshotOf((await stateOf([topic(1)])).state),
          [names[1] as string]: bad,
          [log]: logOf([[topic(1), topic(2)]]),
        }),
      )
      expect(found.snapshot).toBe(names[0])
      expect([...found.state.topicIds.keys()]).toEqual(['topic-1', 'topic-2'])
      expect(found.findings.map(({code}) => code)).toEqual(['state-snapshot'])
    }
  })

  test('an offset that neither log nor snapshots have', async () => {
    const {state} = await stateOf([topic(1), topic(2)])
    const late = folderOf({
      '00000000000000000002-0000000001.checkpoint': snapshotOf(state),
      '00000000000000000002.log': logOf([[topic(3)]], {baseOffset: 2n}),
    })
    await expect(load(late, {upTo: 0n})).rejects.toMatchObject({code: 'KX_NO_STATE', kind: 'input'})
    await expect(load(late, {upTo: 9n, mustReach: true})).rejects.toMatchObject({code: 'KX_NO_OFFSET', kind: 'usage'})
    const bytes = logOf([[topic(3)]], {baseOffset: 2n})
    const piped = {...bufferSource(bytes), path: '-', name: 'stdin'}
    for (const upTo of [1n, 9n]) {
      const options = {read: {}, watch: async <T>(visitor: T) => visitor, tell: () => undefined, upTo, mustReach: true}
      await expect(stateOfLog(piped, options)).rejects.toMatchObject({code: 'KX_NO_OFFSET', kind: 'usage'})
    }
    await expect(load(folderOf({}))).rejects.toMatchObject({code: 'KX_NO_STATE'})
    expect((await load(late, {upTo: 1n})).logs).toEqual([])
  })

  test('an offset within a batch: no broker ever had that state', async () => {
    const {state, withinBatch} = await load(folderOf({[log]: logOf([[topic(1), topic(2), topic(3)]])}), {upTo: 1n})
    expect([...state.topicIds.keys()]).toEqual(['topic-1', 'topic-2'])
    expect(withinBatch).toEqual({baseOffset: 0n, lastOffset: 2n})
  })
})

test('a transaction over several segments is applied at its end, with the offsets of its records where they do not fit', async () => {
  const [begin, end] = [one('BeginTransactionRecord', {name: 'two segments'}), one('EndTransactionRecord', {})]
  const parts = {
    [log]: logOf([[begin, topic(1)]]),
    '00000000000000000002.log': logOf([[change(9, {leader: 1}), end]], {baseOffset: 2n}),
  }
  const {state, findings, openTransaction} = await load(folderOf(parts))
  expect([...state.topicIds.keys()]).toEqual(['topic-1'])
  expect(findings.map(({code, offset}) => `${code} ${offset}`)).toEqual(['state-conflict 2'])
  expect(openTransaction).toBeUndefined()
})

test('voters of KRAFT_VOTERS count from kraft.version 1 on, whatever a later leader names', async () => {
  const voter = {
    voterId: 5,
    voterDirectoryId: uuid('D', 5),
    endpoints: [{name: 'C', host: 'h', port: 1}],
    kRaftVersionFeature: {minSupportedVersion: 0, maxSupportedVersion: 1},
  }
  const bytes = Buffer.concat([
    control(0n, 5, 'KRaftVersionRecord', {version: 0, kRaftVersion: 1}),
    control(1n, 6, 'VotersRecord', {version: 0, voters: [voter]}),
    control(
      2n,
      2,
      'LeaderChangeMessage',
      {version: 0, leaderId: 5, voters: [{voterId: 5}, {voterId: 6}], grantingVoters: []},
      4,
    ),
  ])
  const {state} = await load(folderOf({[log]: bytes}))
  expect(state.quorum).toMatchObject({
    leaderId: 5,
    leaderEpoch: 4,
    kraftVersion: 1,
    voters: [{voterId: 5, endpoints: [{host: 'h'}]}],
  })
})

describe('secrets', () => {
  const scram = (stored: number) =>
    one('UserScramCredentialRecord', {
      name: 'alice',
      mechanism: 1,
      salt: Buffer.from('pepper'),
      storedKey: Buffer.of(stored),
      serverKey: Buffer.of(2),
      iterations: 4096,
    })
  const config = (value: string) =>
    one('ConfigRecord', {resourceType: 4, resourceName: '1', name: 'listener.name.x.ssl.keystore.password', value})

  test('of users and settings are never shown, and still a change of them is told', async () => {
    const before = await stateOf([scram(1), config('hunter2')])
    const after = await stateOf([scram(7), config('hunter3')])
    const shown = valueJson(entitiesOf(before.state), bytes => JSON.stringify(bytes))
    expect(shown).toContain('alice')
    expect(shown).not.toMatch(/hunter|pepper|cGVwcGVy/)
    const changes = stateChanges(before.state, after.state)
    expect(changes.map(({label, change: what, fields}) => [label, what, fields.length])).toEqual([
      ['setting of broker 1: listener.name.x.ssl.keystore.password', 'changed', 0],
      ['SCRAM-SHA-256 credential of alice', 'changed', 0],
    ])
    expect(stateChanges(before.state, before.state)).toEqual([])
  })

  test('--redact leaves ids, numbers and Kafka’s own words', async () => {
    const {state} = await load(folderOf(files('metadata-broker')))
    const all = entitiesOf(state, redacted).map(({kind, label, fields}) => ({kind, label, fields}))
    const shown = valueJson(all, bytes => JSON.stringify(bytes))
    expect(shown).not.toMatch(/alpha|beta|alice|localhost/)
    expect(shown).toContain('SLjvxUAQR4yx9X9tqPtIrw')
    expect(shown).toContain('<redacted, 5 bytes>')
    expect(shown).toContain('cleanup.policy')
    expect(shown).toContain('setting of broker 2: log.cleaner.threads')
  })
})
