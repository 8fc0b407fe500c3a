import {type CoordinatorTopic, coordinatorRecord, decodeAs} from '../../protocol/messages.js'
import {includes, type MessageSchema, type OlderLine, olderLines} from '../../protocol/schema.js'
import type {Fields} from '../../protocol/struct.js'
import {messageOf} from '../../util/errors.js'
import type {
  DecodedKey,
  DecodedRecord,
  DecodedValue,
  DecoderName,
  KafkaText,
  RecordDecoder,
  RecordParts,
} from './decoder.js'
import {embeddedLikeKafka, withEmbedded} from './embedded.js'
import {jsonOf, Verbatim} from './json.js'
import {leftOver, unknownTags} from './leftovers.js'
import {prefixBytes, prefixOf, readKey, readValue} from './serde.js'
import {Skipped} from './skipped.js'
import {type KafkaStyle, schemaLineOf} from './style.js'
import {transactionStatus, transactionText} from './transaction-text.js'

// Records of the group, transaction and share coordinators: the key is an int16 record type and a message, the value an
// int16 version and a message (org.apache.kafka.coordinator.common.runtime.CoordinatorRecordSerde).

export function coordinatorDecoder(name: DecoderName, topic: CoordinatorTopic): RecordDecoder {
  return {
    name,
    topic,
    kafkaText(record, style) {
      const {offset, key} = record
      try {
        if (key === null) throw new Skipped(missingKey(name, offset, style))
        if (name === 'transaction-log' && style === '4.0') return transactionText({...record, key})
        return kafkaText({...record, key}, topic, style)
      } catch (error) {
        if (!(error instanceof Skipped)) throw error
        return {key: `Error at offset ${offset}, skipping. ${error.message}`}
      }
    },
    decode: record => decodeRecord(record, topic),
  }
}

/** Kafka's tool ends here with an exception of this text; kx says it and goes on. */
function missingKey(name: DecoderName, offset: bigint, style: KafkaStyle): string {
  const decoder = (style === '4.0' && decodersOf40[name]) || 'the specified'
  return `Failed to decode message at offset ${offset} using ${decoder} decoder (message had a missing key)`
}

const decodersOf40: Readonly<Partial<Record<DecoderName, string>>> = {
  offsets: 'offset topic',
  'share-group-state': 'share group state topic',
}

type Keyed = RecordParts & {readonly key: Buffer}

function kafkaText({offset, key, value}: Keyed, topic: CoordinatorTopic, style: KafkaStyle): KafkaText {
  const type = prefixOf(key, 'key')
  const line = schemaLineOf(style)
  const schemas = schemasOf(topic, type).find(each => each.line === line)
  if (!schemas) return {key: `Unknown record type ${type} at offset ${offset}, skipping.`}
  const keyData = readKey(schemas.key, type, key, style)
  const keyText = `{"type":"${type}","data":${jsonOf(schemas.key, 0, keyData)}}`
  if (value === null) return {key: keyText, payload: '<DELETE>'}
  const version = prefixOf(value, 'value')
  if (!includes(schemas.value.validVersions, version))
    throw new Skipped(`Found an unknown record version ${version} for ${type} type`)
  const data = printed(schemas.value, readValue(schemas.value, version, value, style), style)
  const label = topic === '__share_group_state' && style === '4.0' ? 'type' : 'version'
  return {key: keyText, payload: `{"${label}":"${version}","data":${jsonOf(schemas.value, version, data)}}`}
}

/** With what Kafka's tool puts in place of some fields. */
function printed({name}: MessageSchema, data: Fields, style: KafkaStyle): Fields {
  if (name === 'GroupMetadataValue') return embeddedLikeKafka(data)
  if (name !== 'TransactionLogValue' || style !== '4.4') return data
  const status = data.transactionStatus as number
  return {...data, transactionStatus: new Verbatim(`"${transactionStatus(status) ?? status}"`)}
}

interface Schemas {
  readonly key: MessageSchema
  readonly value: MessageSchema
  /** Whose schemas they are; `undefined`: the newest. */
  readonly line: OlderLine | undefined
}

const known = new Map<CoordinatorTopic, Map<number, readonly Schemas[]>>()

/** What the newest line and older ones take a record type for, newest first. Looked up once a type: records are many. */
function schemasOf(topic: CoordinatorTopic, type: number): readonly Schemas[] {
  const ofTopic = known.get(topic) ?? new Map<number, readonly Schemas[]>()
  const found = ofTopic.get(type)
  if (found) return found
  const schemas = [undefined, ...olderLines].flatMap(line => {
    const pair = coordinatorRecord(topic, type, line)
    return pair ? [{...pair, line}] : []
  })
  known.set(topic, ofTopic.set(type, schemas))
  return schemas
}

function decodeRecord({key, value}: RecordParts, topic: CoordinatorTopic): DecodedRecord {
  const raw = value === null ? {value: null} : {rawValue: value}
  if (key === null) return {...raw, problems: ['the record has no key, so nobody knows its type']}
  if (key.length < prefixBytes)
    return {...raw, rawKey: key, problems: [`a key of ${key.length} bytes, too few for a record type`]}
  const type = key.readInt16BE(0)
  const schemas = schemasOf(topic, type)
  const [newest] = schemas
  if (!newest) return {...raw, rawKey: key, problems: [`record type ${type} is not known`]}
  const typeName = newest.key.name.replace(/Key$/, '')
  const decodedKey = decodeKey(key, newest, {type: typeName, apiKey: type})
  const decodedValue = value === null ? {value: null, problems: []} : decodeValue(value, schemas)
  const named =
    decodedKey.key || !decodedValue.value ? {} : {value: {...decodedValue.value, type: typeName, apiKey: type}}
  return {...decodedKey, ...decodedValue, ...named, problems: [...decodedKey.problems, ...decodedValue.problems]}
}

function decodeKey(bytes: Buffer, {key: schema, line}: Schemas, named: Omit<DecodedKey, 'data'>): DecodedRecord {
  try {
    const {value: data, end} = decodeAs(schema, 0, bytes, prefixBytes)
    return {
      key: {...named, data, ...(line && {schemaOf: line})},
      problems: leftOver(bytes.length - end, 'the key'),
    }
  } catch (error) {
    return {rawKey: bytes, problems: [messageOf(error)]}
  }
}

/** Read by the newest schema; if that fails or leaves bytes over, by that of an older line which fits exactly. */
function decodeValue(bytes: Buffer, schemas: readonly Schemas[]): DecodedRecord {
  if (bytes.length < prefixBytes)
    return {rawValue: bytes, problems: [`a value of ${bytes.length} bytes, too few for a version`]}
  const version = bytes.readInt16BE(0)
  const attempts: DecodedRecord[] = []
  for (const {value: schema, line} of schemas) {
    const attempt = tryValue(bytes, version, schema, line)
    if (attempt.exact) return attempt.record
    attempts.push(attempt.record)
  }
  return attempts[0] as DecodedRecord
}

function tryValue(
  bytes: Buffer,
  version: number,
  schema: MessageSchema,
  line: OlderLine | undefined,
): {readonly exact: boolean; readonly record: DecodedRecord} {
  try {
    const {value: read, end} = decodeAs(schema, version, bytes, prefixBytes)
    const {data, problems} = withEmbedded(read)
    const value: DecodedValue = {version, data, ...(line && {schemaOf: line})}
    const [left, unknown] = [leftOver(bytes.length - end, 'the value'), unknownTags(read)]
    // A newer Kafka may have more tagged fields than the newest schema, but not than an older line's.
    const exact = left.length === 0 && (line === undefined || unknown.length === 0)
    return {exact, record: {value, problems: [...unknown, ...problems, ...left]}}
  } catch (error) {
    return {exact: false, record: {rawValue: bytes, problems: [messageOf(error)]}}
  }
}
