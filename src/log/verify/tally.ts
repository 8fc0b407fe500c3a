import type {CodecName} from '../codecs.js'
import type {Facts} from './facts.js'
import type {CodecSummary, LeaderEpochSummary, LogSummary, ProducerSummary, TransactionsSummary} from './report.js'

interface CodecTally {
  batches: number
  records: number
  storedBytes: number
  plainBytes: number
}

/** What the checks know and a tally does not. */
export interface FromChecks {
  readonly producers: readonly ProducerSummary[]
  readonly producerCount: number
  readonly leaderEpochs: readonly LeaderEpochSummary[]
  readonly transactions: TransactionsSummary
  readonly isCompacted: boolean
  readonly missingOffsets: bigint
}

/** Counts what lies in a log or in all segments of a partition. */
export class Tally {
  sizeInBytes = 0
  batches = 0
  records = 0
  controlBatches = 0
  emptyBatches = 0
  damagedBytes = 0
  damagedBatches = 0
  firstOffset: bigint | undefined
  lastOffset: bigint | undefined

  #firstTimestamp: bigint | undefined
  #lastTimestamp: bigint | undefined
  readonly #magics = new Set<number>()
  readonly #codecs = new Map<CodecName, CodecTally>()
  #horizons = 0
  #firstHorizon = 0n
  #lastHorizon = 0n

  batch(facts: Facts): void {
    this.batches++
    this.#magics.add(facts.magic)
    if (facts.isControl) this.controlBatches++
    if (this.firstOffset === undefined || facts.baseOffset < this.firstOffset) this.firstOffset = facts.baseOffset
    if (!facts.crcIsRight) {
      if (this.lastOffset === undefined || facts.baseOffset > this.lastOffset) this.lastOffset = facts.baseOffset
      return
    }
    if (this.lastOffset === undefined || facts.lastOffset > this.lastOffset) this.lastOffset = facts.lastOffset
    if (facts.recordsCount === 0) this.emptyBatches++
    const {maxTimestamp, baseTimestamp} = facts
    if (facts.hasDeleteHorizon) this.#horizon(baseTimestamp)
    else if (baseTimestamp >= 0n && (this.#firstTimestamp === undefined || baseTimestamp < this.#firstTimestamp)) {
      this.#firstTimestamp = baseTimestamp
    }
    if (maxTimestamp >= 0n && (this.#lastTimestamp === undefined || maxTimestamp > this.#lastTimestamp)) {
      this.#lastTimestamp = maxTimestamp
    }
  }

  /** Records that could be read, with their plain size. */
  content(codec: CodecName, records: number, storedBytes: number, plainBytes: number): void {
    this.records += records
    let tally = this.#codecs.get(codec)
    if (!tally) {
      tally = {batches: 0, records: 0, storedBytes: 0, plainBytes: 0}
      this.#codecs.set(codec, tally)
    }
    tally.batches++
    tally.records += records
    tally.storedBytes += storedBytes
    tally.plainBytes += plainBytes
  }

  get lastTimestamp(): bigint | undefined {
    return this.#lastTimestamp
  }

  add(other: Tally): void {
    this.sizeInBytes += other.sizeInBytes
    this.batches += other.batches
    this.records += other.records
    this.controlBatches += other.controlBatches
    this.emptyBatches += other.emptyBatches
    this.damagedBytes += other.damagedBytes
    this.damagedBatches += other.damagedBatches
    this.firstOffset = least(this.firstOffset, other.firstOffset)
    this.lastOffset = greatest(this.lastOffset, other.lastOffset)
    this.#firstTimestamp = least(this.#firstTimestamp, other.#firstTimestamp)
    this.#lastTimestamp = greatest(this.#lastTimestamp, other.#lastTimestamp)
    for (const magic of other.#magics) this.#magics.add(magic)
    for (const [codec, {batches, records, storedBytes, plainBytes}] of other.#codecs) {
      const tally = this.#codecs.get(codec) ?? {batches: 0, records: 0, storedBytes: 0, plainBytes: 0}
      this.#codecs.set(codec, tally)
      tally.batches += batches
      tally.records += records
      tally.storedBytes += storedBytes
      tally.plainBytes += plainBytes
    }
    if (other.#horizons === 0) return
    this.#horizon(other.#firstHorizon)
    this.#horizon(other.#lastHorizon)
    this.#horizons += other.#horizons - 2
  }

  summary(checks: FromChecks): LogSummary {
    const codecs = [...this.#codecs].map(
      ([codec, tally]): CodecSummary => ({
        codec,
        ...tally,
        ratio: tally.storedBytes === 0 ? 1 : tally.plainBytes / tally.storedBytes,
      }),
    )
    return {
      batches: this.batches,
      records: this.records,
      controlBatches: this.controlBatches,
      emptyBatches: this.emptyBatches,
      sizeInBytes: this.sizeInBytes,
      damagedBytes: this.damagedBytes,
      damagedBatches: this.damagedBatches,
      ...(this.firstOffset === undefined ? {} : {firstOffset: this.firstOffset}),
      ...(this.lastOffset === undefined ? {} : {lastOffset: this.lastOffset}),
      ...(this.#firstTimestamp === undefined ? {} : {firstTimestamp: this.#firstTimestamp}),
      ...(this.#lastTimestamp === undefined ? {} : {lastTimestamp: this.#lastTimestamp}),
      magics: [...this.#magics].sort(),
      codecs: codecs.sort((a, b) => b.batches - a.batches),
      ...(this.#horizons === 0
        ? {}
        : {deleteHorizons: {batches: this.#horizons, first: this.#firstHorizon, last: this.#lastHorizon}}),
      ...checks,
    }
  }

  #horizon(time: bigint): void {
    if (this.#horizons === 0 || time < this.#firstHorizon) this.#firstHorizon = time
    if (this.#horizons === 0 || time > this.#lastHorizon) this.#lastHorizon = time
    this.#horizons++
  }
}

function least(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a
}
function greatest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a
}
