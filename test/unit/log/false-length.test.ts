import {beforeAll, describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {prepareCompression} from '../../../src/log/codecs.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {writeLegacy} from '../../../src/log/write-legacy.js'
import {reading, reusingSource} from './reading.js'
import {vectors} from './vectors.js'

const {plain, transactional, commitMarker} = vectors
/** Positions 0, 85, 155; 233 bytes. */
const three = [plain, transactional, commitMarker]

beforeAll(prepareCompression)

/** The batches, the first of which says that it has `sizeInBytes`. */
function saying(sizeInBytes: number, parts: readonly Buffer[] = three): Buffer {
  const bytes = Buffer.concat(parts)
  bytes.writeInt32BE(sizeInBytes - 12, 8)
  return bytes
}

async function told(bytes: Buffer) {
  const {batches, damage, end} = await reading(reusingSource(bytes))
  expect(end.validBytes + end.skippedBytes + end.trailingBytes).toBe(bytes.length)
  return {batches: batches.map(text => [Number.parseInt(text, 10), text.endsWith('true')]), damage}
}

const withNested = (nested: Buffer, headers: {key: string; value: Buffer}[] = []): Buffer =>
  writeBatch({records: [{timestamp: 0n, key: null, value: nested, headers}]})

/** With a bit of the first record changed. */
function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy[62]! ^= 0x10
  return copy
}

describe('a length that is too large and ends inside the file', () => {
  test.each([
    ['in the middle of the next batch', 120],
    ['at the end of the next batch', 155],
    ['in the next batch but one', 160],
    ['at the end of the file', 233],
    ['one byte too far', 86],
  ])('%s: the batches that it hides are found', async (_, size) => {
    const reason = `the length says ${size} bytes, but a batch with a right CRC begins at byte 85 (offset 2); with 85 bytes its own CRC is right`
    expect(await told(saying(size))).toEqual({
      batches: [
        [85, true],
        [155, true],
      ],
      damage: [{kind: 'size', position: 0, sizeInBytes: 85, reason}],
    })
  })

  test.each([120, 155, 160, 233])('%i bytes, with a flipped bit in it too', async size => {
    const reason = `the length says ${size} bytes, but a batch with a right CRC begins at byte 85 (offset 2)`
    const {batches, damage} = await told(flipped(saying(size)))
    expect(batches).toEqual([
      [85, true],
      [155, true],
    ])
    expect(damage).toEqual([{kind: 'size', position: 0, sizeInBytes: 85, reason}])
  })

  test('a batch in between whose CRC is false does not break the chain', async () => {
    const bytes = flipped(saying(318, [plain, transactional, flipped(plain), commitMarker]))
    expect(await told(bytes)).toMatchObject({
      batches: [
        [85, true],
        [155, false],
        [240, true],
      ],
      damage: [{kind: 'size', position: 0, sizeInBytes: 85}],
    })
  })

  test('into the zeros of a preallocated file', async () => {
    const {batches, damage} = await told(flipped(saying(1_000, [...three, Buffer.alloc(5_000)])))
    expect(batches).toEqual([
      [85, true],
      [155, true],
    ])
    expect(damage.map(({kind, position}) => [kind, position])).toEqual([
      ['size', 0],
      ['zero-fill', 233],
    ])
  })

  test('of a message of magic 0 and 1, alone or compressed', async () => {
    const messages = [{timestamp: 5n, key: Buffer.from('k'), value: Buffer.from('v')}]
    for (const magic of [0, 1] as const) {
      for (const codec of ['none', 'gzip'] as const) {
        const one = writeLegacy({magic, codec, messages})
        const bytes = saying(2 * one.length, [one, one, one])
        expect(await told(bytes)).toMatchObject({
          batches: [
            [one.length, true],
            [2 * one.length, true],
          ],
          damage: [{kind: 'size', position: 0, sizeInBytes: one.length}],
        })
      }
    }
  })

  test.each([0, 1_000, 4_194_304])(
    'of many megabytes, where batches are held up to %i bytes',
    async wholeBatchBytes => {
      const large = writeBatch({records: [{timestamp: 0n, key: null, value: Buffer.alloc(3_000_000, 'x')}]})
      const bytes = saying(plain.length + 2 * large.length + 7, [plain, large, large, plain, large])
      const {batches, damage, end} = await reading(reusingSource(bytes), {wholeBatchBytes})
      expect(batches).toHaveLength(4)
      expect(batches.every(text => text.endsWith('true'))).toBe(true)
      expect(damage).toMatchObject([{kind: 'size', position: 0, sizeInBytes: 85}])
      expect(end).toMatchObject({skippedBytes: 85, trailingBytes: 0})
    },
  )
})

describe('a length that is too small', () => {
  test.each([61, 70, 84])('%i bytes: the CRC says where the batch really ends', async size => {
    const reason = `the length says ${size} bytes, but with the 85 up to the next batch at byte 85 its CRC is right`
    expect(await told(saying(size))).toEqual({
      batches: [
        [85, true],
        [155, true],
      ],
      damage: [{kind: 'size', position: 0, sizeInBytes: 85, reason}],
    })
    expect(await told(saying(size, [plain]))).toMatchObject({
      batches: [],
      damage: [{kind: 'size', sizeInBytes: 85, reason: expect.stringContaining('with the 85 up to the end its CRC')}],
    })
  })

  test('with a flipped bit too, the rest is one damage', async () => {
    const {batches, damage} = await told(flipped(saying(70)))
    expect(batches).toEqual([
      [0, false],
      [85, true],
      [155, true],
    ])
    expect(damage).toMatchObject([{position: 70, sizeInBytes: 15}])
  })
})

describe('a flipped bit in a batch is no wrong length', () => {
  const nested = Buffer.concat(three)

  test.each<[string, Buffer[]]>([
    ['between others', [plain, flipped(plain), transactional]],
    ['at the end of the file', [plain, flipped(plain)]],
    ['before a batch that is cut', [plain, flipped(plain), transactional.subarray(0, 65)]],
    ['before a cut header', [plain, flipped(plain), transactional.subarray(0, 20)]],
    ['before zeros', [plain, flipped(plain), Buffer.alloc(1_000)]],
    ['before garbage', [plain, flipped(plain), Buffer.alloc(50, 0x55), transactional]],
    ['of which several follow each other', [plain, flipped(plain), flipped(plain), transactional]],
    ['that has batches in its value', [plain, flipped(withNested(nested)), transactional]],
    ['that has batches in its value, at the end', [plain, flipped(withNested(nested))]],
    [
      'that has batches in a header',
      [
        plain,
        flipped(
          withNested(plain, [
            {key: 'a', value: nested},
            {key: 'b', value: Buffer.from('c')},
          ]),
        ),
        plain,
      ],
    ],
  ])('%s', async (_, parts) => {
    const {batches, damage} = await told(Buffer.concat(parts))
    expect(batches.slice(0, 2)).toEqual([
      [0, true],
      [85, false],
    ])
    expect(damage.filter(({kind}) => kind === 'size')).toEqual([])
  })

  test('a compressed message whose messages lie in it as they are', async () => {
    // One literal of Snappy ends where the message ends, and so does the last message in it.
    const messages = [1n, 2n].map(n => ({timestamp: n, key: Buffer.from(`k${n}`), value: Buffer.from(`v${n}`)}))
    for (const magic of [0, 1] as const) {
      const wrapper = writeLegacy({magic, codec: 'snappy-raw', messages})
      wrapper.writeUInt32BE(1, 12)
      expect(await told(Buffer.concat([wrapper, plain]))).toMatchObject({
        batches: [
          [0, false],
          [wrapper.length, true],
        ],
        damage: [],
      })
    }
  })
})

test('without looking for the next batch a length is taken at its word', async () => {
  const {batches, damage} = await reading(bufferSource(saying(155)), {resynchronise: false})
  expect(batches.map(text => Number.parseInt(text, 10))).toEqual([0, 155])
  expect(damage).toEqual([])
})

/** How many bytes are asked of a source. */
async function bytesRead(bytes: Buffer): Promise<number> {
  let sum = 0
  const source = {
    size: bytes.length,
    read: async (position: number, length: number) => {
      sum += length
      return bytes.subarray(position, position + length)
    },
  }
  await reading(source)
  return sum
}

describe('files where every length lies cost no more than a multiple of their size', () => {
  const many = (count: number, part: (n: number) => Buffer[]): Buffer =>
    Buffer.concat(Array.from({length: count}, (_, n) => part(n)).flat())

  test('each says that it goes on to the end of the file, and every second is right', async () => {
    const count = 20_000
    const bytes = many(count, () => [flipped(plain), commitMarker])
    const pair = plain.length + commitMarker.length
    for (let n = 0; n < count; n++) bytes.writeInt32BE(bytes.length - n * pair - 12, n * pair + 8)
    expect(await bytesRead(bytes)).toBeLessThan(100 * bytes.length + 200_000_000)
  })

  test('each ends in nothing, and no batch is right', async () => {
    const odd = Buffer.from(plain.subarray(0, 70))
    odd.writeInt32BE(70 - 12, 8)
    odd.writeInt32BE(-5, 23)
    const bytes = many(30_000, () => [odd])
    expect(await bytesRead(bytes)).toBeLessThan(200 * bytes.length)
  })

  test('all have a flipped bit', async () => {
    const bytes = many(20_000, () => [flipped(plain)])
    expect(await bytesRead(bytes)).toBeLessThan(10 * bytes.length)
  })
})
