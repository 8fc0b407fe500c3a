import {describe, expect, test} from 'vitest'
import {classify, fileKind, headBytes} from '../../../../src/log/files/kinds.js'
import {writeOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {writeProducerSnapshot} from '../../../../src/log/files/producer-snapshot.js'
import {writeTimeIndex} from '../../../../src/log/files/time-index.js'
import {writeTransactionIndex} from '../../../../src/log/files/transaction-index.js'
import {goldenFiles} from '../golden-files.js'
import {golden, vectors} from '../vectors.js'

const kindOf = (name: string, bytes: Buffer) => fileKind(name, bytes.subarray(0, headBytes), bytes.length)

const offsetIndex = writeOffsetIndex(
  [
    {offset: 2n, position: 85},
    {offset: 3n, position: 155},
  ],
  0n,
)
const timeIndex = writeTimeIndex(
  [
    {timestamp: 1_700_000_000_010n, offset: 2n},
    {timestamp: 1_700_000_000_020n, offset: 3n},
  ],
  0n,
)
const transactionIndex = writeTransactionIndex([
  {producerId: 1000n, firstOffset: 2n, lastOffset: 3n, lastStableOffset: 4n},
])
const log = Buffer.concat([vectors.plain, vectors.transactional, vectors.commitMarker])
const samples = {
  log,
  'snapshot-log': golden('metadata-formatted', '00000000000000000000-0000000000.checkpoint'),
  'producer-snapshot': writeProducerSnapshot([]),
  'offset-index': offsetIndex,
  'time-index': timeIndex,
  'transaction-index': transactionIndex,
  'leader-epoch-checkpoint': Buffer.from('0\n2\n0 0\n3 28\n'),
  'offset-checkpoint': Buffer.from('0\n1\nplain 0 800\n'),
  'partition-metadata': Buffer.from('version: 0\ntopic_id: R29sZEZpeHR1cmVDbHVzdQ'),
  'meta-properties': Buffer.from('#\n#Sun Nov 29\nnode.id=1\nversion=1\n'),
  'quorum-state': Buffer.from('{"leaderId":1,"leaderEpoch":3,"votedId":-1,"data_version":1}'),
  'clean-shutdown': Buffer.from('{"version":0,"brokerEpoch":1129}'),
} as const

describe('the kind of a file', () => {
  test.each(Object.entries(samples))('of %s is told by its bytes if its name says nothing', (kind, bytes) => {
    for (const name of ['noext', 'x.bin', 'evidence', '-', 'naïve ,.dat']) expect(kindOf(name, bytes), name).toBe(kind)
    expect(classify('noext', bytes, bytes.length).by).toBe('content')
  })

  test.each([
    ['abc.log', log, 'log'],
    ['00000000000000000000.log.deleted', log, 'log'],
    ['00000000000000000000.log.cleaned', log, 'log'],
    ['00000000000000000000.log.swap', log, 'log'],
    ['7_9dkzKvBSQEqYOVkhjKr-jA.index', offsetIndex, 'offset-index'],
    ['00000000000000000036-0000000001.checkpoint.part', samples['snapshot-log'], 'snapshot-log'],
    ['x.checkpoint', samples['snapshot-log'], 'snapshot-log'],
    ['bootstrap.checkpoint', samples['snapshot-log'], 'snapshot-log'],
    // Without its header it is a snapshot all the same.
    ['bootstrap.checkpoint', log, 'snapshot-log'],
  ] as const)('of %s is what the name says', (name, bytes, kind) => {
    expect(classify(name, bytes, bytes.length)).toMatchObject({kind, by: 'name'})
  })

  test.each([
    ['00000000000000000000.log', 'producer-snapshot'],
    ['00000000000000000000.log', 'snapshot-log'],
    ['00000000000000000000.index', 'log'],
    ['00000000000000000000.snapshot', 'log'],
    ['leader-epoch-checkpoint', 'log'],
    ['00000000000000000000.log', 'leader-epoch-checkpoint'],
    ['quorum-state', 'meta-properties'],
    ['meta.properties', 'clean-shutdown'],
    ['leader-epoch-checkpoint', 'offset-checkpoint'],
  ] as const)('of %s is %s if its bytes certainly are that, and the lie is told', (name, kind) => {
    const bytes = samples[kind]
    const told = classify(name, bytes, bytes.length)
    expect(told).toMatchObject({kind, by: 'content'})
    expect(told.note).toMatch(/^the name is that of an? .*, and the bytes are those of an? /)
  })

  test.each([
    ['00000000000000000000.log', 'log'],
    ['00000000000000000000.index', 'offset-index'],
    ['00000000000000000000.timeindex', 'time-index'],
    ['00000000000000000000.txnindex', 'transaction-index'],
    ['00000000000000000000.snapshot', 'producer-snapshot'],
    ['leader-epoch-checkpoint', 'leader-epoch-checkpoint'],
    ['partition.metadata', 'partition-metadata'],
    ['.lock', 'lock'],
    ['noext', 'unknown'],
  ])('of %s stays %s when it is empty, zero filled, random or damaged', (name, kind) => {
    const random = Buffer.from(Array.from({length: 97}, (_, n) => (n * 151 + 89) & 0xff))
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.alloc(1),
      Buffer.alloc(4_096),
      random,
      vectors.plain.subarray(0, 16),
    ]) {
      if (kind !== 'unknown' || bytes.length !== 16) expect(kindOf(name, bytes), `${bytes.length}`).toBe(kind)
    }
  })

  test('of a checkpoint without entries is what the name says', () => {
    const none = Buffer.from('0\n0\n')
    expect(kindOf('leader-epoch-checkpoint', none)).toBe('leader-epoch-checkpoint')
    expect(kindOf('log-start-offset-checkpoint', none)).toBe('offset-checkpoint')
  })

  test('of kx’s own compressed evidence is in its name, and it says that it is compressed', () => {
    const gzip = Buffer.from('1f8b0800000000000003', 'hex')
    expect(classify('00000000000000000000.log.gz', gzip, gzip.length)).toMatchObject({kind: 'log', isGzipped: true})
    expect(classify('noext', gzip, gzip.length)).toMatchObject({kind: 'unknown', isGzipped: true})
  })
})

test('the kind of a beginning of any length is told without a fault', () => {
  for (const bytes of Object.values(samples)) {
    for (let length = 0; length <= Math.min(bytes.length, 200); length++) {
      const head = bytes.subarray(0, length)
      for (const size of [length, 100_000]) {
        expect(() => [classify('noext', head, size), classify('00000000000000000000.log', head, size)]).not.toThrow()
      }
    }
  }
})

test('the kind of every file of a real broker is told by its name, and by its bytes alone or not at all', () => {
  const files = goldenFiles().filter(({path}) => !/\/odd-|\/codec-/.test(path))
  expect(files.length).toBeGreaterThan(15)
  for (const {path, name, bytes} of files) {
    const told = classify(name, bytes.subarray(0, headBytes), bytes.length)
    expect(told, path).toMatchObject({by: 'name'})
    const alone = kindOf('noext', bytes)
    if (bytes.some(byte => byte !== 0)) expect(alone, path).toBe(told.kind)
  }
})
