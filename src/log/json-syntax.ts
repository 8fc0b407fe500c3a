import type {Encoding} from './text/line-writer.js'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const minus = 0x2d
const colon = 0x3a
const openObject = 0x7b
const closeObject = 0x7d
const openList = 0x5b
const closeList = 0x5d
const isBlank = byteSet(' \t\n\r')
const isDigit = byteSet('0123456789')
const isHex = byteSet('0123456789abcdefABCDEF')
const isEscape = byteSet('"\\/bfnrtu')
const words = ['true', 'false', 'null'].map(word => Buffer.from(word))

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const byte of Buffer.from(characters)) set[byte] = 1
  return set
}

/**
 * Whether `JSON.parse` would take these bytes, which are UTF-8 (RFC 8259). Nothing is made of them: a document of any size
 * needs a bit of memory per level.
 */
export function isJson(bytes: Buffer, from: number, end: number): boolean {
  return new Syntax(bytes, from, end).isValue()
}

class Syntax {
  #at: number
  /** What closes each level. */
  readonly #levels: number[] = []

  constructor(
    readonly bytes: Buffer,
    from: number,
    readonly end: number,
  ) {
    this.#at = from
  }

  isValue(): boolean {
    for (;;) {
      this.#blanks()
      const begun = this.#begin()
      if (begun === 'wrong') return false
      if (begun === 'open') continue
      // A value is done, and maybe those that it ends.
      for (;;) {
        this.#blanks()
        const close = this.#levels.at(-1)
        if (close === undefined) return this.#at === this.end
        if (this.#take(comma)) {
          if (close === closeObject && !this.#name()) return false
          break
        }
        if (!this.#take(close)) return false
        this.#levels.pop()
      }
    }
  }

  /** `open`: a list or object that is not empty, before its first value. */
  #begin(): 'done' | 'open' | 'wrong' {
    const isObject = this.#take(openObject)
    if (isObject || this.#take(openList)) {
      const close = isObject ? closeObject : closeList
      this.#blanks()
      if (this.#take(close)) return 'done'
      this.#levels.push(close)
      return isObject && !this.#name() ? 'wrong' : 'open'
    }
    return this.#scalar() ? 'done' : 'wrong'
  }

  #scalar(): boolean {
    if (this.#at >= this.end) return false
    const byte = this.bytes[this.#at] as number
    if (byte === quote) return this.#string()
    return byte === minus || isDigit[byte] === 1 ? this.#number() : this.#word()
  }

  #name(): boolean {
    this.#blanks()
    if (!this.#string()) return false
    this.#blanks()
    return this.#take(colon)
  }

  #string(): boolean {
    const {bytes, end} = this
    if (!this.#take(quote)) return false
    for (; this.#at < end; this.#at++) {
      const byte = bytes[this.#at] as number
      if (byte < 0x20) return false
      if (byte === quote) return this.#take(quote)
      if (byte !== backslash) continue
      const letter = ++this.#at < end ? (bytes[this.#at] as number) : 0
      if (isEscape[letter] !== 1) return false
      if (letter !== 0x75) continue
      for (let n = 0; n < 4; n++) if (++this.#at >= end || isHex[bytes[this.#at] as number] !== 1) return false
    }
    return false
  }

  #number(): boolean {
    this.#take(minus)
    if (!this.#take(0x30) && !this.#digits()) return false
    if (this.#take(0x2e) && !this.#digits()) return false
    if (this.#take(0x65) || this.#take(0x45)) {
      if (!this.#take(0x2b)) this.#take(minus)
      return this.#digits()
    }
    return true
  }

  #digits(): boolean {
    const start = this.#at
    while (this.#at < this.end && isDigit[this.bytes[this.#at] as number] === 1) this.#at++
    return this.#at > start
  }

  #word(): boolean {
    for (const word of words) {
      const to = this.#at + word.length
      if (to > this.end || word.compare(this.bytes, this.#at, to) !== 0) continue
      this.#at = to
      return true
    }
    return false
  }

  #blanks(): void {
    while (this.#at < this.end && isBlank[this.bytes[this.#at] as number] === 1) this.#at++
  }

  #take(byte: number): boolean {
    if (this.#at >= this.end || this.bytes[this.#at] !== byte) return false
    this.#at++
    return true
  }
}

/** A JSON document on one line: without the blanks between its parts. One for each field, as it knows where it is. */
export function compactJson(): Encoding {
  let [isInString, isEscaped] = [false, false]
  return {
    cut: (_bytes, _from, to) => to,
    write(out, bytes, from, to) {
      const target = out.reserve(to - from)
      let at = out.at
      for (let position = from; position < to; position++) {
        const byte = bytes[position] as number
        if (isInString) {
          if (isEscaped) isEscaped = false
          else if (byte === backslash) isEscaped = true
          else if (byte === quote) isInString = false
        } else if (isBlank[byte] === 1) continue
        else if (byte === quote) isInString = true
        target[at++] = byte
      }
      out.at = at
    },
  }
}
