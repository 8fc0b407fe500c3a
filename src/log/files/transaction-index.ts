import type {ByteSource} from '../byte-source.js'
import {type EntriesLayout, type EntriesView, entriesOf, layoutOf, written} from './fixed-entries.js'

const bytesPerEntry = 34

/** One entry of a `.txnindex` file (org.apache.kafka.storage.internals.log.AbortedTxn). */
export interface TransactionIndexEntry {
  /** Of the entry among the entries, from 0. */
  readonly index: number
  /** As stored; only 0 is known. */
  readonly version: number
  readonly producerId: bigint
  /** Of the transaction's first record; may lie in an earlier segment. */
  readonly firstOffset: bigint
  /** Of the ABORT marker, which lies in this segment. */
  readonly lastOffset: bigint
  /** First offset of the oldest other transaction that was open then, else `lastOffset` + 1. */
  readonly lastStableOffset: bigint
}

export interface TransactionIndex extends EntriesLayout {
  /**
   * In pieces, in the order of the file. `kafka`: zeros at the end are entries too, as for Kafka's own reader; all
   * versions are given, what is to be made of an unknown one is the caller's matter.
   */
  entries(view?: EntriesView): AsyncGenerator<readonly TransactionIndexEntry[], void>
}

/** Opens a `.txnindex` file of any size. Never throws on any bytes. */
export async function openTransactionIndex(source: ByteSource): Promise<TransactionIndex> {
  const layout = await layoutOf(source, bytesPerEntry)
  const decode = (bytes: Buffer, at: number, index: number): TransactionIndexEntry => ({
    index,
    version: bytes.readInt16BE(at),
    producerId: bytes.readBigInt64BE(at + 2),
    firstOffset: bytes.readBigInt64BE(at + 10),
    lastOffset: bytes.readBigInt64BE(at + 18),
    lastStableOffset: bytes.readBigInt64BE(at + 26),
  })
  return {
    ...layout,
    entries: (view = 'right') =>
      entriesOf(source, {bytesPerEntry, count: view === 'right' ? layout.entryCount : layout.roomForEntries}, decode),
  }
}

/** The bytes of a `.txnindex` file. */
export function writeTransactionIndex(
  entries: Iterable<Omit<TransactionIndexEntry, 'index' | 'version'> & {readonly version?: number}>,
): Buffer {
  return written(entries, bytesPerEntry, (bytes, entry) => {
    bytes.writeInt16BE(entry.version ?? 0, 0)
    bytes.writeBigInt64BE(entry.producerId, 2)
    bytes.writeBigInt64BE(entry.firstOffset, 10)
    bytes.writeBigInt64BE(entry.lastOffset, 18)
    bytes.writeBigInt64BE(entry.lastStableOffset, 26)
  })
}
