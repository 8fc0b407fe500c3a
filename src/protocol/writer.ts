import {longestString} from './reader.js'

/** A value that a field cannot hold. The writers of the enclosing structs add where it stood, innermost first. */
export class InvalidValue extends Error {
  readonly path: (string | number)[] = []
}

/** Writes Kafka's primitive types into a buffer that grows. */
export class Writer {
  private buffer = Buffer.allocUnsafe(256)
  private length = 0

  /** What was written, as a view. */
  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length)
  }

  /** Makes room and gives the position at which to write. */
  private take(size: number): number {
    const at = this.length
    if (at + size > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.buffer.length, at + size))
      this.buffer.copy(larger, 0, 0, at)
      this.buffer = larger
    }
    this.length = at + size
    return at
  }

  bool(value: boolean): void {
    this.int8(value ? 1 : 0)
  }

  int8(value: number): void {
    const at = this.take(1)
    this.buffer.writeInt8(value, at)
  }

  int16(value: number): void {
    const at = this.take(2)
    this.buffer.writeInt16BE(value, at)
  }

  uint16(value: number): void {
    const at = this.take(2)
    this.buffer.writeUInt16BE(value, at)
  }

  int32(value: number): void {
    const at = this.take(4)
    this.buffer.writeInt32BE(value, at)
  }

  uint32(value: number): void {
    const at = this.take(4)
    this.buffer.writeUInt32BE(value, at)
  }

  int64(value: bigint): void {
    const at = this.take(8)
    this.buffer.writeBigInt64BE(value, at)
  }

  float64(value: number): void {
    const at = this.take(8)
    this.buffer.writeDoubleBE(value, at)
  }

  unsignedVarint(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      const at = this.take(1)
      this.buffer[at] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    const at = this.take(1)
    this.buffer[at] = rest
  }

  raw(bytes: Uint8Array): void {
    const at = this.take(bytes.length)
    this.buffer.set(bytes, at)
  }

  uuid(value: string): void {
    const bytes = Buffer.from(value, 'base64url')
    if (bytes.length !== 16 || bytes.toString('base64url') !== value)
      throw new InvalidValue(`"${value}" is no uuid in Kafka's base64`)
    this.raw(bytes)
  }

  /** Bytes of a text, checked against the longest that Kafka takes. */
  static text(value: string): Buffer {
    const bytes = Buffer.from(value, 'utf8')
    if (bytes.length > longestString)
      throw new InvalidValue(`a string of ${bytes.length} bytes, the longest is ${longestString}`)
    return bytes
  }
}
