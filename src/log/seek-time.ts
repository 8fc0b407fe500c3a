import {at} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {crc32c} from './crc32c.js'
import {mayBegin} from './damage.js'
import type {TimeIndex, TimeIndexEntry} from './files/time-index.js'

const leastWindow = 512
const largestWindow = 131_072
/** A larger batch is not read for its CRC. */
const checkedBytes = 4_194_304
const uint32 = 0x1_0000_0000
const readsBetweenTurns = 1_024

/** One that gives small pieces without waiting. */
export type NearSource = ByteSource & Required<Pick<ByteSource, 'readNow'>>

export interface SeekOptions {
  /** The first byte of a batch; default 0. */
  readonly from?: number
  readonly signal?: AbortSignal
  /** Lets others have their turn, signals among them. */
  readonly turn?: () => Promise<void>
}

/**
 * Where the reading of a log may begin for records that are not older than `time` (ms since 1970): of the batches before,
 * each says in its header that all its records are older. From there on readLog gives what it would give from `from` on.
 *
 * A length lies outside the CRC, and so it is believed only if the next batch begins where it leads, and goes on with the
 * next offset; or if the CRC of the batch is right, where offsets are missing. The reading begins at the first batch of
 * which that can't be said.
 */
export async function startOfTime(source: NearSource, time: bigint, options: SeekOptions = {}): Promise<number> {
  return (await walked(source, time, options)) ?? options.from ?? 0
}

/**
 * The same by the time index: of the batches up to where its entries point nothing is read. `undefined`: the log does not
 * bear the entries out.
 * @param options `from` lies at or before the batch of the first entry
 */
export async function startByTimeIndex(
  source: NearSource,
  time: bigint,
  entries: IndexedTimes,
  options: SeekOptions = {},
): Promise<number | undefined> {
  return walked(source, time, options, new Confirmation(entries))
}

async function walked(
  source: NearSource,
  time: bigint,
  options: SeekOptions,
  confirmation?: Confirmation,
): Promise<number | undefined> {
  const {from = 0} = options
  const headers = new Headers(source, options)
  let [start, following] = [from, Number.NaN]
  const stopped = () => (confirmation?.isDone === false ? undefined : start)
  for (let position = from; ; ) {
    const place = headers.placeOf(position)
    if (place < 0) {
      if (await headers.fetch(position)) continue
      return stopped()
    }
    const head = headers.bytes
    const sizeInBytes = head.readInt32BE(place + at.batchLength) + at.batchLength + 4
    const isHeader = head[place + at.magic] === 2 && mayBegin(head.subarray(place, place + at.records))
    if (!isHeader || position + sizeInBytes > source.size) return stopped()
    const baseOffset = head.readInt32BE(place) * uint32 + head.readUInt32BE(place + 4)
    const maxTimestamp = head.readBigInt64BE(place + at.maxTimestamp)
    const next = baseOffset + head.readInt32BE(place + at.lastOffsetDelta) + 1
    const follows = position === from || baseOffset === following
    if (!follows && !(baseOffset > following && (await isWhole(source, start, position)))) return stopped()
    start = position
    if (confirmation?.contradicts(next - 1, maxTimestamp)) return undefined
    // Where numbers are not exact no offset follows another one.
    if (maxTimestamp >= time || !Number.isSafeInteger(next)) return stopped()
    following = next
    position += sizeInBytes
  }
}

/** Neighbouring entries of a time index, all of them older than the time that is looked for. */
export interface IndexedTimes {
  readonly entries: readonly Pick<TimeIndexEntry, 'timestamp' | 'offset'>[]
  /** The first of them is the first of the index. */
  readonly isComplete: boolean
}

/** A wrong start would need as many entries that are wrong, and yet fit the log. */
const entriesConfirmed = 8

/**
 * The entries of a time index that a start can be taken from: the last ones that are older than `time`. `undefined`: there
 * are none, or timestamps and offsets do not ascend all through the index, as they do in each that Kafka writes.
 */
export async function indexedTimes(index: TimeIndex, time: bigint): Promise<IndexedTimes | undefined> {
  if (index.leftoverBytes > 0) return undefined
  const kept: TimeIndexEntry[] = []
  let previous: TimeIndexEntry | undefined
  let older = 0
  for await (const entries of index.entries('right')) {
    for (const entry of entries) {
      if (entry.relativeOffset < 0) return undefined
      if (previous && (entry.timestamp <= previous.timestamp || entry.offset <= previous.offset)) return undefined
      previous = entry
      if (entry.timestamp >= time) continue
      older++
      kept.push(entry)
      if (kept.length > entriesConfirmed) kept.shift()
    }
  }
  return older === 0 ? undefined : {entries: kept, isComplete: older === kept.length}
}

/**
 * Whether the batches bear out what the entries of a time index say. An entry names the last offset of the batch with
 * which the largest timestamp so far was reached, and that timestamp (LogSegment.append): the batches between two entries
 * stay below the second one.
 */
class Confirmation {
  readonly #times: IndexedTimes
  #next = 0

  constructor(times: IndexedTimes) {
    this.#times = times
  }

  get isDone(): boolean {
    return this.#next === this.#times.entries.length
  }

  contradicts(lastOffset: number, maxTimestamp: bigint): boolean {
    const entry = this.#times.entries[this.#next]
    if (entry === undefined) return false
    const offset = Number(entry.offset)
    if (lastOffset > offset || !Number.isSafeInteger(lastOffset)) return true
    if (lastOffset === offset) {
      this.#next++
      return maxTimestamp !== entry.timestamp
    }
    const isBetween = this.#next > 0 || this.#times.isComplete
    return isBetween && maxTimestamp >= entry.timestamp
  }
}

/** Whether the batch that ends at `end` has a right CRC. */
async function isWhole(source: ByteSource, position: number, end: number): Promise<boolean> {
  if (end - position > checkedBytes) return false
  const bytes = await source.read(position, end - position)
  return bytes.length === end - position && crc32c(bytes.subarray(at.attributes)) === bytes.readUInt32BE(at.crc)
}

/** Reads little where batches are large, and much at once where many lie close together. */
class Headers {
  readonly bytes = Buffer.allocUnsafe(largestWindow)
  readonly #source: NearSource
  readonly #options: SeekOptions
  #from = 0
  #length = 0
  #window = leastWindow
  #reads = 0

  constructor(source: NearSource, options: SeekOptions) {
    this.#source = source
    this.#options = options
  }

  /** Where in `bytes` the header at `position` lies; −1: it is not held. */
  placeOf(position: number): number {
    const place = position - this.#from
    return place + at.records <= this.#length ? place : -1
  }

  /** Reads it. False: the source ends before its end. */
  async fetch(position: number): Promise<boolean> {
    if (++this.#reads % readsBetweenTurns === 0) await this.#options.turn?.()
    this.#options.signal?.throwIfAborted()
    const isNear = position < this.#from + 2 * this.#length
    this.#window = isNear ? Math.min(largestWindow, 2 * this.#window) : leastWindow
    this.#from = position
    this.#length = this.#source.readNow(position, this.bytes.subarray(0, this.#window))
    return this.#length >= at.records
  }
}
