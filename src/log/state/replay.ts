import type {BatchCursor} from '../batch-cursor.js'
import {controlRecord} from '../decode/control.js'
import {decodeMetadataRecord, type MetadataRecord} from '../metadata-records.js'
import type {Finding} from '../finding.js'
import type {LogVisitor} from '../read-log.js'
import type {RecordCursor} from '../record-cursor.js'
import type {RecordsProblem} from '../records-problem.js'
import {findingOf} from '../verify/codes.js'
import {endpointsOf} from './apply-cluster.js'
import {applyRecord, isApplied, transactionRecords} from './apply.js'
import type {Endpoint, MetadataState, Voter} from './state.js'

export type Tell = (finding: Omit<Finding, 'file'>) => void

/** A transaction of the controller that has begun and not ended. */
export interface OpenTransaction {
  readonly name: string | null
  /** Of its BeginTransactionRecord. */
  readonly offset: bigint
  /** Not in the state. */
  readonly records: number
}

interface Pending {
  readonly name: string | null
  readonly offset: bigint
  readonly records: {readonly offset: bigint; readonly record: MetadataRecord}[]
}

/** What leads from one state of the metadata to the next: the records of a log, or of a snapshot. */
abstract class Replay implements LogVisitor {
  protected isControl = false
  #pending: Pending | undefined
  /** Records that changed the state, or had nothing to change. */
  applied = 0

  constructor(
    readonly state: MetadataState,
    protected readonly tell: Tell,
  ) {}

  abstract batch(batch: BatchCursor): boolean
  abstract record(record: RecordCursor): void

  get open(): OpenTransaction | undefined {
    return this.#pending && {...this.#pending, records: this.#pending.records.length}
  }

  protected apply({offset, value}: RecordCursor): void {
    const record = decodeMetadataRecord(value)
    if ('raw' in record) {
      this.tell(findingOf('state-record', {offset, explanation: `The record is not in the state: ${record.reason}.`}))
      return
    }
    if (!isApplied(record.type)) {
      const explanation = `The record is not in the state: what a ${record.type} changes is not known.`
      this.tell(findingOf('state-record', {offset, explanation}))
      return
    }
    if (transactionRecords.has(record.type)) this.#transaction(record, offset)
    else if (this.#pending) this.#pending.records.push({offset, record})
    else this.#change(record, offset)
  }

  #transaction({type, data}: MetadataRecord, offset: bigint): void {
    const pending = this.#pending
    this.applied++
    if (type === 'BeginTransactionRecord') {
      if (pending) this.#conflict(type, offset, `the transaction that began at offset ${pending.offset} has not ended`)
      else this.#pending = {name: data.name as string | null, offset, records: []}
      return
    }
    if (!pending) this.#conflict(type, offset, 'no transaction has begun')
    this.#pending = undefined
    if (type === 'EndTransactionRecord')
      for (const each of pending?.records ?? []) this.#change(each.record, each.offset)
  }

  #change(record: MetadataRecord, offset: bigint): void {
    const problem = applyRecord(this.state, record)
    this.applied++
    if (problem !== undefined) this.#conflict(record.type, offset, problem)
  }

  #conflict(type: string, offset: bigint, problem: string): void {
    this.tell(
      findingOf('state-conflict', {offset, explanation: `The ${type} does not fit the state before it: ${problem}.`}),
    )
  }

  /** KRaft's own records: leaders, voters, versions. Gives the record's name. */
  protected control({offset, key, value}: RecordCursor, only?: string): string {
    const {name, data, problems} = controlRecord(key, value)
    if (only !== undefined && name !== only) return name
    for (const problem of problems) {
      this.tell(findingOf('control-record', {offset, explanation: `${problem}.`}))
    }
    if (data === undefined) return name
    const {quorum} = this.state
    if (name === 'LEADER_CHANGE') {
      quorum.leaderId = data.leaderId as number
      if (quorum.kraftVersion === 0) quorum.voters = votersOf(data.voters as readonly RawVoter[])
    } else if (name === 'KRAFT_VERSION') quorum.kraftVersion = data.kRaftVersion as number
    else if (name === 'KRAFT_VOTERS') quorum.voters = votersOf(data.voters as readonly RawVoter[])
    else if (name === 'SNAPSHOT_HEADER') this.state.timestamp = data.lastContainedLogTimestamp as bigint
    return name
  }
}

interface RawVoter {
  readonly voterId: number
  readonly voterDirectoryId?: string
  readonly endpoints?: readonly Endpoint[]
}

function votersOf(voters: readonly RawVoter[]): readonly Voter[] {
  return voters
    .map(({voterId, voterDirectoryId, endpoints = []}) => ({
      voterId,
      directoryId: voterDirectoryId,
      endpoints: endpointsOf(endpoints),
    }))
    .sort((a, b) => a.voterId - b.voterId)
}

/** Reads a snapshot into a state that is empty. */
export class SnapshotReplay extends Replay {
  #isDamaged = false
  #endsWithFooter = false
  readonly #controlOnly: boolean

  /** `controlOnly`: what the snapshot says of brokers and topics is left out. */
  constructor(state: MetadataState, tell: Tell, {controlOnly}: {readonly controlOnly: boolean}) {
    super(state, tell)
    this.#controlOnly = controlOnly
  }

  batch(batch: BatchCursor): boolean {
    this.isControl = batch.isControl
    this.#endsWithFooter = false
    if (!batch.crcIsRight) {
      this.#isDamaged = true
      return false
    }
    return batch.isControl || !this.#controlOnly
  }

  record(record: RecordCursor): void {
    if (!this.isControl) this.apply(record)
    else this.#endsWithFooter = this.control(record) === 'SNAPSHOT_FOOTER'
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    if (problem !== undefined) this.#isDamaged = true
  }

  damage(): void {
    this.#isDamaged = true
  }

  get isWhole(): boolean {
    return this.#endsWithFooter && !this.#isDamaged
  }
}

/** Reads the log on from a state. Offsets before it are passed over, up to a last one that is asked for. */
export class LogReplay extends Replay {
  readonly #upTo: bigint | undefined
  /** The last offset that was in the state before the log was read. */
  readonly #begin: bigint
  #leaderEpoch = -1
  /** The first offset that is not in the state, as the batch begins. */
  #next = 0n
  /** The records of the batch are in the state already. */
  #isKnown = false
  #passed = false
  /** Offsets of the batch that the last record of the state lies in, if it is not the batch's last one. */
  within: {readonly baseOffset: bigint; readonly lastOffset: bigint} | undefined

  constructor(state: MetadataState, tell: Tell, upTo?: bigint) {
    super(state, tell)
    this.#upTo = upTo
    this.#begin = state.offset
  }

  get enough(): boolean {
    return this.#passed
  }

  batch(batch: BatchCursor): boolean {
    const {baseOffset, lastOffset} = batch
    const next = this.state.offset + 1n
    if (this.#upTo !== undefined && baseOffset > this.#upTo) {
      this.#passed = true
      return false
    }
    this.isControl = batch.isControl
    this.#leaderEpoch = batch.leaderEpoch
    this.#next = next
    this.#isKnown = lastOffset < next
    if (this.#isKnown) {
      // Offsets are not what the CRC is of: after one that is too high the right ones come to lie behind it.
      if (lastOffset > this.#begin) this.#gap(baseOffset, lastOffset, `lie behind offset ${next - 1n} in the log`)
      return batch.isControl && batch.crcIsRight
    }
    if (baseOffset > next) this.#gap(next, baseOffset - 1n, 'are not in the log')
    this.state.epoch = batch.leaderEpoch
    this.state.timestamp = batch.maxTimestamp
    const last = this.#upTo !== undefined && this.#upTo < lastOffset ? this.#upTo : lastOffset
    this.state.offset = last
    this.within = last < lastOffset ? {baseOffset, lastOffset} : undefined
    if (batch.crcIsRight) return true
    this.#gap(baseOffset, lastOffset, 'are in a batch with a false CRC')
    return false
  }

  record(record: RecordCursor): void {
    if (this.#upTo !== undefined && record.offset > this.#upTo) return
    if (!this.isControl) {
      if (record.offset >= this.#next) this.apply(record)
    } else if (this.control(record, this.#isKnown ? 'LEADER_CHANGE' : undefined) === 'LEADER_CHANGE') {
      this.state.quorum.leaderEpoch = this.#leaderEpoch
    }
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    if (problem === undefined || this.#isKnown) return
    const explanation = `Not all records up to offset ${this.state.offset} are in the state: ${problem.reason}.`
    this.tell(findingOf('state-gap', {offset: this.state.offset, explanation}))
  }

  #gap(from: bigint, to: bigint, why: string): void {
    const records = from === to ? `The record at offset ${from} is` : `The records at offsets ${from} to ${to} are`
    this.tell(findingOf('state-gap', {offset: from, explanation: `${records} not in the state: they ${why}.`}))
  }
}
