import type {FindingCode} from '../verify/codes.js'
import {isUtf8} from 'node:buffer'
import type {Finding} from '../finding.js'

/** What is wrong or worth knowing in a text file: a {@link Finding} that doesn't know yet how the file was named. */
export type TextProblem = Omit<Finding, 'file' | 'offset'>

/** Problems of one code that are told one by one; more of them are counted. */
const toldOfEach = 20

/** Collects problems of a file whose lines may all be wrong. */
export class ProblemList {
  readonly #told: TextProblem[] = []
  readonly #counts = new Map<FindingCode, number>()

  /** `explain` is called only if it is told. */
  add(problem: Omit<TextProblem, 'explanation'>, explain: () => string): void {
    const count = (this.#counts.get(problem.code) ?? 0) + 1
    this.#counts.set(problem.code, count)
    if (count <= toldOfEach) this.#told.push({...problem, explanation: explain()})
  }

  all(): readonly TextProblem[] {
    const more = [...this.#counts].flatMap(([code, count]) => {
      const last = this.#told.findLast(problem => problem.code === code)
      if (count <= toldOfEach || !last) return []
      const {severity, consequence} = last
      const explanation = `${count - toldOfEach} more lines are like those before (${code})`
      return [{code, severity, explanation, ...(consequence ? {consequence} : {})}]
    })
    return [...this.#told, ...more]
  }
}

export interface TextLine {
  /** From 1. */
  readonly number: number
  /** Of the line's first byte in the file. */
  readonly position: number
  /** Without its end. Bytes that are no UTF-8 are U+FFFD. */
  readonly text: string
}

export interface TextLines {
  /** At most {@link linesAtMost}. */
  readonly lines: readonly TextLine[]
  /** Of the whole text. */
  readonly lineCount: number
  /** Not UTF-8, carriage returns, no line end at the end: what is odd about the text as such. */
  readonly problems: readonly TextProblem[]
}

/** No file of Kafka comes near it: 250,000 partitions on one broker. It bounds the memory for other files. */
export const linesAtMost = 250_000

/** The lines as Java's BufferedReader gives them: ended by LF, CR or CRLF, and no empty one behind the last line end. */
export function textLines(bytes: Buffer, {endsInNewline}: {readonly endsInNewline: boolean}): TextLines {
  const lines: TextLine[] = []
  let [start, lineCount, hasCarriageReturns] = [0, 0, false]
  const take = (end: number) => {
    lineCount++
    if (lineCount <= linesAtMost) {
      lines.push({number: lineCount, position: start, text: bytes.toString('utf8', start, end)})
    }
  }
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte !== 0x0a && byte !== 0x0d) continue
    take(at)
    if (byte === 0x0d) {
      hasCarriageReturns = true
      if (bytes[at + 1] === 0x0a) at++
    }
    start = at + 1
  }
  const isUnfinished = start < bytes.length
  if (isUnfinished) take(bytes.length)

  const problems: TextProblem[] = []
  if (lineCount > linesAtMost) {
    problems.push({
      code: 'too-many-lines',
      severity: 'warning',
      explanation: `of ${lineCount} lines only the first ${linesAtMost} were read`,
    })
  }
  if (!isUtf8(bytes)) {
    problems.push({
      code: 'not-utf8',
      severity: 'error',
      explanation: 'the text is not UTF-8',
      consequence: 'Kafka refuses the file (MalformedInputException)',
    })
  }
  if (hasCarriageReturns) {
    problems.push({
      code: 'carriage-returns',
      severity: 'info',
      explanation: 'lines end in a carriage return: another program than Kafka has written the file',
      consequence: 'Kafka reads it all the same',
    })
  }
  if (endsInNewline && isUnfinished) {
    problems.push({
      code: 'unfinished-line',
      severity: 'warning',
      position: lines.at(-1)?.position ?? 0,
      explanation: 'the last line has no end: the file was cut, or another program than Kafka has written it',
      consequence: 'Kafka takes the line as it stands',
    })
  }
  return {lines, lineCount, problems}
}

/** Java's Integer.parseInt and Long.parseLong: decimal digits with an optional sign, within the bits; else undefined. */
export function javaInteger(text: string, bits: 32 | 64): bigint | undefined {
  if (!/^[+-]?[0-9]{1,40}$/.test(text)) return undefined
  const value = BigInt(text.replace(/^\+/, ''))
  return BigInt.asIntN(bits, value) === value ? value : undefined
}

/** Java's `split("\\s+")`: leading blanks give an empty first field, trailing ones nothing. */
export function javaFields(line: string): readonly string[] {
  const fields = line.split(/[ \t\n\v\f\r]+/)
  while (fields.length > 1 && fields.at(-1) === '') fields.pop()
  return fields
}

/** A damaged line for messages: short, and without anything that drives a terminal. */
export function quoted(text: string, charactersAtMost = 80): string {
  const short = text.length > charactersAtMost ? `${text.slice(0, charactersAtMost)}…` : text
  return JSON.stringify(short).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
