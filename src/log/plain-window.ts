/** What one record may have at most: it is held whole. */
export const recordBytesAtMost = 134_217_728

/** From here on a window is made as large as it may ever have to be: memory that is not used yet costs nothing. */
const largeBytes = 4_194_304
const spareBytes = 65_536

/** Memory that windows use one after the other. */
export interface WindowMemory {
  bytes: Buffer
}

/** Plain bytes that come in pieces, of which as many are held as the record at hand needs. */
export class PlainWindow {
  bytes: Buffer
  /** Of the next record in `bytes`. */
  at = 0
  /** Of what is held in `bytes`. */
  limit = 0
  /** All that came so far. */
  total = 0
  isEnded = false
  readonly #pieces: AsyncIterator<Buffer>

  constructor(
    pieces: AsyncIterable<Buffer>,
    readonly atMost: number,
    readonly memory: WindowMemory,
  ) {
    this.bytes = memory.bytes
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  get left(): number {
    return this.limit - this.at
  }

  /** Until so many bytes are held, or no more come. @throws TooManyBytes, and what the pieces throw */
  async fill(needed: number): Promise<void> {
    while (this.left < needed) {
      const piece = await this.#next()
      if (!piece) return
      this.#room(Math.max(needed, this.left + piece.length), piece.length)
      piece.copy(this.bytes, this.limit)
      this.limit += piece.length
    }
  }

  /** How many bytes come after what was used; none of them is held. */
  async drain(): Promise<number> {
    let count = this.left
    for (let piece = await this.#next(); piece; piece = await this.#next()) count += piece.length
    return count
  }

  async close(): Promise<void> {
    this.isEnded = true
    await this.#pieces.return?.()
  }

  async #next(): Promise<Buffer | undefined> {
    if (this.isEnded) return undefined
    const {done, value} = await this.#pieces.next()
    if (done) {
      this.isEnded = true
      return undefined
    }
    this.total += value.length
    if (this.total > this.atMost) throw new TooManyBytes()
    return value
  }

  /** `size` is what the buffer must hold from `at` on. A record may have 100 MiB, and the next one a bit more. */
  #room(size: number, coming: number): void {
    if (this.limit + coming <= this.bytes.length && this.at + size <= this.bytes.length) return
    const held = this.bytes.subarray(this.at, this.limit)
    if (size <= this.bytes.length) this.bytes.copyWithin(0, this.at, this.limit)
    else {
      const possible = Math.min(this.atMost - this.total + this.left + coming, recordBytesAtMost)
      const grown = Buffer.allocUnsafeSlow((size > largeBytes ? Math.max(size, possible) : size) + spareBytes)
      held.copy(grown)
      this.bytes = grown
      this.memory.bytes = grown
    }
    this.limit -= this.at
    this.at = 0
  }
}

export class TooManyBytes extends Error {}
