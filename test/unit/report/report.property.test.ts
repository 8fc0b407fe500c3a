import fc from 'fast-check'
import {expect, test} from 'vitest'
import type {Figure} from '../../../src/experiment/figures.js'
import type {MeasureRecord, ReportInput, RunRecord, TrialRecord} from '../../../src/experiment/run.js'
import {measuresCsv} from '../../../src/report/csv.js'
import {htmlReport} from '../../../src/report/html.js'
import {junitXml} from '../../../src/report/junit.js'
import {markdownReport} from '../../../src/report/markdown.js'
import {thinned} from '../../../src/report/scale.js'
import {stepSummary} from '../../../src/report/step-summary.js'
import {textReport} from '../../../src/report/text.js'
import {textTable, textWidth} from '../../../src/report/text-table.js'
import {dataLoss} from './samples.js'

const text = fc.oneof(
  fc.string({unit: 'binary', maxLength: 40}),
  fc.constantFrom(
    '',
    '<script>',
    '=1+1',
    '"',
    ',',
    'a\nb',
    '\r\n',
    '\u001b[2J',
    '\u202e',
    '\ud800',
    '記録',
    '| x |',
    '-',
    '`',
    'a '.repeat(60),
  ),
)
const number = fc.oneof(
  fc.integer(),
  fc.double({noNaN: true, noDefaultInfinity: true}),
  fc.constantFrom(0, -0, 1e21, 5e-324),
)
const finite = fc.double({min: -1e7, max: 1e7, noNaN: true})
const outcome = fc.constantFrom('upheld', 'refuted', 'inconclusive')
const tone = fc.constantFrom('good', 'bad', 'warn', 'neutral', 'accent')
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, {maxLength: 4})
const window = fc.record({fromMs: finite, toMs: finite, label: text})
const axis = fc.record({label: text, unit: fc.constantFrom('ms', 'records', 'records/s', '')})

const figure = fc.oneof(
  fc.record({
    kind: fc.constant('table'),
    title: text,
    columns: few(fc.record({label: text})),
    rows: few(few(fc.oneof(text, number, fc.constant(null)))),
  }),
  fc.record({
    kind: fc.constant('lines'),
    title: text,
    x: axis,
    y: axis,
    series: few(fc.record({name: text, points: few(fc.tuple(finite, finite))})),
    windows: few(window),
  }),
  fc.record({kind: fc.constant('bars'), title: text, y: axis, bars: few(fc.record({label: text, value: finite}))}),
  fc.record({
    kind: fc.constant('lanes'),
    title: text,
    lanes: few(
      fc.record({
        name: text,
        spans: few(fc.record({fromMs: finite, toMs: finite, label: text, tone})),
        marks: few(fc.record({atMs: finite, label: text})),
      }),
    ),
    windows: few(window),
  }),
  fc.record({
    kind: fc.constant('blocks'),
    title: text,
    unit: text,
    rows: few(
      fc.record(
        {
          name: text,
          note: text,
          blocks: few(
            fc.record(
              {
                size: fc.double({min: 0, max: 1e9, noNaN: true}),
                label: text,
                tone,
                short: text,
                head: fc.nat(100),
                detail: text,
              },
              {requiredKeys: ['size', 'label', 'tone']},
            ),
          ),
        },
        {requiredKeys: ['name', 'blocks']},
      ),
    ),
    line: fc.option(fc.double({min: 0, max: 1e9, noNaN: true}), {nil: undefined}),
    caption: fc.option(text, {nil: undefined}),
    legend: fc.option(few(fc.record({tone, text})), {nil: undefined}),
  }),
) as fc.Arbitrary<Figure>

const measured: fc.Arbitrary<MeasureRecord> = fc.record({
  condition: fc.constantFrom('a', 'b'), measure: fc.constantFrom('m', 'n'), label: text, unit: fc.constantFrom('ms', 'bytes', 'records', 'x/s'),
  n: fc.nat(20), median: fc.option(number), min: fc.option(number), max: fc.option(number),
}) // biome-ignore format: the fields of a record
const trialRecord: fc.Arbitrary<TrialRecord> = fc.record(
  {
    number: fc.nat(), condition: fc.constantFrom('a', 'b', 'gone'), outcome: fc.constantFrom('ok', 'inconclusive', 'failed'), reason: text,
    durationMs: finite, measures: fc.dictionary(fc.constantFrom('m', 'n'), fc.option(number)),
  },
  {requiredKeys: ['number', 'condition', 'outcome', 'durationMs', 'measures']},
) // biome-ignore format: the fields of a record

const run: fc.Arbitrary<RunRecord> = fc
  .record({
    experiment: text, id: text, startedAt: text, dir: text, durationMs: finite, seed: fc.integer(), quick: fc.boolean(),
    question: text, hypothesis: text, doesNotShow: text, notes: few(text), state: fc.constantFrom('running', 'done', 'interrupted', 'failed'),
    knobs: fc.dictionary(text, fc.integer()),
    conditions: few(fc.record({id: fc.constantFrom('a', 'b'), label: text, planned: fc.nat(9)})),
    columns: few(fc.record({measure: fc.constantFrom('m', 'n'), label: text, short: text, unit: fc.constantFrom('ms', 'bytes', 'records', 'x/s'), detail: fc.boolean()})),
    trials: few(trialRecord), measures: few(measured), example: text,
    verdict: fc.record({
      outcome, because: text,
      claims: few(fc.record({claim: text, quantifier: fc.constantFrom('always', 'sometimes', 'ordered', 'control'), outcome, because: text, telling: fc.nat(9)})),
    }),
  })
  .map(change => ({...dataLoss().run, ...change}) as RunRecord) // biome-ignore format: the fields of a record

const input: fc.Arbitrary<ReportInput> = fc.record({
  run,
  figures: few(figure),
  evidence: few(fc.record({path: text, sizeInBytes: fc.nat(), sha256: text})),
  faults: few(
    fc.record({trial: fc.nat(9), fault: text, nodeId: fc.nat(200), mechanism: text, evidence: text, startMs: finite}),
  ),
})

test('any input makes a text, on any terminal, that keeps the cursor where it is', () => {
  fc.assert(
    fc.property(input, fc.integer({min: 1, max: 200}), fc.boolean(), fc.boolean(), (report, width, wide, unicode) => {
      const shown = textReport(report, {width, wide, unicode, colour: false, figures: true})
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      if (!unicode) expect(shown).toMatch(/^[\n\u0020-\u007e]*$/)
    }),
    {numRuns: 300},
  )
})

test('any input makes a page, in which every "<" is kx\'s own', async () => {
  await fc.assert(
    fc.asyncProperty(input, async report => {
      const page = (await htmlReport(report)).replace(/<style>[\s\S]*?<\/style>/, '')
      expect(page.match(/<(?!\/?[a-z!][\w-]*(?:\s+[\w:-]+(?:="[^"<>]*")?)*\s*\/?>)/gi)).toBeNull()
      expect(page).not.toMatch(/<script/i)
      expect(page).not.toContain('can’t be drawn')
    }),
    {numRuns: 30},
  )
})

test('any input makes Markdown, JUnit XML and summaries without control characters', () => {
  fc.assert(
    fc.property(input, report => {
      const result = {experiment: report.run.experiment, run: report.run, durationMs: 1}
      const all = [markdownReport(report), junitXml([result]), stepSummary([result])]
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      for (const made of all) expect(made).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
      expect(junitXml([result]).replace(/<[^<>]*>/g, '')).not.toMatch(/[<>]/)
    }),
    {numRuns: 200},
  )
})

/** RFC 4180. */
function parseCsv(csv: string): string[][] {
  const rows: string[][] = []
  const row: string[] = []
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\n') rows.push(row.splice(0))
  }
  return rows
}

test('the CSV of any run is read back as it was, but for the apostrophe before a formula', () => {
  fc.assert(
    fc.property(run, record => {
      const [head, ...rows] = parseCsv(measuresCsv(record))
      expect(head).toEqual(['experiment', 'run', 'trial', 'condition', 'outcome', 'measure', 'unit', 'value'])
      const guarded = (value: string) => (/^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value)
      const expected = record.trials.flatMap(trial =>
        record.columns.map(({measure, unit}) => {
          const value = trial.measures[measure] ?? null
          const texts = [
            guarded(record.experiment),
            guarded(record.id),
            String(trial.number),
            trial.condition,
            trial.outcome,
            measure,
            unit,
          ]
          return [...texts, value === null ? '' : String(value)]
        }),
      )
      expect(rows).toEqual(expected)
    }),
    {numRuns: 300},
  )
})

test('a table is never wider than asked for, as long as each column has twelve characters', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.string({unit: 'grapheme-ascii', maxLength: 60}), {minLength: 3, maxLength: 3}), {
        maxLength: 5,
      }),
      fc.integer({min: 42, max: 120}),
      (rows, width) => {
        const lines = textTable([{head: 'a'}, {head: 'b'}, {head: 'c'}], rows, {width})
        expect(lines.filter(line => textWidth(line) > width)).toEqual([])
      },
    ),
  )
})

test('thinning keeps the ends, the least and the greatest value, and the order', () => {
  const point = fc.tuple(fc.integer({min: 0, max: 1_000_000}), fc.integer())
  fc.assert(
    fc.property(fc.array(point, {minLength: 1, maxLength: 2_000}), points => {
      const kept = thinned(points, 50)
      const values = (of: readonly (readonly [number, number])[]) => of.map(([, y]) => y)
      expect(kept.length).toBeLessThanOrEqual(Math.max(200, 0))
      expect(Math.max(...values(kept))).toBe(Math.max(...values(points)))
      expect(Math.min(...values(kept))).toBe(Math.min(...values(points)))
      expect(kept.map(([x]) => x)).toEqual(kept.map(([x]) => x).sort((a, b) => a - b))
    }),
    {numRuns: 100},
  )
})
