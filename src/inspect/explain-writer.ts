import {isLogKind} from '../log/files/kinds.js'
import {type ExplainedField, explainBatch} from '../log/explain.js'
import type {Finding} from '../log/finding.js'
import {bytesJson, valueJson} from '../log/json.js'
import {readLog} from '../log/read-log.js'
import {escapedString} from '../log/text/encodings.js'
import type {Write} from '../log/text/line-writer.js'
import {KxError} from '../util/errors.js'
import {bytes as bytesText, plural} from '../util/format.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'

/** What is read of one batch to explain it. */
const batchBytesAtMost = 67_108_864
const bytesPerLine = 8
/** Bytes of a field that are shown one by one. */
const shownBytes = 256
const hidden = /^(header )?(key|value)$|^records$|^leftover$/

/** `--explain --at POSITION`: one batch as an annotated hexdump, field by field. */
export class ExplainWriter implements DumpWriter {
  readonly readsOnce = false
  readonly enough = false
  readonly #at: number
  readonly #asJson: boolean
  readonly #write: Write
  readonly #options: DumpOptions

  constructor(at: number, asJson: boolean, write: Write, options: DumpOptions) {
    this.#at = at
    this.#asJson = asJson
    this.#write = write
    this.#options = options
  }

  async file(input: DumpInput): Promise<readonly Finding[]> {
    const {file, classified} = input
    if (!isLogKind(classified.kind)) {
      throw new KxError('usage', 'KX_USAGE', `${file.path} has no batches to explain: it is a file of another kind.`)
    }
    if (this.#at >= file.size) {
      throw new KxError('usage', 'KX_USAGE', `${file.path} has ${file.size} bytes: there is no position ${this.#at}.`)
    }
    const {position, sizeInBytes, isBatch} = await batchAt(input, this.#at, this.#options)
    if (sizeInBytes > batchBytesAtMost) {
      throw new KxError(
        'input',
        'KX_TOO_LARGE',
        `The batch at ${position} has ${bytesText(sizeInBytes)}: too much to explain.`,
      )
    }
    const bytes = Buffer.from(await file.read(position, Math.min(sizeInBytes, file.size - position)))
    const {fields, problem} = await explainBatch(bytes, position)
    const shown = this.#options.redact ? fields.map(field => withoutContent(field, isBatch)) : fields
    const told = this.#options.redact && !isBatch ? problem && 'these bytes are no batch' : problem
    await this.#write(
      Buffer.from(this.#asJson ? asJson(file.path, position, shown, told) : asText(file.path, position, shown, told)),
    )
    const isWrong = problem !== undefined || fields.some(({name, value}) => name === 'crc' && value.includes('WRONG'))
    const explanation = problem ?? 'The stored CRC is not that of the bytes.'
    return isWrong ? [{code: 'crc', severity: 'error', file: file.path, position, explanation}] : []
  }

  async folder({path}: DumpFolder): Promise<never> {
    throw new KxError('usage', 'KX_USAGE', `${path} is a folder: --explain needs one file.`)
  }

  async failed(_path: string, error: KxError): Promise<void> {
    this.#options.failed(error)
  }

  async end(): Promise<void> {}
}

/** The batch that has the byte at a position; where there is none, what lies there is explained as far as it goes. */
async function batchAt(
  {file}: DumpInput,
  at: number,
  {signal}: DumpOptions,
): Promise<{position: number; sizeInBytes: number; isBatch: boolean}> {
  let found: {position: number; sizeInBytes: number} | undefined
  let passed = false
  await readLog(
    file,
    {
      batch({position, sizeInBytes}) {
        if (position <= at && at < position + sizeInBytes) found = {position, sizeInBytes}
        passed = position + sizeInBytes > at
        return false
      },
      record() {},
      get enough() {
        return passed
      },
    },
    {signal},
  )
  return found
    ? {...found, isBatch: true}
    : {position: at, sizeInBytes: Math.min(file.size - at, 65_536), isBatch: false}
}

/** Bytes that are no batch may be anything, even where a header would have numbers. */
function withoutContent(field: ExplainedField, isBatch: boolean): ExplainedField {
  if (isBatch && !hidden.test(field.name)) return field
  const redacted = `<redacted, ${plural(field.bytes.length, 'byte')}>`
  return {...field, bytes: Buffer.alloc(0), value: isBatch && field.value ? `${field.value} ${redacted}` : redacted}
}

function asText(
  path: string,
  position: number,
  fields: readonly ExplainedField[],
  problem: string | undefined,
): string {
  const names = Math.max(...fields.map(({name, depth}) => name.length + 2 * depth), 10)
  const lines = [`${escapedString(path)}, the batch at ${position}`, '']
  let space: ExplainedField['space'] = 'file'
  for (const field of fields) {
    if (field.space !== space) lines.push('', 'The records once they are uncompressed, positions from their beginning:')
    space = field.space
    lines.push(...fieldLines(field, names))
  }
  if (problem !== undefined) lines.push('', `Here it ends: ${escapedString(problem)}.`)
  return `${lines.join('\n')}\n`
}

function fieldLines({position, bytes, name, value, depth}: ExplainedField, names: number): string[] {
  const label = `${'  '.repeat(depth)}${name}`.padEnd(names)
  const rows = Math.max(1, Math.ceil(Math.min(bytes.length, shownBytes) / bytesPerLine))
  const lines = Array.from({length: rows}, (_, row) => {
    const part = bytes.subarray(row * bytesPerLine, Math.min((row + 1) * bytesPerLine, shownBytes))
    const hex = part.toString('hex').replace(/(..)(?=.)/g, '$1 ')
    const told = row === 0 && value !== '' ? value : value === '' ? printable(part) : ''
    return `${String(position + row * bytesPerLine).padStart(10)}  ${hex.padEnd(3 * bytesPerLine - 1)}  ${row === 0 ? label : ' '.repeat(names)}  ${told}`.trimEnd()
  })
  if (bytes.length > shownBytes) lines.push(`${' '.repeat(12)}... ${bytes.length - shownBytes} bytes more`)
  return lines
}

function printable(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^\x20-\x7e]/g, '.')
}

function asJson(
  path: string,
  position: number,
  fields: readonly ExplainedField[],
  problem: string | undefined,
): string {
  const told = fields.map(({bytes, ...field}) => ({...field, sizeInBytes: bytes.length, hex: bytes.toString('hex')}))
  return `${valueJson({schema: 'kx/explain/1', path, position, fields: told, problem}, bytesJson)}\n`
}
