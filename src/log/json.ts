import {isUtf8} from 'node:buffer'
import type {Finding} from './finding.js'

// The stable schema of what programs read (schemas/dump-log.json). Offsets, timestamps and producer ids are strings,
// because JSON's readers know no 64-bit integers. Batches and records, of which there may be millions: `json-records.ts`.

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
  return `{${objectFields(value, bytes)}}`
}

/** The fields of an object, without braces, as {@link valueJson} writes them. */
export function objectFields(value: object, bytes: BytesJson): string {
  let fields = ''
  for (const name of Object.keys(value)) {
    const item = (value as Readonly<Record<string, unknown>>)[name]
    if (item === undefined || typeof item === 'function') continue
    fields += `${fields === '' ? '' : ','}${JSON.stringify(name)}:${valueJson(item, bytes)}`
  }
  return fields
}
