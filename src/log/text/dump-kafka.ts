import type {RecordDecoder} from '../decode/decoder.js'
import type {KafkaStyle} from '../decode/style.js'
import type {FileKind} from '../files/kinds.js'
import type {Finding} from '../finding.js'
import type {Folder, OpenFile} from '../folder.js'
import type {FindingCode} from '../verify/codes.js'
import {type LogVisitor, readLog} from '../read-log.js'
import {KxError} from '../../util/errors.js'
import {type EntriesContext, writeProducerSnapshot, writeTransactionIndex} from './entries-text.js'
import type {Dialect, FieldFormat} from './field-text.js'
import type {FinalReport} from './final-report.js'
import {FindingList} from './finding-list.js'
import type {IndexContext} from './index-context.js'
import type {LineWriter} from './line-writer.js'
import {writeFinding} from './finding-line.js'
import {LogText} from './log-text.js'
import {writeOffsetIndex} from './offset-index-text.js'
import {writeTimeIndex} from './time-index-text.js'

/** As the flags of Kafka's dump tool are called, and what kx adds. */
export interface DumpTextOptions {
  readonly style: KafkaStyle
  /** Default: kafka. */
  readonly dialect?: Dialect | undefined
  readonly printDataLog?: boolean | undefined
  readonly deepIteration?: boolean | undefined
  readonly skipRecordMetadata?: boolean | undefined
  readonly indexSanityCheck?: boolean | undefined
  readonly verifyIndexOnly?: boolean | undefined
  /** Undefined: all of the file. */
  readonly maxBytes?: number | undefined
  readonly maxMessageSize?: number | undefined
  /** Turns `printDataLog` on, as in Kafka; overrides the formats. */
  readonly decoder?: RecordDecoder | undefined
  readonly keyFormat?: FieldFormat | undefined
  readonly valueFormat?: FieldFormat | undefined
  readonly raw?: boolean | undefined
  readonly redact?: boolean | undefined
  /** False positives of the original in the final report, and phantom entries of preallocated indexes. */
  readonly bugCompatible?: boolean | undefined
  readonly maxDecompressedBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Puts something between the reader and the text of a log: filters, limits. Gaps are then not looked for. */
  readonly wrap?: ((text: LogVisitor) => LogVisitor) | undefined
}

export interface DumpOut {
  /** For stdout. The caller drains it at the end. */
  readonly writer: LineWriter
  /** Of all files of the run; the caller prints it on stderr after the last one. */
  readonly report: FinalReport
  /** Takes a line for stderr, without its end. */
  readonly complain: (line: string) => void
  /** Of the file that is being dumped, for the report. */
  readonly absolutePath: string
}

export interface Dumped {
  readonly findings: readonly Finding[]
  /** Those that Kafka's tool has no line for, neither in the dump nor in the final report. */
  readonly untold?: readonly Finding[]
  /** Why the rest of the file could not be read. */
  readonly unreadable?: string
}

const kindOfSuffix: ReadonlyMap<string, FileKind> = new Map([
  ['.log', 'log'],
  ['.checkpoint', 'snapshot-log'],
  ['.index', 'offset-index'],
  ['.timeindex', 'time-index'],
  ['.snapshot', 'producer-snapshot'],
  ['.txnindex', 'transaction-index'],
])

/** The kind that Kafka's dump tool takes a file for: by what stands behind the last dot. */
export function kafkaKind(name: string): FileKind {
  const dot = name.lastIndexOf('.')
  return (dot < 0 ? undefined : kindOfSuffix.get(name.slice(dot))) ?? 'unknown'
}

/**
 * One file as Kafka's dump tool prints it. Where that tool ends with an exception, what can be shown is shown and the
 * findings say the rest. Throws only what is no error of the file.
 */
export async function dumpKafka(
  file: OpenFile,
  folder: Folder,
  options: DumpTextOptions,
  out: DumpOut,
): Promise<Dumped> {
  out.writer.text(`Dumping ${file.path}\n`)
  const kind = kafkaKind(file.name)
  if (kind === 'unknown') {
    out.complain(`Ignoring unknown file ${file.path}`)
    return {findings: []}
  }
  return dumpText(kind, file, folder, {...options, dialect: 'kafka'}, out)
}

/**
 * One file of a kind that is known, without the line `Dumping …`. Kinds that Kafka's tool does not know give nothing. In
 * the dialect `kx` findings stand where the reader tells them, or at the end.
 */
export async function dumpText(
  kind: FileKind,
  file: OpenFile,
  folder: Folder,
  options: DumpTextOptions,
  out: DumpOut,
): Promise<Dumped> {
  const {dialect = 'kafka', style} = options
  const findings = new FindingList(file.path)
  const context: EntriesContext = {file, dialect, style, out: out.writer, findings, complain: out.complain}
  try {
    if (kind === 'log' || kind === 'snapshot-log') return await dumpLog(kind, file, options, out)
    if (kind === 'offset-index') await writeOffsetIndex(await indexContext(context, folder, options, out))
    if (kind === 'time-index') await writeTimeIndex(await indexContext(context, folder, options, out))
    if (kind === 'producer-snapshot') await writeProducerSnapshot(context)
    if (kind === 'transaction-index') await writeTransactionIndex(context)
  } catch (error) {
    if (!(error instanceof KxError) || error.kind !== 'input') throw error
    return {findings: findings.all(), unreadable: error.message}
  }
  if (dialect === 'kx') for (const finding of findings.all()) writeFinding(out.writer, finding)
  return {
    findings: findings.all(),
    untold: findings.all().filter(({code}) => !isTold(kind, code, {...options, dialect})),
  }
}

/** Kafka's tool complains of a snapshot that it refuses, and reports what is wrong with the entries of an index. */
function isTold(kind: FileKind, code: FindingCode, {dialect, indexSanityCheck}: DumpTextOptions): boolean {
  if (dialect === 'kx' || kind === 'producer-snapshot') return true
  return !indexSanityCheck && !untoldCodes.has(code)
}

const untoldCodes: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'index-order',
  'index-size',
  'timeindex-size',
  'txnindex-size',
  'txnindex-version',
  'not-checked',
])

async function indexContext(
  context: EntriesContext,
  folder: Folder,
  options: DumpTextOptions,
  {report, absolutePath}: DumpOut,
): Promise<IndexContext> {
  const {name} = context.file
  return {
    ...context,
    log: await folder.open(`${stemOf(name)}.log`),
    baseOffset: baseOffsetOf(name) ?? 0n,
    sanityCheckOnly: options.indexSanityCheck ?? false,
    verifyOnly: options.verifyIndexOnly ?? false,
    maxMessageSize: options.maxMessageSize,
    bugCompatible: options.bugCompatible ?? false,
    report,
    absolutePath,
  }
}

async function dumpLog(
  kind: 'log' | 'snapshot-log',
  file: OpenFile,
  options: DumpTextOptions,
  {writer, report, absolutePath}: DumpOut,
): Promise<Dumped> {
  const {dialect = 'kafka', decoder, maxBytes, maxDecompressedBytes, signal, wrap} = options
  const printDataLog = (options.printDataLog ?? false) || decoder !== undefined
  writer.text(`${kind === 'log' ? logHeader(file.name) : snapshotHeader(file.name)}\n`)
  const text = new LogText(writer, {
    ...options,
    path: file.path,
    name: file.name,
    dialect,
    printDataLog,
    deepIteration: printDataLog || (options.deepIteration ?? false),
    onGap: wrap ? undefined : (previous, offset) => report.gap(absolutePath, previous, offset),
  })
  const end = await readLog(file, wrap ? wrap(text) : text, {
    ...(maxBytes === undefined ? {} : {maxBytes}),
    ...(maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes}),
    ...(signal ? {signal} : {}),
    asKafka: dialect === 'kafka',
  })
  text.end(end)
  return {findings: text.findings, untold: text.untold}
}

function logHeader(name: string): string {
  return `Log starting offset: ${baseOffsetOf(name) ?? 'unknown'}`
}

function snapshotHeader(name: string): string {
  if (name === 'bootstrap.checkpoint') return 'KRaft bootstrap snapshot'
  const [, offset, epoch] = /^(\d{1,20})-(\d{1,10})(?=\.|$)/.exec(name) ?? []
  return offset && epoch
    ? `Snapshot end offset: ${BigInt(offset)}, epoch: ${BigInt(epoch)}`
    : 'Snapshot end offset: unknown, epoch: unknown'
}

function stemOf(name: string): string {
  return name.split('.')[0] as string
}

/** What Java's Long.parseLong takes, and the names of the tiered storage's cache (`<offset>_<id>.index`). */
function baseOffsetOf(name: string): bigint | undefined {
  const [, digits] = /^([+-]?\d{1,30})(?:_.*)?$/.exec(stemOf(name)) ?? []
  if (digits === undefined) return undefined
  const value = BigInt(digits.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}
