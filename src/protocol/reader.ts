/** What went wrong first, and where. `path` grows while the readers of the enclosing structs return. */
export interface ReadFailure {
  readonly failure: 'truncated' | 'malformed'
  readonly reason: string
  readonly position: number
  readonly path: (string | number)[]
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

  constructor(
    readonly bytes: Buffer,
    public position = 0,
    private end = bytes.length,
  ) {}

  get left(): number {
    return this.end - this.position
  }

  fail(reason: string, failure: ReadFailure['failure'] = 'malformed'): void {
    this.failed ??= {failure, reason, position: this.position, path: []}
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
      if (shift === 28 && byte > 0x0f) break
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    this.fail('a varint is longer than 32 bits')
    return 0
  }

  /** A view of the next bytes, not a copy. */
  raw(size: number): Buffer {
    const at = this.take(size)
    return at === undefined ? emptyBytes : this.bytes.subarray(at, at + size)
  }

  /** Kafka's Uuid.toString: url-safe base64 without padding, 22 characters. */
  uuid(): string {
    return this.raw(16).toString('base64url')
  }

  string(length: number): string {
    if (length > longestString) this.fail(`a string of ${length} bytes, the longest is ${longestString}`)
    return this.raw(length).toString('utf8')
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
