import {crc32} from 'node:zlib'
import {flag} from './batch-cursor.js'
import {type CodecName, compress} from './codecs.js'
import {legacyAt, legacyLeastBytes} from './legacy-message.js'
import {codecBits} from './write-batch.js'

export interface WritableMessage {
  /** Default: one more than the message before. */
  readonly offset?: bigint
  /** Magic 0 has none. */
  readonly timestamp?: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
}

export interface WritableMessages {
  readonly magic: 0 | 1
  readonly messages: readonly WritableMessage[]
  /** Default: the first message's offset, or 0. */
  readonly baseOffset?: bigint
  /** With a codec, one wrapper holds all messages; else they lie one after the other. No message has zstd. */
  readonly codec?: CodecName | 'snappy-raw'
  /** Of the wrapper. Default: that of the last message, as brokers write it. */
  readonly wrapperOffset?: bigint
  /** Of the wrapper. Default: the greatest of the messages'. With LogAppendTime: the append time. */
  readonly maxTimestamp?: bigint
  readonly timestampType?: 'CreateTime' | 'LogAppendTime'
}

/** The bytes of messages of magic 0 or 1; the inverse of reading them. */
export function writeLegacy(set: WritableMessages): Buffer {
  const {magic, messages, codec = 'none', timestampType} = set
  const first = set.baseOffset ?? messages[0]?.offset ?? 0n
  let next = first
  const absolute = messages.map(message => {
    const offset = message.offset ?? next
    next = offset + 1n
    return {...message, offset}
  })
  const type = timestampType === 'LogAppendTime' ? flag.logAppendTime : 0
  if (codec === 'none') return Buffer.concat(absolute.map(each => messageBytes(magic, type, each)))

  const base = magic === 0 ? 0n : first
  const inner = absolute.map(each => messageBytes(magic, 0, {...each, offset: each.offset - base}))
  const value = compress(codec, Buffer.concat(inner), {magic})
  const latest = absolute.reduce((max, {timestamp = -1n}) => (timestamp > max ? timestamp : max), -1n)
  return messageBytes(magic, type | codecBits(codec), {
    offset: set.wrapperOffset ?? next - 1n,
    timestamp: set.maxTimestamp ?? latest,
    key: null,
    value,
  })
}

function messageBytes(
  magic: 0 | 1,
  attributes: number,
  {offset, timestamp = -1n, key, value}: WritableMessage & {readonly offset: bigint},
): Buffer {
  const header = Buffer.alloc(legacyLeastBytes[magic] - 8)
  header.writeBigInt64BE(offset, legacyAt.offset)
  header.writeInt8(magic, legacyAt.magic)
  header.writeUInt8(attributes, legacyAt.attributes)
  if (magic === 1) header.writeBigInt64BE(timestamp, legacyAt.timestamp)
  const bytes = Buffer.concat([header, ...sized(key), ...sized(value)])
  bytes.writeInt32BE(bytes.length - legacyAt.crc, legacyAt.size)
  bytes.writeUInt32BE(crc32(bytes.subarray(legacyAt.magic)), legacyAt.crc)
  return bytes
}

function sized(bytes: Buffer | null): Buffer[] {
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes === null ? -1 : bytes.length)
  return bytes === null ? [length] : [length, bytes]
}
