import fc from 'fast-check'
import {beforeAll, describe, expect, test} from 'vitest'
import type {BatchCursor} from '../../../src/log/batch-cursor.js'
import type {ByteSource} from '../../../src/log/byte-source.js'
import {bufferSource} from '../../../src/log/byte-source.js'
import {prepareCodec, prepareCompression} from '../../../src/log/codecs.js'
import {type Damage, type LogEnd, readLog, type ReadOptions} from '../../../src/log/read-log.js'
import {watchAllocations} from './fuzz/bounds.js'
import {logMutants} from './fuzz/mutate.js'
import {inputsOf} from './fuzz/runner.js'
import {logSeeds} from './fuzz/seeds.js'
import {batchFields, recordFields} from './written.js'

// The laws of `readLog`, over real files of every format and codec, whole and wounded.

interface Reading {
  readonly end: LogEnd
  /** Everything that can be said of each batch and its records. */
  readonly batches: readonly {readonly position: number; readonly sizeInBytes: number; readonly text: string}[]
  readonly damages: readonly Damage[]
}

async function reading(source: ByteSource, options: ReadOptions = {}): Promise<Reading> {
  const batches: {position: number; sizeInBytes: number; text: string}[] = []
  const damages: Damage[] = []
  let text = ''
  let open: {position: number; sizeInBytes: number} | undefined
  const close = () => {
    if (open) batches.push({...open, text})
    open = undefined
  }
  const end = await readLog(
    source,
    {
      batch: (batch: BatchCursor) => {
        close()
        open = {position: batch.position, sizeInBytes: batch.sizeInBytes}
        text = batchFields(batch)
        return true
      },
      record: record => {
        text += `\n${recordFields(record)}`
      },
      recordsDone: problem => {
        text += `\n${problem ? `${problem.kind}: ${problem.reason}` : 'all read'}`
      },
      damage: damage => {
        close()
        damages.push(damage)
      },
    },
    options,
  )
  close()
  return {end, batches, damages}
}

const mutants = logMutants(logSeeds)
const runs = (share: number) => ({numRuns: inputsOf(share)})

beforeAll(async () => {
  await prepareCodec('zstd')
  await prepareCompression()
})

describe('the laws of reading a log', {timeout: 1_200_000}, () => {
  test('valid, skipped and trailing bytes are all bytes, and batches and damages cover them without a gap', async () => {
    await fc.assert(
      fc.asyncProperty(mutants, async ({bytes}) => {
        const {end, batches, damages} = await reading(bufferSource(bytes))
        expect(end.validBytes + end.skippedBytes + end.trailingBytes).toBe(bytes.length)
        expect(end.batches).toBe(batches.length)
        expect(end.validBytes).toBe(batches.reduce((sum, {sizeInBytes}) => sum + sizeInBytes, 0))
        const pieces = [...batches, ...damages].sort((a, b) => a.position - b.position)
        let next = 0
        for (const {position, sizeInBytes} of pieces) {
          expect(position).toBe(next)
          next += sizeInBytes
        }
        expect(next).toBe(bytes.length)
      }),
      runs(0.05),
    )
  })

  test('without looking for the next batch, positions are sums of sizes', async () => {
    await fc.assert(
      fc.asyncProperty(mutants, async ({bytes}) => {
        const {end, batches} = await reading(bufferSource(bytes), {resynchronise: false})
        let next = 0
        for (const {position, sizeInBytes} of batches) {
          expect(position).toBe(next)
          next += sizeInBytes
        }
        expect(end).toMatchObject({validBytes: next, skippedBytes: 0, trailingBytes: bytes.length - next})
      }),
      runs(0.03),
    )
  })

  test('reading the valid prefix again gives the same batches, and no damage', async () => {
    await fc.assert(
      fc.asyncProperty(mutants, async ({bytes}) => {
        const first = await reading(bufferSource(bytes), {resynchronise: false})
        const prefix = Buffer.from(bytes.subarray(0, first.end.validBytes))
        const again = await reading(bufferSource(prefix), {resynchronise: false})
        expect(again.batches).toEqual(first.batches)
        expect(again.damages).toEqual([])
        expect(again.end).toEqual({...first.end, trailingBytes: 0})
      }),
      runs(0.03),
    )
  })

  test('`maxBytes` gives the batches that lie whole in the first bytes', async () => {
    await fc.assert(
      fc.asyncProperty(mutants, fc.nat(3_000), async ({bytes}, maxBytes) => {
        const window = await reading(bufferSource(bytes), {maxBytes})
        const size = Math.min(bytes.length, maxBytes)
        expect(window.end.validBytes + window.end.skippedBytes + window.end.trailingBytes).toBe(size)
        const whole = await reading(bufferSource(bytes))
        if (whole.damages.length > 0) {
          // Damage at the window's end may be no damage in the file.
          const cut = await reading(bufferSource(bytes.subarray(0, size)))
          expect(cut.batches.slice(0, window.batches.length)).toEqual(window.batches)
        } else {
          expect(window.batches).toEqual(
            whole.batches.filter(({position, sizeInBytes}) => position + sizeInBytes <= size),
          )
          expect(window.damages).toEqual([])
        }
      }),
      runs(0.03),
    )
  })

  test('chunks of any size give what reading at once gives', async () => {
    await fc.assert(
      fc.asyncProperty(mutants, fc.integer({min: 1, max: 700}), async ({bytes}, chunkBytes) => {
        const source = bufferSource(bytes)
        expect(await reading(source, {chunkBytes})).toEqual(await reading(source))
      }),
      runs(0.02),
    )
  })

  test('batches that are streamed give the same batches and records, and of what is damaged maybe more or fewer of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        mutants,
        fc.integer({min: 1, max: 700}),
        fc.integer({min: 61, max: 700}),
        async ({bytes}, chunkBytes, wholeBatchBytes) => {
          const held = await reading(bufferSource(bytes))
          const streamed = await reading(bufferSource(bytes), {chunkBytes, wholeBatchBytes})
          expect({end: streamed.end, damages: streamed.damages}).toEqual({end: held.end, damages: held.damages})
          held.batches.forEach(({position, text}, n) => {
            const other = streamed.batches[n]
            expect(other?.position).toBe(position)
            const [lines, otherLines] = [text.split('\n'), (other?.text ?? '').split('\n')]
            // How far records before damage in a compressed stream are found, and what is told of it, may be another one.
            if (lines.at(-1) === 'all read' || otherLines.at(-1) === 'all read') expect(otherLines).toEqual(lines)
            const both = Math.min(lines.length, otherLines.length) - 1
            expect(otherLines.slice(0, both)).toEqual(lines.slice(0, both))
          })
        },
      ),
      runs(0.03),
    )
  })

  test('a visitor that may be full, or does not ask how it went, is given the same', async () => {
    await fc.assert(
      fc.asyncProperty(mutants, async ({bytes}) => {
        const {batches} = await reading(bufferSource(bytes))
        let [seen, drained, isFull] = [0, 0, false]
        await readLog(bufferSource(bytes), {
          batch: () => true,
          record: () => {
            expect(isFull).toBe(false)
            seen++
            isFull = seen % 3 === 0
          },
          get full() {
            return isFull
          },
          drain: async () => {
            drained++
            isFull = false
          },
        })
        const records = batches.reduce((sum, {text}) => sum + text.split('\n').length - 2, 0)
        expect(seen).toBe(records)
        expect(drained).toBeLessThanOrEqual(Math.ceil(seen / 3) + batches.length)
      }),
      runs(0.02),
    )
  })

  test('nothing is asked of the source beyond its end, or allocated by a length that was not checked', async () => {
    await fc.assert(
      fc.asyncProperty(mutants, fc.integer({min: 64, max: 4_096}), async ({bytes}, chunkBytes) => {
        const source: ByteSource = {
          size: bytes.length,
          read: async (position, length) => {
            expect(position).toBeGreaterThanOrEqual(0)
            expect(position + length).toBeLessThanOrEqual(bytes.length)
            return bytes.subarray(position, position + length)
          },
        }
        const maxDecompressedBytes = 1_048_576
        const largest = await watchAllocations(async () => {
          await readLog(source, {batch: () => true, record: () => undefined}, {chunkBytes, maxDecompressedBytes})
        })
        // Room for one batch, and for what is decompressed, grown by doubling.
        expect(largest).toBeLessThanOrEqual(Math.max(2 * bytes.length, 4 * maxDecompressedBytes))
      }),
      runs(0.02),
    )
  })
})
