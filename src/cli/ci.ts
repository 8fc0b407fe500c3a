import type {ReportInput, RunRecord} from '../experiment/run.js'
import type {LabEvent} from '../lab/run.js'
import {exitCode, KxError} from '../util/errors.js'
import {duration} from '../util/format.js'
import {type Failure, failureOf} from './failure.js'

/** What `kx ci` can run, quick each. */
export const sets = {
  smoke: ['data-loss', 'failover'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type SetName = keyof typeof sets

/** What became of one experiment of the set. `error`: there is no verdict at all, and `failure` says why. */
export interface CiCase {
  readonly experiment: string
  readonly outcome: RunRecord['verdict']['outcome'] | 'error'
  readonly durationMs: number
  readonly run?: RunRecord
  readonly failure?: Failure
}

export interface CiResult {
  readonly cases: readonly CiCase[]
  readonly durationMs: number
  readonly exit: number
}

export interface CiOptions {
  readonly experiments: readonly string[]
  readonly budgetMs: number
  readonly signal: AbortSignal
  readonly watch: (event: LabEvent) => void
  /** Runs one experiment; the lab's `runExperiment`, with all but the signal given. */
  readonly run: (name: string, signal: AbortSignal) => Promise<{run: RunRecord; input: ReportInput}>
  readonly now?: () => number
}

/**
 * Runs the experiments one after another. An error of one is no reason to leave out the others; the end of the time
 * budget is, and then they count as errors: what was not seen is never green.
 */
export async function runSet(options: CiOptions): Promise<CiResult> {
  const {experiments, budgetMs, signal, watch, now = () => performance.now()} = options
  const startedMs = now()
  const cases: CiCase[] = []
  for (const experiment of experiments) {
    const leftMs = budgetMs - (now() - startedMs)
    watch({
      kind: 'plan',
      text: `${experiment} (${cases.length + 1} of ${experiments.length}, ${duration(Math.max(0, leftMs))} left)`,
    })
    cases.push(await one(experiment, leftMs, options, now))
  }
  return {
    cases,
    durationMs: Math.round(now() - startedMs),
    exit: signal.aborted ? exitCode.interrupted : gravest(cases),
  }
}

async function one(
  experiment: string,
  leftMs: number,
  {signal, budgetMs, run}: CiOptions,
  now: () => number,
): Promise<CiCase> {
  const startedMs = now()
  const budget = new KxError('environment', 'KX_BUDGET', `The time budget of ${duration(budgetMs)} was used up.`, {
    suggestions: ['Give more with --budget.'],
  })
  const failed = (error: unknown, interrupted: boolean): CiCase => ({
    experiment,
    outcome: 'error',
    durationMs: Math.round(now() - startedMs),
    failure: failureOf(error, {interrupted}),
  })
  if (signal.aborted) return failed(signal.reason, true)
  if (leftMs <= 0) return failed(budget, false)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(budget), leftMs)
  try {
    const {run: record} = await run(experiment, AbortSignal.any([signal, late.signal]))
    return {experiment, outcome: record.verdict.outcome, durationMs: Math.round(now() - startedMs), run: record}
  } catch (error) {
    return failed(late.signal.aborted && !signal.aborted ? budget : error, signal.aborted)
  } finally {
    clearTimeout(timer)
  }
}

/** From the least to the gravest: a refuted claim outweighs a machine on which another could not run, a bug outweighs both. */
const gravity = [
  exitCode.ok,
  exitCode.inconclusive,
  exitCode.environment,
  exitCode.input,
  exitCode.usage,
  exitCode.no,
  exitCode.internal,
] as const

export function gravest(cases: readonly CiCase[]): number {
  const codes: number[] = cases.map(({outcome, failure}) => {
    if (outcome === 'error') return failure?.exit ?? exitCode.internal
    return {upheld: exitCode.ok, refuted: exitCode.no, inconclusive: exitCode.inconclusive}[outcome]
  })
  if (codes.length === 0) return exitCode.inconclusive
  return gravity.findLast(code => codes.includes(code)) ?? exitCode.internal
}

/** Why it came out as it did, in one line. */
export function becauseOf({run, failure}: CiCase): string {
  if (failure) return failure.message
  const worst = run?.verdict.claims.filter(({outcome}) => outcome !== 'upheld') ?? []
  const reasons = worst.map(({claim, because}) => `${claim}: ${because}`)
  return [run?.verdict.because, ...reasons].filter(Boolean).join('; ')
}
