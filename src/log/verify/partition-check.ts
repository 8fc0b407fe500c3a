import {decoderNamed, decoderOfTopic, type RecordDecoder} from '../decode/decoder.js'
import type {EpochEntry} from '../files/checkpoints.js'
import {type Damage, readLog} from '../read-log.js'
import {EpochCheck} from './epochs.js'
import type {FindingList} from './finding-list.js'
import type {OffsetIndexCheck} from './offset-index-check.js'
import {OffsetOrder} from './offset-order.js'
import {Producers} from './producers.js'
import type {LogSummary, VerifyOptions} from './report.js'
import {type ExtraCheck, SegmentCheck, type SegmentFiles} from './segment-check.js'
import {consumerFails, type RecoveryTrouble, walkSees} from './recovery.js'
import type {SnapshotCheck} from './snapshot-check.js'
import {Tally} from './tally.js'
import type {TransactionIndexCheck} from './transaction-index-check.js'
import {Times} from './times.js'
import {Transactions} from './transactions.js'

/** transaction.max.timeout.ms. */
export const defaultHangingAfterMs = 900_000
const producersTold = 1_000
/** Topics that Kafka itself makes, with cleanup.policy=compact. */
const compactedTopics = ['__consumer_offsets', '__transaction_state']

/** A place where something is wrong, with what was there before it. */
export interface DamagedPlace {
  readonly file: string
  readonly position: number
  /** The offset that should be there. */
  readonly offset: bigint | undefined
  readonly batchesBefore: number
  readonly recordsBefore: number
  /** It reaches to the end of its file. */
  readonly isEnd: boolean
}

/** Where the broker's recovery ends: it cuts there, empties the whole segment, or fails so that the broker does not start. */
export interface RecoveryEnd extends DamagedPlace {
  readonly how: 'cuts' | RecoveryTrouble['how']
  readonly why?: string
}

/**
 * What keeps a broker that was stopped in order from finding the log's end in its last segment (LogSegment.readNextOffset).
 * `fails`: it does not start; `hidden`: it takes the segment's base offset for the end.
 */
export interface StartTrouble {
  readonly how: 'fails' | 'hidden'
  readonly file: string
  /** Where it looks from, and the offset it looks for. */
  readonly from: number
  readonly offset: bigint
  /** `fails`: of what it meets. */
  readonly position: number
}

export interface PartitionOptions extends VerifyOptions {
  readonly topic?: string | undefined
  /** False: the log begins later than its topic, and no snapshot says what was before. */
  readonly isComplete: boolean
  readonly epochs?: {readonly file: string; readonly entries: readonly EpochEntry[]} | undefined
  /** Without the records only headers and markers are looked at. Default true. */
  readonly wantsRecords?: boolean
  /** The broker was stopped in order: nothing is preallocated any more. */
  readonly wasClosed?: boolean
}

/** The checks of one partition, over its segments in order. */
export class PartitionCheck {
  readonly order: OffsetOrder
  readonly epochs: EpochCheck
  readonly producers: Producers
  readonly transactions: Transactions
  readonly times: Times
  readonly tally = new Tally()
  readonly wantsRecords: boolean
  readonly wasClosed: boolean
  /** The first damage of any kind. */
  firstDamage: DamagedPlace | undefined
  /** Where recovery would end before the log does; not set for preallocated space. */
  recoveryEnd: RecoveryEnd | undefined
  /** Where consumers get an exception. */
  consumersStop: DamagedPlace | undefined
  /** What the broker takes for the end of the segment, and consumers with it, without a word. */
  consumersSkip: DamagedPlace | undefined
  /** What a start after a clean stop comes to. */
  startTrouble: StartTrouble | undefined
  /** Batches in which compaction has left fewer records, or a delete horizon. */
  compactionSigns = 0

  readonly #options: PartitionOptions
  readonly #decoder: RecordDecoder | undefined
  readonly #snapshots: SnapshotCheck[] = []
  readonly #transactionIndexes: TransactionIndexCheck[] = []
  #lastFile = ''
  /** Before the segment that is being read. */
  #segment: {readonly records: number; readonly batches: number} = {records: 0, batches: 0}
  /** The last place in it at which Kafka's own walk ends with an exception. */
  #refusedAt = -1

  constructor(
    readonly list: FindingList,
    options: PartitionOptions,
  ) {
    this.#options = options
    this.order = new OffsetOrder(list)
    this.epochs = new EpochCheck(list, options.epochs)
    this.producers = new Producers(list, options.isComplete)
    this.transactions = new Transactions(list)
    this.times = new Times(list, options.now)
    this.wantsRecords = options.wantsRecords ?? true
    this.wasClosed = options.wasClosed ?? false
    const name = options.decoder ?? (options.topic === undefined ? 'none' : decoderOfTopic(options.topic))
    this.#decoder = name === undefined || name === 'none' ? undefined : decoderNamed(name)
  }

  /** The first damage is the end of the last segment that was read. */
  get isAtEnd(): boolean {
    const first = this.firstDamage
    return first?.isEnd === true && first.file === this.#lastFile
  }

  get isCompacted(): boolean {
    const {compacted, topic} = this.#options
    return compacted ?? (this.compactionSigns > 0 || (topic !== undefined && compactedTopics.includes(topic)))
  }

  get hangingAfterMs(): number {
    return this.#options.hangingAfterMs ?? defaultHangingAfterMs
  }

  /** What came before the first segment, by the snapshot that lies at its beginning. */
  async seed(snapshot: SnapshotCheck): Promise<void> {
    await snapshot.seed(this.producers)
    this.transactions.seed(this.producers.all())
  }

  /** Reads the next segment. `done`: bytes of it that were read. */
  async segment(files: SegmentFiles, extra?: ExtraCheck, done?: (bytes: number) => void): Promise<SegmentCheck> {
    const {maxDecompressedBytes, signal} = this.#options
    this.#lastFile = files.file.path
    this.#segment = {records: this.tally.records, batches: this.tally.batches}
    this.#refusedAt = -1
    this.order.segment(files.place)
    this.#snapshots.push(...files.snapshots)
    if (files.transactionIndex) this.#transactionIndexes.push(files.transactionIndex)
    const check = new SegmentCheck(this, files, this.#decoder, extra)
    const source = done ? counted(files.file, done) : files.file
    await readLog(source, check, {
      ...(maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes}),
      ...(signal ? {signal} : {}),
    })
    await check.finish()
    this.tally.add(check.tally)
    const {baseOffset} = files.place
    if (files.isActive && baseOffset !== undefined && files.index)
      this.#start(files, files.index, baseOffset, check.tally)
    if (baseOffset !== undefined) {
      files.index?.finish(files.file.size, baseOffset)
      const isClosed = !(files.isActive && (files.timeIndex?.isPreallocated ?? false))
      files.timeIndex?.finish(baseOffset, {
        isClosed,
        isWhole: check.tally.damagedBytes + check.tally.damagedBatches === 0,
      })
    }
    return check
  }

  /** After the last segment: tells what could only be judged with the whole log. */
  finish(): void {
    const {isCompacted} = this
    const context = {isComplete: this.producers.isComplete, isCompacted}
    this.order.finish(isCompacted)
    this.producers.finish(isCompacted)
    this.epochs.finish(this.order.next)
    for (const snapshot of this.#snapshots) snapshot.finish(isCompacted)
    for (const index of this.#transactionIndexes) index.finish(context)
    this.times.finish()
    this.transactions.finish(this.#lastFile, this.hangingAfterMs)
    if (this.producers.forgotten === 0) return
    this.list.add('not-checked', {
      file: this.#lastFile,
      explanation: `there are too many producers to remember all of them: ${this.producers.forgotten} were forgotten, and their sequences not followed`,
    })
  }

  summary(): LogSummary {
    return this.tally.summary({
      producers: this.producers.summary(producersTold),
      producerCount: this.producers.count,
      leaderEpochs: this.epochs.summary,
      transactions: this.transactions.summary(this.order.next, this.hangingAfterMs),
      isCompacted: this.isCompacted,
      missingOffsets: this.order.missing,
    })
  }

  begun(offset: bigint): void {
    for (const index of this.#transactionIndexes) index.begun(offset)
  }

  /** Batches are missing or can't be trusted: what follows may not continue what was before. */
  missing(): void {
    this.producers.damaged()
    this.transactions.damaged()
  }

  compactionSign(_hasHorizon: boolean): void {
    this.compactionSigns++
  }

  falseCrc(file: string, position: number, offset: bigint, segment: Tally): void {
    const place = this.#place(file, position, offset, segment, {own: 1})
    this.firstDamage ??= place
    this.recoveryEnd ??= {...place, how: 'cuts'}
    this.#stops(place)
  }

  /** `isSkipped`: consumers are given none of its records, and no error. */
  unreadable(file: string, position: number, offset: bigint, segment: Tally, isSkipped: boolean): void {
    const place = this.#place(file, position, offset, segment, {own: 1})
    this.firstDamage ??= place
    if (!isSkipped) this.#stops(place)
  }

  /** Sound batches that recovery can't take. */
  recoveryTrouble({how, position, offset, why}: RecoveryTrouble, file: string, segment: Tally): void {
    const here = this.#place(file, position, offset, segment, {own: 1})
    const place =
      how === 'emptied' ? {...here, recordsBefore: this.#segment.records, batchesBefore: this.#segment.batches} : here
    // Offsets that no index can hold are told at the segment's end, and may lie before what was found since.
    const known = this.recoveryEnd
    const isEarlier = how === 'fails' && known?.file === file && position < known.position
    if (!known || isEarlier) this.recoveryEnd = {...place, how, why}
  }

  damaged(file: string, damage: Damage, segment: Tally, size: number): void {
    const isEnd = damage.position + damage.sizeInBytes === size
    const place = this.#place(file, damage.position, damage.baseOffset ?? this.order.next, segment, {isEnd})
    this.firstDamage ??= place
    // That is a limit of the reader, not of Kafka.
    if (damage.kind === 'too-large' || damage.kind === 'short-read') return
    const sees = walkSees(damage, size)
    // A magic above 2 lies outside the CRC, and recovery does not look at it.
    const passes = damage.kind === 'magic' && (damage.magic ?? 0) > 2 && sees === 'batch'
    if (!passes) this.recoveryEnd ??= {...place, how: 'cuts'}
    if (sees === 'refused') this.#refusedAt = damage.position
    if (consumerFails(damage, size)) this.#stops(place)
    else this.consumersSkip ??= place
  }

  #start({file}: SegmentFiles, {last}: OffsetIndexCheck, baseOffset: bigint, {lastOffset}: Tally): void {
    const {offset, position: from} = last ?? {offset: baseOffset, position: 0}
    const trouble = {file: file.path, from, offset, position: this.#refusedAt}
    if (this.#refusedAt >= Math.max(from, 0)) this.startTrouble = {...trouble, how: 'fails'}
    else if (last && lastOffset !== undefined && offset > lastOffset) this.startTrouble = {...trouble, how: 'hidden'}
  }

  /** Nobody gets there behind what is taken for the segment's end. */
  #stops(place: DamagedPlace): void {
    if (this.consumersSkip?.file !== place.file) this.consumersStop ??= place
  }

  /** `own`: batches of the segment that are the damage themselves. */
  #place(
    file: string,
    position: number,
    offset: bigint | undefined,
    segment: Tally,
    {own = 0, isEnd = false}: {readonly own?: number; readonly isEnd?: boolean},
  ): DamagedPlace {
    return {
      isEnd,
      file,
      position,
      offset,
      batchesBefore: this.tally.batches + segment.batches - own,
      recordsBefore: this.tally.records + segment.records,
    }
  }
}

/** The source, telling how far it was read. */
function counted(source: SegmentFiles['file'], done: (bytes: number) => void): SegmentFiles['file'] {
  return {
    path: source.path,
    name: source.name,
    size: source.size,
    read: async (position, length) => {
      const bytes = await source.read(position, length)
      done(Math.min(position + bytes.length, source.size))
      return bytes
    },
  }
}
