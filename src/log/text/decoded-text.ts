import type {DecodedRecord, DecodedValue, KafkaText} from '../decode/decoder.js'
import {jacksonDouble, jacksonString} from '../decode/jackson.js'

/**
 * What is known of a record that Kafka's tool skips: of a type that the newest Kafka lacks, or readable in part.
 * `undefined`: nothing.
 */
export function partlyDecoded({key, value}: DecodedRecord): (KafkaText & {readonly note?: string}) | undefined {
  if (!key && !value) return undefined
  const line = key?.schemaOf ?? value?.schemaOf
  return {
    key: key && `{"type":"${key.apiKey}","data":${plainJson(key.data)}}`,
    payload: value === null ? '<DELETE>' : value && valueText(value, key !== undefined),
    ...(line === undefined ? {} : {note: noteOf(line)}),
  }
}

function noteOf(line: string): string {
  return line === 'unreleased' ? 'a type that no released Kafka has' : `as Kafka ${line} has it`
}

/** As Kafka writes it: the version is text where a key says the type, else a number. */
function valueText({type, version, data}: DecodedValue, isKeyed: boolean): string {
  const head = isKeyed ? `"version":"${version}"` : `${type ? `"type":"${type}",` : ''}"version":${version}`
  return `{${head},"data":${plainJson(data)}}`
}

/** Numbers of any size are numbers, bytes base64. */
function plainJson(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return jacksonString(value)
  if (typeof value === 'number' && !Number.isInteger(value)) return jacksonDouble(value)
  if (Buffer.isBuffer(value)) return `"${value.toString('base64')}"`
  if (Array.isArray(value)) return `[${value.map(plainJson).join(',')}]`
  if (typeof value !== 'object') return String(value)
  const fields = Object.entries(value).map(([name, item]) => `${jacksonString(name)}:${plainJson(item)}`)
  return `{${fields.join(',')}}`
}
