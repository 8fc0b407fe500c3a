import {isLogKind} from '../log/files/kinds.js'
import type {Finding} from '../log/finding.js'
import {bytesJson, valueJson} from '../log/json.js'
import {escapedString} from '../log/text/encodings.js'
import type {Write} from '../log/text/line-writer.js'
import {type Salvaged, salvage} from '../log/verify/salvage.js'
import {KxError} from '../util/errors.js'
import {bytes as bytesText, plural} from '../util/format.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'
import {writeNewFile} from './new-file.js'

/** `--salvage OUT`: the readable batches of one log, in a new file. */
export class SalvageWriter implements DumpWriter {
  readonly enough = false
  readonly readsOnce = false
  readonly #out: string
  readonly #asJson: boolean
  readonly #write: Write
  readonly #options: DumpOptions

  constructor(out: string, asJson: boolean, write: Write, options: DumpOptions) {
    this.#out = out
    this.#asJson = asJson
    this.#write = write
    this.#options = options
  }

  async file({file, classified}: DumpInput): Promise<readonly Finding[]> {
    if (!isLogKind(classified.kind)) {
      throw new KxError('usage', 'KX_USAGE', `${file.path} has no batches to save: it is a file of another kind.`)
    }
    const {maxDecompressedBytes, signal, progress} = this.#options
    const saved = await writeNewFile(this.#out, write =>
      salvage(file, write, {
        signal,
        ...(maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes}),
        ...(progress ? {progress: (done, total) => progress(file.path, done, total)} : {}),
      }),
    )
    await this.#write(
      Buffer.from(this.#asJson ? asJson(file.path, this.#out, saved) : asText(file.path, this.#out, saved)),
    )
    if (saved.skippedBytes === 0) return []
    const explanation = `${plural(saved.skippedBytes, 'byte')} were left out.`
    return [{code: 'garbage', severity: 'error', file: file.path, explanation}]
  }

  async folder({path}: DumpFolder): Promise<never> {
    throw new KxError('usage', 'KX_USAGE', `${path} is a folder: --salvage takes one log.`)
  }

  async failed(_path: string, error: KxError): Promise<void> {
    this.#options.failed(error)
  }

  async end(): Promise<void> {}
}

function asText(path: string, out: string, saved: Salvaged): string {
  const {batches, records, bytes, skippedBatches, skippedBytes, repeatedBatches, firstOffset, lastOffset} = saved
  const offsets = firstOffset === undefined ? '' : `, offsets ${firstOffset} to ${lastOffset}`
  const lines = [
    `${escapedString(out)}: ${plural(batches, 'batch', 'batches')} with ${plural(records, 'record')} in ${bytesText(bytes)}${offsets}.`,
    skippedBytes === 0
      ? `Nothing of ${escapedString(path)} was left out.`
      : `Left out of ${escapedString(path)}: ${plural(skippedBytes, 'byte')}, with ${plural(skippedBatches, 'damaged batch', 'damaged batches')} and ${plural(repeatedBatches, 'misplaced one')} in them.`,
  ]
  return `${lines.join('\n')}\n`
}

function asJson(path: string, out: string, saved: Salvaged): string {
  return `${valueJson({schema: 'kx/salvage/1', path, out, ...saved}, bytesJson)}\n`
}
