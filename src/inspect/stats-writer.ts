import {isLogKind} from '../log/files/kinds.js'
import {classify, type FileKind, headBytes} from '../log/files/kinds.js'
import {FilteredVisitor, logFilter, looksIntoRecords} from '../log/filter.js'
import type {Finding} from '../log/finding.js'
import type {OpenFile} from '../log/folder.js'
import {type LogVisitor, readLog} from '../log/read-log.js'
import {type LogStats, StatsVisitor} from '../log/stats.js'
import {FindingList} from '../log/text/finding-list.js'
import type {Write} from '../log/text/line-writer.js'
import {KxError} from '../util/errors.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'
import {Limited} from './limited.js'
import {isPreallocated, readOptions} from './reading.js'
import {WatchingVisitor} from './watch.js'

/** What `--stats` says of one input. */
export interface StatsReport {
  readonly path: string
  readonly stats: LogStats
  /** Of a folder: bytes by kind of file. */
  readonly bytesByKind: readonly {readonly kind: FileKind; readonly files: number; readonly sizeInBytes: number}[]
  /** How many things were wrong: false CRCs, records that can't be read, bytes that are no batch. */
  readonly findingCount: number
}

/** `--stats`: counts, and shows the counts of each input at its end. */
export class StatsWriter implements DumpWriter {
  readonly readsOnce = true
  readonly #render: (reports: readonly StatsReport[]) => Promise<string>
  readonly #write: Write
  readonly #options: DumpOptions
  readonly #reports: StatsReport[] = []
  #left: number

  constructor(render: (reports: readonly StatsReport[]) => Promise<string>, write: Write, options: DumpOptions) {
    this.#render = render
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
      throw new KxError('usage', 'KX_USAGE', `${file.path} has no batches to count: it is a file of another kind.`, {
        suggestions: ['Name a log, or the folder.'],
      })
    }
    const counting = new Counting(file.path)
    await this.#count(file, await isPreallocated(input), counting)
    this.#reports.push({path: file.path, stats: counting.stats.stats, bytesByKind: [], findingCount: counting.count})
    return counting.findings.all()
  }

  async folder({path, folder}: DumpFolder): Promise<readonly Finding[]> {
    const counting = new Counting(path)
    const kinds = new Map<FileKind, {files: number; sizeInBytes: number}>()
    for (const name of await folder.list()) {
      const file = await opened(folder, name, counting)
      if (!file) continue
      const classified = classify(name, await file.read(0, headBytes), file.size)
      const {kind} = classified
      const sums = kinds.get(kind) ?? {files: 0, sizeInBytes: 0}
      kinds.set(kind, {files: sums.files + 1, sizeInBytes: sums.sizeInBytes + file.size})
      if (kind !== 'log') continue
      await this.#count(file, await isPreallocated({file, folder, classified}), counting)
    }
    for (const error of counting.unreadable) this.#options.failed(error)
    const bytesByKind = [...kinds].map(([kind, sums]) => ({kind, ...sums}))
    this.#reports.push({path, stats: counting.stats.stats, bytesByKind, findingCount: counting.count})
    return counting.findings.all()
  }

  async failed(_path: string, error: KxError): Promise<void> {
    this.#options.failed(error)
  }

  async end(): Promise<void> {
    await this.#write(Buffer.from(await this.#render(this.#reports)))
  }

  async #count(file: OpenFile, preallocated: boolean, counting: Counting): Promise<void> {
    const {filter} = this.#options
    const chosen = logFilter(filter)
    const limited = new Limited(counting.stats, true, this.#left, left => {
      this.#left = left
    })
    const visitor: LogVisitor = chosen ? new FilteredVisitor(limited, chosen, looksIntoRecords(filter)) : limited
    await readLog(
      file,
      new WatchingVisitor(visitor, {path: file.path, preallocated, maxBytes: this.#options.maxBytes}, finding =>
        counting.add(finding),
      ),
      readOptions(this.#options),
    )
  }
}

/** One that can't be read is told, and the others are counted. */
async function opened(folder: DumpFolder['folder'], name: string, counting: Counting): Promise<OpenFile | undefined> {
  try {
    return await folder.open(name)
  } catch (error) {
    if (!(error instanceof KxError) || error.kind !== 'input') throw error
    counting.add({code: 'unreadable', severity: 'error', file: `${folder.path}/${name}`, explanation: error.message})
    counting.unreadable.push(error)
    return undefined
  }
}

class Counting {
  readonly unreadable: KxError[] = []
  readonly stats = new StatsVisitor()
  readonly findings: FindingList
  count = 0

  constructor(path: string) {
    this.findings = new FindingList(path)
  }

  add(finding: Finding): void {
    if (finding.severity !== 'info') this.count++
    this.findings.add(finding)
  }
}
