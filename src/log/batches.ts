import type {BatchCursor, TimestampType} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {type CodecName, codecIsReady, prepareCodec} from './codecs.js'
import type {RecordHeader} from './record-cursor.js'
import {type ScanOptions, type ScanResult, Walk} from './scan.js'

export interface BatchRecord {
  readonly offset: bigint
  /** Milliseconds since 1970. In a batch of LogAppendTime: that of the batch. */
  readonly timestamp: bigint
  /** −1: none. */
  readonly sequence: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly RecordHeader[]
}

/** A record batch as a plain object, with everything in it. */
export interface RecordBatch {
  /** Bytes in the source. */
  readonly position: number
  readonly sizeInBytes: number
  readonly baseOffset: bigint
  readonly lastOffset: bigint
  readonly leaderEpoch: number
  readonly magic: number
  readonly crc: number
  readonly crcIsRight: boolean
  readonly attributes: number
  readonly codec: CodecName
  readonly timestampType: TimestampType
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly lastOffsetDelta: number
  readonly baseTimestamp: bigint
  readonly deleteHorizonMs: bigint | null
  readonly maxTimestamp: bigint
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly recordsCount: number
  readonly records: readonly BatchRecord[]
  /** Why not all records could be read; those before the damage are in `records`. */
  readonly problem?: string
}

/**
 * Sugar over `scan`: the batches as plain objects, in their own memory. The generator returns what `scan` returns (how
 * many bytes were valid, and why not all); a `for await` drops that, so who must know uses {@link readBatches}.
 */
export async function* batches(source: ByteSource, options: ScanOptions = {}): AsyncGenerator<RecordBatch, ScanResult> {
  const walk = new Walk(source.size, options)
  for (;;) {
    const step = walk.step()
    if (step === 'batch') {
      if (!codecIsReady(walk.batch.codec)) await prepareCodec(walk.batch.codec)
      yield plain(walk.batch)
    } else if (step === 'end') return walk.result()
    else walk.take(await source.read(walk.position, walk.wanted))
  }
}

/** All batches at once, with what the scan said. For sources that are known to be small. */
export async function readBatches(
  source: ByteSource,
  options: ScanOptions = {},
): Promise<ScanResult & {readonly batches: readonly RecordBatch[]}> {
  const all: RecordBatch[] = []
  const generator = batches(source, options)
  for (;;) {
    const {done, value} = await generator.next()
    if (done) return {...value, batches: all}
    all.push(value)
  }
}

/** Copies the batch out of the scan's buffer, once: keys and values are views of that copy. */
function plain(cursor: BatchCursor): RecordBatch {
  const own = cursor.copy()
  const records: BatchRecord[] = []
  const problem = own.records(({offset, timestamp, sequence, key, value, headers}) => {
    records.push({offset, timestamp, sequence, key, value, headers})
  })
  return {
    position: own.position,
    sizeInBytes: own.sizeInBytes,
    baseOffset: own.baseOffset,
    lastOffset: own.lastOffset,
    leaderEpoch: own.leaderEpoch,
    magic: own.magic,
    crc: own.crc,
    crcIsRight: own.crcIsRight,
    attributes: own.attributes,
    codec: own.codec,
    timestampType: own.timestampType,
    isTransactional: own.isTransactional,
    isControl: own.isControl,
    lastOffsetDelta: own.lastOffsetDelta,
    baseTimestamp: own.baseTimestamp,
    deleteHorizonMs: own.deleteHorizonMs,
    maxTimestamp: own.maxTimestamp,
    producerId: own.producerId,
    producerEpoch: own.producerEpoch,
    baseSequence: own.baseSequence,
    recordsCount: own.recordsCount,
    records,
    ...(problem === undefined ? {} : {problem}),
  }
}
