import type {KafkaStyle} from '../decode/style.js'
import type {OpenFile} from '../folder.js'
import {escapedString} from './encodings.js'
import type {Dialect} from './field-text.js'
import type {FinalReport} from './final-report.js'
import type {FindingList} from './finding-list.js'
import type {LineWriter} from './line-writer.js'

/** What printing and checking an index needs. */
export interface IndexContext {
  readonly file: OpenFile
  /** The log beside it, if there is one. */
  readonly log: OpenFile | undefined
  readonly baseOffset: bigint
  readonly dialect: Dialect
  readonly style: KafkaStyle
  /** Only the cheap check: one line, no entries. */
  readonly sanityCheckOnly: boolean
  /** Check all, print no entries. */
  readonly verifyOnly: boolean
  /** A batch above it is told; undefined: all sizes are fine. */
  readonly maxMessageSize?: number | undefined
  readonly bugCompatible: boolean
  readonly out: LineWriter
  readonly report: FinalReport
  /** Of the file, for the report. */
  readonly absolutePath: string
  readonly findings: FindingList
}

/** Entries that are checked in one pass over the log; more of them take more passes, and no more memory. */
export const entriesPerPass = 1_048_576

/** The numbers of many entries, in the order of the file. */
export class EntryNumbers {
  /** Offset and position, or timestamp and offset. */
  readonly first: BigInt64Array
  readonly second: BigInt64Array
  length = 0

  constructor(capacity: number) {
    this.first = new BigInt64Array(capacity)
    this.second = new BigInt64Array(capacity)
  }

  add(first: bigint, second: bigint): void {
    this.first[this.length] = first
    this.second[this.length] = second
    this.length++
  }
}

/** The entries' numbers in the order of `values`; entries with the same value stay in the order of the file. */
export function ascending(values: BigInt64Array, length: number): Uint32Array {
  const order = Uint32Array.from({length}, (_, n) => n)
  let sorted = true
  for (let n = 1; n < length && sorted; n++) sorted = (values[n - 1] as bigint) <= (values[n] as bigint)
  if (sorted) return order
  return order.sort((a, b) => {
    const [x, y] = [values[a] as bigint, values[b] as bigint]
    return x < y ? -1 : x > y ? 1 : a - b
  })
}

/** The size is no multiple of an entry's: the rest is no entry. */
export function tellLeftover(
  {findings, file}: Pick<IndexContext, 'findings' | 'file'>,
  layout: {
    readonly bytesPerEntry: number
    readonly leftoverBytes: number
  },
): void {
  if (layout.leftoverBytes === 0) return
  findings.add({
    code: layout.bytesPerEntry === 12 ? 'timeindex-size' : 'index-size',
    severity: 'warning',
    position: file.size - layout.leftoverBytes,
    explanation: `the size ${file.size} is not a multiple of ${layout.bytesPerEntry}: ${layout.leftoverBytes} bytes at the end are no entry`,
  })
}

export function tellNotChecked({findings}: Pick<IndexContext, 'findings'>): void {
  findings.add({
    code: 'not-checked',
    severity: 'info',
    explanation: 'the entries are not checked: the log of this index is missing',
  })
}

/** The path in a line of the dialect. */
export function shownPath({file, dialect}: Pick<IndexContext, 'file' | 'dialect'>): string {
  return dialect === 'kafka' ? file.path : escapedString(file.path)
}
