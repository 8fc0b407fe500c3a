import {FilteredVisitor, logFilter, looksIntoRecords} from '../log/filter.js'
import type {Finding} from '../log/finding.js'
import {readLog} from '../log/read-log.js'
import {LineWriter, type Write} from '../log/text/line-writer.js'
import {LogText, writeFinding} from '../log/text/log-text.js'
import {escapedString} from '../log/text/encodings.js'
import type {KxError} from '../util/errors.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'
import {Limited} from './limited.js'
import {decoderOf, readOptions} from './reading.js'

/** Shows files in kx's own dialect of the lines of Kafka's tool: safe for a terminal, with header values and findings. */
export class TextWriter implements DumpWriter {
  found = false
  readonly #out: LineWriter
  readonly #gone: () => boolean
  readonly #options: DumpOptions
  #left: number

  constructor(write: Write, gone: () => boolean, options: DumpOptions) {
    this.#out = new LineWriter(write)
    this.#gone = gone
    this.#options = options
    this.#left = options.limit
  }

  get enough(): boolean {
    return this.#left <= 0 || this.#gone()
  }

  async file(input: DumpInput): Promise<void> {
    const {kind} = input.classified
    this.#line(`Dumping ${escapedString(input.file.path)}`)
    if (input.classified.note) this.#line(`(${input.classified.note})`)
    if (kind === 'log' || kind === 'snapshot-log') await this.#log(input)
    else await this.#entries(input)
    await this.#out.drain()
  }

  async folder({path, folder}: DumpFolder): Promise<void> {
    const {verifyFolder} = await import('../log/verify/verify-folder.js')
    const {hasFindings} = await import('../log/verify/report.js')
    const {reportText} = await import('../log/verify/report-text.js')
    const report = await verifyFolder(folder, {signal: this.#options.signal})
    this.found ||= hasFindings(report)
    this.#line(`${escapedString(path)}`)
    this.#out.text(reportText(report))
    await this.#out.drain()
  }

  /** The command tells it on stderr. */
  async failed(_path: string, error: KxError): Promise<void> {
    this.#options.failed(error)
  }

  async end(): Promise<void> {
    await this.#out.drain()
  }

  async #log(input: DumpInput): Promise<void> {
    const options = this.#options
    this.#line(headerLine(input))
    const filter = logFilter(options.filter)
    const text = new LogText(this.#out, {
      path: input.file.path,
      name: input.file.name,
      dialect: 'kx',
      style: options.style,
      deepIteration: options.deep,
      printDataLog: options.printData,
      skipRecordMetadata: options.skipRecordMetadata,
      keyFormat: options.keyFormat,
      valueFormat: options.valueFormat,
      decoder: await decoderOf(input),
      maxBytes: options.maxBytes,
      raw: options.raw,
      redact: options.redact,
    })
    const limited = new Limited(text, options.deep, this.#left, this.#gone)
    const visitor = filter ? new FilteredVisitor(limited, filter, looksIntoRecords(options.filter)) : limited
    const end = await readLog(input.file, visitor, await readOptions(input, options))
    text.end(end)
    this.#left = limited.left
    this.#judge(text.findings)
  }

  async #entries(input: DumpInput): Promise<void> {
    const {entryLines} = await import('./entries.js')
    const findings: Finding[] = []
    for await (const line of entryLines(input, finding => findings.push(finding))) {
      if (this.enough) break
      this.#left--
      this.#line(line)
      if (this.#out.full) await this.#out.drain()
    }
    for (const finding of findings) writeFinding(this.#out, finding)
    this.#judge(findings)
  }

  #judge(findings: readonly Finding[]): void {
    this.found ||= findings.some(({severity}) => severity !== 'info')
  }

  #line(text: string): void {
    this.#out.text(`${text}\n`)
  }
}

function headerLine({classified: {kind, name}}: DumpInput): string {
  if (kind === 'log')
    return name.offset === undefined ? 'Log starting offset: not in the name' : `Log starting offset: ${name.offset}`
  if (name.isBootstrap) return 'KRaft bootstrap snapshot'
  return name.offset === undefined ? 'KRaft snapshot' : `Snapshot end offset: ${name.offset}, epoch: ${name.epoch}`
}
