import type {Reader} from './reader.js'
import {InvalidValue, Writer} from './writer.js'

/** Reads and writes the values of one type in one version. */
export interface Codec {
  /** Never throws: what is impossible makes the reader bad. */
  read(reader: Reader): unknown
  /** @throws InvalidValue */
  write(writer: Writer, value: unknown): void
}

/** The value that a field has where nothing is said; never shared, because a caller may keep it. */
export const zeroOf: Readonly<Record<string, () => unknown>> = {
  bool: () => false,
  int8: () => 0,
  int16: () => 0,
  uint16: () => 0,
  int32: () => 0,
  uint32: () => 0,
  int64: () => 0n,
  float64: () => 0,
  string: () => '',
  bytes: () => Buffer.alloc(0),
  records: () => Buffer.alloc(0),
  uuid: () => 'A'.repeat(22),
}

/** Types of a fixed size: the same bytes in all versions. */
export const fixedTypes: Readonly<Record<string, Codec>> = {
  bool: {
    read: reader => reader.bool(),
    write(writer, value) {
      if (typeof value !== 'boolean') throw new InvalidValue(`${told(value)} is no bool`)
      writer.bool(value)
    },
  },
  int8: integer('int8', -0x80, 0x7f),
  int16: integer('int16', -0x8000, 0x7fff),
  uint16: integer('uint16', 0, 0xffff),
  int32: integer('int32', -0x8000_0000, 0x7fff_ffff),
  uint32: integer('uint32', 0, 0xffff_ffff),
  int64: {
    read: reader => reader.int64(),
    write(writer, value) {
      if (typeof value !== 'bigint' || value !== BigInt.asIntN(64, value))
        throw new InvalidValue(`${told(value)} is no int64 (a bigint)`)
      writer.int64(value)
    },
  },
  float64: {
    read: reader => reader.float64(),
    write(writer, value) {
      if (typeof value !== 'number') throw new InvalidValue(`${told(value)} is no float64`)
      writer.float64(value)
    },
  },
  uuid: {
    read: reader => reader.uuid(),
    write(writer, value) {
      if (typeof value !== 'string') throw new InvalidValue(`${told(value)} is no uuid`)
      writer.uuid(value)
    },
  },
}

function integer(type: 'int8' | 'int16' | 'uint16' | 'int32' | 'uint32', least: number, most: number): Codec {
  return {
    read: reader => reader[type](),
    write(writer, value) {
      if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
        throw new InvalidValue(`${told(value)} is no ${type}`)
      }
      writer[type](value)
    },
  }
}

export interface Form {
  /** Compact lengths: an unsigned varint of the length plus one, zero for null. */
  readonly flexible: boolean
  readonly nullable: boolean
}

/** Strings have an int16 length when not flexible. */
export function stringCodec(form: Form): Codec {
  return {
    read(reader) {
      const length = form.flexible ? reader.compactLength() : reader.int16()
      return length < 0 ? noneOr(reader, form, '') : reader.string(length)
    },
    write(writer, value) {
      if (value === null && form.nullable) return form.flexible ? writer.unsignedVarint(0) : writer.int16(-1)
      if (typeof value !== 'string') throw new InvalidValue(`${told(value)} is no string`)
      const text = Writer.text(value)
      if (form.flexible) writer.unsignedVarint(text.length + 1)
      else writer.int16(text.length)
      writer.raw(text)
    },
  }
}

/** `bytes` and `records` (record batches, not looked into): Buffers; what is read is a view of the bytes given. */
export function bytesCodec(form: Form): Codec {
  return {
    read(reader) {
      const length = readCount(reader, form)
      return length < 0 ? noneOr(reader, form, Buffer.alloc(0)) : reader.raw(length)
    },
    write(writer, value) {
      if (value === null && form.nullable) return writeCount(writer, -1, form)
      if (!(value instanceof Uint8Array)) throw new InvalidValue(`${told(value)} is no Buffer`)
      writeCount(writer, value.length, form)
      writer.raw(value)
    },
  }
}

export function arrayCodec(element: Codec, form: Form): Codec {
  return {
    read(reader) {
      const count = readCount(reader, form)
      if (count < 0) return noneOr(reader, form, [])
      // Every element takes at least one byte (a test over all schemas), so this also bounds the memory.
      if (count > reader.left) {
        const thrown = `Tried to allocate a collection of size ${count}, but there are only ${reader.left} bytes remaining.`
        reader.fail(`an array of ${count} elements, but ${reader.left} bytes are left`, 'truncated', thrown)
      }
      const values: unknown[] = []
      for (let i = 0; i < count && !reader.failed; i++) {
        values.push(element.read(reader))
        if (reader.failed) reader.blame(i)
      }
      return values
    },
    write(writer, value) {
      if (value === null && form.nullable) return writeCount(writer, -1, form)
      if (!Array.isArray(value)) throw new InvalidValue(`${told(value)} is no array`)
      writeCount(writer, value.length, form)
      for (const [i, item] of value.entries()) at(i, () => element.write(writer, item))
    },
  }
}

/**
 * A struct that may be null has a byte before it: below zero for null (Kafka writes -1 and 1). As a tagged field it has
 * an unsigned varint there, zero for null (MessageDataGenerator).
 */
export function nullableStructCodec(struct: Codec, tagged: boolean): Codec {
  return {
    read(reader) {
      const isNull = tagged ? reader.unsignedVarint() <= 0 : reader.int8() < 0
      return isNull ? null : struct.read(reader)
    },
    write(writer, value) {
      const isNull = value === null
      if (tagged) writer.unsignedVarint(isNull ? 0 : 1)
      else writer.int8(isNull ? -1 : 1)
      if (!isNull) struct.write(writer, value)
    },
  }
}

/** Runs a write and adds its place to an error's path. */
export function at(place: string | number, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (error instanceof InvalidValue) error.path.unshift(place)
    throw error
  }
}

function readCount(reader: Reader, {flexible}: Form): number {
  return flexible ? reader.compactLength() : reader.int32()
}

function writeCount(writer: Writer, count: number, {flexible}: Form): void {
  if (flexible) writer.unsignedVarint(count + 1)
  else writer.int32(count)
}

function noneOr<T>(reader: Reader, {nullable}: Form, zero: T): T | null {
  if (nullable && !reader.failed) return null
  reader.fail(
    'null, which this version does not allow',
    'malformed',
    'non-nullable field {field} was serialized as null',
  )
  return zero
}

function told(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'an array' : 'an object') : String(value)
}
