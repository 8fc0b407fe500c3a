import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {readLog} from '../../../src/log/read-log.js'
import {StatsVisitor} from '../../../src/log/stats.js'
import {type WritableBatch, writeBatch} from '../../../src/log/write-batch.js'

const record = (timestamp: number, key: string | null, value: string | null = 'v') => ({
  timestamp: BigInt(timestamp),
  key: key === null ? null : Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
})

async function statsOf(batches: readonly WritableBatch[]) {
  const visitor = new StatsVisitor()
  await readLog(bufferSource(Buffer.concat(batches.map(writeBatch))), visitor)
  return visitor.stats
}

describe('statistics of a log', () => {
  test('of nothing are zeros', async () => {
    expect(await statsOf([])).toMatchObject({batches: 0, records: 0, firstOffset: null, codecs: [], topKeys: []})
  })

  test('count batches, records, kinds, keys and tombstones', async () => {
    const stats = await statsOf([
      {records: [record(10, 'a'), record(5, 'b', null), record(20, null)]},
      {
        records: [record(30, 'a')],
        baseOffset: 3n,
        producerId: 7n,
        producerEpoch: 1,
        baseSequence: 0,
        isTransactional: true,
      },
      {
        records: [record(31, 'x')],
        baseOffset: 4n,
        producerId: 7n,
        producerEpoch: 2,
        isTransactional: true,
        isControl: true,
      },
      {records: [], baseOffset: 5n, lastOffsetDelta: 2},
    ])
    expect(stats).toMatchObject({
      batches: 4,
      records: 5,
      controlBatches: 1,
      transactionalBatches: 2,
      idempotentBatches: 1,
      emptyBatches: 1,
      tombstones: 1,
      recordsWithoutKey: 1,
      firstOffset: 0n,
      lastOffset: 7n,
      firstTimestamp: 5n,
      lastTimestamp: 31n,
      timestampsBackwards: {records: 1, largestMs: 5n},
      producerCount: 1,
      producers: [{producerId: 7n, epochs: [1, 2], batches: 2, records: 2}],
      topKeysExact: true,
    })
    expect(stats.topKeys.map(({key, records}) => [String(key), records])).toEqual([
      ['a', 2],
      ['b', 1],
    ])
    expect(stats.recordsPerBatch).toEqual([
      {upTo: 0, batches: 1},
      {upTo: 1, batches: 2},
      {upTo: 4, batches: 1},
    ])
  })

  test('say how much a codec saved', async () => {
    const text = 'the same again and again '.repeat(100)
    const plain = await statsOf([{records: [record(1, 'k', text)]}])
    const packed = await statsOf([{records: [record(1, 'k', text)], codec: 'gzip'}])
    expect(plain.codecs).toMatchObject([{codec: 'none', ratio: 1}])
    expect(packed.codecs[0]).toMatchObject({
      codec: 'gzip',
      batches: 1,
      records: 1,
      plainBytes: plain.codecs[0]?.plainBytes,
    })
    expect(packed.codecs[0]?.ratio).toBeGreaterThan(10)
  })

  test('find the key of half of all records among more keys than are counted', async () => {
    const records = Array.from({length: 20_000}, (_, n) => record(n, n % 2 === 0 ? 'often' : `once-${n}`))
    const {topKeys, topKeysExact} = await statsOf([{records}])
    expect(topKeysExact).toBe(false)
    expect(String(topKeys[0]?.key)).toBe('often')
    // A lower bound: at least what no other key could have taken away.
    expect(topKeys[0]?.records).toBeGreaterThan(10_000 - 20_000 / 4_096 - 1)
    expect(topKeys[0]?.records).toBeLessThanOrEqual(10_000)
  })
})
