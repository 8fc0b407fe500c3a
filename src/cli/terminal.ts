import {safe} from '../util/format.js'

/** What a stream can show. */
export interface Screen {
  readonly columns: number
  readonly colour: boolean
  /** The locale is UTF-8, or nobody says what it is. */
  readonly unicode: boolean
  /** A line may be overwritten: a terminal, and nobody asked for plain lines. */
  readonly live: boolean
}

export interface ScreenStream {
  readonly isTTY?: boolean
  readonly columns?: number
}

/**
 * Colour only on a terminal that can show it, unless `NO_COLOR` (any value) is set; `FORCE_COLOR` overrides a missing
 * terminal. `CI` and `TERM=dumb` mean plain lines. The width is the terminal's, else `COLUMNS`, else 80.
 */
export function screen(stream: ScreenStream, environment: NodeJS.ProcessEnv): Screen {
  const terminal = stream.isTTY === true && environment.TERM !== 'dumb'
  const forced = (environment.FORCE_COLOR ?? '') !== '' && environment.FORCE_COLOR !== '0'
  const columns = stream.columns ?? Number(environment.COLUMNS ?? 80)
  return {
    columns: Number.isInteger(columns) && columns >= 40 ? Math.min(columns, 200) : 80,
    colour: (environment.NO_COLOR ?? '') === '' && (terminal || forced),
    unicode: isUnicode(environment),
    live: terminal && !isCi(environment),
  }
}

/** The first of these that is set decides, as in POSIX; where none is (containers, CI) UTF-8 is what reads it today. */
function isUnicode({LC_ALL, LC_CTYPE, LANG}: NodeJS.ProcessEnv): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG
  return !locale || /utf-?8/i.test(locale)
}

function isCi({CI}: NodeJS.ProcessEnv): boolean {
  return CI !== undefined && CI !== '' && CI !== '0' && CI !== 'false'
}

/** Control characters of brokers' logs and file names must not reach the terminal; our own colours and lines may. */
export function safeText(text: string): string {
  return text
    .split(allowed)
    .map((part, index) => (index % 2 === 1 ? part : safe(part)))
    .join('')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape character
const allowed = /(\u001b\[\d+m|\n)/

const codes = {red: 31, green: 32, yellow: 33, bold: 1, dim: 2} as const

export function paint(text: string, tone: keyof typeof codes, colour: boolean): string {
  return colour ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text
}

/**
 * Wraps at word boundaries; what is longer than a line is left whole, because it may be a path or a command. Lines that
 * begin with a space stay as they are: they quote a log.
 */
export function wrap(text: string, columns: number, indent = ''): string {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    if (paragraph.startsWith(' ')) {
      lines.push(paragraph)
      continue
    }
    let line = ''
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > columns - indent.length) {
        lines.push(line)
        line = word
      } else {
        line = line === '' ? word : `${line} ${word}`
      }
    }
    lines.push(line)
  }
  return lines.map((line, index) => (index === 0 ? line : `${indent}${line}`)).join('\n')
}
