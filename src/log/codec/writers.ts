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

/** Bytes on their way into a block: one buffer, as large as the block can become. */
class Block {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytesAtMost: number) {
    this.#bytes = Buffer.allocUnsafe(bytesAtMost)
  }

  byte(value: number): void {
    this.#bytes[this.#at++] = value
  }

  copy(bytes: Buffer, from: number, to: number): void {
    // A call costs more than a few bytes.
    if (to - from > 24) this.#at += bytes.copy(this.#bytes, this.#at, from, to)
    else for (let n = from; n < to; n++) this.#bytes[this.#at++] = bytes[n] as number
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }
}

/** A stretch of literals, and then a match of `length` bytes (none if 0) from `distance` bytes before. */
type Emit = (literalsFrom: number, literalsTo: number, length: number, distance: number) => void

interface Greedy {
  /** A match may begin no nearer to the end. */
  readonly matchLimit: number
  /** Bytes at the end that are in no match. */
  readonly tail: number
  /** The longer nothing is found the larger are the steps: a byte more after so many (a power of two). */
  readonly patience: number
}

/** The last place of each hash of four bytes, plus 1. */
const table = new Int32Array(1 << hashBits)

function greedy(bytes: Buffer, {matchLimit, tail, patience}: Greedy, emit: Emit): void {
  table.fill(0)
  const matchEnd = bytes.length - tail
  let literalsFrom = 0
  let misses = 0
  let at = 0
  while (at + matchLimit <= bytes.length) {
    const four = fourAt(bytes, at)
    const slot = Math.imul(four, 0x9e37_79b1) >>> (32 - hashBits)
    const candidate = (table[slot] as number) - 1
    table[slot] = at + 1
    if (candidate < 0 || at - candidate > 0xffff || fourAt(bytes, candidate) !== four) {
      at += 1 + (misses++ >> patience)
      continue
    }
    let length = 4
    while (at + length < matchEnd && bytes[candidate + length] === bytes[at + length]) length++
    emit(literalsFrom, at, length, at - candidate)
    at += length
    literalsFrom = at
    misses = 0
  }
  emit(literalsFrom, bytes.length, 0, 0)
}

function fourAt(bytes: Buffer, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}

function lz4Block(bytes: Buffer): Buffer {
  const block = new Block(bytes.length + Math.ceil(bytes.length / 255) + 16)
  greedy(bytes, {matchLimit: lz4MatchLimit, tail: lz4LastLiterals, patience: 6}, (from, to, length, distance) => {
    const literals = to - from
    const matched = length === 0 ? 0 : length - 4
    block.byte((Math.min(literals, 15) << 4) | Math.min(matched, 15))
    lz4Length(block, literals)
    block.copy(bytes, from, to)
    if (length === 0) return
    block.byte(distance & 0xff)
    block.byte(distance >> 8)
    lz4Length(block, matched)
  })
  return block.written
}

function lz4Length(block: Block, length: number): void {
  if (length < 15) return
  let rest = length - 15
  for (; rest >= 255; rest -= 255) block.byte(255)
  block.byte(rest)
}

function snappyBlock(bytes: Buffer): Buffer {
  const block = new Block(bytes.length + Math.ceil(bytes.length / 6) + 32)
  let size = bytes.length
  for (; size > 0x7f; size = Math.floor(size / 128)) block.byte((size & 0x7f) | 0x80)
  block.byte(size)
  greedy(bytes, {matchLimit: 4, tail: 0, patience: 5}, (from, to, length, distance) => {
    if (to > from) snappyLiterals(block, bytes, from, to)
    let left = length
    // What is left after a long piece must be long enough for one of its own.
    while (left >= 68) left -= snappyCopy(block, 64, distance)
    if (left > 64) left -= snappyCopy(block, 60, distance)
    if (left > 0) snappyCopy(block, left, distance)
  })
  return block.written
}

function snappyLiterals(block: Block, bytes: Buffer, from: number, to: number): void {
  const last = to - from - 1
  if (last < 60) block.byte(last << 2)
  else {
    const size = last < 0x100 ? 1 : last < 0x1_0000 ? 2 : last < 0x100_0000 ? 3 : 4
    block.byte((59 + size) << 2)
    for (let n = 0; n < size; n++) block.byte((last >>> (8 * n)) & 0xff)
  }
  block.copy(bytes, from, to)
}

/** Short copies from near have a shorter form. Gives how many bytes it covers. */
function snappyCopy(block: Block, length: number, distance: number): number {
  if (length < 12 && distance < 2_048) {
    block.byte(((distance >> 8) << 5) | ((length - 4) << 2) | 1)
    block.byte(distance & 0xff)
    return length
  }
  block.byte(((length - 1) << 2) | 2)
  block.byte(distance & 0xff)
  block.byte(distance >> 8)
  return length
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
