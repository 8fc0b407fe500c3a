/** Why a stream of a codec can't be decoded, as one says it of a batch. Never leaves `src/log`. */
export class CodecError extends Error {
  /** The plain bytes are more than were allowed; what was decoded so far was right. */
  readonly tooLarge: boolean

  constructor(message: string, {tooLarge = false} = {}) {
    super(message)
    this.tooLarge = tooLarge
  }
}

/** Decodes what there is of a block that is cut: that it ends too early is known. @throws CodecError beyond the limit */
export function rescue(decode: () => void): void {
  try {
    decode()
  } catch (error) {
    if (!(error instanceof CodecError) || error.tooLarge) throw error
  }
}

/**
 * A decoder of one codec. It reads from an inlet, writes to an outlet, and yields where it has to be served: a number
 * above 0 is how many bytes the inlet must hold (it has fewer), 0 means that the outlet may be emptied. So the same code
 * decodes a blob at once and a stream in pieces.
 * @throws CodecError on a stream that is wrong, when what could be decoded before the damage is in the outlet
 */
export type Decoding = Generator<number, void, void>

/** What a decoder may want to have at once of a stream: blocks of codecs are far smaller. */
const heldBytesAtMost = 134_217_728

/** Stored bytes on their way into a decoder. */
export class Inlet {
  bytes: Buffer = Buffer.alloc(0)
  at = 0
  /** Nothing comes after those that are there. */
  isLast = false
  /** Of `bytes`, if they are the inlet's own. */
  #end = 0

  /** All there is, at once, as a view. */
  open(bytes: Buffer): this {
    this.bytes = bytes
    this.at = 0
    this.#end = bytes.length
    this.isLast = true
    return this
  }

  /** Copies bytes behind those that are left. @throws CodecError if that is more than any stream needs */
  feed(bytes: Buffer): void {
    const {left} = this
    if (left + bytes.length > heldBytesAtMost) throw new CodecError(`a block of more than ${heldBytesAtMost} bytes`)
    if (this.#end + bytes.length > this.bytes.length) {
      const room =
        left + bytes.length <= this.bytes.length ? this.bytes : Buffer.allocUnsafeSlow(2 * (left + bytes.length))
      this.bytes.copy(room, 0, this.at, this.#end)
      this.bytes = room
      this.#end = left
      this.at = 0
    }
    bytes.copy(this.bytes, this.#end)
    this.#end += bytes.length
  }

  get left(): number {
    return this.#end - this.at
  }

  /** False once nothing is left and nothing comes. */
  *more(): Generator<number, boolean, void> {
    while (this.left === 0 && !this.isLast) yield 1
    return this.left > 0
  }

  /** How many bytes are left in all; they are used up. */
  *drain(): Generator<number, number, void> {
    let count = 0
    while (yield* this.more()) {
      count += this.left
      this.at += this.left
    }
    return count
  }

  /** Waits for so many bytes, or as many as there are. Why they are too few, if so. */
  *upTo(count: number, what: string): Generator<number, string | undefined, void> {
    while (this.left < count) {
      if (this.isLast) return `${what} is cut: ${count} bytes are needed, and ${this.left} are left`
      yield count
    }
    return undefined
  }

  /** Waits for so many bytes. @throws CodecError if the stream ends before */
  *need(count: number, what: string): Decoding {
    const problem = yield* this.upTo(count, what)
    if (problem !== undefined) throw new CodecError(problem)
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

  /** @throws CodecError if so many bytes more are beyond the limit */
  check(more: number): void {
    if (this.length + more > this.#atMost) {
      throw new CodecError(`more than ${this.#atMost} plain bytes`, {tooLarge: true})
    }
  }

  /** @throws CodecError if that is beyond the limit */
  append(bytes: Uint8Array): void {
    this.check(bytes.length)
    const to = this.length + bytes.length
    if (to > this.bytes.length) this.#grow(to)
    this.bytes.set(bytes, this.length)
    this.length = to
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length, 65_536))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
  }

  /** What was gathered, as a view that lasts until the next use. */
  get plain(): Buffer {
    return this.bytes.subarray(0, this.length)
  }
}
