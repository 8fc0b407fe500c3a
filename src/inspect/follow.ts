import type {LogEnd, LogVisitor, ReadOptions} from '../log/read-log.js'

/** A folder whose files may grow, shrink, come and go while they are looked at. `list` gives names. */
export interface GrowingFolder {
  readonly path: string
  list(): Promise<readonly string[]>
  /** Bytes now; `undefined` if the file is not there. */
  sizeOf(name: string): Promise<number | undefined>
  /** Up to `length` bytes of the file as it is now. */
  read(name: string, position: number, length: number): Promise<Buffer>
}

/** Something that happened to the log while it was followed; one sentence for people. */
export interface FollowNotice {
  readonly kind: 'rolled' | 'incomplete' | 'truncated' | 'deleted' | 'damaged'
  readonly file: string
  readonly position: number
  readonly text: string
}

export interface FollowOptions {
  /** The file and position to begin at: the end of what was read already. Default: the end of the newest segment. */
  readonly from?: {readonly file: string; readonly position: number}
  readonly signal: AbortSignal
  /** Pause between two looks; default 250 ms. */
  readonly everyMs?: number
  /** A new segment was begun: before its first batch. */
  readonly segment?: (name: string) => void
  readonly notice?: (notice: FollowNotice) => void
  readonly read?: Pick<ReadOptions, 'maxDecompressedBytes'>
}

/**
 * Gives the visitor the batches that are appended to a log, until the signal fires: waits at an incomplete batch, goes
 * on with the next segment when the log is rolled, and notices when a leader change cuts what was there.
 * Ends (without an error) on the signal, or when the visitor has `enough`.
 */
export declare function follow(folder: GrowingFolder, visitor: LogVisitor, options: FollowOptions): Promise<LogEnd>
