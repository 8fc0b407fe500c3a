/** A header of a record. Keys may repeat, and their order is kept. */
export interface RecordHeader {
  readonly key: string
  readonly value: Buffer | null
}

const noSequence = -1
const maxSequence = 0x7fff_ffff
/** Up to this many bytes a varlong is exact in a double. */
const exactVarlongBytes = 7

/**
 * One record of a batch of magic 2 (layout: org.apache.kafka.common.record.DefaultRecord). One cursor serves all records
 * of a scan: what it gives is of the record that is being visited, and is gone after the visit. `key`, `value` and header
 * values are views of the scan's buffer, to be copied if they are kept.
 *
 * It reads no length that it does not check against the end of the record or batch, and allocates nothing by a length.
 */
export class RecordCursor {
  /** Offset of this record minus the batch's base offset. */
  offsetDelta = 0
  /** Bytes of the record, its length field included. */
  sizeInBytes = 0
  headerCount = 0

  #bytes: Buffer
  #position = 0
  #end = 0
  #timestampDelta: number | bigint = 0
  #keyAt = 0
  #keyLength = -1
  #valueAt = 0
  #valueLength = -1
  #headersAt = 0
  #baseOffset = 0n
  #baseTimestamp = 0n
  #logAppendTime: bigint | undefined
  #baseSequence = noSequence
  #problem: string | undefined

  constructor() {
    this.#bytes = Buffer.alloc(0)
  }

  /** Places the cursor before the first record. `logAppendTime` overrides all timestamps of the batch. */
  open(
    bytes: Buffer,
    batch: {baseOffset: bigint; baseTimestamp: bigint; baseSequence: number; logAppendTime: bigint | undefined},
  ): void {
    this.#bytes = bytes
    this.#position = 0
    this.#baseOffset = batch.baseOffset
    this.#baseTimestamp = batch.baseTimestamp
    this.#baseSequence = batch.baseSequence
    this.#logAppendTime = batch.logAppendTime
    this.#problem = undefined
  }

  get offset(): bigint {
    return BigInt.asIntN(64, this.#baseOffset + BigInt(this.offsetDelta))
  }

  /** Milliseconds since 1970, or −1. */
  get timestamp(): bigint {
    return this.#logAppendTime ?? BigInt.asIntN(64, this.#baseTimestamp + BigInt(this.#timestampDelta))
  }

  /** −1 where the batch has none. Wraps around after 2^31 − 1 (DefaultRecordBatch.incrementSequence). */
  get sequence(): number {
    if (this.#baseSequence < 0) return noSequence
    const sequence = this.#baseSequence + this.offsetDelta
    return sequence > maxSequence ? sequence - maxSequence - 1 : sequence
  }

  get key(): Buffer | null {
    return this.#keyLength < 0 ? null : this.#bytes.subarray(this.#keyAt, this.#keyAt + this.#keyLength)
  }

  get value(): Buffer | null {
    return this.#valueLength < 0 ? null : this.#bytes.subarray(this.#valueAt, this.#valueAt + this.#valueLength)
  }

  get keySize(): number {
    return this.#keyLength
  }

  get valueSize(): number {
    return this.#valueLength
  }

  /** Read anew on each call: headers are rare, and the hot loop pays nothing for them. */
  get headers(): RecordHeader[] {
    const resume = this.#position
    const headers: RecordHeader[] = []
    this.#position = this.#headersAt
    for (let n = 0; n < this.headerCount; n++) {
      const keyLength = this.#varint()
      const key = this.#bytes.toString('utf8', this.#position, this.#position + keyLength)
      this.#position += keyLength
      const valueLength = this.#varint()
      const value = valueLength < 0 ? null : this.#bytes.subarray(this.#position, this.#position + valueLength)
      this.#position += Math.max(valueLength, 0)
      headers.push({key, value})
    }
    this.#position = resume
    return headers
  }

  /** Bytes behind the last record that was read. */
  get bytesLeft(): number {
    return this.#bytes.length - this.#position
  }

  get problem(): string | undefined {
    return this.#problem
  }

  /** Moves to the next record. `false`: there is none that can be read, and {@link problem} says why. */
  next(): boolean {
    const start = this.#position
    this.#end = this.#bytes.length
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
    this.#keyLength = this.#varint()
    this.#keyAt = this.#skip(this.#keyLength, 'key')
    this.#valueLength = this.#varint()
    this.#valueAt = this.#skip(this.#valueLength, 'value')
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
      const keyLength = this.#varint()
      if (keyLength < 0) this.#fail(`header key length ${keyLength}`)
      this.#skip(keyLength, 'header key')
      this.#skip(this.#varint(), 'header value')
    }
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
    const bytes = this.#bytes
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
    let unsigned = 0
    let factor = 1
    for (let n = 0; n < exactVarlongBytes; n++) {
      if (start + n >= this.#end) return this.#broken('a varlong passes the end')
      const byte = this.#bytes[start + n] as number
      unsigned += (byte & 0x7f) * factor
      factor *= 0x80
      if (byte < 0x80) {
        this.#position = start + n + 1
        return unsigned % 2 === 0 ? unsigned / 2 : -(unsigned + 1) / 2
      }
    }
    return this.#longVarlong(start)
  }

  #longVarlong(start: number): number | bigint {
    let unsigned = 0n
    for (let n = 0; n < 10; n++) {
      if (start + n >= this.#end) return this.#broken('a varlong passes the end')
      const byte = this.#bytes[start + n] as number
      unsigned |= BigInt(byte & 0x7f) << BigInt(7 * n)
      if (byte < 0x80) {
        this.#position = start + n + 1
        unsigned = BigInt.asUintN(64, unsigned)
        return BigInt.asIntN(64, (unsigned >> 1n) ^ -(unsigned & 1n))
      }
    }
    return this.#broken('a varlong of more than 10 bytes')
  }

  #broken(problem: string): 0 {
    this.#fail(problem)
    return 0
  }

  #fail(problem: string): false {
    this.#problem ??= problem
    return false
  }
}
