import {isUtf8} from 'node:buffer'
import {redactedJson} from './json.js'
import {compactJson, isJson} from './json-syntax.js'
import {base64Text, hexText} from './text/encodings.js'
import {constant, type Encoding, type LineWriter} from './text/line-writer.js'

// Bytes as JSON, written as bytes: nothing is made a string on the way, and a large field is written in pieces.

const backslash = 0x5c
const quote = 0x22
const quoteInCell = constant('\\""')
const unicode = 0x75
const hexDigits = constant('0123456789abcdef')
/** 0: stands for itself; else the letter behind the backslash. */
const escapes = Uint8Array.from({length: 256}, (_, byte) => (byte < 0x20 ? unicode : 0))
for (const pair of ['\bb', '\tt', '\nn', '\ff', '\rr', '""', '\\\\']) escapes[pair.charCodeAt(0)] = pair.charCodeAt(1)

/** The same, and 1 for each byte that is not ASCII. */
const high = 1
const escapesOfAscii = escapes.map((letter, byte) => (byte < 0x80 ? letter : high))

/** Room is made for so many bytes at once, and each may become six. */
const roomBytes = 4_096

/** The inside of a JSON string, of bytes that are UTF-8: as `JSON.stringify` writes it. */
export const jsonText: Encoding = {
  cut: (_bytes, _from, to) => to,
  write(out, bytes, from, end) {
    for (let at = from; at < end; at += roomBytes) writeJsonText(out, bytes, at, Math.min(end, at + roomBytes), escapes)
  },
}

/** `table` is one of those above. Returns where it stopped: at the end, or where the table says {@link high}. */
function writeJsonText(out: LineWriter, bytes: Buffer, from: number, end: number, table: Uint8Array): number {
  const target = out.reserve(6 * (end - from))
  let at = out.at
  let position = from
  for (; position < end; position++) {
    const byte = bytes[position] as number
    const letter = table[byte] as number
    if (letter === 0) {
      target[at++] = byte
      continue
    }
    if (letter === high) break
    target[at++] = backslash
    target[at++] = letter
    if (letter !== unicode) continue
    target[at++] = 0x30
    target[at++] = 0x30
    target[at++] = hexDigits[byte >> 4] as number
    target[at++] = hexDigits[byte & 0x0f] as number
  }
  out.at = at
  return position
}

/** {@link jsonText} within a quoted cell of CSV, where each quote stands twice. */
export const jsonTextInCell: Encoding = {
  cut: (_bytes, _from, to) => to,
  write(out, bytes, from, end) {
    for (let at = from; at < end; ) {
      const next = bytes.subarray(at, end).indexOf(quote)
      const to = next < 0 ? end : at + next
      jsonText.write(out, bytes, at, to)
      if (to < end) out.ascii(quoteInCell)
      at = to + 1
    }
  },
}

/** Writes bytes as one JSON value; a negative size is null. */
export type JsonBytes = (out: LineWriter, source: Buffer, at: number, size: number) => void

const nullText = constant('null')
const behindText = constant('"}')
const before = {
  text: constant('{"text":"'),
  base64: constant('{"base64":"'),
  hex: constant('{"hex":"'),
} as const

function enclosed(
  out: LineWriter,
  name: keyof typeof before,
  field: readonly [Buffer, number, number],
  encoding: Encoding,
) {
  out.ascii(before[name])
  out.field(...field, encoding)
  out.ascii(behindText)
}

/** `{"text": …}` where the bytes are UTF-8, else `{"base64": …}`: exactly reversible. */
export const jsonBytes: JsonBytes = (out, source, at, size) => {
  const end = at + size
  if (size < 0) out.ascii(nullText)
  else if (size <= roomBytes) writeSmall(out, source, at, end)
  else if (isUtf8(source.subarray(at, end))) enclosed(out, 'text', [source, at, end], jsonText)
  else enclosed(out, 'base64', [source, at, end], base64Text)
}

/** Most fields are ASCII: only at the first byte that is not it is asked whether they are UTF-8. */
function writeSmall(out: LineWriter, source: Buffer, from: number, end: number): void {
  const start = out.at
  out.ascii(before.text)
  const stopped = writeJsonText(out, source, from, end, escapesOfAscii)
  if (stopped < end) {
    if (!isUtf8(source.subarray(from, end))) {
      out.at = start
      enclosed(out, 'base64', [source, from, end], base64Text)
      return
    }
    writeJsonText(out, source, stopped, end, escapes)
  }
  out.ascii(behindText)
}

/** `--redact`: only how many they are. */
export const redactedBytes: JsonBytes = (out, source, at, size) =>
  out.text(redactedJson(size < 0 ? null : source.subarray(at, at + size)))

/**
 * One way to write the bytes that fit it; what does not fit is written as {@link jsonBytes} does. `uniqueNames`: a JSON
 * document is parsed and written again, because its readers take no name twice.
 */
export function formattedBytes(format: string | undefined, {uniqueNames = false} = {}): JsonBytes {
  if (format === 'hex' || format === 'base64') {
    const encoding = format === 'hex' ? hexText : base64Text
    return (out, source, at, size) =>
      size < 0 ? out.ascii(nullText) : enclosed(out, format, [source, at, at + size], encoding)
  }
  if (format === 'json' && !uniqueNames) return jsonDocument
  const fits = format === undefined ? undefined : formats[format]
  if (!fits) return jsonBytes
  return (out, source, at, size) => {
    const text = size < 0 ? undefined : fits(source.subarray(at, at + size))
    if (text === undefined) jsonBytes(out, source, at, size)
    else out.text(text)
  }
}

/** As the number and the order of what it holds, for it is not parsed and written again. */
const jsonDocument: JsonBytes = (out, source, at, size) => {
  const end = at + size
  if (size < 0 || !isJson(source, at, end) || !isUtf8(source.subarray(at, end))) jsonBytes(out, source, at, size)
  else {
    out.ascii(beforeJson)
    out.field(source, at, end, compactJson())
    out.byte(closingBrace)
  }
}

const beforeJson = constant('{"json":')
const closingBrace = 0x7d
const uuidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Numbers that may be others once they are parsed; in strings, too, which is of no harm. */
const mayChange = /\d{16}|\d[eE]|\.\d{15}/

const formats: Readonly<Record<string, (bytes: Buffer) => string | undefined>> = {
  int32: bytes => (bytes.length === 4 ? `{"int32":${bytes.readInt32BE()}}` : undefined),
  int64: bytes => (bytes.length === 8 ? `{"int64":"${bytes.readBigInt64BE()}"}` : undefined),
  uuid(bytes) {
    if (bytes.length === 36) return uuidText.test(bytes.toString('latin1')) ? `{"uuid":"${bytes}"}` : undefined
    if (bytes.length !== 16) return undefined
    return `{"uuid":"${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}"}`
  },
  json(bytes) {
    if (!isUtf8(bytes) || !isJson(bytes, 0, bytes.length)) return undefined
    const text = bytes.toString('utf8')
    if (mayChange.test(text)) return undefined
    try {
      return `{"json":${JSON.stringify(JSON.parse(text))}}`
    } catch (error) {
      // Nested deeper than the parser goes.
      if (error instanceof RangeError) return undefined
      throw error
    }
  },
}
