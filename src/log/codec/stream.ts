/** Why a stream of a codec can't be decoded, as one says it of a batch. Never leaves `src/log`. */
export class CodecError extends Error {
  /** The plain bytes are more than were allowed; what was decoded so far was right. */
  readonly tooLarge: boolean

  constructor(message: string, {tooLarge = false} = {}) {
    super(message)
    this.tooLarge = tooLarge
  }
}

/**
 * A decoder of one codec. It reads from an inlet, writes to an outlet, and yields where it has to be served: a number
 * above 0 is how many bytes the inlet must hold (it has fewer), 0 means that the outlet may be emptied. So the same code
 * decodes a blob at once and a stream in pieces.
 * @throws CodecError on a stream that is wrong
 */
export type Decoding = Generator<number, void, void>

/** Stored bytes on their way into a decoder. */
export class Inlet {
  bytes: Buffer = Buffer.alloc(0)
  at = 0
  /** Nothing comes after `bytes`. */
  isLast = false

  open(bytes: Buffer, isLast: boolean): this {
    this.bytes = bytes
    this.at = 0
    this.isLast = isLast
    return this
  }

  /** Puts bytes behind those that are left. */
  feed(bytes: Buffer): void {
    this.bytes = this.left === 0 ? bytes : Buffer.concat([this.bytes.subarray(this.at), bytes])
    this.at = 0
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  /** False once nothing is left and nothing comes. */
  *more(): Generator<number, boolean, void> {
    if (this.left === 0 && !this.isLast) yield 1
    return this.left > 0
  }

  /** Waits for so many bytes. @throws CodecError if the stream ends before */
  *need(count: number, what: string): Decoding {
    while (this.left < count) {
      if (this.isLast) throw new CodecError(`${what} is cut: ${count} bytes are needed, and ${this.left} are left`)
      yield count
    }
  }
}

/** Where plain bytes are gathered: one buffer that grows, up to a limit, and is used again for the next batch. */
export class Outlet {
  bytes: Buffer = Buffer.alloc(0)
  length = 0
  /** What was odd in the stream, and is no error to Kafka. */
  remarks: string[] = []
  #atMost = 0

  reset(atMost: number): this {
    this.length = 0
    this.#atMost = atMost
    if (this.remarks.length > 0) this.remarks = []
    return this
  }

  /** Makes room for so many bytes more, of which as many as wanted are then told to {@link advance}. */
  room(more: number): void {
    const needed = this.length + more
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length, 65_536))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
  }

  /** @throws CodecError if that is beyond the limit */
  advance(to: number): void {
    if (to > this.#atMost) throw new CodecError(`more than ${this.#atMost} plain bytes`, {tooLarge: true})
    this.length = to
  }

  append(bytes: Uint8Array): void {
    const to = this.length + bytes.length
    if (to <= this.#atMost) {
      this.room(bytes.length)
      this.bytes.set(bytes, this.length)
    }
    this.advance(to)
  }

  /** What was gathered, as a view that lasts until the next use. */
  get plain(): Buffer {
    return this.bytes.subarray(0, this.length)
  }
}
