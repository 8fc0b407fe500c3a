import type {Output} from './answer.js'

/**
 * Stdout for answers that are larger than memory: each write waits until the system took it, so that a slow reader slows
 * the reading of files down and nothing piles up. A reader that goes away is no error, and `gone` says so; any other
 * failure was told by the stream's listener (`main.ts`), and ends the answer too.
 */
export class Stdout implements Output, Disposable {
  /** Something was written. */
  written = false
  /** Writing failed for another reason than a reader that went away, e.g. a full disk. */
  failed = false
  #gone = false
  readonly #stream: NodeJS.WriteStream
  readonly #onError = (error: NodeJS.ErrnoException) => {
    this.#gone = true
    this.failed ||= error.code !== 'EPIPE'
  }

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    stream.on('error', this.#onError)
  }

  get gone(): boolean {
    return this.#gone
  }

  async write(bytes: Uint8Array | string): Promise<void> {
    if (this.#gone || bytes.length === 0) return
    this.written = true
    await new Promise<void>(resolve => {
      this.#stream.write(bytes, 'utf8', error => {
        if (error) this.#onError(error)
        resolve()
      })
    })
  }

  [Symbol.dispose](): void {
    this.#stream.off('error', this.#onError)
  }
}
