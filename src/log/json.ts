import {isUtf8} from 'node:buffer'
import type {BatchCursor} from './batch-cursor.js'
import type {Finding} from './finding.js'
import type {RecordCursor} from './record-cursor.js'

// The stable schema of what programs read (schemas/dump-log.json). Offsets, timestamps and producer ids are strings,
// because JSON's readers know no 64-bit integers. Objects are written by hand: there may be millions.

/** How bytes are written: {@link bytesJson}, hidden, or one of the formats that were asked for. */
export type BytesJson = (bytes: Buffer | null) => string

/**
 * `{"text": …}` where the bytes are UTF-8, else `{"base64": …}`: exactly reversible. `null` stays `null`.
 */
export function bytesJson(bytes: Buffer | null): string {
  if (bytes === null) return 'null'
  return isUtf8(bytes)
    ? `{"text":${JSON.stringify(bytes.toString('utf8'))}}`
    : `{"base64":"${bytes.toString('base64')}"}`
}

/** `--redact`: only how many they are. */
export function redactedJson(bytes: Buffer | null): string {
  return bytes === null ? 'null' : `{"redacted":true,"sizeInBytes":${bytes.length}}`
}

/** The fields of a batch, without braces. */
export function batchFields(batch: BatchCursor): string {
  const {deleteHorizonMs} = batch
  return (
    `"position":${batch.position},"sizeInBytes":${batch.sizeInBytes},"magic":${batch.magic},` +
    `"baseOffset":"${batch.baseOffset}","lastOffset":"${batch.lastOffset}","recordsCount":${batch.recordsCount},` +
    `"codec":"${batch.codec}","timestampType":"${batch.timestampType}","baseTimestamp":"${batch.baseTimestamp}",` +
    `"maxTimestamp":"${batch.maxTimestamp}","leaderEpoch":${batch.leaderEpoch},"producerId":"${batch.producerId}",` +
    `"producerEpoch":${batch.producerEpoch},"baseSequence":${batch.baseSequence},` +
    `"isTransactional":${batch.isTransactional},"isControl":${batch.isControl},` +
    `"deleteHorizonMs":${deleteHorizonMs === null ? 'null' : `"${deleteHorizonMs}"`},` +
    `"crc":${batch.crc},"crcIsRight":${batch.crcIsRight}`
  )
}

/** The fields of a record, without braces. */
export function recordFields(record: RecordCursor, key: BytesJson, value: BytesJson, header: BytesJson): string {
  const headers = record.headerCount === 0 ? '' : headersJson(record, header)
  return (
    `"offset":"${record.offset}","timestamp":"${record.timestamp}","sequence":${record.sequence},` +
    `"key":${key(record.key)},"value":${value(record.value)},"headers":[${headers}]`
  )
}

/** Items of a list. A key that is no UTF-8 is there as base64, too. */
export function headersJson(record: RecordCursor, header: BytesJson): string {
  return record.headers
    .map(({key, keyBytes, value}) => {
      const exact = isUtf8(keyBytes) ? '' : `,"keyBase64":"${keyBytes.toString('base64')}"`
      return `{"key":${JSON.stringify(key)}${exact},"value":${header(value)}}`
    })
    .join(',')
}

/** The fields of a finding, without braces and without its file. */
export function findingFields({code, severity, position, offset, explanation, consequence}: Finding): string {
  const fields = [`"code":"${code}"`, `"severity":"${severity}"`]
  if (position !== undefined) fields.push(`"position":${position}`)
  if (offset !== undefined) fields.push(`"offset":"${offset}"`)
  fields.push(`"explanation":${JSON.stringify(explanation)}`)
  if (consequence !== undefined) fields.push(`"consequence":${JSON.stringify(consequence)}`)
  return fields.join(',')
}

/** Any value with bigints and Buffers in it: bigints become strings, Buffers what `bytes` makes of them. */
export function valueJson(value: unknown, bytes: BytesJson): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'bigint') return `"${value}"`
  if (Buffer.isBuffer(value)) return bytes(value)
  if (Array.isArray(value)) return `[${value.map(item => valueJson(item, bytes)).join(',')}]`
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined && typeof item !== 'function')
    .map(([name, item]) => `${JSON.stringify(name)}:${valueJson(item, bytes)}`)
  return `{${fields.join(',')}}`
}

/** One way to write the bytes that fit it; what does not fit is written as {@link bytesJson} does. */
export function formattedJson(format: string | undefined): BytesJson {
  const fits = format === undefined ? undefined : formats[format]
  if (!fits) return bytesJson
  return bytes => (bytes === null ? 'null' : (fits(bytes) ?? bytesJson(bytes)))
}

const uuidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const formats: Readonly<Record<string, (bytes: Buffer) => string | undefined>> = {
  int32: bytes => (bytes.length === 4 ? `{"int32":${bytes.readInt32BE()}}` : undefined),
  int64: bytes => (bytes.length === 8 ? `{"int64":"${bytes.readBigInt64BE()}"}` : undefined),
  uuid(bytes) {
    if (bytes.length === 36) return uuidText.test(bytes.toString('latin1')) ? `{"uuid":"${bytes}"}` : undefined
    if (bytes.length !== 16) return undefined
    return `{"uuid":"${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}"}`
  },
  hex: bytes => `{"hex":"${bytes.toString('hex')}"}`,
  base64: bytes => `{"base64":"${bytes.toString('base64')}"}`,
  json(bytes) {
    if (!isUtf8(bytes)) return undefined
    const text = bytes.toString('utf8')
    try {
      JSON.parse(text)
    } catch {
      return undefined
    }
    // On one line, as the number and the order of what it holds: it is not parsed and written again.
    return `{"json":${text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')}}`
  },
}
