import {crc32} from 'node:zlib'
import {type CodecName, codecName} from './codecs.js'
import type {LegacyRecord} from './record-cursor.js'

/** Where the fields of a message of magic 0 or 1 lie (org.apache.kafka.common.record.LegacyRecord); the magic as ever. */
export const legacyAt = {
  offset: 0,
  size: 8,
  crc: 12,
  /** The CRC covers everything from here on. */
  magic: 16,
  attributes: 17,
  /** Magic 1 only; in magic 0 the key begins here. */
  timestamp: 18,
} as const

/** Least size of a whole message, by its magic: with a null key and a null value. */
export const legacyLeastBytes = [26, 34] as const

/**
 * One message of magic 0 or 1, which is a record, or a wrapper whose value is a compressed set of messages. Used again for
 * each message that is read.
 */
export class LegacyMessage implements LegacyRecord {
  source: Buffer = Buffer.alloc(0)
  /** Of the message in `source`. */
  at = 0
  sizeInBytes = 0
  keyAt = 0
  /** As it is stored: any negative one means null, as in Kafka. */
  keySize = -1
  valueAt = 0
  valueSize = -1
  /** Bytes behind the value, which belong to nothing. */
  bytesLeft = 0
  /** What the reader makes of {@link storedOffset} and {@link storedTimestamp}. */
  offset = 0n
  timestamp = -1n
  #computedCrc: number | undefined

  /**
   * Reads the message at `at`. Returns why it can't be read; `cut` means that it passes `limit`.
   * Everything is checked against `limit` before it is used.
   */
  read(source: Buffer, at: number, limit: number): 'cut' | {readonly problem: string} | undefined {
    this.source = source
    this.at = at
    this.#computedCrc = undefined
    if (limit - at < legacyAt.magic + 1) return 'cut'
    const size = source.readInt32BE(at + legacyAt.size)
    const magic = source.readInt8(at + legacyAt.magic)
    if (magic !== 0 && magic !== 1) return {problem: `a message of magic ${magic} among those of magic 0 and 1`}
    this.sizeInBytes = legacyAt.crc + size
    if (this.sizeInBytes < legacyLeastBytes[magic]) return {problem: `a message can't have the size ${size}`}
    if (this.sizeInBytes > limit - at) return 'cut'
    return this.#fields(magic)
  }

  #fields(magic: 0 | 1): {readonly problem: string} | undefined {
    const {source, at} = this
    const end = at + this.sizeInBytes
    this.offset = this.storedOffset
    this.timestamp = this.storedTimestamp
    this.keyAt = at + legacyLeastBytes[magic] - 4
    this.keySize = source.readInt32BE(this.keyAt - 4)
    const keyLength = Math.max(this.keySize, 0)
    if (keyLength > end - this.keyAt - 4)
      return {problem: `key length ${keyLength} in a message of ${this.sizeInBytes} bytes`}
    this.valueAt = this.keyAt + keyLength + 4
    this.valueSize = source.readInt32BE(this.valueAt - 4)
    this.bytesLeft = end - this.valueAt - Math.max(this.valueSize, 0)
    if (this.bytesLeft < 0) return {problem: `value length ${this.valueSize} in a message of ${this.sizeInBytes} bytes`}
    return undefined
  }

  get magic(): number {
    return this.source.readInt8(this.at + legacyAt.magic)
  }

  get storedOffset(): bigint {
    return this.source.readBigInt64BE(this.at + legacyAt.offset)
  }

  get storedTimestamp(): bigint {
    return this.magic === 0 ? -1n : this.source.readBigInt64BE(this.at + legacyAt.timestamp)
  }

  get codec(): CodecName {
    return codecName(this.source[this.at + legacyAt.attributes] as number)
  }

  get crc(): number {
    return this.source.readUInt32BE(this.at + legacyAt.crc)
  }

  get crcIsRight(): boolean {
    this.#computedCrc ??= crc32(this.source.subarray(this.at + legacyAt.magic, this.at + this.sizeInBytes))
    return this.#computedCrc === this.crc
  }

  get value(): Buffer {
    return this.source.subarray(this.valueAt, this.valueAt + Math.max(this.valueSize, 0))
  }
}
