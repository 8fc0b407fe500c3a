import {duration, grouped} from '../../util/format.js'
import type {Facts} from './facts.js'
import type {FindingList} from './finding-list.js'
import type {ProducerState, TransactionState} from './producers.js'
import type {AbortedRange, OpenTransaction, TransactionsSummary} from './report.js'

const abortedKept = 1_000
const openTold = 1_000

/** A transaction that has just been aborted, with what the transaction index should say of it. */
export interface Aborted extends AbortedRange {
  /** First offset of the oldest other transaction that was open then, else the marker's offset + 1. */
  readonly lastStableOffset: bigint
  /** Damage lies in it: another one may have ended and this one begun there. */
  readonly isUncertain: boolean
}

/** Transactions from their first data to their marker, over all segments of a partition. */
export class Transactions {
  committed = 0
  aborted = 0
  withoutData = 0
  readonly open = new Map<bigint, TransactionState>()

  readonly #list: FindingList
  readonly #ranges: AbortedRange[] = []
  /** Begun since the last time by a broker's clock. */
  #undated: TransactionState[] = []
  #brokerTime: number | undefined
  #clientTime: number | undefined
  #seen = false
  #damages = 0

  constructor(list: FindingList) {
    this.#list = list
  }

  /** What was open before the first batch, by a snapshot. */
  seed(states: Iterable<ProducerState>): void {
    const open = [...states].filter(({transactionFirstOffset}) => transactionFirstOffset !== undefined)
    open.sort((a, b) => Number((a.transactionFirstOffset as bigint) - (b.transactionFirstOffset as bigint)))
    for (const state of open) {
      this.#begin(state, state.epoch, state.transactionFirstOffset as bigint, state.lastOffset, state.timestamp)
    }
  }

  /** Batches are missing, and markers may be among them. */
  damaged(): void {
    this.#damages++
  }

  /** Any batch: what time it is. Markers and LogAppendTime have the broker's clock, all else the clients'. */
  time(facts: Facts): void {
    const time = Number(facts.maxTimestamp)
    if (time < 0) return
    if (!facts.isLogAppendTime && !facts.isControl) {
      if (this.#clientTime === undefined || time > this.#clientTime) this.#clientTime = time
      return
    }
    if (this.#brokerTime === undefined || time > this.#brokerTime) this.#brokerTime = time
    for (const transaction of this.#undated) transaction.begunBy = time
    this.#undated = []
  }

  /** A batch of data that names its producer. */
  data(state: ProducerState, facts: Facts, file: string): void {
    const transaction = state.transaction
    if (facts.isTransactional) {
      state.isTransactional = true
      if (transaction) {
        transaction.lastOffset = facts.lastOffset
        transaction.timestamp = facts.maxTimestamp
      } else this.#begin(state, facts.producerEpoch, facts.baseOffset, facts.lastOffset, facts.maxTimestamp)
      return
    }
    if (!transaction) return
    this.#list.add('not-transactional', {
      file,
      position: facts.position,
      offset: facts.baseOffset,
      explanation: `producer ${facts.producerId} has had a transaction open since offset ${transaction.firstOffset}, and this batch is not part of it`,
    })
  }

  /** A marker. Returns the transaction if it was aborted and had data. */
  end(state: ProducerState, facts: Facts, isCommit: boolean): Aborted | undefined {
    this.#seen = true
    const {transaction} = state
    state.transaction = undefined
    state.transactionFirstOffset = undefined
    if (!transaction) {
      this.withoutData++
      return undefined
    }
    this.open.delete(state.producerId)
    if (isCommit) {
      this.committed++
      return undefined
    }
    this.aborted++
    const {producerId} = state
    const range = {producerId, firstOffset: transaction.firstOffset, lastOffset: facts.baseOffset}
    if (this.#ranges.length < abortedKept) this.#ranges.push(range)
    const [oldest] = this.open.values()
    const isUncertain = transaction.damagesBefore !== this.#damages
    return {...range, lastStableOffset: oldest?.firstOffset ?? facts.baseOffset + 1n, isUncertain}
  }

  /** Tells what is still open. `file` is the last segment. */
  finish(file: string, hangingAfterMs: number): void {
    let told = 0
    for (const transaction of this.open.values()) {
      if (++told > openTold) break
      this.#tellOpen(transaction, file, hangingAfterMs)
    }
  }

  summary(endOffset: bigint | undefined, hangingAfterMs: number): TransactionsSummary {
    const open = [...this.open.values()].slice(0, openTold).map((transaction): OpenTransaction => {
      const {producer, epoch, firstOffset, lastOffset, timestamp} = transaction
      const age = this.#age(transaction)
      return {
        producerId: producer.producerId,
        producerEpoch: epoch,
        firstOffset,
        lastOffset,
        timestamp,
        ...(age.ms === undefined ? {} : {openForMs: age.ms}),
        isHanging: age.ms !== undefined && age.ms > hangingAfterMs,
      }
    })
    const {committed, aborted, withoutData} = this
    const summary = {committed, aborted, withoutData, open, abortedRanges: this.#ranges}
    if (!this.#seen || endOffset === undefined) return summary
    return {...summary, lastStableOffset: open[0]?.firstOffset ?? endOffset}
  }

  #begin(state: ProducerState, epoch: number, firstOffset: bigint, lastOffset: bigint, timestamp: bigint): void {
    this.#seen = true
    const transaction: TransactionState = {
      producer: state,
      epoch,
      firstOffset,
      lastOffset,
      firstTimestamp: timestamp,
      timestamp,
      begunBy: undefined,
      damagesBefore: this.#damages,
    }
    state.transaction = transaction
    state.transactionFirstOffset = firstOffset
    this.open.set(state.producerId, transaction)
    this.#undated.push(transaction)
  }

  #tellOpen(transaction: TransactionState, file: string, hangingAfterMs: number): void {
    const {producer, epoch, firstOffset, lastOffset} = transaction
    const age = this.#age(transaction)
    const isHanging = age.ms !== undefined && age.ms > hangingAfterMs
    const who = `producer ${producer.producerId} (epoch ${epoch}) has had a transaction open since offset ${firstOffset}, its last data are at ${lastOffset}`
    const howLong = age.ms === undefined ? '' : `; that is ${duration(age.ms)} by the ${age.clock} clock`
    const limit = isHanging ? `, more than ${grouped(hangingAfterMs)} ms` : ''
    const isUncertain = transaction.damagesBefore !== this.#damages
    const maybe = isUncertain ? '; its marker may lie in what is damaged' : ''
    this.#list.add(isHanging ? 'transaction-hanging' : 'transaction-open', {
      file,
      offset: firstOffset,
      explanation: `${who}${howLong}${limit}${maybe}`,
      // Clients stamp their records as they like (old events, for instance), so their clock proves nothing.
      ...(isHanging && (isUncertain || age.clock === "clients'") ? {severity: 'info' as const} : {}),
    })
  }

  /** How long it has been open, at least by a broker's clock; else by what clients say. */
  #age({begunBy, firstTimestamp}: TransactionState): {readonly ms?: number; readonly clock: string} {
    if (begunBy !== undefined && this.#brokerTime !== undefined) {
      return {ms: this.#brokerTime - begunBy, clock: "brokers'"}
    }
    const begun = Number(firstTimestamp)
    if (begun < 0 || this.#clientTime === undefined) return {clock: "clients'"}
    return {ms: Math.max(0, this.#clientTime - begun), clock: "clients'"}
  }
}
