import {messageOf} from '../util/errors.js'
import {list} from '../util/format.js'
import {summary} from '../util/statistics.js'
import {allOf, graver, type Verdict} from './claims.js'
import type {AnyExperiment, Knobs, Sample, Trial, Trials} from './experiment.js'
import type {MeasureRecord, TrialRecord} from './run.js'

/** A trial as `trials.jsonl` has it. */
export interface StoredTrial {
  readonly number: number
  readonly condition: string
  readonly outcome: TrialRecord['outcome']
  readonly reason?: string
  readonly durationMs?: number
  /** What the method returned. */
  readonly observation?: unknown
}

export interface StoredRun {
  readonly trials: readonly StoredTrial[]
  /** How many trials that count each condition must have. */
  readonly planned: Readonly<Record<string, number>>
  readonly knobs: Readonly<Record<string, number>>
}

export interface Judgement {
  readonly verdict: Verdict
  /** In the order of their numbers. */
  readonly trials: readonly TrialRecord[]
  readonly measures: readonly MeasureRecord[]
  /** The trials that count, for figures and for the example. */
  readonly counted: Trials<unknown>
}

/**
 * Judges a run from what was stored, and from nothing else: the same function for a run that has just ended and for one
 * of last year. It can say "upheld" only if every condition has its planned number of trials whose preconditions were
 * met, there is a control, and nothing threw on the way.
 */
export function judge(note: AnyExperiment, stored: StoredRun): Judgement {
  const knobs = knobsOf(note, stored)
  const sorted = [...stored.trials].sort((a, b) => a.number - b.number)
  const trials = sorted.map((trial, index): TrialRecord => {
    const twice = sorted[index - 1]?.number === trial.number
    const {outcome, reason} = twice ? no(`trial ${trial.number} is stored twice`) : outcomeOf(note, trial, knobs)
    const {number, condition, durationMs = 0} = trial
    const measures = measure(note, trial, knobs)
    return {number, condition, outcome, ...(reason === undefined ? {} : {reason}), durationMs, measures}
  })
  const counting = sorted.filter((_, index) => trials[index]?.outcome === 'ok')
  const counted = trialsOf(note, counting, stored.planned)
  const ok = trials.filter(trial => trial.outcome === 'ok')
  return {
    verdict: verdictOf(note, counted, knobs, shortOf(note, ok, stored.planned)),
    trials,
    measures: summarise(note, ok),
    counted,
  }
}

interface Ruling {
  readonly outcome: TrialRecord['outcome']
  readonly reason?: string
}

const no = (reason: string): Ruling => ({outcome: 'inconclusive', reason})

/** A precondition is looked at again; what was inconclusive for another reason (no proof of the fault, …) stays so. */
function outcomeOf(note: AnyExperiment, trial: StoredTrial, knobs: Readonly<Record<string, number>>): Ruling {
  const {outcome, reason, observation} = trial
  if (outcome === 'failed') return reason === undefined ? {outcome} : {outcome, reason}
  if (outcome === 'inconclusive' && !isGiven(note, reason)) return no(reason ?? 'no reason was stored')
  const condition = own(note.conditions, trial.condition)
  if (condition === undefined) return no(`the experiment has no condition ${trial.condition}`)
  if (observation === undefined) return no('no observation was stored')
  for (const [name, holds] of Object.entries(note.given)) {
    try {
      if (holds(observation, condition, knobs) !== true) return no(name)
    } catch (error) {
      return no(`${name}: ${messageOf(error)}`)
    }
  }
  return {outcome: 'ok'}
}

function isGiven(note: AnyExperiment, reason: string | undefined): boolean {
  return Object.keys(note.given).some(name => reason === name || reason?.startsWith(`${name}: `))
}

function measure(
  note: AnyExperiment,
  trial: StoredTrial,
  knobs: Readonly<Record<string, number>>,
): Record<string, number | null> {
  const condition = own(note.conditions, trial.condition)
  return Object.fromEntries(
    Object.entries(note.measures).map(([name, {of}]) => {
      try {
        const value =
          condition === undefined || trial.observation === undefined ? null : of(trial.observation, condition, knobs)
        return [name, typeof value === 'number' && Number.isFinite(value) ? value : null]
      } catch {
        return [name, null] // A measure that can't be taken from this trial is a dash; the verdict does not rest on it.
      }
    }),
  )
}

function summarise(note: AnyExperiment, trials: readonly TrialRecord[]): MeasureRecord[] {
  return Object.keys(note.conditions).flatMap(condition =>
    Object.entries(note.measures).map(([name, {label, unit}]) => {
      const values = trials.filter(trial => trial.condition === condition).map(trial => trial.measures[name] ?? null)
      const {n = 0, median = null, min = null, max = null} = summary(values.filter(value => value !== null)) ?? {}
      return {condition, measure: name, label, unit, n, median, min, max}
    }),
  )
}

/** The trials that count, as a verdict asks for them. Asking for a condition that does not exist is a mistake, never an empty answer. */
export function trialsOf(
  note: AnyExperiment,
  trials: readonly Pick<StoredTrial, 'number' | 'condition' | 'observation'>[],
  planned: StoredRun['planned'],
): Trials<unknown> {
  const all = trials.map(({number, condition, observation}): Trial<unknown> => ({number, condition, observation}))
  const plan = (conditions: readonly string[]) =>
    conditions.reduce((sum, condition) => sum + plannedOf(note, planned, condition), 0)
  const sample = (chosen: readonly Trial<unknown>[], conditions: readonly string[]): Sample<unknown> =>
    Object.assign([...chosen], {planned: plan(conditions)})
  return {
    all: sample(all, Object.keys(note.conditions)),
    under: (...conditions) => {
      const unknown = conditions.find(condition => own(note.conditions, condition) === undefined)
      if (unknown !== undefined) throw new RangeError(`there is no condition ${unknown}`)
      return sample(
        all.filter(trial => conditions.includes(trial.condition)),
        [...new Set(conditions)],
      )
    },
  }
}

function verdictOf(
  note: AnyExperiment,
  counted: Trials<unknown>,
  knobs: Readonly<Record<string, number>>,
  short: string | undefined,
): Verdict {
  if (counted.all.length === 0) {
    const {claims} = claimed(note, counted, knobs)
    return {outcome: 'inconclusive', claims, because: 'no trial counts'}
  }
  const said = claimed(note, counted, knobs)
  if (short === undefined) return said
  return {
    ...said,
    outcome: graver(said.outcome, 'inconclusive'),
    because: [short, said.because].filter(Boolean).join('; '),
  }
}

/** The experiment's own verdict, but never better than its claims: a note can't say "upheld" without a control. */
function claimed(note: AnyExperiment, counted: Trials<unknown>, knobs: Readonly<Record<string, number>>): Verdict {
  try {
    const said: Verdict = note.verdict(counted, knobs)
    const {outcome, because} = allOf(...said.claims)
    const reason = said.because ?? because
    return {
      outcome: graver(said.outcome, outcome),
      claims: said.claims,
      ...(reason === undefined ? {} : {because: reason}),
    }
  } catch (error) {
    return {outcome: 'inconclusive', claims: [], because: `the verdict could not be formed: ${messageOf(error)}`}
  }
}

function shortOf(note: AnyExperiment, ok: readonly TrialRecord[], planned: StoredRun['planned']): string | undefined {
  const short = Object.keys(note.conditions).flatMap(condition => {
    const [have, want] = [ok.filter(trial => trial.condition === condition).length, plannedOf(note, planned, condition)]
    return have >= want ? [] : [`${have} of ${want} planned trials under ${condition}`]
  })
  return short.length === 0 ? undefined : `only ${list(short)} count`
}

/**
 * A condition of which the plan says nothing sensible needs a trial all the same. 0 is sensible for a condition that needs a
 * client which may not be there: it was left out, and no claim may rest on it.
 */
function plannedOf(note: AnyExperiment, planned: StoredRun['planned'], condition: string): number {
  const count = own(planned, condition)
  const {client} = (own(note.conditions, condition) ?? {}) as {client?: string}
  if (count === 0 && client !== undefined) return 0
  return typeof count === 'number' && count >= 1 ? count : 1
}

function knobsOf(note: AnyExperiment, {knobs}: StoredRun): Readonly<Record<string, number>> {
  const defaults = Object.fromEntries(Object.entries(note.knobs as Knobs).map(([name, knob]) => [name, knob.default]))
  return {...defaults, ...knobs}
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
