import {ProtocolError} from './errors.js'
import {Reader} from './reader.js'
import {
  allSchemas,
  findSchema,
  findSchemaIn,
  includes,
  type MessageKind,
  type MessageSchema,
  type OlderLine,
  schemasOnlyIn,
} from './schema.js'
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

const codecs = new WeakMap<MessageSchema, Map<number, Codec>>()

/**
 * The bytes of a message. Fields that are not given have their defaults.
 * @throws ProtocolError unknown-message, unknown-version, or invalid-value: a value that does not fit, a field that the
 * schema does not have, or a value that this version cannot carry (unless the schema says that it may be dropped).
 */
export function encode(name: string, version: number, value: Fields): Buffer {
  return encodeAs(messageNamed(name), version, value)
}

/** {@link encode} for a schema that is not the newest of its name. */
export function encodeAs(schema: MessageSchema, version: number, value: Fields): Buffer {
  const codec = codecFor(schema, version)
  const writer = new Writer()
  try {
    codec.write(writer, value)
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new ProtocolError('invalid-value', `${schema.name} v${version}${placed(error.path)}: ${error.message}.`)
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
  return decodeAs<T>(messageNamed(name), version, bytes, position)
}

/** {@link decode} for a schema that is not the newest of its name. */
export function decodeAs<T = Fields>(schema: MessageSchema, version: number, bytes: Buffer, position = 0): Decoded<T> {
  return readAll<T>(schema, version, new Reader(bytes, position))
}

/**
 * Reads as Kafka's generated classes do, which believe more than {@link decode}: the sizes of known tagged fields and
 * the order of tags are not looked at, varints wrap around, and a version that the schema does not have is read by the
 * nearest one, up to the first struct that knows its versions.
 * @throws ProtocolError truncated or malformed; its `thrown` is what Kafka's exception says.
 */
export function decodeLikeKafka<T = Fields>(
  schema: MessageSchema,
  version: number,
  bytes: Buffer,
  {position = 0, countsTags = true}: {readonly position?: number; readonly countsTags?: boolean} = {},
): Decoded<T> {
  const {lowest, highest} = schema.validVersions
  const nearest = Math.min(Math.max(version, lowest), highest)
  const reader = new Reader(bytes, position, {version, foreign: nearest !== version, countsTags})
  return readAll<T>(schema, nearest, reader)
}

function readAll<T>(schema: MessageSchema, version: number, reader: Reader): Decoded<T> {
  const value = codecFor(schema, version).read(reader) as T
  if (!reader.failed) return {value, end: reader.position}
  const {failure, reason, path, position, thrown} = reader.failed
  const told = `${schema.name} v${version}${placed(path)}: ${reason} (position ${position}).`
  throw new ProtocolError(failure, told, position, thrown?.replace('{field}', () => fieldName(path)) ?? null)
}

/** As Kafka's exceptions name a field, or an element of one. */
function fieldName(path: readonly (string | number)[]): string {
  const last = path.at(-1)
  return typeof last === 'number' ? `${path.at(-2)} element` : String(last)
}

function placed(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}${text ? '.' : ' '}${step}`),
    '',
  )
}

function codecFor(message: MessageSchema, version: number): Codec {
  const ofMessage = codecs.get(message) ?? new Map<number, Codec>()
  const known = ofMessage.get(version)
  if (known) return known
  const {lowest, highest} = message.validVersions
  if (!includes(message.validVersions, version)) {
    const range = lowest > highest ? 'none is' : `${lowest} to ${highest} are`
    throw new ProtocolError('unknown-version', `${message.name} has no version ${version}; ${range} known.`)
  }
  const codec = messageCodec(message, version)
  codecs.set(message, ofMessage.set(version, codec))
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

/** A record type of `__cluster_metadata`, e.g. 5 → PartitionChangeRecord; of the newest line, or as an older one had it. */
export function metadataRecord(apiKey: number, line?: OlderLine): MessageSchema | undefined {
  return findByKey('metadata', apiKey, '__cluster_metadata', line)
}

/** A record type of `__remote_log_metadata`, e.g. 0 → RemoteLogSegmentMetadataRecord. */
export function remoteLogMetadataRecord(apiKey: number, line?: OlderLine): MessageSchema | undefined {
  return findByKey('metadata', apiKey, '__remote_log_metadata', line)
}

export type CoordinatorTopic = '__consumer_offsets' | '__transaction_state' | '__share_group_state'

/** Key and value of a coordinator's record type, e.g. 1 in `__consumer_offsets` → OffsetCommitKey and OffsetCommitValue. */
export function coordinatorRecord(
  topic: CoordinatorTopic,
  type: number,
  line?: OlderLine,
): {readonly key: MessageSchema; readonly value: MessageSchema} | undefined {
  const key = findByKey('coordinator-key', type, topic, line)
  const value = findByKey('coordinator-value', type, topic, line)
  return key && value && {key, value}
}

const keyed = new Map<OlderLine | undefined, ReadonlyMap<string, string>>()

function namesByKey(line: OlderLine | undefined): ReadonlyMap<string, string> {
  const known = keyed.get(line)
  if (known) return known
  const schemas = line === undefined ? allSchemas() : [...allSchemas(), ...schemasOnlyIn(line)]
  const names = new Map(
    [...schemas].map(schema => [`${schema.kind} ${schema.topic ?? ''} ${schema.apiKey}`, schema.name]),
  )
  keyed.set(line, names)
  return names
}

function findByKey(kind: MessageKind, apiKey: number, topic = '', line?: OlderLine): MessageSchema | undefined {
  const name = namesByKey(line).get(`${kind} ${topic} ${apiKey}`)
  if (name === undefined) return undefined
  return line === undefined ? findSchema(name) : findSchemaIn(line, name)
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
