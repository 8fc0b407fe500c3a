import {crc32} from 'node:zlib'
import {Outlet} from './codec/stream.js'
import {type CodecName, codecHint, codecName, plainBytesAtMost, uncompressed} from './codecs.js'
import {crc32c} from './crc32c.js'
import {legacyAt, LegacyMessage} from './legacy-message.js'
import {LegacyRecords} from './legacy-records.js'
import {type RecordBase, RecordCursor} from './record-cursor.js'
import {behindTheLast, type RecordsProblem, unreadable} from './records-problem.js'

/** Where the fields of a record batch of magic 2 lie (org.apache.kafka.common.record.DefaultRecordBatch). */
export const at = {
  baseOffset: 0,
  batchLength: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  /** The CRC covers everything from here on. */
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  recordsCount: 57,
  records: 61,
} as const

/** Bits of the attributes above the codec. */
export const flag = {logAppendTime: 0x08, transactional: 0x10, control: 0x20, deleteHorizon: 0x40} as const

export type TimestampType = 'NoTimestampType' | 'CreateTime' | 'LogAppendTime'

const noRemarks: readonly string[] = []

/**
 * One record batch, or one message of magic 0 or 1, which counts as a batch (AbstractLegacyRecordBatch): fields that such a
 * message does not have are −1, `false` or `null`. One cursor serves a whole scan: what it gives is of the batch that is
 * being visited, and is gone after the visit. Fields are decoded when they are asked for, so that a scan pays for what it
 * uses.
 */
export class BatchCursor {
  /** Of the batch's first byte in the source. */
  position = 0
  sizeInBytes = 0
  magic = 2
  /** Magic 0 or 1. */
  isLegacy = false
  /** False for a batch that was too large to be held: {@link bytes} is its header only, and its records are streamed. */
  isWhole = true

  #bytes: Buffer = Buffer.alloc(0)
  #start = 0
  #computedCrc: number | undefined
  readonly #record = new RecordCursor()
  #legacy: LegacyRecords | undefined
  #legacyBaseOffset: bigint | undefined
  #outlet: Outlet | undefined
  #recordsLeft = 0
  #problem: RecordsProblem | undefined
  #remarks: readonly string[] = noRemarks

  /**
   * As Kafka reads: only those records are given that the header counts, and what is wrong with the sizes in a message of
   * magic 0 or 1 is a failure of that record alone. Else all records are given that are there whole, and {@link problem} says
   * what is wrong with their number.
   */
  asKafka = false

  /** For the scanner: the batch lies in `bytes` from `start`, whole. */
  place(bytes: Buffer, start: number, sizeInBytes: number, position: number): void {
    this.#bytes = bytes
    this.#start = start
    this.sizeInBytes = sizeInBytes
    this.position = position
    this.magic = bytes[start + at.magic] as number
    this.isLegacy = this.magic < 2
    this.isWhole = true
    this.#computedCrc = undefined
    this.#legacyBaseOffset = undefined
    this.#recordsLeft = 0
    this.#problem = undefined
    this.#remarks = noRemarks
  }

  /** For the reader of large batches of magic 2: only the header is in memory, and the CRC was computed from the source. */
  placeHeader(header: Buffer, sizeInBytes: number, position: number, computedCrc: number | undefined): void {
    this.place(header, 0, sizeInBytes, position)
    this.isWhole = false
    this.#computedCrc = computedCrc ?? Number.NaN
  }

  /** A cursor of its own, over a copy of the batch's bytes, that survives the visit. */
  copy(): BatchCursor {
    const copy = new BatchCursor()
    copy.place(Buffer.from(this.bytes), 0, this.sizeInBytes, this.position)
    if (!this.isWhole) copy.placeHeader(copy.bytes, this.sizeInBytes, this.position, this.computedCrc)
    return copy
  }

  /** The batch's bytes, as a view; its header only, if it is not {@link isWhole}. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#start, this.#start + (this.isWhole ? this.sizeInBytes : at.records))
  }

  /** Of a compressed message of magic 0 or 1 it is known only from the messages in it, which are then decoded. */
  get baseOffset(): bigint {
    return this.isLegacy ? this.#baseOffsetOfLegacy() : this.#bytes.readBigInt64BE(this.#start + at.baseOffset)
  }

  /** The offset of the last record that the batch had when it was written; compaction does not change it. */
  get lastOffset(): bigint {
    const stored = this.#bytes.readBigInt64BE(this.#start + at.baseOffset)
    return this.isLegacy ? stored : BigInt.asIntN(64, stored + BigInt(this.lastOffsetDelta))
  }

  /** `partitionLeaderEpoch`; −1 if not known. */
  get leaderEpoch(): number {
    return this.isLegacy ? -1 : this.#bytes.readInt32BE(this.#start + at.leaderEpoch)
  }

  /** As stored, unsigned: CRC-32C of a batch of magic 2, CRC-32 of a message of magic 0 or 1. */
  get crc(): number {
    return this.#bytes.readUInt32BE(this.#start + (this.isLegacy ? legacyAt.crc : at.crc))
  }

  /** NaN if the bytes of a large batch could not all be read. */
  get computedCrc(): number {
    const end = this.#start + this.sizeInBytes
    this.#computedCrc ??= this.isLegacy
      ? crc32(this.#bytes.subarray(this.#start + legacyAt.magic, end))
      : crc32c(this.#bytes.subarray(this.#start + at.attributes, end))
    return this.#computedCrc
  }

  get crcIsRight(): boolean {
    return this.computedCrc === this.crc
  }

  /** 16 bits of a batch, 8 of a message. */
  get attributes(): number {
    if (this.isLegacy) return this.#bytes[this.#start + legacyAt.attributes] as number
    return this.#bytes.readUInt16BE(this.#start + at.attributes)
  }

  get codec(): CodecName {
    return codecName(this.attributes)
  }

  get timestampType(): TimestampType {
    if (this.magic === 0) return 'NoTimestampType'
    return (this.attributes & flag.logAppendTime) !== 0 ? 'LogAppendTime' : 'CreateTime'
  }

  get isTransactional(): boolean {
    return this.#has(flag.transactional)
  }

  get isControl(): boolean {
    return this.#has(flag.control)
  }

  get lastOffsetDelta(): number {
    return this.isLegacy ? -1 : this.#bytes.readInt32BE(this.#start + at.lastOffsetDelta)
  }

  /** What record timestamps are relative to; in a batch with a delete horizon the same field is that horizon. */
  get baseTimestamp(): bigint {
    return this.isLegacy ? this.maxTimestamp : this.#bytes.readBigInt64BE(this.#start + at.baseTimestamp)
  }

  /** From when on tombstones and transaction markers in the batch may go; `null`: not set. */
  get deleteHorizonMs(): bigint | null {
    return this.#has(flag.deleteHorizon) ? this.baseTimestamp : null
  }

  /** Of a message: its own timestamp. */
  get maxTimestamp(): bigint {
    const place = this.#maxTimestampAt
    return place < 0 ? -1n : this.#bytes.readBigInt64BE(this.#start + place)
  }

  get producerId(): bigint {
    return this.isLegacy ? -1n : this.#bytes.readBigInt64BE(this.#start + at.producerId)
  }

  get producerEpoch(): number {
    return this.isLegacy ? -1 : this.#bytes.readInt16BE(this.#start + at.producerEpoch)
  }

  get baseSequence(): number {
    return this.isLegacy ? -1 : this.#bytes.readInt32BE(this.#start + at.baseSequence)
  }

  /** May be 0: compaction keeps an empty batch for its producer's sequence. −1: a message does not say. */
  get recordsCount(): number {
    return this.isLegacy ? -1 : this.#bytes.readInt32BE(this.#start + at.recordsCount)
  }

  // The numeric twins are NaN where only the bigint is exact: beyond 2^53.

  get baseOffsetNumber(): number {
    return this.isLegacy ? exact(Number(this.baseOffset)) : exact(this.#int64(at.baseOffset))
  }

  get lastOffsetNumber(): number {
    return exact(exact(this.#int64(at.baseOffset)) + (this.isLegacy ? 0 : this.lastOffsetDelta))
  }

  get maxTimestampNumber(): number {
    const place = this.#maxTimestampAt
    return place < 0 ? -1 : exact(this.#int64(place))
  }

  get baseTimestampNumber(): number {
    return this.isLegacy ? this.maxTimestampNumber : exact(this.#int64(at.baseTimestamp))
  }

  get producerIdNumber(): number {
    return this.isLegacy ? -1 : exact(this.#int64(at.producerId))
  }

  /**
   * Visits the records in order, with one cursor that is reused. Returns why the rest of them could not be read, if so:
   * the records before the damage have then been visited. Never throws on any bytes.
   */
  records(visit: (record: RecordCursor) => void): string | undefined {
    this.openRecords()
    for (let record = this.nextRecord(); record; record = this.nextRecord()) visit(record)
    return this.problem?.reason
  }

  /**
   * Makes the records ready for {@link nextRecord}. What is wrong then is told by {@link problem}; `too-large`: more than
   * `atMost` plain bytes.
   */
  openRecords(atMost = plainBytesAtMost): 'too-large' | undefined {
    this.#problem = undefined
    this.#remarks = noRemarks
    this.#recordsLeft = 0
    if (!this.isWhole) this.#problem = unreadable('the batch is too large to be held in memory')
    else if (this.isLegacy) return this.#openLegacy(atMost)
    else return this.#open(atMost)
    return undefined
  }

  /** The same cursor each time; `undefined` after the last record, or where the rest can't be read ({@link problem}). */
  nextRecord(): RecordCursor | undefined {
    const record = this.#record
    if (this.#recordsLeft === 0) return undefined
    if (this.isLegacy) return this.#nextLegacy()
    if (!record.next()) {
      const number = this.recordsCount - this.#recordsLeft + 1
      const hint = number === 1 && this.codec === 'none' ? codecHint(this.storedRecords) : ''
      // What is wrong with the codec's stream explains what is wrong with its records.
      this.#problem ??= unreadable(`record ${number} of ${this.recordsCount}: ${record.problem}${hint}`)
      this.#recordsLeft = 0
      return undefined
    }
    if (--this.#recordsLeft === 0 && this.#problem === undefined) this.#checkRest()
    return record
  }

  /** Why not all records could be read; complete once {@link nextRecord} gave `undefined`. */
  get problem(): RecordsProblem | undefined {
    return this.#problem
  }

  /** What is odd in the codec's stream and no error to Kafka; complete once {@link nextRecord} gave `undefined`. */
  get remarks(): readonly string[] {
    return this.#remarks
  }

  /** For the reader of large batches: what it found when it streamed the records. */
  settle(problem: RecordsProblem | undefined, remarks: readonly string[]): void {
    this.#problem = problem
    this.#remarks = remarks
  }

  /** The bytes of the records as they are stored; of a legacy message, its value. */
  get storedRecords(): Buffer {
    if (!this.isLegacy) return this.bytes.subarray(at.records)
    const message = new LegacyMessage()
    return message.read(this.bytes, 0, this.sizeInBytes) === undefined ? message.value : Buffer.alloc(0)
  }

  /** What the records of a batch of magic 2 take from it. */
  get recordBase(): RecordBase {
    return {
      baseOffset: this.baseOffset,
      baseTimestamp: this.baseTimestamp,
      baseSequence: this.baseSequence,
      logAppendTime: this.#logAppendTime,
    }
  }

  #open(atMost: number): 'too-large' | undefined {
    const {recordsCount, codec} = this
    if (recordsCount < 0 && this.asKafka) {
      this.#problem = behindTheLast(recordsCount, 0, 0)
      return undefined
    }
    const blob = this.#bytes.subarray(this.#start + at.records, this.#start + this.sizeInBytes)
    if (codec !== 'none') this.#outlet ??= new Outlet()
    const content = uncompressed(codec, blob, {outlet: this.#outlet, atMost})
    if (content.unreadable !== undefined) {
      const kind = content.tooLarge ? 'too-large' : 'unreadable'
      this.#problem = {kind, reason: `the ${codec} records can't be decoded: ${content.unreadable}`}
      if (content.tooLarge) return 'too-large'
    }
    this.#remarks = content.remarks
    this.#recordsLeft = Math.max(0, recordsCount)
    this.#record.open(content.bytes, this.recordBase)
    if (recordsCount <= 0 && this.#problem === undefined) this.#checkRest()
    return undefined
  }

  #openLegacy(atMost: number): 'too-large' | undefined {
    this.#legacy ??= new LegacyRecords()
    const options = {logAppendTime: this.#logAppendTime, atMost, asKafka: this.asKafka}
    const result = this.#legacy.open(this.#bytes, this.#start, this.sizeInBytes, options)
    this.#problem = this.#legacy.problem
    this.#remarks = this.#legacy.remarks
    this.#recordsLeft = 1
    return result
  }

  #nextLegacy(): RecordCursor | undefined {
    if (this.#legacy?.next(this.#record)) return this.#record
    this.#problem = this.#legacy?.problem
    this.#recordsLeft = 0
    return undefined
  }

  #baseOffsetOfLegacy(): bigint {
    if (this.codec === 'none') return this.lastOffset
    if (this.#legacyBaseOffset === undefined) {
      const records = new LegacyRecords()
      const record = new RecordCursor()
      records.open(this.#bytes, this.#start, this.sizeInBytes)
      this.#legacyBaseOffset = records.next(record) ? record.offset : this.lastOffset
    }
    return this.#legacyBaseOffset
  }

  #checkRest(): void {
    const {bytesLeft} = this.#record
    if (bytesLeft === 0 && this.recordsCount >= 0) return
    this.#recordsLeft = this.asKafka ? 0 : this.#uncounted()
    this.#problem = behindTheLast(this.recordsCount, bytesLeft, this.#recordsLeft)
  }

  /** Records behind those that the header counts; 0 if what is there is anything else. */
  #uncounted(): number {
    const {source, bytesLeft, offsetDelta} = this.#record
    const probe = new RecordCursor()
    probe.open(source, this.recordBase)
    probe.aim(source, source.length - bytesLeft, source.length)
    let previous = this.recordsCount > 0 ? offsetDelta : -1
    for (let count = 1; probe.next() && probe.offsetDelta > previous; count++) {
      if (probe.bytesLeft === 0) return count
      previous = probe.offsetDelta
    }
    return 0
  }

  get #logAppendTime(): bigint | undefined {
    return this.timestampType === 'LogAppendTime' ? this.maxTimestamp : undefined
  }

  /** −1: magic 0, which has none. */
  get #maxTimestampAt(): number {
    if (this.isLegacy) return this.magic === 0 ? -1 : legacyAt.timestamp
    return at.maxTimestamp
  }

  #int64(field: number): number {
    const place = this.#start + field
    return this.#bytes.readInt32BE(place) * 0x1_0000_0000 + this.#bytes.readUInt32BE(place + 4)
  }

  #has(bit: number): boolean {
    return !this.isLegacy && (this.#bytes[this.#start + at.attributes + 1]! & bit) !== 0
  }
}

function exact(value: number): number {
  return Number.isSafeInteger(value) ? value : Number.NaN
}
