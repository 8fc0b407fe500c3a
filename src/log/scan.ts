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

  readonly #chunkBytes: number
  readonly #maxBatchBytes: number
  #chunk: Buffer = Buffer.alloc(0)
  /** Where in the source the chunk begins. */
  #chunkAt = 0
  #problem: ScanProblem | undefined

  constructor(
    readonly size: number,
    {chunkBytes = defaultChunkBytes, maxBatchBytes = defaultMaxBatchBytes}: ScanOptions,
  ) {
    this.#chunkBytes = Math.max(chunkBytes, at.records)
    this.#maxBatchBytes = maxBatchBytes
  }

  step(): 'batch' | 'more' | 'end' {
    const remaining = this.size - this.position
    if (this.#problem || remaining <= 0) return 'end'
    if (remaining < prefixBytes) return this.#stop('cut', `${remaining} bytes are left, too few for a batch`)
    const start = this.position - this.#chunkAt
    const there = this.#chunk.length - start
    if (there < prefixBytes) return this.#more(this.#chunkBytes, remaining)

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
    if (sizeInBytes > this.#maxBatchBytes) {
      return this.#stop('too-large', `the batch has ${sizeInBytes} bytes, and ${this.#maxBatchBytes} are allowed`)
    }
    if (there < sizeInBytes) return this.#more(Math.max(sizeInBytes, this.#chunkBytes), remaining)

    this.batch.place(this.#chunk, start, sizeInBytes, this.position)
    this.position += sizeInBytes
    return 'batch'
  }

  /** Hands over what was read from `position`. */
  take(bytes: Buffer): void {
    this.#chunk = bytes
    this.#chunkAt = this.position
    if (bytes.length < this.wanted) {
      this.#stop('short-read', `${this.wanted} bytes were asked of the source, and it gave ${bytes.length}`)
    }
  }

  result(): ScanResult {
    const counts = {validBytes: this.position, trailingBytes: this.size - this.position}
    return this.#problem ? {...counts, problem: this.#problem} : counts
  }

  #more(bytes: number, remaining: number): 'more' {
    this.wanted = Math.min(bytes, remaining)
    return 'more'
  }

  #stop(kind: ScanProblem['kind'], reason: string): 'end' {
    this.#problem ??= {kind, position: this.position, reason}
    return 'end'
  }
}
