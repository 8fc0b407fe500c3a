import type {BatchCursor} from '../batch-cursor.js'
import {type CodecName, uncompressed} from '../codecs.js'
import type {LogVisitor} from '../read-log.js'

/** Plain bytes that a sample holds at most. */
export const sampleBytesAtMost = 8_388_608

/** A batch that is to be compressed otherwise. */
export interface SampledBatch {
  readonly codec: CodecName
  /** Its records as they lie in the log. */
  readonly stored: Buffer
  readonly plain: Buffer
}

/** Why a batch is not in the sample, though it would have been its turn. */
export type LeftOut = 'control' | 'empty' | 'legacy' | 'damaged' | 'too-large'

export interface Sample {
  readonly batches: readonly SampledBatch[]
  /** Of the batches with records each so-many-th is in the sample, beginning with the first; 1: all of them. */
  readonly every: number
  /** Batches with records that could have been in it, and their bytes with their headers. */
  readonly candidates: number
  readonly candidateBytes: number
  readonly leftOut: readonly {readonly why: LeftOut; readonly batches: number; readonly sizeInBytes: number}[]
}

/**
 * Takes each k-th batch, k being the least power of two with which the sample stays within its bytes: the same batches
 * whatever reads them, from all over the log, and in bounded memory. Batches of magic 0 and 1 are left out (a broker that
 * compressed them anew would change their format), and control batches, which are never compressed.
 */
export class BatchSampler implements LogVisitor {
  readonly #atMost: number
  #taken: {readonly index: number; readonly batch: SampledBatch}[] = []
  #plainBytes = 0
  #every = 1
  #candidates = 0
  #candidateBytes = 0
  readonly #leftOut = new Map<LeftOut, {batches: number; sizeInBytes: number}>()

  constructor(atMost = sampleBytesAtMost) {
    this.#atMost = atMost
  }

  /** Records are not asked for: the sampler uncompresses what it takes. */
  batch(batch: BatchCursor): boolean {
    const why = unfit(batch)
    if (why !== undefined) {
      this.#leave(why, batch.sizeInBytes)
      return false
    }
    const index = this.#candidates
    if (index % this.#every === 0) {
      const {codec, storedRecords} = batch
      const read = uncompressed(codec, storedRecords, {atMost: this.#atMost})
      if (read.unreadable !== undefined || read.bytes.length > this.#atMost) {
        const isTooLarge = read.unreadable === undefined || read.tooLarge
        this.#leave(isTooLarge ? 'too-large' : 'damaged', batch.sizeInBytes)
        return false
      }
      // What both give is gone with the next batch.
      const plain = Buffer.from(read.bytes)
      const stored = codec === 'none' ? plain : Buffer.from(storedRecords)
      this.#taken.push({index, batch: {codec, stored, plain}})
      this.#plainBytes += plain.length
      while (this.#plainBytes > this.#atMost) this.#thin()
    }
    this.#candidates++
    this.#candidateBytes += batch.sizeInBytes
    return false
  }

  record(): void {}

  get sample(): Sample {
    return {
      batches: this.#taken.map(({batch}) => batch),
      every: this.#every,
      candidates: this.#candidates,
      candidateBytes: this.#candidateBytes,
      leftOut: [...this.#leftOut].map(([why, sums]) => ({why, ...sums})),
    }
  }

  #thin(): void {
    this.#every *= 2
    this.#taken = this.#taken.filter(({index}) => index % this.#every === 0)
    this.#plainBytes = this.#taken.reduce((sum, {batch}) => sum + batch.plain.length, 0)
  }

  #leave(why: LeftOut, sizeInBytes: number): void {
    const sums = this.#leftOut.get(why) ?? {batches: 0, sizeInBytes: 0}
    this.#leftOut.set(why, {batches: sums.batches + 1, sizeInBytes: sums.sizeInBytes + sizeInBytes})
  }
}

function unfit(batch: BatchCursor): LeftOut | undefined {
  if (batch.isLegacy) return 'legacy'
  if (batch.isControl) return 'control'
  if (batch.recordsCount === 0) return 'empty'
  if (!batch.crcIsRight || batch.codec === 'unknown') return 'damaged'
  // Of larger ones the reader holds the header only.
  return batch.isWhole ? undefined : 'too-large'
}
