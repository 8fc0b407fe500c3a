import {constants, inflateRawSync} from 'node:zlib'
import {beforeAll, describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {prepareCodec, prepareCompression, uncompressed} from '../../../src/log/codecs.js'
import {crc32c} from '../../../src/log/crc32c.js'
import {type WritableRecord, writeBatch} from '../../../src/log/write-batch.js'
import {writeLegacy} from '../../../src/log/write-legacy.js'
import {type Told, reading, reusingSource} from './reading.js'

// A compressed stream that is damaged: what comes before the damage is given, however the batch is read.

const codecs = ['gzip', 'snappy', 'snappy-raw', 'lz4', 'zstd'] as const
const head = 61

beforeAll(async () => {
  await Promise.all([prepareCodec('zstd'), prepareCompression()])
})

/** Text that compresses to a third, and that no two records share. */
function records(count: number): WritableRecord[] {
  return Array.from({length: count}, (_, n) => ({
    offset: BigInt(n),
    timestamp: BigInt(n),
    key: null,
    value: Buffer.from(Array.from({length: 12}, (_, m) => ((n + 7) * (m + 31) * 7_919).toString(36)).join(' ')),
  }))
}

/** The batch with other stored bytes, and a right length and CRC. */
function withStored(batch: Buffer, stored: Buffer): Buffer {
  const made = Buffer.concat([batch.subarray(0, head), stored])
  made.writeInt32BE(made.length - 12, 8)
  made.writeUInt32BE(crc32c(made.subarray(21)), 17)
  return made
}

const held = (bytes: Buffer): Promise<Told> => reading(bufferSource(bytes))
const streamed = (bytes: Buffer): Promise<Told> => reading(reusingSource(bytes), {wholeBatchBytes: 0})

describe.each(codecs)('%s', codec => {
  const all = records(6_000)

  test('a stream that is cut gives the records before the cut, held and streamed', async () => {
    const whole = writeBatch({records: all, codec})
    const {records: expected} = await held(whole)
    expect(expected).toHaveLength(6_000)
    const cut = withStored(whole, whole.subarray(head, head + Math.floor(0.9 * (whole.length - head))))
    for (const {records: given, problems} of [await held(cut), await streamed(cut)]) {
      expect(problems[0]).toMatch(/^the \w+ records can't be decoded: .*(cut|end of file|passes? its end)/)
      // All but what the last block had, where a block is decoded as a whole.
      expect(given.length).toBeGreaterThan(codec === 'zstd' ? 3_500 : 5_000)
      expect(given).toEqual(expected.slice(0, given.length))
    }
  })

  test('a stream that is damaged in the middle gives the records before the damage, and the next batch', async () => {
    const whole = writeBatch({records: all, codec})
    const {records: expected} = await held(whole)
    const stored = Buffer.from(whole.subarray(head))
    stored.fill(0xff, Math.floor(0.6 * stored.length))
    const next = writeBatch({records: records(2), baseOffset: 6_000n})
    const bytes = Buffer.concat([withStored(whole, stored), next])
    for (const {records: given, problems, batches} of [await held(bytes), await streamed(bytes)]) {
      expect(batches).toHaveLength(2)
      expect(problems).toEqual([expect.stringMatching(/^the \w+ records can't be decoded/), undefined])
      const same = given.findIndex((record, n) => record !== expected[n])
      expect(same).toBeGreaterThan(1_500)
    }
  })
})

test('gzip gives each byte that comes before the damage', async () => {
  const whole = writeBatch({records: records(3_000), codec: 'gzip'})
  const stored = Buffer.from(whole.subarray(head))
  stored.fill(0xff, 40_000)
  let plain = 0
  for (let length = 39_990; length < 40_100; length++) {
    try {
      plain = inflateRawSync(stored.subarray(10, length), {finishFlush: constants.Z_SYNC_FLUSH}).length
    } catch {
      break
    }
  }
  const read = uncompressed('gzip', stored)
  expect(read.unreadable).toMatch(/^a damaged gzip stream: /)
  expect(read.bytes).toHaveLength(plain)
  const bytes = withStored(whole, stored)
  expect((await streamed(bytes)).records).toEqual((await held(bytes)).records)
})

describe('what Kafka’s own reader takes is no damage', () => {
  const one = records(3)

  test('a zstd stream that ends in an empty block of the compressed kind', async () => {
    const whole = writeBatch({records: one, codec: 'zstd'})
    const {bytes: plain} = uncompressed('zstd', whole.subarray(head))
    // A frame without a content size: one stored block, and the last one, which is empty.
    const block = Buffer.alloc(3)
    block.writeUIntLE(plain.length << 3, 0, 3)
    const stored = (last: string) =>
      Buffer.concat([Buffer.from('28b52ffd0058', 'hex'), block, plain, Buffer.from(last, 'hex')])
    for (const last of ['010000', '050000']) {
      for (const told of [
        await held(withStored(whole, stored(last))),
        await streamed(withStored(whole, stored(last))),
      ]) {
        expect(told.problems).toEqual([undefined])
        expect(told.records).toHaveLength(3)
      }
    }
    expect((await held(withStored(whole, stored('000000')))).problems[0]).toContain('the zstd stream is cut')
  })

  test('reserved flags of a gzip header', async () => {
    const whole = writeBatch({records: one, codec: 'gzip'})
    const stored = Buffer.from(whole.subarray(head))
    stored[3] = 0x20
    const told = await held(withStored(whole, stored))
    expect([told.records.length, told.problems, told.remarks]).toEqual([
      3,
      [undefined],
      ['the gzip header has reserved flags'],
    ])
    expect(await streamed(withStored(whole, stored))).toEqual(told)
  })

  test('a match of the distance 0 in an LZ4 block: zeros', () => {
    // Two literals, and a match of six bytes; five literals end each block.
    const block = Buffer.from('2261620000506364656667', 'hex')
    const frame = (bytes: Buffer) => {
      const size = Buffer.alloc(4)
      size.writeUInt32LE(bytes.length)
      return Buffer.concat([Buffer.from('04224d18604082', 'hex'), size, bytes, Buffer.alloc(4)])
    }
    const read = uncompressed('lz4', frame(block))
    expect(read.bytes.toString('latin1')).toBe('ab\0\0\0\0\0\0cdefg')
    expect([read.unreadable, read.remarks.length]).toEqual([undefined, 1])
    block[3] = 3
    const beyond = uncompressed('lz4', frame(block))
    expect([beyond.bytes.toString('latin1'), beyond.unreadable]).toEqual([
      'ab',
      'a damaged LZ4 block: a match reaches before its begin',
    ])
  })

  test('a joined Snappy stream whose magic is damaged, but not one of version 0', async () => {
    const parts = [records(2), records(4).slice(2)].map(some =>
      writeBatch({records: some, codec: 'snappy', baseOffset: 0n}),
    )
    const [first, second] = parts.map(batch => batch.subarray(head)) as [Buffer, Buffer]
    const whole = writeBatch({records: records(4)})
    const joined = (change: (copy: Buffer) => void) => {
      const copy = Buffer.from(second)
      change(copy)
      const made = withStored(whole, Buffer.concat([first, copy]))
      made[22] = 2
      made.writeUInt32BE(crc32c(made.subarray(21)), 17)
      return made
    }
    expect(await held(joined(() => {}))).toMatchObject({problems: [undefined], remarks: []})
    const damaged = await held(joined(copy => copy.fill(0, 5, 8)))
    expect([damaged.records.length, damaged.problems, damaged.remarks.length]).toEqual([4, [undefined], 1])
    const old = await held(joined(copy => copy.writeInt32BE(0, 8)))
    expect([old.records.length, old.problems]).toEqual([
      4,
      ["the snappy records can't be decoded: a Snappy stream of version 0: Kafka reads those from 1 on"],
    ])
  })
})

describe('messages in a damaged wrapper', () => {
  const messages = records(40).map(({value}) => ({key: null, value, timestamp: 5n}))

  function damaged(magic: 0 | 1, wrapperOffset: bigint): Buffer {
    const whole = writeLegacy({magic, messages, codec: 'lz4', baseOffset: 100n, wrapperOffset})
    const copy = Buffer.from(whole)
    copy.fill(0xff, copy.length - 300)
    return copy
  }

  test.each([
    ['magic 0, whose offsets are absolute', 0, 139n, 100n],
    ['magic 1 with the wrapper’s offset 0, where they are absolute too', 1, 0n, 0n],
  ] as const)('%s: those before the damage', async (_, magic, wrapperOffset, first) => {
    const bytes = damaged(magic, wrapperOffset)
    const told = await held(bytes)
    expect(told.problems[0]).toMatch(/^the lz4 messages can't be decoded/)
    expect(told.records.length).toBeGreaterThan(20)
    expect(told.records[0]).toMatch(new RegExp(`^${first} `))
  })

  test('magic 1: none, because their offsets count from the last one', async () => {
    const told = await held(damaged(1, 139n))
    expect(told.records).toEqual([])
    expect(told.problems[0]).toMatch(/^the lz4 messages can't be decoded/)
  })
})
