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
const countEveryMs = 10_000

interface Live {
  readonly text: string
  readonly sinceMs: number
}

/**
 * The conversation on stderr: a line per phase, and on a terminal one live line that shows what is going on right now
 * and for how long. Elsewhere (no terminal, `CI`, `TERM=dumb`) every line stays.
 */
export class Progress implements Disposable {
  readonly #options: ProgressOptions
  readonly #now: () => number
  #live: Live | undefined
  #timer: NodeJS.Timeout | undefined
  #printedMs = 0

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

  /**
   * What is going on now. What went on before stays, with the time that it took; a counter (`jars: 12.0 MiB of
   * 54.1 MiB`) goes on in its line. Off a terminal: a plain line, once; counters every 10 s.
   */
  live(text: string): void {
    if (this.#options.quiet || this.#live?.text === text) return
    const before = this.#live
    const nowMs = this.#now()
    const isSame = before !== undefined && headOf(before.text) === headOf(text)
    this.#live = {text, sinceMs: isSame ? before.sinceMs : nowMs}
    if (!this.#options.screen.live) {
      if (isSame && nowMs - this.#printedMs < countEveryMs) return
      this.#printedMs = nowMs
      this.#options.write(`${safeText(text)}\n`)
      return
    }
    if (before && !isSame) this.#options.write(`${this.#lineOf(before)}\n`)
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
    if (this.#live && this.#options.screen.live) this.#options.write(this.#lineOf(this.#live))
  }

  #lineOf({text, sinceMs}: Live): string {
    const took = duration(this.#now() - sinceMs)
    const room = this.#options.screen.columns - took.length - 3
    const told = safe(text)
    return `${erase}${told.length > room ? `${told.slice(0, room - 1)}…` : told}  ${took}`
  }

  #erase(): void {
    if (this.#live && this.#options.screen.live) this.#options.write(erase)
  }
}

const erase = '\r\u001b[2K'

/** What stays the same while something is counted. */
function headOf(text: string): string {
  return text.replace(/: [\d.,]+ ?[KMGi]*B( of .+)?$/, '')
}
