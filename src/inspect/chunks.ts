import type {Write} from '../log/text/line-writer.js'

const flushCharacters = 131_072

/** Collects text and hands it on when it is {@link full}, as a `LogVisitor` wants it. */
export class Chunks {
  #parts: string[] = []
  #characters = 0
  readonly #write: Write

  constructor(write: Write) {
    this.#write = write
  }

  add(text: string): void {
    this.#parts.push(text)
    this.#characters += text.length
  }

  get isEmpty(): boolean {
    return this.#characters === 0
  }

  get full(): boolean {
    return this.#characters >= flushCharacters
  }

  async drain(): Promise<void> {
    if (this.#characters === 0) return
    const text = this.#parts.join('')
    this.#parts = []
    this.#characters = 0
    await this.#write(Buffer.from(text))
  }
}
