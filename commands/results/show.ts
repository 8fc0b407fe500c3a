import type {Answer} from '../../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand} from '../../src/cli/base-command.js'
import {resultsFlag, runArgument} from '../../src/cli/flags.js'

export default class ResultsShow extends KxCommand<typeof ResultsShow> {
  static override summary = 'The report of a stored run'
  static override examples = ['<%= config.bin %> results show data-loss', '<%= config.bin %> results show 7f3a -o json']
  static override flags = {results: resultsFlag}
  static override args = {run: runArgument}

  protected override async work(
    flags: FlagsOf<typeof ResultsShow>,
    {run}: ArgsOf<typeof ResultsShow>,
  ): Promise<Answer> {
    const [{openRun}, {textReport}] = await Promise.all([
      import('../../src/lab/results.js'),
      import('../../src/report/text.js'),
    ])
    const input = await openRun(flags.results, run)
    return {data: input.run, text: view => textReport(input, view)}
  }
}
