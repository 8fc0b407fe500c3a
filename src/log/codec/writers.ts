import {gzipSync} from 'node:zlib'
import {xerialMagic} from './snappy.js'
import {xxhash32} from './xxhash32.js'

// Streams as Kafka's own writer frames them. Their blocks are compressed greedily with a small table of the last places of
// four bytes: right, and not as small as they could be.

const lz4BlockBytes = 65_536
const snappyBlockBytes = 32_768
const hashBits = 14
/** LZ4: a match may begin no nearer to the end, and the last bytes are literals. */
const lz4MatchLimit = 12
const lz4LastLiterals = 5

/** @param level 1 to 9; default 6, as Kafka's */
export function writeGzip(bytes: Buffer, level?: number): Buffer {
  return gzipSync(bytes, level === undefined ? {} : {level})
}

/** One frame of independent blocks of 64 KiB. Magic 0: with the odd checksum of its writers, over the magic too. */
export function writeLz4(bytes: Buffer, magic: number): Buffer {
  const header = Buffer.from('04224d18604000', 'hex')
  header[6] = (xxhash32(header, magic === 0 ? 0 : 4, 6) >>> 8) & 0xff
  const parts: Buffer[] = [header]
  for (let at = 0; at < bytes.length; at += lz4BlockBytes) {
    const plain = bytes.subarray(at, at + lz4BlockBytes)
    const packed = lz4Block(plain)
    const smaller = packed.length < plain.length
    parts.push(int32LE(smaller ? packed.length : (plain.length | 0x8000_0000) >>> 0), smaller ? packed : plain)
  }
  parts.push(int32LE(0))
  return Buffer.concat(parts)
}

/** The stream of xerial's snappy-java, in blocks of 32 KiB. */
export function writeSnappy(bytes: Buffer): Buffer {
  const parts: Buffer[] = [xerialMagic, int32BE(1), int32BE(1)]
  for (let at = 0; at < bytes.length; at += snappyBlockBytes) {
    const packed = snappyBlock(bytes.subarray(at, at + snappyBlockBytes))
    parts.push(int32BE(packed.length), packed)
  }
  return Buffer.concat(parts)
}

/** One raw block: what librdkafka and kafkajs write. */
export function writeRawSnappy(bytes: Buffer): Buffer {
  return snappyBlock(bytes)
}

/** A stretch of literals, and then a match of `length` bytes (none if 0) from `distance` bytes before. */
type Emit = (literalsFrom: number, literalsTo: number, length: number, distance: number) => void

function greedy(bytes: Buffer, matchLimit: number, tail: number, emit: Emit): void {
  const table = new Int32Array(1 << hashBits).fill(-1)
  let literalsFrom = 0
  let at = 0
  while (at + matchLimit <= bytes.length) {
    const four = bytes.readInt32LE(at)
    const slot = Math.imul(four, 0x9e37_79b1) >>> (32 - hashBits)
    const candidate = table[slot] as number
    table[slot] = at
    if (candidate < 0 || at - candidate > 0xffff || bytes.readInt32LE(candidate) !== four) {
      at++
      continue
    }
    let length = 4
    while (at + length < bytes.length - tail && bytes[candidate + length] === bytes[at + length]) length++
    emit(literalsFrom, at, length, at - candidate)
    at += length
    literalsFrom = at
  }
  emit(literalsFrom, bytes.length, 0, 0)
}

function lz4Block(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  greedy(bytes, lz4MatchLimit, lz4LastLiterals, (from, to, length, distance) => {
    const literals = to - from
    const matched = length === 0 ? 0 : length - 4
    parts.push(Buffer.of((Math.min(literals, 15) << 4) | Math.min(matched, 15)), lz4Length(literals))
    parts.push(bytes.subarray(from, to))
    if (length > 0) parts.push(Buffer.of(distance & 0xff, distance >> 8), lz4Length(matched))
  })
  return Buffer.concat(parts)
}

function lz4Length(length: number): Buffer {
  if (length < 15) return Buffer.alloc(0)
  const rest = length - 15
  const bytes = Buffer.alloc(Math.floor(rest / 255) + 1, 255)
  bytes[bytes.length - 1] = rest % 255
  return bytes
}

function snappyBlock(bytes: Buffer): Buffer {
  const parts: Buffer[] = [unsignedVarint(bytes.length)]
  greedy(bytes, 4, 0, (from, to, length, distance) => {
    if (to > from) {
      const last = to - from - 1
      parts.push(last < 60 ? Buffer.of(last << 2) : Buffer.concat([Buffer.of(63 << 2), int32LE(last)]))
      parts.push(bytes.subarray(from, to))
    }
    for (let left = length; left > 0; left -= 64) {
      parts.push(Buffer.of(((Math.min(left, 64) - 1) << 2) | 2, distance & 0xff, distance >> 8))
    }
  })
  return Buffer.concat(parts)
}

function unsignedVarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

function int32BE(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int32LE(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
