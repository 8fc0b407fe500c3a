import type {Damage} from '../read-log.js'
import type {Facts} from './facts.js'

/** index.interval.bytes, unless the topic has another. */
const indexIntervalBytes = 4_096
const maxRelativeOffset = 0x7fff_ffffn
/** LegacyRecord.RECORD_OVERHEAD_V0: a length field below it is refused. */
const leastLength = 14
const lengthEnd = 12
/** Up to the magic: with fewer bytes left nothing is read. */
const leastHeader = 17
const newestMagic = 2
const maxInt32 = 0x7fff_ffff

/**
 * What Kafka's own walk over a segment (FileLogInputStream.nextBatch) makes of bytes that are no batch. `end`: for the end
 * of the segment, without a word; `refused`: it throws a CorruptRecordException; `batch`: for a batch, whose checks then
 * fail.
 */
export function walkSees(
  {position, sizeInBytes, kind, statedBytes}: Damage,
  fileSize: number,
): 'end' | 'refused' | 'batch' {
  if (kind === 'zero-fill') return sizeInBytes <= leastHeader ? 'end' : 'refused'
  if (fileSize - position <= leastHeader) return 'end'
  if (statedBytes === undefined) return 'batch'
  if (statedBytes - lengthEnd < leastLength) return 'refused'
  return position + statedBytes > fileSize ? 'end' : 'batch'
}

/**
 * Whether a consumer that is given these bytes gets an exception (ByteBufferLogInputStream.nextBatchSize); otherwise what
 * passes the end is nothing to it.
 */
export function consumerFails(damage: Damage, fileSize: number): boolean {
  if (walkSees(damage, fileSize) !== 'end') return true
  const {magic = 0, statedBytes = 0, position} = damage
  return fileSize - position >= leastHeader && (magic < 0 || magic > newestMagic || statedBytes > maxInt32)
}

/** `emptied`: recovery gives up the whole segment; `fails`: the broker does not start. */
export interface RecoveryTrouble {
  readonly how: 'emptied' | 'fails'
  readonly position: number
  readonly offset: bigint
  readonly why: string
}

/**
 * One segment as the broker's recovery goes through it (LogSegment.recover, LogLoader.recoverLog): besides what is no batch
 * it trips over offsets, because it writes the indexes anew.
 */
export class RecoveryWalk {
  #entryAt = 0
  #indexed: bigint | undefined
  #timeIndexed: bigint
  #timeOfEntry = -1n
  #largest = -1n
  #largestAt: bigint
  #beyond: RecoveryTrouble | undefined
  #isBeyondAtEnd = false

  constructor(readonly baseOffset: bigint) {
    this.#timeIndexed = baseOffset
    this.#largestAt = baseOffset
  }

  /** The next batch, of a right CRC. */
  batch({position, baseOffset, lastOffset, maxTimestamp}: Facts): RecoveryTrouble | undefined {
    const relative = lastOffset - this.baseOffset
    this.#isBeyondAtEnd = relative > maxRelativeOffset
    if (relative < 0n || relative > maxRelativeOffset) {
      const why = `the last offset of the batch, ${lastOffset}, is ${relative < 0n ? 'below' : 'too far above'} the segment's base offset, and it can't split the segment there`
      this.#beyond ??= {how: 'fails', position, offset: baseOffset, why}
    }
    if (this.#beyond) return undefined
    if (maxTimestamp > this.#largest) {
      this.#largest = maxTimestamp
      this.#largestAt = lastOffset
    }
    if (position - this.#entryAt <= indexIntervalBytes) return undefined
    this.#entryAt = position
    const falls = this.#indexed !== undefined && lastOffset <= this.#indexed
    if (falls || this.#timeFalls()) {
      const why = `the index entries that it writes would fall, at offset ${lastOffset}`
      return {how: 'emptied', position: 0, offset: this.baseOffset, why}
    }
    this.#indexed = lastOffset
    return undefined
  }

  /** After the last batch. */
  end(): RecoveryTrouble | undefined {
    // It splits a segment only if the last batch is what lies too far above its base offset.
    if (this.#beyond) return this.#isBeyondAtEnd ? undefined : this.#beyond
    if (!this.#timeFalls()) return undefined
    const why = `the last entry of the time index would fall, to offset ${this.#largestAt}`
    return {how: 'emptied', position: 0, offset: this.baseOffset, why}
  }

  /** TimeIndex.maybeAppend. */
  #timeFalls(): boolean {
    const hasEntry = this.#timeOfEntry >= 0n
    if (hasEntry && this.#largestAt < this.#timeIndexed) return true
    if (this.#largest > this.#timeOfEntry) {
      this.#timeOfEntry = this.#largest
      this.#timeIndexed = this.#largestAt
    }
    return false
  }
}
