import {randomBytes} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {gunzipSync} from 'node:zlib'
import fc from 'fast-check'
import {beforeAll, describe, expect, test} from 'vitest'
import {assembled} from '../../../scripts/assemble-blocks.mjs'
import {compress, prepareCodec, prepareCompression, uncompressed} from '../../../src/log/codecs.js'

const codecs = ['gzip', 'snappy', 'snappy-raw', 'lz4', 'zstd'] as const

/** From what compresses well to what does not at all; long enough for several blocks now and then. */
const plain = fc.oneof(
  fc.uint8Array({maxLength: 500}).map(array => Buffer.from(array)),
  fc.tuple(fc.string({maxLength: 40}), fc.nat(6_000)).map(([text, times]) => Buffer.from(text.repeat(times))),
  fc.nat(150_000).map(length => Buffer.alloc(length, 'z')),
  fc.nat(150_000).map(length => randomBytes(length)),
)

beforeAll(async () => {
  await Promise.all([prepareCodec('zstd'), prepareCompression()])
})

const codecOf = (codec: (typeof codecs)[number]) => (codec === 'snappy-raw' ? 'snappy' : codec)

describe.each(codecs)('%s', codec => {
  test('what was compressed is what is decompressed, without a remark', () => {
    fc.assert(
      fc.property(plain, fc.constantFrom(0, 1, 2), (bytes, magic) => {
        const {bytes: read, ...rest} = uncompressed(codecOf(codec), compress(codec, bytes, {magic}), {magic})
        expect(read.equals(bytes)).toBe(true)
        expect(rest).toEqual({remarks: []})
      }),
      {numRuns: 100},
    )
  })

  test('the limit is the last size that is decoded', () => {
    fc.assert(
      fc.property(
        plain.filter(bytes => bytes.length > 1),
        bytes => {
          const stored = compress(codec, bytes)
          const {bytes: read, ...rest} = uncompressed(codecOf(codec), stored, {atMost: bytes.length})
          expect([read.length, rest.unreadable]).toEqual([bytes.length, undefined])
          const {unreadable, tooLarge} = uncompressed(codecOf(codec), stored, {atMost: bytes.length - 1})
          expect([unreadable, tooLarge]).toEqual([`more than ${bytes.length - 1} plain bytes`, true])
        },
      ),
      {numRuns: 50},
    )
  })

  test('damaged streams give all bytes or a reason, never an exception', () => {
    fc.assert(
      fc.property(plain, fc.array(fc.tuple(fc.nat(), fc.nat(255)), {maxLength: 4}), fc.nat(), (bytes, flips, cut) => {
        const stored = Buffer.from(compress(codec, bytes.subarray(0, 5_000)))
        for (const [where, byte] of flips) stored[where % stored.length] = byte
        const read = uncompressed(codecOf(codec), stored.subarray(0, stored.length - (cut % stored.length)))
        expect(read.unreadable).not.toBe('')
      }),
      {numRuns: 1_000},
    )
  })

  test('random bytes too', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 300}), array => {
        const read = uncompressed(codecOf(codec), Buffer.from(array))
        expect(read.unreadable).not.toBe('')
      }),
      {numRuns: 1_000},
    )
  })
})

test('what is written as gzip, others read', () => {
  const text = Buffer.from('to be read by others '.repeat(1_000))
  expect(gunzipSync(compress('gzip', text)).equals(text)).toBe(true)
})

test('the decoder of blocks is what its source is assembled to', async () => {
  const made = readFileSync(new URL('../../../src/log/codec/blocks.ts', import.meta.url), 'utf8')
  expect(made).toBe(await assembled())
})
