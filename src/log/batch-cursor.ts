import {Outlet} from './codec/stream.js'
import {type CodecName, codecName, uncompressed} from './codecs.js'
import {crc32c} from './crc32c.js'
import {RecordCursor} from './record-cursor.js'

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

export type TimestampType = 'CreateTime' | 'LogAppendTime'

const noRemarks: readonly string[] = []

/**
 * One record batch. One cursor serves a whole scan: what it gives is of the batch that is being visited, and is gone
 * after the visit. Fields are decoded when they are asked for, so that a scan pays for what it uses.
 */
export class BatchCursor {
  /** Of the batch's first byte in the source. */
  position = 0
  sizeInBytes = 0

  #bytes: Buffer = Buffer.alloc(0)
  #start = 0
  #computedCrc: number | undefined
  readonly #record = new RecordCursor()
  #outlet: Outlet | undefined
  #recordsLeft = 0
  #problem: string | undefined
  #remarks: readonly string[] = noRemarks

  /** For the scanner: the batch lies in `bytes` from `start`, whole. */
  place(bytes: Buffer, start: number, sizeInBytes: number, position: number): void {
    this.#bytes = bytes
    this.#start = start
    this.sizeInBytes = sizeInBytes
    this.position = position
    this.#computedCrc = undefined
  }

  /** A cursor of its own, over a copy of the batch's bytes, that survives the visit. */
  copy(): BatchCursor {
    const copy = new BatchCursor()
    copy.place(Buffer.from(this.bytes), 0, this.sizeInBytes, this.position)
    return copy
  }

  /** The batch's bytes, as a view. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#start, this.#start + this.sizeInBytes)
  }

  get baseOffset(): bigint {
    return this.#bytes.readBigInt64BE(this.#start + at.baseOffset)
  }

  /** The offset of the last record that the batch had when it was written; compaction does not change it. */
  get lastOffset(): bigint {
    return BigInt.asIntN(64, this.baseOffset + BigInt(this.lastOffsetDelta))
  }

  /** `partitionLeaderEpoch`; −1 if not known. */
  get leaderEpoch(): number {
    return this.#bytes.readInt32BE(this.#start + at.leaderEpoch)
  }

  get magic(): number {
    return this.#bytes.readInt8(this.#start + at.magic)
  }

  /** As stored, unsigned. */
  get crc(): number {
    return this.#bytes.readUInt32BE(this.#start + at.crc)
  }

  get computedCrc(): number {
    this.#computedCrc ??= crc32c(this.#bytes.subarray(this.#start + at.attributes, this.#start + this.sizeInBytes))
    return this.#computedCrc
  }

  get crcIsRight(): boolean {
    return this.computedCrc === this.crc
  }

  get attributes(): number {
    return this.#bytes.readUInt16BE(this.#start + at.attributes)
  }

  get codec(): CodecName {
    return codecName(this.attributes)
  }

  get timestampType(): TimestampType {
    return this.#has(flag.logAppendTime) ? 'LogAppendTime' : 'CreateTime'
  }

  get isTransactional(): boolean {
    return this.#has(flag.transactional)
  }

  get isControl(): boolean {
    return this.#has(flag.control)
  }

  get lastOffsetDelta(): number {
    return this.#bytes.readInt32BE(this.#start + at.lastOffsetDelta)
  }

  /** What record timestamps are relative to; in a batch with a delete horizon the same field is that horizon. */
  get baseTimestamp(): bigint {
    return this.#bytes.readBigInt64BE(this.#start + at.baseTimestamp)
  }

  /** From when on tombstones and transaction markers in the batch may go; `null`: not set. */
  get deleteHorizonMs(): bigint | null {
    return this.#has(flag.deleteHorizon) ? this.baseTimestamp : null
  }

  get maxTimestamp(): bigint {
    return this.#bytes.readBigInt64BE(this.#start + at.maxTimestamp)
  }

  get producerId(): bigint {
    return this.#bytes.readBigInt64BE(this.#start + at.producerId)
  }

  get producerEpoch(): number {
    return this.#bytes.readInt16BE(this.#start + at.producerEpoch)
  }

  get baseSequence(): number {
    return this.#bytes.readInt32BE(this.#start + at.baseSequence)
  }

  /** May be 0: compaction keeps an empty batch for its producer's sequence. */
  get recordsCount(): number {
    return this.#bytes.readInt32BE(this.#start + at.recordsCount)
  }

  /** The numeric twins are NaN where only the bigint is exact: beyond 2^53. */
  get baseOffsetNumber(): number {
    return exact(this.#int64(at.baseOffset))
  }

  get lastOffsetNumber(): number {
    return exact(this.#int64(at.baseOffset) + this.lastOffsetDelta)
  }

  get maxTimestampNumber(): number {
    return exact(this.#int64(at.maxTimestamp))
  }

  get baseTimestampNumber(): number {
    return exact(this.#int64(at.baseTimestamp))
  }

  get producerIdNumber(): number {
    return exact(this.#int64(at.producerId))
  }

  /**
   * Visits the records in order, with one cursor that is reused. Returns why the rest of them could not be read, if so:
   * the records before the damage have then been visited. Never throws on any bytes.
   */
  records(visit: (record: RecordCursor) => void): string | undefined {
    this.openRecords()
    for (let record = this.nextRecord(); record; record = this.nextRecord()) visit(record)
    return this.problem
  }

  /** Makes the records ready for {@link nextRecord}. What is wrong then is told by {@link problem}. */
  openRecords(): void {
    const {recordsCount, codec} = this
    this.#problem = undefined
    this.#remarks = noRemarks
    this.#recordsLeft = 0
    if (recordsCount < 0) {
      this.#problem = `record count ${recordsCount}`
      return
    }
    const blob = this.#bytes.subarray(this.#start + at.records, this.#start + this.sizeInBytes)
    if (codec !== 'none') this.#outlet ??= new Outlet()
    const content = uncompressed(codec, blob, {outlet: this.#outlet})
    if ('unreadable' in content) {
      this.#problem = `the ${codec} records can't be decoded: ${content.unreadable}`
      return
    }
    this.#remarks = content.remarks
    this.#recordsLeft = recordsCount
    this.#record.open(content.bytes, {
      baseOffset: this.baseOffset,
      baseTimestamp: this.baseTimestamp,
      baseSequence: this.baseSequence,
      logAppendTime: this.#has(flag.logAppendTime) ? this.maxTimestamp : undefined,
    })
    if (recordsCount === 0) this.#checkRest()
  }

  /** The same cursor each time; `undefined` after the last record, or where the rest can't be read ({@link problem}). */
  nextRecord(): RecordCursor | undefined {
    const record = this.#record
    if (this.#recordsLeft === 0) return undefined
    if (!record.next()) {
      this.#problem = `record ${this.recordsCount - this.#recordsLeft + 1} of ${this.recordsCount}: ${record.problem}`
      this.#recordsLeft = 0
      return undefined
    }
    if (--this.#recordsLeft === 0) this.#checkRest()
    return record
  }

  /** Why not all records could be read; complete once {@link nextRecord} gave `undefined`. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** What is odd in the codec's stream and no error to Kafka; complete once {@link nextRecord} gave `undefined`. */
  get remarks(): readonly string[] {
    return this.#remarks
  }

  #checkRest(): void {
    const {bytesLeft} = this.#record
    if (bytesLeft !== 0) this.#problem = `${bytesLeft} bytes behind the last of ${this.recordsCount} records`
  }

  #int64(field: number): number {
    const place = this.#start + field
    return this.#bytes.readInt32BE(place) * 0x1_0000_0000 + this.#bytes.readUInt32BE(place + 4)
  }

  #has(bit: number): boolean {
    return (this.#bytes[this.#start + at.attributes + 1]! & bit) !== 0
  }
}

function exact(value: number): number {
  return Number.isSafeInteger(value) ? value : Number.NaN
}
