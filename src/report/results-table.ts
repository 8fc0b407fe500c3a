import type {RunRecord} from '../experiment/run.js'
import {duration} from '../util/format.js'
import {inkOfOutcome, penOf, type TextStyle} from './pen.js'
import {textTable} from './text-table.js'
import {moment, plannedTrials} from './values.js'

export interface ResultsOptions extends TextStyle {
  readonly width: number
}

/** `kx results list`: a line per run, in the order given. */
export function resultsTable(runs: readonly RunRecord[], options: ResultsOptions): string {
  const pen = penOf(options)
  if (runs.length === 0) return 'No run is stored here yet.   Next   kx experiment list'
  const rows = runs.map(run => [
    pen.text(run.id),
    pen.text(run.experiment),
    pen.text(moment(run.startedAt).replace(/ UTC$/, '')),
    verdictWord(run),
    pen.text(run.environment.kafka),
    run.environment.runtime,
    duration(run.durationMs),
  ])
  const columns = [
    {head: 'id', fixed: true},
    {head: 'experiment'},
    {head: 'when (UTC)', fixed: true},
    {
      head: 'verdict',
      paint: (text: string, row: number) =>
        pen.ink(row < 0 ? 'bold' : inkOfOutcome[runs[row]?.verdict.outcome ?? 'inconclusive'], text),
    },
    {head: 'Kafka'},
    {head: 'runtime'},
    {head: 'took', align: 'right' as const},
  ]
  return textTable(columns, rows, {gap: 2, width: options.width}).join('\n')
}

function verdictWord(run: RunRecord): string {
  if (run.state === 'done') return run.verdict.outcome
  return `${run.verdict.outcome} (${run.state}, ${run.trials.length} of ${plannedTrials(run)})`
}
