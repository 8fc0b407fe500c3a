import {messageOf} from '../util/errors.js'
import {list} from '../util/format.js'
import {median} from '../util/statistics.js'
import type {Sample, Trial} from './experiment.js'

export type VerdictOutcome = 'upheld' | 'refuted' | 'inconclusive'
export type Quantifier = 'always' | 'sometimes' | 'ordered' | 'control'

export interface Claim {
  readonly claim: string
  readonly quantifier: Quantifier
  readonly outcome: VerdictOutcome
  /** e.g. `in 3 of 3 trials`, `not in trial 4`, `only 1 of 3 planned trials could tell`. */
  readonly because: string
  /** How many trials could have shown the opposite. */
  readonly telling: number
}

export interface Verdict {
  readonly outcome: VerdictOutcome
  readonly claims: readonly Claim[]
  /** Why the outcome is not what the claims alone would give (no control, too few trials). */
  readonly because?: string
}

type Says<O> = (observation: O) => boolean
export type {Sample, Says}

export interface ClaimTest<O> {
  /** Could this trial have shown the opposite? Every trial, if not said. */
  readonly tells?: Says<O>
  readonly holds: Says<O>
}

/** Must be true of every trial in which it could have failed. One counter-example refutes; fewer telling trials than planned prove nothing. */
export function always<O>(claim: string, trials: Sample<O>, test: ClaimTest<O>): Claim {
  return everyTrial('always', claim, trials, test)
}

/** The arm of the experiment that must come out the other way. Judged like `always`; without one `allOf` upholds nothing. */
export function control<O>(claim: string, trials: Sample<O>, test: ClaimTest<O>): Claim {
  return everyTrial('control', claim, trials, test)
}

/** `always`, said of what must not be: one trial in which it `happens` refutes. */
export function never<O>(
  claim: string,
  trials: Sample<O>,
  test: {readonly tells?: Says<O>; readonly happens: Says<O>},
): Claim {
  const {tells, happens} = test
  const holds: Says<O> = observation => !answer(happens, observation)
  return everyTrial('always', claim, trials, tells ? {tells, holds} : {holds})
}

/**
 * Must be seen once, in a sample that has its planned size. Not seen, it is refuted only if `tells` was given, that is if
 * the experiment says which trials had to show it were it true, and as many of them as planned did not. Without `tells`
 * the absence of a witness is no proof.
 */
export function sometimes<O>(claim: string, trials: Sample<O>, test: ClaimTest<O>): Claim {
  const {telling, held, broken, unreadable} = examine(trials, test)
  const say = sayer('sometimes', claim, telling)
  if (unreadable) return say('inconclusive', unreadable)
  if (held.length > 0 && enough(trials.length, trials)) {
    return say('upheld', `seen in ${held.length} of ${telling} trials`)
  }
  if (held.length > 0) {
    return say(
      'inconclusive',
      `seen in ${held.length}, but only ${trials.length} of ${trials.planned} planned trials count`,
    )
  }
  if (!enough(telling, trials)) return say('inconclusive', tooFew(telling, trials))
  if (test.tells) return say('refuted', `seen in none of ${broken.length} trials that had to show it`)
  return say('inconclusive', `not seen in ${telling} ${telling === 1 ? 'trial' : 'trials'}`)
}

export interface Comparison<O> {
  readonly slow: Sample<O>
  readonly fast: Sample<O>
  /** The value to compare, in any unit that has a zero; `null`: this trial can't tell. */
  readonly of: (observation: O) => number | null
}

/**
 * Every value of `slow` is at least `by` times every value of `fast`: all pairs. A pair the other way round refutes; one in
 * between is inconclusive, because a busy machine can make a short time long, and only the order is Kafka's own.
 */
export function slower<O>(claim: string, {slow, fast, by, of}: Comparison<O> & {readonly by: number}): Claim {
  const [slowValues, fastValues] = [valuesOf(slow, of), valuesOf(fast, of)]
  const say = sayer('always', claim, slowValues.length + fastValues.length)
  const [slowest, fastest] = [extreme(slowValues, -1), extreme(fastValues, 1)]
  if (slowest && fastest && slowest.value < fastest.value) {
    return say('refuted', `trial ${slowest.number} took less than trial ${fastest.number}`)
  }
  const unreadable = slowValues.unreadable ?? fastValues.unreadable
  if (unreadable) return say('inconclusive', unreadable)
  if (!enough(slowValues.length, slow)) return say('inconclusive', tooFew(slowValues.length, slow))
  if (!enough(fastValues.length, fast)) return say('inconclusive', tooFew(fastValues.length, fast))
  const ratio = slowest && fastest && fastest.value > 0 ? slowest.value / fastest.value : Number.POSITIVE_INFINITY
  if (ratio < by)
    return say(
      'inconclusive',
      `only ${ratio.toFixed(1)} times, between trials ${slowest?.number} and ${fastest?.number}`,
    )
  const pairs = slowValues.length * fastValues.length
  return say('upheld', `in ${pairs} of ${pairs} pairs`)
}

/** How many blocks an order needs before five in a row stop being luck (1 in 32). */
export const leastBlocks = 5
/** A median ratio below this is "no significant difference", however well the blocks agree. */
export const leastRatio = 1.1

/**
 * `slow` takes more than `fast`: all of at least five blocks agree and the median ratio is at least 1.1. All blocks the
 * other way round refute; all else is "no significant difference". A block is one trial of each sample, paired by
 * `block` or, if that is not said, by the order of their numbers.
 */
export function ordered<O>(
  claim: string,
  comparison: Comparison<O> & {readonly block?: (observation: O) => number | string},
): Claim {
  const {slow, fast, of, block} = comparison
  const [slowValues, fastValues] = [valuesOf(slow, of, block), valuesOf(fast, of, block)]
  const ratios = slowValues.flatMap(({key, value}) => {
    const other = fastValues.find(candidate => candidate.key === key)
    return other && other.value > 0 && value > 0 ? [value / other.value] : []
  })
  const say = sayer('ordered', claim, ratios.length)
  const unreadable = slowValues.unreadable ?? fastValues.unreadable
  if (unreadable) return say('inconclusive', unreadable)
  const needed = Math.max(leastBlocks, slow.planned, fast.planned)
  if (!(ratios.length >= needed)) return say('inconclusive', `only ${ratios.length} of ${needed} blocks could tell`)
  const middle = median(ratios)
  const agreeing = ratios.filter(ratio => ratio > 1).length
  if (ratios.every(ratio => ratio < 1))
    return say('refuted', `the other way round in ${ratios.length} of ${ratios.length} blocks`)
  if (agreeing === ratios.length && middle >= leastRatio) {
    return say('upheld', `in ${agreeing} of ${agreeing} blocks, median ratio ${middle.toFixed(2)}`)
  }
  return say(
    'inconclusive',
    `no significant difference: ${agreeing} of ${ratios.length} blocks, median ratio ${middle.toFixed(2)}`,
  )
}

const gravity = {upheld: 0, inconclusive: 1, refuted: 2} as const

/** The graver of two outcomes. */
export function graver(a: VerdictOutcome, b: VerdictOutcome): VerdictOutcome {
  return gravity[a] >= gravity[b] ? a : b
}

/** The gravest outcome wins, and every reason is kept. Nothing claimed, or nothing that serves as a control: inconclusive at best. */
export function allOf(...claims: readonly Claim[]): Verdict {
  if (claims.length === 0) return {outcome: 'inconclusive', claims, because: 'nothing was claimed'}
  const outcome = claims.map(claim => claim.outcome).reduce(graver)
  if (claims.some(claim => claim.quantifier === 'control')) return {outcome, claims}
  return {outcome: graver(outcome, 'inconclusive'), claims, because: 'there is no control'}
}

function everyTrial<O>(quantifier: Quantifier, claim: string, trials: Sample<O>, test: ClaimTest<O>): Claim {
  const {telling, held, broken, unreadable} = examine(trials, test)
  const say = sayer(quantifier, claim, telling)
  if (broken.length > 0) return say('refuted', `not in ${broken.length === 1 ? 'trial' : 'trials'} ${list(broken)}`)
  if (unreadable) return say('inconclusive', unreadable)
  if (!enough(telling, trials)) return say('inconclusive', tooFew(telling, trials))
  return say('upheld', `in ${held.length} of ${telling} trials`)
}

interface Examined {
  readonly telling: number
  readonly held: readonly number[]
  readonly broken: readonly number[]
  /** Why a trial could not be judged (jepsen calls it check-safe: a checker that throws has not passed). */
  readonly unreadable?: string
}

/** Asks each trial, by number, so that the order in which trials are handed in never shows. */
function examine<O>(trials: Sample<O>, {tells, holds}: ClaimTest<O>): Examined {
  const [held, broken]: [number[], number[]] = [[], []]
  let unreadable: string | undefined
  for (const {number, observation} of byNumber(trials)) {
    try {
      if (tells && !answer(tells, observation)) continue
      if (answer(holds, observation)) held.push(number)
      else broken.push(number)
    } catch (error) {
      unreadable ??= `trial ${number} could not be judged: ${messageOf(error)}`
    }
  }
  return {telling: held.length + broken.length, held, broken, ...(unreadable === undefined ? {} : {unreadable})}
}

function answer<O>(says: Says<O>, observation: O): boolean {
  const said: unknown = says(observation)
  if (typeof said !== 'boolean') throw new TypeError('it says neither yes nor no')
  return said
}

interface Values
  extends ReadonlyArray<{readonly number: number; readonly key: number | string; readonly value: number}> {
  readonly unreadable?: string
}

function valuesOf<O>(trials: Sample<O>, of: Comparison<O>['of'], block?: (observation: O) => number | string): Values {
  const values: {number: number; key: number | string; value: number}[] = []
  let unreadable: string | undefined
  byNumber(trials).forEach(({number, observation}, rank) => {
    try {
      const value = of(observation)
      if (typeof value === 'number' && Number.isFinite(value))
        values.push({number, key: block ? block(observation) : rank, value})
    } catch (error) {
      unreadable ??= `trial ${number} could not be judged: ${messageOf(error)}`
    }
  })
  return unreadable === undefined ? values : Object.assign(values, {unreadable})
}

/** The greatest (1) or the least (-1) value. */
function extreme(values: Values, sign: 1 | -1): Values[number] | undefined {
  return values.reduce<Values[number] | undefined>(
    (best, entry) => (best && sign * (entry.value - best.value) <= 0 ? best : entry),
    undefined,
  )
}

function byNumber<O>(trials: readonly Trial<O>[]): Trial<O>[] {
  return [...trials].sort((a, b) => a.number - b.number)
}

/** Written so that a plan that is missing or not a number is never met. */
function enough(telling: number, {planned}: {readonly planned: number}): boolean {
  return telling > 0 && telling >= planned
}

function tooFew(telling: number, {planned}: {readonly planned: number}): string {
  return telling === 0 ? 'no trial could tell' : `only ${telling} of ${planned} planned trials could tell`
}

function sayer(quantifier: Quantifier, claim: string, telling: number) {
  return (outcome: VerdictOutcome, because: string): Claim => ({claim, quantifier, outcome, because, telling})
}
