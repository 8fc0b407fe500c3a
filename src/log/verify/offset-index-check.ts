import {bytes as sizeText, grouped} from '../../util/format.js'
import {openOffsetIndex} from '../files/offset-index.js'
import type {OpenFile} from '../folder.js'
import type {Facts} from './facts.js'
import type {FindingList} from './finding-list.js'
import {byValue, entriesAtMost, relativeTo, tellSize, tellTooMany} from './index-entries.js'

/**
 * A stretch of log without an entry is told from here on: index.interval.bytes is 4,096 by default. Followers of brokers
 * before 4.2 made one entry for all that they fetched at once, which may be a MiB (replica.fetch.max.bytes).
 */
const sparseBytes = 262_144
const fetchedBytes = 1_048_576
const sparseFactor = 16

/** An `.index` file against the batches of its log, in one pass and in time linear in both. */
export class OffsetIndexCheck {
  readonly #list: FindingList
  readonly #file: string
  readonly #base: bigint
  readonly #relative: Int32Array
  readonly #positions: Int32Array
  /** The entries by position: files are not always in order. */
  readonly #order: Uint32Array
  readonly #isBad: Uint8Array
  #next = 0
  /** Entries that a follower of an old broker wrote: they name a later batch of the same append. */
  #pending: number[] = []
  #end = 0
  #damagedFrom = -1
  #damagedTo = -1
  /** Stretches between entries: begin of the current one, the largest batch in it, and the longest of all. */
  #stretchFrom = 0
  #largestInStretch = 0
  #longest = {bytes: 0, from: 0, largestBatch: 0}
  #matched = 0

  private constructor(list: FindingList, file: string, base: bigint, relative: Int32Array, positions: Int32Array) {
    this.#list = list
    this.#file = file
    this.#base = base
    this.#relative = relative
    this.#positions = positions
    this.#order = byValue(positions)
    this.#isBad = new Uint8Array(positions.length)
  }

  static async open(file: OpenFile, baseOffset: bigint, list: FindingList): Promise<OffsetIndexCheck> {
    const index = await openOffsetIndex(file, baseOffset)
    if (index.leftoverBytes > 0) tellSize(list, 'index-size', file, index.bytesPerEntry, index.leftoverBytes)
    const count = Math.min(index.entryCount, entriesAtMost)
    if (count < index.entryCount) tellTooMany(list, file, index.entryCount)
    const [relative, positions] = [new Int32Array(count), new Int32Array(count)]
    let n = 0
    for await (const chunk of index.entries()) {
      for (const entry of chunk) {
        if (n === count) break
        relative[n] = entry.relativeOffset
        positions[n++] = entry.position
      }
    }
    return new OffsetIndexCheck(list, file.path, baseOffset, relative.subarray(0, n), positions.subarray(0, n))
  }

  get entries(): number {
    return this.#positions.length
  }

  /** The last entry, from which on a broker looks for the end of its last segment. */
  get last(): {readonly offset: bigint; readonly position: number} | undefined {
    const last = this.entries - 1
    if (last < 0) return undefined
    return {offset: this.#base + BigInt(this.#relative[last] as number), position: this.#positions[last] as number}
  }

  batch(facts: Facts, segmentBase: bigint): void {
    this.#passTo(facts.position)
    const isIndexed = this.#positions[this.#order[this.#next] as number] === facts.position
    if (this.#pending.length > 0) this.#settle(facts, segmentBase, isIndexed)
    if (isIndexed) {
      this.#matched++
      this.#stretch(facts.position)
      for (; this.#positions[this.#order[this.#next] as number] === facts.position; this.#next++) {
        const entry = this.#order[this.#next] as number
        if (facts.crcIsRight) this.#compare(entry, relativeTo(segmentBase, facts.lastOffset), true)
      }
    }
    if (facts.sizeInBytes > this.#largestInStretch) this.#largestInStretch = facts.sizeInBytes
    this.#end = facts.end
  }

  /** Entries that point there are right about a log that is not. */
  damage(position: number, sizeInBytes: number): void {
    this.#passTo(position)
    this.#damagedFrom = position
    this.#damagedTo = position + sizeInBytes
  }

  finish(logSize: number, baseOffset: bigint): void {
    this.#passTo(Number.POSITIVE_INFINITY, logSize)
    for (const entry of this.#pending) this.#tellOffset(entry, 'no batch behind it does')
    this.#stretch(this.#end)
    this.tellOrder(baseOffset)
    const {bytes, from, largestBatch} = this.#longest
    const usual = this.#matched > 1 ? this.#end / (this.#matched + 1) : 0
    if (bytes - largestBatch < sparseBytes || bytes < usual * sparseFactor) return
    const mayBeFetched = bytes - largestBatch < fetchedBytes
    this.#list.add('index-sparse', {
      file: this.#file,
      explanation: `no entry points into the ${sizeText(bytes)} of log from byte ${grouped(from)} on`,
      ...(mayBeFetched ? {severity: 'info' as const} : {}),
    })
  }

  /** An entry for a whole append: it must end before the next one's entry. */
  #settle(facts: Facts, segmentBase: bigint, isNextAppend: boolean): void {
    const pending = this.#pending
    if (isNextAppend) {
      this.#pending = []
      for (const entry of pending) this.#tellOffset(entry, 'no batch up to the next entry does')
    } else if (facts.crcIsRight) {
      this.#pending = []
      const last = relativeTo(segmentBase, facts.lastOffset)
      for (const entry of pending) this.#compare(entry, last, false)
    }
  }

  #stretch(to: number): void {
    const bytes = to - this.#stretchFrom
    if (bytes - this.#largestInStretch > this.#longest.bytes - this.#longest.largestBatch) {
      this.#longest = {bytes, from: this.#stretchFrom, largestBatch: this.#largestInStretch}
    }
    this.#stretchFrom = to
    this.#largestInStretch = 0
  }

  /** Entries before `position` that no batch began at. */
  #passTo(position: number, logSize?: number): void {
    for (; this.#next < this.#order.length; this.#next++) {
      const entry = this.#order[this.#next] as number
      const at = this.#positions[entry] as number
      if (at >= position) break
      this.#isBad[entry] = 1
      this.#tellPosition(entry, at, logSize)
    }
  }

  #tellPosition(entry: number, at: number, logSize: number | undefined): void {
    const inDamage = at >= this.#damagedFrom && at < this.#damagedTo
    const isTail = inDamage && this.#damagedTo === logSize
    const what =
      at < 0
        ? 'which is negative'
        : inDamage
          ? `${isTail ? 'where no whole batch begins' : 'which lies in damaged bytes of the log'}`
          : logSize !== undefined && at >= logSize
            ? `and the log has ${grouped(logSize)} bytes`
            : 'where no batch begins'
    this.#list.add('index-position', {
      file: this.#file,
      position: entry * 8,
      offset: this.#base + BigInt(this.#relative[entry] as number),
      explanation: `entry ${entry} points at byte ${at} of the log, ${what}`,
      ...(inDamage ? {severity: isTail ? ('warning' as const) : ('info' as const)} : {}),
      ...(isTail ? {consequence: 'Recovery after an unclean stop writes the index anew.'} : {}),
    })
  }

  /** `isFirst`: the batch is the one that the entry points at. */
  #compare(entry: number, last: number, isFirst: boolean): void {
    const indexed = this.#relative[entry] as number
    if (indexed === last) return
    if (indexed > last) {
      this.#pending.push(entry)
      return
    }
    this.#isBad[entry] = 1
    this.#tellOffset(entry, `the ${isFirst ? 'batch there' : 'one behind it'} ends with ${this.#base + BigInt(last)}`)
  }

  #tellOffset(entry: number, what: string): void {
    this.#isBad[entry] = 1
    const relative = this.#relative[entry] as number
    this.#list.add('index-offset', {
      file: this.#file,
      position: entry * 8,
      offset: this.#base + BigInt(relative),
      explanation: `entry ${entry} says that the batch at byte ${this.#positions[entry]} ends with offset ${this.#base + BigInt(relative)}, and ${what}`,
    })
  }

  /** Entries must ascend; those that were told already are left out. */
  tellOrder(baseOffset: bigint): void {
    let before = -1
    for (let entry = 0; entry < this.#positions.length; entry++) {
      if (this.#isBad[entry]) continue
      if (before >= 0) {
        const [offset, offsetBefore] = [this.#relative[entry] as number, this.#relative[before] as number]
        const [at, atBefore] = [this.#positions[entry] as number, this.#positions[before] as number]
        if (offset <= offsetBefore || at <= atBefore) {
          this.#list.add('index-order', {
            file: this.#file,
            position: entry * 8,
            offset: baseOffset + BigInt(offset),
            explanation: `entry ${entry} (relative offset ${offset}, byte ${at}) is not above entry ${before} (${offsetBefore}, byte ${atBefore})`,
          })
        }
      }
      before = entry
    }
  }
}
