import type {BatchCursor} from '../batch-cursor.js'
import {type OffsetIndexEntry, openOffsetIndex} from '../files/offset-index.js'
import {type LogVisitor, readLog} from '../read-log.js'
import {readSparsely} from '../read-sparsely.js'
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

const offsetText = constant('offset: ')
const positionText = constant(' position: ')

/**
 * Prints an `.index` file and checks it against the log beside it: each entry names the last offset of the batch that
 * begins at its position. Entries of followers before KAFKA-806 (the position of the first batch of an append, the last
 * offset of its last one) are right too. One pass over the log, whatever the order of the entries.
 */
export async function writeOffsetIndex(context: IndexContext): Promise<void> {
  const {file, out, sanityCheckOnly, verifyOnly, dialect, bugCompatible} = context
  const index = await openOffsetIndex(file, context.baseOffset)
  tellLeftover(context, index)
  const isPhantom = index.entryCount === 0 && !bugCompatible
  if (index.roomForEntries === 0 || (isPhantom && !sanityCheckOnly)) {
    out.text(`${shownPath(context)} is empty.\n`)
    return
  }
  const view = dialect === 'kafka' ? 'kafka' : 'right'
  if (sanityCheckOnly) {
    let last: OffsetIndexEntry | undefined
    for await (const entries of index.entries('right')) last = entries.at(-1)
    const below = last !== undefined && last.offset < context.baseOffset ? last.offset : undefined
    writeSanity(context, below, index.preallocatedFrom !== undefined)
    return
  }
  const check = context.log ? new OffsetIndexCheck(context, index.entryCount) : undefined
  if (!check) tellNotChecked(context)
  for await (const entries of index.entries(view)) {
    for (const {offset, position} of entries) {
      if (!verifyOnly) {
        out.ascii(offsetText)
        out.integer(offset)
        out.ascii(positionText)
        out.number(position)
        out.newline()
      }
      if (check?.add(offset, BigInt(position))) await check.pass()
    }
    if (out.full) await out.drain()
  }
  await check?.pass()
}

/**
 * The line of `--index-sanity-check`; `below`: an offset that is below the base offset. Kafka's tool looks at the end of the
 * file: an index that was not trimmed passes.
 */
function writeSanity(context: IndexContext, below: bigint | undefined, endsInZeros: boolean): void {
  const {file, out, findings, baseOffset, dialect} = context
  if (below !== undefined) {
    const explanation = `the last offset ${below} is below the base offset ${baseOffset}`
    findings.add({code: 'index-offset', severity: 'error', offset: below, explanation})
  }
  const passes = below === undefined || (dialect === 'kafka' && endsInZeros)
  if (passes && file.size % 8 === 0) out.text(`${shownPath(context)} passed sanity check.\n`)
}

class OffsetIndexCheck implements LogVisitor {
  readonly #context: IndexContext
  readonly #entries: EntryNumbers
  readonly #capacity: number
  #previous: {readonly offset: bigint; readonly position: bigint} | undefined
  #order: Uint32Array = new Uint32Array()
  /** Among {@link #order}: the entry with the lowest position that no batch was found for. */
  #next = 0
  /** What is wrong with entries: the last offset at their position, or −1. */
  #wrong = new Map<number, bigint>()
  /** Entries that do not ascend, with what comes before them. */
  readonly #disordered = new Set<number>()
  /** Batches above `--max-message-size`. */
  readonly #large: Parameters<IndexContext['findings']['add']>[0][] = []
  /** Entries with the position of a batch before the one with their offset, by offset. */
  readonly #awaited = new Map<bigint, number[]>()

  constructor(context: IndexContext, entryCount: number) {
    this.#context = context
    // The phantom entry of an empty file is not counted.
    this.#capacity = Math.min(entriesPerPass, Math.max(1, entryCount))
    this.#entries = new EntryNumbers(this.#capacity)
  }

  /** True: no more can be taken before a pass. */
  add(offset: bigint, position: bigint): boolean {
    const previous = this.#previous
    if (previous && (offset <= previous.offset || position <= previous.position)) {
      this.#disordered.add(this.#entries.length)
      this.#context.findings.add({
        code: 'index-order',
        severity: 'error',
        offset,
        explanation: `the entry for offset ${offset} at position ${position} comes behind that for offset ${previous.offset} at position ${previous.position}`,
      })
    }
    this.#previous = {offset, position}
    this.#entries.add(offset, position)
    return this.#entries.length === this.#capacity
  }

  get enough(): boolean {
    return this.#next === this.#order.length && this.#awaited.size === 0
  }

  /** Reads the log and checks all entries that were added since the last pass. */
  async pass(): Promise<void> {
    const {log, report, absolutePath, findings} = this.#context
    const entries = this.#entries
    if (entries.length === 0 || !log) return
    this.#order = ascending(entries.second, entries.length)
    this.#begin()
    if (!(await readSparsely(log, this))) {
      this.#begin()
      await readLog(log, this)
    }
    for (; this.#next < this.#order.length; this.#next++) this.#wrong.set(this.#order[this.#next] as number, -1n)
    for (const [entry, found] of [...this.#wrong].sort(([a], [b]) => a - b)) {
      const [offset, position] = [entries.first[entry] as bigint, entries.second[entry] as bigint]
      report.offsetIndexMismatch(absolutePath, offset, found)
      const explanation =
        found === -1n
          ? `the entry for offset ${offset} names the position ${position}, where no batch begins`
          : `the entry for offset ${offset} names the position ${position}, and the last offset of the batch there is ${found}`
      findings.add({code: found === -1n ? 'index-position' : 'index-offset', severity: 'error', offset, explanation})
    }
    for (const finding of this.#large) findings.add(finding)
    entries.length = 0
    this.#disordered.clear()
  }

  #begin(): void {
    this.#next = 0
    this.#wrong = new Map()
    this.#large.length = 0
    this.#awaited.clear()
  }

  batch(batch: BatchCursor): boolean {
    const {second: positions, first: offsets} = this.#entries
    const at = BigInt(batch.position)
    for (; this.#next < this.#order.length; this.#next++) {
      const entry = this.#order[this.#next] as number
      const position = positions[entry] as bigint
      if (position > at) break
      if (position < at) this.#wrong.set(entry, -1n)
      else this.#compare(entry, offsets[entry] as bigint, batch)
    }
    if (this.#awaited.size > 0) this.#resolve(batch.lastOffset, at)
    return false
  }

  /** No records are asked for. */
  record(): void {}

  #compare(entry: number, offset: bigint, batch: BatchCursor): void {
    const {lastOffset, sizeInBytes} = batch
    const {maxMessageSize, bugCompatible} = this.#context
    if (maxMessageSize !== undefined && sizeInBytes > maxMessageSize) {
      const explanation = `the batch at position ${batch.position} has ${sizeInBytes} bytes, more than --max-message-size`
      this.#large.push({code: 'batch-size', severity: 'info', position: batch.position, explanation})
    }
    if (offset === lastOffset) return
    this.#wrong.set(entry, lastOffset)
    if (offset < lastOffset || bugCompatible || this.#disordered.has(entry)) return
    const waiting = this.#awaited.get(offset)
    if (waiting) waiting.push(entry)
    else this.#awaited.set(offset, [entry])
  }

  /** The append that an entry stands for ends with the batch at this position: the next entry must lie behind it. */
  #resolve(lastOffset: bigint, at: bigint): void {
    const {second: positions, length} = this.#entries
    for (const entry of this.#awaited.get(lastOffset) ?? []) {
      if (entry + 1 >= length || (positions[entry + 1] as bigint) > at) this.#wrong.delete(entry)
    }
    this.#awaited.delete(lastOffset)
  }
}
