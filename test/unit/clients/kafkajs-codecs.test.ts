import fc from 'fast-check'
import {expect, test} from 'vitest'
import {lz4, snappy, zstdStored} from '../../../src/clients/kafkajs-codecs.js'
import {prepareCodec, uncompressed} from '../../../src/log/codecs.js'

const sizes = [0, 1, 14, 15, 16, 59, 60, 61, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 300_000]
const plain = (size: number) => Buffer.from(Array.from({length: size}, (_, n) => (n * n) % 251))

test.each([
  ['snappy', snappy],
  ['lz4', lz4],
  ['zstd', zstdStored],
] as const)('what kafkajs is given as %s is a stream of that codec, whatever its size', async (codec, encode) => {
  await prepareCodec(codec)
  const survives = (bytes: Buffer) => {
    const result = uncompressed(codec, encode(bytes))
    return 'bytes' in result && result.bytes.equals(bytes)
  }
  expect(sizes.filter(size => !survives(plain(size)))).toEqual([])
  const words = fc.array(fc.constantFrom('order ', 'paid ', '\0', '€'), {maxLength: 200})
  fc.assert(fc.property(words, some => survives(Buffer.from(some.join('')))))
})
