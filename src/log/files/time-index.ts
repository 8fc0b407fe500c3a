import type {ByteSource} from '../byte-source.js'
import {type EntriesLayout, type EntriesView, layoutOf, viewOf, written} from './fixed-entries.js'

const bytesPerEntry = 12

/** One entry of a `.timeindex` file (org.apache.kafka.storage.internals.log.TimeIndex). */
export interface TimeIndexEntry {
  /** Of the entry among the entries, from 0. */
  readonly index: number
  /** The largest timestamp of the segment so far, in ms. */
  readonly timestamp: bigint
  /** Base offset and relative offset: the last offset of the batch that holds that timestamp. */
  readonly offset: bigint
  /** As stored, a signed int32. */
  readonly relativeOffset: number
}

export interface TimeIndex extends EntriesLayout {
  readonly baseOffset: bigint
  /** In pieces, in the order of the file. May be asked for again; the source is then read again. */
  entries(view?: EntriesView): AsyncGenerator<readonly TimeIndexEntry[], void>
}

/** Opens a `.timeindex` file of any size. Never throws on any bytes; `baseOffset` comes from the name (0 if it has none). */
export async function openTimeIndex(source: ByteSource, baseOffset: bigint): Promise<TimeIndex> {
  const layout = await layoutOf(source, bytesPerEntry)
  const decode = (bytes: Buffer, at: number, index: number): TimeIndexEntry => {
    const relativeOffset = bytes.readInt32BE(at + 8)
    const offset = BigInt.asIntN(64, baseOffset + BigInt(relativeOffset))
    return {index, timestamp: bytes.readBigInt64BE(at), offset, relativeOffset}
  }
  return {...layout, baseOffset, entries: viewOf(source, layout, decode)}
}

/** The bytes of a `.timeindex` file. Entries that are more than an int32 away from the base offset throw a RangeError. */
export function writeTimeIndex(
  entries: Iterable<Pick<TimeIndexEntry, 'timestamp' | 'offset'>>,
  baseOffset: bigint,
): Buffer {
  return written(entries, bytesPerEntry, (bytes, {timestamp, offset}) => {
    bytes.writeBigInt64BE(timestamp, 0)
    bytes.writeInt32BE(Number(offset - baseOffset), 8)
  })
}
