import {decode, metadataRecord} from '../protocol/messages.js'
import {messageOf} from '../util/errors.js'

/** A record of `__cluster_metadata`: the schema's name (`PartitionChangeRecord`) and its fields. */
export interface MetadataRecord {
  readonly type: string
  readonly apiKey: number
  readonly version: number
  readonly data: Readonly<Record<string, unknown>>
}

/** What can't be decoded is kept and shown as it is, with the reason; nothing is guessed. */
export interface RawMetadataRecord {
  readonly raw: Buffer
  readonly reason: string
}

/** The only one there is (org.apache.kafka.server.common.serialization.AbstractApiMessageSerde). */
const frameVersion = 1

/**
 * Decodes the value of a record of `__cluster_metadata` (log or snapshot; not of a control batch): frame version, API key
 * and version as unsigned varints, then the message. Bytes behind the message are an error, as in Kafka. Never throws.
 */
export function decodeMetadataRecord(value: Buffer | null): MetadataRecord | RawMetadataRecord {
  if (value === null) return {raw: Buffer.alloc(0), reason: 'no value'}
  const raw = (reason: string): RawMetadataRecord => ({raw: value, reason})
  const frame = unsignedVarint(value, 0)
  if (!frame) return raw('no frame version')
  if (frame.value !== frameVersion) return raw(`frame version ${frame.value} is not known`)
  const key = unsignedVarint(value, frame.end)
  const version = key && unsignedVarint(value, key.end)
  if (!key || !version) return raw('no record type and version')
  const schema = metadataRecord(key.value)
  if (!schema) return raw(`record type ${key.value} is not known`)
  try {
    const {value: data, end} = decode(schema.name, version.value, value, version.end)
    if (end < value.length) return raw(`${value.length - end} bytes behind the ${schema.name}`)
    return {
      type: schema.name,
      apiKey: key.value,
      version: version.value,
      data: data as Readonly<Record<string, unknown>>,
    }
  } catch (error) {
    return raw(messageOf(error))
  }
}

interface Unsigned {
  readonly value: number
  readonly end: number
}

/** At most five bytes, without zigzag (ByteUtils.readUnsignedVarint). */
function unsignedVarint(bytes: Buffer, position: number): Unsigned | undefined {
  let value = 0
  for (let n = 0; n < 5; n++) {
    const byte = bytes[position + n]
    if (byte === undefined) return undefined
    value |= (byte & 0x7f) << (7 * n)
    if (byte < 0x80) return {value: value >>> 0, end: position + n + 1}
  }
  return undefined
}
