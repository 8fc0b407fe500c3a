import {classify, headBytes, isLogKind} from '../log/files/kinds.js'
import type {Finding} from '../log/finding.js'
import type {OpenFile} from '../log/folder.js'
import {readLog} from '../log/read-log.js'
import {FindingLists} from '../log/text/finding-list.js'
import type {Write} from '../log/text/line-writer.js'
import {type WhatIf, whatIf} from '../log/what-if/measure.js'
import {BatchSampler, sampleBytesAtMost} from '../log/what-if/sample.js'
import {KxError} from '../util/errors.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'
import {isPreallocated, readOptions} from './reading.js'
import {WatchingVisitor} from './watch.js'

/** What `--what-if` says of one input: of a folder all its segments together. */
export interface WhatIfReport extends WhatIf {
  readonly path: string
  readonly findings: readonly Finding[]
}

/** `--what-if`: the batches compressed by every codec. */
export class WhatIfWriter implements DumpWriter {
  readonly readsOnce = true
  readonly enough = false
  readonly #render: (reports: readonly WhatIfReport[]) => Promise<string>
  readonly #write: Write
  readonly #options: DumpOptions
  readonly #reports: WhatIfReport[] = []

  constructor(render: (reports: readonly WhatIfReport[]) => Promise<string>, write: Write, options: DumpOptions) {
    this.#render = render
    this.#write = write
    this.#options = options
  }

  async file(input: DumpInput): Promise<readonly Finding[]> {
    const {file, classified} = input
    if (!isLogKind(classified.kind)) {
      throw new KxError('usage', 'KX_USAGE', `${file.path} has no batches to compress: it is a file of another kind.`, {
        suggestions: ['Name a log, or the folder.'],
      })
    }
    const sampler = new BatchSampler()
    const findings = new FindingLists()
    await this.#read(file, await isPreallocated(input), sampler, findings)
    return this.#report(file.path, sampler, findings)
  }

  async folder({path, folder}: DumpFolder): Promise<readonly Finding[]> {
    const sampler = new BatchSampler()
    const findings = new FindingLists()
    for (const name of await folder.list()) {
      const file = await this.#opened(folder, name, findings)
      if (!file) continue
      const classified = classify(name, await file.read(0, headBytes), file.size)
      if (classified.kind !== 'log' || classified.name.states.length > 0) continue
      await this.#read(file, await isPreallocated({file, folder, classified}), sampler, findings)
    }
    return this.#report(path, sampler, findings)
  }

  async failed(_path: string, error: KxError): Promise<void> {
    this.#options.failed(error)
  }

  async end(): Promise<void> {
    await this.#write(Buffer.from(await this.#render(this.#reports)))
  }

  /** One that can't be read is told, and the others are read. */
  async #opened(folder: DumpFolder['folder'], name: string, findings: FindingLists): Promise<OpenFile | undefined> {
    try {
      return await folder.open(name)
    } catch (error) {
      if (!(error instanceof KxError) || error.kind !== 'input') throw error
      this.#options.failed(error)
      findings.add({code: 'unreadable', severity: 'error', file: `${folder.path}/${name}`, explanation: error.message})
      return undefined
    }
  }

  async #read(file: OpenFile, preallocated: boolean, sampler: BatchSampler, findings: FindingLists): Promise<void> {
    const watched = {path: file.path, preallocated, maxBytes: undefined}
    await readLog(file, new WatchingVisitor(sampler, watched, finding => findings.add({...finding, file: file.path})), {
      ...readOptions(this.#options),
      wholeBatchBytes: sampleBytesAtMost,
    })
  }

  async #report(path: string, sampler: BatchSampler, list: FindingLists): Promise<readonly Finding[]> {
    const {signal} = this.#options
    let turnedMs = 0
    const result = await whatIf(sampler.sample, {
      // Not the time that goes by: others run on this machine, too.
      clock() {
        const {user, system} = process.cpuUsage()
        return (user + system) / 1_000
      },
      async turn() {
        if (performance.now() - turnedMs < 20) return
        await new Promise<void>(resolve => setImmediate(resolve))
        turnedMs = performance.now()
        signal.throwIfAborted()
      },
    })
    const findings = list.all()
    this.#reports.push({path, ...result, findings})
    return findings
  }
}
