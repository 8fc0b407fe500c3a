import {graver} from '../experiment/claims.js'
import type {AnyExperiment} from '../experiment/experiment.js'
import type {Figure} from '../experiment/figures.js'
import type {Judgement} from '../experiment/judge.js'
import type {ReportInput, RunRecord} from '../experiment/run.js'
import type {Agreement, EvidenceFile, StoredPlan} from './store.js'

export type RunState = RunRecord['state']

export interface Assembly {
  readonly note: AnyExperiment
  readonly plan: StoredPlan
  readonly judgement: Judgement
  readonly dir: string
  readonly durationMs: number
  readonly state: RunState
  readonly notes: readonly string[]
  readonly evidence: readonly EvidenceFile[]
  readonly faults: ReportInput['faults']
  /** What Kafka's own dump tool said; a full run is not upheld without its agreement. */
  readonly witness: Agreement | undefined
}

/** All that a report draws from, out of what was stored: the same for a run that has just ended and for one of last year. */
export function assemble(assembly: Assembly): ReportInput {
  const {note, plan, judgement, dir, durationMs, state, evidence} = assembly
  const conditions = note.conditions as Readonly<Record<string, {label: string}>>
  const example = safely(() => note.example?.(judgement.counted) as string | undefined)
  const run: RunRecord = {
    schema: 'kx/run/1',
    experiment: plan.experiment,
    id: plan.id,
    startedAt: plan.startedAt,
    dir,
    durationMs,
    seed: plan.seed,
    quick: plan.quick,
    environment: plan.environment,
    cluster: plan.cluster,
    knobs: plan.knobs,
    ...(plan.asked === undefined ? {} : {asked: plan.asked}),
    question: note.question,
    hypothesis: note.hypothesis,
    doesNotShow: note.doesNotShow,
    shows: note.shows,
    conditions: Object.entries(conditions).map(([id, {label}]) => ({id, label, planned: plan.planned[id] ?? 0})),
    verdict: doubted(judgement, plan.quick ? undefined : doubtOf(assembly.witness)),
    trials: judgement.trials,
    measures: judgement.measures,
    ...(example === undefined ? {} : {example}),
    notes: [...assembly.notes],
    state,
    columns: Object.entries(note.measures as AnyExperiment['measures']).map(([measure, spec]) => {
      const {label, short, unit, detail} = spec as {label: string; short?: string; unit: string; detail?: boolean}
      return {measure, label, short: short ?? label, unit, detail: detail ?? false}
    }),
  }
  const figures = safely(() => note.figures(judgement.counted, plan.knobs) as readonly Figure[]) ?? []
  return {run, figures, evidence, faults: assembly.faults}
}

function doubtOf(witness: Agreement | undefined): string | undefined {
  if (witness === undefined) return "Kafka's own dump tool has not read the same files yet"
  return witness.agrees ? undefined : witness.text
}

function doubted({verdict}: Judgement, doubt: string | undefined): RunRecord['verdict'] {
  if (doubt === undefined) return verdict
  const because = verdict.because === undefined ? doubt : `${verdict.because}; ${doubt}`
  return {...verdict, outcome: graver(verdict.outcome, 'inconclusive'), because}
}

/** A picture that can't be drawn must not cost the verdict. */
function safely<T>(draw: () => T): T | undefined {
  try {
    return draw()
  } catch {
    return undefined
  }
}
