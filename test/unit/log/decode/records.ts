import fc from 'fast-check'
import type {DecoderName} from '../../../../src/log/decode/decoder.js'
import {
  coordinatorRecord,
  encodeAs,
  messageNamed,
  metadataRecord,
  remoteLogMetadataRecord,
} from '../../../../src/protocol/messages.js'
import {
  allSchemas,
  type MessageSchema,
  type OlderLine,
  olderLines,
  schemasOnlyIn,
} from '../../../../src/protocol/schema.js'
import {anyValueOf, versionsOf} from '../../protocol/arbitrary.js'

/** A record type of an internal topic in one version of its value, of the newest schemas or of an older line's. */
export interface RecordType {
  readonly title: string
  readonly decoder: DecoderName
  readonly type: number
  readonly version: number
  /** `undefined`: such records have no keys. */
  readonly key: MessageSchema | undefined
  readonly value: MessageSchema
  readonly line: OlderLine | undefined
}

export interface MadeRecord {
  readonly keyData: Record<string, unknown> | undefined
  readonly valueData: Record<string, unknown>
  readonly key: Buffer | null
  readonly value: Buffer
}

const coordinators = {
  offsets: '__consumer_offsets',
  'transaction-log': '__transaction_state',
  'share-group-state': '__share_group_state',
} as const
const framed = {
  'cluster-metadata': {topic: '__cluster_metadata', find: metadataRecord},
  'remote-log-metadata': {topic: '__remote_log_metadata', find: remoteLogMetadataRecord},
} as const

function ofLine(line: OlderLine | undefined): RecordType[] {
  const schemas = line === undefined ? [...allSchemas()].map(({name}) => messageNamed(name)) : [...schemasOnlyIn(line)]
  const types: Omit<RecordType, 'title' | 'version'>[] = []
  for (const value of schemas) {
    const type = value.apiKey as number
    for (const [decoder, topic] of Object.entries(coordinators)) {
      if (value.topic !== topic || value.kind !== 'coordinator-value') continue
      const key = coordinatorRecord(topic, type, line)?.key
      if (key) types.push({decoder: decoder as DecoderName, type, key, value, line})
    }
    for (const [decoder, {topic}] of Object.entries(framed)) {
      if (value.topic === topic) types.push({decoder: decoder as DecoderName, type, key: undefined, value, line})
    }
  }
  return types.flatMap(type =>
    versionsOf(type.value).map(version => ({
      ...type,
      version,
      title: `${type.value.name} v${version}${line === undefined ? '' : ` of ${line}`}`,
    })),
  )
}

export const newestTypes: readonly RecordType[] = ofLine(undefined)
export const olderTypes: readonly RecordType[] = olderLines.flatMap(ofLine)

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

/** The value with its version in front, or in a frame of a record type without keys. */
export function valueBytes({key, type, version}: RecordType, message: Buffer): Buffer {
  return Buffer.concat([key ? int16(version) : Buffer.of(1, type, version), message])
}

/** Any record of that type. Bytes that may hold a message themselves are left to tests of their own. */
export function recordsOf(type: RecordType, unknownTags = false): fc.Arbitrary<MadeRecord> {
  const {key, value, version} = type
  return fc
    .record({
      keyData: key ? anyValueOf(key, 0) : fc.constant(undefined),
      valueData: anyValueOf(value, version, unknownTags).map(withoutMessages),
    })
    .map(({keyData, valueData}) => ({
      keyData,
      valueData,
      key: key && keyData ? Buffer.concat([int16(type.type), encodeAs(key, 0, keyData)]) : null,
      value: valueBytes(type, encodeAs(value, version, valueData)),
    }))
}

function withoutMessages(value: Record<string, unknown>): Record<string, unknown> {
  const {protocolType, classicMemberMetadata: classic} = value
  if (protocolType === 'consumer') return {...value, protocolType: 'connect'}
  return classic ? {...value, classicMemberMetadata: {...classic, supportedProtocols: []}} : value
}
