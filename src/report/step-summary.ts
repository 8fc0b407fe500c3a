import {duration} from '../util/format.js'
import type {CiResult} from './junit.js'
import {claimList, md, measuresTable, outcomeSign, table, verdictText} from './markdown.js'
import {labelOf} from './values.js'

/** GitHub cuts a step's summary at 1 MiB; what does not fit is left out from the end, and said so. */
const sizeLimit = 1_000_000

/** `$GITHUB_STEP_SUMMARY` of a set of runs: one table, then a part per run, open where it was not upheld. */
export function stepSummary(results: readonly CiResult[]): string {
  const upheld = results.filter(
    ({run, error}) => !error && run?.state === 'done' && run.verdict.outcome === 'upheld',
  ).length
  const head = [
    `## kx: ${upheld} of ${results.length} experiments upheld`,
    results.length > 0 ? overview(results) : 'No experiment was run.',
  ].join('\n\n')
  const parts: string[] = []
  let size = Buffer.byteLength(head)
  for (const result of results) {
    const part = detail(result)
    size += Buffer.byteLength(part) + 2
    if (size > sizeLimit) {
      parts.push('More is in the artifacts: it did not fit here.')
      break
    }
    parts.push(part)
  }
  return `${[head, ...parts].join('\n\n')}\n`
}

function overview(results: readonly CiResult[]): string {
  const rows = results.map(({experiment, run, error, durationMs}) => [
    md(experiment),
    error
      ? `🛑 error: ${md(error.code)}`
      : run
        ? run.state === 'done'
          ? `${outcomeSign[run.verdict.outcome]} ${run.verdict.outcome}`
          : `${outcomeSign.inconclusive} ${run.state}`
        : '🛑 no run',
    run ? md(`${run.environment.kafka}, ${run.environment.runtime}`) : '–',
    run ? String(run.trials.length) : '–',
    duration(durationMs),
  ])
  return table(['experiment', 'verdict', 'Kafka', 'trials', 'took'], rows, column => column > 2)
}

function detail({experiment, run, error}: CiResult): string {
  const open = error || run?.state !== 'done' || run.verdict.outcome !== 'upheld' ? ' open' : ''
  const spoilt = (run?.trials ?? []).filter(({outcome}) => outcome !== 'ok')
  const body = [
    error ? `🛑 **${md(error.code)}** ${md(error.message)}` : '',
    ...(run ? [md(run.question), verdictText(run), measuresTable(run), claimList(run.verdict.claims)] : []),
    spoilt
      .map(
        trial =>
          `- trial ${trial.number}, ${run ? md(labelOf(run, trial.condition)) : ''}: ${trial.outcome}, ${md(trial.reason ?? 'no reason was given')}`,
      )
      .join('\n'),
  ]
  return [
    `<details${open}><summary>${md(experiment)}${run ? ` ${md(run.id)}` : ''}</summary>`,
    ...body.filter(block => block !== ''),
    '</details>',
  ].join('\n\n')
}
