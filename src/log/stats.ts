import type {BatchCursor} from './batch-cursor.js'
import type {CodecName} from './codecs.js'
import type {LogVisitor} from './read-log.js'
import type {RecordCursor} from './record-cursor.js'

export interface CodecStats {
  readonly codec: CodecName
  readonly batches: number
  readonly records: number
  /** Of the records as they lie in the file, without the batch headers. */
  readonly storedBytes: number
  /** Of the records once they are uncompressed. */
  readonly plainBytes: number
  /** Plain bytes per stored byte; `null` without records. */
  readonly ratio: number | null
}

export interface ProducerStats {
  readonly producerId: bigint
  readonly epochs: readonly number[]
  readonly batches: number
  readonly records: number
  readonly sizeInBytes: number
}

/** A bar of a histogram: how many batches have more than the bar before and at most `upTo`. */
export interface Bucket {
  readonly upTo: number
  readonly batches: number
}

export interface LogStats {
  readonly batches: number
  readonly records: number
  readonly sizeInBytes: number
  readonly controlBatches: number
  readonly transactionalBatches: number
  readonly idempotentBatches: number
  readonly emptyBatches: number
  readonly tombstones: number
  readonly recordsWithoutKey: number
  readonly headers: number
  readonly firstOffset: bigint | null
  readonly lastOffset: bigint | null
  readonly firstTimestamp: bigint | null
  readonly lastTimestamp: bigint | null
  /** Records whose timestamp is below that of a record before them, and by how much at most. */
  readonly timestampsBackwards: {readonly records: number; readonly largestMs: bigint}
  readonly codecs: readonly CodecStats[]
  readonly batchSizes: readonly Bucket[]
  readonly recordsPerBatch: readonly Bucket[]
  /** How many there are, and the first hundred by records. */
  readonly producerCount: number
  readonly producers: readonly ProducerStats[]
  /** By records, largest first. */
  readonly topKeys: readonly {readonly key: Buffer; readonly records: number}[]
  /** False: more keys than are counted at once; then the counts are lower bounds. */
  readonly topKeysExact: boolean
}

const overheadBytes = 61
const shownProducers = 100
const shownKeys = 10
/** Keys that are counted at once (Misra and Gries, 1982), and how much of each is kept. */
const countedKeys = 4_096
const keptKeyBytes = 1_024

interface Sums {
  batches: number
  records: number
  storedBytes: number
  plainBytes: number
}

/** Counts what it is shown, in bounded memory. */
export class StatsVisitor implements LogVisitor {
  #batches = 0
  #records = 0
  #sizeInBytes = 0
  #control = 0
  #transactional = 0
  #idempotent = 0
  #empty = 0
  #tombstones = 0
  #withoutKey = 0
  #headers = 0
  #firstOffset: bigint | null = null
  #lastOffset: bigint | null = null
  #firstTimestamp: bigint | null = null
  #lastTimestamp: bigint | null = null
  #backwards = 0
  #largestBackwards = 0n
  readonly #codecs = new Map<CodecName, Sums>()
  readonly #batchSizes = new Map<number, number>()
  readonly #recordsPerBatch = new Map<number, number>()
  readonly #producers = new Map<bigint, {epochs: Set<number>; batches: number; records: number; sizeInBytes: number}>()
  readonly #keys = new Map<string, number>()
  #keysExact = true
  /** Of the batch that is being read. */
  #current: Sums | undefined
  #isControl = false
  #recordsInBatch = 0

  batch(batch: BatchCursor): boolean {
    this.#batches++
    this.#sizeInBytes += batch.sizeInBytes
    this.#isControl = batch.isControl
    if (this.#isControl) this.#control++
    if (batch.isTransactional) this.#transactional++
    this.#firstOffset ??= batch.baseOffset
    this.#lastOffset = batch.lastOffset
    this.#codec(batch)
    this.#producer(batch)
    count(this.#batchSizes, bucketOf(batch.sizeInBytes))
    this.#recordsInBatch = 0
    return true
  }

  record(record: RecordCursor): void {
    this.#records++
    this.#recordsInBatch++
    this.#headers += record.headerCount
    if (this.#current) {
      this.#current.records++
      this.#current.plainBytes += record.sizeInBytes
    }
    this.#timestamp(record.timestamp)
    if (this.#isControl) return
    const {key} = record
    if (record.valueSize < 0) this.#tombstones++
    if (key === null) this.#withoutKey++
    else this.#key(key.toString('latin1', 0, Math.min(key.length, keptKeyBytes)))
  }

  recordsDone(): void {
    count(this.#recordsPerBatch, bucketOf(this.#recordsInBatch))
    if (this.#recordsInBatch === 0) this.#empty++
  }

  get stats(): LogStats {
    const producers = [...this.#producers].map(([producerId, {epochs, ...rest}]) => ({
      producerId,
      epochs: [...epochs].sort((a, b) => a - b),
      ...rest,
    }))
    const keys = [...this.#keys].sort(([, a], [, b]) => b - a).slice(0, shownKeys)
    return {
      batches: this.#batches,
      records: this.#records,
      sizeInBytes: this.#sizeInBytes,
      controlBatches: this.#control,
      transactionalBatches: this.#transactional,
      idempotentBatches: this.#idempotent,
      emptyBatches: this.#empty,
      tombstones: this.#tombstones,
      recordsWithoutKey: this.#withoutKey,
      headers: this.#headers,
      firstOffset: this.#firstOffset,
      lastOffset: this.#lastOffset,
      firstTimestamp: this.#firstTimestamp,
      lastTimestamp: this.#lastTimestamp,
      timestampsBackwards: {records: this.#backwards, largestMs: this.#largestBackwards},
      codecs: [...this.#codecs].map(([codec, sums]) => ({
        codec,
        ...sums,
        ratio: sums.storedBytes > 0 ? Number((sums.plainBytes / sums.storedBytes).toFixed(3)) : null,
      })),
      batchSizes: histogram(this.#batchSizes),
      recordsPerBatch: histogram(this.#recordsPerBatch),
      producerCount: producers.length,
      producers: producers.sort((a, b) => b.records - a.records).slice(0, shownProducers),
      topKeys: keys.map(([key, records]) => ({key: Buffer.from(key, 'latin1'), records})),
      topKeysExact: this.#keysExact,
    }
  }

  #codec(batch: BatchCursor): void {
    const {codec} = batch
    let sums = this.#codecs.get(codec)
    if (!sums) {
      sums = {batches: 0, records: 0, storedBytes: 0, plainBytes: 0}
      this.#codecs.set(codec, sums)
    }
    sums.batches++
    sums.storedBytes += Math.max(0, batch.sizeInBytes - overheadBytes)
    this.#current = sums
  }

  #producer(batch: BatchCursor): void {
    const {producerId} = batch
    if (producerId < 0n) return
    if (!batch.isControl) this.#idempotent++
    let producer = this.#producers.get(producerId)
    if (!producer) {
      producer = {epochs: new Set(), batches: 0, records: 0, sizeInBytes: 0}
      this.#producers.set(producerId, producer)
    }
    producer.epochs.add(batch.producerEpoch)
    producer.batches++
    producer.records += Math.max(0, batch.recordsCount)
    producer.sizeInBytes += batch.sizeInBytes
  }

  #timestamp(timestamp: bigint): void {
    if (timestamp < 0n) return
    if (this.#firstTimestamp === null || timestamp < this.#firstTimestamp) this.#firstTimestamp = timestamp
    if (this.#lastTimestamp === null || timestamp >= this.#lastTimestamp) {
      this.#lastTimestamp = timestamp
      return
    }
    this.#backwards++
    const by = this.#lastTimestamp - timestamp
    if (by > this.#largestBackwards) this.#largestBackwards = by
  }

  #key(key: string): void {
    const seen = this.#keys.get(key)
    if (seen !== undefined) this.#keys.set(key, seen + 1)
    else if (this.#keys.size < countedKeys) this.#keys.set(key, 1)
    else {
      this.#keysExact = false
      for (const [each, times] of this.#keys) {
        if (times === 1) this.#keys.delete(each)
        else this.#keys.set(each, times - 1)
      }
    }
  }
}

function count(histogram: Map<number, number>, bucket: number): void {
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1)
}

/** The least power of two that is not below the number; 0 for 0. */
function bucketOf(value: number): number {
  return value <= 1 ? Math.max(0, value) : 2 ** Math.ceil(Math.log2(value))
}

function histogram(counts: ReadonlyMap<number, number>): Bucket[] {
  return [...counts].sort(([a], [b]) => a - b).map(([upTo, batches]) => ({upTo, batches}))
}
