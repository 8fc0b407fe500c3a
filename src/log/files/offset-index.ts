import type {ByteSource} from '../byte-source.js'
import {type EntriesLayout, type EntriesView, layoutOf, viewOf, written} from './fixed-entries.js'

const bytesPerEntry = 8

/** One entry of an `.index` file (org.apache.kafka.storage.internals.log.OffsetIndex). */
export interface OffsetIndexEntry {
  /** Of the entry among the entries, from 0. */
  readonly index: number
  /** Base offset and relative offset: the last offset of the batch that begins at `position`. */
  readonly offset: bigint
  /** As stored, a signed int32. */
  readonly relativeOffset: number
  /** Of a byte in the log, as stored: a signed int32, negative only in damaged files. */
  readonly position: number
}

export interface OffsetIndex extends EntriesLayout {
  readonly baseOffset: bigint
  /** In pieces, in the order of the file. May be asked for again; the source is then read again. */
  entries(view?: EntriesView): AsyncGenerator<readonly OffsetIndexEntry[], void>
}

/** Opens an `.index` file of any size. Never throws on any bytes; `baseOffset` comes from the name (0 if it has none). */
export async function openOffsetIndex(source: ByteSource, baseOffset: bigint): Promise<OffsetIndex> {
  const layout = await layoutOf(source, bytesPerEntry)
  const decode = (bytes: Buffer, at: number, index: number): OffsetIndexEntry => {
    const relativeOffset = bytes.readInt32BE(at)
    const offset = BigInt.asIntN(64, baseOffset + BigInt(relativeOffset))
    return {index, offset, relativeOffset, position: bytes.readInt32BE(at + 4)}
  }
  return {...layout, baseOffset, entries: viewOf(source, layout, decode)}
}

/** The bytes of an `.index` file. Entries that are more than an int32 away from the base offset throw a RangeError. */
export function writeOffsetIndex(
  entries: Iterable<Pick<OffsetIndexEntry, 'offset' | 'position'>>,
  baseOffset: bigint,
): Buffer {
  return written(entries, bytesPerEntry, (bytes, {offset, position}) => {
    bytes.writeInt32BE(Number(offset - baseOffset), 0)
    bytes.writeInt32BE(position, 4)
  })
}
