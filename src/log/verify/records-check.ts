import {grouped} from '../../util/format.js'
import type {RecordCursor} from '../record-cursor.js'
import type {RecordsProblem} from '../records-problem.js'
import {recordsCodes} from './code-of.js'
import type {Facts} from './facts.js'
import type {FindingList} from './finding-list.js'

const suspiciousRatio = 1_000
const headerBytes = 61
const skippedBatch =
  'The broker does not look. Consumers believe the header and step over the batch without an error: its records are not given to them.'

/** The records of one batch against its header; nothing is allocated per record. */
export class RecordsCheck {
  seen = 0
  plainBytes = 0

  readonly #list: FindingList
  #lastDelta = -1
  #oddDeltas = 0
  #firstOdd = 0
  #badLegacy = 0
  #largest = Number.NEGATIVE_INFINITY
  #isExact = true

  constructor(list: FindingList) {
    this.#list = list
  }

  begin(): void {
    this.seen = 0
    this.plainBytes = 0
    this.#lastDelta = -1
    this.#oddDeltas = 0
    this.#badLegacy = 0
    this.#largest = Number.NEGATIVE_INFINITY
    this.#isExact = true
  }

  record(record: RecordCursor, lastOffsetDelta: number): void {
    this.seen++
    this.plainBytes += record.sizeInBytes
    if (record.isLegacy) {
      if (!record.crcIsRight) this.#badLegacy++
      return
    }
    const delta = record.offsetDelta
    if (delta <= this.#lastDelta || delta > lastOffsetDelta) {
      if (this.#oddDeltas === 0) this.#firstOdd = delta
      this.#oddDeltas++
    }
    this.#lastDelta = delta
    const timestamp = record.timestampNumber
    if (timestamp > this.#largest) this.#largest = timestamp
    else if (Number.isNaN(timestamp)) this.#isExact = false
  }

  /** Whether compaction has taken records out of the batch; only sure if all records were read. */
  isCompacted(facts: Facts): boolean {
    return facts.magic >= 2 && facts.lastOffsetDelta >= 0 && facts.recordsCount < facts.lastOffsetDelta + 1
  }

  /** After the records. `unchecked`: they were not all looked at, which is no damage. */
  finish(
    facts: Facts,
    file: string,
    problem: RecordsProblem | undefined,
    remarks: readonly string[],
  ): 'whole' | 'damaged' | 'unchecked' {
    const at = {file, position: facts.position, offset: facts.baseOffset}
    if (this.#badLegacy > 0) {
      const explanation = `the stored CRC of ${grouped(this.#badLegacy)} of the ${grouped(this.seen)} messages is not that of their bytes`
      this.#list.add('crc', {...at, explanation})
    }
    if (this.#oddDeltas > 0) {
      const explanation = `${grouped(this.#oddDeltas)} of ${grouped(this.seen)} offset deltas do not ascend from 0 to ${facts.lastOffsetDelta}; the first of them is ${this.#firstOdd}`
      this.#list.add('offset-delta', {...at, explanation})
    }
    for (const remark of remarks) {
      const isVersion = /\bversion\b/i.test(remark)
      this.#list.add('codec', {...at, explanation: remark, ...(isVersion ? {severity: 'info' as const} : {})})
    }
    if (problem !== undefined) {
      const code = recordsCodes[problem.kind]
      const isSkipped = facts.magic === 2 && facts.recordsCount === 0
      this.#list.add(code, {...at, explanation: problem.reason, ...(isSkipped ? {consequence: skippedBatch} : {})})
      return problem.kind === 'too-large' ? 'unchecked' : 'damaged'
    }
    this.#checkTimestamp(facts, at)
    const stored = facts.sizeInBytes - headerBytes
    if (facts.isCompressed && stored > 0 && this.plainBytes > suspiciousRatio * stored) {
      const explanation = `${grouped(stored)} bytes become ${grouped(this.plainBytes)} when they are uncompressed`
      this.#list.add('compression-ratio', {...at, explanation})
    }
    return 'whole'
  }

  #checkTimestamp(facts: Facts, at: {file: string; position: number; offset: bigint}): void {
    if (facts.isLogAppendTime || facts.magic < 2 || this.seen === 0 || !this.#isExact) return
    const stated = Number(facts.maxTimestamp)
    if (stated === this.#largest || !Number.isSafeInteger(stated)) return
    // Compaction keeps the header's timestamp when it takes the record that had it.
    if (stated > this.#largest && this.isCompacted(facts)) return
    const explanation = `the header says ${facts.maxTimestamp}, and the largest timestamp of the records is ${this.#largest}`
    this.#list.add('max-timestamp', {...at, explanation})
  }
}
