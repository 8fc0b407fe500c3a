import {crc32} from 'node:zlib'
import {at, flag} from './batch-cursor.js'
import {codecName, prepareCodec, uncompressed} from './codecs.js'
import {crc32c} from './crc32c.js'

/** One field of a batch, with its bytes. */
export interface ExplainedField {
  /** `file`: `position` is in the file; `plain`: in the batch's records once they are uncompressed. */
  readonly space: 'file' | 'plain'
  readonly position: number
  readonly bytes: Buffer
  readonly name: string
  /** What the bytes say; empty for those that are shown themselves. */
  readonly value: string
  /** How deep the field lies: 0 of the batch, 1 of a record, 2 of a header. */
  readonly depth: 0 | 1 | 2
}

export interface Explanation {
  readonly fields: readonly ExplainedField[]
  /** Why it ends before the end of the batch. */
  readonly problem?: string
}

/** Records of one batch that are explained; the rest is only counted. */
const recordsAtMost = 100
const maxPlainBytes = 67_108_864

/**
 * A batch of any magic byte by byte. `bytes` begin with it; where they are no batch, as far as its header goes.
 * Never throws on any bytes.
 */
export async function explainBatch(bytes: Buffer, position: number): Promise<Explanation> {
  const fields: ExplainedField[] = []
  const walk = new Fields(bytes, position, 'file', fields)
  try {
    const length = beginning(walk, bytes)
    const end = Math.min(bytes.length, 12 + Math.max(0, length))
    const magic = bytes.length > at.magic ? bytes.readInt8(at.magic) : undefined
    if (magic === 0 || magic === 1) legacy(walk, magic, end)
    else if (magic === 2) await current(walk, end)
    else if (magic !== undefined) {
      walk.take(1, 'magic', `${magic}: not known, so that nothing more is interpreted`, 0)
    }
    return {fields}
  } catch (error) {
    if (error instanceof Cut) return {fields, problem: error.message}
    throw error
  }
}

function beginning(walk: Fields, bytes: Buffer): number {
  walk.int64('baseOffset', value => `${value}${value < 0n ? ': negative' : ''}`)
  const length = walk.int32('batchLength', value => `${value}: the batch has ${12 + value} bytes`)
  if (length < 14) throw new Cut(`a batch can't have the length ${length}`)
  if (12 + length > bytes.length) walk.note = `the batch passes the end: ${bytes.length} bytes are there`
  return length
}

async function current(walk: Fields, end: number): Promise<void> {
  walk.int32('partitionLeaderEpoch', value => `${value}${value === -1 ? ': not known' : ''}`)
  walk.int8('magic', String)
  const whole = walk.bytes.subarray(at.attributes, end)
  const computed = crc32c(whole)
  walk.uint32('crc', stored =>
    stored === computed
      ? `${stored}: right (CRC-32C from attributes to the end)`
      : `${stored}: WRONG, that of the bytes from attributes to the end is ${computed}`,
  )
  const attributes = walk.int16('attributes', attributesText)
  walk.int32('lastOffsetDelta', value => `${value}: the last offset is ${walk.bytes.readBigInt64BE(0) + BigInt(value)}`)
  const hasHorizon = (attributes & flag.deleteHorizon) !== 0
  walk.int64('baseTimestamp', value => `${time(value)}${hasHorizon ? ': the delete horizon' : ''}`)
  walk.int64('maxTimestamp', time)
  walk.int64('producerId', value => `${value}${value === -1n ? ': none' : ''}`)
  walk.int16('producerEpoch', value => `${value}${value === -1 ? ': none' : ''}`)
  walk.int32('baseSequence', value => `${value}${value === -1 ? ': none' : ''}`)
  const count = walk.int32('recordsCount', String)
  const codec = codecName(attributes)
  const stored = walk.bytes.subarray(at.records, end)
  if (codec === 'none') return records(walk, walk.bytes.subarray(0, end), count)
  await prepareCodec(codec)
  const plain = uncompressed(codec, stored, {atMost: maxPlainBytes})
  const told = plain.unreadable ?? `${plain.bytes.length} bytes once they are uncompressed`
  walk.take(stored.length, 'records', `${codec}, ${stored.length} bytes: ${told}`, 0)
  try {
    records(new Fields(plain.bytes, 0, 'plain', walk.fields), plain.bytes, count)
  } catch (error) {
    throw plain.unreadable !== undefined && error instanceof Cut ? new Cut(plain.unreadable) : error
  }
  if (plain.unreadable !== undefined) throw new Cut(plain.unreadable)
}

function attributesText(value: number): string {
  const words = [
    `codec ${codecName(value)}`,
    (value & flag.logAppendTime) !== 0 ? 'LogAppendTime' : 'CreateTime',
    ...((value & flag.transactional) !== 0 ? ['transactional'] : []),
    ...((value & flag.control) !== 0 ? ['control'] : []),
    ...((value & flag.deleteHorizon) !== 0 ? ['delete horizon'] : []),
    ...((value & 0xff80) !== 0 ? ['bits that mean nothing'] : []),
  ]
  return `0x${(value & 0xffff).toString(16).padStart(4, '0')}: ${words.join(', ')}`
}

function records(walk: Fields, bytes: Buffer, count: number): void {
  walk.end = bytes.length
  for (let n = 0; n < Math.min(count, recordsAtMost); n++) record(walk, n)
  const left = walk.end - walk.at
  if (count > recordsAtMost) walk.take(left, 'records', `${count - recordsAtMost} more records`, 1)
  else if (left > 0) walk.take(left, 'leftover', 'bytes behind the last record', 0)
}

function record(walk: Fields, n: number): void {
  const length = walk.varint(`record ${n + 1}: length`, value => `${value} bytes follow`)
  if (length < 0 || length > walk.end - walk.at) throw new Cut(`record ${n + 1} has the length ${length}`)
  const end = walk.at + length
  walk.int8('attributes', String, 1)
  walk.varlong('timestampDelta', String)
  walk.varint('offsetDelta', String)
  bytesField(walk, 'key', 1)
  bytesField(walk, 'value', 1)
  const headers = walk.varint('headers', value => String(value))
  for (let header = 0; header < headers; header++) {
    bytesField(walk, 'header key', 2)
    bytesField(walk, 'header value', 2)
  }
  if (walk.at !== end) throw new Cut(`record ${n + 1} has ${length} bytes, and its fields ${length + walk.at - end}`)
}

function bytesField(walk: Fields, name: string, depth: 1 | 2): void {
  const length = walk.varint(`${name} length`, value => `${value}${value === -1 ? ': null' : ''}`, depth)
  if (length > 0) walk.take(length, name, '', depth)
}

function legacy(walk: Fields, magic: 0 | 1, end: number): void {
  walk.end = end
  const computed = crc32(walk.bytes.subarray(16, end))
  walk.uint32('crc', stored =>
    stored === computed
      ? `${stored}: right (CRC-32 from magic to the end)`
      : `${stored}: WRONG, that of the bytes from magic to the end is ${computed}`,
  )
  walk.int8('magic', String)
  const attributes = walk.int8('attributes', value => `0x${(value & 0xff).toString(16)}: codec ${codecName(value)}`)
  if (magic === 1) walk.int64('timestamp', time)
  for (const name of ['key', 'value']) {
    const length = walk.int32(`${name} length`, value => `${value}${value === -1 ? ': null' : ''}`)
    const what = name === 'value' && (attributes & 7) !== 0 ? `messages in ${codecName(attributes)}` : ''
    if (length > 0) walk.take(length, name, what, 1)
  }
  if (walk.at < end) walk.take(end - walk.at, 'leftover', 'bytes behind the value', 0)
}

function time(ms: bigint): string {
  const number = Number(ms)
  if (ms < 0n || number > 8.64e15) return `${ms}${ms === -1n ? ': none' : ''}`
  return `${ms}: ${new Date(number).toISOString()}`
}

/** The bytes end, or contradict themselves. */
class Cut extends Error {}

/** Walks over bytes and notes each field. */
class Fields {
  at = 0
  end: number
  /** Told where the bytes end. */
  note: string | undefined

  constructor(
    readonly bytes: Buffer,
    readonly position: number,
    readonly space: ExplainedField['space'],
    readonly fields: ExplainedField[],
  ) {
    this.end = bytes.length
  }

  take(length: number, name: string, value: string, depth: 0 | 1 | 2): Buffer {
    if (length > this.end - this.at) {
      throw new Cut(this.note ?? `${name} needs ${length} bytes, and ${this.end - this.at} are left`)
    }
    const bytes = this.bytes.subarray(this.at, this.at + length)
    this.fields.push({space: this.space, position: this.position + this.at, bytes, name, value, depth})
    this.at += length
    return bytes
  }

  int8(name: string, told: (value: number) => string, depth: 0 | 1 = 0): number {
    return this.#fixed(1, name, at => this.bytes.readInt8(at), told, depth)
  }

  int16(name: string, told: (value: number) => string): number {
    return this.#fixed(2, name, at => this.bytes.readInt16BE(at), told, 0)
  }

  int32(name: string, told: (value: number) => string): number {
    return this.#fixed(4, name, at => this.bytes.readInt32BE(at), told, 0)
  }

  uint32(name: string, told: (value: number) => string): number {
    return this.#fixed(4, name, at => this.bytes.readUInt32BE(at), told, 0)
  }

  int64(name: string, told: (value: bigint) => string): bigint {
    return this.#fixed(8, name, at => this.bytes.readBigInt64BE(at), told, 0)
  }

  varint(name: string, told: (value: number) => string, depth: 1 | 2 = 1): number {
    return Number(this.#variable(name, 5, value => told(Number(value)), depth))
  }

  varlong(name: string, told: (value: bigint) => string): bigint {
    return this.#variable(name, 10, told, 1)
  }

  #fixed<Value>(
    length: number,
    name: string,
    read: (at: number) => Value,
    told: (value: Value) => string,
    depth: 0 | 1,
  ): Value {
    const value = length <= this.end - this.at ? read(this.at) : undefined
    this.take(length, name, value === undefined ? '' : told(value), depth)
    return value as Value
  }

  /** Zigzag, seven bits a byte, the least ones first. */
  #variable(name: string, most: number, told: (value: bigint) => string, depth: 1 | 2): bigint {
    let unsigned = 0n
    for (let n = 0; n < most; n++) {
      const byte = this.at + n < this.end ? (this.bytes[this.at + n] as number) : undefined
      if (byte === undefined) throw new Cut(this.note ?? `${name} passes the end`)
      unsigned |= BigInt(byte & 0x7f) << BigInt(7 * n)
      if (byte >= 0x80) continue
      const value = (unsigned >> 1n) ^ -(unsigned & 1n)
      this.take(n + 1, name, told(BigInt.asIntN(most === 5 ? 32 : 64, value)), depth)
      return BigInt.asIntN(most === 5 ? 32 : 64, value)
    }
    throw new Cut(`${name} has more than ${most} bytes`)
  }
}
