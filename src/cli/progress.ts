import {duration, safe} from '../util/format.js'
import {paint, safeText, type Screen} from './terminal.js'

export interface ProgressOptions {
  readonly screen: Screen
  /** `--no-progress`: warnings only. */
  readonly quiet: boolean
  readonly write: (text: string) => void
  readonly now?: () => number
}

const repaintMs = 250

/**
 * The conversation on stderr: a line per phase, and on a terminal one live line that shows what is going on right now
 * and for how long. Elsewhere (no terminal, `CI`, `TERM=dumb`) every line stays.
 */
export class Progress implements Disposable {
  readonly #options: ProgressOptions
  readonly #now: () => number
  #live: {text: string; sinceMs: number} | undefined
  #timer: NodeJS.Timeout | undefined
  #last = ''

  constructor(options: ProgressOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** A line that stays: what is being done, what was seen. */
  line(text: string): void {
    if (!this.#options.quiet) this.#print(text)
  }

  /** A line that even `--no-progress` shows. */
  warning(text: string): void {
    this.#print(`${paint('Warning', 'yellow', this.#options.screen.colour)}: ${text}`)
  }

  /** What is going on now. What went on before stays, with the time that it took. Off a terminal: a plain line, once. */
  live(text: string): void {
    if (this.#options.quiet) return
    if (!this.#options.screen.live) {
      if (text !== this.#last) this.#print(text)
      this.#last = text
      return
    }
    if (this.#live?.text === text) return
    if (this.#live) {
      this.#paint()
      this.#options.write('\n')
    }
    this.#live = {text, sinceMs: this.#now()}
    this.#timer ??= setInterval(() => this.#paint(), repaintMs).unref()
    this.#paint()
  }

  /** Ends the live line; with a text, that text stays in its place. */
  settle(text?: string): void {
    this.#erase()
    this.#live = undefined
    clearInterval(this.#timer)
    this.#timer = undefined
    if (text !== undefined) this.line(text)
  }

  [Symbol.dispose](): void {
    this.settle()
  }

  #print(text: string): void {
    this.#erase()
    this.#options.write(`${safeText(text)}\n`)
    this.#paint()
  }

  #paint(): void {
    if (this.#live === undefined) return
    const took = duration(this.#now() - this.#live.sinceMs)
    const room = this.#options.screen.columns - took.length - 3
    const text = safe(this.#live.text)
    this.#options.write(`\r\u001b[2K${text.length > room ? `${text.slice(0, room - 1)}…` : text}  ${took}`)
  }

  #erase(): void {
    if (this.#live !== undefined) this.#options.write('\r\u001b[2K')
  }
}
