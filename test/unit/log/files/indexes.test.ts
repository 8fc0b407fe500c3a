import {describe, expect, test} from 'vitest'
import {bufferSource, type ByteSource} from '../../../../src/log/byte-source.js'
import {openOffsetIndex, writeOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {openTimeIndex, writeTimeIndex} from '../../../../src/log/files/time-index.js'
import {openTransactionIndex, writeTransactionIndex} from '../../../../src/log/files/transaction-index.js'

async function all<Entry>(chunks: AsyncIterable<readonly Entry[]>): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const chunk of chunks) entries.push(...chunk)
  return entries
}

const pairs = async (bytes: Buffer, view: 'right' | 'kafka' = 'right', baseOffset = 0n) => {
  const index = await openOffsetIndex(bufferSource(bytes), baseOffset)
  return (await all(index.entries(view))).map(({offset, position}) => `${offset}@${position}`)
}

/** `.index` and `.timeindex` of the three golden batches, encoded independently of Kafka's code. */
const offsetIndex = Buffer.from('0000000200000055000000030000009b', 'hex')
const timeIndex = Buffer.from('0000018bcfe5680a000000020000018bcfe5681400000003', 'hex')
const transactionIndex = Buffer.from('000000000000000003e8000000000000000200000000000000030000000000000004', 'hex')

describe('an offset index', () => {
  test('gives its entries with absolute offsets, and is written back as it was', async () => {
    expect(await pairs(offsetIndex)).toEqual(['2@85', '3@155'])
    expect(await pairs(offsetIndex, 'right', 9_007_199_254_740_993n)).toEqual([
      '9007199254740995@85',
      '9007199254740996@155',
    ])
    const index = await openOffsetIndex(bufferSource(offsetIndex), 0n)
    expect(writeOffsetIndex(await all(index.entries()), 0n)).toEqual(offsetIndex)
    expect(index).toMatchObject({entryCount: 2, roomForEntries: 2, leftoverBytes: 0})
    expect(index).not.toHaveProperty('preallocatedFrom')
  })

  test.each([
    [12, 1, 4],
    [14, 1, 6],
    [19, 2, 3],
    [7, 0, 7],
    [0, 0, 0],
  ])('of %i bytes has %i entries and %i bytes left over', async (size, entryCount, leftoverBytes) => {
    const bytes = Buffer.concat([offsetIndex, Buffer.from([0, 0, 1])]).subarray(0, size)
    expect(await openOffsetIndex(bufferSource(bytes), 0n)).toMatchObject({entryCount, leftoverBytes})
  })

  test('ends where the zeros of the preallocated space begin, whatever their number', async () => {
    for (const zeros of [8, 16, 4_080, 262_144, 10_485_744]) {
      const bytes = Buffer.concat([offsetIndex, Buffer.alloc(zeros)])
      expect(await openOffsetIndex(bufferSource(bytes), 0n)).toMatchObject({entryCount: 2, preallocatedFrom: 16})
      expect(await pairs(bytes)).toEqual(['2@85', '3@155'])
      expect(await pairs(bytes, 'kafka')).toEqual(['2@85', '3@155'])
    }
  })

  test('keeps a last entry whose last bytes are zeros', async () => {
    const bytes = Buffer.concat([writeOffsetIndex([{offset: 5n, position: 0x0100_0000}], 0n), Buffer.alloc(800)])
    expect(await pairs(bytes)).toEqual(['5@16777216'])
  })

  test('of zeros only has no entry; the phantom of Kafka’s tool is in its view alone', async () => {
    const bytes = Buffer.alloc(4_096)
    expect(await openOffsetIndex(bufferSource(bytes), 40n)).toMatchObject({entryCount: 0, preallocatedFrom: 0})
    expect(await pairs(bytes, 'right', 40n)).toEqual([])
    expect(await pairs(bytes, 'kafka', 40n)).toEqual(['40@0'])
  })

  test('has a first entry of zeros if entries follow, or if it is all that the file has', async () => {
    const followed = writeOffsetIndex(
      [
        {offset: 0n, position: 0},
        {offset: 3n, position: 155},
      ],
      0n,
    )
    for (const view of ['right', 'kafka'] as const) {
      expect(await pairs(followed, view)).toEqual(['0@0', '3@155'])
      expect(await pairs(Buffer.alloc(8), view)).toEqual(['0@0'])
    }
  })

  test('goes on behind an entry for the base offset, where Kafka’s tool stops', async () => {
    const bytes = writeOffsetIndex(
      [
        {offset: 9n, position: 85},
        {offset: 7n, position: 155},
        {offset: 12n, position: 300},
      ],
      7n,
    )
    expect(await pairs(bytes, 'right', 7n)).toEqual(['9@85', '7@155', '12@300'])
    expect(await pairs(bytes, 'kafka', 7n)).toEqual(['9@85'])
  })

  test('shows entries that descend, repeat or are negative as they are', async () => {
    const bytes = Buffer.from('00000003ffffff65fffffffe000000550000000200000055', 'hex')
    expect(await pairs(bytes)).toEqual(['3@-155', '-2@85', '2@85'])
  })

  test('wraps around instead of failing at the last offsets there are', async () => {
    expect(await pairs(offsetIndex, 'right', 2n ** 63n - 1n)).toEqual([
      '-9223372036854775807@85',
      '-9223372036854775806@155',
    ])
  })

  test('of a million entries is read in pieces of 256 KiB', async () => {
    const bytes = Buffer.alloc(8_000_000)
    for (let n = 0; n < 1_000_000; n++) {
      bytes.writeInt32BE(n + 1, n * 8)
      bytes.writeInt32BE(n * 100, n * 8 + 4)
    }
    const asked: number[] = []
    const source: ByteSource = {
      size: bytes.length,
      read: async (position, length) => {
        asked.push(length)
        return bytes.subarray(position, position + length)
      },
    }
    const index = await openOffsetIndex(source, 0n)
    let [count, last] = [0, 0n]
    for await (const chunk of index.entries()) {
      count += chunk.length
      last = chunk.at(-1)?.offset ?? 0n
    }
    expect({count, last}).toEqual({count: 1_000_000, last: 1_000_000n})
    expect(Math.max(...asked)).toBeLessThanOrEqual(262_144)
    expect(asked.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(8_000_000 + 262_144)
  })

  test('that becomes shorter while it is read ends early', async () => {
    const source: ByteSource = {size: 80, read: async position => offsetIndex.subarray(position, 12)}
    const index = await openOffsetIndex(source, 0n)
    expect((await all(index.entries('kafka'))).map(({offset}) => offset)).toEqual([2n])
  })

  test('is not written with an offset that does not fit', () => {
    expect(() => writeOffsetIndex([{offset: 2n ** 40n, position: 0}], 0n)).toThrow(RangeError)
  })
})

describe('a time index', () => {
  const entries = async (bytes: Buffer, view: 'right' | 'kafka' = 'right', baseOffset = 0n) =>
    (await all((await openTimeIndex(bufferSource(bytes), baseOffset)).entries(view))).map(
      ({timestamp, offset}) => `${timestamp}>${offset}`,
    )

  test('gives its entries, and is written back as it was', async () => {
    expect(await entries(timeIndex)).toEqual(['1700000000010>2', '1700000000020>3'])
    const index = await openTimeIndex(bufferSource(timeIndex), 0n)
    expect(writeTimeIndex(await all(index.entries()), 0n)).toEqual(timeIndex)
  })

  test('of 13 bytes has an entry and a byte left over', async () => {
    expect(await openTimeIndex(bufferSource(timeIndex.subarray(0, 13)), 0n)).toMatchObject({
      entryCount: 1,
      leftoverBytes: 1,
    })
  })

  test('ends at the preallocated zeros; of zeros only it has no entry, but for the phantom of Kafka’s tool', async () => {
    expect(await entries(Buffer.concat([timeIndex, Buffer.alloc(10_485_732)]))).toEqual([
      '1700000000010>2',
      '1700000000020>3',
    ])
    expect(await entries(Buffer.alloc(4_092), 'right', 40n)).toEqual([])
    expect(await entries(Buffer.alloc(4_092), 'kafka', 40n)).toEqual(['0>40'])
  })

  test('of one entry may be all zeros: a record of the timestamp 0 at the base offset', async () => {
    expect(await entries(Buffer.alloc(12))).toEqual(['0>0'])
  })

  test('keeps 64-bit timestamps exact', async () => {
    const odd = [
      {timestamp: -1n, offset: 0n},
      {timestamp: 2n ** 63n - 1n, offset: 1n},
      {timestamp: -(2n ** 63n), offset: 2n},
    ]
    const index = await openTimeIndex(bufferSource(writeTimeIndex(odd, 0n)), 0n)
    expect((await all(index.entries())).map(({timestamp, offset}) => ({timestamp, offset}))).toEqual(odd)
  })
})

describe('a transaction index', () => {
  test('gives its entries, and is written back as it was', async () => {
    const index = await openTransactionIndex(bufferSource(transactionIndex))
    const found = await all(index.entries())
    expect(found).toEqual([
      {index: 0, version: 0, producerId: 1000n, firstOffset: 2n, lastOffset: 3n, lastStableOffset: 4n},
    ])
    expect(writeTransactionIndex(found)).toEqual(transactionIndex)
  })

  test('tells versions that are not known, and bytes left over', async () => {
    const entry = {
      producerId: 2n ** 62n,
      firstOffset: -1n,
      lastOffset: 2n ** 63n - 1n,
      lastStableOffset: 0n,
      version: 1,
    }
    const bytes = Buffer.concat([transactionIndex, writeTransactionIndex([entry]), transactionIndex.subarray(0, 33)])
    const index = await openTransactionIndex(bufferSource(bytes))
    expect(index).toMatchObject({entryCount: 2, leftoverBytes: 33})
    expect((await all(index.entries()))[1]).toEqual({index: 1, ...entry})
  })

  test('of zeros behind its entries ends before them, in Kafka’s view behind them', async () => {
    const index = await openTransactionIndex(bufferSource(Buffer.concat([transactionIndex, Buffer.alloc(100)])))
    expect(index).toMatchObject({entryCount: 1, preallocatedFrom: 34, leftoverBytes: 32})
    expect(await all(index.entries())).toHaveLength(1)
    expect(await all(index.entries('kafka'))).toHaveLength(3)
  })
})
