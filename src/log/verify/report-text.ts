import {bytes as sizeText, grouped, plural, safe} from '../../util/format.js'
import {kindNames} from '../files/kinds.js'
import type {Finding, Severity} from '../finding.js'
import type {FileReport, FolderReport, LogSummary, Report, SegmentSummary} from './report.js'
import {table, wrap} from './text-layout.js'

export interface ReportTextOptions {
  /** Where lines are wrapped. */
  readonly columns: number
  readonly unicode: boolean
  /** Findings of one code that are listed; default 5. */
  readonly findingsPerCode?: number
}

const segmentsListed = 50
const producersListed = 10

/** A report for people: what is there, what is wrong, what follows from it. Lines without their ends. */
export function reportText(report: Report, options: ReportTextOptions): string[] {
  const lines = 'segments' in report ? folderLines(report, options) : fileLines(report, options)
  return options.unicode ? lines : lines.map(ascii)
}

function fileLines(report: FileReport, options: ReportTextOptions): string[] {
  const {path, role, sizeInBytes, log, entries} = report
  const count = entries === undefined ? '' : `, ${plural(entries, 'entry', 'entries')}`
  const size = `${grouped(sizeInBytes)} ${sizeInBytes === 1 ? 'byte' : 'bytes'}`
  return [
    `${safe(path)}: ${kindNames[role]}, ${size}${count}`,
    ...(log ? logLines(log, options) : []),
    ...tail(report, options),
  ]
}

function folderLines(report: FolderReport, options: ReportTextOptions): string[] {
  const {path, kind, segments, log, otherFiles, partitions} = report
  const what =
    kind === 'partition'
      ? plural(segments.length, 'segment')
      : kind === 'log-dir'
        ? `log dir, ${plural(partitions.length, 'partition')}`
        : plural(otherFiles.length, 'file')
  const lines = [`${safe(path)}: ${what}${log ? `, ${sizeText(log.sizeInBytes)}` : ''}`]
  if (log && segments.length > 0) lines.push(...logLines(log, options), '', ...segmentTable(segments))
  if (partitions.length > 0) lines.push('', ...partitionTable(partitions))
  lines.push(...tail(report, options))
  for (const partition of partitions) {
    if (partition.findingCounts.some(({severity}) => severity !== 'info')) {
      lines.push('', ...folderLines(partition, options))
    }
  }
  return lines
}

function logLines(log: LogSummary, options: ReportTextOptions): string[] {
  const {batches, records, firstOffset, lastOffset, firstTimestamp, lastTimestamp, transactions} = log
  if (batches === 0) return ['  no batch is in it']
  const odd = [
    ...(log.controlBatches > 0 ? [`${grouped(log.controlBatches)} control`] : []),
    ...(log.emptyBatches > 0 ? [`${grouped(log.emptyBatches)} empty`] : []),
    ...(log.damagedBatches > 0 ? [`${grouped(log.damagedBatches)} damaged`] : []),
  ]
  const facts: [string, string][] = [
    ['offsets', `${firstOffset} to ${lastOffset}`],
    ['batches', `${grouped(batches)}${odd.length > 0 ? ` (${odd.join(', ')})` : ''}, ${plural(records, 'record')}`],
  ]
  if (firstTimestamp !== undefined && lastTimestamp !== undefined) {
    facts.push(['times', `${time(firstTimestamp)} to ${time(lastTimestamp)}`])
  }
  if (log.magics.some(magic => magic < 2)) facts.push(['magic', log.magics.join(', ')])
  for (const {codec, batches: count, storedBytes, plainBytes, ratio} of log.codecs) {
    const sizes =
      codec === 'none'
        ? sizeText(plainBytes)
        : `${sizeText(plainBytes)} as ${sizeText(storedBytes)} (ratio ${ratio.toFixed(2)})`
    facts.push([codec, `${plural(count, 'batch', 'batches')}, ${sizes}`])
  }
  facts.push(...producerFacts(log))
  if (log.leaderEpochs.length > 0) {
    const told = log.leaderEpochs.slice(0, 8).map(({epoch, firstOffset: first}) => `${epoch} from ${first}`)
    const more = log.leaderEpochs.length - told.length
    facts.push(['epochs', `${told.join(', ')}${more > 0 ? `, and ${more} more` : ''}`])
  }
  const {committed, aborted, open, withoutData, lastStableOffset} = transactions
  if (committed + aborted + open.length + withoutData > 0) {
    const empty = withoutData > 0 ? `, ${withoutData} without data` : ''
    const stable = lastStableOffset === undefined ? '' : `; last stable offset ${lastStableOffset}`
    facts.push([
      'transactions',
      `${grouped(committed)} committed, ${grouped(aborted)} aborted, ${open.length} open${empty}${stable}`,
    ])
  }
  if (log.deleteHorizons) {
    const {batches: count, first, last} = log.deleteHorizons
    facts.push(['horizons', `${plural(count, 'batch', 'batches')}, ${time(first)} to ${time(last)}`])
  }
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.flatMap(([name, text]) => wrap(text, `  ${name.padEnd(width)}  `, options.columns))
}

function producerFacts({producers, producerCount}: LogSummary): [string, string][] {
  if (producerCount === 0) return []
  const told = producers
    .slice(0, producersListed)
    .map(({producerId, firstEpoch, lastEpoch, records, isTransactional}) => {
      const epochs = firstEpoch === lastEpoch ? `epoch ${lastEpoch}` : `epochs ${firstEpoch} to ${lastEpoch}`
      return `${producerId} (${epochs}, ${plural(records, 'record')}${isTransactional ? ', transactional' : ''})`
    })
  const more = producerCount - told.length
  return [['producers', `${told.join(', ')}${more > 0 ? `, and ${grouped(more)} more` : ''}`]]
}

function segmentTable(segments: readonly SegmentSummary[]): string[] {
  const shown = segments.length <= segmentsListed ? segments : [...segments.slice(0, 25), ...segments.slice(-25)]
  const rows = shown.map(segment => [
    segment.name,
    segment.firstOffset === undefined ? 'no batch' : `${segment.firstOffset} to ${segment.lastOffset}`,
    sizeText(segment.sizeInBytes),
    grouped(segment.batches),
    grouped(segment.records),
    segment.lastTimestamp === undefined ? '' : time(segment.lastTimestamp),
    indexText(segment),
    segment.findings > 0 ? plural(segment.findings, 'finding') : segment.isActive ? 'active' : '',
  ])
  const lines = table(['segment', 'offsets', 'size', 'batches', 'records', 'newest', 'indexes', ''], rows, [2, 3, 4])
  if (shown.length < segments.length) {
    lines.splice(26, 0, `  ... ${grouped(segments.length - shown.length)} more segments ...`)
  }
  return lines
}

function indexText({offsetIndex, timeIndex, transactionIndex}: SegmentSummary): string {
  const states = [
    ['index', offsetIndex],
    ['timeindex', timeIndex],
    ['txnindex', transactionIndex],
  ] as const
  const odd = states.filter(([, state]) => state === 'missing' || state === 'findings')
  if (odd.length === 0) return states.every(([, state]) => state === 'absent') ? 'none' : 'ok'
  return odd.map(([name, state]) => `${name} ${state === 'missing' ? 'missing' : 'wrong'}`).join(', ')
}

function partitionTable(partitions: readonly FolderReport[]): string[] {
  const rows = partitions.map(({path, segments, log, findingCounts}) => {
    const count = findingCounts.filter(({severity}) => severity !== 'info').reduce((sum, one) => sum + one.count, 0)
    return [
      safe(path.slice(path.lastIndexOf('/') + 1)),
      grouped(segments.length),
      log?.firstOffset === undefined ? 'no batch' : `${log.firstOffset} to ${log.lastOffset}`,
      sizeText(log?.sizeInBytes ?? 0),
      grouped(log?.records ?? 0),
      count === 0 ? '' : plural(count, 'finding'),
    ]
  })
  return table(['partition', 'segments', 'offsets', 'size', 'records', ''], rows, [1, 3, 4])
}

function tail(report: Report, options: ReportTextOptions): string[] {
  const lines: string[] = []
  if (report.findings.length > 0) lines.push('', 'Findings', ...findingLines(report, options))
  if (report.conclusions.length > 0) {
    lines.push('', 'Conclusions')
    const bullet = options.unicode ? '• ' : '- '
    for (const conclusion of report.conclusions) {
      lines.push(...wrap(safe(conclusion), `  ${bullet}`, options.columns))
    }
  }
  return lines
}

function findingLines(report: Report, options: ReportTextOptions): string[] {
  const perCode = options.findingsPerCode ?? 5
  const lines: string[] = []
  for (const {code, severity, count} of report.findingCounts) {
    const kept = report.findings.filter(finding => finding.code === code && finding.severity === severity)
    for (const finding of kept.slice(0, perCode)) lines.push(...findingLine(finding, options))
    const more = count - Math.min(kept.length, perCode)
    if (more > 0) lines.push(`  ${mark(severity)} ${code}: and ${grouped(more)} more`)
  }
  return lines
}

function findingLine(
  {code, severity, file, position, offset, explanation}: Finding,
  options: ReportTextOptions,
): string[] {
  const name = safe(file.slice(file.lastIndexOf('/') + 1))
  const at = position === undefined ? '' : ` at byte ${grouped(position)}`
  const where = offset === undefined ? '' : `, offset ${offset}`
  return wrap(`${code}: ${name}${at}${where}: ${safe(explanation)}`, `  ${mark(severity)} `, options.columns)
}

function mark(severity: Severity): string {
  return severity.padEnd('warning'.length)
}

/** Milliseconds since 1970 as a date, where that is one. */
function time(ms: bigint): string {
  const latest = 8_640_000_000_000_000n
  if (ms < 0n || ms > latest) return `${ms}`
  return new Date(Number(ms)).toISOString()
}

const signs: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '…': '...',
  '•': '-',
  '→': '->',
  '×': 'x',
  '≥': '>=',
}

function ascii(line: string): string {
  return line.replace(/[−–…•→×≥]/g, sign => signs[sign] ?? sign)
}
