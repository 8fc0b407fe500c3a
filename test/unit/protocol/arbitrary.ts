import fc from 'fast-check'
import {type FieldSchema, includes, type MessageSchema} from '../../../src/protocol/schema.js'
import {structFields, unknownTaggedFields} from '../../../src/protocol/struct.js'

const bytes = (maxLength: number) => fc.uint8Array({maxLength}).map(value => Buffer.from(value))
const short = {maxLength: 3}

const primitives: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  bool: fc.boolean(),
  int8: fc.integer({min: -0x80, max: 0x7f}),
  int16: fc.integer({min: -0x8000, max: 0x7fff}),
  uint16: fc.integer({min: 0, max: 0xffff}),
  int32: fc.integer(),
  uint32: fc.integer({min: 0, max: 0xffff_ffff}),
  int64: fc.bigInt({min: -(2n ** 63n), max: 2n ** 63n - 1n}),
  float64: fc.double(),
  string: fc.string({unit: 'binary', maxLength: 12}),
  bytes: bytes(12),
  records: bytes(40),
  uuid: fc.uint8Array({minLength: 16, maxLength: 16}).map(value => Buffer.from(value).toString('base64url')),
}

/** Any value of a message in one of its valid versions, with exactly the fields that decoding gives. */
export function anyValueOf(
  message: MessageSchema,
  version: number,
  unknownTags = true,
): fc.Arbitrary<Record<string, unknown>> {
  return struct(message.fields, message, version, unknownTags)
}

function struct(
  fields: readonly FieldSchema[],
  message: MessageSchema,
  version: number,
  unknownTags: boolean,
): fc.Arbitrary<Record<string, unknown>> {
  const present = fields.filter(field => includes(field.versions, version))
  const known = fc.record(
    Object.fromEntries(present.map(field => [field.name, value(field, message, version, unknownTags)])),
  )
  if (!unknownTags || !includes(message.flexibleVersions, version)) return known
  const tags = fc.uniqueArray(fc.record({tag: fc.integer({min: 100, max: 0x7fff_fffe}), bytes: bytes(5)}), {
    ...short,
    selector: field => field.tag,
  })
  return fc
    .tuple(known, fc.option(tags, {freq: 6, nil: []}))
    .map(([fieldValues, unknown]) =>
      unknown.length === 0
        ? fieldValues
        : {...fieldValues, [unknownTaggedFields]: unknown.sort((a, b) => a.tag - b.tag)},
    )
}

function value(
  field: FieldSchema,
  message: MessageSchema,
  version: number,
  unknownTags: boolean,
): fc.Arbitrary<unknown> {
  const type = field.type.replace('[]', '')
  const one = primitives[type] ?? struct(structFields(field, type, message), message, version, unknownTags)
  const all = field.type.startsWith('[]') ? fc.array(one, short) : one
  return includes(field.nullableVersions, version) ? fc.option(all, {freq: 3}) : all
}

/** Every valid version of every schema. */
export function versionsOf({validVersions: {lowest, highest}}: MessageSchema): number[] {
  return Array.from({length: highest - lowest + 1}, (_, index) => lowest + index)
}
