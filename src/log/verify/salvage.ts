import type {BatchCursor} from '../batch-cursor.js'
import type {ByteSource} from '../byte-source.js'
import {type LogVisitor, readLog} from '../read-log.js'
import type {RecordCursor} from '../record-cursor.js'
import type {RecordsProblem} from '../records-problem.js'

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
  /** Whole batches that were left out because their offsets do not fit: repeated, falling, or far from all others. */
  readonly repeatedBatches: number
}

/** Bytes that are copied at once. */
const pieceBytes = 1_048_576
/** Stretches of good batches that are held before they are copied, so that memory is bounded. */
const stretchesAtMost = 65_536

/**
 * Copies the readable batches (whole, right CRC, records that can be read) verbatim and in order: what `write` is given, in
 * pieces, is a log that Kafka and kx read without a complaint. Batches that would make offsets fall are left out; the base
 * offset lies outside the CRC, so one that is too high is left out too, and not all that come behind it. What the source or
 * `write` throws is thrown. Memory is bounded, whatever the sizes.
 */
export async function salvage(
  source: ByteSource,
  write: (bytes: Buffer) => Promise<void> | void,
  options: SalvageOptions = {},
): Promise<Salvaged> {
  const {maxDecompressedBytes, signal, progress} = options
  const visitor = new Salvage()
  let bytes = 0
  for (;;) {
    await readLog(source, visitor, {
      from: visitor.end,
      ...(maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes}),
      ...(signal ? {signal} : {}),
    })
    if (!visitor.enough) visitor.finish()
    // Only now: the reader's chunk may lie in the memory that the source reads into.
    for (const {position, size} of visitor.take()) {
      await copy(source, position, size, write)
      bytes += size
      progress?.(position + size, source.size)
    }
    if (!visitor.enough) break
    visitor.goOn()
  }
  progress?.(source.size, source.size)
  return visitor.result(bytes, source.size)
}

interface Stretch {
  readonly position: number
  size: number
}

/** A batch that can be read. */
interface Readable extends Readonly<Stretch> {
  readonly baseOffset: bigint
  readonly lastOffset: bigint
  readonly records: number
}

/** Finds the stretches of good batches. */
class Salvage implements LogVisitor {
  enough = false
  /** Where the last batch that was looked at ends. */
  end = 0

  #cursor: BatchCursor | undefined
  #records = 0
  #stretches: Stretch[] = []
  #batches = 0
  #allRecords = 0
  /** Fits what was taken, and is taken itself unless the batches behind it say that its base offset is wrong. */
  #newest: Readable | undefined
  /** Falls behind the newest, and fits what was taken all the same: the next one decides between the two. */
  #rival: Readable | undefined
  #skippedBatches = 0
  #repeated = 0
  #first: bigint | undefined
  #last: bigint | undefined

  batch(batch: BatchCursor): boolean {
    this.#cursor = batch
    this.#records = 0
    this.end = batch.position + batch.sizeInBytes
    if (!batch.isLegacy && !batch.crcIsRight) {
      this.#skippedBatches++
      return false
    }
    if (batch.lastOffset < batch.baseOffset) {
      this.#skippedBatches++
      return false
    }
    return true
  }

  record(record: RecordCursor): void {
    this.#records++
    if (!record.crcIsRight) this.#records = Number.NaN
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    const batch = this.#cursor
    if (!batch) return
    if (problem !== undefined || !batch.crcIsRight || Number.isNaN(this.#records)) {
      this.#skippedBatches++
      return
    }
    const {position, sizeInBytes: size, baseOffset, lastOffset} = batch
    this.#consider({position, size, baseOffset, lastOffset, records: this.#records})
    if (this.#stretches.length >= stretchesAtMost) this.enough = true
  }

  #consider(batch: Readable): void {
    const [newest, rival] = [this.#newest, this.#rival]
    if (newest && batch.baseOffset > newest.lastOffset) {
      this.#decide(newest, rival)
      this.#newest = batch
    } else if (newest && rival && batch.baseOffset > rival.lastOffset) {
      this.#decide(rival, newest)
      this.#newest = batch
    } else if (!this.#fits(batch) || rival || batch.baseOffset === newest?.baseOffset) this.#repeated++
    else if (newest) this.#rival = batch
    else this.#newest = batch
  }

  #fits({baseOffset}: Readable): boolean {
    return this.#last === undefined || baseOffset > this.#last
  }

  #decide(taken: Readable, other: Readable | undefined): void {
    if (other) this.#repeated++
    this.#rival = undefined
    this.#batches++
    this.#allRecords += taken.records
    this.#first ??= taken.baseOffset
    this.#last = taken.lastOffset
    const {position, size} = taken
    const stretch = this.#stretches.at(-1)
    if (stretch && stretch.position + stretch.size === position) stretch.size += size
    else this.#stretches.push({position, size})
  }

  /** Nothing comes after the last batch that could decide: the nearer one is more likely. */
  finish(): void {
    const [newest, rival] = [this.#newest, this.#rival]
    this.#newest = undefined
    if (!newest) return
    const isFar = rival !== undefined && newest.baseOffset - rival.lastOffset > 1n
    if (isFar) this.#decide(rival, newest)
    else this.#decide(newest, rival)
  }

  take(): readonly Stretch[] {
    const taken = this.#stretches
    this.#stretches = []
    return taken
  }

  goOn(): void {
    this.enough = false
  }

  result(bytes: number, size: number): Salvaged {
    return {
      batches: this.#batches,
      records: this.#allRecords,
      bytes,
      skippedBatches: this.#skippedBatches,
      skippedBytes: size - bytes,
      ...(this.#first === undefined ? {} : {firstOffset: this.#first}),
      ...(this.#last === undefined ? {} : {lastOffset: this.#last}),
      repeatedBatches: this.#repeated,
    }
  }
}

async function copy(
  source: ByteSource,
  from: number,
  size: number,
  write: (bytes: Buffer) => Promise<void> | void,
): Promise<void> {
  for (let position = from; position < from + size; ) {
    const bytes = await source.read(position, Math.min(pieceBytes, from + size - position))
    if (bytes.length === 0) return
    await write(bytes)
    position += bytes.length
  }
}
