import type {BatchCursor} from '../batch-cursor.js'
import {controlRecord, controlText} from '../decode/control.js'
import type {RecordDecoder} from '../decode/decoder.js'
import type {KafkaStyle} from '../decode/style.js'
import type {Finding} from '../finding.js'
import type {Damage, LogEnd, LogVisitor} from '../read-log.js'
import type {RecordCursor} from '../record-cursor.js'
import type {RecordsProblem} from '../records-problem.js'
import {damageCodes, recordsCodes, recordsText} from '../verify/code-of.js'
import {findingCodes} from '../verify/codes.js'
import {timeLabel, writeBatchLine} from './batch-line.js'
import {partlyDecoded} from './decoded-text.js'
import {escapedString} from './encodings.js'
import {
  type Dialect,
  type FieldFormat,
  type FieldWriter,
  fieldWriter,
  noValue,
  redacted,
  safeJson,
} from './field-text.js'
import {FindingList} from './finding-list.js'
import {plural} from '../../util/format.js'
import {writeFinding} from './finding-line.js'
import {failedText} from './legacy-failure.js'
import {constant, type LineWriter} from './line-writer.js'
import {RecordPrefix} from './record-prefix.js'

export interface LogTextOptions {
  /** As it was named, for findings. */
  readonly path: string
  /** The last part of the path. */
  readonly name: string
  readonly dialect: Dialect
  readonly style: KafkaStyle
  /** Records too, not only batches. Data that are printed need it. */
  readonly deepIteration: boolean
  readonly printDataLog: boolean
  readonly skipRecordMetadata?: boolean | undefined
  /** Default: string. */
  readonly keyFormat?: FieldFormat | undefined
  readonly valueFormat?: FieldFormat | undefined
  /** Overrides the formats. */
  readonly decoder?: RecordDecoder | undefined
  /** Look only at the first bytes: what is behind them is then no trailing garbage. */
  readonly maxBytes?: number | undefined
  /** In the dialect `kx`: bytes as they are. */
  readonly raw?: boolean | undefined
  readonly redact?: boolean | undefined
  /** Of two records in a row whose offsets don't follow each other; `previous` is −1 before the first if `bugCompatible`. */
  readonly onGap?: ((previous: bigint, offset: bigint) => void) | undefined
  /** Kafka 4.4 takes −1 for the offset before the first record. */
  readonly bugCompatible?: boolean | undefined
}

const barAndBlank = constant('| ')
const blank = constant(' ')
const keyText = constant('key: ')
const payloadText = constant('payload: ')
const headerKeysText = constant(' headerKeys: [')
const headersText = constant(' headers: [')
const noHeaderKeys = constant(' headerKeys: []')
const noHeaders = constant(' headers: []')
const isValidText = constant(' isValid: ')
const crcText = constant(' crc: ')
const comma = 0x2c
const equals = 0x3d
const closingBracket = 0x5d
const closingBrace = 0x7d
const longestWord = 256
const plainHeaderKey = /^[A-Za-z0-9_.:/-]+$/
/** How Kafka's decoders begin when they can't read a record. */
const undecoded = /^(Error at|Unknown record type)/

/**
 * Prints batches and records as Kafka's dump tool does (class DumpLogSegments), or in kx's own dialect of the same lines.
 * Whoever reads calls {@link end} after `readLog`; the log's header line is not its matter.
 */
export class LogText implements LogVisitor {
  readonly #out: LineWriter
  readonly #options: LogTextOptions
  readonly #findings: FindingList
  readonly #untold: FindingList
  readonly #prefix = new RecordPrefix()
  readonly #key: FieldWriter
  readonly #value: FieldWriter
  readonly #header: FieldWriter
  readonly #headerKey: FieldWriter
  readonly #isKafka: boolean
  readonly #withHeaderValues: boolean
  readonly #noHeaders: Uint8Array

  // Of the batch that is being visited.
  #batch: BatchCursor | undefined
  #timeLabel: Uint8Array = blank
  #isControl = false
  #isLegacy = false
  /** The offset that follows the last record; NaN before the first, and where numbers are not exact. */
  #following = Number.NaN
  #lastOffset: bigint | undefined
  /** At the end of a log the tool has a line for it. */
  #damage: Omit<Finding, 'file'> | undefined

  constructor(out: LineWriter, options: LogTextOptions) {
    this.#out = out
    this.#options = options
    this.#findings = new FindingList(options.path)
    this.#untold = new FindingList(options.path)
    this.#isKafka = options.dialect === 'kafka'
    this.#withHeaderValues = !this.#isKafka && options.printDataLog
    this.#noHeaders = this.#withHeaderValues ? noHeaders : noHeaderKeys
    this.#key = fieldWriter(options.keyFormat ?? 'string', options)
    this.#value = fieldWriter(options.valueFormat ?? 'string', options)
    this.#header = fieldWriter('string', options)
    this.#headerKey = fieldWriter('string', {...options, redact: false})
    if (options.bugCompatible && options.style === '4.4') this.#following = 0
  }

  get full(): boolean {
    return this.#out.full
  }

  drain(): Promise<void> {
    return this.#out.drain()
  }

  get findings(): readonly Finding[] {
    return this.#findings.all()
  }

  /** In the dialect `kafka`: those that none of the tool's lines tells. */
  get untold(): readonly Finding[] {
    return this.#untold.all()
  }

  batch(batch: BatchCursor): boolean {
    this.#batch = batch
    this.#flushDamage()
    this.#timeLabel = timeLabel(batch.timestampType)
    this.#isControl = batch.isControl
    this.#isLegacy = batch.magic < 2
    writeBatchLine(this.#out, batch)
    if (!batch.crcIsRight) {
      this.#tell(
        {
          code: 'crc',
          severity: 'error',
          position: batch.position,
          offset: batch.baseOffset,
          explanation: `the stored CRC of the batch is ${batch.crc}, that of its bytes is ${batch.computedCrc}`,
        },
        'in a line',
      )
    }
    if (batch.codec === 'unknown') {
      this.#tell({
        code: 'records',
        severity: 'error',
        position: batch.position,
        offset: batch.baseOffset,
        explanation: `no codec has the number ${batch.attributes & 0x07}: the records can't be read`,
      })
      return false
    }
    return this.#options.deepIteration
  }

  record(record: RecordCursor): void {
    const {printDataLog, skipRecordMetadata} = this.#options
    this.#follow(record)
    // Kafka's tool ends here.
    if (record.failure?.lacksSizes && !skipRecordMetadata) return
    if (!skipRecordMetadata) this.#metadata(record)
    if (printDataLog && !this.#isControl) this.#contents(record, skipRecordMetadata ? barAndBlank : blank)
    else if (skipRecordMetadata && !this.#isKafka) return
    this.#out.newline()
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    if (problem === undefined) return
    const batch = this.#batch
    const code = recordsCodes[problem.kind]
    this.#tell({
      code,
      severity: findingCodes[code].severity,
      ...(batch ? {position: batch.position, offset: batch.baseOffset} : {}),
      explanation: recordsText(problem),
    })
  }

  damage(damage: Damage): void {
    const {maxBytes} = this.#options
    const isCutByWindow = maxBytes !== undefined && damage.position + damage.sizeInBytes >= maxBytes
    if (isCutByWindow && (damage.kind === 'cut' || damage.kind === 'cut-header')) return
    const finding: Omit<Finding, 'file'> = {
      code: damageCodes[damage.kind],
      severity: 'error',
      position: damage.position,
      ...(damage.baseOffset === undefined ? {} : {offset: damage.baseOffset}),
      explanation: `${plural(damage.sizeInBytes, 'byte is', 'bytes are')} no batch: ${damage.reason}`,
    }
    this.#tell(finding, 'in a line')
    this.#flushDamage()
    this.#damage = finding
  }

  #flushDamage(): void {
    if (this.#damage) this.#untold.add(this.#damage)
    this.#damage = undefined
  }

  /** The tail of the log. */
  end({trailingBytes}: LogEnd): void {
    const isTold = trailingBytes > 0 && this.#options.maxBytes === undefined
    // The line tells how many bytes, and not that a newer Kafka may have written them.
    if (!isTold || this.#damage?.code === 'magic') this.#flushDamage()
    if (!isTold || !this.#isKafka) return
    this.#out.text(`Found ${trailingBytes} invalid bytes at the end of ${this.#options.name}\n`)
  }

  /** Kafka's tool looks for gaps between the records that it shows. */
  #follow(record: RecordCursor): void {
    const offset = record.offsetNumber
    if (offset === this.#following) {
      this.#following = offset + 1
      return
    }
    const exact = record.offset
    const last = Number.isNaN(this.#following) ? this.#lastOffset : BigInt(this.#following - 1)
    if (last !== undefined && exact !== BigInt.asIntN(64, last + 1n)) this.#options.onGap?.(last, exact)
    this.#following = offset + 1
    this.#lastOffset = exact
  }

  #metadata(record: RecordCursor): void {
    const out = this.#out
    const sequence = this.#isLegacy ? Number.NaN : record.sequence
    const offset = record.offsetNumber
    const timestamp = record.timestampNumber
    // The sum is NaN if one of them is.
    if (!Number.isNaN(offset + timestamp)) {
      this.#prefix.write(out, this.#timeLabel, offset, timestamp, record.keySize, record.valueSize, sequence)
    } else this.#largeMetadata(record)
    if (this.#isLegacy) this.#legacy(record)
    else if (record.headerCount === 0) out.ascii(this.#noHeaders)
    else this.#headers(record)
    if (this.#isControl) this.#control(record)
  }

  /** Numbers beyond ±2^53. */
  #largeMetadata(record: RecordCursor): void {
    const out = this.#out
    out.text(`| offset: ${record.offset}`)
    out.ascii(this.#timeLabel)
    out.text(`${record.timestamp} keySize: ${record.keySize} valueSize: ${record.valueSize}`)
    if (!this.#isLegacy) out.text(` sequence: ${record.sequence}`)
  }

  /** Each message of magic 0 and 1 has a CRC of its own. */
  #legacy(record: RecordCursor): void {
    const out = this.#out
    out.ascii(isValidText)
    out.boolean(record.crcIsRight)
    out.ascii(crcText)
    out.number(record.crc)
    if (this.#isKafka && this.#options.style !== '4.4') out.byte(closingBrace)
  }

  #control({key, value, offset}: RecordCursor): void {
    const text = controlText(key, value, this.#options.style)
    this.#out.text(text)
    for (const problem of controlRecord(key, value).problems) {
      const finding: Omit<Finding, 'file'> = {code: 'control-record', severity: 'warning', offset, explanation: problem}
      this.#findings.add(finding)
      if (text.includes(problem)) continue
      if (this.#isKafka) this.#untold.add(finding)
      else this.#out.text(` (${escapedString(problem)})`)
    }
  }

  #headers(record: RecordCursor): void {
    const out = this.#out
    const withValues = this.#withHeaderValues
    out.ascii(withValues ? headersText : headerKeysText)
    let isFirst = true
    for (const {keyBytes, value} of record.headers) {
      if (!isFirst) out.byte(comma)
      isFirst = false
      this.#headerName(keyBytes)
      if (!withValues) continue
      out.byte(equals)
      if (value === null) out.ascii(noValue)
      else this.#header(out, value, 0, value.length)
    }
    out.byte(closingBracket)
  }

  /** In quotes if it is not a plain word, so that a comma in it divides nothing. */
  #headerName(bytes: Buffer): void {
    if (!this.#isKafka && bytes.length <= longestWord && plainHeaderKey.test(bytes.toString('latin1'))) {
      this.#out.text(bytes.toString('latin1'))
    } else this.#headerKey(this.#out, bytes, 0, bytes.length)
  }

  #contents(record: RecordCursor, before: Uint8Array): void {
    if (this.#options.decoder) {
      this.#decoded(this.#options.decoder, record, before)
      return
    }
    const out = this.#out
    const {keySize, valueSize, failure} = record
    let next = before
    if (keySize >= 0 && failure?.key === undefined) {
      out.ascii(next)
      out.ascii(keyText)
      this.#key(out, record.source, record.keyAt, record.keyAt + keySize)
      next = blank
    }
    if (valueSize >= 0 && !failure) {
      out.ascii(this.#beforePayload(next))
      out.ascii(payloadText)
      this.#value(out, record.source, record.valueAt, record.valueAt + valueSize)
    }
  }

  /** Before Kafka 4.4 a payload without a key has no bar. */
  #beforePayload(next: Uint8Array): Uint8Array {
    return next === barAndBlank && this.#isKafka && this.#options.style !== '4.4' ? blank : next
  }

  #decoded(decoder: RecordDecoder, record: RecordCursor, before: Uint8Array): void {
    const {style, redact} = this.#options
    const {offset, key, value, failure} = record
    const failed = failure && failedText(decoder, failure, record, style)
    const kafkas = failed ?? decoder.kafkaText({offset, key, value}, style)
    const unreadable = [kafkas.key, kafkas.payload].find(part => part !== undefined && undecoded.test(part))
    // Kafka's tool skips such a record.
    const known =
      unreadable === undefined || this.#isKafka ? undefined : partlyDecoded(decoder.decode({offset, key, value}))
    const text = known ?? kafkas
    const hides = redact && (!unreadable || known !== undefined)
    let next = before
    if (text.key !== undefined) {
      this.#decodedPart(next, keyText, hides ? redacted(record.keySize) : text.key)
      next = blank
    }
    if (text.payload !== undefined) {
      const shown = hides && value ? redacted(value.length) : text.payload
      this.#decodedPart(this.#beforePayload(next), payloadText, shown)
    }
    if (this.#isKafka) {
      if (unreadable !== undefined) this.#undecoded(record, unreadable)
    } else {
      if (known?.note) this.#out.text(` (${known.note})`)
      this.#oddities(decoder, record)
    }
  }

  #decodedPart(before: Uint8Array, label: Uint8Array, text: string): void {
    const out = this.#out
    out.ascii(before)
    out.ascii(label)
    out.text(this.#isKafka ? text : safeJson(text))
  }

  #undecoded({offset}: RecordCursor, explanation: string): void {
    this.#tell({code: 'decoder', severity: 'warning', offset, explanation}, 'in a line')
  }

  /** What the decoder finds odd, and the bytes that it could not read, behind the record's text. */
  #oddities(decoder: RecordDecoder, record: RecordCursor): void {
    const {offset, key, value} = record
    const {problems, rawKey, rawValue} = decoder.decode({offset, key, value})
    const out = this.#out
    const raw: readonly (readonly [string, Buffer | undefined])[] = [
      [' rawKey: ', rawKey],
      [' rawPayload: ', rawValue],
    ]
    for (const [label, bytes] of raw) {
      if (!bytes) continue
      out.text(label)
      this.#header(out, bytes, 0, bytes.length)
    }
    for (const problem of problems) {
      out.text(` (${escapedString(problem)})`)
      this.#findings.add({code: 'decoder', severity: 'warning', offset, explanation: problem})
    }
  }

  /** `in a line`: Kafka's tool has one that says it. */
  #tell(finding: Omit<Finding, 'file'>, told?: 'in a line'): void {
    const whole = this.#findings.add(finding)
    if (!this.#isKafka) writeFinding(this.#out, whole)
    else if (!told) this.#untold.add(finding)
  }
}
