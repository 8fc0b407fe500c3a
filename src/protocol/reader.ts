import {javaText} from '../util/java-text.js'

/** What went wrong first, and where. `path` grows while the readers of the enclosing structs return. */
export interface ReadFailure {
  readonly failure: 'truncated' | 'malformed'
  readonly reason: string
  readonly position: number
  readonly path: (string | number)[]
  /** What the exception of Kafka's reader says, with `{field}` for the field; `null`: it has no message. */
  readonly thrown: string | null
}

/** Reading as Kafka's generated classes do (MessageDataGenerator), errors included. */
export interface LikeKafka {
  /** The version that the bytes claim. */
  readonly version: number
  /** That version is not one of the schema's. */
  readonly foreign: boolean
  /** The number of tagged fields is compared with the bytes that are left, as Kafka does since 4.2.2 and 4.4.0. */
  readonly countsTags: boolean
}

/** IllegalArgumentException of ByteUtils.readUnsignedVarint: the fifth byte is shifted as it is. */
function tooLong(value: number, fifth: number): string {
  const converted = (value | ((fifth >= 0x80 ? fifth - 0x100 : fifth) << 28)) >>> 0
  return `Varint is too long, the most significant bit in the 5th byte is set, converted value: ${converted.toString(16)}`
}

const emptyBytes = Buffer.alloc(0)
/** Kafka refuses longer strings in every version (MessageDataGenerator: "had invalid length"). */
export const longestString = 0x7fff

/**
 * Reads Kafka's primitive types. The first read that is not possible makes the reader *bad*: from then on every read
 * gives a zero, moves nothing and allocates nothing, and `failed` tells. So no caller handles an error between two
 * fields (the idea is franz-go's kbin). A length is believed only after it was compared with the bytes that are there.
 */
export class Reader {
  failed: ReadFailure | undefined
  private end: number

  constructor(
    readonly bytes: Buffer,
    public position = 0,
    readonly likeKafka?: LikeKafka,
  ) {
    this.end = bytes.length
  }

  get left(): number {
    return this.end - this.position
  }

  fail(reason: string, failure: ReadFailure['failure'] = 'malformed', thrown: string | null = null): void {
    this.failed ??= {failure, reason, position: this.position, path: [], thrown}
  }

  /** Says in which field or element it went wrong; called from the inside out. */
  blame(place: string | number): void {
    this.failed?.path.unshift(place)
  }

  /** The position of the next `size` bytes, which are then read; `undefined` if they are not there. */
  private take(size: number): number | undefined {
    if (this.failed) return undefined
    if (size > this.left) {
      this.fail(`needs ${size} bytes, ${this.left} are left`, 'truncated')
      return undefined
    }
    const at = this.position
    this.position += size
    return at
  }

  bool(): boolean {
    return this.int8() !== 0
  }

  int8(): number {
    const at = this.take(1)
    return at === undefined ? 0 : this.bytes.readInt8(at)
  }

  int16(): number {
    const at = this.take(2)
    return at === undefined ? 0 : this.bytes.readInt16BE(at)
  }

  uint16(): number {
    const at = this.take(2)
    return at === undefined ? 0 : this.bytes.readUInt16BE(at)
  }

  int32(): number {
    const at = this.take(4)
    return at === undefined ? 0 : this.bytes.readInt32BE(at)
  }

  uint32(): number {
    const at = this.take(4)
    return at === undefined ? 0 : this.bytes.readUInt32BE(at)
  }

  int64(): bigint {
    const at = this.take(8)
    return at === undefined ? 0n : this.bytes.readBigInt64BE(at)
  }

  float64(): number {
    const at = this.take(8)
    return at === undefined ? 0 : this.bytes.readDoubleBE(at)
  }

  /** Seven bits a byte, low group first, at most 32 bits, no zigzag. */
  unsignedVarint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const at = this.take(1)
      if (at === undefined) return 0
      const byte = this.bytes[at] as number
      if (shift === 28 && byte > 0x0f && (byte >= 0x80 || !this.likeKafka)) {
        this.fail('a varint is longer than 32 bits', 'malformed', tooLong(value, byte))
        return 0
      }
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    // Kafka's reader returns an int, which wraps around (ByteUtils.readUnsignedVarint).
    return this.likeKafka ? value | 0 : value
  }

  /** The length or count before something compact; below zero is null. */
  compactLength(): number {
    const length = this.unsignedVarint() - 1
    return this.likeKafka ? length | 0 : length
  }

  /** A view of the next bytes, not a copy. */
  raw(size: number): Buffer {
    if (size < 0) this.fail(`a size of ${size}`, 'malformed', String(size))
    else if (size > this.left && !this.failed) {
      const thrown = `Error reading byte array of ${size} byte(s): only ${this.left} byte(s) available`
      this.fail(`needs ${size} bytes, ${this.left} are left`, 'truncated', thrown)
    }
    const at = this.take(size)
    return at === undefined ? emptyBytes : this.bytes.subarray(at, at + size)
  }

  /** Kafka's Uuid.toString: url-safe base64 without padding, 22 characters. */
  uuid(): string {
    const at = this.take(16)
    return at === undefined ? '' : this.bytes.toString('base64url', at, at + 16)
  }

  string(length: number): string {
    if (length > longestString) {
      const thrown = `string field {field} had invalid length ${length}`
      this.fail(`a string of ${length} bytes, the longest is ${longestString}`, 'malformed', thrown)
    }
    return javaText(this.raw(length))
  }

  /** Lets `read` see the next `size` bytes only, and requires that it reads them all. */
  within<T>(size: number, read: () => T): T {
    const outer = this.end
    if (size > this.left) this.fail(`needs ${size} bytes, ${this.left} are left`, 'truncated')
    const end = this.position + size
    if (!this.failed) this.end = end
    const value = read()
    if (this.position !== end) this.fail(`takes ${size - (end - this.position)} of its ${size} bytes`)
    this.end = outer
    return value
  }
}
