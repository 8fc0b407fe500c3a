import type {BatchCursor} from '../batch-cursor.js'
import {controlRecord} from '../decode/control.js'
import type {RecordDecoder} from '../decode/decoder.js'
import type {OpenFile} from '../folder.js'
import type {Damage, LogVisitor} from '../read-log.js'
import type {RecordCursor} from '../record-cursor.js'
import {grouped} from '../../util/format.js'
import {damageCodes} from './code-of.js'
import {Facts} from './facts.js'
import type {OffsetIndexCheck} from './offset-index-check.js'
import type {TimeIndexCheck} from './time-index-check.js'
import type {SegmentPlace} from './offset-order.js'
import type {PartitionCheck} from './partition-check.js'
import {RecordsCheck} from './records-check.js'
import {type RecoveryTrouble, RecoveryWalk} from './recovery.js'
import type {SnapshotCheck} from './snapshot-check.js'
import {Tally} from './tally.js'
import type {TransactionIndexCheck} from './transaction-index-check.js'
import type {RecordsProblem} from '../records-problem.js'

const decoderProblemsAtMost = 5
/** Of one segment; ids that a double can't tell apart count once. */
const producersCounted = 100_000

/** A segment with what lies beside it. */
export interface SegmentFiles {
  readonly file: OpenFile
  readonly place: SegmentPlace
  /** The last segment of its partition: it may have preallocated space at its end. */
  readonly isActive: boolean
  readonly index?: OffsetIndexCheck | undefined
  readonly timeIndex?: TimeIndexCheck | undefined
  readonly transactionIndex?: TransactionIndexCheck | undefined
  /** Producer snapshots whose offset lies in this segment or at its end, ascending. */
  readonly snapshots: readonly SnapshotCheck[]
}

/** What a KRaft snapshot or a test wants to see of each batch besides the checks of all logs. */
export interface ExtraCheck {
  batch?(facts: Facts): void
  control?(type: number | undefined, facts: Facts): void
  damage?(damage: Damage): void
}

interface PendingDamage {
  readonly damage: Damage
  /** The offset that should have followed. */
  readonly from: bigint | undefined
}

/** Reads one segment for all checks at once, and hands each batch to those that go on from segment to segment. */
export class SegmentCheck implements LogVisitor {
  readonly tally = new Tally()
  readonly facts = new Facts()
  readonly producerIds = new Set<number>()

  readonly #partition: PartitionCheck
  readonly #files: SegmentFiles
  readonly #extra: ExtraCheck | undefined
  readonly #path: string
  readonly #base: bigint | undefined
  readonly #records: RecordsCheck
  readonly #decoder: RecordDecoder | undefined
  #cursor: BatchCursor | undefined
  #damage: PendingDamage | undefined
  #isFirstControl = false
  #forTimes = false
  #snapshot = 0
  #snapshotIsDue = false
  readonly #recovery: RecoveryWalk | undefined

  constructor(partition: PartitionCheck, files: SegmentFiles, decoder?: RecordDecoder, extra?: ExtraCheck) {
    this.#partition = partition
    this.#files = files
    this.#extra = extra
    this.#path = files.file.path
    this.#base = files.place.baseOffset
    this.#recovery = this.#base === undefined || extra ? undefined : new RecoveryWalk(this.#base)
    this.#records = new RecordsCheck(partition.list)
    this.#decoder = decoder
    this.tally.sizeInBytes = files.file.size
  }

  batch(cursor: BatchCursor): boolean {
    this.#cursor = cursor
    const facts = this.facts.take(cursor)
    if (this.#damage) this.#endDamage(facts.baseOffset)
    const {order, epochs, transactions, times} = this.#partition
    order.batch(facts)
    const snapshot = this.#files.snapshots[this.#snapshot]
    this.#snapshotIsDue = snapshot !== undefined && (order.next ?? 0n) >= snapshot.offset
    epochs.batch(facts, this.#path)
    const base = this.#base
    if (base !== undefined) {
      this.#files.index?.batch(facts, base)
      this.#files.timeIndex?.batch(facts, base)
    }
    this.tally.batch(facts)
    this.#extra?.batch?.(facts)
    if (!facts.crcIsRight) {
      this.#falseCrc(cursor)
      return false
    }
    this.#trouble(this.#recovery?.batch(facts))
    if (facts.hasUnknownAttributes || facts.lastOffsetDelta < 0) this.#oddHeader(facts)
    transactions.time(facts)
    times.batch(facts, this.#path)
    if (facts.producerId >= 0n) {
      if (this.producerIds.size < producersCounted) this.producerIds.add(Number(facts.producerId))
      if (!facts.isControl) this.#data(facts)
    }
    this.#isFirstControl = facts.isControl
    this.#forTimes = base !== undefined && (this.#files.timeIndex?.wantsRecords ?? false)
    if (!this.#partition.wantsRecords && !facts.isControl && !this.#forTimes) {
      this.#noteCompaction(facts)
      return false
    }
    this.#records.begin()
    return true
  }

  record(record: RecordCursor): void {
    this.#records.record(record, this.facts.lastOffsetDelta)
    if (this.#forTimes) this.#files.timeIndex?.record(record, this.#base ?? 0n)
    if (this.facts.isControl) this.#control(record)
    else if (this.#decoder) this.#decode(this.#decoder, record)
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    const {facts} = this
    const outcome = this.#records.finish(facts, this.#path, problem, this.#cursor?.remarks ?? [])
    if (this.#forTimes) this.#files.timeIndex?.recordsDone(this.#base ?? 0n, outcome === 'whole')
    const {seen, plainBytes} = this.#records
    const stored = Math.max(0, facts.sizeInBytes - (facts.magic < 2 ? 0 : 61))
    this.tally.content(facts.codec, seen, stored, facts.isCompressed ? plainBytes : stored)
    if (outcome === 'whole') this.#noteCompaction(facts)
    else if (outcome === 'damaged') {
      this.tally.damagedBatches++
      // Of a batch that says it has no records Kafka reads none.
      const isSkipped = facts.magic === 2 && facts.recordsCount === 0
      this.#partition.unreadable(this.#path, facts.position, facts.baseOffset, this.tally, isSkipped)
    }
  }

  damage(damage: Damage): void {
    if (this.#damage) this.#endDamage(undefined)
    this.#damage = {damage, from: this.#partition.order.next}
    this.#files.index?.damage(damage.position, damage.sizeInBytes)
    this.#extra?.damage?.(damage)
    this.#partition.order.damaged()
    const isHarmless = this.#isPreallocated(damage)
    if (isHarmless) return
    this.tally.damagedBytes += damage.sizeInBytes
    this.#files.timeIndex?.damage()
    this.#partition.missing()
    this.#partition.damaged(this.#path, damage, this.tally, this.#files.file.size)
  }

  /** A snapshot is to be compared before the log goes on. */
  get full(): boolean {
    return this.#snapshotIsDue
  }

  async drain(): Promise<void> {
    this.#snapshotIsDue = false
    const {order, producers} = this.#partition
    for (;;) {
      const snapshot = this.#files.snapshots[this.#snapshot]
      if (!snapshot || (order.next ?? 0n) < snapshot.offset) return
      this.#snapshot++
      await snapshot.compare(producers)
    }
  }

  /** After the last batch. */
  async finish(): Promise<void> {
    if (this.#damage) this.#endDamage(undefined)
    this.#trouble(this.#recovery?.end())
    await this.drain()
    for (; this.#snapshot < this.#files.snapshots.length; this.#snapshot++) {
      const snapshot = this.#files.snapshots[this.#snapshot] as SnapshotCheck
      if (this.#files.isActive) await snapshot.beyond(this.#partition.order.next, this.tally.damagedBytes > 0)
      else await snapshot.compare(this.#partition.producers)
    }
  }

  #trouble(trouble: RecoveryTrouble | undefined): void {
    if (trouble) this.#partition.recoveryTrouble(trouble, this.#path, this.tally)
  }

  /** Recovery replays producers, and knows no way on where it can't. */
  #fails(why: string): void {
    const {position, baseOffset: offset} = this.facts
    if (this.#recovery) this.#trouble({how: 'fails', position, offset, why})
  }

  #data(facts: Facts): void {
    const {producers, transactions} = this.#partition
    const state = producers.data(facts, this.#path)
    const hadOne = state.transaction !== undefined
    if (hadOne && !facts.isTransactional) {
      this.#fails(
        `the batch is not transactional, and a transaction of its producer is open (InvalidTxnStateException)`,
      )
    }
    if (facts.isTransactional || hadOne) transactions.data(state, facts, this.#path)
    if (!hadOne && facts.isTransactional) this.#partition.begun(facts.baseOffset)
  }

  #control(record: RecordCursor): void {
    const {facts} = this
    const control = controlRecord(record.key, record.value)
    if (control.problems.length > 0) {
      this.#partition.list.add('control-record', {
        file: this.#path,
        position: facts.position,
        offset: record.offset,
        explanation: control.problems.join('; '),
      })
    }
    this.#extra?.control?.(control.type, facts)
    // Like the broker: only the first record of a control batch is a marker.
    const isFirst = this.#isFirstControl && facts.producerId >= 0n
    const isMarker = isFirst && (control.type === 0 || control.type === 1)
    this.#isFirstControl = false
    const epoch = (control.data as {coordinatorEpoch?: unknown} | undefined)?.coordinatorEpoch
    if (isFirst && facts.recordsCount > 0 && (!isMarker || epoch === undefined)) {
      this.#fails(`the marker there can't be understood (${control.problems[0] ?? `it is a ${control.name}`})`)
    }
    if (!isMarker) return
    const {producers, transactions} = this.#partition
    const before = producers.find(facts.producerId)
    const coordinatorEpoch = typeof epoch === 'number' ? epoch : (before?.coordinatorEpoch ?? -1)
    const state = producers.marker(facts, coordinatorEpoch, record.timestamp, this.#path)
    const isCommit = control.type === 1
    const hadData = state.transaction !== undefined
    const aborted = transactions.end(state, facts, isCommit)
    if (!hadData && producers.isComplete) this.#markerWithoutData(facts, isCommit)
    if (isCommit) return
    this.#files.transactionIndex?.abort(facts.producerId, facts.baseOffset, aborted, {
      isComplete: producers.isComplete,
      isCompacted: this.#partition.isCompacted,
    })
  }

  #markerWithoutData({producerId, position, baseOffset}: Facts, isCommit: boolean): void {
    this.#partition.list.add('marker-without-data', {
      file: this.#path,
      position,
      offset: baseOffset,
      explanation: `producer ${producerId} ends a transaction (${isCommit ? 'COMMIT' : 'ABORT'}) that has no data here`,
    })
  }

  #decode(decoder: RecordDecoder, record: RecordCursor): void {
    const {offset, key, value} = record
    const {problems} = decoder.decode({offset, key, value})
    if (problems.length === 0) return
    const more = problems.length - decoderProblemsAtMost
    const told = problems.slice(0, decoderProblemsAtMost).join('; ')
    this.#partition.list.add('decoder', {
      file: this.#path,
      position: this.facts.position,
      offset,
      explanation: more > 0 ? `${told}; and ${more} more` : told,
    })
  }

  #falseCrc(cursor: BatchCursor): void {
    const {position, baseOffset} = this.facts
    this.#partition.list.add('crc', {
      file: this.#path,
      position,
      offset: baseOffset,
      explanation: `the stored CRC is ${cursor.crc}, that of the ${grouped(this.facts.sizeInBytes)} bytes of the batch is ${cursor.computedCrc}`,
    })
    this.tally.damagedBatches++
    this.#partition.missing()
    this.#partition.falseCrc(this.#path, position, baseOffset, this.tally)
  }

  #oddHeader(facts: Facts): void {
    const at = {file: this.#path, position: facts.position, offset: facts.baseOffset}
    if (facts.hasUnknownAttributes) {
      const explanation = `the attributes are 0x${facts.attributes.toString(16)}; only the lower 7 bits mean something`
      this.#partition.list.add('unknown-attributes', {...at, explanation})
    }
    if (facts.lastOffsetDelta < 0) {
      this.#partition.list.add('offset-delta', {
        ...at,
        explanation: `the last offset delta is ${facts.lastOffsetDelta}`,
      })
    }
  }

  #noteCompaction(facts: Facts): void {
    if (this.#records.isCompacted(facts) || facts.hasDeleteHorizon) {
      this.#partition.compactionSign(facts.hasDeleteHorizon)
    }
  }

  #isPreallocated(damage: Damage): boolean {
    return damage.kind === 'zero-fill' && this.#files.isActive && !this.#partition.wasClosed
  }

  /** Tells the damage, now that the offset behind it is known (or that nothing is). */
  #endDamage(next: bigint | undefined): void {
    const pending = this.#damage
    this.#damage = undefined
    if (!pending) return
    const {damage, from} = pending
    const {kind, position, sizeInBytes, reason} = damage
    const isHarmless = this.#isPreallocated(damage)
    const lost =
      from !== undefined && next !== undefined && next > from ? `; offsets ${from} to ${next - 1n} are in it` : ''
    const offset = damage.baseOffset ?? (isHarmless ? undefined : from)
    this.#partition.list.add(isHarmless ? 'preallocated' : damageCodes[kind], {
      file: this.#path,
      position,
      offset,
      explanation: `${describe(kind, sizeInBytes, damage, reason)}${lost}`,
    })
  }
}

function describe(kind: Damage['kind'], size: number, damage: Damage, reason: string): string {
  const bytes = `${grouped(size)} ${size === 1 ? 'byte' : 'bytes'}`
  if (kind === 'zero-fill') return `zero fill from byte ${damage.position} to the end, ${bytes}`
  if (kind === 'cut-header') return `cut header: ${bytes} at the end are too few for a batch`
  if (kind === 'cut' && damage.expectedBytes !== undefined) {
    const base = damage.baseOffset === undefined ? '' : `, base offset ${damage.baseOffset}`
    return `cut batch: it needs ${damage.expectedBytes} bytes and has ${size}${base}`
  }
  if (kind === 'garbage') return `garbage, ${bytes}: ${reason}`
  return `${reason}; ${bytes} up to the next batch or the end`
}
