import type {VerdictOutcome} from '../experiment/claims.js'
import type {Tone} from '../experiment/figures.js'
import type {TrialRecord} from '../experiment/run.js'
import {safe} from '../util/format.js'

export interface TextStyle {
  /** Colour carries nothing that a word or a mark does not say too. */
  readonly colour: boolean
  /** `false` where the locale is not UTF-8: everything is then ASCII. */
  readonly unicode: boolean
}

type Ink = 'green' | 'red' | 'yellow' | 'blue' | 'dim' | 'bold'
const codes: Readonly<Record<Ink, readonly [number, number]>> = {
  green: [32, 39],
  red: [31, 39],
  yellow: [33, 39],
  blue: [34, 39],
  dim: [2, 22],
  bold: [1, 22],
}

export const inkOfOutcome: Readonly<Record<VerdictOutcome | TrialRecord['outcome'], Ink>> = {
  upheld: 'green',
  ok: 'green',
  refuted: 'red',
  failed: 'red',
  inconclusive: 'yellow',
}
export const inkOfTone: Readonly<Record<Tone, Ink>> = {
  good: 'green',
  bad: 'red',
  warn: 'yellow',
  neutral: 'dim',
  accent: 'blue',
}

const marks = {upheld: ['✔', '+'], refuted: ['✘', 'x'], inconclusive: ['?', '?']} as const
const plainly: Readonly<Record<string, string>> = {
  '–': '-', '—': '-', '−': '-', '‑': '-', '…': '...', '→': '->', '←': '<-', '↔': '<->', '≥': '>=', '≤': '<=', '≠': '!=',
  '×': 'x', '·': '.', 'µ': 'u', '“': '"', '”': '"', '‘': "'", '’': "'", '\u00a0': ' ', '\u202f': ' ', '\u2009': ' ',
} // biome-ignore format: a table

/** How text is put on this terminal. Whatever comes from a record, a broker or an error passes through `text`. */
export interface Pen extends TextStyle {
  text(from: string): string
  mark(outcome: VerdictOutcome): string
  ink(ink: Ink, text: string): string
  readonly dash: string
  readonly ellipsis: string
}

export function penOf({colour, unicode}: TextStyle): Pen {
  return {
    colour,
    unicode,
    dash: unicode ? '–' : '-',
    ellipsis: unicode ? '…' : '...',
    text: from => (unicode ? oneLine(from) : ascii(oneLine(from))),
    mark: outcome => marks[outcome][unicode ? 0 : 1],
    ink: (ink, text) => (colour ? `\u001b[${codes[ink][0]}m${text}\u001b[${codes[ink][1]}m` : text),
  }
}

/** White space of any kind becomes one space; everything else that could move the cursor becomes visible. */
export function oneLine(text: string): string {
  return safe(text.replace(/\s+/gu, ' ').trim())
}

/** Only ASCII: signs that have a plain form take it, accents go, and what is left becomes `?`. */
export function ascii(text: string): string {
  return [...text]
    .map(character => plainly[character] ?? character)
    .join('')
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/[^\u0020-\u007e]/gu, '?')
}
