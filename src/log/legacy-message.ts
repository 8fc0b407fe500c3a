import {crc32} from 'node:zlib'
import {type CodecName, codecName} from './codecs.js'

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

/** Why a part of a message can't be had, as Java says it. */
export interface LegacyFailure {
  readonly problem: string
  /** Not even both sizes can be read. */
  readonly lacksSizes: boolean
  /** What the exception says when the key is asked for, if that fails, too. */
  readonly key: string | undefined
  /** The same for the value. */
  readonly value: string
}

/** A message of magic 0 or 1, as whoever reads those formats hands it to a cursor. Positions are in `source`. */
export interface LegacyRecord {
  readonly source: Buffer
  readonly sizeInBytes: number
  readonly offset: bigint
  readonly timestamp: bigint
  readonly keyAt: number
  readonly keySize: number
  readonly valueAt: number
  readonly valueSize: number
  readonly crc: number
  readonly crcIsRight: boolean
  readonly failure: LegacyFailure | undefined
}

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
  /** Only of a message that was read as Kafka does. */
  failure: LegacyFailure | undefined
  #computedCrc: number | undefined

  /**
   * Reads the message at `at`. Returns why it can't be read; `cut` means that it passes `limit`.
   * Everything is checked against `limit` before it is used.
   *
   * @param asKafka Its size is all that is checked: what is wrong with the sizes in it is a {@link failure}, and any magic
   * but 0 is taken for 1
   */
  read(source: Buffer, at: number, limit: number, asKafka = false): 'cut' | {readonly problem: string} | undefined {
    this.source = source
    this.at = at
    this.#computedCrc = undefined
    this.failure = undefined
    if (limit - at < legacyAt.magic + 1) return 'cut'
    const size = source.readInt32BE(at + legacyAt.size)
    const magic = source.readInt8(at + legacyAt.magic)
    if (!asKafka && magic !== 0 && magic !== 1) {
      return {problem: `a message of magic ${magic} among those of magic 0 and 1`}
    }
    this.sizeInBytes = legacyAt.crc + size
    const layout = magic === 0 ? 0 : 1
    if (this.sizeInBytes < legacyLeastBytes[asKafka ? 0 : layout])
      return {problem: `a message can't have the size ${size}`}
    if (this.sizeInBytes > limit - at) return 'cut'
    const failure = this.#fields(layout)
    if (!asKafka) return failure
    this.failure = failure
    return undefined
  }

  #fields(magic: 0 | 1): LegacyFailure | undefined {
    const {source, at, sizeInBytes} = this
    const end = at + sizeInBytes
    this.offset = this.storedOffset
    this.timestamp = this.storedTimestamp
    this.keyAt = at + legacyLeastBytes[magic] - 4
    this.keySize = this.valueSize = -1
    this.bytesLeft = 0
    if (this.keyAt > end)
      return {problem: 'a message without room for a key', lacksSizes: true, key: 'null', value: 'null'}
    this.keySize = source.readInt32BE(this.keyAt - 4)
    const keyLength = Math.max(this.keySize, 0)
    if (keyLength > end - this.keyAt - 4) {
      const problem = `key length ${keyLength} in a message of ${sizeInBytes} bytes`
      return {problem, lacksSizes: true, key: beyond(keyLength, end - this.keyAt), value: 'null'}
    }
    this.valueAt = this.keyAt + keyLength + 4
    this.valueSize = source.readInt32BE(this.valueAt - 4)
    this.bytesLeft = end - this.valueAt - Math.max(this.valueSize, 0)
    if (this.bytesLeft >= 0) return undefined
    const problem = `value length ${this.valueSize} in a message of ${sizeInBytes} bytes`
    return {problem, lacksSizes: false, key: undefined, value: beyond(this.valueSize, end - this.valueAt) ?? ''}
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

/** What `java.nio.Buffer` says of a limit beyond its capacity. */
function beyond(limit: number, capacity: number): string | undefined {
  return limit > capacity ? `newLimit > capacity: (${limit} > ${capacity})` : undefined
}
