import {decode, metadataRecord} from '../protocol/messages.js'
import type {Fields} from '../protocol/struct.js'
import {messageOf} from '../util/errors.js'
import {unframe} from './decode/frame.js'

/** A record of `__cluster_metadata`: the schema's name (`PartitionChangeRecord`) and its fields. */
export interface MetadataRecord {
  readonly type: string
  readonly apiKey: number
  readonly version: number
  readonly data: Fields
}

/** What can't be decoded is kept and shown as it is, with the reason; nothing is guessed. */
export interface RawMetadataRecord {
  readonly raw: Buffer
  readonly reason: string
}

/**
 * Decodes the value of a record of `__cluster_metadata` (log or snapshot; not of a control batch), where nothing may be
 * odd about it: unknown versions and bytes behind the message are errors. Never throws.
 * To see as much of a record as there is: `decoderNamed('cluster-metadata').decode`.
 */
export function decodeMetadataRecord(value: Buffer | null): MetadataRecord | RawMetadataRecord {
  const bytes = value ?? Buffer.alloc(0)
  const raw = (reason: string): RawMetadataRecord => ({raw: bytes, reason})
  const framed = unframe(value)
  if ('thrown' in framed) return raw(framed.reason)
  const {apiKey, version, start} = framed
  const schema = metadataRecord(apiKey)
  if (!schema) return raw(`record type ${apiKey} is not known`)
  try {
    const {value: data, end} = decode(schema.name, version, bytes, start)
    if (end < bytes.length) return raw(`${bytes.length - end} bytes behind the ${schema.name}`)
    return {type: schema.name, apiKey, version, data}
  } catch (error) {
    return raw(messageOf(error))
  }
}
