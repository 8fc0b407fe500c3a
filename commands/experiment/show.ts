import * as Args from '@oclif/core/args'
import {type Answer, table, type View} from '../../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand} from '../../src/cli/base-command.js'
import {paint, wrap} from '../../src/cli/terminal.js'
import type {AnyExperiment, ConditionBase, Measure} from '../../src/experiment/experiment.js'

export default class ExperimentShow extends KxCommand<typeof ExperimentShow> {
  static override summary = 'The lab note of an experiment: question, hypothesis, conditions, what it measures'
  static override examples = ['<%= config.bin %> experiment show data-loss']
  static override args = {name: Args.string({required: true, ignoreStdin: true, description: 'the experiment'})}

  protected override async work(
    _: FlagsOf<typeof ExperimentShow>,
    {name}: ArgsOf<typeof ExperimentShow>,
  ): Promise<Answer> {
    const {loadExperiment} = await import('../../src/lab/experiments.js')
    const {plannedBlows} = await import('../../src/lab/plan.js')
    const data = described(name, await loadExperiment(name), plannedBlows)
    return {data, text: view => asText(data, view)}
  }
}

type Blows = (note: AnyExperiment, options: {quick: boolean}) => Record<string, number>

function described(name: string, note: AnyExperiment, plannedBlows: Blows) {
  const [full, quick] = [plannedBlows(note, {quick: false}), plannedBlows(note, {quick: true})]
  const {question, hypothesis, doesNotShow, shows, reach, apparatus, knobs, conditions, measures, given} =
    note as AnyExperiment
  return {
    name,
    question,
    hypothesis,
    doesNotShow,
    shows,
    reach,
    apparatus,
    conditions: (Object.entries(conditions) as [string, ConditionBase][]).map(([id, {label}]) => ({
      id,
      label,
      blows: full[id] ?? 0,
      quickBlows: quick[id] ?? 0,
    })),
    given: Object.keys(given),
    knobs,
    measures: (Object.entries(measures) as [string, Measure<unknown, unknown, unknown>][]).map(
      ([id, {label, unit}]) => ({id, label, unit}),
    ),
  }
}

function asText(note: ReturnType<typeof described>, view: View): string {
  const columns = Math.min(view.columns, 100)
  const head = (text: string) => paint(text, 'bold', view.colour)
  const knobs = Object.entries(note.knobs as Record<string, {default: number; summary: string}>)
  return [
    head(wrap(note.question, columns)),
    '',
    wrap(note.hypothesis, columns),
    wrap(`It does not show ${note.doesNotShow.charAt(0).toLowerCase()}${note.doesNotShow.slice(1)}`, columns),
    '',
    `Shows ${note.shows.join(', ')}. Reach: ${note.reach}.`,
    '',
    table(
      ['condition', '', 'blows', '--quick'],
      note.conditions.map(({id, label, blows, quickBlows}) => [id, label, blows, quickBlows]),
    ),
    '',
    head('A trial tells only if'),
    ...note.given.map(condition => `  ${condition}`),
    '',
    ...(knobs.length === 0
      ? []
      : [
          table(
            ['knob', 'default', ''],
            knobs.map(([knob, {default: usual, summary}]) => [knob, usual, summary]),
            columns,
          ),
          '',
        ]),
    table(
      ['measure', 'unit', ''],
      note.measures.map(({id, unit, label}) => [id, unit, label]),
      columns,
    ),
    '',
    `Run it  kx experiment ${note.name}`,
  ].join('\n')
}
