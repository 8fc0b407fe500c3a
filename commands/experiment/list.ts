import {type Answer, table} from '../../src/cli/answer.js'
import {KxCommand} from '../../src/cli/base-command.js'
import {wrap} from '../../src/cli/terminal.js'

export default class ExperimentList extends KxCommand<typeof ExperimentList> {
  static override summary = 'Which experiments there are, and the question of each'
  static override examples = ['<%= config.bin %> experiment list']

  protected override async work(): Promise<Answer> {
    const {experimentNames, loadExperiment} = await import('../../src/lab/experiments.js')
    const {plannedBlows, estimateSeconds} = await import('../../src/lab/plan.js')
    const all = await Promise.all(
      experimentNames().map(async name => {
        const note = await loadExperiment(name)
        const seconds = (quick: boolean) => Math.round(estimateSeconds(note, plannedBlows(note, {quick}), 0))
        return {
          name,
          question: note.question,
          shows: [...note.shows],
          seconds: seconds(false),
          quickSeconds: seconds(true),
        }
      }),
    )
    return {
      data: all,
      text: view => {
        if (view.wide) {
          const rows = all.map(({name, shows, seconds, quickSeconds, question}) => [
            name,
            shows.join(' '),
            seconds,
            quickSeconds,
            question,
          ])
          return table(['name', 'shows', 'about s', '--quick s', 'question'], rows)
        }
        const width = Math.max(...all.map(({name}) => name.length)) + 2
        return all
          .map(
            ({name, question}) =>
              `${name.padEnd(width)}${wrap(question, view.columns - width).replaceAll('\n', `\n${' '.repeat(width)}`)}`,
          )
          .join('\n')
      },
    }
  }
}
