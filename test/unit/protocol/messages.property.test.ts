import {isDeepStrictEqual} from 'node:util'
import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {ProtocolError} from '../../../src/protocol/errors.js'
import {decode, encode, messageNamed} from '../../../src/protocol/messages.js'
import {allSchemas, type FieldSchema, includes, type MessageSchema} from '../../../src/protocol/schema.js'
import {structFields} from '../../../src/protocol/struct.js'
import {anyValueOf, versionsOf} from './arbitrary.js'

// The laws of the codec, for every schema and every version of it:
// 1. What was encoded is decoded to the same value, and all bytes belong to it.
// 2. What was decoded is encoded to the same bytes.
// 3. On any bytes decoding ends, and the only thing it throws is a ProtocolError that says what and where.
// 4. What is decoded from damaged bytes is a value of the schema: encoded and decoded again it is the same.
// 5. What is decoded is bounded by the bytes that are there, whatever lengths they claim; Buffers are views of them.

const schemas = [...allSchemas()].map(({name}) => messageNamed(name))
const all = schemas.flatMap(message => versionsOf(message).map(version => ({message, version, name: message.name})))

function decoded(name: string, version: number, bytes: Buffer): Record<string, unknown> | undefined {
  try {
    return decode<Record<string, unknown>>(name, version, bytes).value
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    expect(error.message).toContain(`${name} v${version}`)
    expect(['truncated', 'malformed']).toContain(error.failure)
    expect(error.position).toBeLessThanOrEqual(bytes.length)
    return undefined
  }
}

/** How many values there are in a value, and whether all Buffers are views of these bytes. */
function census(value: unknown, source: Buffer): number {
  if (Buffer.isBuffer(value)) {
    if (value.length > 0 && value.buffer !== source.buffer) throw new Error('a Buffer was copied')
    return 1
  }
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, item) => sum + census(item, source), 1)
}

function leastSize(fields: readonly FieldSchema[], message: MessageSchema, version: number): number {
  const own = fields.filter(field => includes(field.versions, version) && !includes(field.taggedVersions, version))
  const sizes = own.map(field =>
    message.structs.has(field.type) || field.fields
      ? field.type.startsWith('[]')
        ? 1
        : leastSize(structFields(field, field.type, message), message, version)
      : 1,
  )
  return sizes.reduce((sum, size) => sum + size, includes(message.flexibleVersions, version) ? 1 : 0)
}

function* arraysOf(
  fields: readonly FieldSchema[],
  message: MessageSchema,
  version: number,
): Generator<[FieldSchema, readonly FieldSchema[]]> {
  for (const field of fields.filter(candidate => includes(candidate.versions, version))) {
    const type = field.type.replace('[]', '')
    const inner = field.fields ?? message.structs.get(type)
    if (!inner) continue
    if (field.type.startsWith('[]')) yield [field, inner]
    yield* arraysOf(inner, message, version)
  }
}

describe('the codec, over all schemas and versions', () => {
  it('knows all of them', () => {
    expect(schemas.length).toBeGreaterThan(280)
    expect(all.length).toBeGreaterThan(600)
  })

  it('gives back what was encoded, and the same bytes (laws 1 and 2)', () => {
    for (const {message, version, name} of all) {
      const law = fc.property(anyValueOf(message, version), value => {
        const bytes = encode(name, version, value)
        const {value: again, end} = decode(name, version, bytes)
        if (end !== bytes.length) throw new Error(`${name} v${version}: ${bytes.length - end} bytes left`)
        if (!isDeepStrictEqual(again, value)) expect(again, `${name} v${version}`).toEqual(value)
        if (!encode(name, version, again as Record<string, unknown>).equals(bytes))
          throw new Error(`${name} v${version}: other bytes`)
      })
      fc.assert(law, {numRuns: 12})
    }
  }, 120_000)

  it('refuses every proper prefix (laws 3 and 5)', () => {
    for (const {message, version, name} of all) {
      const law = fc.property(
        anyValueOf(message, version, false),
        fc.double({min: 0, max: 1, noNaN: true}),
        (value, part) => {
          const bytes = encode(name, version, value)
          const cut = bytes.subarray(0, Math.min(bytes.length - 1, Math.floor(bytes.length * part)))
          if (bytes.length === 0) return
          // A message has no length of its own: a prefix that ends where the message could end does not exist.
          expect(decoded(name, version, cut), `${name} v${version}`).toBeUndefined()
        },
      )
      fc.assert(law, {numRuns: 6})
    }
  }, 120_000)

  it('survives damaged bytes (laws 3, 4 and 5)', () => {
    const damage = fc.array(
      fc.tuple(
        fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true}),
        fc.constantFrom(0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x42),
      ),
      {
        minLength: 1,
        maxLength: 6,
      },
    )
    for (const {message, version, name} of all) {
      const law = fc.property(anyValueOf(message, version), damage, (value, changes) => {
        const bytes = Buffer.from(encode(name, version, value))
        for (const [place, byte] of changes) if (bytes.length > 0) bytes[Math.floor(place * bytes.length)] = byte
        const found = decoded(name, version, bytes)
        if (found === undefined) return
        expect(census(found, bytes)).toBeLessThanOrEqual(60 * (bytes.length + 1))
        const again = encode(name, version, found)
        expect(
          isDeepStrictEqual(decode(name, version, again).value, found),
          `${name} v${version} ${bytes.toString('hex')}`,
        ).toBe(true)
      })
      fc.assert(law, {numRuns: 12})
    }
  }, 120_000)

  it('survives bytes that never were a message (laws 3 and 5)', () => {
    const garbage = fc.uint8Array({maxLength: 200}).map(value => Buffer.from(value))
    for (const {version, name} of all) {
      const law = fc.property(garbage, bytes => {
        const found = decoded(name, version, bytes)
        if (found !== undefined) expect(census(found, bytes)).toBeLessThanOrEqual(60 * (bytes.length + 1))
      })
      fc.assert(law, {numRuns: 12})
    }
  }, 120_000)

  it('has no array whose elements take no bytes, so that an array is bounded by the bytes that are left', () => {
    for (const {message, version, name} of all) {
      for (const [field, inner] of arraysOf(message.fields, message, version)) {
        expect(leastSize(inner, message, version), `${name} v${version} ${field.name}`).toBeGreaterThan(0)
      }
    }
  })
})
