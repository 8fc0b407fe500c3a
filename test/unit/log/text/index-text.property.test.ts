import fc from 'fast-check'
import {expect, test} from 'vitest'
import {writeOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {writeTimeIndex} from '../../../../src/log/files/time-index.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {memoryFolder, print} from './golden-runs.js'

// The checks take one pass over the log. Here they are compared with checks that look at the whole log for each entry, as
// Kafka's tool does (DumpLogSegments.dumpIndex and dumpTimeIndex).

const stem = '00000000000000000000'

interface Batch {
  readonly position: bigint
  readonly lastOffset: bigint
  readonly largest: bigint
}

/** A log of batches whose offsets mostly ascend, and its batches. */
const logs = fc
  .array(
    fc.record({
      count: fc.integer({min: 1, max: 4}),
      skipped: fc.constantFrom(0n, 0n, 0n, 1n, 5n, -3n),
      times: fc.array(fc.bigInt({min: 0n, max: 30n}), {minLength: 4, maxLength: 4}),
    }),
    {minLength: 1, maxLength: 12},
  )
  .map(list => {
    let [offset, position] = [0n, 0n]
    const batches: Batch[] = []
    const parts = list.map(({count, skipped, times}) => {
      offset += skipped
      if (offset < 0n) offset = 0n
      const records = times.slice(0, count).map(timestamp => ({offset: offset++, timestamp, key: null, value: null}))
      const bytes = writeBatch({records})
      const largest = BigInt(Math.max(...records.map(({timestamp}) => Number(timestamp))))
      batches.push({position, lastOffset: offset - 1n, largest})
      position += BigInt(bytes.length)
      return bytes
    })
    return {log: Buffer.concat(parts), batches}
  })

/** Mostly what the log has, in its order or not. */
const entriesOf = fc.array(fc.tuple(fc.nat(), fc.constantFrom(0n, 0n, 0n, 0n, 1n, -1n)), {maxLength: 14})

test('a time index is judged as by looking at the whole log for each entry', async () => {
  await fc.assert(
    fc.asyncProperty(logs, entriesOf, fc.boolean(), async ({log, batches}, picks, sorted) => {
      const order = sorted ? [...picks].sort(([a], [b]) => (a % batches.length) - (b % batches.length)) : picks
      const entries = order.map(([pick, off]) => {
        const {lastOffset, largest} = batches[pick % batches.length] as Batch
        return {offset: lastOffset + off < 1n ? 1n : lastOffset + off, timestamp: largest + (pick % 7 === 0 ? 1n : 0n)}
      })
      const name = `${stem}.timeindex`
      const folder = memoryFolder({[`${stem}.log`]: log, [name]: writeTimeIndex(entries, 0n)})
      const {report} = await print(folder, name, {style: '4.4'})
      expect(report).toBe(naiveTimeReport(name, entries, batches))
    }),
    {numRuns: 500},
  )
})

function naiveTimeReport(
  name: string,
  entries: readonly {readonly offset: bigint; readonly timestamp: bigint}[],
  batches: readonly Batch[],
): string {
  const [mismatches, disordered, missing]: [string[], string[], string[]] = [[], [], []]
  let previous = -1n
  for (const {offset, timestamp} of entries) {
    const holder = batches.find(({lastOffset}) => lastOffset >= offset)
    if (holder?.lastOffset !== offset)
      missing.push(`Indexed offset: ${offset}, found log offset: ${holder?.lastOffset ?? -1}`)
    else {
      if (holder.largest !== timestamp)
        mismatches.push(`  Index timestamp: ${timestamp}, log timestamp: ${holder.largest}`)
      if (previous >= timestamp) {
        disordered.push(`  Index timestamp: ${timestamp}, Previously indexed timestamp: ${previous}`)
      }
    }
    previous = timestamp
  }
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `${title} in :<DIR>/${name}\n${lines.map(line => `${line}\n`).join('')}`
  return (
    section('Found timestamp mismatch', mismatches) +
    section('Found out of order timestamp', disordered) +
    section('The following indexed offsets are not found', missing)
  )
}

test('an offset index is judged as by looking at the position of each entry', async () => {
  await fc.assert(
    fc.asyncProperty(logs, entriesOf, fc.boolean(), async ({log, batches}, picks, sorted) => {
      const order = sorted ? [...picks].sort(([a], [b]) => (a % batches.length) - (b % batches.length)) : picks
      const entries = order.map(([pick, off]) => {
        const {lastOffset, position} = batches[pick % batches.length] as Batch
        // Lower offsets only: higher ones may be those of followers.
        const offset = lastOffset - (pick % 5 === 0 ? 1n : 0n)
        return {offset: offset < 1n ? 1n : offset, position: Number(position + off)}
      })
      const name = `${stem}.index`
      const folder = memoryFolder({[`${stem}.log`]: log, [name]: writeOffsetIndex(entries, 0n)})
      const {report, findings} = await print(folder, name, {style: '4.2', bugCompatible: true})
      const lines = entries.flatMap(({offset, position}) => {
        const there = batches.find(batch => batch.position === BigInt(position))?.lastOffset ?? -1n
        return there === offset ? [] : [`  Index offset: ${offset}, log offset: ${there}\n`]
      })
      expect(report).toBe(lines.length === 0 ? '' : `Mismatches in :<DIR>/${name}\n${lines.reverse().join('')}`)
      expect(findings.filter(({code}) => code === 'index-position' || code === 'index-offset')).toHaveLength(
        lines.length,
      )
    }),
    {numRuns: 500},
  )
})
