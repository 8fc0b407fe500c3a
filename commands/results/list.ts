import {type Answer, table} from '../../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand} from '../../src/cli/base-command.js'
import {resultsFlag} from '../../src/cli/flags.js'
import {duration} from '../../src/util/format.js'

export default class ResultsList extends KxCommand<typeof ResultsList> {
  static override summary = 'All stored runs, newest first'
  static override examples = ['<%= config.bin %> results list']
  static override flags = {results: resultsFlag}

  protected override async work(flags: FlagsOf<typeof ResultsList>, _: ArgsOf<typeof ResultsList>): Promise<Answer> {
    const {listRuns} = await import('../../src/lab/results.js')
    const runs = listRuns(flags.results)
    return {
      data: runs,
      text: view => {
        if (runs.length === 0) return `No runs in ${flags.results}. Next  kx experiment data-loss`
        return table(
          ['run', 'started', 'verdict', 'trials', 'kafka', 'runtime', ...(view.wide ? ['took', 'seed', 'folder'] : [])],
          runs.map(run => [
            `${run.experiment}/${run.id}`,
            run.startedAt.slice(0, 16).replace('T', ' '),
            run.state === 'done' ? run.outcome : run.state,
            run.trials,
            run.kafka,
            run.runtime,
            ...(view.wide ? [duration(run.durationMs), run.seed, run.dir] : []),
          ]),
        )
      },
    }
  }
}
