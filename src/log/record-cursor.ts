import {javaText} from '../util/java-text.js'
import type {LegacyFailure, LegacyRecord} from './legacy-message.js'
import {incrementedSequence} from './sequence.js'

/** A header of a record. Keys may repeat, and their order is kept. */
export interface RecordHeader {
  readonly key: string
  readonly value: Buffer | null
}

/** A header as it is read: the key's bytes too, for a key may be no UTF-8. Bytes are views. */
export interface ReadHeader extends RecordHeader {
  readonly keyBytes: Buffer
}

/** What records take from their batch. */
export interface RecordBase {
  readonly baseOffset: bigint
  readonly baseTimestamp: bigint
  readonly baseSequence: number
  /** Overrides the timestamps of all records. */
  readonly logAppendTime: bigint | undefined
}

const noSequence = -1
/** Up to this many bytes a varlong is exact in a double; a number below the base stays exact with such a delta on top. */
const exactVarlongBytes = 7
const safeBase = 2 ** 52

/**
 * One record (layout of magic 2: org.apache.kafka.common.record.DefaultRecord). One cursor serves all records of a batch:
 * what it gives is of the record that is being visited, and is gone after the visit. `key`, `value` and header values are
 * views of the reader's buffer, to be copied if they are kept. The fields are for reading only.
 *
 * It reads no length that it does not check against the end of the record or batch, and allocates nothing by a length.
 */
export class RecordCursor {
  /** The bytes that {@link keyAt}, {@link valueAt} and the headers lie in. */
  source: Buffer = Buffer.alloc(0)
  /** Bytes of the record, its length field included. */
  sizeInBytes = 0
  /** Offset of this record minus the batch's base offset; 0 in a legacy record. */
  offsetDelta = 0
  keyAt = 0
  /** −1: null; a damaged legacy record may have any negative number (LegacyRecord.keySize). */
  keySize = -1
  valueAt = 0
  /** As {@link keySize}. */
  valueSize = -1
  headerCount = 0
  /** A message of magic 0 or 1, which has a CRC of its own (as stored, unsigned), no sequence, and no headers. */
  isLegacy = false
  crc = 0
  crcIsRight = true
  /** Of a legacy record whose sizes are wrong, if it was read as Kafka does. */
  failure: LegacyFailure | undefined

  #position = 0
  /** Of the bytes that may be read. */
  #limit = 0
  /** Of the record that is being read. */
  #end = 0
  #timestampDelta: number | bigint = 0
  #headersAt = 0
  #baseOffset = 0n
  #baseOffsetNumber = 0
  #baseTimestamp = 0n
  #baseTimestampNumber = 0
  #logAppendTime: bigint | undefined
  #logAppendTimeNumber = Number.NaN
  #baseSequence = noSequence
  #problem: string | undefined

  /** Places the cursor before the first record of a batch of magic 2. */
  open(bytes: Buffer, batch: RecordBase): void {
    this.source = bytes
    this.#position = 0
    this.#limit = bytes.length
    this.#baseOffset = batch.baseOffset
    this.#baseOffsetNumber = safe(batch.baseOffset)
    this.#baseTimestamp = batch.baseTimestamp
    this.#baseTimestampNumber = safe(batch.baseTimestamp)
    this.#baseSequence = batch.baseSequence
    this.#logAppendTime = batch.logAppendTime
    this.#logAppendTimeNumber = batch.logAppendTime === undefined ? Number.NaN : safe(batch.logAppendTime)
    this.#problem = undefined
    this.isLegacy = false
    this.crc = 0
    this.crcIsRight = true
    this.failure = undefined
  }

  /** For the reader of large batches: the next record is at `position`, and whole if `limit` allows. */
  aim(bytes: Buffer, position: number, limit: number): void {
    this.source = bytes
    this.#position = position
    this.#limit = limit
  }

  /** For the reader of magic 0 and 1. */
  placeLegacy(record: LegacyRecord): void {
    this.source = record.source
    this.sizeInBytes = record.sizeInBytes
    this.#baseOffset = record.offset
    this.#baseOffsetNumber = safe(record.offset)
    this.#baseTimestamp = record.timestamp
    this.#baseTimestampNumber = safe(record.timestamp)
    this.keyAt = record.keyAt
    this.keySize = record.keySize
    this.valueAt = record.valueAt
    this.valueSize = record.valueSize
    this.crc = record.crc
    this.crcIsRight = record.crcIsRight
    this.failure = record.failure
    this.offsetDelta = 0
    this.#timestampDelta = 0
    this.#logAppendTime = undefined
    this.#baseSequence = noSequence
    this.headerCount = 0
    this.isLegacy = true
    this.#problem = undefined
  }

  get offset(): bigint {
    return BigInt.asIntN(64, this.#baseOffset + BigInt(this.offsetDelta))
  }

  /** NaN where only {@link offset} is sure to be exact (near 2^53). */
  get offsetNumber(): number {
    return this.#baseOffsetNumber + this.offsetDelta
  }

  /** Milliseconds since 1970, or −1. */
  get timestamp(): bigint {
    return this.#logAppendTime ?? BigInt.asIntN(64, this.#baseTimestamp + BigInt(this.#timestampDelta))
  }

  /** NaN where only {@link timestamp} is sure to be exact. */
  get timestampNumber(): number {
    if (this.#logAppendTime !== undefined) return this.#logAppendTimeNumber
    const delta = this.#timestampDelta
    return typeof delta === 'number' ? this.#baseTimestampNumber + delta : Number.NaN
  }

  /** −1 where the batch has none. */
  get sequence(): number {
    return this.#baseSequence < 0 ? noSequence : incrementedSequence(this.#baseSequence, this.offsetDelta)
  }

  get key(): Buffer | null {
    return this.keySize < 0 || this.failure?.key !== undefined
      ? null
      : this.source.subarray(this.keyAt, this.keyAt + this.keySize)
  }

  get value(): Buffer | null {
    return this.valueSize < 0 || this.failure ? null : this.source.subarray(this.valueAt, this.valueAt + this.valueSize)
  }

  /** Read anew on each call: headers are rare, and the hot loop pays nothing for them. */
  get headers(): ReadHeader[] {
    const resume = this.#position
    const headers: ReadHeader[] = []
    this.#position = this.#headersAt
    for (let n = 0; n < this.headerCount; n++) {
      const keyBytes = this.#view(this.#varint())
      headers.push({key: javaText(keyBytes), keyBytes, value: this.#nullable(this.#varint())})
    }
    this.#position = resume
    return headers
  }

  /** Bytes behind the last record that was read. */
  get bytesLeft(): number {
    return this.#limit - this.#position
  }

  get problem(): string | undefined {
    return this.#problem
  }

  /** Moves to the next record. `false`: there is none that can be read, and {@link problem} says why. */
  next(): boolean {
    return this.#fast() || this.#careful()
  }

  /**
   * The common record: short varints, no headers, all of it there. It checks only what makes its result wrong; whatever
   * does not fit is read again, with care.
   */
  #fast(): boolean {
    const bytes = this.source
    const start = this.#position
    // Attributes and five varints of at most three bytes (the timestamp: four), without the key and value.
    if (this.#limit - start < 21) return false
    let at = start + 1
    let byte = bytes[start] as number
    let length = byte & 0x7f
    if (byte > 0x7f) {
      byte = bytes[at++] as number
      length |= (byte & 0x7f) << 7
      if (byte > 0x7f) {
        byte = bytes[at++] as number
        length |= (byte & 0x7f) << 14
        if (byte > 0x7f) return false
      }
    }
    if ((length & 1) !== 0) return false
    const end = at + (length >>> 1)
    if (end > this.#limit) return false
    at++
    byte = bytes[at++] as number
    let time = byte & 0x7f
    if (byte > 0x7f) {
      byte = bytes[at++] as number
      time |= (byte & 0x7f) << 7
      if (byte > 0x7f) {
        byte = bytes[at++] as number
        time |= (byte & 0x7f) << 14
        if (byte > 0x7f) {
          byte = bytes[at++] as number
          time |= (byte & 0x7f) << 21
          if (byte > 0x7f) return false
        }
      }
    }
    byte = bytes[at++] as number
    let offset = byte & 0x7f
    if (byte > 0x7f) {
      byte = bytes[at++] as number
      offset |= (byte & 0x7f) << 7
      if (byte > 0x7f) {
        byte = bytes[at++] as number
        offset |= (byte & 0x7f) << 14
        if (byte > 0x7f) return false
      }
    }
    return this.#fastRest(bytes, start, at, end, time, offset)
  }

  #fastRest(bytes: Buffer, start: number, from: number, end: number, time: number, offset: number): boolean {
    let at = from
    let byte = bytes[at++] as number
    let key = byte & 0x7f
    if (byte > 0x7f) {
      byte = bytes[at++] as number
      key |= (byte & 0x7f) << 7
      if (byte > 0x7f) return false
    }
    key = (key >>> 1) ^ -(key & 1)
    if (key < -1) return false
    const keyAt = at
    if (key > 0) at += key
    // At least the value's length and the count of headers are to come.
    if (end - at < 2) return false
    byte = bytes[at++] as number
    let value = byte & 0x7f
    if (byte > 0x7f) {
      byte = bytes[at++] as number
      value |= (byte & 0x7f) << 7
      if (byte > 0x7f) {
        byte = bytes[at++] as number
        value |= (byte & 0x7f) << 14
        if (byte > 0x7f) return false
      }
    }
    value = (value >>> 1) ^ -(value & 1)
    if (value < -1) return false
    const valueAt = at
    if (value > 0) at += value
    if (at !== end - 1 || bytes[at] !== 0) return false
    this.keyAt = keyAt
    this.keySize = key
    this.valueAt = valueAt
    this.valueSize = value
    this.offsetDelta = (offset >>> 1) ^ -(offset & 1)
    this.#timestampDelta = (time >>> 1) ^ -(time & 1)
    this.headerCount = 0
    this.#headersAt = end
    this.#position = end
    this.sizeInBytes = end - start
    return true
  }

  #careful(): boolean {
    const start = this.#position
    this.#end = this.#limit
    const length = this.#varint()
    if (this.#problem !== undefined) return false
    if (length < 0 || length > this.#end - this.#position) {
      return this.#fail(`record length ${length}, and ${this.#end - this.#position} bytes are left`)
    }
    this.#end = this.#position + length
    this.sizeInBytes = this.#end - start
    if (length === 0) return this.#fail('an empty record')
    this.#position++ // Attributes: unused.
    this.#timestampDelta = this.#varlong()
    this.offsetDelta = this.#varint()
    this.keySize = Math.max(this.#varint(), -1)
    this.keyAt = this.#skip(this.keySize, 'key')
    this.valueSize = Math.max(this.#varint(), -1)
    this.valueAt = this.#skip(this.valueSize, 'value')
    this.headerCount = this.#varint()
    this.#headersAt = this.#position
    this.#skipHeaders()
    if (this.#problem !== undefined) return false
    if (this.#position !== this.#end) return this.#fail(`${this.#end - this.#position} bytes left in a record`)
    return true
  }

  #skipHeaders(): void {
    // A header has at least two bytes, so that a damaged count ends the loop at once.
    if (this.#problem === undefined && (this.headerCount < 0 || this.headerCount > this.#end - this.#position)) {
      this.#fail(`header count ${this.headerCount}`)
    }
    for (let n = 0; n < this.headerCount && this.#problem === undefined; n++) {
      const keySize = this.#varint()
      if (keySize < 0) this.#fail(`header key length ${keySize}`)
      this.#skip(keySize, 'header key')
      this.#skip(this.#varint(), 'header value')
    }
  }

  #view(length: number): Buffer {
    this.#position += length
    return this.source.subarray(this.#position - length, this.#position)
  }

  #nullable(length: number): Buffer | null {
    return length < 0 ? null : this.#view(length)
  }

  /** Steps over a length that was read; a negative one means null. Returns where it began. */
  #skip(length: number, what: string): number {
    const at = this.#position
    if (this.#problem !== undefined || length <= 0) return at
    if (length > this.#end - at)
      this.#fail(`${what} length ${length}, and ${this.#end - at} bytes are left in the record`)
    else this.#position = at + length
    return at
  }

  #varint(): number {
    if (this.#problem !== undefined) return 0
    const bytes = this.source
    let position = this.#position
    let unsigned = 0
    for (let shift = 0; shift <= 28; shift += 7) {
      if (position >= this.#end) return this.#broken('a varint passes the end')
      const byte = bytes[position++] as number
      unsigned |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        this.#position = position
        return (unsigned >>> 1) ^ -(unsigned & 1)
      }
    }
    return this.#broken('a varint of more than 5 bytes')
  }

  #varlong(): number | bigint {
    if (this.#problem !== undefined) return 0
    const start = this.#position
    let unsigned = 0n
    for (let n = 0; n < 10; n++) {
      if (start + n >= this.#end) return this.#broken('a varlong passes the end')
      const byte = this.source[start + n] as number
      unsigned |= BigInt(byte & 0x7f) << BigInt(7 * n)
      if (byte < 0x80) {
        this.#position = start + n + 1
        unsigned = BigInt.asUintN(64, unsigned)
        const value = BigInt.asIntN(64, (unsigned >> 1n) ^ -(unsigned & 1n))
        return n < exactVarlongBytes ? Number(value) : value
      }
    }
    return this.#broken('a varlong of more than 10 bytes')
  }

  #broken(problem: string): 0 {
    this.#problem ??= problem
    return 0
  }

  #fail(problem: string): false {
    this.#problem ??= problem
    return false
  }
}

function safe(value: bigint): number {
  const number = Number(value)
  return Math.abs(number) < safeBase ? number : Number.NaN
}
