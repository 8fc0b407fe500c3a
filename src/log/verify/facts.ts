import {type BatchCursor, flag} from '../batch-cursor.js'
import {type CodecName, codecName} from '../codecs.js'

const knownAttributes = 0x7f
const codecBits = 0x07

/** The header of the batch that is being checked, decoded once for all checks; one object serves a whole log. */
export class Facts {
  position = 0
  sizeInBytes = 0
  magic = 2
  crcIsRight = true
  baseOffset = 0n
  lastOffset = 0n
  lastOffsetDelta = 0
  recordsCount = 0
  leaderEpoch = -1
  attributes = 0
  isControl = false
  isTransactional = false
  hasDeleteHorizon = false
  isLogAppendTime = false
  baseTimestamp = -1n
  maxTimestamp = -1n
  producerId = -1n
  producerEpoch = -1
  baseSequence = -1

  take(batch: BatchCursor): this {
    this.position = batch.position
    this.sizeInBytes = batch.sizeInBytes
    this.magic = batch.magic
    this.crcIsRight = batch.crcIsRight
    this.baseOffset = batch.baseOffset
    this.lastOffset = batch.lastOffset
    this.attributes = batch.attributes
    this.isLogAppendTime = (this.attributes & flag.logAppendTime) !== 0
    this.maxTimestamp = batch.maxTimestamp
    if (this.magic < 2) return this.#legacy()
    this.lastOffsetDelta = batch.lastOffsetDelta
    this.recordsCount = batch.recordsCount
    this.leaderEpoch = batch.leaderEpoch
    this.isControl = (this.attributes & flag.control) !== 0
    this.isTransactional = (this.attributes & flag.transactional) !== 0
    this.hasDeleteHorizon = (this.attributes & flag.deleteHorizon) !== 0
    this.baseTimestamp = batch.baseTimestamp
    this.producerId = batch.producerId
    this.producerEpoch = batch.producerEpoch
    this.baseSequence = batch.baseSequence
    return this
  }

  get end(): number {
    return this.position + this.sizeInBytes
  }

  get codec(): CodecName {
    return codecName(this.attributes)
  }

  get isCompressed(): boolean {
    return (this.attributes & codecBits) !== 0
  }

  /** A wrapper of magic 0 or 1 has the offset of its last message; where it begins is known only if it can be decoded. */
  get hidesItsBase(): boolean {
    return this.magic < 2 && this.isCompressed && this.baseOffset === this.lastOffset
  }

  get hasUnknownAttributes(): boolean {
    return (this.attributes & ~knownAttributes) !== 0
  }

  /** Offsets that the batch stands for, whether or not compaction has taken some of them. */
  get span(): bigint {
    return this.lastOffset - this.baseOffset + 1n
  }

  /** Messages of magic 0 and 1 know no producers and no epochs. */
  #legacy(): this {
    this.lastOffsetDelta = Number(this.lastOffset - this.baseOffset)
    this.recordsCount = 1
    this.leaderEpoch = -1
    this.isControl = false
    this.isTransactional = false
    this.hasDeleteHorizon = false
    this.baseTimestamp = this.maxTimestamp
    this.producerId = -1n
    this.producerEpoch = -1
    this.baseSequence = -1
    return this
  }
}
