import {at, type BatchCursor} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {codecIsReady, prepareCodec} from './codecs.js'
import {crc32c} from './crc32c.js'
import {type Damage, damageKind, isZero, mayBegin, plausibleBytes} from './damage.js'
import {fitsItsLength, HeldSource, LengthJudge, type Suspect} from './false-length.js'
import type {RecordCursor} from './record-cursor.js'
import {streamRecords} from './record-stream.js'
import type {RecordsProblem} from './records-problem.js'
import {BatchFinder, crcOfRange, zeroRun} from './resync.js'
import {type ScanProblem, Walk} from './scan.js'

export type {Damage} from './damage.js'

/** What reads a log. The cursors are reused: what they give is gone after the call. */
export interface LogVisitor {
  /** The batch's header; its CRC can be asked for. Says whether the records are wanted. */
  batch(batch: BatchCursor): boolean
  record(record: RecordCursor): void
  /** After the records of a batch, if they were wanted. `problem`: why not all of them could be read. */
  recordsDone?(problem: RecordsProblem | undefined): void
  damage?(damage: Damage): void
  /** True: nothing more is given until {@link drain} has ended. Asked after each record and each batch. */
  readonly full?: boolean
  drain?(): Promise<void>
  /** True: the reading ends here, without an error. Asked where {@link full} is; `recordsDone` is not called then. */
  readonly enough?: boolean
}

export interface ReadOptions {
  /** Look only at the first bytes; a batch that doesn't fit whole is not shown. Default: all. */
  readonly maxBytes?: number
  /** Where to begin; must be the first byte of a batch. Default 0. */
  readonly from?: number
  /**
   * After damage: look for the next whole batch with a right CRC and go on there. A batch whose CRC is false is damage, too,
   * if its length does not lead to the next one. Default true.
   */
  readonly resynchronise?: boolean
  /** The plain size that a compressed batch may have; beyond it its `problem` says so. Default 1 GiB: it is streamed. */
  readonly maxDecompressedBytes?: number
  /** See {@link BatchCursor.asKafka}. Default false. */
  readonly asKafka?: boolean
  /** Bytes asked of the source at once, and the size above which a batch is streamed. Default 1 MiB and 4 MiB. */
  readonly chunkBytes?: number
  readonly wholeBatchBytes?: number
  readonly signal?: AbortSignal
}

export interface LogEnd {
  readonly batches: number
  /** Sum of the sizes of all batches that were whole, from `from` on. */
  readonly validBytes: number
  /** Bytes behind the last whole batch (up to `maxBytes`). */
  readonly trailingBytes: number
  /** Sum of the bytes skipped between whole batches. */
  readonly skippedBytes: number
}

const chunkBytes = 1_048_576
const wholeBatchBytes = 4_194_304
/** Plain bytes that are decoded at once. */
const wholePlainBytes = 1_048_576
const maxDecompressedBytes = 1_073_741_824

/**
 * Reads a log or snapshot of any size in bounded memory: one loop for everything that looks at batches and records.
 * Never throws on any bytes; what the source or the visitor throws is thrown, and the signal's reason once it is aborted.
 *
 * One read of the source is under way at a time, and what it gave is not used after the next: it may read into the same
 * memory again. Batches up to `wholeBatchBytes` are held; of larger ones the header is shown after a pass for the CRC. Records
 * of up to 1 MiB in all are decoded at once; more are streamed (memory grows to the largest of them). A compressed stream that is
 * damaged gives the records before the damage; of zstd that is streamed, those before the damaged block.
 */
export async function readLog(source: ByteSource, visitor: LogVisitor, options: ReadOptions = {}): Promise<LogEnd> {
  return new Reading(source, visitor, options).run()
}

class Reading {
  readonly #walk: Walk
  readonly #wholeBytes: number
  readonly #plainBytes: number
  #batches = 0
  /** Sum of the sizes of whole batches. */
  #validBytes = 0
  /** Where the last whole batch ends. */
  #end: number
  #skippedBytes = 0
  /** For records that are streamed. */
  readonly #memory = {bytes: Buffer.alloc(0)}
  readonly #known: HeldSource
  readonly #finder: BatchFinder
  readonly #judge: LengthJudge
  /** Where the batch begins that was judged, and is read again. */
  #trusted = -1

  constructor(
    readonly source: ByteSource,
    readonly visitor: LogVisitor,
    readonly options: ReadOptions,
  ) {
    this.#wholeBytes = options.wholeBatchBytes ?? wholeBatchBytes
    this.#plainBytes = options.maxDecompressedBytes ?? maxDecompressedBytes
    this.#walk = new Walk(Math.min(source.size, options.maxBytes ?? source.size), {
      chunkBytes: options.chunkBytes ?? chunkBytes,
      wholeBatchBytes: this.#wholeBytes,
    })
    this.#walk.batch.asKafka = options.asKafka ?? false
    this.#end = options.from ?? 0
    this.#known = new HeldSource(source)
    this.#finder = new BatchFinder(this.#known, this.#walk.size, options.signal)
    this.#judge = new LengthJudge(this.#known, this.#end, this.#finder, options.signal)
    this.#walk.jump(this.#end)
  }

  async run(): Promise<LogEnd> {
    const walk = this.#walk
    for (;;) {
      const step = walk.step()
      if (step === 'batch') {
        const {batch} = walk
        const pending = batch.crcIsRight || !this.#isSuspect(batch) ? this.#held(batch) : this.#judged(batch)
        if (pending) await pending
      } else if (step === 'large') await this.#large()
      else if (step === 'more') {
        this.options.signal?.throwIfAborted()
        walk.take(await this.source.read(walk.position, walk.wanted))
        continue
      } else if (!(await this.#damaged())) break
      if (this.visitor.full) await this.visitor.drain?.()
      if (this.visitor.enough) break
    }
    return {
      batches: this.#batches,
      validBytes: this.#validBytes,
      trailingBytes: walk.size - this.#end,
      skippedBytes: this.#skippedBytes,
    }
  }

  /** A batch that is in memory. A promise only where something is to be waited for. */
  #held(batch: BatchCursor): Promise<void> | undefined {
    if (!codecIsReady(batch.codec)) return prepareCodec(batch.codec).then(() => this.#held(batch))
    this.#count(batch.position, batch.sizeInBytes)
    if (!this.visitor.batch(batch)) return undefined
    const atMost = Math.min(this.#wholeBytes, wholePlainBytes, this.#plainBytes)
    if (batch.openRecords(atMost) !== 'too-large') return this.#records(batch)
    return this.#streamed(batch, () => once(batch.storedRecords))
  }

  #records(batch: BatchCursor): Promise<void> | undefined {
    const {visitor} = this
    for (let record = batch.nextRecord(); record; record = batch.nextRecord()) {
      visitor.record(record)
      if (visitor.enough) return undefined
      if (visitor.full) return Promise.resolve(visitor.drain?.()).then(() => this.#records(batch))
    }
    visitor.recordsDone?.(batch.problem)
    return undefined
  }

  /** A batch of which only the header is in memory. */
  async #large(): Promise<void> {
    const {source, options} = this
    const walk = this.#walk
    const {header, sizeInBytes} = walk.large as NonNullable<Walk['large']>
    const {position, batch} = walk
    const end = position + sizeInBytes
    const crc = await crcOfRange(source, position + at.attributes, end, crc32c, options.signal)
    batch.placeHeader(header, sizeInBytes, position, crc)
    if (crc !== undefined && !batch.crcIsRight && this.options.resynchronise !== false) {
      if (await this.#isFalse({position, sizeInBytes, head: header, crc: batch.crc})) return
    }
    await prepareCodec(batch.codec)
    this.#count(position, sizeInBytes)
    if (this.visitor.batch(batch)) {
      await this.#streamed(batch, () => pieces(source, position + at.records, end, options.signal))
    }
    walk.forget()
    walk.jump(end)
  }

  async #streamed(batch: BatchCursor, stored: () => AsyncIterable<Buffer>): Promise<void> {
    const {visitor} = this
    const goesOn = await streamRecords(batch, {
      stored,
      maxDecompressedBytes: this.#plainBytes,
      memory: this.#memory,
      visit(record: RecordCursor) {
        visitor.record(record)
        if (visitor.enough) return false
        return visitor.full ? Promise.resolve(visitor.drain?.()).then(() => true) : true
      },
    })
    if (goesOn) visitor.recordsDone?.(batch.problem)
  }

  /** Whether its length may be wrong, as its CRC is. */
  #isSuspect(batch: BatchCursor): boolean {
    if (this.options.resynchronise === false || batch.position === this.#trusted) return false
    return !batch.isLegacy || !fitsItsLength(batch.bytes)
  }

  /** A batch that is in memory, and whose length may be wrong: it is shown if it is not. */
  async #judged(batch: BatchCursor): Promise<void> {
    const {position} = batch
    const {bytes, from} = this.#walk.held
    this.#known.hold(bytes, from)
    const isFalse = await this.#isFalse(suspectOf(batch))
    const isStillHeld = this.#known.isHeld
    this.#known.release()
    if (isFalse) return
    if (isStillHeld) return this.#held(batch)
    this.#trusted = position
    this.#walk.forget()
    this.#walk.jump(position)
  }

  /** Tells the damage and goes on behind it, if the length is wrong. */
  async #isFalse(suspect: Suspect): Promise<boolean> {
    const {position} = suspect
    const found = await this.#judge.judge(suspect)
    if (found) this.#tell({kind: 'size', position, sizeInBytes: found.next - position, reason: found.reason})
    return found !== undefined
  }

  /** Goes on behind the damage. False: nothing comes after it. */
  #tell(damage: Damage): boolean {
    this.visitor.damage?.(damage)
    const next = damage.position + damage.sizeInBytes
    const isLast = next === this.#walk.size
    this.#walk.forget()
    this.#walk.jump(next)
    return !isLast
  }

  #count(position: number, sizeInBytes: number): void {
    this.#batches++
    // One damage may follow another: what was skipped is known when the next batch is.
    this.#skippedBytes += position - this.#end
    this.#validBytes += sizeInBytes
    this.#end = position + sizeInBytes
  }

  /** At the end, or where no batch is. False: nothing comes after it. */
  async #damaged(): Promise<boolean> {
    const walk = this.#walk
    const {problem} = walk.result()
    if (!problem || this.#isOurLimit(problem)) return false
    const {position, kind, reason} = problem
    const remaining = walk.size - position
    const head = await this.#head(position, Math.min(at.records, remaining))
    const told = damageKind(problem, head, remaining)
    const run = head.length > at.magic && head.every(byte => byte === 0) ? await this.#zeros(position) : 0
    if (run === remaining) {
      const zeroFill = {kind: 'zero-fill', position, sizeInBytes: remaining, reason: `${remaining} zero bytes`} as const
      this.visitor.damage?.(zeroFill)
      return false
    }
    const next =
      kind === 'short-read' ? walk.size : await this.#found(problem, head, {zeros: run, isHeader: told.kind === kind})
    return this.#tell({
      ...told,
      position,
      sizeInBytes: next - position,
      reason: run > 0 ? `${run} zero bytes, where a batch should be` : (told.reason ?? reason),
    })
  }

  async #head(position: number, length: number): Promise<Buffer> {
    const held = this.#walk.peek(length)
    return held.length === length ? Buffer.from(held) : Buffer.from(await this.source.read(position, length))
  }

  async #found({position, kind}: ScanProblem, head: Buffer, {zeros, isHeader}: Look): Promise<number> {
    const end = this.#walk.size
    if (this.options.resynchronise === false) return end
    const from = Math.max(position + 1, position + zeros - at.magic)
    if (kind !== 'magic' && kind !== 'too-large') return this.#finder.next(from)
    // Where its length leads is a better guess than whatever looks like a batch among its bytes.
    const behind = position + head.readInt32BE(at.batchLength) + at.batchLength + 4
    if (behind === end || (behind < end && (await this.#finder.isAt(behind)))) return behind
    if (behind > end || !isHeader) return this.#finder.next(from)
    const following = Buffer.from(await this.source.read(behind, Math.min(at.records, end - behind)))
    const size = plausibleBytes(following)
    if (size > 0 && behind + size <= end) return behind
    const next = await this.#finder.next(from)
    return next === end && (isZero(following) || mayBegin(following)) ? behind : next
  }

  #zeros(position: number): Promise<number> {
    return zeroRun(this.source, position, this.#walk.size, this.options.signal)
  }

  /** Not damage: the batch is whole in the source, and `maxBytes` ends within it. */
  #isOurLimit({kind, position}: ScanProblem): boolean {
    const {size} = this.#walk
    if (size >= this.source.size || kind !== 'cut') return false
    const head = this.#walk.peek(at.magic)
    if (head.length < at.batchLength + 4) return true
    return position + head.readInt32BE(at.batchLength) + at.batchLength + 4 <= this.source.size
  }
}

/** What was seen where a batch should be. */
interface Look {
  readonly zeros: number
  /** It is a header of a batch but for what is wrong with it. */
  readonly isHeader: boolean
}

function suspectOf({position, sizeInBytes, bytes, crc}: BatchCursor): Suspect {
  return {position, sizeInBytes, head: Buffer.from(bytes.subarray(0, at.records)), crc}
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function* pieces(
  source: ByteSource,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  for (let position = from; position < to; ) {
    signal?.throwIfAborted()
    const piece = await source.read(position, Math.min(chunkBytes, to - position))
    if (piece.length === 0) return
    position += piece.length
    yield piece
  }
}
