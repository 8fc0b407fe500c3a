import {at, BatchCursor} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {codecIsReady, prepareCodec} from './codecs.js'
import {legacyLeastBytes} from './legacy-message.js'

// The laws of the reader (tested as properties, on arbitrary bytes and on damaged files of real brokers):
//  1. It never throws on any bytes. (A source that can't be read throws its own error.)
//  2. validBytes + trailingBytes = size.
//  3. Reading the valid prefix again gives the same batches, and no problem.
//  4. Positions are sums of sizes.
//  5. Nothing is allocated from a length that was not yet checked against the bytes that are there.
//  6. Memory is bounded, whatever the file: by a chunk and the largest batch that is allowed.
// A batch is "valid" here if it is whole; whether its CRC is right and its records can be read, the cursor tells.

export interface ScanOptions {
  /** Bytes asked of the source at once; default 1 MiB. */
  readonly chunkBytes?: number
  /** The buffer grows up to this for a batch that is larger than a chunk; default 128 MiB. Beyond it the scan ends with `too-large`. */
  readonly maxBatchBytes?: number
}

export interface WalkOptions extends ScanOptions {
  /** A batch of magic 2 that is larger is shown by its header only ({@link Walk.large}). Default: none is. */
  readonly wholeBatchBytes?: number
}

export interface ScanProblem {
  /**
   * `cut`: the last batch is not whole, as after a crash or at the end of a Fetch answer; `size`: a length that no batch
   * can have, as in zero filled space; `magic`: not one of 0, 1, 2; `too-large`: larger than `maxBatchBytes`;
   * `short-read`: the source gave less than its size promises.
   */
  readonly kind: 'cut' | 'size' | 'magic' | 'too-large' | 'short-read'
  readonly position: number
  readonly reason: string
}

export interface ScanResult {
  /** Up to the end of the last whole batch. */
  readonly validBytes: number
  readonly trailingBytes: number
  /** Why there are trailing bytes. */
  readonly problem?: ScanProblem
}

/** Up to and with the magic, which lies at the same place in all formats. */
const prefixBytes = 17
/** LegacyRecord.RECORD_OVERHEAD_V0: what no length may be below, in any format. */
const leastLength = 14
/** Of a whole batch, by its magic. */
const leastBytes = [...legacyLeastBytes, at.records] as const
/** The length counts from behind itself. */
const lengthEnd = at.batchLength + 4
const defaultChunkBytes = 1_048_576
const leastAheadBytes = 4_096
const defaultMaxBatchBytes = 134_217_728

/**
 * Walks the record batches of a source with one cursor that is reused; what remains at the end is told, not thrown.
 * What `visit` throws ends the scan and is thrown.
 */
export async function scan(
  source: ByteSource,
  visit: (batch: BatchCursor) => void,
  options: ScanOptions = {},
): Promise<ScanResult> {
  const walk = new Walk(source.size, options)
  for (;;) {
    const step = walk.step()
    if (step === 'batch') {
      if (!codecIsReady(walk.batch.codec)) await prepareCodec(walk.batch.codec)
      visit(walk.batch)
    } else if (step === 'end') return walk.result()
    else walk.take(await source.read(walk.position, walk.wanted))
  }
}

/** {@link scan} over bytes that are in memory already, e.g. those of a Fetch answer: nothing is awaited or copied. For zstd, {@link prepareCodec} comes first. */
export function scanBuffer(bytes: Buffer, visit: (batch: BatchCursor) => void, options: ScanOptions = {}): ScanResult {
  const walk = new Walk(bytes.length, options)
  walk.take(bytes)
  while (walk.step() === 'batch') visit(walk.batch)
  return walk.result()
}

/** Where a scan stands. It asks for bytes (`more`), shows a batch, or ends: the loops around it only fetch. */
export class Walk {
  readonly batch = new BatchCursor()
  /** In the source: of the next batch. */
  position = 0
  /** How many bytes from `position` the last `more` asked for. */
  wanted = 0
  /** After the step `large`: the header, and the size of the batch that begins at `position`. */
  large: {readonly header: Buffer; readonly sizeInBytes: number} | undefined

  readonly #chunkBytes: number
  /** What is read ahead next: little behind damage, for there may be more of it, and twice as much each time. */
  #aheadBytes: number
  readonly #maxBatchBytes: number
  readonly #wholeBatchBytes: number
  #chunk: Buffer = Buffer.alloc(0)
  /** Where in the source the chunk begins. */
  #chunkAt = 0
  #problem: ScanProblem | undefined
  /** The source gave less than its size promises: the end is where its bytes end. */
  #shortRead: string | undefined

  constructor(
    readonly size: number,
    options: WalkOptions,
  ) {
    const {chunkBytes = defaultChunkBytes, maxBatchBytes = defaultMaxBatchBytes} = options
    this.#wholeBatchBytes = options.wholeBatchBytes ?? Number.POSITIVE_INFINITY
    this.#chunkBytes = Math.max(chunkBytes, at.records)
    this.#aheadBytes = this.#chunkBytes
    this.#maxBatchBytes = maxBatchBytes
  }

  step(): 'batch' | 'large' | 'more' | 'end' {
    const remaining = this.size - this.position
    if (this.#problem || remaining <= 0) return 'end'
    if (remaining < prefixBytes) return this.#stop('cut', `${remaining} bytes are left, too few for a batch`)
    const start = this.position - this.#chunkAt
    const there = this.#chunk.length - start
    if (there < prefixBytes) return this.#more(prefixBytes, remaining)

    const length = this.#chunk.readInt32BE(start + at.batchLength)
    const sizeInBytes = lengthEnd + length
    if (length < leastLength) return this.#stop('size', `a batch can't have the length ${length}`)
    if (sizeInBytes > remaining) {
      return this.#stop('cut', `the batch has ${sizeInBytes} bytes, and ${remaining} are left`)
    }
    const magic = this.#chunk.readInt8(start + at.magic)
    if (magic < 0 || magic > 2) return this.#stop('magic', `magic ${magic} is not known`)
    if (sizeInBytes < (leastBytes[magic] as number))
      return this.#stop('size', `a batch can't have the length ${length}`)
    if (sizeInBytes > this.#wholeBatchBytes && magic === 2) return this.#header(start, there, sizeInBytes, remaining)
    if (sizeInBytes > this.#maxBatchBytes) {
      return this.#stop('too-large', `the batch has ${sizeInBytes} bytes, and ${this.#maxBatchBytes} are allowed`)
    }
    if (there < sizeInBytes) return this.#more(sizeInBytes, remaining)

    this.batch.place(this.#chunk, start, sizeInBytes, this.position)
    this.position += sizeInBytes
    return 'batch'
  }

  /** Hands over what was read from `position`. */
  take(bytes: Buffer): void {
    this.#chunk = bytes
    this.#chunkAt = this.position
    if (bytes.length < this.wanted) {
      this.#shortRead = `${this.wanted} bytes were asked of the source, and it gave ${bytes.length}`
    }
  }

  /** Goes on at another position, also after a problem: behind a large batch, or where a batch was found again. */
  jump(position: number): void {
    this.position = position
    this.#problem = undefined
    this.large = undefined
    const isHere = position >= this.#chunkAt && position <= this.#chunkAt + this.#chunk.length
    if (!isHere) this.forget()
  }

  /** What was taken is not there any more: its memory was used for something else. */
  forget(): void {
    this.#chunk = Buffer.alloc(0)
    this.#chunkAt = this.position
    this.#aheadBytes = Math.min(leastAheadBytes, this.#chunkBytes)
  }

  /** The bytes that are in memory, and where in the source they begin. */
  get held(): {readonly bytes: Buffer; readonly from: number} {
    return {bytes: this.#chunk, from: this.#chunkAt}
  }

  /** Up to `length` of the bytes at the position, of those that are there. */
  peek(length: number): Buffer {
    const start = this.position - this.#chunkAt
    return this.#chunk.subarray(start, start + Math.min(length, this.size - this.position))
  }

  result(): ScanResult {
    const counts = {validBytes: this.position, trailingBytes: this.size - this.position}
    return this.#problem ? {...counts, problem: this.#problem} : counts
  }

  #header(start: number, there: number, sizeInBytes: number, remaining: number): 'large' | 'more' | 'end' {
    if (there < at.records) return this.#more(at.records, remaining)
    this.large = {header: Buffer.from(this.#chunk.subarray(start, start + at.records)), sizeInBytes}
    return 'large'
  }

  #more(leastBytes: number, remaining: number): 'more' | 'end' {
    if (this.#shortRead !== undefined) return this.#stop('short-read', this.#shortRead)
    this.wanted = Math.min(Math.max(leastBytes, this.#aheadBytes), remaining)
    this.#aheadBytes = Math.min(2 * this.#aheadBytes, this.#chunkBytes)
    return 'more'
  }

  #stop(kind: ScanProblem['kind'], reason: string): 'end' {
    this.#problem ??= {kind, position: this.position, reason}
    return 'end'
  }
}
