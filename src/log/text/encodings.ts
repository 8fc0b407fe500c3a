import {isContinuation, utf8Sequence} from '../../util/java-text.js'
import {type Encoding, type LineWriter, viewOf} from './line-writer.js'

const hexDigits = Uint8Array.from(Buffer.from('0123456789abcdef'))
const backslash = 0x5c
const doubleQuote = 0x22
const singleQuote = 0x27
/** The letter behind the backslash, by byte. */
const shortEscapes = new Uint8Array(128)
for (const pair of ['\nn', '\rr', '\tt', '\\\\', '""', "''"]) shortEscapes[pair.charCodeAt(0)] = pair.charCodeAt(1)
/** Bytes that stand for themselves, if they are not the quote. */
const isPlain = Uint8Array.from({length: 256}, (_, byte) => (byte >= 0x20 && byte < 0x7f && byte !== backslash ? 1 : 0))

/** The view of the bytes that were asked for last: fields of one batch lie in one buffer. */
let viewed: Buffer | undefined
let view: DataView = new DataView(new ArrayBuffer(0))

function lastView(bytes: Buffer): DataView {
  if (viewed !== bytes) {
    viewed = bytes
    view = viewOf(bytes)
  }
  return view
}

/** The top bits of four bytes. */
const tops = 0x80808080 | 0
const ones = 0x01010101
const blanks = 0x20202020
const backslashes = 0x5c5c5c5c
const doubleQuotes = 0x22222222
const singleQuotes = 0x27272727

/** The top bit of each byte that is zero (and sometimes of the one before it). */
const zeros = (word: number): number => (word - ones) & ~word

/** False only if none of the four bytes is to be escaped; `quotes` is four times the quote. */
function mayNeedEscape(word: number, quotes: number): boolean {
  const suspicious = word | (word + ones) | ((word - blanks) & ~word) | zeros(word ^ quotes) | zeros(word ^ backslashes)
  return (suspicious & tops) !== 0
}

/**
 * The quotes to put around a text so that little in it needs an escape: single ones if the first quote in it is a double
 * one, as in JSON; double ones else.
 */
export function quoteFor(bytes: Buffer, from: number, end: number): number {
  const source = lastView(bytes)
  for (let position = from; position < end; ) {
    while (position <= end - 4) {
      const word = source.getInt32(position)
      if (((zeros(word ^ doubleQuotes) | zeros(word ^ singleQuotes)) & tops) !== 0) break
      position += 4
    }
    const last = Math.min(position + 4, end)
    for (; position < last; position++) {
      if (bytes[position] === doubleQuote) return singleQuote
      if (bytes[position] === singleQuote) return doubleQuote
    }
  }
  return doubleQuote
}

/** Where a piece may end so that no character is cut: `to`, or up to three bytes before. */
function betweenCharacters(bytes: Uint8Array, from: number, to: number): number {
  for (let cut = to; cut > to - 4 && cut > from; cut--) if (!isContinuation(bytes[cut])) return cut
  return to
}

/** As Kafka's tools print a byte array that they take for text: as it is; what is no UTF-8 becomes U+FFFD in Java's way. */
export const javaText: Encoding = {cut: betweenCharacters, write: writeJavaText}

function writeJavaText(out: LineWriter, bytes: Buffer, from: number, end: number): void {
  const target = out.reserve(3 * (end - from))
  const [source, words] = [lastView(bytes), out.view]
  const lastWord = end - 4
  let at = out.at
  for (let position = from; position < end; ) {
    while (position <= lastWord) {
      const word = source.getInt32(position)
      if ((word & tops) !== 0) break
      words.setInt32(at, word)
      position += 4
      at += 4
    }
    if (position >= end) break
    const byte = bytes[position] as number
    if (byte < 0x80) {
      target[at++] = byte
      position++
      continue
    }
    const length = utf8Sequence(bytes, position, end)
    if (length > 0) {
      for (let n = 0; n < length; n++) target[at++] = bytes[position++] as number
    } else {
      target[at++] = 0xef
      target[at++] = 0xbf
      target[at++] = 0xbd
      position -= length
    }
  }
  out.at = at
}

/**
 * Text that drives no terminal and has one reading only: `\n`, `\r`, `\t`, `\\` and the quote around it, and `\xNN` for each byte of a
 * control character (C0, DEL, C1), of a character that is not seen or turns the direction of writing, and of what is no
 * UTF-8. Undoing the escapes gives the bytes back.
 */
export function escapedText(quote: number): Encoding {
  return quote === singleQuote ? inSingleQuotes : inDoubleQuotes
}

const inDoubleQuotes: Encoding = {
  cut: betweenCharacters,
  write: (out, bytes, from, end) => writeEscapedText(out, bytes, from, end, doubleQuote),
}
const inSingleQuotes: Encoding = {
  cut: betweenCharacters,
  write: (out, bytes, from, end) => writeEscapedText(out, bytes, from, end, singleQuote),
}

function writeEscapedText(out: LineWriter, bytes: Buffer, from: number, end: number, quote: number): void {
  const quotes = quote * ones
  const target = out.reserve(4 * (end - from))
  const [source, words] = [lastView(bytes), out.view]
  const lastWord = end - 4
  let at = out.at
  for (let position = from; position < end; ) {
    while (position <= lastWord) {
      const word = source.getInt32(position)
      if (mayNeedEscape(word, quotes)) break
      words.setInt32(at, word)
      position += 4
      at += 4
    }
    if (position >= end) break
    const byte = bytes[position] as number
    if (isPlain[byte] === 1 && byte !== quote) {
      target[at++] = byte
      position++
      continue
    }
    const short = shortEscapes[byte]
    if (short) {
      target[at++] = backslash
      target[at++] = short
      position++
      continue
    }
    const length = utf8Sequence(bytes, position, end)
    const visible = length > 1 && !isUnseen(bytes, position, length)
    for (let n = Math.abs(length); n > 0; n--, position++) {
      const unit = bytes[position] as number
      if (visible) target[at++] = unit
      else {
        target[at++] = backslash
        target[at++] = 0x78
        target[at++] = hexDigits[unit >> 4] as number
        target[at++] = hexDigits[unit & 0x0f] as number
      }
    }
  }
  out.at = at
}

/** C1 controls and the characters of Unicode's categories Cf, Zl, Zp, Cs, Co and Cn: not seen, or not what they seem. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/u
/** By code point below 65536: 1 is seen, 2 is not, 0 was not asked for yet. */
const known = new Uint8Array(0x1_0000)

function isUnseen(bytes: Buffer, at: number, length: number): boolean {
  if (length > 3) return unseen.test(bytes.toString('utf8', at, at + length))
  const [first, second, third] = [bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number]
  const codePoint =
    length === 2
      ? ((first & 0x1f) << 6) | (second & 0x3f)
      : ((first & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f)
  if (known[codePoint] === 0) known[codePoint] = unseen.test(String.fromCharCode(codePoint)) ? 2 : 1
  return known[codePoint] === 2
}

/** The bytes as they are. */
export const rawBytes: Encoding = {
  cut: (_bytes, _from, to) => to,
  write(out, bytes, from, to) {
    out.reserve(to - from)
    out.at += bytes.copy(out.bytes, out.at, from, to)
  },
}

export const hexText: Encoding = {
  cut: (_bytes, _from, to) => to,
  write(out, bytes, from, to) {
    const target = out.reserve(2 * (to - from))
    let at = out.at
    for (let position = from; position < to; position++) {
      const byte = bytes[position] as number
      target[at++] = hexDigits[byte >> 4] as number
      target[at++] = hexDigits[byte & 0x0f] as number
    }
    out.at = at
  },
}

export const base64Text: Encoding = {
  cut: (_bytes, from, to) => to - ((to - from) % 3),
  write: (out, bytes, from, to) => out.text(bytes.toString('base64', from, to)),
}

/** {@link escapedText} of a string, for what stands in lines without being a field. */
export function escapedString(text: string): string {
  return text.replace(new RegExp(unseen, 'gu'), character =>
    [...Buffer.from(character)].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  )
}
