import {grouped} from '../../util/format.js'
import type {OpenFile} from '../folder.js'
import type {FindingList} from './finding-list.js'

/** Entries that are held at once; an index of a full segment of 1 GiB has 262,144. What lies beyond is not compared. */
export const entriesAtMost = 4_000_000

/** Number of offsets between them. */
export function relativeTo(base: bigint, offset: bigint): number {
  return Number(offset - base)
}

/** The indices of the values in ascending order; equal ones in the order of the file. */
export function byValue(values: Int32Array): Uint32Array {
  const order = Uint32Array.from(values.keys())
  for (let n = 1; n < values.length; n++) {
    if ((values[n] as number) >= (values[n - 1] as number)) continue
    return order.sort((a, b) => (values[a] as number) - (values[b] as number) || a - b)
  }
  return order
}

/** The size is no multiple of an entry's. */
export function tellSize(
  list: FindingList,
  code: 'index-size' | 'timeindex-size',
  {path, size}: OpenFile,
  bytesPerEntry: number,
  leftover: number,
): void {
  list.add(code, {
    file: path,
    position: size - leftover,
    explanation: `${grouped(size)} bytes are not a multiple of ${bytesPerEntry}: ${leftover} are left over`,
  })
}

/** More entries than are held. */
export function tellTooMany(list: FindingList, {path}: OpenFile, entries: number): void {
  list.add('not-checked', {
    file: path,
    explanation: `of ${grouped(entries)} entries only the first ${grouped(entriesAtMost)} were compared with the log`,
  })
}
