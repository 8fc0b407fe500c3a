import {ProtocolError} from './errors.js'
import {Reader} from './reader.js'
import {allSchemas, findSchema, includes, type MessageKind, type MessageSchema} from './schema.js'
import {type Fields, messageCodec} from './struct.js'
import type {Codec} from './types.js'
import {InvalidValue, Writer} from './writer.js'

// Kafka's messages as values: the keys are the schema's field names in camelCase, int64 is bigint, uuid is Kafka's
// base64 text, bytes and records are Buffers, arrays are arrays, structs are objects, null is null.

export interface Decoded<T> {
  readonly value: T
  /** Position after the message; what follows is the caller's to judge. */
  readonly end: number
}

const codecs = new Map<string, Codec>()

/**
 * The bytes of a message. Fields that are not given have their defaults.
 * @throws ProtocolError unknown-message, unknown-version, or invalid-value: a value that does not fit, a field that the
 * schema does not have, or a value that this version cannot carry (unless the schema says that it may be dropped).
 */
export function encode(name: string, version: number, value: Fields): Buffer {
  const codec = codecFor(name, version)
  const writer = new Writer()
  try {
    codec.write(writer, value)
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new ProtocolError('invalid-value', `${name} v${version}${placed(error.path)}: ${error.message}.`)
  }
  return writer.bytes
}

/**
 * Reads a message at `position`. Fields that the version does not have are left out; tagged fields that are not in the
 * bytes have their defaults; tagged fields that the schema does not know are kept in `unknownTaggedFields`.
 * Buffers in the value are views of `bytes`. On any bytes: memory and time are bounded by their length.
 * @throws ProtocolError unknown-message, unknown-version, truncated or malformed
 */
export function decode<T = Fields>(name: string, version: number, bytes: Buffer, position = 0): Decoded<T> {
  const codec = codecFor(name, version)
  const reader = new Reader(bytes, position)
  const value = codec.read(reader) as T
  if (reader.failed) {
    const {failure, reason, path, position: at} = reader.failed
    throw new ProtocolError(failure, `${name} v${version}${placed(path)}: ${reason} (position ${at}).`, at)
  }
  return {value, end: reader.position}
}

function placed(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}${text ? '.' : ' '}${step}`),
    '',
  )
}

function codecFor(name: string, version: number): Codec {
  const key = `${name} ${version}`
  const known = codecs.get(key)
  if (known) return known
  const message = messageNamed(name)
  const {lowest, highest} = message.validVersions
  if (!includes(message.validVersions, version)) {
    const range = lowest > highest ? 'none is' : `${lowest} to ${highest} are`
    throw new ProtocolError('unknown-version', `${name} has no version ${version}; ${range} known.`)
  }
  const codec = messageCodec(message, version)
  codecs.set(key, codec)
  return codec
}

/** @throws ProtocolError unknown-message */
export function messageNamed(name: string): MessageSchema {
  const found = findSchema(name)
  if (!found) throw new ProtocolError('unknown-message', `There is no message called ${name}.`)
  return found
}

/** The request with that API key, e.g. 0 → ProduceRequest. */
export function requestFor(apiKey: number): MessageSchema | undefined {
  return findByKey('request', apiKey)
}

export function responseFor(apiKey: number): MessageSchema | undefined {
  return findByKey('response', apiKey)
}

/** A record type of `__cluster_metadata`, e.g. 5 → PartitionChangeRecord. */
export function metadataRecord(apiKey: number): MessageSchema | undefined {
  return findByKey('metadata', apiKey, '__cluster_metadata')
}

/** A record type of `__remote_log_metadata`, e.g. 0 → RemoteLogSegmentMetadataRecord. */
export function remoteLogMetadataRecord(apiKey: number): MessageSchema | undefined {
  return findByKey('metadata', apiKey, '__remote_log_metadata')
}

export type CoordinatorTopic = '__consumer_offsets' | '__transaction_state' | '__share_group_state'

/** Key and value of a coordinator's record type, e.g. 1 in `__consumer_offsets` → OffsetCommitKey and OffsetCommitValue. */
export function coordinatorRecord(
  topic: CoordinatorTopic,
  type: number,
): {readonly key: MessageSchema; readonly value: MessageSchema} | undefined {
  const key = findByKey('coordinator-key', type, topic)
  const value = findByKey('coordinator-value', type, topic)
  return key && value && {key, value}
}

let keyed: Map<string, string> | undefined

function findByKey(kind: MessageKind, apiKey: number, topic = ''): MessageSchema | undefined {
  keyed ??= new Map(
    [...allSchemas()].map(schema => [`${schema.kind} ${schema.topic ?? ''} ${schema.apiKey}`, schema.name]),
  )
  const name = keyed.get(`${kind} ${topic} ${apiKey}`)
  return name === undefined ? undefined : findSchema(name)
}

/** Which version of RequestHeader goes before a request (ApiMessageType.requestHeaderVersion). */
export function requestHeaderVersion(request: MessageSchema, version: number): 1 | 2 {
  return includes(request.flexibleVersions, version) ? 2 : 1
}

/**
 * Which version of ResponseHeader stands before a response (ApiMessageType.responseHeaderVersion).
 * ApiVersions always has 0: a client must be able to read "unsupported version" from a broker that is older (KIP-511).
 */
export function responseHeaderVersion(response: MessageSchema, version: number): 0 | 1 {
  return response.apiKey !== apiVersionsKey && includes(response.flexibleVersions, version) ? 1 : 0
}

const apiVersionsKey = 18
