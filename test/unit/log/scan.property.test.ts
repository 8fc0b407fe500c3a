import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {readBatches} from '../../../src/log/batches.js'
import type {BatchCursor} from '../../../src/log/batch-cursor.js'
import {bufferSource, type ByteSource} from '../../../src/log/byte-source.js'
import {scan, scanBuffer, type ScanResult} from '../../../src/log/scan.js'
import {arbitraryBytes, damaged} from './arbitraries.js'

const anyBytes = fc.oneof(arbitraryBytes, damaged)

/** Everything a cursor can say of a batch, records and all. */
function describeBatch(batch: BatchCursor): string {
  const records: unknown[] = []
  const problem = batch.records(({offset, timestamp, sequence, key, value, headers, sizeInBytes}) => {
    records.push([
      `${offset}`,
      `${timestamp}`,
      sequence,
      key?.toString('hex'),
      value?.toString('hex'),
      headers,
      sizeInBytes,
    ])
  })
  const {position, sizeInBytes, crc, crcIsRight, codec, recordsCount, isControl} = batch
  return JSON.stringify([position, sizeInBytes, crc, crcIsRight, codec, recordsCount, isControl, problem, records])
}

function readAll(bytes: Buffer): {readonly seen: string[]; readonly result: ScanResult} {
  const seen: string[] = []
  const result = scanBuffer(bytes, batch => seen.push(describeBatch(batch)))
  return {seen, result}
}

describe('the laws of the reader hold on arbitrary and on damaged real bytes', () => {
  test('it never throws, and valid and trailing bytes are all bytes', () => {
    fc.assert(
      fc.property(anyBytes, bytes => {
        const {result} = readAll(bytes)
        expect(result.validBytes + result.trailingBytes).toBe(bytes.length)
        expect(result.trailingBytes > 0).toBe(result.problem !== undefined)
      }),
      {numRuns: 2_000},
    )
  })

  test('positions are sums of sizes', () => {
    fc.assert(
      fc.property(anyBytes, bytes => {
        let end = 0
        const {validBytes} = scanBuffer(bytes, batch => {
          expect(batch.position).toBe(end)
          expect(batch.sizeInBytes).toBeGreaterThanOrEqual([26, 34, 61][batch.magic] as number)
          end += batch.sizeInBytes
        })
        expect(end).toBe(validBytes)
      }),
      {numRuns: 1_000},
    )
  })

  test('reading the valid prefix again gives the same batches, and no problem', () => {
    fc.assert(
      fc.property(anyBytes, bytes => {
        const first = readAll(bytes)
        const again = readAll(Buffer.from(bytes.subarray(0, first.result.validBytes)))
        expect(again.seen).toEqual(first.seen)
        expect(again.result).toEqual({validBytes: first.result.validBytes, trailingBytes: 0})
      }),
      {numRuns: 1_000},
    )
  })

  test('chunks of any size give what reading at once gives', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, fc.integer({min: 1, max: 500}), async (bytes, chunkBytes) => {
        const seen: string[] = []
        const result = await scan(bufferSource(bytes), batch => seen.push(describeBatch(batch)), {chunkBytes})
        expect({seen, result}).toEqual(readAll(bytes))
      }),
      {numRuns: 500},
    )
  })

  test('nothing is asked of the source beyond its end, and no more at once than a chunk or one batch', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, fc.integer({min: 61, max: 500}), async (bytes, chunkBytes) => {
        const [asked, sizes]: [number[], number[]] = [[], []]
        const source: ByteSource = {
          size: bytes.length,
          read: async (position, length) => {
            expect(position + length).toBeLessThanOrEqual(bytes.length)
            asked.push(length)
            return bytes.subarray(position, position + length)
          },
        }
        await scan(source, batch => sizes.push(batch.sizeInBytes), {chunkBytes, maxBatchBytes: 1_000})
        expect(Math.max(0, ...asked)).toBeLessThanOrEqual(Math.max(chunkBytes, ...sizes))
      }),
      {numRuns: 500},
    )
  })

  test('the plain objects say what the cursor says, and outlive it', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, async bytes => {
        const kept = await readBatches(bufferSource(bytes), {chunkBytes: 100})
        const seen: unknown[] = []
        const {validBytes, trailingBytes} = scanBuffer(bytes, batch => {
          seen.push([batch.position, batch.baseOffset, batch.crc, batch.crcIsRight, batch.maxTimestamp, batch.codec])
        })
        expect(kept).toMatchObject({validBytes, trailingBytes})
        expect(kept.batches.map(b => [b.position, b.baseOffset, b.crc, b.crcIsRight, b.maxTimestamp, b.codec])).toEqual(
          seen,
        )
        const views = kept.batches.flatMap(batch => batch.records.map(record => record.value?.toString('hex')))
        bytes.fill(0xff)
        expect(kept.batches.flatMap(batch => batch.records.map(record => record.value?.toString('hex')))).toEqual(views)
      }),
      {numRuns: 500},
    )
  })
})
