import type {Format, View} from '../src/cli/answer.js'
import type {TableFigure} from '../src/experiment/figures.js'
import type {WhatIfReport} from '../src/inspect/what-if-writer.js'
import {bytesJson, findingFields, valueJson} from '../src/log/json.js'
import {escapedString} from '../src/log/text/encodings.js'
import type {Outcome, WhatIf} from '../src/log/what-if/measure.js'
import type {LeftOut} from '../src/log/what-if/sample.js'
import {figureText} from '../src/report/chart.js'
import {csvLines} from '../src/report/csv.js'
import {wrap} from '../src/report/text-table.js'
import {bytes, grouped, plural} from '../src/util/format.js'
import {findingLines} from './dump-log-state.js'

/** `--what-if` in the format that was asked for. */
export function whatIfText(reports: readonly WhatIfReport[], format: Format, view: View): string {
  if (format === 'json') return `${valueJson({schema: 'kx/what-if/1', reports: reports.map(rounded)}, bytesJson)}\n`
  if (format === 'ndjson') return reports.map(lines).join('')
  if (format === 'csv') return csvOf(reports)
  return reports.map(report => forPeople(report, view)).join('\n')
}

/** Times differ from run to run: what is beyond µs says nothing. */
function roundedRow<Row extends Omit<Outcome, 'codec' | 'level'>>(row: Row): Row {
  const round = (value: number | null) => (value === null ? null : Number(value.toFixed(3)))
  return {
    ...row,
    ratio: round(row.ratio),
    compressMsPerMiB: round(row.compressMsPerMiB),
    decompressMsPerMiB: round(row.decompressMsPerMiB),
  }
}

function rounded({path, sample, plainBytes, present, outcomes, findings}: WhatIfReport) {
  return {path, sample, plainBytes, present: roundedRow(present), outcomes: outcomes.map(roundedRow), findings}
}

function lines(report: WhatIfReport): string {
  const {path, sample, plainBytes, present, outcomes, findings} = rounded(report)
  const line = (kind: string, fields: object) => `{"kind":"${kind}",${valueJson(fields, bytesJson).slice(1)}\n`
  return [
    line('sample', {path, ...sample, plainBytes}),
    line('present', {path, ...present}),
    ...outcomes.map(outcome => line('outcome', {path, ...outcome})),
    ...findings.map(finding => `{"kind":"finding","path":${JSON.stringify(finding.file)},${findingFields(finding)}}\n`),
  ].join('')
}

const csvColumns = [
  'path',
  'present',
  'codec',
  'level',
  'sizeInBytes',
  'ratio',
  'logSizeInBytes',
  'compressMsPerMiB',
  'decompressMsPerMiB',
]

function csvOf(reports: readonly WhatIfReport[]): string {
  const rows = reports
    .map(rounded)
    .flatMap(({path, present, outcomes}) =>
      [
        {...present, isPresent: true, codec: present.codecs.join(' '), level: null},
        ...outcomes.map(row => ({...row, isPresent: false})),
      ].map(({isPresent, codec, level, sizeInBytes, ratio, logSizeInBytes, compressMsPerMiB, decompressMsPerMiB}) => [
        path,
        isPresent,
        codec,
        level,
        sizeInBytes,
        ratio,
        logSizeInBytes,
        compressMsPerMiB,
        decompressMsPerMiB,
      ]),
    )
  return csvLines([csvColumns, ...rows], true)
}

const reasons: Readonly<Record<LeftOut, string>> = {
  control: 'control batches, which nobody compresses',
  empty: 'batches without records',
  legacy: 'messages of magic 0 or 1',
  damaged: 'batches that are damaged',
  'too-large': 'batches that are larger than a sample',
}

function forPeople(report: WhatIfReport, {columns: width, colour, unicode}: View): string {
  const {path, sample, plainBytes, findings} = report
  const {batches, every, candidates, candidateBytes, leftOut} = sample
  const told = [
    `${plural(candidates, 'batch', 'batches')} with records in ${bytes(candidateBytes)}. `,
    every === 1
      ? `All were compressed anew: ${bytes(plainBytes)} uncompressed.`
      : `One in ${every} was compressed anew, beginning with the first: ${grouped(batches)} batches, ${bytes(plainBytes)} uncompressed.`,
    ...leftOut.map(
      ({why, batches: count, sizeInBytes}) =>
        ` Left out: ${reasons[why]} (${plural(count, 'batch', 'batches')}, ${bytes(sizeInBytes)}).`,
    ),
  ].join('')
  const note =
    'Each batch is compressed for itself, as producers and brokers do it; sizes are within a few percent of what Kafka would write. Times are those of a processor of this machine in kx: they rank the levels of a codec. Kafka with its native libraries for snappy, lz4 and zstd takes a half to a quarter of them.'
  return [
    escapedString(path),
    ...wrap(told, width),
    ...(batches === 0 ? [] : ['', ...figureText(figureOf(report), {width, colour, unicode}), '', ...wrap(note, width)]),
    '',
    ...findingLines(findings),
  ].join('\n')
}

function figureOf({present, outcomes}: WhatIf): TableFigure {
  const right = {align: 'right'} as const
  const row = (name: string, {sizeInBytes, ratio, ...rest}: Omit<Outcome, 'codec' | 'level'>) => [
    name,
    grouped(sizeInBytes),
    ratio.toFixed(2),
    `${((100 * sizeInBytes) / Math.max(1, present.sizeInBytes)).toFixed(1)} %`,
    bytes(rest.logSizeInBytes),
    time(rest.compressMsPerMiB),
    time(rest.decompressMsPerMiB),
  ]
  return {
    kind: 'table',
    title: 'Codecs',
    columns: [
      {label: 'codec'},
      {label: 'bytes', ...right},
      {label: 'ratio', ...right},
      {label: 'of now', ...right},
      {label: 'the log', ...right},
      {label: 'compress', unit: 'ms/MiB', ...right},
      {label: 'uncompress', unit: 'ms/MiB', ...right},
    ],
    rows: [
      row(`now: ${present.codecs.join(', ')}`, present),
      ...outcomes.map(({codec, level, ...rest}) => row(level === null ? codec : `${codec} ${level}`, rest)),
    ],
  }
}

function time(ms: number | null): string {
  return ms === null ? '' : ms.toFixed(ms < 10 ? 2 : 1)
}
