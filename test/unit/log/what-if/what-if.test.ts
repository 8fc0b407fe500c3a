import {readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import fc from 'fast-check'
import {beforeAll, describe, expect, test} from 'vitest'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {prepareCodec, prepareCompression} from '../../../../src/log/codecs.js'
import {readLog} from '../../../../src/log/read-log.js'
import {choices, whatIf} from '../../../../src/log/what-if/measure.js'
import {BatchSampler} from '../../../../src/log/what-if/sample.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {writeLegacy} from '../../../../src/log/write-legacy.js'

const real = fileURLToPath(new URL('../../../golden/dump-log/real/', import.meta.url))
const log = '00000000000000000000.log'

beforeAll(async () => {
  await prepareCompression()
  await prepareCodec('zstd')
})

async function sampleOf(bytes: Buffer, atMost?: number) {
  const sampler = new BatchSampler(atMost)
  await readLog(bufferSource(bytes), sampler)
  return sampler.sample
}

/** Each question takes a millisecond more. */
function ticking() {
  let now = 0
  return {clock: () => ++now, turn: async () => {}}
}

const batch = (n: number, size: number, codec: 'none' | 'lz4' | 'zstd' = 'none') =>
  writeBatch({
    baseOffset: BigInt(n),
    codec,
    records: [{timestamp: 1n, key: null, value: Buffer.alloc(size, `value ${n} `)}],
  })

describe('the sample', () => {
  test('has every batch of a log that is small enough', async () => {
    const sample = await sampleOf(Buffer.concat([batch(0, 100), batch(1, 100, 'lz4'), batch(2, 100, 'zstd')]))
    expect(sample).toMatchObject({every: 1, candidates: 3, leftOut: []})
    expect(sample.batches.map(({codec}) => codec)).toEqual(['none', 'lz4', 'zstd'])
    expect(sample.batches.map(({plain}) => plain.length)).toEqual(Array(3).fill(sample.batches[0]?.plain.length))
  })

  test('has each k-th batch of a larger one, k the least power of two with which it fits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({min: 1, max: 200}), fc.integer({min: 120, max: 3_000}), async (count, atMost) => {
        const all = Array.from({length: count}, (_, n) => batch(n, 40 + (n % 50)))
        const sample = await sampleOf(Buffer.concat(all), atMost)
        const plain = all.map(bytes => bytes.subarray(61))
        const sizeOf = (every: number) => plain.reduce((sum, {length}, n) => sum + (n % every === 0 ? length : 0), 0)
        let every = 1
        while (sizeOf(every) > atMost) every *= 2
        expect(sample.every).toBe(every)
        expect(sample.batches.map(one => one.plain)).toEqual(plain.filter((_, n) => n % every === 0))
        expect(sample.candidateBytes).toBe(all.reduce((sum, {length}) => sum + length, 0))
      }),
    )
  })

  test('leaves out what is not compressed or cannot be read, and says so', async () => {
    const damaged = batch(3, 100)
    damaged[80] = 1
    const broken = writeBatch({
      baseOffset: 4n,
      codec: 'lz4',
      records: [{timestamp: 1n, key: null, value: Buffer.alloc(500)}],
    })
    const all = Buffer.concat([
      batch(0, 100),
      writeBatch({
        baseOffset: 1n,
        isControl: true,
        records: [{timestamp: 1n, key: Buffer.alloc(4), value: Buffer.alloc(6)}],
      }),
      writeBatch({baseOffset: 2n, records: [], lastOffsetDelta: 0}),
      damaged,
      writeLegacy({magic: 1, messages: [{offset: 5n, timestamp: 1n, key: null, value: Buffer.from('old')}]}),
      batch(6, 5_000),
      broken,
    ])
    const sample = await sampleOf(all, 1_000)
    expect(sample.leftOut.map(({why, batches}) => [why, batches])).toEqual([
      ['control', 1],
      ['empty', 1],
      ['damaged', 1],
      ['legacy', 1],
      ['too-large', 1],
    ])
    expect(sample.candidates).toBe(2)
  })
})

describe('the outcomes', () => {
  test('are the sizes of the batches with each codec, and times by the clock', async () => {
    const bytes = Buffer.concat([batch(0, 4_000, 'zstd'), batch(1, 4_000, 'zstd')])
    const result = await whatIf(await sampleOf(bytes), ticking())
    expect(result.present).toMatchObject({
      codecs: ['zstd'],
      sizeInBytes: bytes.length,
      logSizeInBytes: bytes.length,
      compressMsPerMiB: null,
    })
    expect(result.outcomes.map(({codec, level}) => [codec, level])).toEqual(
      choices.map(({codec, level}) => [codec, level ?? null]),
    )
    const [none] = result.outcomes
    expect(none).toMatchObject({
      sizeInBytes: 122 + result.plainBytes,
      ratio: 1,
      compressMsPerMiB: null,
      decompressMsPerMiB: null,
    })
    const zstd3 = result.outcomes.find(({codec, level}) => codec === 'zstd' && level === 3)
    expect(zstd3).toMatchObject({sizeInBytes: bytes.length, ratio: result.present.ratio})
    // Two batches, a millisecond each.
    const msPerMiB = (2 * 1_048_576) / result.plainBytes
    expect(zstd3?.compressMsPerMiB).toBeCloseTo(msPerMiB, 6)
    expect(result.present.decompressMsPerMiB).toBeCloseTo(msPerMiB, 6)
  })

  test('tell what the whole log would have, with what is left out as it is', async () => {
    const marker = writeBatch({
      baseOffset: 99n,
      isControl: true,
      records: [{timestamp: 1n, key: Buffer.alloc(4), value: Buffer.alloc(6)}],
    })
    const all = [...Array.from({length: 8}, (_, n) => batch(n, 1_000)), marker]
    const result = await whatIf(await sampleOf(Buffer.concat(all), 4_500), ticking())
    expect(result.sample).toMatchObject({every: 2, batches: 4, candidates: 8})
    expect(result.present.logSizeInBytes).toBe(Buffer.concat(all).length)
    const [, gzip] = result.outcomes
    expect(gzip?.logSizeInBytes).toBe(marker.length + Math.round(2 * (gzip?.sizeInBytes ?? 0)))
  })

  test('of a log without records there are none', async () => {
    const result = await whatIf(await sampleOf(Buffer.alloc(0)), ticking())
    expect(result).toMatchObject({plainBytes: 0, outcomes: [], present: {sizeInBytes: 0, logSizeInBytes: 0}})
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)(
    '%s: within 5 % of what Kafka’s own client wrote',
    async codec => {
      const bytes = readFileSync(`${real}${codec}-java/${log}`)
      const {present, outcomes} = await whatIf(await sampleOf(bytes), ticking())
      const level = {gzip: 6, zstd: 3, snappy: null, lz4: null}[codec]
      const own = outcomes.find(one => one.codec === codec && one.level === level)
      expect(present.codecs).toEqual([codec])
      expect((own?.sizeInBytes ?? 0) / present.sizeInBytes).toBeGreaterThan(0.95)
      expect((own?.sizeInBytes ?? 0) / present.sizeInBytes).toBeLessThan(1.05)
    },
  )

  test('a codec whose bytes do not come back is an error, not a figure', async () => {
    const sample = await sampleOf(batch(0, 100))
    const [one] = sample.batches
    if (!one) throw new Error('there is no batch')
    const wrong = {...sample, batches: [{...one, codec: 'gzip' as const}]}
    await expect(whatIf(wrong, ticking())).rejects.toThrow('what gzip has stored does not come back')
  })
})
