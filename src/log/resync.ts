import {crc32} from 'node:zlib'
import {at} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {crc32c} from './crc32c.js'
import {legacyAt, legacyLeastBytes} from './legacy-message.js'

// After damage: where the next batch begins, of which only its right CRC convinces. Linear in the bytes that are looked at:
// zeros are skipped natively, a byte costs a comparison or two, and bytes whose CRC is computed are paid from a budget that
// grows with those looked at, so that a file full of headers that lie about their size is no trap.

const chunkBytes = 1_048_576
/** A hole may have many gigabytes: fewer and larger reads. */
const zeroChunkBytes = 4_194_304
/** Read first; twice as much each time. Damages may lie close to each other. */
const leastChunkBytes = 4_096
const leastBatch = legacyLeastBytes[0]
/** A magic lies this far from the batch's begin, behind its length: where zeros end, a batch may have begun before. */
const zerosOfHeader = at.magic
const zeros = Buffer.alloc(65_536)
/** Bytes of CRC that are free, and that each byte looked at brings. */
const freeBytes = 67_108_864
const bytesPerByte = 16
/** Up to this size the CRC decides alone: a header may be odd, and random bytes seldom give a length this small. */
const cheapBytes = 65_536

/**
 * What may still be spent on CRCs: one for a whole reading, so that a file of many damages, each behind a good batch and
 * before a header that lies, is no trap either.
 */
export class CrcBudget {
  #bytes = freeBytes

  /** Bytes were looked at. */
  earn(bytes: number): void {
    this.#bytes += bytes * bytesPerByte
  }

  /** False: it is too much. */
  pay(bytes: number): boolean {
    if (bytes > this.#bytes) return false
    this.#bytes -= bytes
    return true
  }
}

/** How many zero bytes there are from `from` on. */
export async function zeroRun(source: ByteSource, from: number, end: number, signal?: AbortSignal): Promise<number> {
  let position = from
  let ahead = leastChunkBytes
  while (position < end) {
    signal?.throwIfAborted()
    const chunk = await source.read(position, Math.min(ahead, end - position))
    ahead = Math.min(2 * ahead, zeroChunkBytes)
    const run = leadingZeros(chunk, 0)
    position += run
    if (run < chunk.length || chunk.length === 0) break
  }
  return position - from
}

function leadingZeros(chunk: Buffer, from: number): number {
  let position = from
  for (; position < chunk.length; position += zeros.length) {
    const block = chunk.subarray(position, position + zeros.length)
    if (block.equals(zeros.subarray(0, block.length))) continue
    for (let n = 0; ; n++) if (block[n] !== 0) return position + n - from
  }
  return chunk.length - from
}

/**
 * Finds whole batches with a right CRC, up to `end`, in one source. It remembers the last search, so that none looks at the
 * same bytes again, and all draw on one budget.
 */
export class BatchFinder {
  readonly #budget = new CrcBudget()
  /** No batch begins from here on, up to {@link #to}. */
  #from = 0
  #to = 0
  /** One begins at {@link #to}. */
  #isFound = false

  constructor(
    readonly source: ByteSource,
    readonly end: number,
    readonly signal: AbortSignal | undefined,
  ) {}

  /** Where the first batch at or after `from` begins; `until` if none begins before that. */
  async next(from: number, until = this.end): Promise<number> {
    const isKnown = from >= this.#from && from <= this.#to
    if (!isKnown) {
      this.#from = from
      this.#to = from
      this.#isFound = false
    }
    if (!this.#isFound && this.#to < until) {
      const {source, end, signal} = this
      this.#to = await new Search(source, this.#to, {until, end, budget: this.#budget, signal}).run()
      this.#isFound = this.#to < until
    }
    return Math.min(this.#to, until)
  }

  /** Whether one begins there. */
  async isAt(position: number): Promise<boolean> {
    const {source, end, signal} = this
    if (position < 0 || end - position < leastBatch) return false
    const head = await source.read(position, Math.min(at.records, end - position))
    const size = plausibleSize(head, 0, end - position)
    return size > 0 && this.#budget.pay(size) && crcMatches(source, position, size, Buffer.from(head), signal)
  }
}

interface SearchOptions {
  /** Where a batch must have begun. */
  readonly until: number
  /** Where it must have ended. */
  readonly end: number
  readonly budget: CrcBudget
  readonly signal: AbortSignal | undefined
}

class Search {
  readonly until: number
  readonly end: number
  readonly budget: CrcBudget
  readonly signal: AbortSignal | undefined
  #position: number
  #chunk: Buffer = Buffer.alloc(0)
  #chunkAt = 0
  #ahead = leastChunkBytes

  constructor(
    readonly source: ByteSource,
    from: number,
    {until, end, budget, signal}: SearchOptions,
  ) {
    this.#position = from
    this.until = until
    this.end = end
    this.budget = budget
    this.signal = signal
  }

  /** Returns `until` if none is found. */
  async run(): Promise<number> {
    while (this.end - this.#position >= leastBatch && this.#position < this.until) {
      await this.#load()
      const candidate = this.#scan()
      if (candidate === undefined) continue
      if (await this.#convinces(candidate)) return candidate
      this.#position = candidate + 1
    }
    return this.until
  }

  async #load(): Promise<void> {
    this.signal?.throwIfAborted()
    const start = this.#position - this.#chunkAt
    // Near the chunk's end no whole header would be left.
    if (start >= 0 && this.#chunk.length - start >= at.records) return
    this.#chunkAt = this.#position
    // So that the last batch that may begin has its header in it.
    const readable = Math.min(this.end, this.until + at.records - 1)
    this.#chunk = await this.source.read(this.#position, Math.min(this.#ahead, readable - this.#position))
    this.#ahead = Math.min(2 * this.#ahead, chunkBytes)
    // What a source promised and does not give is no batch.
    if (this.#chunk.length < Math.min(at.records, this.end - this.#position)) this.#position = this.end
  }

  /** The next place in the chunk whose header is plausible; moves past the chunk if there is none. */
  #scan(): number | undefined {
    const chunk = this.#chunk
    const isLast = this.#chunkAt + chunk.length >= this.end
    // A header must be there whole, unless nothing more comes.
    const whole = chunk.length - (isLast ? leastBatch : at.records)
    const limit = Math.min(whole, this.until - 1 - this.#chunkAt)
    let start = this.#position - this.#chunkAt
    const first = start
    while (start <= limit) {
      const magic = chunk[start + at.magic] as number
      if (magic > 2 || (chunk[start + at.batchLength] as number) > 0x7f) {
        start++
        continue
      }
      if (magic === 0 && chunk.readInt32BE(start + at.batchLength) === 0) {
        start = this.#pastZeros(start)
        continue
      }
      if (plausibleSize(chunk, start, this.end - this.#chunkAt - start) > 0) {
        this.budget.earn(start - first)
        this.#position = this.#chunkAt + start
        return this.#position
      }
      start++
    }
    this.budget.earn(start - first)
    this.#position = this.#chunkAt + Math.max(start, limit + 1)
    return undefined
  }

  /** A run of zeros holds no batch but one that begins at its end. */
  #pastZeros(start: number): number {
    const run = this.#chunk[start] === 0 ? leadingZeros(this.#chunk, start) : 0
    return Math.max(start + 1, start + run - zerosOfHeader)
  }

  async #convinces(position: number): Promise<boolean> {
    const {source, end, signal} = this
    const start = position - this.#chunkAt
    const size = plausibleSize(this.#chunk, start, end - position)
    const isHere = start + size <= this.#chunk.length
    if (!this.budget.pay(isHere ? size : size + this.#ahead)) return false
    if (isHere) return crcOf(this.#chunk, start, start + size) === storedCrc(this.#chunk, start)
    const head = Buffer.from(this.#chunk.subarray(start, start + at.records))
    // The source may read into the same memory again.
    this.#chunk = Buffer.alloc(0)
    return crcMatches(source, position, size, head, signal)
  }
}

/** The size of the batch whose header lies there, if its fields are such as a batch has; else 0. */
function plausibleSize(bytes: Buffer, start: number, remaining: number): number {
  const magic = bytes[start + at.magic] as number
  const size = bytes.readInt32BE(start + at.batchLength) + at.batchLength + 4
  if (size > remaining || (bytes[start] as number) > 0x7f) return 0
  if (magic === 0 || magic === 1) {
    const least = legacyLeastBytes[magic]
    if (size < least || bytes.length - start < least || ((bytes[start + legacyAt.attributes] as number) & 0xf0) !== 0)
      return 0
    const key = bytes.readInt32BE(start + least - 8)
    if (key < -1 || key > size - least) return 0
    const valueAt = start + least - 4 + Math.max(key, 0)
    if (valueAt + 4 > bytes.length) return size
    const value = bytes.readInt32BE(valueAt)
    return value >= -1 && value <= size - least - Math.max(key, 0) ? size : 0
  }
  if (magic !== 2 || size < at.records || bytes.length - start < at.records) return 0
  const isPlausible =
    (bytes.readUInt16BE(start + at.attributes) & 0xff80) === 0 &&
    bytes.readInt32BE(start + at.lastOffsetDelta) >= 0 &&
    bytes.readInt16BE(start + at.producerEpoch) >= -1 &&
    bytes.readInt32BE(start + at.baseSequence) >= -1 &&
    bytes.readInt32BE(start + at.recordsCount) >= 0
  return isPlausible || size <= cheapBytes ? size : 0
}

function isMessage(head: Buffer, start: number): boolean {
  return (head[start + at.magic] as number) < 2
}

function storedCrc(bytes: Buffer, start: number): number {
  return bytes.readUInt32BE(start + (isMessage(bytes, start) ? legacyAt.crc : at.crc))
}

function crcOf(bytes: Buffer, start: number, end: number): number {
  return isMessage(bytes, start)
    ? crc32(bytes.subarray(start + legacyAt.magic, end))
    : crc32c(bytes.subarray(start + at.attributes, end))
}

async function crcMatches(
  source: ByteSource,
  position: number,
  size: number,
  head: Buffer,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const from = isMessage(head, 0) ? legacyAt.magic : at.attributes
  const computed = await crcOfRange(
    source,
    position + from,
    position + size,
    isMessage(head, 0) ? crc32 : crc32c,
    signal,
  )
  return computed === storedCrc(head, 0)
}

/** The CRC of bytes that are read piece by piece; `undefined` if the source does not give them all. */
export async function crcOfRange(
  source: ByteSource,
  from: number,
  to: number,
  crc: (bytes: Buffer, seed: number) => number,
  signal?: AbortSignal,
): Promise<number | undefined> {
  let sum = 0
  for (let position = from; position < to; ) {
    signal?.throwIfAborted()
    const piece = await source.read(position, Math.min(chunkBytes, to - position))
    if (piece.length === 0) return undefined
    sum = crc(piece, sum)
    position += piece.length
  }
  return sum
}
