import type {MeasureRecord, RunRecord} from '../experiment/run.js'
import {bytes, duration, grouped} from '../util/format.js'

export type Column = RunRecord['columns'][number]

/** A measured number for people: `8.6 s`, `1,500`, `12.3`; a dash for what does not apply. */
export function quantity(value: number | null, unit: string, dash = '–'): string {
  if (value === null || Number.isNaN(value)) return dash
  if (!Number.isFinite(value)) return String(value)
  if (unit === 'ms')
    return Math.abs(value) < 10 && !Number.isInteger(value) ? `${Number(value.toPrecision(2))} ms` : duration(value)
  if (unit === 'bytes' && value >= 0) return bytes(value)
  return plainNumber(value)
}

function plainNumber(value: number): string {
  if (Object.is(value, -0)) return '0'
  const rounded = Number.isInteger(value) || Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3))
  return Math.abs(rounded) < 1e15 && Math.abs(rounded) >= 1e-6 ? grouped(rounded) : String(rounded)
}

/** `7.9–8.6 s`: two numbers of one unit, which then stands once. */
export function range(min: number, max: number, unit: string, dash = '–'): string {
  const [low, high] = [quantity(min, unit, dash), quantity(max, unit, dash)]
  if (low === high) return low
  const [left, right] = [low, high].map(text => /^([\d.,]+)(\D*)$/.exec(text))
  if (left && right && left[2] === right[2]) return `${left[1]}${dash}${right[1]}${right[2]}`
  return `${low} ${dash} ${high}`
}

/** A condition's cell: the number that all trials agree on; else the median, or min–max where fewer than six values were seen. */
export function cell(measure: MeasureRecord | undefined, dash = '–'): string {
  if (!measure || measure.n === 0 || measure.median === null || measure.min === null || measure.max === null)
    return dash
  if (measure.min === measure.max) return quantity(measure.min, measure.unit, dash)
  return measure.n < 6
    ? range(measure.min, measure.max, measure.unit, dash)
    : quantity(measure.median, measure.unit, dash)
}

export function measureOf(run: RunRecord, condition: string, measure: string): MeasureRecord | undefined {
  return run.measures.find(each => each.condition === condition && each.measure === measure)
}

/** Durations and sizes carry their unit in the cell; a plural noun (`records`) says only what is counted. Other units stand in the head. */
export function headUnit(unit: string): string | undefined {
  return unit === '' ||
    unit === 'ms' ||
    unit === 'bytes' ||
    (/^[a-z]{2,}s$/.test(unit) && unit !== 'ns' && unit !== 'us')
    ? undefined
    : unit
}

/** The unit as a column head names it: none where each cell has its own (`8.6 s`, `1.5 KiB`). */
export function shownUnit(unit: string | undefined): string | undefined {
  return unit === 'ms' || unit === 'bytes' ? undefined : unit
}

export function withUnit(label: string, unit: string | undefined): string {
  return unit === undefined || unit === '' ? label : `${label} (${unit})`
}

export function labelOf(run: RunRecord, condition: string): string {
  return run.conditions.find(each => each.id === condition)?.label ?? condition
}

/** `2026-11-29 19:36 UTC`; what is no date is given back as it is. */
export function moment(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(iso)
  return match ? `${match[1]} ${match[2]} UTC` : iso
}

export function plannedTrials(run: RunRecord): number {
  return run.conditions.reduce((sum, {planned}) => sum + planned, 0)
}

/** `UPHELD`, and for a run that did not come to its end: how far it came. */
export function outcomeWords(run: RunRecord): string {
  const done = `after ${run.trials.length} of ${plannedTrials(run)} trials`
  const how = {
    done: '',
    running: ` (still running, ${done})`,
    interrupted: ` (interrupted ${done})`,
    failed: ` (failed ${done})`,
  }
  return run.verdict.outcome.toUpperCase() + how[run.state]
}

/** `on Kafka 4.4.0, local, profile default, in 1 m 52 s`. */
export function circumstances(run: RunRecord): string {
  const quick = run.quick ? ', quick' : ''
  return `on Kafka ${run.environment.kafka}, ${run.environment.runtime}, profile ${run.cluster.spec.profile}${quick}, in ${duration(run.durationMs)}`
}

/** "It does not show what a power cut does." from the experiment's own sentence, which may go on after a colon. */
export function limits(run: RunRecord): string | undefined {
  const first = run.doesNotShow.split(/[:;]|\.(?=\s|$)/, 1)[0]?.trim()
  if (!first) return undefined
  const lower = /^(What|Whether|How|That|Why|Which|Who|When|Where|If|The|A|An|Anything|Any|Nothing)\b/.test(first)
  return `It does not show ${lower ? first.charAt(0).toLowerCase() + first.slice(1) : first}.`
}

/** A claim as it is read: controls say that they are. */
export function claimText({claim, quantifier}: RunRecord['verdict']['claims'][number]): string {
  return quantifier === 'control' && !/\bcontrol\b/.test(claim) ? `${claim} (control)` : claim
}

/** A reason as a sentence: "no control" → "No control." */
export function sentence(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') return ''
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? '' : '.')
}
