import type {BatchCursor} from '../batch-cursor.js'
import {readLog} from '../read-log.js'
import type {RecordCursor, RecordHeader} from '../record-cursor.js'
import {pieceBytes, placeOf, type ReplicaFiles} from './replica.js'
import {Turns} from './turns.js'
import type {BatchPlace} from './types.js'

/** A piece of a replica's log: whole batches. */
export interface Region {
  readonly segment: string
  readonly from: number
  to: number
}

/** A record with all that must be the same on all replicas, in its own memory. */
export interface LogicalRecord {
  readonly kind: 'record'
  readonly offset: bigint
  readonly timestamp: bigint
  readonly timestampType: string
  readonly sequence: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly RecordHeader[]
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly isControl: boolean
  readonly isTransactional: boolean
  readonly batch: BatchPlace
}

/** Offsets of a batch whose records can't be read. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly offset: bigint
  /** Exclusive. */
  readonly to: bigint
  readonly batch: BatchPlace
}

export type LogicalItem = LogicalRecord | Unreadable

/** So much is read ahead of what is being compared. */
const aheadItems = 512
const aheadBytes = 262_144

/** The records of a replica's regions, one after another, as they are asked for. */
export class RecordStream {
  #items: LogicalItem[] = []
  #at = 0
  #bytes = 0
  readonly #turns: Turns

  constructor(
    private readonly files: ReplicaFiles,
    private readonly regions: readonly Region[],
    /** Above all offsets of the regions, by what is known of all replicas. */
    private readonly end: bigint,
    private readonly signal: AbortSignal | undefined,
    /** Told of a batch whose CRC is right and whose records can't all be read. */
    private readonly unreadable: (batch: BatchPlace, reason: string) => void,
  ) {
    this.#turns = new Turns(turns => this.#run(turns))
  }

  async next(): Promise<LogicalItem | undefined> {
    while (this.#at >= this.#items.length) {
      this.#items = []
      this.#at = 0
      this.#bytes = 0
      if (!(await this.#turns.next())) {
        if (this.#items.length === 0) return undefined
        break
      }
    }
    return this.#items[this.#at++]
  }

  async close(): Promise<void> {
    await this.#turns.close()
  }

  async #run(turns: Turns): Promise<void> {
    for (const region of this.regions) {
      if (turns.closing) return
      await this.#read(turns, region)
    }
  }

  async #read(turns: Turns, {segment, from, to}: Region): Promise<void> {
    const file = await this.files.open(segment)
    let place: BatchPlace | undefined
    let current: BatchCursor | undefined
    let next = 0n
    /** A batch whose CRC is false: nothing in it can be trusted, not even how many offsets it has. */
    let corrupt: BatchPlace | undefined
    const endCorrupt = (before: bigint | undefined) => {
      if (!corrupt) return
      const {baseOffset, lastOffset} = corrupt
      const end = before !== undefined && before > baseOffset && before <= lastOffset ? before : lastOffset + 1n
      this.#items.push({
        kind: 'unreadable',
        offset: baseOffset,
        to: end > baseOffset ? end : baseOffset + 1n,
        batch: corrupt,
      })
      corrupt = undefined
    }
    const isFull = () => this.#items.length >= aheadItems || this.#bytes >= aheadBytes
    await readLog(
      file,
      {
        batch: batch => {
          current = batch
          place = placeOf({batch, segment})
          next = batch.baseOffset
          endCorrupt(batch.baseOffset)
          if (!batch.crcIsRight) corrupt = place
          return batch.crcIsRight
        },
        record: record => {
          if (!current || !place) return
          next = record.offset + 1n
          this.#items.push(logical(record, current, place))
          this.#bytes += Math.max(0, record.keySize) + Math.max(0, record.valueSize) + 64
        },
        recordsDone: problem => {
          if (problem === undefined || !place) return
          // More plain bytes than kx takes is no fault of theirs.
          if (problem.kind !== 'too-large') this.unreadable(place, problem.reason)
          if (next > place.lastOffset) return
          this.#items.push({kind: 'unreadable', offset: next, to: place.lastOffset + 1n, batch: place})
        },
        get full() {
          return isFull()
        },
        drain: () => turns.handOver(),
        get enough() {
          return turns.closing
        },
      },
      {from, maxBytes: to, chunkBytes: pieceBytes, ...(this.signal && {signal: this.signal})},
    )
    endCorrupt(this.end)
  }
}

function logical(record: RecordCursor, batch: BatchCursor, place: BatchPlace): LogicalRecord {
  return {
    kind: 'record',
    offset: record.offset,
    timestamp: record.timestamp,
    timestampType: batch.timestampType,
    sequence: record.sequence,
    key: own(record.key),
    value: own(record.value),
    headers: record.headerCount === 0 ? [] : record.headers.map(({key, value}) => ({key, value: own(value)})),
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    isControl: batch.isControl,
    isTransactional: batch.isTransactional,
    batch: place,
  }
}

function own(bytes: Buffer | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes)
}

/** Whether two replicas hold the same record; the leader epoch is compared apart. */
export function sameRecord(a: LogicalRecord, b: LogicalRecord): boolean {
  return (
    a.timestamp === b.timestamp &&
    a.timestampType === b.timestampType &&
    a.sequence === b.sequence &&
    a.producerId === b.producerId &&
    a.producerEpoch === b.producerEpoch &&
    a.isControl === b.isControl &&
    a.isTransactional === b.isTransactional &&
    sameBytes(a.key, b.key) &&
    sameBytes(a.value, b.value) &&
    a.headers.length === b.headers.length &&
    a.headers.every((header, index) => {
      const other = b.headers[index]
      return other !== undefined && header.key === other.key && sameBytes(header.value, other.value)
    })
  )
}

function sameBytes(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}
