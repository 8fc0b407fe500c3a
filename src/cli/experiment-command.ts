import type {Command, Interfaces} from '@oclif/core'
import * as Flags from '@oclif/core/flags'
import type {AnyExperiment, IntegerKnob} from '../experiment/experiment.js'
import type {RunRecord} from '../experiment/run.js'
import {resolveVersion} from '../cluster/version.js'
import type {LabEvent} from '../lab/run.js'
import {exitCode} from '../util/errors.js'
import type {Answer} from './answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from './base-command.js'
import {clusterName, configOf, resultsFlag, startFlags} from './flags.js'
import type {Progress} from './progress.js'
import {runText} from './run-text.js'

/** What every experiment can be told, beside its own knobs. */
export const experimentFlags = {
  quick: Flags.boolean({default: false, summary: 'fewer blows: enough to see it, not to rest on it'}),
  trials: Flags.integer({
    helpValue: '<count>',
    min: 1,
    max: 1_000,
    summary: 'how many blows per condition, instead of the planned number',
  }),
  seed: Flags.integer({
    helpValue: '<number>',
    min: 0,
    max: 4_294_967_295,
    summary: 'for the order of trials and all else that is random',
  }),
  results: resultsFlag,
  ...clusterName('run it on this standing cluster, if it fits (default if not said)'),
  fresh: Flags.boolean({default: false, summary: 'start a cluster for this run, whatever stands'}),
  keep: Flags.boolean({default: false, summary: 'keep the cluster that was started for this run'}),
  ...startFlags,
}

/** The command of one file of `experiments/`: its knobs are flags. */
export function experimentCommand(name: string, note: AnyExperiment): Command.Class {
  const knobs = Object.entries(note.knobs as AnyExperiment['knobs']) as [string, IntegerKnob][]
  class RunExperiment extends KxCommand<typeof RunExperiment> {
    static override id = `experiment:${name}`
    static override summary = note.question
    static override description = `${note.hypothesis}\n\nIt does not show ${lowerFirst(note.doesNotShow)}`
    static override examples = [
      `<%= config.bin %> experiment ${name}`,
      `<%= config.bin %> experiment ${name} --quick --profile fast -o json`,
    ]
    static override flags = {...experimentFlags, ...knobFlags(knobs)}

    protected override async work(
      flags: FlagsOf<typeof RunExperiment>,
      _: ArgsOf<typeof RunExperiment>,
      session: Session,
    ): Promise<Answer> {
      const [{runExperiment}, {publish}] = await Promise.all([import('../lab/run.js'), import('./publish.js')])
      const values = flags as unknown as Readonly<Record<string, number>>
      const {run, input} = await runExperiment(name, {
        cluster: clusterOf(flags),
        knobs: Object.fromEntries(knobs.map(([knob, {default: usual}]) => [knob, values[kebab(knob)] ?? usual])),
        trials: flags.trials,
        quick: flags.quick,
        seed: flags.seed,
        resultsDir: flags.results,
        signal: session.signal,
        watch: event => watch(event, session.progress),
        publish,
      })
      return {data: run, text: await runText(input), exit: exitOf(run)}
    }
  }
  return RunExperiment
}

/** Upheld 0, refuted 1, inconclusive 3 (README, "Exit codes"). */
export function exitOf({verdict}: Pick<RunRecord, 'verdict'>): number {
  return {upheld: exitCode.ok, refuted: exitCode.no, inconclusive: exitCode.inconclusive}[verdict.outcome]
}

type ExperimentFlags = Interfaces.InferredFlags<typeof experimentFlags>
type StartFlags = Interfaces.InferredFlags<typeof startFlags>

/** The cluster part of the lab's options. */
export function clusterOf(flags: Partial<Pick<ExperimentFlags, 'name' | 'fresh' | 'keep'>> & StartFlags) {
  return {
    name: flags.name,
    runtime: flags.runtime,
    kafkaVersion: flags['kafka-version'] === undefined ? undefined : resolveVersion(flags['kafka-version']),
    profile: flags.profile,
    kafkaHome: flags['kafka-home'],
    image: flags.image,
    fresh: flags.fresh ?? false,
    keep: flags.keep ?? false,
    config: configOf(flags.config) ?? {},
    heapMiB: flags.heap,
    portBase: flags['port-base'],
    timeoutMs: flags.timeout,
  }
}

/** What the lab tells while it works, on stderr. */
export function watch({kind, text, trial, of}: LabEvent, progress: Progress): void {
  const place = trial === undefined ? '' : `trial ${trial} of ${of ?? '?'}: `
  if (kind === 'warning') progress.warning(text)
  else if (kind === 'trial-end') progress.settle(`${place}${text}`)
  else if (kind === 'phase' || kind === 'trial-start') progress.live(`${place}${text}`)
  else progress.line(trial === undefined ? text : `  ${text}`)
}

function knobFlags(knobs: readonly [string, IntegerKnob][]) {
  return Object.fromEntries(
    knobs.map(([knob, {default: usual, summary, min, max}]) => {
      const flag = kebab(knob)
      if (flag in experimentFlags || flag in KxCommand.baseFlags)
        throw new Error(`the knob ${knob} is called like a flag of kx`)
      return [flag, Flags.integer({helpValue: '<number>', default: usual, min, max, summary, helpGroup: 'EXPERIMENT'})]
    }),
  )
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
