import {createInflateRaw, crc32, type InflateRaw} from 'node:zlib'
import {checkTrailer, cutHeader, headerEnd, trailerBytes} from './gzip.js'
import {piecesBeforeDamage} from './gzip-rescue.js'
import {CodecError} from './stream.js'

/** A header may have a name and a comment; more than this it has not. */
const headerBytesAtMost = 1_048_576

/**
 * `decodeGzip` in pieces: the same streams are read, with the same remarks.
 * @param stored Asked for anew where the stream is damaged
 * @throws CodecError
 */
export async function* gzipPieces(
  stored: () => AsyncIterable<Buffer>,
  remarks: string[],
): AsyncGenerator<Buffer, void, void> {
  const input = new Input(stored())
  try {
    for (let member = 1; ; member++) {
      const start = await input.header(remarks)
      if (typeof start === 'string') {
        if (member === 1) throw new CodecError(start)
        remarks.push(`${await input.drain()} bytes behind the gzip stream`)
        return
      }
      input.use(start)
      yield* memberPieces(input, stored)
      if (!(await input.hold(1))) return
    }
  } finally {
    await input.close()
  }
}

async function* memberPieces(input: Input, stored: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  const start = input.position
  const inflate = createInflateRaw({chunkSize: 65_536})
  let failure: unknown
  const feeding = feed(inflate, input).catch(error => {
    failure = error
    inflate.destroy()
  })
  let [checksum, size, given] = [0, 0, 0]
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      checksum = crc32(piece, checksum)
      size = (size + piece.length) % 2 ** 32
      given += piece.length
      yield piece
    }
  } catch (error) {
    if (failure !== undefined) throw failure
    inflate.destroy()
    await feeding
    yield* piecesBeforeDamage(stored, start, given)
    throw new CodecError(`a damaged gzip stream: ${(error as Error).message}`)
  } finally {
    inflate.destroy()
    await feeding
  }
  input.use(inflate.bytesWritten)
  if (!(await input.hold(trailerBytes))) throw new CodecError('the gzip stream has no trailer')
  checkTrailer(input.held, 0, checksum, size)
  input.use(trailerBytes)
}

/** Writes what is held, and then piece after piece, until the stream is closed; what was not used is held then. */
async function feed(inflate: InflateRaw, input: Input): Promise<void> {
  const closed = new Promise<void>(resolve => inflate.once('close', resolve))
  for (let piece: Buffer | undefined = input.held; piece && !inflate.destroyed; piece = await input.next()) {
    const bytes = piece
    await Promise.race([new Promise<void>(resolve => inflate.write(bytes, () => resolve())), closed])
  }
  if (!inflate.destroyed) inflate.end()
}

class Input {
  /** Copies: the source may read into the same memory again. */
  held: Buffer = Buffer.alloc(0)
  /** Of what is held, in the stream, after {@link use}. */
  position = 0
  /** Bytes before those that are held, since the last {@link use}. */
  #passed = 0
  readonly #pieces: AsyncIterator<Buffer>

  constructor(stored: AsyncIterable<Buffer>) {
    this.#pieces = stored[Symbol.asyncIterator]()
  }

  /** The next piece, which is then what is held. */
  async next(): Promise<Buffer | undefined> {
    const {done, value} = await this.#pieces.next()
    if (done) return undefined
    this.#passed += this.held.length
    this.held = Buffer.from(value)
    return this.held
  }

  /** False: there are not so many. */
  async hold(count: number): Promise<boolean> {
    while (this.held.length < count) {
      const {done, value} = await this.#pieces.next()
      if (done) return false
      this.held = Buffer.concat([this.held, value])
    }
    return true
  }

  /** Where the header ends that is held, or why it is none. */
  async header(remarks: string[]): Promise<number | string> {
    for (;;) {
      const end = headerEnd(this.held, 0, remarks)
      if (end !== cutHeader || this.held.length > headerBytesAtMost) return end
      if (!(await this.hold(this.held.length + 1))) return end
    }
  }

  /** So many bytes are used up, counted from what was held after the last call. */
  use(count: number): void {
    this.held = this.held.subarray(count - this.#passed)
    this.position += count
    this.#passed = 0
  }

  async drain(): Promise<number> {
    let count = this.held.length
    for (let piece = await this.next(); piece; piece = await this.next()) count += piece.length
    return count
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }
}
