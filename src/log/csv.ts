import {isUtf8} from 'node:buffer'
import type {BatchCursor} from './batch-cursor.js'
import {redactedJson} from './json.js'
import {jsonTextInCell} from './json-text.js'
import type {RecordCursor} from './record-cursor.js'
import {base64Text, javaText, rawBytes} from './text/encodings.js'
import {constant, type Encoding, type LineWriter} from './text/line-writer.js'

/**
 * A row per record. Keys and values are text where they are UTF-8 that drives no terminal, else base64; the column before
 * says which, and is empty for null. Headers are JSON, with all they hold.
 */
export const csvColumns = [
  'file',
  'batchPosition',
  'batchOffset',
  'offset',
  'timestamp',
  'timestampType',
  'sequence',
  'leaderEpoch',
  'producerId',
  'producerEpoch',
  'isTransactional',
  'isControl',
  'codec',
  'crcIsRight',
  'keySize',
  'keyEncoding',
  'key',
  'valueSize',
  'valueEncoding',
  'value',
  'headers',
] as const

export interface CsvOptions {
  readonly file: string
  /** Keys, values and header values are left out. */
  readonly redact: boolean
  /** Whatever is UTF-8 is written as it is; else a text that a spreadsheet would take for a formula begins with an apostrophe. */
  readonly raw: boolean
}

export const csvHead = `${csvColumns.join(',')}\n`

const comma = 0x2c
const quote = 0x22
const apostrophe = 0x27
const newline = 0x0a

/** What a byte means for a field: it asks for quotes around it, drives a terminal, or is not ASCII. */
const asksQuotes = 1
const drives = 2
const isHigh = 4
const meanings = Uint8Array.from({length: 256}, (_, byte) =>
  byte >= 0x80
    ? isHigh
    : byte === 0x7f || (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)
      ? drives
      : 0,
)
for (const character of '",\n\r') meanings[character.charCodeAt(0)] = asksQuotes

/** Controls but tab and line ends, and characters that turn the direction of a text around. */
const driving = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}|[\p{Zl}\p{Zp}]/u
const piece = 65_536

/** What a spreadsheet takes for a formula begins with one of these (OWASP, "CSV Injection"). */
const formula = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/
const longestCharacter = 4

const quotesDoubled: Encoding = {
  cut: (_bytes, _from, to) => to,
  write(out, bytes, from, to) {
    const target = out.reserve(2 * (to - from))
    let at = out.at
    for (let position = from; position < to; position++) {
      const byte = bytes[position] as number
      if (byte === quote) target[at++] = quote
      target[at++] = byte
    }
    out.at = at
  },
}

const inCell = (json: string): string => json.replaceAll('"', '""')
const beforeFirst = constant(`"[${inCell('{"key":"')}`)
const beforeNext = constant(`,${inCell('{"key":"')}`)
const beforeValue = constant(inCell(',"value":'))
const behindKey = constant(inCell('","value":'))
const beforeText = constant(inCell('{"text":"'))
const beforeBase64 = constant(inCell('{"base64":"'))
const behindBytes = constant(inCell('"}'))
const behindHeaders = constant(']"')
const closingBrace = 0x7d
const noField = constant(',-1,,')
const utf8 = constant(',utf8,')
const base64 = constant(',base64,')
const redacted = constant(',redacted,')

/** Writes rows of records; what they have of their batch is written once. */
export class CsvRows {
  readonly #options: CsvOptions
  /** Columns before the record's own, between, and behind its sequence. */
  #before = new Uint8Array()
  #type = new Uint8Array()
  #behind = new Uint8Array()

  constructor(options: CsvOptions) {
    this.#options = options
  }

  batch(batch: BatchCursor): void {
    const {file, raw} = this.#options
    this.#before = bytesOf(`${cell(file, raw)},${batch.position},${batch.baseOffset},`)
    this.#type = bytesOf(`,${batch.timestampType},`)
    this.#behind = bytesOf(
      `,${batch.leaderEpoch},${batch.producerId},${batch.producerEpoch},${batch.isTransactional},${batch.isControl},` +
        `${batch.codec},${batch.crcIsRight}`,
    )
  }

  record(out: LineWriter, record: RecordCursor): void {
    copy(out, this.#before)
    integer(out, record.offsetNumber, record, 'offset')
    out.byte(comma)
    integer(out, record.timestampNumber, record, 'timestamp')
    out.ascii(this.#type)
    out.number(record.sequence)
    copy(out, this.#behind)
    this.#field(out, record.source, record.keyAt, record.keySize)
    this.#field(out, record.source, record.valueAt, record.valueSize)
    out.byte(comma)
    if (record.headerCount > 0) this.#headers(out, record)
    out.byte(newline)
  }

  /** A list in JSON, within quotes. */
  #headers(out: LineWriter, record: RecordCursor): void {
    let before = beforeFirst
    for (const {key, keyBytes, value} of record.headers) {
      out.ascii(before)
      before = beforeNext
      if (isUtf8(keyBytes)) {
        out.field(keyBytes, 0, keyBytes.length, jsonTextInCell)
        out.ascii(behindKey)
      } else {
        out.text(`${inCell(JSON.stringify(key).slice(1))},${inCell(`"keyBase64":"${keyBytes.toString('base64')}"`)}`)
        out.ascii(beforeValue)
      }
      if (value === null || this.#options.redact) out.text(inCell(redactedJson(value)))
      else {
        const isText = isUtf8(value)
        out.ascii(isText ? beforeText : beforeBase64)
        out.field(value, 0, value.length, isText ? jsonTextInCell : base64Text)
        out.ascii(behindBytes)
      }
      out.byte(closingBrace)
    }
    out.ascii(behindHeaders)
  }

  /** Size, encoding and text. */
  #field(out: LineWriter, source: Buffer, at: number, size: number): void {
    if (size < 0) {
      out.ascii(noField)
      return
    }
    out.byte(comma)
    out.number(size)
    if (this.#options.redact) out.ascii(redacted)
    else this.#text(out, source, at, at + size)
  }

  #text(out: LineWriter, source: Buffer, from: number, end: number): void {
    const {raw} = this.#options
    let seen = 0
    for (let at = from; at < end; at++) seen |= meanings[source[at] as number] as number
    const isHidden = (seen & drives) !== 0 && !raw
    const isText = !isHidden && ((seen & isHigh) === 0 || isReadable(source, from, end, raw))
    out.ascii(isText ? utf8 : base64)
    // Base64 may begin with a plus.
    const isFormula =
      !raw && formula.test(isText ? beginning(source, from, end) : source.toString('base64', from, from + 3))
    const isQuoted = isText && (seen & asksQuotes) !== 0
    if (isQuoted) out.byte(quote)
    if (isFormula) out.byte(apostrophe)
    out.field(source, from, end, isText ? (isQuoted ? quotesDoubled : rawBytes) : base64Text)
    if (isQuoted) out.byte(quote)
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text))
}

function copy(out: LineWriter, piece: Uint8Array): void {
  out.reserve(piece.length).set(piece, out.at)
  out.at += piece.length
}

/** A number, or where it is not exact the field of the record that is. */
function integer(out: LineWriter, value: number, record: RecordCursor, field: 'offset' | 'timestamp'): void {
  if (Number.isNaN(value)) out.text(`${record[field]}`)
  else out.number(value)
}

/** A text as a cell. */
function cell(text: string, raw: boolean): string {
  const safe = !raw && formula.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(text) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function beginning(source: Buffer, from: number, end: number): string {
  return source.toString('utf8', from, Math.min(end, from + longestCharacter))
}

/** Whether bytes that are not all ASCII are a text that may be shown. */
function isReadable(source: Buffer, from: number, end: number, raw: boolean): boolean {
  if (!isUtf8(source.subarray(from, end))) return false
  if (raw) return true
  for (let at = from; at < end; ) {
    const to = end - at <= piece ? end : javaText.cut(source, at, at + piece)
    if (driving.test(source.toString('utf8', at, to))) return false
    at = to
  }
  return true
}
