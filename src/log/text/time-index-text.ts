import type {BatchCursor} from '../batch-cursor.js'
import {openTimeIndex, type TimeIndex, type TimeIndexEntry} from '../files/time-index.js'
import type {FindingCode} from '../verify/codes.js'
import {type LogVisitor, readLog} from '../read-log.js'
import {readSparsely} from '../read-sparsely.js'
import type {RecordCursor} from '../record-cursor.js'
import {
  ascending,
  EntryNumbers,
  entriesPerPass,
  type IndexContext,
  shownPath,
  tellLeftover,
  tellNotChecked,
} from './index-context.js'
import {constant} from './line-writer.js'
import type {RecordsProblem} from '../records-problem.js'

const timestampText = constant('timestamp: ')
const offsetText = constant(' offset: ')
const noTimestamp = -1n

/**
 * Prints a `.timeindex` file and checks it against the log beside it: each entry names the last offset of a batch, and the
 * largest timestamp of its records; timestamps ascend. One pass over the log: entries and batches are both in the order of
 * their offsets. The offset index is not needed.
 */
export async function writeTimeIndex(context: IndexContext): Promise<void> {
  const {file, out, sanityCheckOnly, verifyOnly, dialect, bugCompatible} = context
  const index = await openTimeIndex(file, context.baseOffset)
  tellLeftover(context, index)
  if (sanityCheckOnly) return writeSanity(context, index)
  if (index.entryCount === 0 && !bugCompatible) return
  const check = context.log ? new TimeIndexCheck(context, index.entryCount) : undefined
  if (!check) tellNotChecked(context)
  for await (const entries of index.entries(dialect === 'kafka' ? 'kafka' : 'right')) {
    for (const {timestamp, offset} of entries) {
      if (!verifyOnly) {
        out.ascii(timestampText)
        out.integer(timestamp)
        out.ascii(offsetText)
        out.integer(offset)
        out.newline()
      }
      if (check?.add(timestamp, offset)) await check.pass()
    }
    if (out.full) await out.drain()
  }
  await check?.pass()
}

/** TimeIndex.sanityCheck, over the entries that were written: zeros of preallocated space are none. */
async function writeSanity(context: IndexContext, index: TimeIndex): Promise<void> {
  const {out, findings, baseOffset} = context
  let first: TimeIndexEntry | undefined
  let last: TimeIndexEntry | undefined
  for await (const entries of index.entries('right')) {
    first ??= entries[0]
    last = entries.at(-1)
  }
  const tell = (code: FindingCode, explanation: string, offset: bigint): void => {
    findings.add({code, severity: 'error', offset, explanation})
  }
  if (first && last && last.timestamp < first.timestamp) {
    tell('timeindex-order', `the last timestamp ${last.timestamp} is below the first, ${first.timestamp}`, last.offset)
  } else if (last && last.offset < baseOffset) {
    tell('timeindex-offset', `the last offset ${last.offset} is below the base offset ${baseOffset}`, last.offset)
  } else if (index.leftoverBytes === 0) out.text(`${shownPath(context)} passed sanity check.\n`)
}

/** What was found for an entry. */
const none = 0
const exact = 1
/** The batch has no records, or they can't be read: no timestamp to compare with. */
const incomparable = 2

class TimeIndexCheck implements LogVisitor {
  readonly #context: IndexContext
  /** Timestamps and offsets. */
  readonly #entries: EntryNumbers
  readonly #capacity: number
  readonly #outcome: Uint8Array
  /** The largest timestamp of the batch where the outcome is exact, else the last offset of the batch, or −1. */
  readonly #found: BigInt64Array
  #order: Uint32Array = new Uint32Array()
  #next = 0
  #lastOffset: bigint | undefined
  #previousTimestamp = noTimestamp

  // Of the batch whose records are being visited.
  #isVisiting = false
  #firstOfBatch = 0
  #isEmpty = false
  #largest = Number.NEGATIVE_INFINITY
  #largestExact = noTimestamp

  constructor(context: IndexContext, entryCount: number) {
    this.#context = context
    // The phantom entry of an empty file is not counted.
    this.#capacity = Math.min(entriesPerPass, Math.max(1, entryCount))
    this.#entries = new EntryNumbers(this.#capacity)
    this.#outcome = new Uint8Array(this.#capacity)
    this.#found = new BigInt64Array(this.#capacity)
  }

  /** True: no more can be taken before a pass. */
  add(timestamp: bigint, offset: bigint): boolean {
    this.#entries.add(timestamp, offset)
    return this.#entries.length === this.#capacity
  }

  get enough(): boolean {
    return this.#next === this.#order.length && !this.#isVisiting
  }

  /** Reads the log and checks all entries that were added since the last pass. */
  async pass(): Promise<void> {
    const {log} = this.#context
    const {length} = this.#entries
    if (length === 0 || !log) return
    this.#order = ascending(this.#entries.second, length)
    this.#begin(length)
    if (!(await readSparsely(log, this))) {
      this.#begin(length)
      await readLog(log, this)
    }
    for (let entry = 0; entry < length; entry++) this.#judge(entry)
    this.#entries.length = 0
  }

  #begin(length: number): void {
    this.#next = 0
    this.#lastOffset = undefined
    this.#isVisiting = false
    this.#outcome.fill(none, 0, length)
    this.#found.fill(-1n, 0, length)
  }

  batch(batch: BatchCursor): boolean {
    const {lastOffset} = batch
    if (this.#lastOffset !== undefined && lastOffset <= this.#lastOffset) return false
    this.#lastOffset = lastOffset
    const offsets = this.#entries.second
    for (; this.#next < this.#order.length; this.#next++) {
      const entry = this.#order[this.#next] as number
      const offset = offsets[entry] as bigint
      if (offset >= lastOffset) break
      this.#found[entry] = lastOffset
    }
    this.#firstOfBatch = this.#next
    for (; this.#next < this.#order.length; this.#next++) {
      const entry = this.#order[this.#next] as number
      if (offsets[entry] !== lastOffset) break
      this.#outcome[entry] = exact
      this.#found[entry] = noTimestamp
    }
    this.#isEmpty = batch.recordsCount === 0
    this.#largest = Number.NEGATIVE_INFINITY
    this.#largestExact = noTimestamp
    this.#isVisiting = this.#firstOfBatch < this.#next
    return this.#isVisiting
  }

  record(record: RecordCursor): void {
    const timestamp = record.timestampNumber
    if (timestamp > this.#largest) this.#largest = timestamp
    else if (Number.isNaN(timestamp) && record.timestamp > this.#largestExact) this.#largestExact = record.timestamp
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    const numeric = this.#largest === Number.NEGATIVE_INFINITY ? noTimestamp : BigInt(this.#largest)
    const largest = numeric > this.#largestExact ? numeric : this.#largestExact
    this.#isVisiting = false
    const comparable = problem === undefined && (!this.#isEmpty || this.#context.bugCompatible)
    for (let n = this.#firstOfBatch; n < this.#next; n++) {
      const entry = this.#order[n] as number
      this.#found[entry] = largest
      if (!comparable) this.#outcome[entry] = incomparable
    }
  }

  /** In the order of the file, and by the rules of DumpLogSegments.dumpTimeIndex. */
  #judge(entry: number): void {
    const {report, absolutePath} = this.#context
    const timestamp = this.#entries.first[entry] as bigint
    const offset = this.#entries.second[entry] as bigint
    const found = this.#found[entry] as bigint
    const previous = this.#previousTimestamp
    this.#previousTimestamp = timestamp
    if (this.#outcome[entry] === none) {
      report.indexedOffsetNotFound(absolutePath, offset, found)
      const there = found === -1n ? 'the log ends before it' : `the batch that holds it ends with offset ${found}`
      this.#tell('timeindex-offset', offset, `the entry's offset ${offset} is not the last one of a batch: ${there}`)
      return
    }
    if (this.#outcome[entry] === exact && found !== timestamp) {
      report.timestampMismatch(absolutePath, timestamp, found)
      this.#tell(
        'timeindex-timestamp',
        offset,
        `the entry for offset ${offset} has the timestamp ${timestamp}, and the largest in the batch is ${found}`,
      )
    }
    if (previous < timestamp) return
    report.timestampOutOfOrder(absolutePath, timestamp, previous)
    this.#tell('timeindex-order', offset, `the timestamp ${timestamp} comes behind ${previous}`, previous === timestamp)
  }

  #tell(code: FindingCode, offset: bigint, explanation: string, isLegal = false): void {
    this.#context.findings.add({code, severity: isLegal ? 'info' : 'error', offset, explanation})
  }
}
