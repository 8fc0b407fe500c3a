import type {ProducerEntry} from '../files/producer-snapshot.js'
import {grouped} from '../../util/format.js'
import type {Facts} from './facts.js'
import type {FindingList} from './finding-list.js'
import type {ProducerSummary} from './report.js'

const maxSequence = 0x7fff_ffff
/** Beyond it the producer that has been there longest without an open transaction is forgotten, so that memory is bounded. */
export const producersAtMost = 250_000

/** The 64-bit numbers of all producers that change with each batch: as objects of their own they would fill the heap. */
class Columns {
  #used = 0
  readonly #free: number[] = []
  lastOffset = new BigInt64Array(64)
  timestamp = new BigInt64Array(64)
  changedAt = new BigInt64Array(64)

  take(): number {
    const slot = this.#free.pop() ?? this.#used++
    if (slot < this.lastOffset.length) return slot
    this.lastOffset = twice(this.lastOffset)
    this.timestamp = twice(this.timestamp)
    this.changedAt = twice(this.changedAt)
    return slot
  }

  give(slot: number): void {
    this.#free.push(slot)
  }
}

function twice(column: BigInt64Array<ArrayBuffer>): BigInt64Array<ArrayBuffer> {
  const larger = new BigInt64Array(column.length * 2)
  larger.set(column)
  return larger
}

/** What the log says of a producer so far; the broker's ProducerStateEntry, and what the overview needs. */
export class ProducerState {
  /** −1: none since the epoch changed. */
  lastSequence = -1
  offsetDelta = 0
  coordinatorEpoch = -1
  transactionFirstOffset: bigint | undefined = undefined
  batches = 0
  records = 0
  isTransactional = false
  transaction: TransactionState | undefined = undefined

  readonly #columns: Columns
  readonly slot: number

  constructor(
    columns: Columns,
    readonly producerId: bigint,
    public epoch: number,
    readonly firstOffset: bigint,
    /**
     * The number of damaged places before its newest batch: as long as there are no more, nothing of it is missing. −1:
     * what was before the log's beginning is not known, so that any sequence may follow.
     */
    public knownAt: number,
    /** False: markers before the log's beginning are not known. */
    public coordinatorIsKnown: boolean,
    readonly firstEpoch = epoch,
  ) {
    this.#columns = columns
    this.slot = columns.take()
    this.lastOffset = -1n
    this.timestamp = -1n
    this.changedAt = firstOffset
  }

  get lastOffset(): bigint {
    return this.#columns.lastOffset[this.slot] as bigint
  }
  set lastOffset(offset: bigint) {
    this.#columns.lastOffset[this.slot] = offset
  }

  get timestamp(): bigint {
    return this.#columns.timestamp[this.slot] as bigint
  }
  set timestamp(timestamp: bigint) {
    this.#columns.timestamp[this.slot] = timestamp
  }

  /** Of the last batch or marker that changed this. */
  get changedAt(): bigint {
    return this.#columns.changedAt[this.slot] as bigint
  }
  set changedAt(offset: bigint) {
    this.#columns.changedAt[this.slot] = offset
  }
}

/** A transaction that is open. */
export interface TransactionState {
  readonly producer: ProducerState
  readonly epoch: number
  readonly firstOffset: bigint
  lastOffset: bigint
  /** Largest of its first and of its newest batch, by the client's clock. */
  readonly firstTimestamp: bigint
  timestamp: bigint
  /** The first time by a broker's clock that stands behind its beginning in the log: it had begun by then. */
  begunBy: number | undefined
  /** How many places were damaged before it began. */
  readonly damagesBefore: number
}

/** Producers as the broker's ProducerStateManager would know them after the batches so far; with checks of each batch. */
export class Producers {
  readonly #states = new Map<number | bigint, ProducerState>()
  forgotten = 0

  readonly #list: FindingList
  readonly #columns = new Columns()
  /** False: what was before the first batch of the log is not known. */
  #isComplete: boolean
  #last: ProducerState | undefined
  /** The last producer that was looked up was not there before. */
  #isNew = false
  /** Compaction and damage let sequences be missing; going back is wrong all the same. */
  #gapsKept: {file: string; position: number; offset: bigint; explanation: string}[] = []
  #gaps = 0
  #damages = 0

  constructor(list: FindingList, isComplete: boolean) {
    this.#list = list
    this.#isComplete = isComplete
  }

  /** All that are remembered. */
  all(): Iterable<ProducerState> {
    return this.#states.values()
  }

  get count(): number {
    return this.#states.size + this.forgotten
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Takes over what a snapshot says, which is all that came before. */
  seed(entries: readonly ProducerEntry[], offset: bigint): void {
    for (const entry of entries) {
      const state = this.#make(entry.producerId, entry.producerEpoch, offset - 1n)
      state.lastSequence = entry.lastOffset < 0n ? -1 : entry.lastSequence
      state.lastOffset = entry.lastOffset
      state.offsetDelta = entry.offsetDelta
      state.timestamp = entry.timestamp
      state.coordinatorEpoch = entry.coordinatorEpoch
      state.transactionFirstOffset = entry.currentTxnFirstOffset ?? undefined
      state.knownAt = 0
      state.coordinatorIsKnown = true
    }
    this.#isComplete = true
  }

  /** Batches are missing: nobody's next sequence is known. */
  damaged(): void {
    this.#isComplete = false
    this.#damages++
  }

  /** Whether nothing of the producer can be missing since its newest batch. */
  isKnown(state: ProducerState): boolean {
    return state.knownAt === this.#damages
  }

  find(producerId: bigint): ProducerState | undefined {
    return this.#last?.producerId === producerId ? this.#last : this.#states.get(keyOf(producerId))
  }

  /** The state of the batch's producer, made if it is new. */
  #of({producerId, producerEpoch, baseOffset}: Facts): ProducerState {
    this.#isNew = false
    if (this.#last?.producerId === producerId) return this.#last
    const known = this.#states.get(keyOf(producerId))
    this.#isNew = known === undefined
    this.#last = known ?? this.#make(producerId, producerEpoch, baseOffset)
    return this.#last
  }

  /** A batch of data that names its producer. */
  data(facts: Facts, file: string): ProducerState {
    const state = this.#of(facts)
    const isNew = this.#isNew
    if (!isNew) this.#checkEpoch(state, facts, file)
    if (facts.baseSequence >= 0) this.#checkSequence(state, facts, file, isNew)
    if (state.epoch !== facts.producerEpoch) state.epoch = facts.producerEpoch
    state.lastSequence = facts.baseSequence < 0 ? -1 : incremented(facts.baseSequence, facts.lastOffsetDelta)
    state.knownAt = this.#damages
    state.lastOffset = facts.lastOffset
    state.offsetDelta = facts.lastOffsetDelta
    state.timestamp = facts.maxTimestamp
    state.changedAt = facts.lastOffset
    state.batches++
    state.records += Math.max(facts.recordsCount, 0)
    return state
  }

  /** A marker, as ProducerStateEntry.update takes it. */
  marker(facts: Facts, coordinatorEpoch: number, timestamp: bigint, file: string): ProducerState {
    const state = this.#of(facts)
    const isNew = this.#isNew
    if (!isNew) this.#checkEpoch(state, facts, file)
    if (!isNew && state.coordinatorEpoch > coordinatorEpoch) {
      this.#list.add('coordinator-epoch-falls', {
        file,
        position: facts.position,
        offset: facts.baseOffset,
        explanation: `producer ${facts.producerId}: the coordinator epoch falls from ${state.coordinatorEpoch} to ${coordinatorEpoch}`,
      })
    }
    if (state.epoch !== facts.producerEpoch) {
      state.epoch = facts.producerEpoch
      state.lastSequence = -1
      state.lastOffset = -1n
      state.offsetDelta = 0
    }
    state.coordinatorEpoch = coordinatorEpoch
    state.coordinatorIsKnown = true
    state.timestamp = timestamp
    state.changedAt = facts.lastOffset
    state.isTransactional = true
    return state
  }

  /** Tells missing sequences, unless the topic is compacted. */
  finish(isCompacted: boolean): void {
    if (isCompacted) return
    for (const gap of this.#gapsKept) this.#list.add('sequence-gap', gap)
    if (this.#gaps > this.#gapsKept.length) {
      this.#list.more('sequence-gap', 'warning', this.#gaps - this.#gapsKept.length)
    }
  }

  /** Those that wrote most. */
  summary(atMost: number): ProducerSummary[] {
    return [...this.#states.values()]
      .filter(({batches, transaction, isTransactional}) => batches > 0 || transaction !== undefined || isTransactional)
      .sort((a, b) => b.records - a.records)
      .slice(0, atMost)
      .map(state => ({
        producerId: state.producerId,
        firstEpoch: state.firstEpoch,
        lastEpoch: state.epoch,
        batches: state.batches,
        records: state.records,
        firstOffset: state.firstOffset,
        lastOffset: state.changedAt,
        isTransactional: state.isTransactional,
      }))
  }

  #make(producerId: bigint, epoch: number, offset: bigint): ProducerState {
    if (this.#states.size >= producersAtMost) this.#forgetOldest()
    const knownAt = this.#isComplete ? this.#damages : -1
    const state = new ProducerState(this.#columns, producerId, epoch, offset, knownAt, this.#isComplete)
    this.#states.set(keyOf(producerId), state)
    return state
  }

  /** The one that has been there longest, if possible one without an open transaction. */
  #forgetOldest(): void {
    let oldest: ProducerState | undefined
    let looked = 0
    for (const state of this.#states.values()) {
      oldest ??= state
      if (state.transactionFirstOffset === undefined) oldest = state
      if (oldest.transactionFirstOffset === undefined || ++looked === 100) break
    }
    if (oldest) {
      this.#states.delete(keyOf(oldest.producerId))
      this.#columns.give(oldest.slot)
    }
    this.#last = undefined
    this.forgotten++
    this.#isComplete = false
  }

  #checkEpoch(state: ProducerState, {producerId, producerEpoch, position, baseOffset}: Facts, file: string): void {
    if (producerEpoch >= state.epoch) return
    this.#list.add('producer-epoch-falls', {
      file,
      position,
      offset: baseOffset,
      explanation: `the epoch of producer ${producerId} falls from ${state.epoch} to ${producerEpoch}`,
    })
  }

  #checkSequence(state: ProducerState, facts: Facts, file: string, isNew: boolean): void {
    const {producerId, producerEpoch, baseSequence, position, baseOffset} = facts
    const isSameEpoch = state.epoch === producerEpoch
    // The first batch of a producer may have any sequence: the broker forgets producers, and so does retention.
    if (isNew || !this.isKnown(state) || (isSameEpoch && state.lastSequence < 0 && state.batches === 0)) return
    const expected = isSameEpoch && state.lastSequence >= 0 ? incremented(state.lastSequence, 1) : 0
    if (baseSequence === expected || (!isSameEpoch && producerEpoch < state.epoch)) return
    const at = {file, position, offset: baseOffset}
    const ahead = (baseSequence - expected + maxSequence + 1) % (maxSequence + 1)
    if (ahead <= maxSequence / 2) {
      this.#gaps++
      const explanation = isSameEpoch
        ? `producer ${producerId} (epoch ${producerEpoch}): sequence ${state.lastSequence} is followed by ${baseSequence}: ${grouped(ahead)} missing`
        : `producer ${producerId}: epoch ${producerEpoch} begins with sequence ${baseSequence} instead of 0`
      if (this.#gapsKept.length < this.#list.keptPerCode) this.#gapsKept.push({...at, explanation})
      return
    }
    const last = incremented(baseSequence, facts.lastOffsetDelta)
    const isSame = last === state.lastSequence && facts.lastOffsetDelta === state.offsetDelta
    this.#list.add(isSame ? 'sequence-duplicate' : 'sequence-regress', {
      ...at,
      explanation: isSame
        ? `producer ${producerId} (epoch ${producerEpoch}): sequences ${baseSequence} to ${last} are there twice, at offset ${state.lastOffset - BigInt(state.offsetDelta)} first`
        : `producer ${producerId} (epoch ${producerEpoch}): sequence ${state.lastSequence} is followed by ${baseSequence}, which is not above it`,
    })
  }
}

/** DefaultRecordBatch.incrementSequence: after 2^31 − 1 comes 0. */
function incremented(sequence: number, by: number): number {
  const next = sequence + by
  return next > maxSequence ? next - maxSequence - 1 : next
}

/** Maps find numbers much faster than bigints. */
function keyOf(producerId: bigint): number | bigint {
  const number = Number(producerId)
  return Number.isSafeInteger(number) ? number : producerId
}
