import {isUtf8} from 'node:buffer'
import type {BatchCursor} from './batch-cursor.js'
import {type JsonBytes, jsonText} from './json-text.js'
import type {RecordCursor} from './record-cursor.js'
import {constant, type LineWriter} from './text/line-writer.js'
import {NumberField} from './text/record-prefix.js'

/** How the fields of an object follow each other. */
export interface Layout {
  /** A name with what stands between it and its value. */
  name(name: string): string
  /** Between a value and the next name. */
  readonly separator: string
}

/** JSON on one line. */
export const jsonLayout: Layout = {name: name => `"${name}":`, separator: ','}

/** YAML in block style: a line for each field; the values are JSON, which YAML knows, too. */
export function yamlLayout(indent: number): Layout {
  return {name: name => `${name}: `, separator: `\n${' '.repeat(indent)}`}
}

export interface RecordBytes {
  readonly key: JsonBytes
  readonly value: JsonBytes
  /** Of a header's value. */
  readonly header: JsonBytes
}

const comma = 0x2c
const closingBracket = 0x5d
const closingBrace = 0x7d
const doubleQuote = 0x22
const headerKey = constant('{"key":"')
const headerValue = constant(',"value":')

/**
 * Writes the fields of records, without braces. What stands before the key differs from record to record in a few digits:
 * the one before serves as the template.
 */
export class RecordWriter {
  readonly #bytes: RecordBytes
  readonly #head: readonly [offset: string, timestamp: string, sequence: string, key: string]
  readonly #value: Uint8Array
  readonly #headers: Uint8Array
  readonly #noHeaders: Uint8Array
  #before: string | undefined
  #template = new Uint8Array()
  readonly #offset = new NumberField()
  readonly #timestamp = new NumberField()
  readonly #sequence = new NumberField()

  constructor({name, separator}: Layout, bytes: RecordBytes) {
    this.#bytes = bytes
    this.#head = [
      `${name('offset')}"`,
      `"${separator}${name('timestamp')}"`,
      `"${separator}${name('sequence')}`,
      `${separator}${name('key')}`,
    ]
    this.#value = constant(`${separator}${name('value')}`)
    this.#headers = constant(`${separator}${name('headers')}[`)
    this.#noHeaders = constant(`${separator}${name('headers')}[]`)
  }

  /** `before`: what stands before the first field. */
  write(out: LineWriter, before: string, record: RecordCursor): void {
    this.#numbers(out, before, record)
    const {source} = record
    this.#bytes.key(out, source, record.keyAt, record.keySize)
    out.ascii(this.#value)
    this.#bytes.value(out, source, record.valueAt, record.valueSize)
    if (record.headerCount === 0) out.ascii(this.#noHeaders)
    else {
      out.ascii(this.#headers)
      writeHeaders(out, record, this.#bytes.header)
      out.byte(closingBracket)
    }
  }

  #numbers(out: LineWriter, before: string, record: RecordCursor): void {
    const [offset, timestamp, sequence] = [record.offsetNumber, record.timestampNumber, record.sequence]
    const template = this.#template
    const fits =
      this.#before === before &&
      !Number.isNaN(offset + timestamp) &&
      this.#offset.update(template, offset) &&
      this.#timestamp.update(template, timestamp) &&
      this.#sequence.update(template, sequence)
    if (!fits && !this.#lay(before, offset, timestamp, sequence)) {
      const [beforeOffset, beforeTimestamp, beforeSequence, beforeKey] = this.#head
      out.text(
        `${before}${beforeOffset}${record.offset}${beforeTimestamp}${record.timestamp}${beforeSequence}${sequence}${beforeKey}`,
      )
      return
    }
    const {length} = this.#template
    out.reserve(length).set(this.#template, out.at)
    out.at += length
  }

  /** A new template. False: a number is beyond ±2^53. */
  #lay(before: string, offset: number, timestamp: number, sequence: number): boolean {
    const [beforeOffset, beforeTimestamp, beforeSequence, beforeKey] = this.#head
    this.#before = undefined
    this.#template = new Uint8Array()
    if (Number.isNaN(offset + timestamp)) return false
    const pieces = [`${before}${beforeOffset}`, `${offset}${beforeTimestamp}`, `${timestamp}${beforeSequence}`]
    const [offsetAt, timestampAt, sequenceAt] = pieces.map((_, n) => Buffer.byteLength(pieces.slice(0, n + 1).join('')))
    const template = Uint8Array.from(Buffer.from(`${pieces.join('')}${sequence}${beforeKey}`))
    this.#offset.place(template, offsetAt as number, offset)
    this.#timestamp.place(template, timestampAt as number, timestamp)
    this.#sequence.place(template, sequenceAt as number, sequence)
    this.#template = template
    this.#before = before
    return true
  }
}

/** Items of a list. A key that is no UTF-8 is there as base64, too. */
export function writeHeaders(out: LineWriter, record: RecordCursor, value: JsonBytes): void {
  let isFirst = true
  for (const header of record.headers) {
    if (!isFirst) out.byte(comma)
    isFirst = false
    const {keyBytes} = header
    if (isUtf8(keyBytes)) {
      out.ascii(headerKey)
      out.field(keyBytes, 0, keyBytes.length, jsonText)
      out.byte(doubleQuote)
    } else out.text(`{"key":${JSON.stringify(header.key)},"keyBase64":"${keyBytes.toString('base64')}"`)
    out.ascii(headerValue)
    if (header.value === null) value(out, keyBytes, 0, -1)
    else value(out, header.value, 0, header.value.length)
    out.byte(closingBrace)
  }
}

/** The fields of a batch, in their order. */
const batchFields = [
  ...['position', 'sizeInBytes', 'magic', 'baseOffset', 'lastOffset', 'recordsCount', 'codec', 'timestampType'],
  ...['baseTimestamp', 'maxTimestamp', 'leaderEpoch', 'producerId', 'producerEpoch', 'baseSequence'],
  ...['isTransactional', 'isControl', 'deleteHorizonMs', 'crc', 'crcIsRight'],
]
const nullText = constant('null')

/** Writes the fields of batches, without braces; 64-bit numbers are strings. */
export class BatchWriter {
  /** The name of each field, with what stands before it. */
  readonly #names: readonly Uint8Array[]
  #next = 0

  constructor({name, separator}: Layout) {
    this.#names = batchFields.map((field, n) => constant(`${n === 0 ? '' : separator}${name(field)}`))
  }

  write(out: LineWriter, batch: BatchCursor): void {
    this.#next = 0
    this.#number(out, batch.position)
    this.#number(out, batch.sizeInBytes)
    this.#number(out, batch.magic)
    this.#integer(out, batch.baseOffsetNumber, batch, 'baseOffset')
    this.#integer(out, batch.lastOffsetNumber, batch, 'lastOffset')
    this.#number(out, batch.recordsCount)
    this.#word(out, batch.codec)
    this.#word(out, batch.timestampType)
    this.#integer(out, batch.baseTimestampNumber, batch, 'baseTimestamp')
    this.#integer(out, batch.maxTimestampNumber, batch, 'maxTimestamp')
    this.#number(out, batch.leaderEpoch)
    this.#integer(out, batch.producerIdNumber, batch, 'producerId')
    this.#number(out, batch.producerEpoch)
    this.#number(out, batch.baseSequence)
    this.#boolean(out, batch.isTransactional)
    this.#boolean(out, batch.isControl)
    const horizon = batch.deleteHorizonMs
    if (horizon === null) this.#ascii(out, nullText)
    else this.#integer(out, batch.baseTimestampNumber, batch, 'deleteHorizonMs')
    this.#number(out, batch.crc)
    this.#boolean(out, batch.crcIsRight)
  }

  #name(out: LineWriter): void {
    out.ascii(this.#names[this.#next++] as Uint8Array)
  }

  #number(out: LineWriter, value: number): void {
    this.#name(out)
    out.number(value)
  }

  #boolean(out: LineWriter, value: boolean): void {
    this.#name(out)
    out.boolean(value)
  }

  #ascii(out: LineWriter, value: Uint8Array): void {
    this.#name(out)
    out.ascii(value)
  }

  #word(out: LineWriter, value: string): void {
    this.#ascii(out, quotedWord(value))
  }

  /** A number, or where it is not exact the field of the batch that is. */
  #integer(out: LineWriter, value: number, batch: BatchCursor, field: Int64): void {
    this.#name(out)
    out.byte(doubleQuote)
    if (Number.isNaN(value)) out.text(`${batch[field]}`)
    else out.number(value)
    out.byte(doubleQuote)
  }
}

type Int64 = 'baseOffset' | 'lastOffset' | 'baseTimestamp' | 'maxTimestamp' | 'producerId' | 'deleteHorizonMs'

/** Names of codecs and the like: few, and again and again. */
const words = new Map<string, Uint8Array>()

function quotedWord(text: string): Uint8Array {
  const known = words.get(text)
  if (known) return known
  const word = constant(`"${text}"`)
  words.set(text, word)
  return word
}
