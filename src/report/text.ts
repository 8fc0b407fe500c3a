import type {Claim} from '../experiment/claims.js'
import type {ReportInput, RunRecord} from '../experiment/run.js'
import {duration} from '../util/format.js'
import {figureText} from './chart.js'
import {inkOfOutcome, type Pen, penOf, type TextStyle} from './pen.js'
import {comparison, evidenceCommands, evidenceFolders, nextCommand} from './repeat.js'
import {pad, type TextColumn, tableWidth, textTable, textWidth, wrap} from './text-table.js'
import {
  cell,
  circumstances,
  claimText,
  type Column,
  headUnit,
  labelOf,
  limits,
  measureOf,
  outcomeWords,
  quantity,
  sentence,
  shownUnit,
  withUnit,
} from './values.js'

export interface TextOptions extends TextStyle {
  /** Columns of the terminal. */
  readonly width: number
  /** Every measure with its unit, every trial, and the figures; may be wider than `width`. */
  readonly wide?: boolean
  /** Draw the figures; as `wide` if not said. */
  readonly figures?: boolean
  /** The run's folder as it is to be shown; `run.dir` if not said. */
  readonly dir?: string
  /** The command of the last line; `false` leaves the line out. */
  readonly next?: string | false
}

/** What the user sees at the end of a run: question, table, example, claims, verdict, and what to type next. */
export function textReport(input: ReportInput, options: TextOptions): string {
  const {run} = input
  const pen = penOf(options)
  const width = Math.max(40, options.width)
  const {wide = false, figures = wide} = options
  const blocks = [
    wrap(pen.text(run.question), width).map(line => pen.ink('bold', line)),
    wide ? wideTables(run, pen) : measuresTable(run, pen, width),
    run.example === undefined ? [] : wrap(pen.text(run.example), width),
    ...(figures ? input.figures.map(figure => figureText(figure, {...options, width})) : []),
    claimLines(run.verdict.claims, pen, width),
    wide ? [] : trialLines(run, pen, width),
    verdictLines(run, pen, width),
    lastLines(input, pen, options),
  ]
  // The verdict stands right under the claims it follows from.
  const told = blocks.filter(block => block.length > 0)
  return told
    .map((block, index) => (index > 0 && !follows(block, told[index - 1]) ? '\n' : '') + block.join('\n'))
    .join('\n')

  function follows(block: readonly string[], previous: readonly string[] | undefined): boolean {
    return block === blocks.at(-2) && previous === blocks.at(-4)
  }
}

function measuresTable(run: RunRecord, pen: Pen, width: number): string[] {
  const shown = run.columns.filter(({detail}) => !detail)
  if (shown.length === 0 || run.conditions.length === 0) return []
  const first: TextColumn = {head: 'condition', maxWidth: Math.max(12, Math.floor(width * 0.4))}
  const rowsOf = (columns: readonly Column[]) =>
    run.conditions.map(({id, label}) => [
      pen.text(label),
      ...columns.map(({measure}) => cell(measureOf(run, id, measure), pen.dash)),
    ])
  for (let count = shown.length; count > 0; count--) {
    const columns = shown.slice(0, count)
    const rows = rowsOf(columns)
    for (const [gap, folded] of [
      [3, false],
      [2, false],
      [2, true],
    ] as const) {
      const heads = [
        first,
        ...columns.map((column, c) =>
          numberColumn(column, pen, folded ? rows.map(row => row[c + 1] ?? '') : undefined),
        ),
      ]
      if (tableWidth(heads, rows, gap) > width && count > 1) continue
      return [...textTable(heads, rows, {gap, width}), ...leftOut(shown.slice(count), pen, width)]
    }
  }
  return []
}

/** With `cells` the head may fold into two lines, at the space where that saves most; its numbers never fold. */
function numberColumn({short, unit}: Column, pen: Pen, cells?: readonly string[]): TextColumn {
  const head = pen.text(withUnit(short, headUnit(unit)))
  if (!cells) return {head, align: 'right'}
  const folds = [...head.matchAll(/ /g)].map(({index}) => Math.max(index, head.length - index - 1))
  return {head, align: 'right', maxWidth: Math.max(Math.min(head.length, ...folds), ...cells.map(textWidth))}
}

function leftOut(columns: readonly Column[], pen: Pen, width: number): string[] {
  if (columns.length === 0) return []
  const names = columns.map(({short}) => pen.text(short)).join(', ')
  return wrap(`Too narrow for: ${names}. All measures: -o wide.`, width).map(line => pen.ink('dim', line))
}

function wideTables(run: RunRecord, pen: Pen): string[] {
  const right = (head: string): TextColumn => ({head, align: 'right'})
  const rows = run.columns.flatMap(({measure, label, unit}) =>
    run.conditions.map(({id, label: condition}, index) => {
      const found = measureOf(run, id, measure)
      const numbers = [found?.median, found?.min, found?.max].map(value => quantity(value ?? null, unit, pen.dash))
      return [
        index === 0 ? pen.text(withUnit(label, shownUnit(unit))) : '',
        pen.text(condition),
        String(found?.n ?? 0),
        ...numbers,
      ]
    }),
  )
  const trials = run.trials.map(trial => [
    String(trial.number),
    pen.text(labelOf(run, trial.condition)),
    trial.reason === undefined ? trial.outcome : `${trial.outcome}: ${pen.text(trial.reason)}`,
    duration(trial.durationMs),
    ...run.columns.map(({measure, unit}) => quantity(trial.measures[measure] ?? null, unit, pen.dash)),
  ])
  const columns: TextColumn[] = [
    right('trial'),
    {head: 'condition'},
    {
      head: 'outcome',
      maxWidth: 60,
      paint: (text, row) => pen.ink(row < 0 ? 'bold' : inkOfOutcome[run.trials[row]?.outcome ?? 'ok'], text),
    },
    right('took'),
    ...run.columns.map(({short, unit}) => right(pen.text(withUnit(short, headUnit(unit))))),
  ]
  const measures = [{head: 'measure'}, {head: 'condition'}, right('n'), right('median'), right('min'), right('max')]
  return [...textTable(measures, rows), '', ...(trials.length > 0 ? textTable(columns, trials) : ['no trial yet'])]
}

function claimLines(claims: readonly Claim[], pen: Pen, width: number): string[] {
  const rows = claims.map((claim, index) => ({
    mark: pen.ink(inkOfOutcome[claim.outcome], pen.mark(claim.outcome)),
    text: pen.text(claimText(claim)),
    because: becauseOf(claim, pen, claims.slice(0, index)),
  }))
  // Short reasons stand in a column at the right edge; where claim and reason don't fit beside each other, the reason
  // takes lines of its own.
  const short = Math.max(0, ...rows.map(({because}) => textWidth(because)).filter(each => each <= 24))
  const left = Math.min(width, 100) - short
  return rows.flatMap(({mark, text, because}) => {
    const start = Math.max(left, textWidth(text) + 5)
    if (start + textWidth(because) <= width) return [`${mark} ${pad(text, start - 2)}${because}`]
    const [first = '', ...more] = wrap(text, width - 2)
    return [
      `${mark} ${first}`,
      ...more.map(line => `  ${line}`),
      ...wrap(because, width - 4).map(line => `    ${line}`),
    ]
  })
}

/** The first count is a sentence, those after it only the numbers; anything else is told whole. */
function becauseOf(claim: Claim, pen: Pen, before: readonly Claim[]): string {
  const because = pen.text(claim.because)
  if (claim.outcome !== 'upheld') return `${claim.outcome}: ${because}`
  const counted = countOf(because)
  if (counted === undefined) return because
  if (before.some(each => each.outcome === 'upheld' && countOf(each.because) !== undefined)) return counted
  return `${claim.quantifier === 'sometimes' ? 'seen ' : ''}in ${counted} trials`
}

function countOf(because: string): string | undefined {
  return /^(?:seen )?in (\d+ of \d+) trials?$/.exec(because)?.[1]
}

function trialLines(run: RunRecord, pen: Pen, width: number): string[] {
  const bad = run.trials.filter(({outcome}) => outcome !== 'ok')
  const rows = bad.map(trial => [
    `trial ${trial.number}`,
    pen.text(labelOf(run, trial.condition)),
    `${trial.outcome}: ${pen.text(trial.reason ?? 'no reason was given')}`,
  ])
  const ink = (text: string, row: number) => pen.ink(inkOfOutcome[bad[row]?.outcome ?? 'failed'], text)
  return textTable([{head: ''}, {head: '', maxWidth: 26}, {head: '', paint: ink}], rows, {head: false, width})
}

function verdictLines(run: RunRecord, pen: Pen, width: number): string[] {
  const words = outcomeWords(run)
  const first = pen.text(`${words} ${circumstances(run)}.`)
  const why = run.verdict.because === undefined ? [] : wrap(pen.text(sentence(run.verdict.because)), width)
  const limit = pen.text(limits(run) ?? '')
  const joined = why.length === 0 && limit !== '' && textWidth(first) + 3 + textWidth(limit) <= width
  const lines = joined
    ? [`${first}   ${limit}`]
    : [...wrap(first, width), ...why, ...(limit === '' ? [] : wrap(limit, width))]
  const outcome = run.verdict.outcome.toUpperCase()
  return lines.map((line, index) =>
    index === 0
      ? line.replace(outcome, word => pen.ink('bold', pen.ink(inkOfOutcome[run.verdict.outcome], word)))
      : line,
  )
}

/** A run with a verdict is looked at, its evidence first; one without is run again. */
function lastLines(input: ReportInput, pen: Pen, {dir = input.run.dir, next, wide}: TextOptions): string[] {
  const report = `Report   ${pen.text(`${dir}/report.html`)}`
  if (next === false) return [report]
  if (next !== undefined) return [report, `Next     ${pen.text(next)}`]
  const hasVerdict = input.run.state === 'done' && input.run.verdict.outcome !== 'inconclusive'
  const beside = hasVerdict ? comparison(input, dir) : undefined
  const [folder] = evidenceFolders(input)
  const dumps = folder === undefined || !wide ? [] : evidenceCommands(input, folder, dir).filter(isDump).slice(0, 1)
  const commands = [...(beside === undefined ? [] : [beside]), ...dumps, nextCommand(input.run)]
  return [report, ...commands.map((command, index) => `${index === 0 ? 'Next' : '    '}     ${pen.text(command)}`)]
}

function isDump(command: string): boolean {
  return command.startsWith('kx dump-log')
}
