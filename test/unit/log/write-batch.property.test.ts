import fc from 'fast-check'
import {beforeAll, expect, test} from 'vitest'
import {type RecordBatch, readBatches} from '../../../src/log/batches.js'
import {bufferSource} from '../../../src/log/byte-source.js'
import {prepareCompression} from '../../../src/log/codecs.js'
import {varint, type WritableRecord, writeBatch} from '../../../src/log/write-batch.js'
import {batch} from './arbitraries.js'
import {golden, vectors} from './vectors.js'

/** Buffers as text: comparing them byte by byte takes a thousand times as long. */
const plainRecord = (record: Required<WritableRecord>) => ({
  ...record,
  key: record.key?.toString('hex'),
  value: record.value?.toString('hex'),
  headers: record.headers.map(({key, value}) => [key, value?.toString('hex')]),
})

beforeAll(prepareCompression)

test('what was written is what is read, and its CRC is right', async () => {
  await fc.assert(
    fc.asyncProperty(batch, async written => {
      const bytes = writeBatch(written)
      const {batches, validBytes, problem} = await readBatches(bufferSource(bytes))
      expect([validBytes, problem]).toEqual([bytes.length, undefined])
      const read = batches[0] as RecordBatch
      expect([batches.length, read.problem, read.crcIsRight]).toEqual([1, undefined, true])
      const {records, ...fields} = written
      expect({...read, records: []}).toMatchObject(fields)
      expect(
        read.records.map(({sequence, ...record}) => plainRecord({...record, headers: [...record.headers]})),
      ).toEqual(records.map(plainRecord))
      expect(writeBatch(read).equals(bytes)).toBe(true)
    }),
    {numRuns: 500},
  )
})

test('batches written by Kafka’s clients and brokers come out byte for byte', async () => {
  let count = 0
  for (const folder of [
    'base',
    'plain-clean',
    'epochs-replica1',
    'headers',
    'compacted-replica1',
    'metadata-controller',
  ]) {
    const bytes = golden(folder)
    const {batches} = await readBatches(bufferSource(bytes))
    for (const read of batches.filter(each => each.codec === 'none')) {
      expect(writeBatch(read)).toEqual(bytes.subarray(read.position, read.position + read.sizeInBytes))
      count++
    }
  }
  expect(count).toBe(86)
})

test('the golden vector with a header comes out byte for byte', () => {
  const bytes = writeBatch({
    leaderEpoch: 3,
    records: [
      {
        timestamp: 1_700_000_000_000n,
        key: Buffer.from('k1'),
        value: Buffer.from('v1'),
        headers: [{key: 'h', value: Buffer.from('x')}],
      },
      {timestamp: 1_700_000_000_005n, key: Buffer.from('k2'), value: null},
    ],
  })
  expect(bytes.toString('hex')).toBe(vectors.plain.toString('hex'))
})

test.each([
  [0, '00'],
  [-1, '01'],
  [1, '02'],
  [-2, '03'],
  [63, '7e'],
  [64, '8001'],
  [-64, '7f'],
  [-65, '8101'],
  [300, 'd804'],
  [2_147_483_647, 'feffffff0f'],
  [-2_147_483_648, 'ffffffff0f'],
])('%i as a varint', (value, hex) => {
  expect(varint(value).toString('hex')).toBe(hex)
})

test('timestamps at any distance are exact: those that fit a double, and those that do not', async () => {
  const distances = Array.from({length: 63}, (_, bit) => [2n ** BigInt(bit) - 1n, 2n ** BigInt(bit) + 1n]).flat()
  const timestamps = [0n, ...distances, ...distances.map(distance => -distance)]
  const bytes = writeBatch({
    baseTimestamp: 0n,
    records: timestamps.map(timestamp => ({timestamp, key: null, value: null})),
  })
  const [read] = (await readBatches(bufferSource(bytes))).batches
  expect(read?.records.map(record => record.timestamp)).toEqual(timestamps)
})

test('a delete horizon stands in place of the base timestamp', async () => {
  const bytes = writeBatch({
    deleteHorizonMs: 5n,
    records: [{timestamp: 1_700_000_000_000n, key: Buffer.from('k'), value: null}],
  })
  const [read] = (await readBatches(bufferSource(bytes))).batches
  expect(read).toMatchObject({deleteHorizonMs: 5n, baseTimestamp: 5n, records: [{timestamp: 1_700_000_000_000n}]})
})

test('an offset that does not fit its delta is refused', () => {
  const record = {timestamp: 0n, key: null, value: null}
  expect(() =>
    writeBatch({baseOffset: 0n, lastOffsetDelta: 0, records: [{...record, offset: -(2n ** 31n) - 1n}]}),
  ).toThrow(RangeError)
  expect(() => writeBatch({baseOffset: 0n, records: [{...record, offset: 2n ** 31n}]})).toThrow(RangeError)
})
