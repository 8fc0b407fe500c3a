import fc from 'fast-check'
import {beforeAll, describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {prepareCodec, prepareCompression} from '../../../src/log/codecs.js'
import {scanBuffer} from '../../../src/log/scan.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {writeLegacy} from '../../../src/log/write-legacy.js'
import {arbitraryBytes, batch, damaged} from './arbitraries.js'
import {reading, recordText, reusingSource} from './reading.js'

beforeAll(async () => {
  await Promise.all([prepareCodec('zstd'), prepareCompression()])
})

const messages = fc.array(
  fc.record({
    timestamp: fc.bigInt({min: 0n, max: 2n ** 40n}),
    key: fc.option(
      fc.uint8Array({maxLength: 20}).map(bytes => Buffer.from(bytes)),
      {nil: null},
    ),
    value: fc.uint8Array({maxLength: 300}).map(bytes => Buffer.from(bytes)),
  }),
  {minLength: 1, maxLength: 5},
)
const legacy = fc
  .tuple(fc.constantFrom(0 as const, 1 as const), fc.constantFrom('none', 'gzip', 'snappy', 'lz4'), messages)
  .map(([magic, codec, each]) => writeLegacy({magic, codec: codec as 'none', messages: each}))
/** Batches of every magic and codec, one after the other. */
const log = fc.array(fc.oneof(batch.map(writeBatch), legacy), {minLength: 1, maxLength: 4})
const wounded = fc
  .tuple(log, fc.array(fc.tuple(fc.nat(), fc.nat(255)), {maxLength: 5}), fc.nat(3))
  .map(([batches, flips, cut]) => {
    const bytes = Buffer.concat(batches)
    for (const [where, byte] of flips) bytes[where % bytes.length] = byte
    return cut === 0 ? bytes.subarray(0, bytes.length - 10) : bytes
  })
const anyBytes = fc.oneof(wounded, damaged, arbitraryBytes)

describe('the laws of reading, on whole logs and on damaged ones', () => {
  test('a whole log is read whole, held or streamed, in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        log,
        fc.integer({min: 0, max: 400}),
        fc.integer({min: 61, max: 500}),
        async (parts, whole, chunk) => {
          const bytes = Buffer.concat(parts)
          const held = await reading(bufferSource(bytes))
          expect(held.damage).toEqual([])
          expect(held.end).toMatchObject({validBytes: bytes.length, trailingBytes: 0, skippedBytes: 0})
          expect(held.problems.filter(problem => problem !== undefined)).toEqual([])
          expect(await reading(reusingSource(bytes), {wholeBatchBytes: whole, chunkBytes: chunk})).toEqual(held)
        },
      ),
      {numRuns: 200},
    )
  })

  test('batches, damage and the rest add up to the size, and positions follow each other', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, fc.integer({min: 61, max: 500}), async (bytes, chunkBytes) => {
        const {batches, damage, end} = await reading(reusingSource(bytes), {chunkBytes})
        expect(end.validBytes + end.skippedBytes + end.trailingBytes).toBe(bytes.length)
        const sizes = damage.reduce((sum, each) => sum + each.sizeInBytes, 0)
        expect(sizes).toBe(end.skippedBytes + end.trailingBytes)
        expect(damage.every(each => each.sizeInBytes > 0)).toBe(true)
        const positions = batches.map(text => Number.parseInt(text, 10))
        expect(positions).toEqual([...positions].sort((a, b) => a - b))
        expect(end.batches).toBe(batches.length)
      }),
      {numRuns: 1_000},
    )
  })

  test('up to the first damage it tells what a scan tells', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, async bytes => {
        const records: string[] = []
        const problems: (string | undefined)[] = []
        const {validBytes} = scanBuffer(bytes, each => {
          problems.push(each.records(record => void records.push(recordText(record))))
        })
        const told = await reading(bufferSource(bytes), {resynchronise: false})
        expect(told.end.validBytes).toBe(validBytes)
        expect(told.problems).toEqual(problems)
        expect(told.records).toEqual(records)
      }),
      {numRuns: 500},
    )
  })

  test('what is streamed tells of damage what is held tells, and gives the same records', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, async bytes => {
        const held = await reading(bufferSource(bytes))
        const streamed = await reading(reusingSource(bytes), {wholeBatchBytes: 0})
        expect(streamed.batches).toEqual(held.batches)
        expect(streamed.damage).toEqual(held.damage)
        expect(streamed.problems.map(Boolean)).toEqual(held.problems.map(Boolean))
        expect(streamed.records).toEqual(held.records)
      }),
      {numRuns: 1_000},
    )
  })

  test('a batch behind garbage is found, wherever it begins', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(batch.map(writeBatch), legacy),
        fc.uint8Array({maxLength: 300}),
        fc.constantFrom(0, 70_000, 1_048_500),
        async (whole, garbage, zeros) => {
          // The first bytes are no header, so that nothing before the batch is taken for one without a right CRC.
          const before = Buffer.concat([Buffer.alloc(17, 0xff), Buffer.from(garbage), Buffer.alloc(zeros)])
          const {batches, end} = await reading(reusingSource(Buffer.concat([before, whole])))
          expect(batches.map(text => Number.parseInt(text, 10))[0]).toBe(before.length)
          expect(end).toMatchObject({trailingBytes: 0, skippedBytes: before.length})
        },
      ),
      {numRuns: 200},
    )
  })
})
