import {at, flag, type TimestampType} from './batch-cursor.js'
import {type CodecName, codecNames, compress} from './codecs.js'
import {crc32c} from './crc32c.js'
import type {RecordHeader} from './record-cursor.js'

export interface WritableRecord {
  /** Default: one more than the record before. */
  readonly offset?: bigint
  readonly timestamp: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: readonly RecordHeader[]
}

/** Everything but the records has the value that a plain producer sends. */
export interface WritableBatch {
  readonly records: readonly WritableRecord[]
  /** Default: the first record's offset, or 0. */
  readonly baseOffset?: bigint
  /** Default −1: the broker fills it in. */
  readonly leaderEpoch?: number
  readonly producerId?: bigint
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly isTransactional?: boolean
  readonly isControl?: boolean
  readonly timestampType?: TimestampType
  /** Stored in place of the base timestamp; record timestamps are relative to it. */
  readonly deleteHorizonMs?: bigint | null
  /** Default: the first record's timestamp. */
  readonly baseTimestamp?: bigint
  /** Default: the greatest of the records'. With LogAppendTime: the append time. */
  readonly maxTimestamp?: bigint
  /** Default: the last record's. Greater after compaction. */
  readonly lastOffsetDelta?: number
  /** Default `none`. `snappy` is xerial's stream, `snappy-raw` one block. For zstd, `prepareCompression` comes first. */
  readonly codec?: CodecName | 'snappy-raw'
}

/**
 * The bytes of a record batch of magic 2; the inverse of reading it.
 * @throws RangeError if the codec is unknown, or a number does not fit its field, e.g. an offset more than 2^31 beyond the base offset
 */
export function writeBatch(batch: WritableBatch): Buffer {
  const {records, leaderEpoch = -1, producerId = -1n, producerEpoch = -1, baseSequence = -1} = batch
  const baseOffset = batch.baseOffset ?? records[0]?.offset ?? 0n
  const baseTimestamp = batch.deleteHorizonMs ?? batch.baseTimestamp ?? records[0]?.timestamp ?? -1n
  const parts: Buffer[] = []
  let next = baseOffset
  for (const record of records) {
    const offset = record.offset ?? next
    parts.push(recordBytes(record, int32(offset - baseOffset), record.timestamp - baseTimestamp))
    next = offset + 1n
  }

  const blob = compress(batch.codec ?? 'none', Buffer.concat(parts))
  const size = at.records + blob.length
  const header = Buffer.alloc(at.records)
  header.writeBigInt64BE(baseOffset, at.baseOffset)
  header.writeInt32BE(size - at.batchLength - 4, at.batchLength)
  header.writeInt32BE(leaderEpoch, at.leaderEpoch)
  header.writeInt8(2, at.magic)
  header.writeInt16BE(attributesOf(batch), at.attributes)
  header.writeInt32BE(
    batch.lastOffsetDelta ?? int32(records.length === 0 ? 0n : next - 1n - baseOffset),
    at.lastOffsetDelta,
  )
  header.writeBigInt64BE(baseTimestamp, at.baseTimestamp)
  header.writeBigInt64BE(batch.maxTimestamp ?? latest(records), at.maxTimestamp)
  header.writeBigInt64BE(producerId, at.producerId)
  header.writeInt16BE(producerEpoch, at.producerEpoch)
  header.writeInt32BE(baseSequence, at.baseSequence)
  header.writeInt32BE(records.length, at.recordsCount)
  const bytes = Buffer.concat([header, blob], size)
  bytes.writeUInt32BE(crc32c(bytes.subarray(at.attributes)), at.crc)
  return bytes
}

function attributesOf(batch: WritableBatch): number {
  return (
    codecBits(batch.codec) |
    (batch.timestampType === 'LogAppendTime' ? flag.logAppendTime : 0) |
    (batch.isTransactional ? flag.transactional : 0) |
    (batch.isControl ? flag.control : 0) |
    (batch.deleteHorizonMs === undefined || batch.deleteHorizonMs === null ? 0 : flag.deleteHorizon)
  )
}

/** Bits 0-2 of the attributes, in all magics. */
export function codecBits(codec: WritableBatch['codec']): number {
  const name = codec === 'snappy-raw' ? 'snappy' : (codec ?? 'none')
  if (name === 'unknown') throw new RangeError('no codec has this name')
  return codecNames.indexOf(name)
}

function latest(records: readonly WritableRecord[]): bigint {
  let max = -1n
  for (const {timestamp} of records) if (timestamp > max) max = timestamp
  return max
}

function recordBytes({key, value, headers = []}: WritableRecord, offsetDelta: number, timestampDelta: bigint): Buffer {
  const parts: Buffer[] = [Buffer.of(0), varint(timestampDelta), varint(offsetDelta), ...sized(key), ...sized(value)]
  parts.push(varint(headers.length))
  for (const header of headers) parts.push(...sized(Buffer.from(header.key)), ...sized(header.value))
  const body = Buffer.concat(parts)
  return Buffer.concat([varint(body.length), body])
}

function sized(bytes: Buffer | null): Buffer[] {
  return bytes === null ? [varint(-1)] : [varint(bytes.length), bytes]
}

/** Zigzag, seven bits a byte, the least significant first; the same bytes for an int32 and an int64 of the same value. */
export function varint(value: number | bigint): Buffer {
  const wide = BigInt.asIntN(64, BigInt(value))
  let rest = BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n))
  const bytes: number[] = []
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}

function int32(delta: bigint): number {
  if (BigInt.asIntN(32, delta) !== delta) throw new RangeError(`an offset lies ${delta} from the base offset`)
  return Number(delta)
}
