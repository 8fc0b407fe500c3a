import {grouped} from '../../util/format.js'
import {openTransactionIndex, type TransactionIndexEntry} from '../files/transaction-index.js'
import type {OpenFile} from '../folder.js'
import type {FindingList} from './finding-list.js'
import type {Aborted} from './transactions.js'

const bytesPerEntry = 34
const entriesAtMost = 500_000

/** What is known of the log, so that a missing entry is told from one that can't be judged. */
export interface TransactionContext {
  /** False: transactions may have begun before what was read, or in damaged bytes. */
  readonly isComplete: boolean
  /** Compaction drops aborted records and with them their entries. */
  readonly isCompacted: boolean
}

/** A `.txnindex` file against the ABORT markers of its segment. */
export class TransactionIndexCheck {
  readonly #list: FindingList
  readonly #file: string
  readonly #entries: readonly TransactionIndexEntry[]
  #next = 0
  /**
   * Entries whose last stable offset is too high. A follower that fetched several batches at once took transactions for
   * open that begin behind the marker: legal if one does begin at that offset.
   */
  readonly #later = new Map<bigint, {readonly entry: TransactionIndexEntry; readonly expected: bigint}[]>()

  private constructor(list: FindingList, file: string, entries: readonly TransactionIndexEntry[]) {
    this.#list = list
    this.#file = file
    this.#entries = entries
  }

  /** Without a file: every aborted transaction is missing in it. */
  static none(path: string, list: FindingList): TransactionIndexCheck {
    return new TransactionIndexCheck(list, path, [])
  }

  static async open(file: OpenFile, baseOffset: bigint, list: FindingList): Promise<TransactionIndexCheck> {
    const index = await openTransactionIndex(file)
    if (index.leftoverBytes > 0) {
      list.add('txnindex-size', {
        file: file.path,
        position: file.size - index.leftoverBytes,
        explanation: `${grouped(file.size)} bytes are not a multiple of ${bytesPerEntry}: ${index.leftoverBytes} are left over`,
      })
    }
    const entries: TransactionIndexEntry[] = []
    for await (const chunk of index.entries('kafka')) {
      for (const entry of chunk) if (entries.length < entriesAtMost) entries.push(entry)
    }
    if (entries.length < index.roomForEntries) {
      const explanation = `of ${grouped(index.roomForEntries)} entries only the first ${grouped(entriesAtMost)} were compared with the log`
      list.add('not-checked', {file: file.path, explanation})
    }
    const check = new TransactionIndexCheck(list, file.path, entries)
    check.#tellOdd(baseOffset)
    return check
  }

  get entries(): number {
    return this.#entries.length
  }

  /** A transaction begins at this offset. */
  begun(offset: bigint): void {
    if (this.#later.size > 0) this.#later.delete(offset)
  }

  /** An ABORT marker; `aborted` is undefined if its producer has no data before it. */
  abort(producerId: bigint, markerOffset: bigint, aborted: Aborted | undefined, context: TransactionContext): void {
    this.#passTo(markerOffset, context)
    const entry = this.#entries[this.#next]
    if (entry?.lastOffset === markerOffset) {
      this.#next++
      this.#compare(entry, producerId, aborted, context)
      return
    }
    if (!aborted || context.isCompacted) return
    this.#list.add('txnindex-missing', {
      file: this.#file,
      offset: markerOffset,
      explanation: `the transaction of producer ${producerId} from offset ${aborted.firstOffset} to its ABORT marker at ${markerOffset} has no entry`,
    })
  }

  finish(context: TransactionContext): void {
    this.#passTo(undefined, context)
    for (const entries of this.#later.values()) {
      for (const {entry, expected} of entries) {
        this.#mismatch(entry, `the last stable offset is ${entry.lastStableOffset}, and should be ${expected}`)
      }
    }
  }

  #compare(
    entry: TransactionIndexEntry,
    producerId: bigint,
    aborted: Aborted | undefined,
    {isComplete, isCompacted}: TransactionContext,
  ): void {
    if (entry.producerId !== producerId) {
      this.#mismatch(entry, `it names producer ${entry.producerId}, and the marker is that of producer ${producerId}`)
      return
    }
    if (!aborted) {
      if (!isComplete || isCompacted) return
      this.#mismatch(entry, `producer ${producerId} has no data before the marker at ${entry.lastOffset}`)
      return
    }
    const {firstOffset, lastStableOffset, isUncertain} = aborted
    const mayBegin = isUncertain || (entry.firstOffset < firstOffset && (!isComplete || isCompacted))
    if (entry.firstOffset !== firstOffset && !mayBegin) {
      this.#mismatch(entry, `it begins at offset ${entry.firstOffset}, and the transaction at ${firstOffset}`)
      return
    }
    if (entry.lastStableOffset === lastStableOffset || isCompacted || !isComplete) return
    if (entry.lastStableOffset < lastStableOffset || lastStableOffset !== aborted.lastOffset + 1n) {
      this.#mismatch(entry, `the last stable offset is ${entry.lastStableOffset}, and should be ${lastStableOffset}`)
      return
    }
    const same = this.#later.get(entry.lastStableOffset) ?? []
    this.#later.set(entry.lastStableOffset, [...same, {entry, expected: lastStableOffset}])
  }

  /** Entries that end before this offset, at which no ABORT marker was. */
  #passTo(markerOffset: bigint | undefined, {isComplete, isCompacted}: TransactionContext): void {
    for (; this.#next < this.#entries.length; this.#next++) {
      const entry = this.#entries[this.#next] as TransactionIndexEntry
      if (markerOffset !== undefined && entry.lastOffset >= markerOffset) return
      this.#list.add('txnindex-extra', {
        file: this.#file,
        position: entry.index * bytesPerEntry,
        offset: entry.lastOffset,
        explanation: `entry ${entry.index} says that producer ${entry.producerId} aborted at offset ${entry.lastOffset}, and no ABORT marker is there`,
        ...(isCompacted || !isComplete ? {severity: 'info' as const} : {}),
      })
    }
  }

  #tellOdd(baseOffset: bigint): void {
    let before: TransactionIndexEntry | undefined
    for (const entry of this.#entries) {
      const at = {file: this.#file, position: entry.index * bytesPerEntry, offset: entry.lastOffset}
      if (entry.version !== 0) {
        const explanation = `entry ${entry.index} has version ${entry.version}; only 0 is known`
        this.#list.add('txnindex-version', {...at, explanation})
      }
      const odd =
        entry.firstOffset > entry.lastOffset
          ? `ends at offset ${entry.lastOffset}, before it begins at ${entry.firstOffset}`
          : entry.lastOffset < baseOffset
            ? `ends at offset ${entry.lastOffset}, below the segment's base offset ${baseOffset}`
            : before && entry.lastOffset <= before.lastOffset
              ? `ends at offset ${entry.lastOffset}, and the one before it at ${before.lastOffset}`
              : undefined
      if (odd) this.#list.add('txnindex-order', {...at, explanation: `entry ${entry.index} ${odd}`})
      before = entry
    }
  }

  #mismatch(entry: TransactionIndexEntry, what: string): void {
    this.#list.add('txnindex-mismatch', {
      file: this.#file,
      position: entry.index * bytesPerEntry,
      offset: entry.lastOffset,
      explanation: `entry ${entry.index}: ${what}`,
    })
  }
}
