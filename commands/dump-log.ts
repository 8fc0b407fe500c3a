import type {Format, Output, StreamedAnswer, View} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {failureText} from '../src/cli/answer.js'
import {failureOf} from '../src/cli/failure.js'
import {safeText, screen} from '../src/cli/terminal.js'
import type {DumpOptions, DumpWriter} from '../src/inspect/job.js'
import type {ReportForm} from '../src/inspect/verify-writer.js'
import type {DecoderName} from '../src/log/decode/decoder.js'
import type {KafkaStyle} from '../src/log/decode/style.js'
import type {Report} from '../src/log/verify/report.js'
import type {reportText} from '../src/log/verify/report-text.js'
import {KxError} from '../src/util/errors.js'
import {bytes, duration} from '../src/util/format.js'
import {decoders, dumpLogArguments, dumpLogFlags} from './dump-log-flags.js'
import {checkFlags, usage} from './dump-log-usage.js'

type DumpFlags = FlagsOf<typeof DumpLog>

export default class DumpLog extends KxCommand<typeof DumpLog> {
  static override summary = "Show what lies in Kafka's files: logs, indexes, snapshots, checkpoints, whole folders"
  static override description =
    "A file gives its batches (with --deep-iteration its records, with --print-data-log keys and values), a folder an overview. -o kafka prints what Kafka's own tool prints. Nothing on disk is changed. Exit codes: 0 clean, 1 something is wrong in the files, 2 wrong use, 5 a file can't be read."
  static override examples = [
    '<%= config.bin %> dump-log 00000000000000000000.log',
    '<%= config.bin %> dump-log --print-data-log --offset 1000..1999 *.log',
    '<%= config.bin %> dump-log /var/lib/kafka/orders-0',
    '<%= config.bin %> dump-log --verify 00000000000000000000.log',
    '<%= config.bin %> dump-log -o ndjson --key order-17 00000000000000000000.log',
    '<%= config.bin %> dump-log -o kafka --deep-iteration --files 00000000000000000000.log,00000000000000000000.index',
    '<%= config.bin %> dump-log --topic orders --partition 0 --follow',
  ]
  static override usage = [
    '<%= command.id %> FILES... [flags]',
    '<%= command.id %> --topic <topic> [--partition <n>] [flags]',
    '<%= command.id %> <topic>:<partition> [flags]',
  ]
  static override args = dumpLogArguments
  static override flags = dumpLogFlags
  protected override readonly cleansUp = false

  protected override asked(flags: DumpFlags): Format {
    return flags.format ?? super.asked(flags)
  }

  protected override async work(
    flags: DumpFlags,
    args: ArgsOf<typeof DumpLog>,
    session: Session,
  ): Promise<StreamedAnswer> {
    checkFlags(flags, this.asked(flags))
    const run = await runOf(flags, (args.files ?? []) as unknown as readonly string[])
    const options = await optionsOf(flags, this.asked(flags), session)
    return {
      async stream(output, format, view) {
        const make = (style = options.style) => writerFor({format, output, view, flags, options: {...options, style}})
        return run(make, options)
      },
    }
  }
}

type Run = (make: (style?: KafkaStyle) => Promise<DumpWriter>, options: DumpOptions) => Promise<number>

/** What is read: files, a partition of a running cluster, or either as it grows. */
async function runOf(flags: DumpFlags, args: readonly string[]): Promise<Run> {
  const named = await topicOf(flags, args)
  if (named) return liveRun({...flags, ...named})
  const paths = [...args, ...(flags.files === undefined ? [] : flags.files.split(','))]
  const asked = liveFlags.filter(flag => flags[flag] !== undefined).map(flag => `--${flag}`)
  const [path, ...others] = paths
  if (path !== undefined && asked.length > 0) {
    throw usage(`Files are named, and ${asked.join(', ')} asks for a running cluster.`, 'Leave one of them out.')
  }
  if (asked.some(flag => !modifiers.includes(flag))) return liveRun(flags)
  if (path === undefined) {
    const examples = [
      'kx dump-log 00000000000000000000.log',
      'kx dump-log --topic orders --partition 0',
      'kx dump-log --help',
    ]
    throw usage(asked.length > 0 ? `${asked.join(', ')} needs a --topic.` : 'No file is named.', ...examples)
  }
  const single = flags.follow ? '--follow' : flags.salvage === undefined ? undefined : '--salvage'
  if (single !== undefined && others.length > 0) throw usage(`${single} takes one file, and ${paths.length} are named.`)
  if (flags.follow) {
    const {followPath} = await import('../src/inspect/live-dump.js')
    return async (make, options) => followPath(path, await make(), options)
  }
  const {dumpAll} = await import('../src/inspect/dump.js')
  return async (make, options) => dumpAll(paths, await make(), options)
}

/** `orders:0`, and `orders` where a partition or broker is asked for; files of that name go before. */
async function topicOf(
  flags: DumpFlags,
  [name, ...others]: readonly string[],
): Promise<{topic: string; partition?: number} | undefined> {
  if (name === undefined || others.length > 0 || flags.files !== undefined || flags.topic !== undefined)
    return undefined
  const [, topic, digits] = /^([A-Za-z0-9._-]{1,249})(?::(\d{1,9}))?$/.exec(name) ?? []
  const isAsked = digits !== undefined || flags.partition !== undefined || flags.broker !== undefined
  if (topic === undefined || !isAsked || (digits !== undefined && flags.partition !== undefined)) return undefined
  const {isThere} = await import('../src/inspect/files.js')
  if (await isThere(name)) return undefined
  return digits === undefined ? {topic} : {topic, partition: Number(digits)}
}

const liveFlags = ['topic', 'partition', 'broker', 'cluster', 'group', 'transactional-id', 'share-group'] as const
/** Those that say nothing alone. */
const modifiers = ['--partition', '--broker', '--cluster']

async function liveRun(flags: DumpFlags): Promise<Run> {
  const {topic, partition, broker, cluster, group, follow} = flags
  const {'transactional-id': transactionalId, 'share-group': shareGroup} = flags
  const keys = [group, transactionalId, shareGroup].filter(key => key !== undefined)
  if (keys.length > 1) throw usage('Of --group, --transactional-id and --share-group only one can be looked for.')
  if (keys.length === 1 && topic !== undefined && shareGroup === undefined) {
    throw usage('A group or transactional id says which topic and partition it is: leave --topic out.')
  }
  if (keys.length === 1 && partition !== undefined && topic === undefined) {
    throw usage(
      'Who is looked for says which partition it is: leave --partition out.',
      ...(shareGroup === undefined ? [] : [`--share-group ${shareGroup} --topic <topic> --partition ${partition}`]),
    )
  }
  if (flags.salvage !== undefined) throw usage('--salvage takes a file.')
  const {dumpLive, styleOf} = await import('../src/inspect/live-dump.js')
  return async (make, options) => {
    const where = {
      ...(broker === undefined ? {} : {broker}),
      ...(cluster === undefined ? {} : {cluster}),
      ...(partition === undefined ? {} : {partition}),
      signal: options.signal,
    }
    const makeStyled = (version: string) => make(flags['kafka-style'] ?? styleOf(version))
    const request = {goOn: follow, asFolder: flags.verify || flags.stats || flags.state || flags['what-if']}
    if (keys.length === 0) return dumpLive({...where, ...request, topic: topic ?? ''}, makeStyled, options)
    const {partitionFor} = await import('../src/inspect/live-key.js')
    const found = await partitionFor({group, transactionalId, shareGroup}, {...where, topic})
    return dumpLive({...where, ...request, ...found}, makeStyled, options)
  }
}

async function optionsOf(flags: DumpFlags, format: Format, {signal, progress}: Session): Promise<DumpOptions> {
  for (const part of ['key', 'value'] as const) {
    if (flags[`${part}-decoder-class`] === undefined) continue
    throw new KxError('usage', 'KX_USAGE', `kx runs no Java, so it has no --${part}-decoder-class.`, {
      suggestions: [`--${part}-format string, int32, int64, uuid, hex, base64 or json`],
    })
  }
  const {selectionOf} = await import('../src/inspect/selection.js')
  const decoder = decoderOf(flags, format)
  const printData = flags['print-data-log'] || (decoder !== 'auto' && decoder !== 'none')
  const isData = format === 'ndjson' || format === 'json' || format === 'yaml' || format === 'csv'
  return {
    deep: flags['deep-iteration'] || printData || isData,
    printData,
    skipRecordMetadata: flags['skip-record-metadata'],
    indexSanityCheck: flags['index-sanity-check'],
    verifyIndexOnly: flags['verify-index-only'],
    maxBytes: flags['max-bytes'],
    maxMessageSize: flags['max-message-size'],
    maxDecompressedBytes: flags['max-decompressed'],
    decoder,
    keyFormat: flags['key-format'],
    valueFormat: flags['value-format'],
    style: flags['kafka-style'] ?? '4.4',
    bugCompatible: flags['bug-compatible'],
    redact: flags.redact,
    raw: flags.raw,
    limit: flags.limit ?? Number.POSITIVE_INFINITY,
    filter: selectionOf(flags),
    signal,
    progress: progressOf(progress),
    warning: text => progress.warning(text),
    complain: line => process.stderr.write(`${format === 'kafka' ? line : safeText(line)}\n`),
    failed: error => process.stderr.write(failureText(failureOf(error), screen(process.stderr, process.env))),
  }
}

/** On a terminal, if stdout does not go to it as well. */
function progressOf(progress: Session['progress']): DumpOptions['progress'] {
  if (!screen(process.stderr, process.env).live || process.stdout.isTTY) return undefined
  let since: {path: string; ms: number} | undefined
  let toldMs = 0
  return (path, done, total) => {
    const nowMs = performance.now()
    if (since?.path !== path) since = {path, ms: nowMs}
    const spentMs = nowMs - since.ms
    if (spentMs < 500 || nowMs - toldMs < 250 || done === 0) return
    toldMs = nowMs
    const left = duration((spentMs * (total - done)) / done)
    progress.live(`${path.slice(path.lastIndexOf('/') + 1)}: ${bytes(done)} of ${bytes(total)}, about ${left} left`)
  }
}

/** In Kafka's format only the flags choose, and of several the first in the tool's own order. */
function decoderOf(flags: DumpFlags, format: Format): DumpOptions['decoder'] {
  const named: DecoderName[] = decoders.filter(name => flags[`${name}-decoder`])
  if (flags.decoder !== 'auto' && flags.decoder !== 'none') named.push(flags.decoder)
  const different = [...new Set<DecoderName>(named)]
  const [first] = different
  if (first === undefined) return format === 'kafka' ? 'none' : flags.decoder
  if (different.length === 1 || format === 'kafka') return first
  throw new KxError(
    'usage',
    'KX_USAGE',
    `Records have one decoder, and ${different.length} are named: ${different.join(', ')}.`,
    {
      suggestions: [`--${first}-decoder`, 'Without a flag the decoder is chosen by the name of the folder.'],
    },
  )
}

interface Wanted {
  readonly format: Format
  readonly output: Output
  readonly view: View
  readonly flags: DumpFlags
  readonly options: DumpOptions
}

/** Loads only what is used: a tiny file should be there at once. */
async function writerFor({format, output, view, flags, options}: Wanted): Promise<DumpWriter> {
  const write = (bytes: Uint8Array) => output.write(bytes)
  if (flags.explain) {
    const {ExplainWriter} = await import('../src/inspect/explain-writer.js')
    return new ExplainWriter(positionOf(flags.at ?? ''), format === 'json', write, options)
  }
  if (flags.salvage !== undefined) {
    const {SalvageWriter} = await import('../src/inspect/salvage-writer.js')
    return new SalvageWriter(flags.salvage, format === 'json', write, options)
  }
  if (flags.verify) {
    const {VerifyWriter} = await import('../src/inspect/verify-writer.js')
    return new VerifyWriter(await reportForm(format, view), write, options)
  }
  if (flags.state || flags['what-if']) {
    const {stateWriter, whatIfWriter} = await import('./dump-log-views.js')
    const wanted = {format, view, write, options}
    return flags.state
      ? stateWriter(wanted, {atOffset: flags['at-offset'], against: flags.against})
      : whatIfWriter(wanted)
  }
  if (flags.stats) {
    const {StatsWriter} = await import('../src/inspect/stats-writer.js')
    const {statsJson, statsText} = await import('./dump-log-stats.js')
    const isJson = format === 'json'
    return new StatsWriter(
      async reports => (isJson ? statsJson(reports, flags.redact) : statsText(reports, view, flags.redact)),
      write,
      options,
    )
  }
  if (format === 'ndjson' || format === 'json' || format === 'yaml') {
    const {DataWriter} = await import('../src/inspect/data-writer.js')
    return new DataWriter(await framingOf(format), write, options)
  }
  if (format === 'csv') {
    const {CsvWriter} = await import('../src/inspect/csv-writer.js')
    return new CsvWriter(write, options)
  }
  const {TextWriter} = await import('../src/inspect/text-writer.js')
  return new TextWriter(format === 'kafka' ? 'kafka' : 'kx', reportsFor(view), write, options)
}

async function reportForm(format: Format, view: View): Promise<ReportForm> {
  const forms = await import('../src/inspect/verify-writer.js')
  if (format === 'json') return new forms.JsonReports()
  if (format === 'ndjson') return new forms.JsonLineReports()
  if (format === 'text' || format === 'wide') {
    const {reportText} = await import('../src/log/verify/report-text.js')
    return forms.textReports(report => textOf(report, view, reportText))
  }
  throw usage(`--verify has no -o ${format}.`)
}

function reportsFor(view: View): (report: Report) => Promise<string> {
  return async report => {
    const {reportText} = await import('../src/log/verify/report-text.js')
    return textOf(report, view, reportText)
  }
}

function textOf(report: Report, {columns, unicode, wide}: View, text: typeof reportText): string {
  const findingsPerCode = wide ? {findingsPerCode: Number.POSITIVE_INFINITY} : {}
  return `${text(report, {columns, unicode, ...findingsPerCode}).join('\n')}\n`
}

function positionOf(text: string): number {
  const position = /^(\d{1,15}|0x[0-9a-f]{1,12})$/i.test(text) ? Number(text) : undefined
  if (position !== undefined) return position
  throw new KxError('usage', 'KX_USAGE', `--at "${text}" is no position: a position is a number of bytes.`, {
    suggestions: ['--explain --at 0'],
  })
}

async function framingOf(format: 'ndjson' | 'json' | 'yaml') {
  const {Lines, OneDocument, OneValue} = await import('../src/inspect/framing.js')
  if (format === 'ndjson') return new Lines()
  if (format === 'json') return new OneValue()
  const {yamlBlock} = await import('../src/cli/answer.js')
  return new OneDocument(await yamlBlock())
}
