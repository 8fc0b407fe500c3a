import {base64Text, escapedText, hexText, javaText, quoteFor, rawBytes} from './encodings.js'
import {constant, type Encoding, type LineWriter} from './line-writer.js'

/** How keys and values are shown. `int32` and `int64` are big-endian, `uuid` has 16 bytes or is such a text already. */
export const fieldFormats = ['string', 'int32', 'int64', 'uuid', 'hex', 'base64', 'json'] as const
export type FieldFormat = (typeof fieldFormats)[number]

/** `kafka`: what Kafka's own tool prints, byte for byte; `kx`: safe for terminals, with one reading only. */
export type Dialect = 'kafka' | 'kx'

export interface FieldOptions {
  readonly dialect: Dialect
  /** In the dialect `kx`: the bytes as they are, without quotes and escapes. */
  readonly raw?: boolean | undefined
  /** Only the length is shown. */
  readonly redact?: boolean | undefined
}

/** Writes what lies between `from` and `to`. */
export type FieldWriter = (out: LineWriter, bytes: Buffer, from: number, to: number) => void

const uuidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A writer of keys, values or header values. A field that does not fit the format is shown as a string, with the reason. */
export function fieldWriter(format: FieldFormat, options: FieldOptions): FieldWriter {
  if (options.redact) return (out, _bytes, from, to) => out.text(redacted(to - from))
  const asString = stringWriter(options)
  const fits = formats[format]
  if (!fits) return asString
  return (out, bytes, from, to) => {
    const misfit = fits(out, bytes, from, to, options)
    if (misfit === undefined) return
    asString(out, bytes, from, to)
    out.text(` (${misfit})`)
  }
}

/** What stands for a field with `redact`. */
export function redacted(sizeInBytes: number): string {
  return `<redacted, ${sizeInBytes} bytes>`
}

function stringWriter({dialect, raw}: FieldOptions): FieldWriter {
  if (dialect === 'kafka') return plain(javaText)
  if (raw) return plain(rawBytes)
  return (out, bytes, from, to) => {
    const quote = quoteFor(bytes, from, to)
    out.byte(quote)
    out.field(bytes, from, to, escapedText(quote))
    out.byte(quote)
  }
}

const plain =
  (encoding: Encoding): FieldWriter =>
  (out, bytes, from, to) =>
    out.field(bytes, from, to, encoding)

/** Writes the field, or says why it does not fit. */
type Fitting = (out: LineWriter, bytes: Buffer, from: number, to: number, options: FieldOptions) => string | undefined

const formats: Readonly<Record<FieldFormat, Fitting | undefined>> = {
  string: undefined,
  int32(out, bytes, from, to) {
    if (to - from !== 4) return `no int32: it has ${to - from} bytes`
    out.number(bytes.readInt32BE(from))
    return undefined
  },
  int64(out, bytes, from, to) {
    if (to - from !== 8) return `no int64: it has ${to - from} bytes`
    out.integer(bytes.readBigInt64BE(from))
    return undefined
  },
  uuid(out, bytes, from, to) {
    if (to - from === 36) {
      const text = bytes.toString('latin1', from, to)
      if (uuidText.test(text)) out.text(text)
      return uuidText.test(text) ? undefined : 'no uuid: it is another text of 36 bytes'
    }
    if (to - from !== 16) return `no uuid: it has ${to - from} bytes`
    const hex = bytes.toString('hex', from, to)
    out.text([hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-'))
    return undefined
  },
  hex(out, bytes, from, to) {
    out.field(bytes, from, to, hexText)
    return undefined
  },
  base64(out, bytes, from, to) {
    out.field(bytes, from, to, base64Text)
    return undefined
  },
  json(out, bytes, from, to, {dialect, raw}) {
    const text = bytes.toString('utf8', from, to)
    try {
      JSON.parse(text)
    } catch {
      return 'no JSON'
    }
    out.text(dialect === 'kafka' || raw ? text : safeJson(compactJson(text)))
    return undefined
  },
}

/** Valid JSON without the blanks between its tokens; numbers stay as they are written. */
function compactJson(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')
}

/** JSON that may go to a terminal: what is not seen is escaped in JSON's own way, and the meaning stays. */
export function safeJson(json: string): string {
  return json.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, character =>
    Array.from(
      {length: character.length},
      (_, n) => `\\u${character.charCodeAt(n).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

export const noValue = constant('null')
