import type {Finding} from '../log/finding.js'
import type {Folder, OpenFile} from '../log/folder.js'
import {bytesJson, findingFields, valueJson} from '../log/json.js'
import {hasFindings, type FolderTree, type Report, type VerifyOptions} from '../log/verify/report.js'
import type {KxError} from '../util/errors.js'
import type {Write} from '../log/text/line-writer.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'

/** How reports are written: piece by piece, as inputs are done. */
export interface ReportForm {
  begin(): string
  report(report: Report): string
  /** `undefined`: it is told on stderr. */
  error(path: string, error: KxError): string | undefined
  end(): string
}

const nothing: Folder = {path: '', list: async () => [], open: async () => undefined}

/** `--verify`: all checks of each input, and what they come to. Also the overview of a folder. */
export class VerifyWriter implements DumpWriter {
  readonly readsOnce = false
  readonly enough = false
  readonly #form: ReportForm
  readonly #write: Write
  readonly #options: DumpOptions
  #begun = false

  constructor(form: ReportForm, write: Write, options: DumpOptions) {
    this.#form = form
    this.#write = write
    this.#options = options
  }

  async file({file, folder}: DumpInput): Promise<readonly Finding[]> {
    return this.#tell(await verifiedFile(file, folder, this.#options))
  }

  async folder({folder}: DumpFolder): Promise<readonly Finding[]> {
    return this.#tell(await verifiedFolder(folder, this.#options))
  }

  async failed(path: string, error: KxError): Promise<void> {
    const text = this.#form.error(path, error)
    if (text === undefined) this.#options.failed(error)
    else await this.#print(text)
  }

  async end(): Promise<void> {
    await this.#print(this.#form.end())
  }

  async #tell(report: Report): Promise<readonly Finding[]> {
    await this.#print(this.#form.report(report))
    return findingsOf(report)
  }

  async #print(text: string): Promise<void> {
    const begin = this.#begun ? '' : this.#form.begin()
    this.#begun = true
    if (begin + text !== '') await this.#write(Buffer.from(begin + text))
  }
}

/** Without a folder nothing beside the file is looked at. */
export async function verifiedFile(file: OpenFile, folder: Folder | undefined, options: DumpOptions): Promise<Report> {
  const {verifyFile} = await import('../log/verify/verify-file.js')
  return verifyFile(file, folder ?? nothing, verifyOptions(file.path, options))
}

export async function verifiedFolder(folder: FolderTree, options: DumpOptions): Promise<Report> {
  const {verifyFolder} = await import('../log/verify/verify-folder.js')
  return verifyFolder(folder, verifyOptions(folder.path, options))
}

/** Also those of the partitions of a log dir. */
export function findingsOf(report: Report): readonly Finding[] {
  if (!('partitions' in report) || !hasFindings(report)) return report.findings
  return [...report.findings, ...report.partitions.flatMap(findingsOf)]
}

function verifyOptions(path: string, options: DumpOptions): VerifyOptions {
  const {decoder, maxDecompressedBytes, signal, progress} = options
  return {
    ...(decoder === 'auto' ? {} : {decoder}),
    ...(maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes}),
    now: BigInt(Date.now()),
    signal,
    ...(progress ? {progress: (done, total) => progress(path, done, total)} : {}),
  }
}

/** Reports for people. */
export function textReports(text: (report: Report) => string): ReportForm {
  return {begin: () => '', report: text, error: () => undefined, end: () => ''}
}

/** One value with all reports. */
export class JsonReports implements ReportForm {
  #reports = 0
  readonly #errors: string[] = []

  begin(): string {
    return '{"schema":"kx/verify/1","reports":['
  }

  report(report: Report): string {
    return `${this.#reports++ === 0 ? '\n' : ',\n'}${valueJson(report, bytesJson)}`
  }

  error(path: string, {code, message, suggestions}: KxError): string {
    this.#errors.push(valueJson({path, code, message, suggestions}, bytesJson))
    return ''
  }

  end(): string {
    return `],"errors":[${this.#errors.join(',')}]}\n`
  }
}

/** A line per finding, and one per report. */
export class JsonLineReports implements ReportForm {
  begin(): string {
    return ''
  }

  report(report: Report): string {
    const lines = findingsOf(report).map(
      finding => `{"kind":"finding","file":${JSON.stringify(finding.file)},${findingFields(finding)}}\n`,
    )
    return `${lines.join('')}{"kind":"report","report":${valueJson(withoutFindings(report), bytesJson)}}\n`
  }

  error(path: string, {code, message, suggestions}: KxError): string {
    return `{"kind":"error",${valueJson({path, code, message, suggestions}, bytesJson).slice(1)}\n`
  }

  end(): string {
    return ''
  }
}

function withoutFindings(report: Report): object {
  const {findings: _, ...rest} = report
  return 'partitions' in rest ? {...rest, partitions: rest.partitions.map(withoutFindings)} : rest
}
