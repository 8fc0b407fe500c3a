import {readFileSync} from 'node:fs'
import {ProtocolError} from './errors.js'

/** Both ends are included; an empty range has `lowest` above `highest`. */
export interface Versions {
  readonly lowest: number
  readonly highest: number
}

/** A field of a message, as Kafka's schema files have it (clients/src/main/resources/common/message/README.md). */
export interface FieldSchema {
  /** First letter lowered, as Kafka's JSON converters print it. */
  readonly name: string
  /** `bool int8 int16 uint16 int32 uint32 int64 float64 string bytes uuid records`, the name of a struct, or `[]` and one of them. */
  readonly type: string
  readonly versions: Versions
  readonly nullableVersions: Versions
  readonly taggedVersions: Versions
  readonly tag: number | undefined
  /** Overrides the message's (only the client id of a request header does). */
  readonly flexibleVersions: Versions | undefined
  /** As in the schema: `undefined` is the type's own default; an int64 is decimal text. */
  readonly default: string | number | boolean | null | undefined
  /** A value may be dropped silently in a version without this field. */
  readonly ignorable: boolean
  /** The struct's fields, where they are declared in place. */
  readonly fields: readonly FieldSchema[] | undefined
}

export type MessageKind =
  | 'request'
  | 'response'
  | 'header'
  | 'data'
  | 'metadata'
  | 'coordinator-key'
  | 'coordinator-value'

export interface MessageSchema {
  readonly name: string
  /** A request's API key, or the type number of a record. Unique only per kind and topic. */
  readonly apiKey: number | undefined
  readonly kind: MessageKind
  /** The internal topic whose records are such messages. */
  readonly topic: string | undefined
  readonly validVersions: Versions
  readonly flexibleVersions: Versions
  /** Brokers do not offer the highest version unless `unstable.api.versions.enable` is set. */
  readonly latestVersionUnstable: boolean
  readonly fields: readonly FieldSchema[]
  /** Fields of the structs that are used in several places. */
  readonly structs: ReadonlyMap<string, readonly FieldSchema[]>
}

interface FieldData {
  readonly name: string
  readonly type: string
  readonly versions: string
  readonly nullableVersions?: string
  readonly taggedVersions?: string
  readonly tag?: number
  readonly flexibleVersions?: string
  readonly default?: string | number | boolean | null
  readonly ignorable?: boolean
  readonly fields?: readonly FieldData[]
}

interface MessageData {
  readonly name: string
  readonly apiKey?: number
  readonly kind: MessageKind
  readonly topic?: string
  readonly validVersions: string
  readonly flexibleVersions: string
  readonly latestVersionUnstable?: boolean
  readonly fields: readonly FieldData[]
  readonly commonStructs?: readonly {readonly name: string; readonly fields: readonly FieldData[]}[]
}

export const noVersions: Versions = {lowest: 0, highest: -1}

export function includes({lowest, highest}: Versions, version: number): boolean {
  return lowest <= version && version <= highest
}

/** `3`, `1-3`, `2+` or `none`. */
export function parseVersions(text: string | undefined): Versions {
  if (text === undefined || text === 'none') return noVersions
  const match = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text)
  if (!match) throw new ProtocolError('malformed', `"${text}" is no range of versions.`)
  const lowest = Number(match[1])
  if (match[2]) return {lowest, highest: 0x7fff}
  return {lowest, highest: match[3] === undefined ? lowest : Number(match[3])}
}

let loaded: {readonly kafkaVersion: string; readonly byName: ReadonlyMap<string, MessageData>} | undefined
const schemas = new Map<string, MessageSchema>()

/** The data file is read at the first question, so that commands that speak no protocol don't pay for it. */
function data(): NonNullable<typeof loaded> {
  if (loaded === undefined) {
    const file = readFileSync(new URL('./messages.data.json', import.meta.url), 'utf8')
    const {kafkaVersion, messages} = JSON.parse(file) as {kafkaVersion: string; messages: MessageData[]}
    loaded = {kafkaVersion, byName: new Map(messages.map(message => [message.name, message]))}
  }
  return loaded
}

/**
 * Lines of Kafka whose records in logs have other schemas, newest first; `unreleased` are types that Kafka had only while
 * a line was being developed, or that no release has yet.
 */
export const olderLines = ['4.2', '4.0', 'unreleased'] as const

export type OlderLine = (typeof olderLines)[number]

interface LineData {
  readonly line: OlderLine
  /** Names of schemas that this line does not have. */
  readonly absent: readonly string[]
  /** Those that differ from the newest, or that only this line has. */
  readonly messages: readonly MessageData[]
}

interface Line {
  readonly absent: ReadonlySet<string>
  readonly schemas: ReadonlyMap<string, MessageSchema>
}

let loadedLines: ReadonlyMap<OlderLine, Line> | undefined

function lineData(line: OlderLine): Line {
  if (loadedLines === undefined) {
    const file = readFileSync(new URL('./messages.older.data.json', import.meta.url), 'utf8')
    loadedLines = new Map(
      (JSON.parse(file) as LineData[]).map(({line: name, absent, messages}) => [
        name,
        {absent: new Set(absent), schemas: new Map(messages.map(message => [message.name, schemaOf(message)]))},
      ]),
    )
  }
  return loadedLines.get(line) ?? {absent: new Set(), schemas: new Map()}
}

/** The schemas that a line has differently, or that only this line has. */
export function schemasOnlyIn(line: OlderLine): Iterable<MessageSchema> {
  return lineData(line).schemas.values()
}

/** The schema of that name in an older line: its own, or the newest if that is the same; `undefined` if it has none. */
export function findSchemaIn(line: OlderLine, name: string): MessageSchema | undefined {
  const {absent, schemas: own} = lineData(line)
  return own.get(name) ?? (absent.has(name) || line === 'unreleased' ? undefined : findSchema(name))
}

/** Of which Kafka release the schemas are. */
export function schemasOf(): string {
  return data().kafkaVersion
}

/** The schema of that exact name, e.g. `ProduceRequest`, `OffsetCommitKey`, `TopicRecord`; `undefined` if there is none. */
export function findSchema(name: string): MessageSchema | undefined {
  const known = schemas.get(name)
  if (known) return known
  const found = data().byName.get(name)
  if (!found) return undefined
  const schema = schemaOf(found)
  schemas.set(name, schema)
  return schema
}

/** Names, kinds, keys and topics of all schemas, in the order of their names. */
export function allSchemas(): Iterable<
  Pick<MessageSchema, 'name' | 'kind'> & {readonly apiKey?: number; readonly topic?: string}
> {
  return data().byName.values()
}

function schemaOf(message: MessageData): MessageSchema {
  return {
    name: message.name,
    apiKey: message.apiKey,
    kind: message.kind,
    topic: message.topic,
    validVersions: parseVersions(message.validVersions),
    flexibleVersions: parseVersions(message.flexibleVersions),
    latestVersionUnstable: message.latestVersionUnstable ?? false,
    fields: message.fields.map(fieldOf),
    structs: new Map((message.commonStructs ?? []).map(struct => [struct.name, struct.fields.map(fieldOf)])),
  }
}

function fieldOf(field: FieldData): FieldSchema {
  return {
    name: field.name,
    type: field.type,
    versions: parseVersions(field.versions),
    nullableVersions: parseVersions(field.nullableVersions),
    taggedVersions: parseVersions(field.taggedVersions),
    tag: field.tag,
    flexibleVersions: field.flexibleVersions === undefined ? undefined : parseVersions(field.flexibleVersions),
    default: field.default,
    ignorable: field.ignorable ?? false,
    fields: field.fields?.map(fieldOf),
  }
}
