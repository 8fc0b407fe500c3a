import type {BatchCursor} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {codecIsReady, prepareCodec} from './codecs.js'
import type {RecordCursor} from './record-cursor.js'
import {Walk} from './scan.js'

/** Bytes that are no batch. */
export interface Damage {
  /**
   * `cut`: a plausible header whose batch passes the end; `cut-header`: too few bytes for a header; `size`: a length that
   * no batch can have; `magic`: an unknown magic; `zero-fill`: nothing but zeros up to the end; `garbage`: anything else;
   * `too-large`, `short-read`: see `ScanProblem`.
   */
  readonly kind: 'cut' | 'cut-header' | 'size' | 'magic' | 'zero-fill' | 'garbage' | 'too-large' | 'short-read'
  readonly position: number
  /** Up to the next batch that was found, or to the end. */
  readonly sizeInBytes: number
  /** For `cut`: what the header says. */
  readonly baseOffset?: bigint
  readonly expectedBytes?: number
  readonly reason: string
}

/** What reads a log. The cursors are reused: what they give is gone after the call. */
export interface LogVisitor {
  /** The batch's header; its CRC can be asked for. Says whether the records are wanted. */
  batch(batch: BatchCursor): boolean
  record(record: RecordCursor): void
  /** After the records of a batch, if they were wanted. `problem`: why not all of them could be read. */
  recordsDone?(problem: string | undefined): void
  damage?(damage: Damage): void
  /** True: nothing more is given until {@link drain} has ended. Asked after each record and each batch. */
  readonly full?: boolean
  drain?(): Promise<void>
  /** True: the reading ends here, without an error. */
  readonly enough?: boolean
}

export interface ReadOptions {
  /** Look only at the first bytes; a batch that doesn't fit whole is not shown. Default: all. */
  readonly maxBytes?: number
  /** Where to begin; must be the first byte of a batch. Default 0. */
  readonly from?: number
  /** After damage: look for the next whole batch with a right CRC and go on there. Default true. */
  readonly resynchronise?: boolean
  /** The plain size that a compressed batch may have; beyond it the batch's `problem` says so. Default 1 GiB: it is streamed. */
  readonly maxDecompressedBytes?: number
  /** Bytes asked of the source at once, and the size above which a batch is streamed. Default 1 MiB and 4 MiB. */
  readonly chunkBytes?: number
  readonly wholeBatchBytes?: number
  readonly signal?: AbortSignal
}

export interface LogEnd {
  readonly batches: number
  /** Sum of the sizes of all batches that were whole. */
  readonly validBytes: number
  /** Bytes behind the last whole batch (up to `maxBytes`). */
  readonly trailingBytes: number
  /** Sum of the bytes skipped between whole batches. */
  readonly skippedBytes: number
}

/**
 * Reads a log or snapshot of any size in bounded memory: one loop for everything that looks at batches and records.
 * Never throws on any bytes; what the source or the visitor throws is thrown.
 */
export async function readLog(source: ByteSource, visitor: LogVisitor, options: ReadOptions = {}): Promise<LogEnd> {
  const walk = new Walk(Math.min(source.size, options.maxBytes ?? source.size), {
    chunkBytes: options.chunkBytes ?? 1_048_576,
  })
  let batches = 0
  for (;;) {
    const step = walk.step()
    if (step === 'end') break
    if (step === 'more') {
      walk.take(await source.read(walk.position, walk.wanted))
      continue
    }
    batches++
    if (!codecIsReady(walk.batch.codec)) await prepareCodec(walk.batch.codec)
    if (visitor.batch(walk.batch)) {
      const problem = walk.batch.records(record => visitor.record(record))
      visitor.recordsDone?.(problem)
    }
    if (visitor.full) await visitor.drain?.()
    if (visitor.enough) break
  }
  const {validBytes, trailingBytes, problem} = walk.result()
  if (problem) {
    const kind = problem.kind === 'cut' && trailingBytes < 17 ? 'cut-header' : problem.kind
    visitor.damage?.({kind, position: problem.position, sizeInBytes: trailingBytes, reason: problem.reason})
  }
  return {batches, validBytes, trailingBytes, skippedBytes: 0}
}
