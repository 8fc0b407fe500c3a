import type {View} from '../src/cli/answer.js'
import type {BarsFigure, Figure, TableFigure} from '../src/experiment/figures.js'
import type {StatsReport} from '../src/inspect/stats-writer.js'
import {kindNames} from '../src/log/files/kinds.js'
import {bytesJson, redactedJson, valueJson} from '../src/log/json.js'
import type {Bucket, LogStats} from '../src/log/stats.js'
import {escapedString} from '../src/log/text/encodings.js'
import {figureText} from '../src/report/chart.js'
import {bytes, grouped, plural} from '../src/util/format.js'

/** `--stats` as data (schemas/dump-log-stats.json). */
export function statsJson(reports: readonly StatsReport[], redact: boolean): string {
  return `${valueJson({schema: 'kx/dump-log-stats/1', reports}, redact ? redactedJson : bytesJson)}\n`
}

/** `--stats` for people: what is in the log, as tables and bars. */
export function statsText(reports: readonly StatsReport[], view: View, redact: boolean): string {
  const text = reports.map(report => one(report, view, redact)).join('\n')
  return reports.length === 0 ? '' : `${text}\n`
}

function one({path, stats, bytesByKind, findingCount}: StatsReport, view: View, redact: boolean): string {
  const {columns: width, colour, unicode} = view
  const figures: Figure[] = [
    ...(bytesByKind.length > 0 ? [kindTable(bytesByKind)] : []),
    codecTable(stats),
    sizeBars('Sizes of batches', stats.batchSizes, size => bytes(size)),
    sizeBars('Records in a batch', stats.recordsPerBatch, String),
    ...(stats.producerCount > 0 ? [producerTable(stats)] : []),
    ...(stats.topKeys.length > 0 && !redact ? [keyTable(stats)] : []),
  ]
  const lines = [
    escapedString(path),
    ...summary(stats),
    ...(findingCount === 0
      ? []
      : [`${plural(findingCount, 'thing is', 'things are')} wrong in it: kx dump-log --verify says what.`]),
  ]
  return [...lines, ...figures.flatMap(figure => ['', ...figureText(figure, {width, colour, unicode})]), ''].join('\n')
}

function summary(stats: LogStats): string[] {
  const {batches, records, sizeInBytes, firstOffset, lastOffset, firstTimestamp, lastTimestamp} = stats
  const counts = [
    plural(stats.controlBatches, 'control batch', 'control batches'),
    `${grouped(stats.transactionalBatches)} transactional`,
    `${grouped(stats.idempotentBatches)} of idempotent producers`,
    `${grouped(stats.emptyBatches)} empty`,
  ]
  const backwards = stats.timestampsBackwards
  return [
    `${plural(batches, 'batch', 'batches')} with ${plural(records, 'record')} in ${bytes(sizeInBytes)}: ${counts.join(', ')}.`,
    ...(firstOffset === null ? [] : [`Offsets ${firstOffset} to ${lastOffset}.`]),
    ...(firstTimestamp === null ? [] : [`Timestamps ${time(firstTimestamp)} to ${time(lastTimestamp ?? 0n)}.`]),
    ...(backwards.records === 0
      ? []
      : [
          `${plural(backwards.records, 'record is', 'records are')} older than one before, by ${backwards.largestMs} ms at most.`,
        ]),
    `${plural(stats.tombstones, 'tombstone')}, ${plural(stats.recordsWithoutKey, 'record')} without a key, ${plural(stats.headers, 'header')}.`,
  ]
}

function time(ms: bigint): string {
  const number = Number(ms)
  return Math.abs(number) > 8.64e15 ? `${ms} ms` : new Date(number).toISOString()
}

function kindTable(kinds: StatsReport['bytesByKind']): TableFigure {
  const all = kinds.reduce((sum, {sizeInBytes}) => sum + sizeInBytes, 0)
  return {
    kind: 'table',
    title: 'Files',
    columns: [
      {label: 'kind'},
      {label: 'files', align: 'right'},
      {label: 'size', align: 'right'},
      {label: 'share', align: 'right'},
    ],
    rows: kinds.map(({kind, files, sizeInBytes}) => [
      kindNames[kind],
      files,
      bytes(sizeInBytes),
      `${((100 * sizeInBytes) / Math.max(1, all)).toFixed(1)} %`,
    ]),
  }
}

function codecTable({codecs}: LogStats): TableFigure {
  const right = {align: 'right'} as const
  return {
    kind: 'table',
    title: 'Codecs',
    columns: [
      {label: 'codec'},
      {label: 'batches', ...right},
      {label: 'records', ...right},
      {label: 'stored', ...right},
      {label: 'plain', ...right},
      {label: 'ratio', ...right},
    ],
    rows: codecs.map(({codec, batches, records, storedBytes, plainBytes, ratio}) => [
      codec,
      grouped(batches),
      grouped(records),
      bytes(storedBytes),
      bytes(plainBytes),
      ratio === null ? '' : ratio.toFixed(2),
    ]),
  }
}

function sizeBars(title: string, buckets: readonly Bucket[], told: (upTo: number) => string): BarsFigure {
  const bars = buckets.map(({upTo, batches}) => ({label: `up to ${told(upTo)}`, value: batches}))
  return {kind: 'bars', title, y: {label: 'batches', unit: ''}, bars}
}

function producerTable({producers, producerCount}: LogStats): TableFigure {
  const shown = producers.slice(0, 10)
  return {
    kind: 'table',
    title:
      producerCount > shown.length
        ? `The ${shown.length} of ${producerCount} producers with most records`
        : 'Producers',
    columns: [
      {label: 'producer id', align: 'right'},
      {label: 'epochs'},
      {label: 'batches', align: 'right'},
      {label: 'records', align: 'right'},
      {label: 'size', align: 'right'},
    ],
    rows: shown.map(({producerId, epochs, batches, records, sizeInBytes}) => [
      String(producerId),
      epochs.length > 3 ? `${epochs[0]} to ${epochs.at(-1)}` : epochs.join(', '),
      grouped(batches),
      grouped(records),
      bytes(sizeInBytes),
    ]),
  }
}

function keyTable({topKeys, topKeysExact}: LogStats): TableFigure {
  return {
    kind: 'table',
    title: topKeysExact
      ? 'Keys with most records'
      : 'Keys with most records (at least so many: there are too many keys to count)',
    columns: [{label: 'key'}, {label: 'records', align: 'right'}],
    rows: topKeys.map(({key, records}) => [keyText(key), grouped(records)]),
  }
}

function keyText(key: Buffer): string {
  const text = key.subarray(0, 60).toString('utf8')
  return text.includes('\ufffd') ? `hex:${key.subarray(0, 24).toString('hex')}` : escapedString(text)
}
