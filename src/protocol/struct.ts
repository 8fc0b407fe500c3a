import {isDeepStrictEqual} from 'node:util'
import type {Reader} from './reader.js'
import {type FieldSchema, includes, type MessageSchema} from './schema.js'
import {
  arrayCodec,
  at,
  bytesCodec,
  type Codec,
  fixedTypes,
  type Form,
  nullableStructCodec,
  stringCodec,
  zeroOf,
} from './types.js'
import {InvalidValue, Writer} from './writer.js'

/** A tagged field that the schema does not know: kept, and written again. */
export interface UnknownTaggedField {
  readonly tag: number
  readonly bytes: Buffer
}

/** The key under which a decoded struct has its {@link UnknownTaggedField}s, if there were any. */
export const unknownTaggedFields = 'unknownTaggedFields'

export type Fields = Readonly<Record<string, unknown>>

interface BoundField {
  readonly schema: FieldSchema
  readonly name: string
  readonly codec: Codec
  /** The tag, if the field is tagged in this version. */
  readonly tag: number | undefined
  readonly makeDefault: () => unknown
  /** The bytes of the default: what a tagged field is not written with. */
  readonly defaultBytes: () => Buffer
}

/** Compiles the codec of a message in one version; the version must be a valid one. */
export function messageCodec(message: MessageSchema, version: number): Codec {
  return structCodec(message.fields, {message, version})
}

interface Scope {
  readonly message: MessageSchema
  readonly version: number
}

/**
 * Fields in the schema's order; in flexible versions then the tagged section. A field that this version lacks is left
 * out of what is read; a tagged field that the bytes lack has its default.
 */
function structCodec(fields: readonly FieldSchema[], scope: Scope): Codec {
  const flexible = includes(scope.message.flexibleVersions, scope.version)
  const present = fields.filter(field => includes(field.versions, scope.version)).map(field => bound(field, scope))
  const absent = fields.filter(field => !includes(field.versions, scope.version))
  const names = new Set([...fields.map(field => field.name), unknownTaggedFields])
  const byTag = new Map(present.filter(field => field.tag !== undefined).map(field => [field.tag, field]))
  const otherTags = new Set(
    fields.filter(field => field.tag !== undefined && !byTag.has(field.tag)).map(({tag}) => tag),
  )
  return {
    read(reader) {
      const value: Record<string, unknown> = {}
      for (const field of present) {
        value[field.name] = field.tag === undefined ? field.codec.read(reader) : field.makeDefault()
        if (!reader.failed) continue
        reader.blame(field.name)
        return value
      }
      if (flexible) readTagged(reader, {byTag, otherTags}, value)
      return value
    },
    write(writer, value) {
      if (typeof value !== 'object' || value === null) throw new InvalidValue(`${String(value)} is no struct`)
      const given = value as Fields
      for (const name of Object.keys(given)) if (!names.has(name)) throw new InvalidValue(`there is no field "${name}"`)
      for (const field of absent) refuseLost(field, given[field.name], scope)
      for (const field of present) {
        if (field.tag === undefined)
          at(field.name, () => field.codec.write(writer, given[field.name] ?? missing(field, given)))
      }
      if (flexible) writeTagged(writer, byTag, given)
      else if (given[unknownTaggedFields] !== undefined)
        throw new InvalidValue('tagged fields in a version without them')
    },
  }
}

function missing(field: BoundField, given: Fields): unknown {
  return given[field.name] === null ? null : field.makeDefault()
}

/** What a version cannot carry must not vanish silently, or a setting has no effect and nobody knows (Kafka throws too). */
function refuseLost(field: FieldSchema, value: unknown, {message, version}: Scope): void {
  if (value === undefined || field.ignorable || isDeepStrictEqual(value, defaultOf(field, message, version))) return
  throw new InvalidValue(`version ${version} has no field "${field.name}"`)
}

interface Tags {
  readonly byTag: ReadonlyMap<number | undefined, BoundField>
  /** Of fields that other versions have tagged. */
  readonly otherTags: ReadonlySet<number | undefined>
}

function readTagged(reader: Reader, {byTag, otherTags}: Tags, value: Record<string, unknown>): void {
  const {likeKafka} = reader
  const unknown: UnknownTaggedField[] = []
  const fields = reader.unsignedVarint()
  if (likeKafka?.countsTags !== false) checkCount(reader, fields)
  let last = -1
  for (let count = fields; count > 0 && !reader.failed; count--) {
    const tag = reader.unsignedVarint()
    const size = reader.unsignedVarint()
    if (tag <= last && !likeKafka) reader.fail(`tag ${tag} after tag ${last}`)
    last = tag
    const field = byTag.get(tag)
    if (field) {
      const read = likeKafka ? field.codec.read(reader) : reader.within(size, () => field.codec.read(reader))
      if (reader.failed) reader.blame(field.name)
      else value[field.name] = read
    } else {
      if (likeKafka && otherTags.has(tag))
        reader.fail(
          `tag ${tag} of another version`,
          'malformed',
          `Tag ${tag} is not valid for version ${likeKafka.version}`,
        )
      unknown.push({tag, bytes: reader.raw(size)})
    }
  }
  if (unknown.length > 0) value[unknownTaggedFields] = unknown
}

function checkCount(reader: Reader, fields: number): void {
  if (fields < 0) {
    reader.fail(`${fields} tagged fields`, 'malformed', `Invalid negative number of tagged fields ${fields}`)
  } else if (fields > reader.left) {
    const thrown = `Tried to read ${fields} tagged fields, but there are only ${reader.left} bytes remaining.`
    reader.fail(`${fields} tagged fields, but ${reader.left} bytes are left`, 'truncated', thrown)
  }
}

function writeTagged(writer: Writer, byTag: ReadonlyMap<number | undefined, BoundField>, given: Fields): void {
  const written: UnknownTaggedField[] = [
    ...((given[unknownTaggedFields] as readonly UnknownTaggedField[] | undefined) ?? []),
  ]
  for (const {tag} of written) if (byTag.has(tag)) throw new InvalidValue(`tag ${tag} is a known field`)
  for (const [tag, field] of byTag) {
    const value = given[field.name]
    if (value === undefined) continue
    const bytes = bytesOf(field, value)
    if (!bytes.equals(field.defaultBytes())) written.push({tag: tag as number, bytes})
  }
  written.sort((a, b) => a.tag - b.tag)
  writer.unsignedVarint(written.length)
  for (const {tag, bytes} of written) {
    writer.unsignedVarint(tag)
    writer.unsignedVarint(bytes.length)
    writer.raw(bytes)
  }
}

function bytesOf(field: Pick<BoundField, 'name' | 'codec'>, value: unknown): Buffer {
  const writer = new Writer()
  at(field.name, () => field.codec.write(writer, value))
  return writer.bytes
}

function bound(schema: FieldSchema, scope: Scope): BoundField {
  const tagged = includes(schema.taggedVersions, scope.version)
  const form: Form = {
    flexible: tagged || includes(schema.flexibleVersions ?? scope.message.flexibleVersions, scope.version),
    nullable: includes(schema.nullableVersions, scope.version),
  }
  const codec = codecOf(schema, schema.type, form, scope)
  const makeDefault = () => defaultOf(schema, scope.message, scope.version)
  let defaultBytes: Buffer | undefined
  return {
    schema,
    name: schema.name,
    codec,
    tag: tagged ? schema.tag : undefined,
    makeDefault,
    defaultBytes: () => (defaultBytes ??= bytesOf({name: schema.name, codec}, makeDefault())),
  }
}

function codecOf(schema: FieldSchema, type: string, form: Form, scope: Scope): Codec {
  if (type.startsWith('[]')) return arrayCodec(codecOf(schema, type.slice(2), {...form, nullable: false}, scope), form)
  const fixed = fixedTypes[type]
  if (fixed) return fixed
  if (type === 'string') return stringCodec(form)
  if (type === 'bytes' || type === 'records') return bytesCodec(form)
  const struct = knowingVersions(structCodec(structFields(schema, type, scope.message), scope), schema, type, scope)
  return form.nullable ? nullableStructCodec(struct, includes(schema.taggedVersions, scope.version)) : struct
}

/**
 * Kafka's class of a struct that is declared in place refuses versions beyond the message's, which the message itself
 * and common structs do not (MessageDataGenerator.generateClassReader).
 */
function knowingVersions(struct: Codec, {versions, fields}: FieldSchema, type: string, {message}: Scope): Codec {
  if (!fields || versions.highest <= message.validVersions.highest) return struct
  return {
    ...struct,
    read(reader) {
      const {likeKafka} = reader
      if (likeKafka?.foreign && likeKafka.version > message.validVersions.highest) {
        const thrown = `Can't read version ${likeKafka.version} of ${type}`
        reader.fail(`${type} in version ${likeKafka.version}`, 'malformed', thrown)
      }
      return struct.read(reader)
    },
  }
}

/** The fields of a struct: declared in place, or among the message's common structs. */
export function structFields(schema: FieldSchema, type: string, message: MessageSchema): readonly FieldSchema[] {
  const fields = schema.fields ?? message.structs.get(type)
  if (!fields) throw new Error(`${message.name} has no struct ${type}`)
  return fields
}

/** What a field holds where nothing is said, in a version that has it. A struct's default has the defaults of its fields. */
export function defaultOf(schema: FieldSchema, message: MessageSchema, version: number): unknown {
  const given = schema.default
  if (given === null) return null
  if (schema.type.startsWith('[]')) return []
  if (given !== undefined) return schema.type === 'int64' ? BigInt(given) : given
  const zero = zeroOf[schema.type]
  if (zero) return zero()
  const fields = structFields(schema, schema.type, message).filter(field => includes(field.versions, version))
  return Object.fromEntries(fields.map(field => [field.name, defaultOf(field, message, version)]))
}
