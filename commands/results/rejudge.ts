import type {Answer} from '../../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../../src/cli/base-command.js'
import {exitOf} from '../../src/cli/experiment-command.js'
import {resultsFlag, runArgument} from '../../src/cli/flags.js'
import {runText} from '../../src/cli/run-text.js'
import {messageOf} from '../../src/util/errors.js'

export default class ResultsRejudge extends KxCommand<typeof ResultsRejudge> {
  static override summary = 'Judge a stored run again, from its stored trials'
  static override description =
    "The verdict is a pure function of the trials. It is made again with the experiment as it is now, and the run's report is written anew; if the experiment's file has changed since the run, that is said."
  static override examples = ['<%= config.bin %> results rejudge data-loss']
  static override flags = {results: resultsFlag}
  static override args = {run: runArgument}

  protected override async work(
    flags: FlagsOf<typeof ResultsRejudge>,
    {run}: ArgsOf<typeof ResultsRejudge>,
    {progress}: Session,
  ): Promise<Answer> {
    const [{rejudge}, {publishAgain}] = await Promise.all([
      import('../../src/lab/results.js'),
      import('../../src/cli/publish.js'),
    ])
    const {input, changed} = await rejudge(flags.results, run)
    // A run that may only be read can be judged all the same.
    await publishAgain(input, input.run.dir).catch((error: unknown) => progress.warning(messageOf(error)))
    const text = await runText(input)
    return {
      data: {run: input.run, changed},
      text: view =>
        [text(view).trimEnd(), '', ...(changed.length === 0 ? ['Judged again: nothing changed.'] : changed)].join('\n'),
      exit: exitOf(input.run),
    }
  }
}
