/** Takes bytes; when it (or its promise) returns, it has no more use for the buffer. */
export type Write = (bytes: Buffer) => Promise<void> | void

/** How bytes become text. */
export interface Encoding {
  /** Encodes the bytes from `from` to `to`, which are whole. */
  write(out: LineWriter, bytes: Buffer, from: number, to: number): void
  /** Where a piece of something larger may end: at `to`, or shortly before. */
  cut(bytes: Buffer, from: number, to: number): number
}

const defaultFlushBytes = 131_072
/** A field above this is not copied into the buffer, but encoded piece by piece while it is written. */
const largeBytes = 65_536
const pieceBytes = 32_768

const zero = 0x30
const minus = 0x2d
const newline = 0x0a
const billion = 1_000_000_000
/** Two decimal digits each, from 00 to 99. */
const pairs = Uint8Array.from(
  {length: 200},
  (_, n) => zero + (n % 2 === 0 ? Math.floor(n / 20) : Math.floor(n / 2) % 10),
)

interface Deferred {
  /** In the buffer: what comes before it. */
  readonly upTo: number
  readonly bytes: Buffer
  readonly encoding: Encoding
}

/** Bytes of an ASCII constant, for {@link LineWriter.ascii}. */
export function constant(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

/**
 * Collects lines in one buffer and hands it on when it is {@link full}. Numbers are written digit by digit: nothing is
 * made a string on the way. Whoever writes asks `full` after each line and awaits {@link drain} then; until that has
 * returned, buffers that were given to {@link field} must stay as they are.
 */
export class LineWriter {
  /** The hot loops write here themselves, after {@link reserve}; `view` is of the same bytes, for four of them at once. */
  bytes: Buffer
  view: DataView
  at = 0

  readonly #write: Write
  readonly #flushBytes: number
  #deferred: Deferred[] = []

  constructor(write: Write, flushBytes: number = defaultFlushBytes) {
    this.#write = write
    this.#flushBytes = flushBytes
    this.bytes = Buffer.allocUnsafe(flushBytes + largeBytes)
    this.view = viewOf(this.bytes)
  }

  get full(): boolean {
    return this.at >= this.#flushBytes || this.#deferred.length > 0
  }

  /** Hands on everything that was written. */
  async drain(): Promise<void> {
    const {bytes, at} = this
    const deferred = this.#deferred
    this.#deferred = []
    let written = 0
    for (const field of deferred) {
      if (field.upTo > written) await this.#write(bytes.subarray(written, field.upTo))
      written = field.upTo
      await this.#piecewise(field)
    }
    if (at > written) await this.#write(bytes.subarray(written, at))
    if (bytes.length > 2 * (this.#flushBytes + largeBytes)) this.#use(Buffer.allocUnsafe(this.#flushBytes + largeBytes))
    this.at = 0
  }

  /** Makes room for `length` bytes behind {@link at}. */
  reserve(length: number): Buffer {
    if (this.bytes.length - this.at < length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.bytes.length, this.at + length))
      this.bytes.copy(larger, 0, 0, this.at)
      this.#use(larger)
    }
    return this.bytes
  }

  ascii(piece: Uint8Array): void {
    const length = piece.length
    const bytes = this.reserve(length)
    const at = this.at
    for (let n = 0; n < length; n++) bytes[at + n] = piece[n] as number
    this.at = at + length
  }

  text(text: string): void {
    const bytes = this.reserve(3 * text.length)
    this.at += bytes.write(text, this.at)
  }

  byte(value: number): void {
    this.reserve(1)[this.at++] = value
  }

  newline(): void {
    this.byte(newline)
  }

  /** An integer within ±2^53. */
  number(value: number): void {
    this.at = decimal(this.reserve(20), this.at, value)
  }

  integer(value: bigint): void {
    const number = Number(value)
    if (Number.isSafeInteger(number)) this.number(number)
    else this.text(value.toString())
  }

  boolean(value: boolean): void {
    this.ascii(value ? trueText : falseText)
  }

  /** A field of any size in some encoding. A large one is encoded only when it is written, in pieces. */
  field(bytes: Buffer, from: number, to: number, encoding: Encoding): void {
    if (to - from > largeBytes) this.#deferred.push({upTo: this.at, bytes: bytes.subarray(from, to), encoding})
    else encoding.write(this, bytes, from, to)
  }

  #use(bytes: Buffer): void {
    this.bytes = bytes
    this.view = viewOf(bytes)
  }

  async #piecewise({bytes, encoding}: Deferred): Promise<void> {
    const piece = new LineWriter(this.#write, pieceBytes)
    for (let from = 0; from < bytes.length; ) {
      const to = from + pieceBytes >= bytes.length ? bytes.length : encoding.cut(bytes, from, from + pieceBytes)
      encoding.write(piece, bytes, from, to)
      await piece.drain()
      from = to
    }
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const trueText = constant('true')
const falseText = constant('false')

/** Writes an integer within ±2^53 at `at`, and returns where it ends; needs 17 bytes. */
export function decimal(bytes: Buffer | Uint8Array, at: number, value: number): number {
  let position = at
  let rest = value
  if (rest < 0) {
    bytes[position++] = minus
    rest = -rest
  }
  if (rest < billion) return smallDecimal(bytes, position, rest)
  const high = Math.floor(rest / billion)
  position = smallDecimal(bytes, position, high)
  return padded(bytes, position, rest - high * billion, 9)
}

/** Below 2^31. */
function smallDecimal(bytes: Buffer | Uint8Array, at: number, value: number): number {
  if (value < 10) {
    bytes[at] = zero + value
    return at + 1
  }
  return padded(bytes, at, value, digitsOf(value))
}

function digitsOf(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4
  if (value < 100_000_000) return value < 1_000_000 ? (value < 100_000 ? 5 : 6) : value < 10_000_000 ? 7 : 8
  return value < billion ? 9 : 10
}

/** Exactly `digits` digits of a value below 2^31. */
export function padded(bytes: Buffer | Uint8Array, at: number, value: number, digits: number): number {
  let rest = value | 0
  let position = at + digits
  while (position - at >= 2) {
    const next = (rest / 100) | 0
    const pair = 2 * (rest - next * 100)
    bytes[--position] = pairs[pair + 1] as number
    bytes[--position] = pairs[pair] as number
    rest = next
  }
  if (position > at) bytes[--position] = zero + (rest % 10)
  return at + digits
}
