import {isLogKind} from '../log/files/kinds.js'
import type {BatchCursor} from '../log/batch-cursor.js'
import {type CsvOptions, type CsvRow, csvColumns, csvRow} from '../log/csv.js'
import {FilteredVisitor, logFilter, looksIntoRecords} from '../log/filter.js'
import type {Finding} from '../log/finding.js'
import {bytesJson, redactedJson} from '../log/json.js'
import {type LogVisitor, readLog} from '../log/read-log.js'
import type {RecordCursor} from '../log/record-cursor.js'
import {FindingList} from '../log/text/finding-list.js'
import type {Write} from '../log/text/line-writer.js'
import {KxError} from '../util/errors.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'
import {Limited} from './limited.js'
import {Meanings} from './meanings.js'
import {isPreallocated, readOptionsFor} from './reading.js'
import {WatchingVisitor} from './watch.js'

/** Text of rows, each with its line end. */
export type Rows = (rows: readonly CsvRow[]) => string

const rowsAtOnce = 500
const bytesAtOnce = 262_144

/** `-o csv`: a row per record of logs and snapshots. Findings are told on stderr. */
export class CsvWriter implements DumpWriter {
  readonly readsOnce = true
  readonly #rows: Rows
  readonly #write: Write
  readonly #options: DumpOptions
  #begun = false
  #left: number

  constructor(rows: Rows, write: Write, options: DumpOptions) {
    this.#rows = rows
    this.#write = write
    this.#options = options
    this.#left = options.limit
  }

  get enough(): boolean {
    return this.#left <= 0
  }

  async file(input: DumpInput): Promise<readonly Finding[]> {
    const {file, classified} = input
    if (!isLogKind(classified.kind)) {
      throw new KxError(
        'usage',
        'KX_USAGE',
        `${file.path} has no records to make rows of: it is a file of another kind.`,
        {
          suggestions: ['-o ndjson takes all kinds.'],
        },
      )
    }
    await this.#begin()
    const {redact, raw, filter} = this.#options
    const findings = new FindingList(file.path)
    const tell = (finding: Omit<Finding, 'file'>): void => {
      findings.add(finding)
      const at = finding.position === undefined ? '' : ` at ${finding.position}`
      if (finding.severity !== 'info') this.#options.warning(`${file.path}${at}: ${finding.explanation}`)
    }
    const shown = {
      columns: {file: file.path, header: redact ? redactedJson : bytesJson, redact, raw},
      meanings: await Meanings.for(input.decoder, this.#options),
      odd: tell,
    }
    const rows = new RowsVisitor(this.#rows, this.#write, shown)
    const limited = new Limited(rows, true, this.#left, left => {
      this.#left = left
    })
    const chosen = logFilter(filter)
    const visitor: LogVisitor = chosen ? new FilteredVisitor(limited, chosen, looksIntoRecords(filter)) : limited
    const watched = {path: file.path, preallocated: await isPreallocated(input), maxBytes: this.#options.maxBytes}
    await readLog(file, new WatchingVisitor(visitor, watched, tell), await readOptionsFor(input, this.#options))
    await rows.drain()
    return findings.all()
  }

  async folder({path}: DumpFolder): Promise<never> {
    throw new KxError('usage', 'KX_USAGE', `${path} is a folder: rows are made of the records of logs.`, {
      suggestions: [`kx dump-log -o csv ${path}/*.log`],
    })
  }

  async failed(_path: string, error: KxError): Promise<void> {
    this.#options.failed(error)
  }

  async end(): Promise<void> {
    await this.#begin()
  }

  async #begin(): Promise<void> {
    if (this.#begun) return
    this.#begun = true
    await this.#write(Buffer.from(this.#rows([[...csvColumns]])))
  }
}

interface Shown {
  readonly columns: CsvOptions
  readonly meanings: Meanings
  /** Something about a record that cannot be made sense of. */
  readonly odd: (finding: Omit<Finding, 'file'>) => void
}

class RowsVisitor implements LogVisitor {
  readonly #text: Rows
  readonly #write: Write
  readonly #shown: Shown
  #rows: CsvRow[] = []
  #bytes = 0
  #batch: BatchCursor | undefined

  constructor(text: Rows, write: Write, shown: Shown) {
    this.#text = text
    this.#write = write
    this.#shown = shown
  }

  batch(batch: BatchCursor): boolean {
    this.#batch = batch
    return true
  }

  record(record: RecordCursor): void {
    if (this.#batch === undefined) return
    const {columns, meanings, odd} = this.#shown
    this.#rows.push(csvRow(this.#batch, record, columns))
    for (const finding of meanings.oddities(record, this.#batch.isControl)) odd(finding)
    this.#bytes += record.sizeInBytes
  }

  get full(): boolean {
    return this.#rows.length >= rowsAtOnce || this.#bytes >= bytesAtOnce
  }

  async drain(): Promise<void> {
    if (this.#rows.length === 0) return
    const text = this.#text(this.#rows)
    this.#rows = []
    this.#bytes = 0
    await this.#write(Buffer.from(text))
  }
}
