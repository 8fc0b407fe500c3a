import {describe, expect, test} from 'vitest'
import {readBatches} from '../../../src/log/batches.js'
import {bufferSource} from '../../../src/log/byte-source.js'
import {crc32c} from '../../../src/log/crc32c.js'
import {type ScanOptions, type ScanResult, scan, scanBuffer} from '../../../src/log/scan.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {golden, vectors} from './vectors.js'

const {plain, transactional} = vectors
const three = Buffer.concat([plain, transactional, vectors.commitMarker])
const read = (bytes: Buffer, options?: ScanOptions): ScanResult => scanBuffer(bytes, () => undefined, options)

/** A copy with other bytes in it, and the CRC made right again. */
function altered(batch: Buffer, changes: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(batch)
  changes(copy)
  copy.writeUInt32BE(crc32c(copy.subarray(21)), 17)
  return copy
}

function recordsOf(bytes: Buffer): {readonly offsets: bigint[]; readonly problem: string | undefined} {
  const offsets: bigint[] = []
  let problem: string | undefined
  scanBuffer(bytes, batch => {
    problem = batch.records(record => offsets.push(record.offset))
  })
  return {offsets, problem}
}

describe('where a scan ends', () => {
  test('an empty file has nothing and no problem', () => {
    expect(read(Buffer.alloc(0))).toEqual({validBytes: 0, trailingBytes: 0})
  })

  test('a last batch that is not whole is told with its position', () => {
    expect(read(three.subarray(0, 200))).toEqual({
      validBytes: 155,
      trailingBytes: 45,
      problem: {kind: 'cut', position: 155, reason: 'the batch has 78 bytes, and 45 are left'},
    })
  })

  test('a tail of 17 bytes is looked at, which Kafka’s own tool never does', () => {
    expect(read(Buffer.concat([plain, Buffer.alloc(17)])).problem).toMatchObject({kind: 'size', position: 85})
    expect(read(Buffer.concat([plain, Buffer.alloc(16)])).problem).toMatchObject({kind: 'cut', position: 85})
  })

  test('zero filled space is a length that no batch can have', () => {
    expect(read(Buffer.concat([three, Buffer.alloc(4_096)])).problem).toEqual({
      kind: 'size',
      position: 233,
      reason: "a batch can't have the length 0",
    })
  })

  test.each([
    [-1, "a batch can't have the length -1"],
    [13, "a batch can't have the length 13"],
    [48, "a batch can't have the length 48"],
  ])('a length of %i ends it', (length, reason) => {
    const bytes = Buffer.from(plain)
    bytes.writeInt32BE(length, 8)
    expect(read(bytes).problem).toEqual({kind: 'size', position: 0, reason})
  })

  test.each([
    [3, 'magic 3 is not known'],
    [127, 'magic 127 is not known'],
    [-1, 'magic -1 is not known'],
  ])('magic %i ends it', (magic, reason) => {
    const bytes = Buffer.from(three)
    bytes.writeInt8(magic, 85 + 16)
    expect(read(bytes)).toMatchObject({validBytes: 85, problem: {kind: 'magic', position: 85, reason}})
  })

  test('a batch of the greatest allowed size is read, a byte more is reported', () => {
    expect(read(three, {maxBatchBytes: 85})).toEqual({validBytes: 233, trailingBytes: 0})
    expect(read(three, {maxBatchBytes: 84}).problem).toEqual({
      kind: 'too-large',
      position: 0,
      reason: 'the batch has 85 bytes, and 84 are allowed',
    })
  })

  test('a batch that is larger than a chunk grows the buffer to its size and no further', async () => {
    const large = writeBatch({records: [{timestamp: 0n, key: null, value: Buffer.alloc(10_000)}]})
    const bytes = Buffer.concat([plain, large, transactional])
    const asked: number[] = []
    const source = {
      size: bytes.length,
      read: async (position: number, length: number) => {
        asked.push(length)
        return bytes.subarray(position, position + length)
      },
    }
    expect(await scan(source, () => undefined, {chunkBytes: 100})).toMatchObject({validBytes: bytes.length})
    expect(Math.max(...asked)).toBe(large.length)
  })

  test('a source that gives less than its size promises is read as far as it goes, and told', async () => {
    const source = {size: 1_000, read: async () => plain}
    expect(await scan(source, () => undefined)).toEqual({
      validBytes: 85,
      trailingBytes: 915,
      problem: {kind: 'short-read', position: 85, reason: '1000 bytes were asked of the source, and it gave 85'},
    })
  })

  test('a source that can’t be read throws its own error', async () => {
    const source = {size: 100, read: () => Promise.reject(new Error('EIO'))}
    await expect(scan(source, () => undefined)).rejects.toThrow('EIO')
  })
})

describe('what a batch says', () => {
  test('a false CRC is told, and the batch is whole all the same', () => {
    const bytes = Buffer.from(three)
    bytes[80] = 0xff
    const right: boolean[] = []
    expect(scanBuffer(bytes, batch => right.push(batch.crcIsRight))).toEqual({validBytes: 233, trailingBytes: 0})
    expect(right).toEqual([false, true, true])
  })

  test('base offset and leader epoch lie outside the CRC: the broker fills them in', () => {
    const bytes = Buffer.from(plain)
    bytes.writeBigInt64BE(77n, 0)
    bytes.writeInt32BE(9, 12)
    scanBuffer(bytes, batch => {
      expect([batch.baseOffset, batch.lastOffset, batch.leaderEpoch, batch.crcIsRight]).toEqual([77n, 78n, 9, true])
    })
  })

  test('records of a compressed batch are decoded, and their views outlive the scan', async () => {
    const {batches} = await readBatches(bufferSource(golden('lat')))
    const compressed = batches.filter(batch => batch.codec === 'snappy')
    expect(compressed.length).toBeGreaterThan(0)
    for (const batch of compressed) {
      expect(batch.problem).toBeUndefined()
      expect(batch.records).toHaveLength(batch.recordsCount)
      expect(batch.records.at(-1)?.offset).toBe(batch.lastOffset)
    }
  })

  test('with LogAppendTime all records have the time of the batch', async () => {
    const [batch] = (await readBatches(bufferSource(golden('lat')))).batches
    expect(batch?.timestampType).toBe('LogAppendTime')
    expect(new Set(batch?.records.map(record => record.timestamp))).toEqual(new Set([batch?.maxTimestamp]))
  })

  test('sequences wrap around after 2^31 − 1', async () => {
    const records = [0, 1, 2].map(n => ({timestamp: 0n, key: null, value: Buffer.from(`${n}`)}))
    const {batches} = await readBatches(bufferSource(writeBatch({records, producerId: 1n, baseSequence: 2 ** 31 - 2})))
    expect(batches[0]?.records.map(record => record.sequence)).toEqual([2 ** 31 - 2, 2 ** 31 - 1, 0])
  })

  test('offsets beyond 2^53 are exact', async () => {
    const baseOffset = 2n ** 62n + 1n
    const {batches} = await readBatches(
      bufferSource(writeBatch({baseOffset, records: [{timestamp: 0n, key: null, value: null}]})),
    )
    expect(batches[0]?.records[0]?.offset).toBe(4_611_686_018_427_387_905n)
  })

  test('an empty batch, which compaction keeps for its producer, has no records and no problem', async () => {
    const {batches} = await readBatches(bufferSource(writeBatch({records: [], lastOffsetDelta: 4, producerId: 9n})))
    expect(batches[0]).toMatchObject({recordsCount: 0, records: [], lastOffset: 4n, sizeInBytes: 61})
    expect(batches[0]?.problem).toBeUndefined()
  })
})

describe('damage inside a batch is told, and the records before it are given', () => {
  test.each<[string, (copy: Buffer) => void, bigint[], RegExp]>([
    [
      'a negative record count',
      copy => copy.writeInt32BE(-1, 57),
      [0n, 1n],
      /^the header says -1 records, and 2 are there$/,
    ],
    [
      'a record count of 0 over records',
      copy => copy.writeInt32BE(0, 57),
      [0n, 1n],
      /^the header says 0 records, and 2 are there$/,
    ],
    ['too few records', copy => copy.writeInt32BE(3, 57), [0n, 1n], /^record 3 of 3: a varint passes the end$/],
    ['a record count of 2^31 − 1', copy => copy.writeInt32BE(2 ** 31 - 1, 57), [0n, 1n], /^record 3 of 2147483647/],
    [
      'a record longer than the batch',
      copy => copy.set([0x7e], 61),
      [],
      /^record 1 of 2: record length 63, and 23 bytes are left$/,
    ],
    ['a record of length 0', copy => copy.set([0x00], 61), [], /^record 1 of 2: an empty record$/],
    ['a record that ends too early', copy => copy.set([0x18], 61), [], /^record 1 of 2: .*passes the end|left in/],
    [
      'bytes behind the last field of a record',
      copy => copy.set([0x00], 71),
      [],
      /^record 1 of 2: 4 bytes left in a record$/,
    ],
    [
      'a key longer than its record, though not than the batch',
      copy => copy.set([0x18], 65),
      [],
      /^record 1 of 2: key length 12, and 10 bytes are left in the record$/,
    ],
    ['a header count beyond the record', copy => copy.set([0x40], 71), [], /^record 1 of 2: header count 32$/],
    ['a negative header count', copy => copy.set([0x01], 71), [], /^record 1 of 2: header count -1$/],
    ['a header without a key', copy => copy.set([0x01], 72), [], /^record 1 of 2: header key length -1$/],
    [
      'a length without an end',
      copy => copy.set([0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 61),
      [],
      /^record 1 of 2: a varint of more than 5 bytes$/,
    ],
    [
      'a timestamp without an end',
      copy => copy.fill(0xff, 63, 75),
      [],
      /^record 1 of 2: a varlong of more than 10 bytes$/,
    ],
  ])('%s', (_, changes, offsets, problem) => {
    const found = recordsOf(altered(plain, changes))
    expect(found.offsets).toEqual(offsets)
    expect(found.problem).toMatch(problem)
  })
})
