import {ProtocolError} from '../../protocol/errors.js'
import {decodeAs, decodeLikeKafka, metadataRecord, remoteLogMetadataRecord} from '../../protocol/messages.js'
import type {MessageSchema, OlderLine} from '../../protocol/schema.js'
import type {Fields} from '../../protocol/struct.js'
import {messageOf} from '../../util/errors.js'
import type {DecodedRecord, KafkaText, RecordDecoder, RecordParts} from './decoder.js'
import {type Framed, unframe} from './frame.js'
import {jsonOf} from './json.js'
import {leftOver, unknownTags} from './leftovers.js'
import {type KafkaStyle, readingOf, schemaLineOf} from './style.js'

type Lookup = (apiKey: number, line?: OlderLine) => MessageSchema | undefined

/** Records of `__cluster_metadata`, of its log and its snapshots. */
export const clusterMetadataDecoder: RecordDecoder = {
  name: 'cluster-metadata',
  topic: '__cluster_metadata',
  kafkaText: ({offset, value}: RecordParts, style: KafkaStyle): KafkaText => ({
    payload: payloadOf(offset, value, style),
  }),
  decode: record => decodeFramed(record, metadataRecord),
}

function payloadOf(offset: bigint, value: Buffer | null, style: KafkaStyle): string {
  const read = readFramedLikeKafka(value, style, metadataRecord)
  if ('thrown' in read) return `Error at ${offset}, skipping. ${read.thrown}`
  const {schema, version, data} = read
  return `{"type":"${upperSnake(schema.name)}","version":${version},"data":${jsonOf(schema, version, data)}}`
}

/** `TopicRecord` → `TOPIC_RECORD`, as MetadataRecordType names it. */
function upperSnake(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
}

export interface FramedRecord {
  readonly schema: MessageSchema
  readonly version: number
  readonly data: Fields
}

/** Reads a framed record as Kafka's AbstractApiMessageSerde does; `thrown`: what its exception says. */
export function readFramedLikeKafka(
  value: Buffer | null,
  style: KafkaStyle,
  find: Lookup,
): FramedRecord | {readonly thrown: string} {
  const framed = unframe(value)
  if ('thrown' in framed) return {thrown: framed.thrown}
  const {apiKey, version, start} = framed
  const schema = find(apiKey, schemaLineOf(style))
  if (!schema) {
    return {thrown: `org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id ${apiKey}`}
  }
  try {
    const bytes = value as Buffer
    const {value: data, end} = decodeLikeKafka(schema, version, bytes, readingOf(style, start))
    if (end < bytes.length) return {thrown: `Found ${bytes.length - end} byte(s) of garbage after ${apiKey}`}
    return {schema, version, data}
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return {thrown: `Failed to deserialize record with type ${apiKey}`}
  }
}

/** What is known about a framed record. Keys are not expected, and shown raw if there are any. */
export function decodeFramed({key, value}: RecordParts, find: Lookup): DecodedRecord {
  const rawKey = key === null ? {} : {rawKey: key}
  const problems = key === null ? [] : ['a key, which such records do not have']
  if (value === null) return {...rawKey, value: null, problems: [...problems, 'no value, which such records have']}
  const framed = unframe(value)
  if ('thrown' in framed) return {...rawKey, rawValue: value, problems: [...problems, framed.reason]}
  const schema = find(framed.apiKey)
  if (!schema) {
    return {...rawKey, rawValue: value, problems: [...problems, `record type ${framed.apiKey} is not known`]}
  }
  return withProblems(problems, {...rawKey, ...decodeMessage(value, framed, schema)})
}

function withProblems(problems: readonly string[], record: DecodedRecord): DecodedRecord {
  return {...record, problems: [...problems, ...record.problems]}
}

function decodeMessage(bytes: Buffer, {apiKey, version, start}: Framed, schema: MessageSchema): DecodedRecord {
  const {lowest, highest} = schema.validVersions
  const nearest = Math.min(Math.max(version, lowest), highest)
  const problems =
    version === nearest
      ? []
      : [`${schema.name} has no version ${version}; it was read as version ${nearest}, the nearest that is known`]
  try {
    const {value: data, end} = decodeAs(schema, nearest, bytes, start)
    problems.push(...unknownTags(data), ...leftOver(bytes.length - end, `the ${schema.name}`))
    return {value: {type: schema.name, apiKey, version, data}, problems}
  } catch (error) {
    return {rawValue: bytes, problems: [...problems, messageOf(error)]}
  }
}

/** As {@link clusterMetadataDecoder}.decode does it, for records of the default remote log metadata manager. */
export function decodeRemoteLogMetadata(record: RecordParts): DecodedRecord {
  return decodeFramed(record, remoteLogMetadataRecord)
}
