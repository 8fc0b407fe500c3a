import type {Claim, Verdict} from '../experiment/claims.js'
import type {AnyExperiment} from '../experiment/experiment.js'
import {randomFrom, shuffled} from '../util/statistics.js'

/** One blow that is to be made. */
export interface PlannedTrial {
  readonly condition: string
  /** Which block it belongs to: each block runs every condition that still has blows to come, in random order. */
  readonly block: number
}

const usual = {full: 3, quick: 1}

/** How many blows are planned under each condition. `trials` (the flag) wins over what the note says. */
export function plannedBlows(
  note: AnyExperiment,
  {quick, trials}: {quick: boolean; trials?: number},
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(note.conditions as AnyExperiment['conditions']).map(([id, condition]) => {
      const blows = (condition as {blows?: {full: number; quick: number}}).blows ?? usual
      return [id, trials ?? (quick ? blows.quick : blows.full)]
    }),
  )
}

/** Blocks in random order: what drifts while the run lasts (page cache, JIT, a busy machine) meets all conditions alike. */
export function planTrials(planned: Readonly<Record<string, number>>, seed: number): PlannedTrial[] {
  const random = randomFrom(seed)
  const blocks = Math.max(0, ...Object.values(planned))
  const plan: PlannedTrial[] = []
  for (let block = 0; block < blocks; block++) {
    const conditions = Object.keys(planned).filter(id => (planned[id] ?? 0) > block)
    for (const condition of shuffled(conditions, random)) plan.push({condition, block})
  }
  return plan
}

export interface BlowsSoFar {
  readonly planned: Readonly<Record<string, number>>
  /** As many as a full run has. */
  readonly full: Readonly<Record<string, number>>
  /** The condition of every trial that was made. */
  readonly done: readonly string[]
}

/**
 * What is only sometimes so may not have been seen in the few blows of a quick run: if that is all that is open, each
 * condition gets one blow more, at most as many as a full run has. All of them count, for all claims.
 */
export function conditionsOnceMore(
  {claims, because}: Pick<Verdict, 'claims' | 'because'>,
  {planned, full, done}: BlowsSoFar,
): readonly string[] {
  const open = claims.filter(({outcome}) => outcome !== 'upheld')
  const isUnseen = ({quantifier, outcome, telling}: Claim) =>
    quantifier === 'sometimes' && outcome === 'inconclusive' && telling > 0
  if (open.length === 0 || !open.every(isUnseen) || because !== undefined) return []
  const made = (id: string) => done.filter(condition => condition === id).length
  return Object.keys(planned).filter(id => (planned[id] ?? 0) > 0 && made(id) < (full[id] ?? 0))
}

/** Rough duration of the whole, seconds, with `startUpS` for the cluster. */
export function estimateSeconds(
  note: AnyExperiment,
  planned: Readonly<Record<string, number>>,
  startUpS: number,
): number {
  const perBlow = note.secondsPerBlow as Readonly<Record<string, number>>
  return Object.entries(planned).reduce((sum, [id, blows]) => sum + blows * (perBlow[id] ?? 10), startUpS)
}
