import type {BatchCursor} from '../batch-cursor.js'
import type {ByteSource} from '../byte-source.js'
import {type Damage, type LogVisitor, readLog} from '../read-log.js'

export interface SalvageOptions {
  readonly maxDecompressedBytes?: number
  readonly signal?: AbortSignal
  readonly progress?: (done: number, total: number) => void
}

export interface Salvaged {
  readonly batches: number
  readonly records: number
  /** Written. */
  readonly bytes: number
  /** Whole batches that were left out: their CRC is false or their records can't be read. */
  readonly skippedBatches: number
  /** Bytes that were left out, those of such batches included. */
  readonly skippedBytes: number
  /** Undefined: nothing was written. */
  readonly firstOffset?: bigint
  readonly lastOffset?: bigint
  /** Batches that were left out because their offsets are not above those that were written. */
  readonly repeatedBatches: number
}

/** Bytes that are copied at once. */
const pieceBytes = 1_048_576

interface Piece {
  readonly position: number
  readonly size: number
}

/**
 * Copies the readable batches (whole, right CRC, records that can be read) verbatim and in order: what `write` is given, in
 * pieces, is a log that Kafka and kx read without a complaint. Batches that would make offsets fall are left out. What the
 * source or `write` throws is thrown. Memory is bounded, whatever the sizes.
 */
export async function salvage(
  source: ByteSource,
  write: (bytes: Buffer) => Promise<void> | void,
  options: SalvageOptions = {},
): Promise<Salvaged> {
  const {maxDecompressedBytes, signal, progress} = options
  const visitor = new Salvage(source, write)
  const counted: ByteSource = progress
    ? {
        size: source.size,
        read: async (position, length) => {
          progress(position, source.size)
          return source.read(position, length)
        },
      }
    : source
  await readLog(counted, visitor, {
    ...(maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes}),
    ...(signal ? {signal} : {}),
  })
  await visitor.drain()
  progress?.(source.size, source.size)
  return visitor.result()
}

class Salvage implements LogVisitor {
  readonly #source: ByteSource
  readonly #write: (bytes: Buffer) => Promise<void> | void
  #cursor: BatchCursor | undefined
  #records = 0
  /** What is to be copied next: good batches that lie side by side. */
  #run: Piece | undefined
  #ready: Piece[] = []
  #batches = 0
  #written = 0
  #bytes = 0
  #skippedBatches = 0
  #repeated = 0
  #first: bigint | undefined
  #last: bigint | undefined

  constructor(source: ByteSource, write: (bytes: Buffer) => Promise<void> | void) {
    this.#source = source
    this.#write = write
  }

  batch(batch: BatchCursor): boolean {
    this.#cursor = batch
    this.#records = 0
    if (batch.magic >= 2 && !batch.crcIsRight) {
      this.#skippedBatches++
      return false
    }
    if (this.#last !== undefined && batch.baseOffset <= this.#last) {
      this.#repeated++
      return false
    }
    return true
  }

  record(): void {
    this.#records++
  }

  recordsDone(problem: string | undefined): void {
    const batch = this.#cursor
    if (!batch) return
    if (problem !== undefined || !batch.crcIsRight) {
      this.#skippedBatches++
      return
    }
    this.#batches++
    this.#written += this.#records
    this.#first ??= batch.baseOffset
    this.#last = batch.lastOffset
    const run = this.#run
    if (run && run.position + run.size === batch.position && run.size < pieceBytes) {
      this.#run = {position: run.position, size: run.size + batch.sizeInBytes}
      return
    }
    if (run) this.#ready.push(run)
    this.#run = {position: batch.position, size: batch.sizeInBytes}
  }

  damage(_damage: Damage): void {}

  get full(): boolean {
    return this.#ready.length > 0
  }

  async drain(): Promise<void> {
    if (this.#ready.length === 0 && this.#run) {
      this.#ready.push(this.#run)
      this.#run = undefined
    }
    for (const {position, size} of this.#ready) await this.#copy(position, size)
    this.#ready = []
  }

  result(): Salvaged {
    return {
      batches: this.#batches,
      records: this.#written,
      bytes: this.#bytes,
      skippedBatches: this.#skippedBatches,
      skippedBytes: this.#source.size - this.#bytes,
      ...(this.#first === undefined ? {} : {firstOffset: this.#first}),
      ...(this.#last === undefined ? {} : {lastOffset: this.#last}),
      repeatedBatches: this.#repeated,
    }
  }

  async #copy(from: number, size: number): Promise<void> {
    for (let position = from; position < from + size; ) {
      const bytes = await this.#source.read(position, Math.min(pieceBytes, from + size - position))
      if (bytes.length === 0) return
      await this.#write(bytes)
      this.#bytes += bytes.length
      position += bytes.length
    }
  }
}
