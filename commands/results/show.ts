import type {Answer} from '../../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand} from '../../src/cli/base-command.js'
import {resultsFlag, runArgument} from '../../src/cli/flags.js'
import {runText} from '../../src/cli/run-text.js'

export default class ResultsShow extends KxCommand<typeof ResultsShow> {
  static override summary = 'The report of a stored run'
  static override examples = ['<%= config.bin %> results show data-loss', '<%= config.bin %> results show 7f3a -o json']
  static override flags = {results: resultsFlag}
  static override args = {run: runArgument}

  protected override async work(
    flags: FlagsOf<typeof ResultsShow>,
    {run}: ArgsOf<typeof ResultsShow>,
  ): Promise<Answer> {
    const {openRun} = await import('../../src/lab/results.js')
    const input = await openRun(flags.results, run)
    return {data: input.run, text: await runText(input)}
  }
}
