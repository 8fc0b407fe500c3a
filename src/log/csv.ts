import {isUtf8} from 'node:buffer'
import type {BatchCursor} from './batch-cursor.js'
import {type BytesJson, headersJson} from './json.js'
import type {RecordCursor} from './record-cursor.js'

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

export type CsvRow = readonly (string | number | bigint | boolean | null)[]

export interface CsvOptions {
  readonly file: string
  /** Writes header values. */
  readonly header: BytesJson
  /** Keys and values are left out. */
  readonly redact: boolean
  /** Whatever is UTF-8 is written as it is. */
  readonly raw: boolean
}

/** Controls but tab and line ends, and characters that turn the direction of a text around. */
const driving = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}|[\p{Zl}\p{Zp}]/u

export function csvRow(batch: BatchCursor, record: RecordCursor, {file, header, redact, raw}: CsvOptions): CsvRow {
  const headers = record.headerCount === 0 ? '' : `[${headersJson(record, header)}]`
  return [
    file,
    batch.position,
    batch.baseOffset,
    record.offset,
    record.timestamp,
    batch.timestampType,
    record.sequence,
    batch.leaderEpoch,
    batch.producerId,
    batch.producerEpoch,
    batch.isTransactional,
    batch.isControl,
    batch.codec,
    batch.crcIsRight,
    ...bytesColumns(record.key, redact, raw),
    ...bytesColumns(record.value, redact, raw),
    headers,
  ]
}

function bytesColumns(bytes: Buffer | null, redact: boolean, raw: boolean): readonly [number, string, string] {
  if (bytes === null) return [-1, '', '']
  if (redact) return [bytes.length, 'redacted', '']
  const text = isUtf8(bytes) ? bytes.toString('utf8') : undefined
  return text !== undefined && (raw || !driving.test(text))
    ? [bytes.length, 'utf8', text]
    : [bytes.length, 'base64', bytes.toString('base64')]
}
