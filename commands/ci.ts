import {appendFile, mkdir, writeFile} from 'node:fs/promises'
import {dirname} from 'node:path'
import * as Flags from '@oclif/core/flags'
import {type Answer, table} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {becauseOf, type CiResult, runSet, type SetName, sets} from '../src/cli/ci.js'
import {clusterOf, watch} from '../src/cli/experiment-command.js'
import {durationFlag, resultsFlag, sizeFlag, startFlags} from '../src/cli/flags.js'
import {KxError, messageOf} from '../src/util/errors.js'
import {bytes, duration} from '../src/util/format.js'

export default class Ci extends KxCommand<typeof Ci> {
  static override summary = 'Run a set of quick experiments, for CI: JUnit, artifacts, a time budget, an exit code'
  static override description =
    'Each experiment runs on a cluster of its own. Refuted is a failure; inconclusive, and whatever kept an experiment from running, ' +
    'is an error and never skipped. The exit code is that of the gravest outcome. In GitHub Actions a summary is added to the step.'
  static override examples = [
    '<%= config.bin %> ci',
    '<%= config.bin %> ci --budget 10m --junit kx.xml --artifacts kx-artifacts',
  ]
  static override flags = {
    set: Flags.option({
      options: Object.keys(sets) as SetName[],
      default: 'smoke' as SetName,
      summary: 'which experiments',
    })(),
    budget: durationFlag({default: 900_000, defaultHelp: async () => '15m', summary: 'how long all of it may take'}),
    junit: Flags.string({helpValue: '<file>', summary: 'write JUnit XML there'}),
    artifacts: Flags.string({helpValue: '<folder>', summary: 'copy reports and evidence there'}),
    'artifacts-limit': sizeFlag({
      default: 50,
      defaultHelp: async () => '50m',
      summary: 'at most this much, the reports first',
    }),
    results: resultsFlag,
    ...startFlags,
  }

  protected override async work(
    flags: FlagsOf<typeof Ci>,
    _: ArgsOf<typeof Ci>,
    {signal, progress}: Session,
  ): Promise<Answer> {
    const [{runExperiment}, {publish}] = await Promise.all([
      import('../src/lab/run.js'),
      import('../src/cli/publish.js'),
    ])
    const experiments = sets[flags.set]
    // Also of a run that broke off: those are the ones that somebody will want to look into.
    const folders: Record<string, string> = {}
    const result = await runSet({
      experiments,
      budgetMs: flags.budget,
      signal,
      watch: event => watch(event, progress),
      run: (name, until) =>
        runExperiment(name, {
          cluster: {...clusterOf(flags), fresh: true, keep: false},
          knobs: {},
          quick: true,
          resultsDir: flags.results,
          signal: until,
          watch: event => watch(event, progress),
          publish: async (input, dir) => {
            folders[`${name}-${input.run.id}`] = dir
            await publish(input, dir)
          },
        }),
    })
    const artifacts = await this.#keep(flags, result, folders)
    return {
      data: {schema: 'kx/ci/1', set: flags.set, ...result, ...(artifacts !== undefined && {artifacts})},
      text: () => asText(result, artifacts),
      exit: result.exit,
    }
  }

  async #keep(flags: FlagsOf<typeof Ci>, result: CiResult, folders: Readonly<Record<string, string>>) {
    const [{junitXml}, {stepSummary}, {keepArtifacts}] = await Promise.all([
      import('../src/report/junit.js'),
      import('../src/report/step-summary.js'),
      import('../src/cli/artifacts.js'),
    ])
    const cases = result.cases.map(({failure, ...one}) => ({...one, ...(failure && {error: failure})}))
    const step = process.env.GITHUB_STEP_SUMMARY
    try {
      if (flags.junit !== undefined) {
        await mkdir(dirname(flags.junit), {recursive: true})
        await writeFile(flags.junit, junitXml(cases))
      }
      if (step) await appendFile(step, `${stepSummary(cases)}\n`)
      if (flags.artifacts === undefined) return undefined
      const kept = await keepArtifacts(folders, flags.artifacts, flags['artifacts-limit'] * 1_048_576)
      return {folder: flags.artifacts, ...kept}
    } catch (error) {
      throw new KxError('environment', 'KX_RESULTS', `What CI is to keep can't be written: ${messageOf(error)}.`, {
        suggestions: ['Check --junit and --artifacts.'],
        cause: error,
      })
    }
  }
}

interface Artifacts {
  readonly folder: string
  readonly files: number
  readonly sizeInBytes: number
  readonly omitted: readonly string[]
}

function asText({cases, durationMs}: CiResult, artifacts: Artifacts | undefined): string {
  const rows = cases.map(one => [one.outcome, one.experiment, duration(one.durationMs), one.run?.dir ?? ''])
  const reasons = cases.flatMap(one => (one.outcome === 'upheld' ? [] : [`${one.experiment}: ${becauseOf(one)}`]))
  const left = artifacts && artifacts.omitted.length > 0 ? `, ${artifacts.omitted.length} left out` : ''
  return [
    table(['verdict', 'experiment', 'took', 'run'], rows),
    ...(reasons.length > 0 ? ['', ...reasons] : []),
    '',
    `${cases.filter(({outcome}) => outcome === 'upheld').length} of ${cases.length} upheld in ${duration(durationMs)}.`,
    ...(artifacts
      ? [`Artifacts  ${artifacts.folder} (${artifacts.files} files, ${bytes(artifacts.sizeInBytes)}${left})`]
      : []),
  ].join('\n')
}
