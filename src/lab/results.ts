import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs'
import {basename, dirname, join, relative, resolve} from 'node:path'
import {judge} from '../experiment/judge.js'
import type {ReportInput, RunRecord} from '../experiment/run.js'
import {KxError, messageOf} from '../util/errors.js'
import {experimentHash, loadExperiment} from './experiments.js'
import {assemble} from './record.js'
import {type EvidenceFile, readFaults, readPlan, readTrials, readWitness} from './store.js'

/** One row of `kx results list`. */
export interface RunSummary {
  readonly experiment: string
  readonly id: string
  readonly startedAt: string
  readonly state: RunRecord['state']
  readonly outcome: RunRecord['verdict']['outcome']
  readonly kafka: string
  readonly runtime: string
  readonly durationMs: number
  /** How many were made, those that do not count included. */
  readonly trials: number
  readonly seed: number
  readonly dir: string
}

/** All runs below a results folder, newest first. A folder that is no run is passed over. */
export function listRuns(resultsDir: string): RunSummary[] {
  if (!existsSync(resultsDir)) return []
  return folders(resultsDir)
    .flatMap(experiment => folders(join(resultsDir, experiment)).map(id => join(resultsDir, experiment, id)))
    .flatMap(dir => {
      try {
        const run = readRun(dir)
        const {experiment, id, startedAt, state, verdict, environment, durationMs, seed} = run
        const {kafka, runtime} = environment
        return [
          {
            experiment,
            id,
            startedAt,
            state,
            outcome: verdict.outcome,
            kafka,
            runtime,
            durationMs,
            trials: run.trials.length,
            seed,
            dir,
          },
        ]
      } catch {
        return []
      }
    })
    .sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
}

/**
 * Finds a run: a path, `experiment/id`, an id, or an experiment's name (its latest run).
 * @throws KxError KX_NO_RUN (usage)
 */
export function findRun(resultsDir: string, ref: string): string {
  if (existsSync(join(ref, 'plan.json'))) return resolve(ref)
  const direct = join(resultsDir, ref)
  if (existsSync(join(direct, 'plan.json'))) return direct
  const latest = join(direct, 'latest')
  if (existsSync(latest)) return join(direct, readFileSync(latest, 'utf8').trim())
  const byId = listRuns(resultsDir).find(({id}) => id === ref)
  if (byId) return byId.dir
  throw new KxError('usage', 'KX_NO_RUN', `There is no run "${ref}" below ${resultsDir}.`, {
    suggestions: [
      'kx results list shows what is there; give an id, experiment/id, an experiment (its latest run) or a folder.',
    ],
  })
}

/** The run as it was judged when it ran, with figures drawn from its stored trials. @throws KxError KX_RUN_DAMAGED (input) */
export async function openRun(resultsDir: string, ref: string): Promise<ReportInput> {
  const dir = findRun(resultsDir, ref)
  const stored = guarded(dir, () => readRun(dir))
  const {input} = await judgeAgain(dir, stored)
  return {...input, run: {...stored, dir}}
}

export interface Rejudgement {
  readonly input: ReportInput
  /** What is not as it was: the experiment's file, the verdict. Empty: the same judgement again. */
  readonly changed: readonly string[]
}

/** Judges a stored run again, from its trials alone. @throws KxError KX_NO_RUN (usage), KX_RUN_DAMAGED (input) */
export async function rejudge(resultsDir: string, ref: string): Promise<Rejudgement> {
  const dir = findRun(resultsDir, ref)
  const stored = existsSync(join(dir, 'run.json')) ? guarded(dir, () => readRun(dir)) : undefined
  return judgeAgain(dir, stored)
}

async function judgeAgain(dir: string, stored: RunRecord | undefined): Promise<Rejudgement> {
  const {plan, trials, evidence, faults, witness} = guarded(dir, () => ({
    plan: readPlan(dir),
    trials: readTrials(dir),
    evidence: readEvidence(dir),
    faults: readFaults(dir),
    witness: readWitness(dir),
  }))
  const note = await loadExperiment(plan.experiment)
  const judgement = judge(note, {trials, planned: plan.planned, knobs: plan.knobs})
  const input = assemble({
    note,
    plan,
    judgement,
    dir,
    durationMs: stored?.durationMs ?? trials.reduce((sum, trial) => sum + trial.durationMs, 0),
    state: stored?.state ?? 'interrupted',
    notes: stored?.notes ?? [],
    evidence,
    faults,
    witness,
  })
  const changed: string[] = []
  if (plan.environment.experimentHash !== experimentHash(plan.experiment))
    changed.push(`experiments/${plan.experiment} has changed since this run`)
  const before = stored?.verdict.outcome
  if (before !== undefined && before !== input.run.verdict.outcome)
    changed.push(`the verdict was ${before} and is ${input.run.verdict.outcome} now`)
  return {input, changed}
}

function readRun(dir: string): RunRecord {
  return {...(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunRecord), dir}
}

function readEvidence(dir: string): EvidenceFile[] {
  const path = join(dir, 'evidence.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as {files: EvidenceFile[]}).files : []
}

function guarded<T>(dir: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new KxError('input', 'KX_RUN_DAMAGED', `The run in ${dir} can't be read: ${messageOf(error)}.`, {
      cause: error,
    })
  }
}

function folders(dir: string): string[] {
  return readdirSync(dir).filter(name => statSync(join(dir, name)).isDirectory())
}

/** How a run is called in a command line. */
export function refOf(dir: string): string {
  return `${basename(dirname(dir))}/${basename(dir)}`
}

/** Shortest way to say where a folder is. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path)
  return near.startsWith('..') ? path : near
}
