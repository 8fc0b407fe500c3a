import fc from 'fast-check'
import {beforeAll, expect, test} from 'vitest'
import {startOf} from '../../../src/inspect/start.js'
import type {DumpInput, DumpOptions} from '../../../src/inspect/job.js'
import {bufferSource} from '../../../src/log/byte-source.js'
import {prepareCompression} from '../../../src/log/codecs.js'
import {writeOffsetIndex} from '../../../src/log/files/offset-index.js'
import {parseFileName} from '../../../src/log/files/names.js'
import {openTimeIndex, writeTimeIndex} from '../../../src/log/files/time-index.js'
import {FilteredVisitor, logFilter} from '../../../src/log/filter.js'
import {readLog} from '../../../src/log/read-log.js'
import {
  type IndexedTimes,
  indexedTimes,
  type NearSource,
  startByTimeIndex,
  startOfTime,
} from '../../../src/log/seek-time.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {logMutants} from './fuzz/mutate.js'
import {logSeeds} from './fuzz/seeds.js'
import {recordText} from './reading.js'
import {file, folder} from './verify/folders.js'

beforeAll(prepareCompression)

/** The records that are not older, or not before an offset, read from a position on. */
async function shown(bytes: Buffer, filter: DumpOptions['filter'], from: number): Promise<string[]> {
  const records: string[] = []
  const visitor = new FilteredVisitor(
    {batch: () => true, record: record => void records.push(recordText(record))},
    logFilter(filter) as NonNullable<ReturnType<typeof logFilter>>,
    true,
  )
  await readLog(bufferSource(bytes), visitor, {from})
  return records
}

const batches = fc
  .array(
    fc.record({
      times: fc.array(fc.bigInt({min: 0n, max: 9n}), {minLength: 1, maxLength: 3}),
      gap: fc.constantFrom(0n, 0n, 0n, 5n),
      codec: fc.constantFrom('none' as const, 'gzip' as const),
      size: fc.constantFrom(1, 1, 40, 6_000),
    }),
    {minLength: 1, maxLength: 12},
  )
  .map(all => {
    let offset = 0n
    return all.map(({times, gap, codec, size}) => {
      offset += gap
      const records = times.map((timestamp, n) => ({
        offset: offset + BigInt(n),
        timestamp,
        key: null,
        value: Buffer.alloc(size, `${timestamp}`),
      }))
      const maxTimestamp = [...times].sort((a, b) => Number(a - b)).at(-1) as bigint
      offset += BigInt(times.length)
      return {bytes: writeBatch({records, codec}), lastOffset: offset - 1n, maxTimestamp}
    })
  })
const tails = fc.constantFrom(
  Buffer.alloc(0),
  Buffer.alloc(5_000),
  Buffer.alloc(30, 7),
  writeBatch({records: [{offset: 99n, timestamp: 9n, key: null, value: null}]}).subarray(0, 40),
)

test('from where the headers say, a log gives the records that it gives from its beginning', async () => {
  await fc.assert(
    fc.asyncProperty(batches, tails, fc.bigInt({min: 0n, max: 11n}), async (written, tail, fromTime) => {
      const log = Buffer.concat([...written.map(({bytes}) => bytes), tail])
      const from = await startOfTime(near(log), fromTime)
      expect(await shown(log, {fromTime}, from)).toEqual(await shown(log, {fromTime}, 0))
      const starts = written.map((_, n) => written.slice(0, n).reduce((sum, {bytes}) => sum + bytes.length, 0))
      const first = written.findIndex(({maxTimestamp}) => maxTimestamp >= fromTime)
      if (first >= 0) expect(from).toBe(starts[first])
    }),
    {numRuns: 1_000},
  )
})

test('a log that is damaged gives the same records, too', async () => {
  const times = [0n, 1_700_000_000_000n, 1_785_000_000_000n, 2n ** 62n]
  await fc.assert(
    fc.asyncProperty(logMutants(logSeeds), fc.constantFrom(...times), fc.boolean(), async ({bytes}, time, isOwn) => {
      const own = bytes.length >= 43 ? bytes.readBigInt64BE(35) : time
      const fromTime = isOwn ? own + 1n : time
      const from = await startOfTime(near(bytes), fromTime)
      expect(await shown(bytes, {fromTime}, from)).toEqual(await shown(bytes, {fromTime}, 0))
    }),
    {numRuns: 1_500},
  )
})

test('no index, a right one and a damaged one give the same records of a time and of an offset', async () => {
  const stem = '00000000000000000000'
  const wound = fc.record({
    at: fc.nat(),
    xor: fc.integer({min: 1, max: 255}),
    kind: fc.constantFrom('flip', 'cut', 'zeros', 'swap'),
  })
  const options = {signal: new AbortController().signal}
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.bigInt({min: 0n, max: 9n}),
      fc.nat(30),
      wound,
      async (written, fromTime, offset, {at, xor, kind}) => {
        let position = 0
        const entries = written.map(({bytes, lastOffset, maxTimestamp}) => {
          position += bytes.length
          return {offset: lastOffset, position: position - bytes.length, timestamp: maxTimestamp}
        })
        const damaged = (index: Buffer, bytesPerEntry: number): Buffer => {
          const copy = Buffer.from(index)
          if (copy.length === 0 || kind === 'cut') return copy.subarray(0, at % (copy.length + 1))
          if (kind === 'zeros') return copy.fill(0, at % copy.length)
          if (kind === 'flip') copy[at % copy.length]! ^= xor
          else copy.copy(copy, 0, copy.length - bytesPerEntry)
          return copy
        }
        const log = Buffer.concat(written.map(({bytes}) => bytes))
        // Kafka's entry says the largest timestamp up to its offset, so that it ascends.
        const ascending = entries.filter(({timestamp}, n) =>
          entries.slice(0, n).every(one => one.timestamp < timestamp),
        )
        const index = writeOffsetIndex(entries, 0n)
        const timeIndex = writeTimeIndex(ascending, 0n)
        const folders: Record<string, Buffer>[] = [
          {},
          {[`${stem}.index`]: index, [`${stem}.timeindex`]: timeIndex},
          {[`${stem}.index`]: damaged(index, 8), [`${stem}.timeindex`]: damaged(timeIndex, 12)},
        ]
        for (const filter of [{fromTime}, {fromOffset: BigInt(offset)}, {fromTime, fromOffset: BigInt(offset)}]) {
          const whole = await shown(log, filter, 0)
          for (const files of folders) {
            const input = {
              file: {...file(log, `${stem}.log`), ...near(log)},
              folder: folder({...files, [`${stem}.log`]: log}),
              classified: {kind: 'log', name: parseFileName(`${stem}.log`)},
            } as unknown as DumpInput
            const from = await startOf(input, {...options, filter} as unknown as DumpOptions)
            expect(await shown(log, filter, from)).toEqual(whole)
          }
        }
      },
    ),
    {numRuns: 600},
  )
})

/** Batches whose timestamps rise, mostly: a time index has many entries. */
const rising = fc
  .array(fc.tuple(fc.integer({min: -3, max: 9}), fc.constantFrom(1, 1, 3)), {minLength: 10, maxLength: 60})
  .map(steps => {
    let [time, offset, largest, position] = [50n, 0n, -1n, 0]
    return steps.map(([step, count]) => {
      time += BigInt(step)
      const records = Array.from({length: count}, (_, n) => ({
        offset: offset + BigInt(n),
        timestamp: time,
        key: null,
        value: null,
      }))
      offset += BigInt(count)
      const bytes = writeBatch({records})
      const isLargest = time > largest
      if (isLargest) largest = time
      position += bytes.length
      return {bytes, lastOffset: offset - 1n, maxTimestamp: time, isLargest, position: position - bytes.length}
    })
  })

test('an index with entries that are wrong does not change where the reading begins', async () => {
  const wound = fc.record({
    at: fc.nat(),
    bit: fc.nat(95),
    other: fc.nat(),
    kind: fc.constantFrom('bit', 'moved', 'left out', 'of another log'),
  })
  const options = {signal: new AbortController().signal}
  await fc.assert(
    fc.asyncProperty(
      rising,
      fc.integer({min: 40, max: 400}),
      wound,
      rising,
      async (written, after, {at, bit, other, kind}, foreign) => {
        const fromTime = BigInt(after)
        const log = Buffer.concat(written.map(({bytes}) => bytes))
        const ofLog = (all: typeof written) =>
          all
            .filter(({isLargest}) => isLargest)
            .map(({maxTimestamp, lastOffset}) => ({timestamp: maxTimestamp, offset: lastOffset}))
        const entries = ofLog(written)
        const right = writeTimeIndex(entries, 0n)
        const wrong = Buffer.from(kind === 'of another log' ? writeTimeIndex(ofLog(foreign), 0n) : right)
        const place = at % entries.length
        if (kind === 'bit') wrong[12 * place + (bit >> 3)]! ^= 1 << (bit & 7)
        if (kind === 'moved') {
          // What no check of the entry alone can find: it is right of another batch.
          const {maxTimestamp, lastOffset} = written[other % written.length] as (typeof written)[number]
          writeTimeIndex([{timestamp: maxTimestamp, offset: lastOffset}], 0n).copy(wrong, 12 * place)
        }
        if (kind === 'left out') wrong.copyWithin(12 * place, 12 * place + 12)
        const index = writeOffsetIndex(
          written.map(({lastOffset, position}) => ({offset: lastOffset, position})),
          0n,
        )
        const expected = await startOfTime(near(log), fromTime)
        for (const timeIndex of [right, wrong]) {
          let read = 0
          const source = {...file(log, '00000000000000000000.log'), ...near(log)}
          const input = {
            file: {
              ...source,
              readNow(position: number, into: Buffer) {
                read++
                return source.readNow(position, into)
              },
            },
            folder: folder({'00000000000000000000.index': index, '00000000000000000000.timeindex': timeIndex}),
            classified: {kind: 'log', name: parseFileName('00000000000000000000.log')},
          } as unknown as DumpInput
          expect(await startOf(input, {...options, filter: {fromTime}} as unknown as DumpOptions)).toBe(expected)
          expect(read).toBeGreaterThan(0)
        }
      },
    ),
    {numRuns: 3_000},
  )
})

/** Gives small pieces at once, as a file of the disk does. */
function near(bytes: Buffer): NearSource {
  return {...bufferSource(bytes), readNow: (position, into) => bytes.copy(into, 0, position)}
}

test('little is read of what lies before, and with an index next to nothing', async () => {
  const large = Array.from({length: 200}, (_, n) =>
    writeBatch({records: [{offset: BigInt(n), timestamp: BigInt(n), key: null, value: Buffer.alloc(65_536, 'v')}]}),
  )
  const log = Buffer.concat(large)
  let read = 0
  const source: NearSource = {
    ...near(log),
    readNow(position, into) {
      read += into.length
      return log.copy(into, 0, position)
    },
  }
  expect(await startOfTime(source, 150n)).toBe(Buffer.concat(large.slice(0, 150)).length)
  expect(read).toBeLessThan(log.length / 100)
  read = 0
  const entries = large.map((_, n) => ({timestamp: BigInt(n), offset: BigInt(n)}))
  const times = await indexedTimes(await openTimeIndex(bufferSource(writeTimeIndex(entries, 0n)), 0n), 150n)
  expect(times).toMatchObject({isComplete: false, entries: entries.slice(142, 150)})
  const from = Buffer.concat(large.slice(0, 142)).length
  expect(await startByTimeIndex(source, 150n, times as IndexedTimes, {from})).toBe(
    Buffer.concat(large.slice(0, 150)).length,
  )
  expect(read).toBeLessThan(10_000)
})
