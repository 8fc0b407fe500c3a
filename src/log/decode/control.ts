import {ProtocolError} from '../../protocol/errors.js'
import {type Decoded, decodeAs, decodeLikeKafka, messageNamed} from '../../protocol/messages.js'
import {includes, type MessageSchema} from '../../protocol/schema.js'
import type {Fields} from '../../protocol/struct.js'
import {messageOf} from '../../util/errors.js'
import {jsonOf} from './json.js'
import {leftOver, unknownTags} from './leftovers.js'
import type {KafkaStyle} from './style.js'

/** A record of a control batch. */
export interface ControlRecord {
  /** As in the key; `undefined` if the key can't be read. */
  readonly type: number | undefined
  /** `ABORT`, `COMMIT`, `LEADER_CHANGE`, `SNAPSHOT_HEADER`, `SNAPSHOT_FOOTER`, `KRAFT_VERSION`, `KRAFT_VOTERS`, `UNKNOWN`. */
  readonly name: string
  /** As the value says. */
  readonly version?: number
  /** `{coordinatorEpoch}` of ABORT and COMMIT, else the fields of KRaft's message; absent if it can't be read. */
  readonly data?: Fields
  readonly problems: readonly string[]
}

interface ControlType {
  readonly name: string
  /** KRaft's message, and the text before its JSON in the output of Kafka's tool. */
  readonly message?: string
  readonly label?: string
}

/** By type number (org.apache.kafka.common.record.internal.ControlRecordType). */
const types: readonly ControlType[] = [
  {name: 'ABORT'},
  {name: 'COMMIT'},
  {name: 'LEADER_CHANGE', message: 'LeaderChangeMessage', label: 'LeaderChange:'},
  {name: 'SNAPSHOT_HEADER', message: 'SnapshotHeaderRecord', label: 'SnapshotHeader'},
  {name: 'SNAPSHOT_FOOTER', message: 'SnapshotFooterRecord', label: 'SnapshotFooter'},
  {name: 'KRAFT_VERSION', message: 'KRaftVersionRecord', label: 'KRaftVersion'},
  {name: 'KRAFT_VOTERS', message: 'VotersRecord', label: 'KRaftVoters'},
]

const keyBytes = 4
const markerBytes = 6
/** KRaft writes and reads its messages in version 0, whatever their field `version` says (ControlRecordUtils). */
const kraftVersion = 0

/** Version and type of a control record's key, or why they can't be read. */
function readKey(key: Buffer | null): {readonly type: number; readonly version: number} | string {
  if (key === null) return 'a control record without a key'
  if (key.length < keyBytes) return `a control record's key of ${key.length} bytes, ${keyBytes} are needed`
  const version = key.readInt16BE(0)
  return version < 0 ? `version ${version} of a control record's key` : {type: key.readInt16BE(2), version}
}

/** Version and coordinator epoch of a transaction's marker, or why they can't be read. */
function readMarker(value: Buffer | null): {readonly coordinatorEpoch: number; readonly version: number} | string {
  if (value === null) return 'a transaction marker without a value'
  if (value.length < markerBytes)
    return `a transaction marker's value of ${value.length} bytes, ${markerBytes} are needed`
  const version = value.readInt16BE(0)
  return version < 0 ? `version ${version} of a transaction marker` : {coordinatorEpoch: value.readInt32BE(2), version}
}

/**
 * What Kafka's tool appends to the line of a control record, beginning with a blank. Where its run would end with an
 * exception, the reason stands there.
 */
export function controlText(key: Buffer | null, value: Buffer | null, style: KafkaStyle): string {
  const read = readKey(key)
  if (typeof read === 'string') return ` controlType: UNKNOWN (${read})`
  const {name, message, label} = types[read.type] ?? {name: 'UNKNOWN'}
  if (name === 'ABORT' || name === 'COMMIT') {
    const marker = readMarker(value)
    if (typeof marker === 'string') return ` endTxnMarker: ${name} (${marker})`
    return ` endTxnMarker: ${name} coordinatorEpoch: ${marker.coordinatorEpoch}`
  }
  if (message === undefined || (name === 'LEADER_CHANGE' && style === '4.0'))
    return ` controlType: ${name}(${read.type})`
  const schema = messageNamed(message)
  try {
    const {value: data} = decodeLikeKafka<Fields & {version: number}>(schema, kraftVersion, value ?? Buffer.alloc(0))
    return ` ${label} ${jsonOf(schema, data.version, data)}`
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return ` controlType: ${name}(${read.type}) (${value === null ? 'no value' : error.message})`
  }
}

/** Everything that is known about a control record. Never throws. */
export function controlRecord(key: Buffer | null, value: Buffer | null): ControlRecord {
  const read = readKey(key)
  if (typeof read === 'string') return {type: undefined, name: 'UNKNOWN', problems: [read]}
  const known = types[read.type] ?? {name: 'UNKNOWN'}
  const keyProblems = [
    ...(read.version > 0 ? [`version ${read.version} of a control record's key, read as version 0`] : []),
    ...leftOver((key as Buffer).length - keyBytes, 'the key'),
  ]
  const named = {type: read.type, name: known.name}
  if (known.name === 'UNKNOWN') return {...named, problems: [...keyProblems, `control type ${read.type} is not known`]}
  const {problems, ...rest} =
    known.message === undefined ? markerOf(value) : kraftOf(messageNamed(known.message), value)
  return {...named, ...rest, problems: [...keyProblems, ...problems]}
}

type Value = Omit<ControlRecord, 'type' | 'name'>

function markerOf(value: Buffer | null): Value {
  const marker = readMarker(value)
  if (typeof marker === 'string') return {problems: [marker]}
  const {version, coordinatorEpoch} = marker
  const later = version > 0 ? [`version ${version} of a transaction marker, read as version 0`] : []
  const left = leftOver((value as Buffer).length - markerBytes, 'the transaction marker')
  return {version, data: {coordinatorEpoch}, problems: [...later, ...left]}
}

function kraftOf(schema: MessageSchema, value: Buffer | null): Value {
  if (value === null) return {problems: [`a ${schema.name} without a value`]}
  try {
    const {value: data, end} = readKraft(schema, value)
    const version = data.version as number
    const unknown = includes(schema.validVersions, version) ? [] : [`${schema.name} has no version ${version}`]
    return {version, data, problems: [...unknown, ...unknownTags(data), ...leftOver(value.length - end, schema.name)]}
  } catch (error) {
    return {problems: [messageOf(error)]}
  }
}

/** As KRaft reads it; if that does not fit exactly, as the version that the message names. */
function readKraft(schema: MessageSchema, value: Buffer): Decoded<Fields> {
  const named = value.length < 2 ? kraftVersion : value.readInt16BE(0)
  if (named !== kraftVersion && includes(schema.validVersions, named)) {
    const exact = [kraftVersion, named].map(version => attempt(schema, version, value))
    const fits = exact.find(read => read?.end === value.length)
    if (fits) return fits
  }
  return decodeAs(schema, kraftVersion, value)
}

function attempt(schema: MessageSchema, version: number, value: Buffer): Decoded<Fields> | undefined {
  try {
    return decodeAs(schema, version, value)
  } catch {
    return undefined
  }
}
