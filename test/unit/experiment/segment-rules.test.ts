import {describe, expect, test} from 'vitest'
import type {
  BatchSeen,
  DamagedCopy,
  FileSeen,
  RecordSeen,
  ReplicaReading,
} from '../../../src/experiment/segment-reading.js'
import {
  codecsIn,
  disagreements,
  disorder,
  endOf,
  endsIn,
  missedDamage,
  sentAsTheyWere,
  unequalReplicas,
  unlikeTold,
} from '../../../src/experiment/segment-rules.js'
import type {Told, ToldRecord} from '../../../src/history/told.js'

// Pairs: what must be flagged, and its neighbour that must not.

interface Made extends Partial<BatchSeen> {
  readonly values?: readonly string[]
  readonly marker?: string
}

/** A log out of what is said of each batch; offsets and positions follow one another. */
function log(...batches: readonly Made[]): BatchSeen[] {
  let baseOffset = 0
  let position = 0
  return batches.map(({values = [], marker, ...rest}) => {
    const count = marker === undefined ? values.length : 1
    const sizeInBytes = rest.sizeInBytes ?? 61 + 10 * count
    const record = (n: number): RecordSeen => ({
      offset: baseOffset + n,
      timestamp: 1,
      keySize: 1,
      valueSize: 1,
      sequence: (rest.baseSequence ?? -1) < 0 ? -1 : (rest.baseSequence ?? 0) + n,
      headerKeys: '',
      key: marker === undefined ? 'k' : null,
      value: marker === undefined ? (values[n] ?? '') : null,
      ...(marker === undefined ? {} : {marker: `${marker}, coordinator epoch 0`}),
    })
    const batch: BatchSeen = {
      baseOffset,
      lastOffset: baseOffset + count - 1,
      count,
      baseSequence: -1,
      lastSequence: -1,
      producerId: -1,
      producerEpoch: -1,
      leaderEpoch: 0,
      isTransactional: false,
      isControl: marker !== undefined,
      deleteHorizonMs: null,
      position,
      timestampType: 'CreateTime',
      timestamp: 1,
      sizeInBytes,
      magic: 2,
      codec: 'none',
      crc: baseOffset + 7,
      isValid: true,
      records: Array.from({length: count}, (_, n) => record(n)),
      ...rest,
    }
    baseOffset += count
    position += sizeInBytes
    return batch
  })
}

const told = (series: Partial<Told> & {records: ToldRecord[]}): Told => ({
  client: 'kafkajs',
  version: '1',
  topic: 't',
  codec: 'none',
  producer: 'plain',
  ...series,
})
const acked = (value: string, offset: number | null, rest: Partial<ToldRecord> = {}): ToldRecord => ({
  key: 'k',
  value,
  offset,
  outcome: 'acknowledged',
  producerId: null,
  producerEpoch: null,
  ...rest,
})

describe('what a plain producer was told', () => {
  const series = told({codec: 'gzip', records: [acked('a', 0), acked('b', 1)]})
  const fits = log({values: ['a', 'b'], codec: 'gzip'})

  test('is what lies there', () => {
    expect(unlikeTold([series], fits, 'producer')).toEqual([])
  })

  test.each<[string, Told[], BatchSeen[], string]>([
    ['a value is another', [series], log({values: ['a', 'c'], codec: 'gzip'}), 'holds k=c, and k=b was acknowledged'],
    [
      'an acknowledged record is missing',
      [series],
      log({values: ['a'], codec: 'gzip'}),
      'b is not where it was told to be',
    ],
    [
      'a record is there of which nobody was told',
      [series],
      log({values: ['a', 'b', 'c'], codec: 'gzip'}),
      'of which no client was told',
    ],
    ['two were told the same offset', [series, told({codec: 'gzip', records: [acked('a', 0)]})], fits, 'told twice'],
    ['the codec is another', [series], log({values: ['a', 'b'], codec: 'lz4'}), 'codec lz4'],
    [
      'a batch is transactional',
      [series],
      log({values: ['a', 'b'], codec: 'gzip', isTransactional: true}),
      ': transactional',
    ],
    ['a batch has a producer id', [series], log({values: ['a', 'b'], codec: 'gzip', producerId: 5}), 'producer id 5'],
  ])('is not, if %s', (_, series, bytes, sentence) => {
    expect(unlikeTold(series, bytes, 'producer').join('\n')).toContain(sentence)
  })

  test('may carry a sequence without a producer id, as kafkajs writes it', () => {
    expect(
      unlikeTold([series], log({values: ['a', 'b'], codec: 'gzip', producerEpoch: 0, baseSequence: 0}), 'producer'),
    ).toEqual([])
  })
})

describe('a codec that was set', () => {
  const one = told({client: 'librdkafka', codec: 'zstd', records: [acked('a', 0)]})
  const two = told({client: 'librdkafka', codec: 'zstd', records: [acked('a', 0), acked('b', 1)]})

  test('may be left out by librdkafka for a single record, by no other client, and not for two', () => {
    expect(unlikeTold([one], log({values: ['a']}), 'producer')).toEqual([])
    expect(unlikeTold([{...one, client: 'kafkajs'}], log({values: ['a']}), 'producer')).not.toEqual([])
    expect(unlikeTold([two], log({values: ['a', 'b']}), 'producer')).not.toEqual([])
  })

  test('is counted where it was left out, and a series without a codec is not', () => {
    const bytes = log({values: ['a']}, {values: ['c']}, {values: ['d'], codec: 'zstd'})
    const others = told({client: 'librdkafka', codec: 'none', records: [acked('c', 1)]})
    expect(sentAsTheyWere([{...one, records: [acked('a', 0), acked('d', 2)]}, others], bytes)).toEqual([bytes[0]])
  })

  test('gives way to that of the topic', () => {
    expect(unlikeTold([one], log({values: ['a'], codec: 'gzip'}), 'gzip')).toEqual([])
    expect(unlikeTold([one], log({values: ['a'], codec: 'zstd'}), 'gzip')).not.toEqual([])
    expect(unlikeTold([one], log({values: ['a'], codec: 'zstd'}), undefined)).not.toEqual([])
  })
})

describe('what an idempotent producer was told', () => {
  const own = {producerId: 7, producerEpoch: 1}
  const records = ['a', 'b', 'c'].map((value, offset) => acked(value, offset, own))
  const series = told({producer: 'idempotent', records})
  const batches = (first: Made = {}, second: Made = {}) =>
    log({...own, baseSequence: 0, values: ['a', 'b'], ...first}, {...own, baseSequence: 2, values: ['c'], ...second})

  test('is what lies there, sequence by sequence', () => {
    expect(unlikeTold([series], batches(), 'producer')).toEqual([])
  })

  test.each<[string, BatchSeen[], string]>([
    ['the producer id is another', batches({producerId: 8}), 'producer 8 epoch 1, and the client is 7 epoch 1'],
    ['the epoch is another', batches({}, {producerEpoch: 2}), 'producer 7 epoch 2'],
    ['there is no producer id', batches({producerId: -1}), 'no producer id'],
    ['a sequence is missing', batches({}, {baseSequence: 3}), 'sequence 3, and 2 was due'],
    ['a sequence comes twice', batches({}, {baseSequence: 1}), 'sequence 1, and 2 was due'],
    ['there is no sequence', batches({baseSequence: -1}), 'sequence -1, and 0 was due'],
  ])('is not, if %s', (_, bytes, sentence) => {
    expect(unlikeTold([series], bytes, 'producer').join('\n')).toContain(sentence)
  })
})

describe('a transaction', () => {
  const data = (value: string, producerEpoch: number, baseSequence = 0): Made => ({
    values: [value],
    producerId: 9,
    producerEpoch,
    baseSequence,
    isTransactional: true,
  })
  const end = (marker: string, producerEpoch: number): Made => ({
    marker,
    producerId: 9,
    producerEpoch,
    isTransactional: true,
  })
  const record = (value: string, offset: number | null, outcome: ToldRecord['outcome'], producerEpoch: number) =>
    acked(value, offset, {outcome, producerId: 9, producerEpoch})
  const series = (...records: ToldRecord[]) => [told({producer: 'transactional', records})]

  test('is decided by the marker of its epoch (first protocol) or of the next (second)', () => {
    const old = log(data('a', 0), end('COMMIT', 0), data('b', 0, 1), end('ABORT', 0))
    expect(unlikeTold(series(record('a', 0, 'committed', 0), record('b', 2, 'aborted', 0)), old, 'producer')).toEqual(
      [],
    )
    const second = log(data('a', 0), end('COMMIT', 1), data('b', 1), end('ABORT', 2))
    expect(
      unlikeTold(series(record('a', 0, 'committed', 0), record('b', 2, 'aborted', 1)), second, 'producer'),
    ).toEqual([])
    expect(endsIn(second)).toEqual(['committed', 'aborted'])
  })

  test.each<[string, BatchSeen[], string]>([
    ['the marker is the other one', log(data('a', 0), end('ABORT', 0)), 'ended as aborted, and committed was told'],
    ['there is no marker', log(data('a', 0)), 'ended as open'],
    ['the marker is of another producer', log(data('a', 0), {...end('COMMIT', 0), producerId: 8}), 'ended as open'],
    ['the marker is of an epoch that can’t be', log(data('a', 0), end('COMMIT', 2)), 'ended as open'],
    [
      'its batch is not transactional',
      log({...data('a', 0), isTransactional: false}, end('COMMIT', 0)),
      'not transactional',
    ],
  ])('is not as it was told if %s', (_, bytes, sentence) => {
    expect(unlikeTold(series(record('a', 0, 'committed', 0)), bytes, 'producer').join('\n')).toContain(sentence)
  })

  test('that was aborted may have left nothing, where the client tells no offsets; a committed one may not', () => {
    const bytes = log(data('a', 0), end('COMMIT', 1), data('b', 2), end('COMMIT', 3))
    const copied = [
      record('a', null, 'committed', 0),
      record('b', null, 'aborted', 1),
      record('b', null, 'committed', 2),
    ]
    expect(unlikeTold(series(...copied), bytes, 'producer')).toEqual([])
    expect(
      unlikeTold(series(...copied.map(each => ({...each, outcome: 'committed' as const}))), bytes, 'producer').join(),
    ).toContain('b is not where it was told to be')
    expect(
      unlikeTold(series(record('a', 0, 'committed', 0), record('b', 5, 'aborted', 1)), bytes, 'producer').join(),
    ).toContain('b is not where it was told to be')
  })

  test('is open until its marker comes', () => {
    const [batch, marker] = log(data('a', 0), end('ABORT', 0)) as [BatchSeen, BatchSeen]
    expect([endOf(batch, [batch]), endOf(batch, [batch, marker])]).toEqual(['open', 'aborted'])
  })
})

const file = (batches: BatchSeen[], trailingBytes = 0): FileSeen => ({batches, trailingBytes})
const replica = (nodeId: number, batches: BatchSeen[], rest: Partial<ReplicaReading> = {}): ReplicaReading => {
  const sizeInBytes = batches.reduce((sum, batch) => sum + batch.sizeInBytes, 0)
  const name = '00000000000000000000'
  return {
    nodeId,
    highWatermark: (batches.at(-1)?.lastOffset ?? -1) + 1,
    logEndOffset: (batches.at(-1)?.lastOffset ?? -1) + 1,
    files: [`${name}.log`, `${name}.index`, `${name}.timeindex`],
    segments: [{file: `${name}.log`, sizeInBytes, kx: file(batches), kafka: file(batches)}],
    sha256: 'abc',
    chainedBytes: sizeInBytes,
    ...rest,
  }
}
const three = (batches: BatchSeen[]) => [1, 2, 3].map(nodeId => replica(nodeId, batches))

describe('replicas', () => {
  const [first, second, third] = three(log({values: ['a']})) as [ReplicaReading, ReplicaReading, ReplicaReading]

  test('are equal, or another hash or length is told', () => {
    expect(unequalReplicas([first, second, third])).toEqual([])
    expect(unequalReplicas([first, second, {...third, sha256: 'abd'}])).toEqual([
      'broker 3 has other bytes than broker 1',
    ])
    expect(unequalReplicas([first, {...second, chainedBytes: 1}, third])).toEqual([
      'broker 2 has other bytes than broker 1',
    ])
  })

  test('that are not there, or are empty, are not equal', () => {
    expect(unequalReplicas([])).toHaveLength(1)
    expect(unequalReplicas([first])).toHaveLength(1)
    expect(unequalReplicas([first, second].map(each => ({...each, chainedBytes: 0})))).toHaveLength(1)
  })

  test('are read alike by both readers, or the difference is told with its place', () => {
    const [segment] = first.segments
    const other = file(log({values: ['a'], codec: 'gzip'}))
    expect(disagreements([first, second, third])).toEqual([])
    expect(disagreements([first, {...second, segments: [{...segment!, kafka: other}]}])).toEqual([
      'broker 2, 00000000000000000000.log: batch 0 (offset 0): codec is none to kx and gzip to Kafka',
    ])
    expect(disagreements([{...first, segments: []}])).toEqual(['broker 1 has no batch'])
  })
})

describe('a log in order', () => {
  const good = log({values: ['a', 'b']}, {values: ['c'], leaderEpoch: 1})
  const changed = (index: number, change: Partial<BatchSeen>) =>
    good.map((batch, at) => (at === index ? {...batch, ...change} : batch))

  test('has nothing to be told', () => {
    expect(disorder([replica(1, good)])).toEqual([])
  })

  test('may end in a batch that is still being written', () => {
    const [reading] = three(good)
    const [segment] = reading!.segments
    const cut = {...segment!, sizeInBytes: segment!.sizeInBytes + 20, kx: file(good, 20)}
    expect(disorder([{...reading!, segments: [cut]}])).toEqual([])
  })

  test('goes on in the next segment, which has its name from its base offset', () => {
    const [head] = replica(1, log({values: ['a', 'b']})).segments
    const tail = (file: string) => ({
      ...head!,
      file,
      kx: {batches: [{...head!.kx.batches[0]!, baseOffset: 2, lastOffset: 3}], trailingBytes: 0},
    })
    const names = ['00000000000000000000', '00000000000000000002']
    const files = names.flatMap(name => [`${name}.log`, `${name}.index`, `${name}.timeindex`])
    const rolled = (name: string) => [{...replica(1, good), files, segments: [head!, tail(name)]}]
    expect(disorder(rolled(`${names[1]}.log`))).toEqual([])
    expect(disorder(rolled('00000000000000000003.log')).join()).toContain('is not named by its base offset 2')
  })

  test.each<[string, BatchSeen[], Partial<ReplicaReading>, string]>([
    ['an offset is missing', changed(1, {baseOffset: 3, lastOffset: 3}), {}, 'offset 2 was due'],
    ['offsets are missing inside a batch', changed(1, {lastOffset: 4}), {}, 'offsets are missing inside'],
    ['a position is wrong', changed(1, {position: 3}), {}, 'begins at 3'],
    ['a CRC is wrong', changed(0, {isValid: false}), {}, 'its CRC is wrong'],
    ['the leader epoch falls', changed(0, {leaderEpoch: 2}), {}, 'the leader epoch falls'],
    [
      'there is no offset index',
      good,
      {files: ['00000000000000000000.log', '00000000000000000000.timeindex']},
      'has no 00000000000000000000.index',
    ],
  ])('is not, if %s', (_, batches, rest, sentence) => {
    expect(disorder([replica(1, batches, rest)]).join('\n')).toContain(sentence)
  })
})

test('the codecs of a log are those of its records, not of its markers', () => {
  expect(codecsIn(log({values: ['a'], codec: 'zstd'}, {marker: 'COMMIT'}))).toEqual(['zstd'])
})

describe('a damaged copy', () => {
  const good = log({values: ['a']}, {values: ['b']})
  const invalid = (...indexes: number[]) => file(good.map((batch, at) => ({...batch, isValid: !indexes.includes(at)})))
  const copy = (kx: FileSeen, kafka: FileSeen): DamagedCopy => ({
    topic: 't',
    batch: 1,
    position: 150,
    bit: 3,
    kx,
    kafka,
  })

  test('is seen by both, in that batch only', () => {
    expect(missedDamage(copy(invalid(1), invalid(1)))).toEqual([])
  })

  test.each<[string, DamagedCopy, string]>([
    ['kx misses it', copy(invalid(), invalid(1)), 'kx calls no batch invalid, and it is 1'],
    ['Kafka misses it', copy(invalid(1), invalid()), 'kafka calls no batch invalid, and it is 1'],
    ['another batch is called invalid', copy(invalid(0), invalid(0)), 'kx calls batch 0 invalid, and it is 1'],
    ['a second one is', copy(invalid(0, 1), invalid(0, 1)), 'kafka calls batch 0, 1 invalid'],
    ['nothing was read', copy(file([]), file([])), 'kx calls no batch invalid'],
  ])('is not, if %s', (_, damaged, sentence) => {
    expect(missedDamage(damaged).join('\n')).toContain(sentence)
  })
})
