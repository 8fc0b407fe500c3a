import {isLogKind} from '../log/files/kinds.js'
import type {BatchCursor} from '../log/batch-cursor.js'
import {csvHead, CsvRows} from '../log/csv.js'
import {FilteredVisitor, logFilter, looksIntoRecords} from '../log/filter.js'
import type {Finding} from '../log/finding.js'
import {type LogVisitor, readLog} from '../log/read-log.js'
import type {RecordCursor} from '../log/record-cursor.js'
import {FindingList} from '../log/text/finding-list.js'
import {LineWriter, type Write} from '../log/text/line-writer.js'
import {KxError} from '../util/errors.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'
import {Limited} from './limited.js'
import {Meanings} from './meanings.js'
import {isPreallocated, readOptionsFor} from './reading.js'
import {WatchingVisitor} from './watch.js'

/** `-o csv`: a row per record of logs and snapshots. Findings are told on stderr. */
export class CsvWriter implements DumpWriter {
  readonly readsOnce = true
  readonly #out: LineWriter
  readonly #options: DumpOptions
  #begun = false
  #left: number

  constructor(write: Write, options: DumpOptions) {
    this.#out = new LineWriter(write)
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
    this.#begin()
    const {redact, raw, filter} = this.#options
    const findings = new FindingList(file.path)
    const tell = (finding: Omit<Finding, 'file'>): void => {
      findings.add(finding)
      const at = finding.position === undefined ? '' : ` at ${finding.position}`
      if (finding.severity !== 'info') this.#options.warning(`${file.path}${at}: ${finding.explanation}`)
    }
    const columns = new CsvRows({file: file.path, redact, raw})
    const shown = {
      columns,
      meanings: await Meanings.for(input.decoder, this.#options),
      odd: tell,
    }
    const rows = new RowsVisitor(this.#out, shown)
    const limited = new Limited(rows, true, this.#left, left => {
      this.#left = left
    })
    const chosen = logFilter(filter)
    const visitor: LogVisitor = chosen ? new FilteredVisitor(limited, chosen, looksIntoRecords(filter)) : limited
    const watched = {path: file.path, preallocated: await isPreallocated(input), maxBytes: this.#options.maxBytes}
    await readLog(file, new WatchingVisitor(visitor, watched, tell), await readOptionsFor(input, this.#options))
    await this.#out.drain()
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
    this.#begin()
    await this.#out.drain()
  }

  #begin(): void {
    if (!this.#begun) this.#out.text(csvHead)
    this.#begun = true
  }
}

interface Shown {
  readonly columns: CsvRows
  readonly meanings: Meanings
  /** Something about a record that cannot be made sense of. */
  readonly odd: (finding: Omit<Finding, 'file'>) => void
}

class RowsVisitor implements LogVisitor {
  readonly #out: LineWriter
  readonly #shown: Shown
  #isControl = false

  constructor(out: LineWriter, shown: Shown) {
    this.#out = out
    this.#shown = shown
  }

  batch(batch: BatchCursor): boolean {
    this.#shown.columns.batch(batch)
    this.#isControl = batch.isControl
    return true
  }

  record(record: RecordCursor): void {
    const {columns, meanings, odd} = this.#shown
    columns.record(this.#out, record)
    for (const finding of meanings.oddities(record, this.#isControl)) odd(finding)
  }

  get full(): boolean {
    return this.#out.full
  }

  drain(): Promise<void> {
    return this.#out.drain()
  }
}
