import {constant, decimal, type LineWriter, padded, viewOf} from './line-writer.js'

const nine = 0x39
const million = 1_000_000
const millionDigits = 6
const lineBytes = 256

const offsetText = constant('| offset: ')
const keySizeText = constant(' keySize: ')
const valueSizeText = constant(' valueSize: ')
const sequenceText = constant(' sequence: ')

/** A number in a line that is written again and again: mostly the next one, or one of as many digits. */
export class NumberField {
  #value = Number.NaN
  #at = 0
  #end = 0
  /** Values of as many digits: from `#least` on, below `#limit`; none if the value is negative. */
  #least = 0
  #limit = 0
  /** The value without its last six digits. */
  #millions = 0

  /** Writes the number at `at` and returns where it ends. */
  place(line: Uint8Array, at: number, value: number): number {
    const end = decimal(line, at, value)
    const digits = end - at
    this.#value = value
    this.#at = at
    this.#end = end
    this.#least = value < 0 ? 0 : digits === 1 ? 0 : 10 ** (digits - 1)
    this.#limit = value < 0 ? 0 : 10 ** digits
    this.#millions = Math.floor(value / million) * million
    return end
  }

  /** Changes the digits in the line. False: the number has another number of digits. */
  update(line: Uint8Array, value: number): boolean {
    const last = this.#value
    if (value === last) return true
    if (value < this.#least || value >= this.#limit) return false
    this.#value = value
    const end = this.#end
    if (value === last + 1 && line[end - 1] !== nine) {
      line[end - 1]!++
      return true
    }
    const low = value - this.#millions
    if (low >= 0 && low < million && end - this.#at >= millionDigits)
      padded(line, end - millionDigits, low, millionDigits)
    else {
      decimal(line, this.#at, value)
      this.#millions = Math.floor(value / million) * million
    }
    return true
  }
}

/**
 * The part of a record's line that is the same for all but its numbers: `| offset: … CreateTime: … keySize: … valueSize: …
 * sequence: …`. The line before serves as the template: of most lines two or three digits change. All numbers must be
 * within ±2^53; the caller writes the others itself.
 */
export class RecordPrefix {
  readonly #line = new Uint8Array(lineBytes)
  readonly #words = viewOf(this.#line)
  #length = 0
  #timeLabel: Uint8Array | undefined
  #hasSequence = false
  readonly #offset = new NumberField()
  readonly #timestamp = new NumberField()
  readonly #keySize = new NumberField()
  readonly #valueSize = new NumberField()
  readonly #sequence = new NumberField()

  /** `timeLabel` is e.g. ` CreateTime: `; `sequence` is NaN where the format has none. */
  write(
    out: LineWriter,
    timeLabel: Uint8Array,
    offset: number,
    timestamp: number,
    keySize: number,
    valueSize: number,
    sequence: number,
  ): void {
    const line = this.#line
    const hasSequence = !Number.isNaN(sequence)
    const fits =
      this.#timeLabel === timeLabel &&
      this.#hasSequence === hasSequence &&
      this.#offset.update(line, offset) &&
      this.#timestamp.update(line, timestamp) &&
      this.#keySize.update(line, keySize) &&
      this.#valueSize.update(line, valueSize) &&
      (!hasSequence || this.#sequence.update(line, sequence))
    if (!fits) {
      this.#timeLabel = timeLabel
      this.#hasSequence = hasSequence
      this.#lay(timeLabel, offset, timestamp, keySize, valueSize, sequence)
    }
    const length = this.#length
    out.reserve(length + 3)
    const [words, target] = [this.#words, out.view]
    const at = out.at
    for (let n = 0; n < length; n += 4) target.setInt32(at + n, words.getInt32(n))
    out.at = at + length
  }

  #lay(
    timeLabel: Uint8Array,
    offset: number,
    timestamp: number,
    keySize: number,
    valueSize: number,
    sequence: number,
  ): void {
    const line = this.#line
    line.set(offsetText)
    let at = this.#offset.place(line, offsetText.length, offset)
    line.set(timeLabel, at)
    at = this.#timestamp.place(line, at + timeLabel.length, timestamp)
    line.set(keySizeText, at)
    at = this.#keySize.place(line, at + keySizeText.length, keySize)
    line.set(valueSizeText, at)
    at = this.#valueSize.place(line, at + valueSizeText.length, valueSize)
    if (!Number.isNaN(sequence)) {
      line.set(sequenceText, at)
      at = this.#sequence.place(line, at + sequenceText.length, sequence)
    }
    this.#length = at
  }
}
