import {type Output, OutputClosed} from './answer.js'

/**
 * Stdout for answers that are larger than memory: each write waits until the system took it, so that a slow reader slows
 * the reading of files down and nothing piles up. A reader that goes away is no error; any other
 * failure was told by the stream's listener (`main.ts`). Both end the answer.
 */
export class Stdout implements Output, Disposable {
  /** Something was written. */
  written = false
  /** Writing failed for another reason than a reader that went away, e.g. a full disk. */
  failed = false
  #closed = false
  readonly #stream: NodeJS.WriteStream
  readonly #onError = (error: NodeJS.ErrnoException) => {
    this.#closed = true
    this.failed ||= error.code !== 'EPIPE'
  }

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    stream.on('error', this.#onError)
  }

  async write(bytes: Uint8Array | string): Promise<void> {
    if (this.#closed) throw new OutputClosed('stdout is closed')
    if (bytes.length === 0) return
    this.written = true
    await new Promise<void>(resolve => {
      this.#stream.write(bytes, 'utf8', error => {
        if (error) this.#onError(error)
        resolve()
      })
    })
    if (this.#closed) throw new OutputClosed('stdout is closed')
  }

  [Symbol.dispose](): void {
    this.#stream.off('error', this.#onError)
  }
}
