import {describe, expect, test} from 'vitest'
import {writeOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {writeTimeIndex} from '../../../../src/log/files/time-index.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {abc, goldenFiles, patched, stem, told, verified, verifiedFile} from './folders.js'

const [log, index, timeIndex] = [`${stem}.log`, `${stem}.index`, `${stem}.timeindex`]
const rightIndex = writeOffsetIndex(
  [
    {offset: 2n, position: 85},
    {offset: 3n, position: 155},
  ],
  0n,
)
const rightTimes = writeTimeIndex(
  [
    {timestamp: 1_700_000_000_010n, offset: 2n},
    {timestamp: 1_700_000_000_020n, offset: 3n},
  ],
  0n,
)

async function ofIndex(bytes: Buffer): Promise<string[]> {
  const report = await verifiedFile({[log]: abc, [index]: bytes}, index)
  const withLog = await verifiedFile({[log]: abc, [index]: bytes}, log)
  expect(told(withLog.findings)).toEqual(told(report.findings))
  return told(report.findings)
}

async function ofTimes(bytes: Buffer): Promise<string[]> {
  const report = await verifiedFile({[log]: abc, [timeIndex]: bytes}, timeIndex)
  const withLog = await verifiedFile({[log]: abc, [timeIndex]: bytes}, log)
  expect(told(withLog.findings)).toEqual(told(report.findings))
  return told(report.findings)
}

/** A log of batches of one record each, `size` bytes or a little more. */
function batchesOf(count: number, size: number): {bytes: Buffer; positions: number[]} {
  const positions: number[] = []
  const parts: Buffer[] = []
  let position = 0
  for (let n = 0; n < count; n++) {
    const batch = writeBatch({
      records: [{offset: BigInt(n), timestamp: BigInt(1_000 + n), key: null, value: Buffer.alloc(size - 70)}],
      leaderEpoch: 0,
    })
    positions.push(position)
    parts.push(batch)
    position += batch.length
  }
  return {bytes: Buffer.concat(parts), positions}
}

describe('an offset index', () => {
  test.each([
    ['that is right', rightIndex],
    ['without entries', Buffer.alloc(0)],
    ['that is preallocated', Buffer.concat([rightIndex, Buffer.alloc(10_485_760 - 16)])],
    ['that is preallocated and has no entries', Buffer.alloc(4096)],
  ])('%s has nothing wrong in it', async (_, bytes) => {
    expect(await ofIndex(bytes)).toEqual([])
  })

  test.each([12, 14, 19])('of %i bytes has some left over', async size => {
    expect(await ofIndex(Buffer.concat([rightIndex, rightIndex]).subarray(0, size))).toContain(
      `warning index-size ${size - (size % 8)}`,
    )
  })

  test.each([
    ['at the end of the log', 233, 'and the log has 233 bytes'],
    ['beyond the log', 100_000, 'and the log has 233 bytes'],
    ['into a batch', 90, 'where no batch begins'],
    ['to a negative position', -5, 'which is negative'],
  ])('with an entry that points %s: one finding, and the others are compared', async (_, position, why) => {
    const bytes = Buffer.from(rightIndex)
    bytes.writeInt32BE(position, 4)
    const report = await verifiedFile({[log]: abc, [index]: bytes}, index)
    expect(told(report.findings)).toEqual(['error index-position 0 o2'])
    expect(report.findings[0]?.explanation).toContain(why)
  })

  test('with entries in the wrong order, or twice', async () => {
    const swapped = Buffer.concat([rightIndex.subarray(8), rightIndex.subarray(0, 8)])
    expect(await ofIndex(swapped)).toEqual(['error index-order 8 o2'])
    const twice = Buffer.concat([rightIndex.subarray(0, 8), rightIndex.subarray(0, 8), rightIndex.subarray(8)])
    expect(await ofIndex(twice)).toEqual(['error index-order 8 o2'])
  })

  test('with the offset of another batch', async () => {
    expect(await ofIndex(patched(rightIndex, 3, 1))).toEqual(['error index-offset 0 o1'])
    expect(await ofIndex(patched(rightIndex, 3, 9))).toEqual(['error index-offset 0 o9'])
  })

  test('with three wrong entries has three findings', async () => {
    const report = await verifiedFile(goldenFiles('made', 'odd-e4'), index)
    expect(report.findings.map(({code}) => code)).toEqual(['index-offset', 'index-offset', 'index-offset'])
  })

  test('as a follower of an old broker wrote it (one entry for an append of several batches) is legal', async () => {
    const {bytes, positions} = batchesOf(9, 100)
    const followers = writeOffsetIndex(
      [
        {offset: 5n, position: positions[3] as number},
        {offset: 8n, position: positions[6] as number},
      ],
      0n,
    )
    expect(told((await verifiedFile({[log]: bytes, [index]: followers}, log)).findings)).toEqual([])
    const beyondNext = writeOffsetIndex(
      [
        {offset: 7n, position: positions[3] as number},
        {offset: 8n, position: positions[6] as number},
      ],
      0n,
    )
    expect(told((await verifiedFile({[log]: bytes, [index]: beyondNext}, log)).findings)).toEqual([
      'error index-offset 0 o7',
    ])
  })

  test('without its log is shown, and says that nothing was compared', async () => {
    const report = await verifiedFile({[index]: rightIndex}, index)
    expect(report.entries).toBe(2)
    expect(told(report.findings, {infos: true})).toEqual(['info not-checked'])
  })

  test('with no entry for more than a megabyte of log has a hole, of low severity', async () => {
    const {bytes, positions} = batchesOf(1_000, 4_200)
    const all = positions.map((position, n) => ({offset: BigInt(n), position})).slice(1)
    const dense = writeOffsetIndex(all, 0n)
    expect(told((await verifiedFile({[log]: bytes, [index]: dense}, index)).findings)).toEqual([])
    const holed = writeOffsetIndex(
      all.filter((_, n) => n < 300 || n > 600),
      0n,
    )
    expect(told((await verifiedFile({[log]: bytes, [index]: holed}, index)).findings)).toEqual(['warning index-sparse'])
  })

  test('with no entry for less than what a follower fetches at once is worth knowing', async () => {
    const of = async (count: number) => {
      const {bytes} = batchesOf(count, 4_200)
      const report = await verifiedFile({[log]: bytes, [index]: Buffer.alloc(0)}, index)
      return told(report.findings, {infos: true})
    }
    expect(await of(50)).toEqual([])
    expect(await of(200)).toEqual(['info index-sparse'])
    expect(await of(300)).toEqual(['warning index-sparse'])
  })

  test('of a batch of 6 MiB is right', async () => {
    const small = writeBatch({records: [{offset: 0n, timestamp: 1n, key: null, value: null}]})
    const large = writeBatch({records: [{offset: 1n, timestamp: 1n, key: null, value: Buffer.alloc(6_291_456)}]})
    const entries = writeOffsetIndex([{offset: 1n, position: small.length}], 0n)
    const report = await verifiedFile({[log]: Buffer.concat([small, large]), [index]: entries}, log)
    expect(told(report.findings)).toEqual([])
    expect(report.log?.records).toBe(2)
  })

  test('is not blamed for damage in its log', async () => {
    const report = await verifiedFile({[log]: patched(abc, 85 + 8, 0x7f), [index]: rightIndex}, index)
    expect(told(report.findings)).toEqual([])
    expect(told(report.findings, {infos: true})).toEqual(['info index-position 0 o2'])
    expect(report.conclusions.join('\n')).toContain('The log itself is damaged')
  })
})

describe('a time index', () => {
  test.each([
    ['that is right', rightTimes],
    ['that is preallocated', Buffer.concat([rightTimes, Buffer.alloc(10_485_756 - 24)])],
    ['that is preallocated and has no entries', Buffer.alloc(4092)],
    ['with the last entry only', rightTimes.subarray(12)],
  ])('%s has nothing wrong in it', async (_, bytes) => {
    expect(await ofTimes(bytes)).toEqual([])
  })

  test('whose size is no multiple of 12', async () => {
    expect(await ofTimes(Buffer.concat([rightTimes, Buffer.of(1)]))).toEqual(['warning timeindex-size 24'])
  })

  test('with timestamps that fall', async () => {
    const {bytes} = batchesOf(4, 100)
    const entry = (n: number) => ({offset: BigInt(n), timestamp: BigInt(1_000 + n)})
    const swapped = writeTimeIndex([entry(2), entry(1), entry(3)], 0n)
    const report = await verifiedFile({[log]: bytes, [timeIndex]: swapped}, timeIndex)
    expect(told(report.findings)).toEqual(['error timeindex-order 12 o1'])
  })

  test('with an offset that is not in the log', async () => {
    expect(await ofTimes(patched(rightTimes, 23, 99))).toEqual(['error timeindex-offset 12 o99'])
  })

  test('with a wrong timestamp', async () => {
    expect(await ofTimes(patched(rightTimes, 7, 0xff))).toEqual(['error timeindex-timestamp 0 o2'])
  })

  test('as brokers up to 3.6 wrote it (the offset of the record itself) is legal', async () => {
    const records = [5n, 9n, 7n].map((timestamp, n) => ({offset: BigInt(n), timestamp, key: null, value: null}))
    const bytes = writeBatch({records, leaderEpoch: 0})
    const of = async (offset: bigint) => {
      const files = {[log]: bytes, [timeIndex]: writeTimeIndex([{timestamp: 9n, offset}], 0n)}
      const report = await verifiedFile(files, timeIndex)
      expect(told((await verifiedFile(files, log)).findings)).toEqual(told(report.findings))
      return told(report.findings)
    }
    expect(await of(1n)).toEqual([])
    expect(await of(2n)).toEqual([])
    expect(await of(0n)).toEqual(['error timeindex-offset 0 o0'])
  })

  test('whose last entry is below the largest timestamp of a closed segment', async () => {
    expect(await ofTimes(rightTimes.subarray(0, 12))).toEqual(['warning timeindex-last o3'])
    expect(await ofTimes(Buffer.alloc(0))).toEqual(['warning timeindex-last o3'])
  })

  test('of an empty batch that compaction kept is right', async () => {
    const empty = writeBatch({records: [], baseOffset: 0n, lastOffsetDelta: 4, baseTimestamp: -1n, maxTimestamp: 77n})
    const entries = writeTimeIndex([{timestamp: 77n, offset: 4n}], 0n)
    expect(told((await verifiedFile({[log]: empty, [timeIndex]: entries}, timeIndex)).findings)).toEqual([])
  })

  test('without an offset index beside it is compared with the log', async () => {
    const report = await verifiedFile({[log]: abc, [timeIndex]: rightTimes}, timeIndex)
    expect(told(report.findings, {infos: true})).toEqual([])
  })
})

describe('a folder', () => {
  const files = {[log]: abc, [index]: rightIndex, [timeIndex]: rightTimes}
  const next = writeBatch({records: [{offset: 4n, timestamp: 1n, key: null, value: null}], leaderEpoch: 3})
  const nextStem = '00000000000000000004'

  test('with a segment without its indexes says that they are rebuilt', async () => {
    const report = await verified({...files, [`${nextStem}.log`]: next})
    expect(told(report.findings)).toEqual(['warning index-missing', 'warning timeindex-missing'])
    expect(report.segments[1]).toMatchObject({offsetIndex: 'missing', timeIndex: 'missing'})
    expect(report.conclusions.join('\n')).toContain('rebuilds the index files')
  })

  test('without any index is a copy', async () => {
    expect(told((await verified({[log]: abc})).findings, {infos: true})).toEqual(['info not-checked'])
  })

  test('with an index without a log', async () => {
    const report = await verified({...files, [`${nextStem}.index`]: Buffer.alloc(0)})
    expect(told(report.findings)).toEqual(['warning orphan-file'])
  })

  test('marks the segment whose index is wrong', async () => {
    const report = await verified({...files, [index]: patched(rightIndex, 7, 1)})
    expect(report.segments[0]).toMatchObject({offsetIndex: 'findings', timeIndex: 'ok', findings: 1})
  })
})
