import {beforeAll, describe, expect, test, vi} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {compress, prepareCompression} from '../../../src/log/codecs.js'
import {crc32c} from '../../../src/log/crc32c.js'
import {readLog} from '../../../src/log/read-log.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {writeLegacy} from '../../../src/log/write-legacy.js'
import {reading, reusingSource} from './reading.js'
import {vectors} from './vectors.js'

const {plain, transactional, commitMarker} = vectors
const three = Buffer.concat([plain, transactional, commitMarker])
const codecs = ['none', 'gzip', 'snappy', 'snappy-raw', 'lz4', 'zstd'] as const
const positions = (batches: readonly string[]): number[] => batches.map(text => Number.parseInt(text, 10))

beforeAll(prepareCompression)

function patched(bytes: Buffer, at: number, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes)
  change(copy.subarray(at))
  return copy
}

describe('damage has its kind, and reading goes on behind it', () => {
  test('a file without damage', async () => {
    const {batches, damage, end} = await reading(bufferSource(three))
    expect(positions(batches)).toEqual([0, 85, 155])
    expect(damage).toEqual([])
    expect(end).toEqual({batches: 3, validBytes: 233, trailingBytes: 0, skippedBytes: 0})
  })

  test.each([1, 11, 12, 16, 17, 40, 60])('%i bytes of a batch are a cut header', async length => {
    const {damage, end} = await reading(bufferSource(plain.subarray(0, length)))
    expect(damage).toMatchObject([{kind: 'cut-header', position: 0, sizeInBytes: length}])
    expect(end).toMatchObject({validBytes: 0, trailingBytes: length})
  })

  test.each([17, 25])('%i bytes of a message are a cut header too', async length => {
    const message = writeLegacy({magic: 0, messages: [{key: null, value: Buffer.from('v')}]})
    expect((await reading(bufferSource(message.subarray(0, length)))).damage).toMatchObject([{kind: 'cut-header'}])
  })

  test('a last batch that is cut: what it needs, and its base offset', async () => {
    const {damage, end} = await reading(bufferSource(three.subarray(0, 223)))
    expect(damage).toEqual([
      {
        kind: 'cut',
        position: 155,
        sizeInBytes: 68,
        baseOffset: 3n,
        expectedBytes: 78,
        statedBytes: 78,
        magic: 2,
        reason: 'the batch has 78 bytes, and 68 are left',
      },
    ])
    expect(end).toEqual({batches: 2, validBytes: 155, trailingBytes: 68, skippedBytes: 0})
  })

  test('a last message of magic 1 that is cut', async () => {
    const bytes = writeLegacy({
      magic: 1,
      baseOffset: 9n,
      messages: [{timestamp: 1n, key: null, value: Buffer.alloc(50)}],
    })
    const {damage} = await reading(bufferSource(bytes.subarray(0, 60)))
    expect(damage).toMatchObject([{kind: 'cut', baseOffset: 9n, expectedBytes: 84, sizeInBytes: 60}])
  })

  test.each([17, 4_096, 3_000_000])('%i zero bytes at the end are a zero fill', async length => {
    const {damage, end} = await reading(bufferSource(Buffer.concat([three, Buffer.alloc(length)])))
    expect(damage).toEqual([{kind: 'zero-fill', position: 233, sizeInBytes: length, reason: `${length} zero bytes`}])
    expect(end).toMatchObject({validBytes: 233, trailingBytes: length})
  })

  test('a file of zeros has nothing else', async () => {
    const {batches, damage} = await reading(bufferSource(Buffer.alloc(1_048_576)))
    expect([batches.length, damage[0]?.kind, damage.length]).toEqual([0, 'zero-fill', 1])
  })

  test.each([30, 61, 65_536, 65_537, 2_500_000])('behind a hole of %i zeros the next batch is found', async length => {
    const bytes = Buffer.concat([plain, Buffer.alloc(length), transactional, commitMarker])
    const {batches, damage, end} = await reading(reusingSource(bytes))
    expect(positions(batches)).toEqual([0, 85 + length, 155 + length])
    expect(damage).toMatchObject([{kind: 'size', position: 85, sizeInBytes: length}])
    expect(end).toEqual({batches: 3, validBytes: 233, trailingBytes: 0, skippedBytes: length})
  })

  test('bytes of anything else are garbage', async () => {
    const text = Buffer.from('This is no batch, and neither was it ever one. '.repeat(3))
    for (const garbage of [text, Buffer.alloc(100, 0xff), Buffer.alloc(100, 0x55)]) {
      const {batches, damage} = await reading(bufferSource(Buffer.concat([three, garbage])))
      expect(batches).toHaveLength(3)
      expect(damage).toMatchObject([{kind: 'garbage', position: 233, sizeInBytes: garbage.length}])
    }
  })

  test('a length of 2^31 − 1 hides nothing behind it', async () => {
    const bytes = patched(three, 0, copy => copy.writeInt32BE(0x7fff_ffff, 8))
    const {batches, damage} = await reading(bufferSource(bytes))
    expect(positions(batches)).toEqual([85, 155])
    expect(damage).toMatchObject([{kind: 'cut', position: 0, sizeInBytes: 85, expectedBytes: 0x7fff_ffff + 12}])
  })

  test.each([-1, -(2 ** 31), 0, 13, 14, 48])('a length of %i is one that no batch can have', async length => {
    const bytes = patched(three, 85, copy => copy.writeInt32BE(length, 8))
    const {batches, damage} = await reading(bufferSource(bytes))
    expect(positions(batches)).toEqual([0, 155])
    expect(damage).toMatchObject([{kind: 'size', position: 85, sizeInBytes: 70}])
  })

  test.each([3, 127, -1, -128])('magic %i is not known; its length leads to the next batch', async magic => {
    const bytes = patched(three, 85, copy => copy.writeInt8(magic, 16))
    const {batches, damage} = await reading(bufferSource(bytes))
    expect(positions(batches)).toEqual([0, 155])
    expect(damage).toMatchObject([{kind: 'magic', position: 85, sizeInBytes: 70}])
    const last = await reading(bufferSource(patched(three, 155, copy => copy.writeInt8(magic, 16))))
    expect(last.damage).toMatchObject([{kind: 'magic', position: 155, sizeInBytes: 78}])
  })

  test.each([3, 127, -1])('behind magic %i a batch whose own CRC is false is shown all the same', async magic => {
    const bytes = patched(three, 0, copy => {
      copy.writeInt8(magic, 16)
      copy[85 + 62]! ^= 1
    })
    const {batches, damage} = await reading(reusingSource(bytes))
    expect(batches).toEqual(['85 magic 2 none false', '155 magic 2 none true'])
    expect(damage).toMatchObject([{kind: 'magic', position: 0, sizeInBytes: 85}])
  })

  test('behind an unknown magic a second one, a last batch that is cut, and zeros are told apart from it', async () => {
    const strange = patched(plain, 0, copy => copy.writeInt8(9, 16))
    const places = async (...parts: Buffer[]) =>
      (await reading(reusingSource(Buffer.concat(parts)))).damage.map(each => [each.kind, each.position])
    expect(await places(strange, strange, plain)).toEqual([
      ['magic', 0],
      ['magic', 85],
    ])
    expect(await places(strange, transactional.subarray(0, 65))).toEqual([
      ['magic', 0],
      ['cut', 85],
    ])
    expect(await places(strange, Buffer.alloc(500))).toEqual([
      ['magic', 0],
      ['zero-fill', 85],
    ])
  })

  test('an unknown magic whose length leads to nothing hides nothing', async () => {
    for (const length of [100, 190, 2_000, -5]) {
      const bytes = patched(three, 0, copy => {
        copy.writeInt8(3, 16)
        copy.writeInt32BE(length, 8)
      })
      expect(positions((await reading(reusingSource(bytes))).batches)).toEqual([85, 155])
    }
  })

  test('a batch within a record is not taken for the next one while the length leads to that', async () => {
    const nested = writeBatch({records: [{timestamp: 0n, key: null, value: three}]})
    nested.writeInt8(5, 16)
    const {batches, damage} = await reading(bufferSource(Buffer.concat([nested, plain])))
    expect(positions(batches)).toEqual([nested.length])
    expect(damage).toMatchObject([{kind: 'magic', sizeInBytes: nested.length}])
  })

  test('messages of magic 0 and 1 are found again too', async () => {
    const messages = [{timestamp: 5n, key: Buffer.from('k'), value: Buffer.from('v')}]
    for (const magic of [0, 1] as const) {
      const bytes = Buffer.concat([plain, Buffer.from('some garbage, some more of it'), writeLegacy({magic, messages})])
      const {batches, damage} = await reading(bufferSource(bytes))
      expect(positions(batches)).toEqual([0, 114])
      expect(damage).toMatchObject([{position: 85, sizeInBytes: 29}])
    }
  })

  test('only a right CRC convinces', async () => {
    const false1 = patched(transactional, 0, copy => copy.fill(1, 64, 66))
    const bytes = Buffer.concat([plain, Buffer.alloc(3, 9), false1, Buffer.alloc(3, 9), commitMarker])
    const {batches, damage} = await reading(bufferSource(bytes))
    expect(positions(batches)).toEqual([0, 161])
    expect(damage).toMatchObject([{position: 85, sizeInBytes: 76}])
  })

  test('told not to, it ends at the first damage', async () => {
    const bytes = Buffer.concat([plain, Buffer.alloc(30), transactional])
    const {batches, end} = await reading(bufferSource(bytes), {resynchronise: false})
    expect(positions(batches)).toEqual([0])
    expect(end).toEqual({batches: 1, validBytes: 85, trailingBytes: 100, skippedBytes: 0})
  })

  test('a large batch behind damage is found, though it passes the chunk', async () => {
    const large = writeBatch({records: [{timestamp: 0n, key: null, value: Buffer.alloc(3_000_000, 'x')}]})
    const bytes = Buffer.concat([Buffer.alloc(70, 0xaa), large, plain])
    expect(positions((await reading(reusingSource(bytes))).batches)).toEqual([70, 70 + large.length])
  })
})

describe('what may be asked of a reading', () => {
  test('the first bytes only: a batch that is not whole in them is no damage', async () => {
    for (const maxBytes of [154, 100, 90]) {
      const {batches, damage, end} = await reading(bufferSource(three), {maxBytes})
      expect(positions(batches)).toEqual([0])
      expect(damage).toEqual([])
      expect(end).toMatchObject({validBytes: 85, trailingBytes: maxBytes - 85})
    }
    expect((await reading(bufferSource(three.subarray(0, 200)), {maxBytes: 190})).damage).toHaveLength(1)
  })

  test('to begin at a batch', async () => {
    const {batches, end} = await reading(bufferSource(three), {from: 85})
    expect(positions(batches)).toEqual([85, 155])
    expect(end).toEqual({batches: 2, validBytes: 148, trailingBytes: 0, skippedBytes: 0})
  })

  test.each([1, 1_000_000])('to wait after each record (batches held up to %i bytes)', async wholeBatchBytes => {
    const order: string[] = []
    let full = false
    const visitor = {
      batch: () => true,
      record(record: {offset: bigint}) {
        order.push(`${record.offset}`)
        full = true
      },
      recordsDone: () => void order.push('done'),
      get full() {
        return full
      },
      async drain() {
        order.push('drained')
        full = false
      },
    }
    await readLog(bufferSource(Buffer.concat([plain, transactional])), visitor, {wholeBatchBytes})
    expect(order).toEqual(['0', 'drained', '1', 'drained', 'done', '2', 'drained', 'done'])
  })

  test.each([1, 1_000_000])('to end after a record (batches held up to %i bytes)', async wholeBatchBytes => {
    const seen: bigint[] = []
    const visitor = {
      batch: () => true,
      record: (record: {offset: bigint}) => void seen.push(record.offset),
      get enough() {
        return seen.length === 1
      },
    }
    const end = await readLog(bufferSource(three), visitor, {wholeBatchBytes})
    expect([seen, end.batches]).toEqual([[0n], 1])
  })

  test('to leave records out', async () => {
    const records: bigint[] = []
    await readLog(bufferSource(three), {
      batch: batch => batch.isControl,
      record: record => void records.push(record.offset),
    })
    expect(records).toEqual([3n])
  })

  test('a signal ends it with its reason', async () => {
    const controller = new AbortController()
    controller.abort(new Error('stopped'))
    await expect(
      readLog(bufferSource(three), {batch: () => true, record: () => undefined}, {signal: controller.signal}),
    ).rejects.toThrow('stopped')
  })

  test('a source that shrank is read as far as it goes', async () => {
    const source = {size: 1_000, read: async (at: number, length: number) => three.subarray(at, at + length)}
    const {batches, damage} = await reading(source)
    expect(positions(batches)).toEqual([0, 85, 155])
    expect(damage).toMatchObject([{kind: 'short-read', position: 233, sizeInBytes: 767}])
  })
})

const records = Array.from({length: 50}, (_, n) => ({
  timestamp: 1_700_000_000_000n + BigInt(n),
  key: n % 3 === 0 ? null : Buffer.from(`key ${n}`),
  value: Buffer.from(`value ${n} `.repeat(n)),
  headers: n % 7 === 0 ? [{key: 'h', value: Buffer.from(`${n}`)}] : [],
}))

describe('a batch that is not held gives what one that is held gives', () => {
  test.each(codecs)('%s', async codec => {
    const bytes = Buffer.concat([writeBatch({codec, records, producerId: 5n, baseSequence: 7}), plain])
    const held = await reading(bufferSource(bytes))
    expect(held.records).toHaveLength(52)
    for (const wholeBatchBytes of [0, 100, 1_000, 5_000]) {
      for (const chunkBytes of [61, 1_000]) {
        expect(await reading(reusingSource(bytes), {wholeBatchBytes, chunkBytes})).toEqual(held)
      }
    }
  })

  test.each([
    [0, 'gzip'],
    [0, 'snappy'],
    [0, 'lz4'],
    [1, 'gzip'],
    [1, 'snappy-raw'],
    [1, 'lz4'],
  ] as const)('magic %i, %s', async (magic, codec) => {
    const bytes = writeLegacy({magic, codec, baseOffset: 40n, messages: records})
    const held = await reading(bufferSource(bytes))
    expect(held.records).toHaveLength(50)
    for (const wholeBatchBytes of [0, 100, 1_000]) {
      expect(await reading(reusingSource(bytes), {wholeBatchBytes})).toEqual(held)
    }
  })

  test.each<[string, string, (copy: Buffer) => void]>([
    ['a negative record count', 'the header says -1 records, and 2 are there', copy => copy.writeInt32BE(-1, 57)],
    [
      'a record count of 0 over records',
      'the header says 0 records, and 2 are there',
      copy => copy.writeInt32BE(0, 57),
    ],
    ['too few records', 'record 3 of 3: a varint passes the end', copy => copy.writeInt32BE(3, 57)],
    ['too many records', 'the header says 1 records, and 2 are there', copy => copy.writeInt32BE(1, 57)],
    [
      'a record longer than the batch',
      'record 1 of 2: record length 63, and 23 bytes are left',
      copy => copy.set([0x7e], 61),
    ],
    ['a record of length 0', 'record 1 of 2: an empty record', copy => copy.set([0x00], 61)],
    [
      'a negative record length',
      'record 1 of 2: record length -1, and 23 bytes are left',
      copy => copy.set([0x01], 61),
    ],
    ['a record that ends too early', 'record 1 of 2: a varint passes the end', copy => copy.set([0x18], 61)],
    ['a length without an end', 'record 1 of 2: a varint of more than 5 bytes', copy => copy.fill(0xff, 61, 85)],
    [
      'a last record longer than the batch',
      'record 2 of 2: record length 56, and 8 bytes are left',
      copy => copy.set([0x70], 76),
    ],
  ])('damage in it too: %s', async (_, problem, change) => {
    const bytes = Buffer.concat([patched(plain, 0, change), transactional])
    const held = await reading(bufferSource(bytes))
    expect(held.problems[0]).toBe(problem)
    expect(await reading(reusingSource(bytes), {wholeBatchBytes: 0})).toEqual(held)
  })

  test.each([
    [-1, 'record count -1', 0],
    [0, '24 bytes behind the last of 0 records', 0],
    [1, '9 bytes behind the last of 1 records', 1],
  ])('as Kafka reads it, a record count of %i over two records hides the rest', async (count, problem, shown) => {
    const bytes = patched(plain, 57, copy => copy.writeInt32BE(count))
    for (const wholeBatchBytes of [1_000, 0]) {
      const told = await reading(bufferSource(bytes), {wholeBatchBytes, asKafka: true})
      expect([told.problems, told.records.length]).toEqual([[problem], shown])
    }
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)(
    'codec bits that hide %s: the problem says what the records look like',
    async codec => {
      const bytes = patched(writeBatch({codec, records}), 0, copy => copy.writeInt16BE(0, 21))
      const held = await reading(bufferSource(bytes))
      expect(held.problems[0]).toMatch(new RegExp(`^record 1 of 50: .*begin as a ${codec} stream does`))
      expect(await reading(bufferSource(bytes), {wholeBatchBytes: 0})).toEqual(held)
    },
  )

  test('the CRC is known before the records, right or wrong', async () => {
    const bytes = patched(writeBatch({codec: 'lz4', records}), 0, copy => copy.writeUInt32BE(1, 17))
    const {batches} = await reading(bufferSource(Buffer.concat([plain, bytes])), {wholeBatchBytes: 0})
    expect(batches).toEqual(['0 magic 2 none true', '85 magic 2 lz4 false'])
  })

  test.each(['none', 'lz4'] as const)(
    'records that grow, in several batches, need no memory for each (%s)',
    async codec => {
      const sizes = [5_000_000, 6_000_000, 7_000_000, 8_000_000]
      const each = sizes.map(size => ({timestamp: 0n, key: null, value: Buffer.alloc(size, 'x')}))
      const one = writeBatch({codec, records: each})
      const allocations = vi.spyOn(Buffer, 'allocUnsafeSlow')
      const seen: number[] = []
      const maxDecompressedBytes = 30_000_000
      await readLog(
        bufferSource(Buffer.concat([one, one, one])),
        {batch: () => true, record: record => void seen.push(record.valueSize)},
        {maxDecompressedBytes},
      )
      const allocated = allocations.mock.calls.reduce((sum, [size]) => sum + size, 0)
      allocations.mockRestore()
      expect(seen).toEqual([...sizes, ...sizes, ...sizes])
      // Room for the largest record that there may be, once; the rest is what was held before it came.
      expect(allocated).toBeLessThan(maxDecompressedBytes + 8_000_000)
    },
  )

  test('of its bytes there is the header', async () => {
    const seen: unknown[] = []
    await readLog(
      bufferSource(three),
      {batch: batch => Boolean(seen.push([batch.isWhole, batch.bytes.length])), record: () => undefined},
      {wholeBatchBytes: 75},
    )
    expect(seen).toEqual([
      [false, 61],
      [true, 70],
      [false, 61],
    ])
  })
})

/** A batch around bytes that a codec is to decode. */
function around(blob: Buffer, codecName: string, recordsCount: number): Buffer {
  const codec = ['none', 'gzip', 'snappy', 'lz4', 'zstd'].indexOf(codecName)
  const made = Buffer.concat([writeBatch({records: []}), blob])
  made.writeInt32BE(made.length - 12, 8)
  made.writeInt16BE(codec, 21)
  made.writeInt32BE(recordsCount, 57)
  made.writeUInt32BE(crc32c(made.subarray(21)), 17)
  return made
}

describe('what decompresses to more than is allowed', () => {
  const bomb = Buffer.alloc(3_000_000)

  test.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)(
    '%s: it is told, with the option that raises the limit',
    async codec => {
      const {header} = {header: writeBatch({records: []}).subarray(0, 61)}
      expect(header).toHaveLength(61)
      const stored = compress(codec, bomb)
      const bytes = Buffer.concat([around(stored, codec, 5), plain])
      for (const wholeBatchBytes of [0, 100_000, 4_000_000]) {
        const {problems, batches} = await reading(bufferSource(bytes), {
          maxDecompressedBytes: 2_000_000,
          wholeBatchBytes,
        })
        expect(batches).toHaveLength(2)
        // Zeros are records of length 0: damage that is less than what is wrong with the stream.
        expect(problems[0]).toMatch(
          /^the \w+ records are more than 2000000 bytes .*--max-decompressed raises the limit$/,
        )
        expect(problems[1]).toBeUndefined()
      }
    },
  )

  test.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('%s: records before the limit are given', async codec => {
    const many = Array.from({length: 40}, () => ({timestamp: 0n, key: null, value: Buffer.alloc(50_000)}))
    const bytes = writeBatch({codec, records: many})
    const told = await reading(bufferSource(bytes), {maxDecompressedBytes: 1_000_000, wholeBatchBytes: 10_000})
    expect(told.records.length).toBeGreaterThan(10)
    expect(told.records.length).toBeLessThan(20)
    expect(told.problems[0]).toMatch(/--max-decompressed/)
  })
})
