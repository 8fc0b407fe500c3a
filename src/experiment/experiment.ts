import type {Reach} from '../wire/types.js'
import type {Profile} from '../cluster/spec.js'
import type {ClientName} from '../history/told.js'
import type {Bench} from './bench.js'
import type {Verdict} from './claims.js'
import type {Figure} from './figures.js'

export interface IntegerKnob {
  readonly kind: 'integer'
  readonly default: number
  readonly summary: string
  readonly min: number
  readonly max: number
}

/** A whole number that is a flag of the experiment's command: `--records 500`. */
export function integer(knob: {default: number; summary: string; min?: number; max?: number}): IntegerKnob {
  return {kind: 'integer', min: 1, max: 1_000_000, ...knob}
}

export type Knobs = Readonly<Record<string, IntegerKnob>>
export type KnobValues<K extends Knobs> = {readonly [name in keyof K]: number}

export interface TopicSpec {
  readonly replicationFactor: number
  readonly config: Readonly<Record<string, string>>
}

/** RF 3, the same preferred leader as all other topics of the apparatus. */
export const minIsr = (replicas: number): TopicSpec => ({
  replicationFactor: 3,
  config: {'min.insync.replicas': String(replicas)},
})

export interface Blows {
  readonly full: number
  readonly quick: number
}

export interface ConditionBase {
  readonly label: string
  /** How many blows (trials) are planned under this condition; 3, and 1 with `--quick`, if not said. */
  readonly blows?: Blows
  /** The client without which it can't be had: it is left out where that is not installed, and the run says so. */
  readonly client?: ClientName
}

/** One trial as the verdict sees it. */
export interface Trial<O> {
  readonly number: number
  readonly condition: string
  readonly observation: O
}

/** The trials that count under one condition or under several, and how many were planned. */
export interface Sample<O> extends ReadonlyArray<Trial<O>> {
  readonly planned: number
}

export interface Trials<O, C extends string = string> {
  readonly all: Sample<O>
  under(...conditions: C[]): Sample<O>
}

export interface Measure<O, Condition, KV> {
  readonly label: string
  readonly unit: string
  /** `null`: does not apply to this trial (shown as a dash). */
  readonly of: (trial: O, condition: Condition, knobs: KV) => number | null
  /** Where a full name would not fit into a table at 80 columns. */
  readonly short?: string
  /** Not in the first table of the text report. */
  readonly detail?: boolean
}

/**
 * A lab note. The method is the only part that touches the world, and only through `bench`; what it returns is plain
 * JSON, and everything after it is a pure function of that, so that a stored run can be judged again.
 */
export interface Experiment<
  C extends Readonly<Record<string, ConditionBase>> = Readonly<Record<string, ConditionBase>>,
  K extends Knobs = Knobs,
  O = unknown,
  T extends string = string,
> {
  readonly question: string
  readonly hypothesis: string
  /** Numbers of the claims it shows (`kx experiment show`). */
  readonly shows: readonly string[]
  readonly doesNotShow: string
  readonly reach: Reach
  readonly apparatus: {
    readonly controllers: number
    readonly topics: Readonly<Record<T, TopicSpec>>
    readonly profile?: Profile
  }
  readonly knobs: K
  readonly conditions: C
  /** Rough time of one blow by condition, seconds, for "this takes about …". */
  readonly secondsPerBlow: Readonly<Record<keyof C & string, number>>
  readonly method: (bench: Bench<T>, condition: C[keyof C], knobs: KnobValues<K>) => Promise<O>
  /** Named preconditions: not met → that trial is inconclusive, and the name is the reason. */
  readonly given: Readonly<Record<string, (trial: O, condition: C[keyof C], knobs: KnobValues<K>) => boolean>>
  readonly measures: Readonly<Record<string, Measure<O, C[keyof C], KnobValues<K>>>>
  readonly verdict: (trials: Trials<O, keyof C & string>, knobs: KnobValues<K>) => Verdict
  readonly figures: (trials: Trials<O, keyof C & string>, knobs: KnobValues<K>) => readonly Figure[]
  /** One or two sentences with a concrete example from the trials, e.g. of a lost record. */
  readonly example?: (trials: Trials<O, keyof C & string>) => string | undefined
}

/** Declares an experiment; only here to infer the types. */
export function experiment<
  const C extends Readonly<Record<string, ConditionBase>>,
  const K extends Knobs,
  O,
  const T extends string,
>(note: Experiment<C, K, O, T>): Experiment<C, K, O, T> {
  return note
}

/** An experiment whose types are no longer known: what the lab handles. */
// biome-ignore lint/suspicious/noExplicitAny: the variance of callbacks makes every narrower type unusable here
export type AnyExperiment = Experiment<any, any, any, any>
