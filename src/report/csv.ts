import {stringify} from 'csv-stringify/sync'
import type {RunRecord} from '../experiment/run.js'

const columns = ['experiment', 'run', 'trial', 'condition', 'outcome', 'measure', 'unit', 'value'] as const

/**
 * The raw data: a line per trial and measure, also of trials that do not count. Numbers as they are (decimal point, no
 * grouping), an empty value where a measure does not apply, LF, UTF-8. A text that a spreadsheet would take for a formula
 * begins with an apostrophe (OWASP, "CSV Injection").
 */
export function measuresCsv(run: RunRecord): string {
  const rows = run.trials.flatMap(trial =>
    run.columns.map(({measure, unit}) => [
      run.experiment,
      run.id,
      trial.number,
      trial.condition,
      trial.outcome,
      measure,
      unit,
      trial.measures[measure] ?? null,
    ]),
  )
  return stringify([[...columns], ...rows], {record_delimiter: '\n', escape_formulas: true})
}

/** Lines of a table, each with its end, for tables that are written piece by piece. `safe`: as in {@link measuresCsv}. */
export function csvLines(
  rows: readonly (readonly (string | number | bigint | boolean | null)[])[],
  safe: boolean,
): string {
  return stringify(
    // Numbers stay numbers, so that a negative one is taken for no formula.
    rows.map(row => row.map(value => (typeof value === 'boolean' ? String(value) : value))),
    {record_delimiter: '\n', escape_formulas: safe},
  )
}
