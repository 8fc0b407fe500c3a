import {Reader} from '../../protocol/reader.js'

/** Where the message of a record of `__cluster_metadata` or `__remote_log_metadata` begins, and what it says it is. */
export interface Framed {
  readonly apiKey: number
  readonly version: number
  readonly start: number
}

export interface Unframed {
  readonly reason: string
  /** What Kafka's MetadataParseException says. */
  readonly thrown: string
}

/** The only frame version there is (org.apache.kafka.server.common.serialization.AbstractApiMessageSerde). */
const frameVersion = 1
const largestShort = 0x7fff

/** Frame version, API key and version, each an unsigned varint. */
export function unframe(value: Buffer | null): Framed | Unframed {
  if (value === null) return {reason: 'no value', thrown: 'Error while reading frame version'}
  const reader = new Reader(value, 0, {version: 0, foreign: false, countsTags: false})
  const frame = short(reader, 'frame version')
  if (typeof frame !== 'number') return {reason: frame.cut ? 'no frame version' : frame.reason, thrown: frame.thrown}
  if (frame !== frameVersion) return {reason: `frame version ${frame} is not known`, thrown: frameError(frame)}
  const apiKey = short(reader, 'type')
  const version = typeof apiKey === 'number' ? short(reader, 'version') : apiKey
  for (const part of [apiKey, version]) {
    if (typeof part !== 'number')
      return {reason: part.cut ? 'no record type and version' : part.reason, thrown: part.thrown}
  }
  return {apiKey: apiKey as number, version: version as number, start: reader.position}
}

interface BadShort {
  readonly cut: boolean
  readonly reason: string
  readonly thrown: string
}

function short(reader: Reader, what: string): number | BadShort {
  const value = reader.unsignedVarint()
  if (reader.failed) return {cut: true, reason: reader.failed.reason, thrown: `Error while reading ${what}`}
  if (value > largestShort)
    return {cut: false, reason: `${what} ${value} is too large`, thrown: `Value for ${what} was too large.`}
  // Kafka casts to short.
  return (value << 16) >> 16
}

function frameError(frame: number): string {
  return frame === 0
    ? 'Could not deserialize metadata record with frame version 0. Note that upgrades from the preview release of KRaft in 2.8 to newer versions are not supported.'
    : `Could not deserialize metadata record due to unknown frame version ${frame}(only frame version ${frameVersion} is supported)`
}
