import {isLogKind} from '../log/files/kinds.js'
import {resolve} from 'node:path'
import type {FileKind} from '../log/files/kinds.js'
import {parseFileName} from '../log/files/names.js'
import {isTextFileKind} from '../log/files/text-files.js'
import {FilteredVisitor, logFilter, looksIntoRecords} from '../log/filter.js'
import type {Finding} from '../log/finding.js'
import type {Folder} from '../log/folder.js'
import {type LogVisitor, type ReadOptions, readLog} from '../log/read-log.js'
import {
  type Dumped,
  type DumpOut,
  type DumpTextOptions,
  dumpKafka,
  dumpText,
  kafkaKind,
} from '../log/text/dump-kafka.js'
import {escapedString} from '../log/text/encodings.js'
import type {Dialect} from '../log/text/field-text.js'
import {FinalReport} from '../log/text/final-report.js'
import {LineWriter, type Write} from '../log/text/line-writer.js'
import {writeFinding} from '../log/text/finding-line.js'
import {LogText} from '../log/text/log-text.js'
import type {Report} from '../log/verify/report.js'
import {KxError} from '../util/errors.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter, FollowedLog, Following} from './job.js'
import {Limited} from './limited.js'
import {PreallocatedLog} from './preallocated.js'
import {Promptly} from './promptly.js'
import {decoderNamed, isPreallocated, readOptionsFor} from './reading.js'

/** What a file without a folder has beside it. */
const nothing: Folder = {path: '', list: async () => [], open: async () => undefined}

/**
 * Shows files as lines: byte for byte those of Kafka's own tool, or kx's dialect of them, which is safe for a terminal, has
 * header values and findings, and knows more kinds of files.
 */
export class TextWriter implements DumpWriter {
  readonly readsOnce = true
  readonly #dialect: Dialect
  readonly #overview: (report: Report) => Promise<string>
  readonly #out: LineWriter
  readonly #report: FinalReport
  readonly #options: DumpOptions
  #left: number

  constructor(dialect: Dialect, overview: (report: Report) => Promise<string>, write: Write, options: DumpOptions) {
    this.#dialect = dialect
    this.#overview = overview
    this.#out = new LineWriter(write)
    this.#report = new FinalReport(options.style, options.bugCompatible)
    this.#options = options
    this.#left = options.limit
  }

  get enough(): boolean {
    return this.#left <= 0
  }

  /** Kafka's tool ignores them. */
  get ignoresUnknown(): boolean {
    return this.#dialect === 'kafka'
  }

  async file(input: DumpInput): Promise<readonly Finding[]> {
    const {file, folder = nothing} = input
    const out = this.#dumpOut(file.path)
    const {
      findings,
      untold = [],
      unreadable,
    } = await (this.#dialect === 'kafka' ? this.#kafka(input, folder, out) : this.#kx(input, folder, out))
    await this.#out.drain()
    const isPrepared = untold.some(({code}) => code === 'zero-fill') && (await isPreallocated(input))
    for (const finding of untold) if (!isPrepared || finding.code !== 'zero-fill') this.#complain(finding)
    if (
      this.#dialect === 'kafka' &&
      isLogKind(input.classified.kind) &&
      findings.some(({code}) => code === 'zero-fill')
    ) {
      if (await isPreallocated(input)) return findings.filter(({code}) => code !== 'zero-fill')
    }
    if (unreadable !== undefined) throw new KxError('input', 'KX_READ_FAILED', `${file.path}: ${unreadable}`)
    return findings
  }

  async folder({path, folder}: DumpFolder): Promise<readonly Finding[]> {
    if (this.#dialect === 'kafka') {
      this.#out.text(`Dumping ${path}\n`)
      this.#options.complain(`Ignoring unknown file ${path}`)
      return []
    }
    const {findingsOf, verifiedFolder} = await import('./verify-writer.js')
    const report = await verifiedFolder(folder, this.#options)
    this.#out.text(await this.#overview(report))
    await this.#out.drain()
    return findingsOf(report)
  }

  async failed(path: string, error: KxError): Promise<void> {
    // Kafka's tool names each file before it opens it.
    if (this.#dialect === 'kafka' && error.code !== 'KX_READ_FAILED') this.#out.text(`Dumping ${path}\n`)
    await this.#out.drain()
    this.#options.failed(error)
  }

  async end(): Promise<void> {
    await this.#out.drain()
    // In kx's dialect findings stand where they belong.
    const report = this.#dialect === 'kafka' ? this.#report.text() : ''
    if (report !== '') this.#options.complain(report.trimEnd())
  }

  async follow({path, decoder}: FollowedLog): Promise<Following> {
    const out = this.#out
    const {printData, limit: _, ...options} = this.#options
    const text = new LogText(out, {
      ...options,
      path,
      name: path,
      dialect: this.#dialect,
      deepIteration: options.deep,
      printDataLog: printData,
      decoder: printData ? await decoderNamed(decoder) : undefined,
    })
    const visitor = this.#wrapped(text)
    return {
      visitor: new Promptly(visitor, () => out.at > 0),
      segment: name => {
        this.#line(`Dumping ${escapedString(`${path}/${name}`)}`)
        this.#line(`Log starting offset: ${parseFileName(name).offset ?? 'unknown'}`)
      },
      findings: () => text.findings,
    }
  }

  async #kafka(input: DumpInput, folder: Folder, out: DumpOut): Promise<Dumped> {
    const options = await this.#textOptions(input)
    const part = kafkaKind(input.file.name) === 'log' ? await readOptionsFor(input, this.#options) : {}
    if (part.from) {
      this.#out.text(`Dumping ${input.file.path}\n`)
      return this.#partOfLog(input, part)
    }
    if (input.folder !== undefined || kafkaKind(input.file.name) !== 'unknown') {
      return dumpKafka(input.file, folder, options, out)
    }
    // A pipe has no name that says what it is.
    this.#out.text(`Dumping ${input.file.path}\n`)
    return dumpText(input.classified.kind, input.file, folder, options, out)
  }

  async #kx(input: DumpInput, folder: Folder, out: DumpOut): Promise<Dumped> {
    const {file, classified} = input
    this.#line(`Dumping ${escapedString(file.path)}`)
    if (classified.note) this.#line(`(${classified.note})`)
    if (isTextFileKind(classified.kind)) return {findings: await this.#textFile(input, classified.kind)}
    const part = await readOptionsFor(input, this.#options)
    if (part.from) return this.#partOfLog(input, part)
    return dumpText(classified.kind, file, folder, {...(await this.#textOptions(input)), dialect: 'kx'}, out)
  }

  /** A log from the middle on; `dumpText` takes whole files. */
  async #partOfLog(input: DumpInput, from: ReadOptions): Promise<Dumped> {
    const {path, name} = input.file
    const options = await this.#textOptions(input)
    const printDataLog = options.printDataLog ?? false
    this.#line(`Log starting offset: ${input.classified.name.offset}`)
    const deepIteration = printDataLog || (options.deepIteration ?? false)
    const text = new LogText(this.#out, {...options, path, name, dialect: this.#dialect, printDataLog, deepIteration})
    const reading = {...from, asKafka: this.#dialect === 'kafka'}
    const end = await readLog(input.file, options.wrap?.(text) ?? text, reading)
    text.end(end)
    return {findings: text.findings, untold: text.untold}
  }

  async #textFile({file, classified}: DumpInput, kind: FileKind): Promise<readonly Finding[]> {
    const {readTextFile, textFindings} = await import('../log/files/text-files.js')
    const {textFileLines} = await import('../log/files/file-text.js')
    if (!isTextFileKind(kind)) return []
    const text = await readTextFile(kind, file)
    for (const line of textFileLines(text, classified.name)) {
      if (this.enough) break
      this.#left--
      this.#line(line)
      if (this.#out.full) await this.#out.drain()
    }
    const findings = textFindings(text, file.path)
    for (const finding of findings) writeFinding(this.#out, finding)
    return findings
  }

  async #textOptions(input: DumpInput): Promise<DumpTextOptions> {
    const {deep, printData, filter, limit, ...options} = this.#options
    const chosen = logFilter(filter)
    const isLimited = chosen !== undefined || limit !== Number.POSITIVE_INFINITY
    // What Kafka's tool says of zeros stays as it is.
    const zeros = this.#dialect === 'kx' && isLogKind(input.classified.kind) && (await isPreallocated(input))
    const wrap = (text: LogVisitor): LogVisitor => {
      const told = zeros
        ? new PreallocatedLog(text, input.file.path, finding => writeFinding(this.#out, finding))
        : text
      return isLimited ? this.#wrapped(told) : told
    }
    return {
      ...options,
      deepIteration: deep,
      printDataLog: printData,
      // In kx's dialect the folder chooses the decoder, but shows no data that were not asked for.
      decoder: printData ? await decoderNamed(input.decoder) : undefined,
      ...(isLimited || zeros ? {wrap} : {}),
    }
  }

  #wrapped(text: LogVisitor): LogVisitor {
    const {deep, filter} = this.#options
    const chosen = logFilter(filter)
    const limited = new Limited(text, deep, this.#left, left => {
      this.#left = left
    })
    return chosen ? new FilteredVisitor(limited, chosen, looksIntoRecords(filter)) : limited
  }

  #dumpOut(path: string): DumpOut {
    return {
      writer: this.#out,
      report: this.#report,
      complain: line => this.#options.complain(line),
      absolutePath: resolve(path),
    }
  }

  /** In the dialect `kafka`, whose lines are the tool's own, the rest is told on stderr. */
  #complain({file, position, offset, explanation}: Finding): void {
    if (this.#dialect !== 'kafka') return
    const at = position !== undefined ? ` at ${position}` : offset !== undefined ? `, offset ${offset}` : ''
    this.#options.complain(`${escapedString(file)}${at}: ${escapedString(explanation)}`)
  }

  #line(text: string): void {
    this.#out.text(`${text}\n`)
  }
}
