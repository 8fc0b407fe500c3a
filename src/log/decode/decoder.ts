import {coordinatorDecoder} from './coordinator.js'
import {clusterMetadataDecoder} from './metadata.js'
import {remoteLogMetadataDecoder} from './remote-metadata.js'
import type {KafkaStyle} from './style.js'

/** Named as the flags of Kafka's dump tool: `--offsets-decoder`, …; in the order in which the tool prefers them. */
export const decoderNames = [
  'offsets',
  'transaction-log',
  'cluster-metadata',
  'remote-log-metadata',
  'share-group-state',
] as const

export type DecoderName = (typeof decoderNames)[number]

/** Of a record, what a decoder looks at. Not of a control batch. */
export interface RecordParts {
  readonly offset: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
}

/** What stands behind `key: ` and `payload: `; what is `undefined` is left out with its label. */
export interface KafkaText {
  readonly key?: string | undefined
  readonly payload?: string | undefined
}

/** Fields by their names in the schema, first letter lowered; int64 is bigint, uuid Kafka's base64 text, bytes are Buffers. */
export type DecodedFields = Readonly<Record<string, unknown>>

export interface DecodedKey {
  /** The name of the record type, e.g. `OffsetCommit`. */
  readonly type: string
  readonly apiKey: number
  readonly data: DecodedFields
  /** The line of Kafka that has such records, where the newest has none. */
  readonly schemaOf?: string
}

export interface DecodedValue {
  /** Where no decoded key says it: the record type, e.g. `PartitionChangeRecord`. */
  readonly type?: string
  readonly apiKey?: number
  readonly version: number
  readonly data: DecodedFields
  /** The line of Kafka whose schema fitted, where it was not the newest one. */
  readonly schemaOf?: string
}

export interface DecodedRecord {
  readonly key?: DecodedKey
  /** `null`: a tombstone. */
  readonly value?: DecodedValue | null
  /** Unknown types and versions, what is cut, bytes left over, unknown tagged fields. */
  readonly problems: readonly string[]
  /** What could not be decoded, as it is. */
  readonly rawKey?: Buffer
  readonly rawValue?: Buffer
}

/** Decodes the records of one internal topic. Never throws on any bytes. */
export interface RecordDecoder {
  readonly name: DecoderName
  readonly topic: string
  /** What Kafka's dump tool of that line prints; where the tool's run would end, a text with the reason. */
  kafkaText(record: RecordParts, style: KafkaStyle): KafkaText
  /** Everything that is known about the record, with what is odd about it. Buffers are views of the record. */
  decode(record: RecordParts): DecodedRecord
}

const decoders: Readonly<Record<DecoderName, RecordDecoder>> = {
  offsets: coordinatorDecoder('offsets', '__consumer_offsets'),
  'transaction-log': coordinatorDecoder('transaction-log', '__transaction_state'),
  'cluster-metadata': clusterMetadataDecoder,
  'remote-log-metadata': remoteLogMetadataDecoder,
  'share-group-state': coordinatorDecoder('share-group-state', '__share_group_state'),
}

export function decoderNamed(name: DecoderName): RecordDecoder {
  return decoders[name]
}

/** The decoder of an internal topic's records; `undefined` for all other topics. */
export function decoderOfTopic(topic: string): DecoderName | undefined {
  return decoderNames.find(name => decoders[name].topic === topic)
}
