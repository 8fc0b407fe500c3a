import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {salvage, type Salvaged} from '../../../../src/log/verify/salvage.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {a, abc, b, c, goldenFiles, patched, stem, told, verifiedFile} from './folders.js'

async function salvaged(bytes: Buffer): Promise<{result: Salvaged; written: Buffer}> {
  const parts: Buffer[] = []
  const result = await salvage(bufferSource(bytes), part => {
    parts.push(Buffer.from(part))
  })
  return {result, written: Buffer.concat(parts)}
}

test('a whole log is copied as it is', async () => {
  const {result, written} = await salvaged(abc)
  expect(written.equals(abc)).toBe(true)
  expect(result).toEqual({
    batches: 3,
    records: 4,
    bytes: 233,
    skippedBatches: 0,
    skippedBytes: 0,
    firstOffset: 0n,
    lastOffset: 3n,
    repeatedBatches: 0,
  })
})

test('damaged batches and what is no batch are left out', async () => {
  const {result, written} = await salvaged(
    Buffer.concat([a, patched(b, 65, 0xff), Buffer.from('garbage that is no batch at all'), c, b.subarray(0, 40)]),
  )
  expect(written.equals(Buffer.concat([a, c]))).toBe(true)
  expect(result).toMatchObject({batches: 2, records: 3, skippedBatches: 1, skippedBytes: 70 + 31 + 40})
})

test('batches that would make offsets fall are left out', async () => {
  const {result, written} = await salvaged(Buffer.concat([a, b, a, c]))
  expect(written.equals(abc)).toBe(true)
  expect(result).toMatchObject({repeatedBatches: 1, skippedBytes: 85})
})

describe('a base offset that is too high', () => {
  const batch = (baseOffset: bigint) =>
    writeBatch({baseOffset, records: [{timestamp: 1n, key: null, value: Buffer.from(`${baseOffset}`)}]})
  const [zero, one, two, three, far] = [batch(0n), batch(1n), batch(2n), batch(3n), batch(7_000_000_000n)]

  test.each([
    ['in the middle', [zero, far, two, three], [zero, two, three]],
    ['at the beginning', [far, one, two, three], [one, two, three]],
    ['before the last batch', [zero, one, far, three], [zero, one, three]],
    [
      'twice',
      [zero, far, two, three, batch(9_000_000_000n), batch(5n), batch(6n)],
      [zero, two, three, batch(5n), batch(6n)],
    ],
  ])('%s costs its own batch alone', async (_where, batches, kept) => {
    const {result, written} = await salvaged(Buffer.concat(batches))
    expect(written.equals(Buffer.concat(kept))).toBe(true)
    expect(result).toMatchObject({batches: kept.length, repeatedBatches: batches.length - kept.length})
    expect(result.lastOffset).toBe(kept.at(-1)?.readBigInt64BE(0))
  })

  test('is none where two batches have changed places', async () => {
    const {written} = await salvaged(Buffer.concat([zero, two, one, three]))
    expect(written.equals(Buffer.concat([zero, two, three]))).toBe(true)
    const {written: atEnd} = await salvaged(Buffer.concat([zero, two, one]))
    expect(atEnd.equals(Buffer.concat([zero, two]))).toBe(true)
  })
})

test('nothing is written of nothing', async () => {
  expect((await salvaged(Buffer.alloc(0))).result).toMatchObject({batches: 0, bytes: 0})
  expect((await salvaged(Buffer.alloc(5_000))).result).toMatchObject({batches: 0, bytes: 0, skippedBytes: 5_000})
})

test('what is written passes the checks, whatever the damage', async () => {
  const log = goldenFiles('real', 'mixed')[`${stem}.log`] as Buffer
  const damages = fc.array(fc.record({at: fc.nat(log.length - 1), value: fc.nat(255)}), {minLength: 1, maxLength: 8})
  await fc.assert(
    fc.asyncProperty(damages, async changes => {
      const bytes = Buffer.from(log)
      for (const {at, value} of changes) bytes[at] = value
      const {result, written} = await salvaged(bytes)
      expect(written.length).toBe(result.bytes)
      const report = await verifiedFile({[`${stem}.log`]: written}, `${stem}.log`, {compacted: true})
      const allowed = [
        'epoch-falls',
        'epoch-negative',
        'max-timestamp',
        'codec',
        'unknown-attributes',
        'offset-overflow',
        'offset-negative',
      ]
      expect(told(report.findings).filter(one => !allowed.includes(one.split(' ')[1] as string))).toEqual([])
      expect(report.log?.batches).toBe(result.batches)
    }),
    {numRuns: 150},
  )
})
