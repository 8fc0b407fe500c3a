import {isLogKind} from '../log/files/kinds.js'
import type {BatchCursor} from '../log/batch-cursor.js'
import {parseFileName} from '../log/files/names.js'
import {FilteredVisitor, logFilter, looksIntoRecords} from '../log/filter.js'
import type {Finding} from '../log/finding.js'
import {bytesJson, findingFields, objectFields, redactedJson, valueJson} from '../log/json.js'
import {BatchWriter, RecordWriter} from '../log/json-records.js'
import {formattedBytes, jsonBytes, redactedBytes} from '../log/json-text.js'
import {type LogEnd, type LogVisitor, readLog} from '../log/read-log.js'
import type {RecordCursor} from '../log/record-cursor.js'
import {constant, LineWriter, type Write} from '../log/text/line-writer.js'
import {KxError} from '../util/errors.js'
import {type Framing, Lines} from './framing.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter, FollowedLog, Following} from './job.js'
import {Meanings, oddities} from './meanings.js'
import {Promptly} from './promptly.js'
import {isPreallocated, readOptionsFor} from './reading.js'
import {WatchingVisitor} from './watch.js'
import type {RecordsProblem} from '../log/records-problem.js'

/** Findings of one file that are told one by one. */
const findingsAtMost = 1_000

/** Shows files as data: JSON lines, one JSON value, or one YAML document. */
export class DataWriter implements DumpWriter {
  readonly readsOnce = true
  readonly #framing: Framing
  readonly #out: LineWriter
  readonly #options: DumpOptions
  #begun = false
  #left: number

  constructor(framing: Framing, write: Write, options: DumpOptions) {
    this.#framing = framing
    this.#out = new LineWriter(write)
    this.#options = options
    this.#left = options.limit
  }

  get enough(): boolean {
    return this.#left <= 0
  }

  async file(input: DumpInput): Promise<readonly Finding[]> {
    this.#begin()
    const {classified} = input
    this.#out.text(this.#framing.file(fileFields(input)))
    const findings = new Findings()
    let end: string
    if (isLogKind(classified.kind)) {
      const read = await this.#log(input, findings)
      end = this.enough ? `"batchCount":${read.batches},"limitReached":true` : logEndFields(read)
    } else {
      end = await this.#entries(input, findings)
    }
    for (const finding of findings.kept) this.#out.text(this.#framing.finding(findingFields(finding)))
    this.#out.text(this.#framing.fileEnd(`${end},"findingCount":${findings.count}`))
    await this.#out.drain()
    return findings.kept
  }

  async folder({path, folder}: DumpFolder): Promise<readonly Finding[]> {
    this.#begin()
    const {findingsOf, verifiedFolder} = await import('./verify-writer.js')
    const report = await verifiedFolder(folder, this.#options)
    this.#out.text(this.#framing.file(`"path":${JSON.stringify(path)},"type":"folder"`))
    this.#out.text(this.#framing.fileEnd(`"report":${valueJson(report, bytesJson)}`))
    await this.#out.drain()
    return findingsOf(report)
  }

  async failed(path: string, {code, message, suggestions}: KxError): Promise<void> {
    this.#begin()
    this.#out.text(this.#framing.error(valueJson({path, code, message, suggestions}, bytesJson).slice(1, -1)))
    await this.#out.drain()
  }

  async end(): Promise<void> {
    this.#begin()
    this.#out.text(this.#framing.end(`"limitReached":${this.#left <= 0}`))
    await this.#out.drain()
  }

  async follow({path, decoder}: FollowedLog): Promise<Following> {
    if (!(this.#framing instanceof Lines)) {
      throw new KxError('usage', 'KX_USAGE', 'One value needs the end of a log, and --follow has none.', {
        suggestions: ['--follow -o ndjson'],
      })
    }
    const findings = new Findings()
    const {watching, visitor} = await this.#visitors({path, decoder}, true, finding => {
      findings.add(finding)
      visitor.close()
      this.#out.text(this.#framing.finding(findingFields(finding)))
    })
    return {
      visitor: new Promptly(watching, () => this.#out.at > 0),
      segment: name => {
        const fields = {path: `${path}/${name}`, type: 'log', offsetInName: parseFileName(name).offset ?? null, decoder}
        visitor.close()
        this.#out.text(this.#framing.file(valueJson(fields, bytesJson).slice(1, -1)))
      },
      findings: () => findings.kept,
    }
  }

  async #log(input: DumpInput, findings: Findings): Promise<LogEnd> {
    const {file, decoder} = input
    const log = {path: file.path, decoder}
    const preallocated = await isPreallocated(input)
    const {visitor, watching} = await this.#visitors(log, preallocated, finding => findings.add(finding))
    const end = await readLog(file, watching, await readOptionsFor(input, this.#options))
    visitor.close()
    return end
  }

  async #visitors({path, decoder}: FollowedLog, preallocated: boolean, tell: (finding: Finding) => void) {
    const {filter, deep} = this.#options
    const visitor = new DataVisitor(this, this.#framing, this.#out, {
      deep,
      meanings: await Meanings.for(decoder, this.#options),
      options: this.#options,
      odd: finding => tell({...finding, file: path}),
    })
    const chosen = logFilter(filter)
    const filtered = chosen ? new FilteredVisitor(visitor, chosen, looksIntoRecords(filter)) : visitor
    return {
      visitor,
      watching: new WatchingVisitor(filtered, {path, preallocated, maxBytes: this.#options.maxBytes}, tell),
    }
  }

  async #entries(input: DumpInput, findings: Findings): Promise<string> {
    const {contentOfFile, entriesOfFile} = await import('./entries.js')
    const bytes = this.#options.redact ? redactedJson : bytesJson
    const content = await contentOfFile(input)
    const {verifiedFile} = await import('./verify-writer.js')
    for (const finding of (await verifiedFile(input.file, input.folder, this.#options)).findings) findings.add(finding)
    if (content) return `"content":${valueJson(content, bytes)}`
    let entries = 0
    for await (const entry of entriesOfFile(input)) {
      if (this.enough) break
      this.#left--
      entries++
      this.#out.text(this.#framing.entry(objectFields(entry, bytes)))
      if (this.#out.full) await this.#out.drain()
    }
    return `"entryCount":${entries}`
  }

  /** One thing was shown. */
  took(): void {
    this.#left--
  }

  #begin(): void {
    if (!this.#begun) this.#out.text(this.#framing.begin())
    this.#begun = true
  }
}

interface Shown {
  readonly deep: boolean
  readonly meanings: Meanings
  readonly options: DumpOptions
  /** Something about a record that its decoder could not make sense of. */
  readonly odd: (finding: Omit<Finding, 'file'>) => void
}

class DataVisitor implements LogVisitor {
  readonly #writer: DataWriter
  readonly #framing: Framing
  readonly #out: LineWriter
  readonly #deep: boolean
  readonly #meanings: Meanings
  readonly #batches: BatchWriter
  readonly #records: RecordWriter
  readonly #behindRecord: Uint8Array
  readonly #odd: Shown['odd']
  #open = false
  #isControl = false

  constructor(writer: DataWriter, framing: Framing, out: LineWriter, {deep, meanings, options, odd}: Shown) {
    this.#writer = writer
    this.#framing = framing
    this.#out = out
    this.#deep = deep
    this.#meanings = meanings
    this.#odd = odd
    const {redact, keyFormat, valueFormat} = options
    this.#behindRecord = constant(framing.behindRecord(''))
    this.#batches = new BatchWriter(framing.batchLayout)
    this.#records = new RecordWriter(framing.recordLayout, {
      key: redact ? redactedBytes : formattedBytes(keyFormat, framing),
      value: redact ? redactedBytes : formattedBytes(valueFormat, framing),
      header: redact ? redactedBytes : jsonBytes,
    })
  }

  batch(batch: BatchCursor): boolean {
    this.close()
    this.#out.text(this.#framing.beforeBatch())
    this.#batches.write(this.#out, batch)
    this.#out.text(this.#framing.behindBatch)
    this.#open = true
    this.#isControl = batch.isControl
    if (!this.#deep) this.#writer.took()
    return this.#deep
  }

  record(record: RecordCursor): void {
    if (this.enough) return
    this.#records.write(this.#out, this.#framing.beforeRecord(), record)
    const meaning = this.#meanings.of(record, this.#isControl)
    const {json} = meaning
    if (json === '') this.#out.ascii(this.#behindRecord)
    else this.#out.text(this.#framing.behindRecord(json))
    for (const finding of oddities(meaning, record, this.#isControl)) this.#odd(finding)
    this.#writer.took()
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    this.#end(problem === undefined ? '' : `"problem":${JSON.stringify(problem.reason)}`)
  }

  get full(): boolean {
    return this.#out.full
  }

  drain(): Promise<void> {
    return this.#out.drain()
  }

  get enough(): boolean {
    return this.#writer.enough
  }

  /** After the last batch. */
  close(): void {
    this.#end('')
  }

  #end(fields: string): void {
    if (this.#open) this.#out.text(this.#framing.batchEnd(fields))
    this.#open = false
  }
}

/** The first findings of a file, and how many there are. */
class Findings {
  readonly kept: Finding[] = []
  count = 0

  add(finding: Finding): void {
    this.count++
    if (this.kept.length < findingsAtMost) this.kept.push(finding)
  }
}

function fileFields({file, classified, place, decoder}: DumpInput): string {
  const {kind, name, note} = classified
  const fields = {
    path: file.path,
    type: kind,
    sizeInBytes: file.size,
    offsetInName: name.offset ?? null,
    epochInName: name.epoch,
    states: name.states.length > 0 ? name.states : undefined,
    topic: place?.topic ?? null,
    partition: place?.partition ?? null,
    decoder: decoder ?? null,
    note,
  }
  return valueJson(fields, bytesJson).slice(1, -1)
}

function logEndFields({batches, validBytes, trailingBytes, skippedBytes}: LogEnd): string {
  return `"batchCount":${batches},"validBytes":${validBytes},"trailingBytes":${trailingBytes},"skippedBytes":${skippedBytes}`
}
