import {paint, safeText, wrap, type Screen} from './terminal.js'
import type {Failure} from './failure.js'

/** What every command can print. */
export const formats = ['text', 'wide', 'json', 'yaml'] as const
/** What a command whose answer is streamed can print, too. */
export const streamFormats = [...formats, 'ndjson', 'csv', 'kafka'] as const
export type Format = (typeof streamFormats)[number]

/** How text is to be laid out. */
export interface View {
  readonly columns: number
  readonly colour: boolean
  readonly unicode: boolean
  /** `-o wide`: more columns, nothing left out. */
  readonly wide: boolean
}

/** What a command has to say on stdout: one value, as data and for people. */
export interface Answer {
  readonly data: unknown
  text(view: View): string
  /** Exit code of a command that went well but whose answer is no (1) or unknown (3). */
  readonly exit?: number
}

/** Where a streamed answer goes. */
export interface Output {
  /**
   * Resolves when `bytes` may be reused; waits while the reader is slow. Written text is UTF-8.
   * @throws OutputClosed when nothing more can be written: whoever writes lets it pass
   */
  write(bytes: Uint8Array | string): Promise<void>
}

/** The reader went away (`| head`), or the disk is full. It ends the answer, and is no error of the command's. */
export class OutputClosed extends Error {}

/** An answer that may be larger than memory: it writes itself, piece by piece. */
export interface StreamedAnswer {
  /** Writes all of stdout; gives the exit code. `view` is for the formats that people read. */
  stream(output: Output, format: Format, view: View): Promise<number>
}

/** The whole of stdout, with its newline. */
export async function rendered(answer: Answer, format: Format, screen: Screen): Promise<string> {
  if (format === 'json') return `${JSON.stringify(plain(answer.data), null, 2)}\n`
  if (format === 'yaml') return yaml(answer.data)
  const {columns, colour, unicode} = screen
  const text = answer.text({columns, colour, unicode, wide: format === 'wide'})
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** An error as the one value on stdout (json, yaml); `undefined` for people, who read stderr. */
export async function renderedFailure(failure: Failure, format: Format): Promise<string | undefined> {
  if (format === 'json') return `${JSON.stringify({error: failure}, null, 2)}\n`
  if (format === 'yaml') return yaml({error: failure})
  return undefined
}

/** An error for people: one paragraph, its cause, and what to try. */
export function failureText(failure: Failure, screen: Screen): string {
  const columns = Math.min(screen.columns, 120)
  const label = failure.kind === 'interrupted' ? '' : 'Error: '
  const lines = [wrap(`${label}${failure.message}`, columns).replace(/^Error:/, paint('Error:', 'red', screen.colour))]
  if (failure.cause !== null && !failure.message.includes(failure.cause)) {
    lines.push(wrap(`Cause: ${failure.cause}`, columns, '       '))
  }
  for (const [index, suggestion] of failure.suggestions.entries()) {
    lines.push(`${index === 0 ? 'Try:  ' : '      '} ${wrap(suggestion, columns, '       ')}`)
  }
  if (failure.stack !== undefined) lines.push('', failure.stack)
  return `${lines.map(safeText).join('\n')}\n`
}

/** JSON has no 64-bit integers: offsets, timestamps and producer ids become strings, as in Kafka's own JSON. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)))
}

async function yaml(value: unknown): Promise<string> {
  return (await yamlBlock())(plain(value))
}

/** Writes plain data as YAML in block style. */
export async function yamlBlock(): Promise<(value: unknown) => string> {
  const {stringify} = await import('yaml')
  return value => stringify(value, {lineWidth: 0})
}

/**
 * Columns aligned for people: text to the left, numbers to the right, two spaces between. With `columns` the last one
 * is wrapped to fit.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  columns = Number.POSITIVE_INFINITY,
): string {
  const cells = [head, ...rows.map(row => row.map(String))]
  const widths = head.map((_, column) => Math.max(...cells.map(row => (row[column] ?? '').length)))
  const right = head.map((_, column) => rows.length > 0 && rows.every(row => typeof row[column] === 'number'))
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        if (right[column]) return cell.padStart(width)
        if (column < head.length - 1) return cell.padEnd(width)
        return wrap(cell, Math.max(20, columns - before)).replaceAll('\n', `\n${' '.repeat(before)}`)
      })
      .join('  ')
      .trimEnd()
  return cells.map(line).join('\n')
}
