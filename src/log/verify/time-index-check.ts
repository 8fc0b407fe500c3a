import {openTimeIndex} from '../files/time-index.js'
import type {OpenFile} from '../folder.js'
import type {RecordCursor} from '../record-cursor.js'
import type {Facts} from './facts.js'
import type {FindingList, NewFinding} from './finding-list.js'
import {byValue, entriesAtMost, relativeTo, tellSize, tellTooMany} from './index-entries.js'

/** A `.timeindex` file against the batches of its log, in one pass and in time linear in both. */
export class TimeIndexCheck {
  /** Whether space behind the entries shows that the file was not closed. */
  readonly isPreallocated: boolean

  readonly #list: FindingList
  readonly #file: string
  readonly #timestamps: BigInt64Array
  readonly #relative: Int32Array
  readonly #order: Uint32Array
  readonly #isBad: Uint8Array
  #next = 0
  #lastTrusted = -1
  #largest = -1n
  #largestAt = 0n
  /** Entries that name an offset inside the current batch, and the offset's record is still to come. */
  #inner: number[] = []
  /** What lies before the next batch is damaged, or what lay in the last one is not to be trusted. */
  #isDamaged = false

  private constructor(
    list: FindingList,
    file: string,
    timestamps: BigInt64Array,
    relative: Int32Array,
    isPreallocated: boolean,
  ) {
    this.#list = list
    this.#file = file
    this.#timestamps = timestamps
    this.#relative = relative
    this.#order = byValue(relative)
    this.#isBad = new Uint8Array(relative.length)
    this.isPreallocated = isPreallocated
  }

  static async open(file: OpenFile, baseOffset: bigint, list: FindingList): Promise<TimeIndexCheck> {
    const index = await openTimeIndex(file, baseOffset)
    if (index.leftoverBytes > 0) tellSize(list, 'timeindex-size', file, index.bytesPerEntry, index.leftoverBytes)
    const count = Math.min(index.entryCount, entriesAtMost)
    if (count < index.entryCount) tellTooMany(list, file, index.entryCount)
    const [timestamps, relative] = [new BigInt64Array(count), new Int32Array(count)]
    let n = 0
    for await (const chunk of index.entries()) {
      for (const entry of chunk) {
        if (n === count) break
        timestamps[n] = entry.timestamp
        relative[n++] = entry.relativeOffset
      }
    }
    const isPreallocated = index.preallocatedFrom !== undefined
    return new TimeIndexCheck(list, file.path, timestamps.subarray(0, n), relative.subarray(0, n), isPreallocated)
  }

  get entries(): number {
    return this.#relative.length
  }

  /**
   * Brokers up to 3.6 named the offset of the record with the largest timestamp, later ones that of its batch's end: with
   * an entry of the first kind the records of the batch must be shown.
   */
  get wantsRecords(): boolean {
    return this.#inner.length > 0
  }

  record(record: RecordCursor, segmentBase: bigint): void {
    const offset = relativeTo(segmentBase, record.offset)
    this.#inner = this.#inner.filter(
      entry => this.#relative[entry] !== offset || this.#timestamps[entry] !== record.timestamp,
    )
  }

  /** After the records of a batch; `isWhole`: all of them could be read. */
  recordsDone(segmentBase: bigint, isWhole: boolean): void {
    const inner = this.#inner
    this.#inner = []
    if (!isWhole) return
    for (const entry of inner) {
      this.#tell(entry, segmentBase, 'is neither the last one of its batch nor that of a record with this timestamp')
    }
  }

  damage(): void {
    this.#isDamaged = true
  }

  batch(facts: Facts, segmentBase: bigint): void {
    const isBehindDamage = this.#isDamaged
    this.#isDamaged = !facts.crcIsRight
    this.#inner = []
    if (facts.crcIsRight && facts.maxTimestamp > this.#largest) {
      this.#largest = facts.maxTimestamp
      this.#largestAt = facts.lastOffset
    }
    if (this.#next >= this.#order.length) return
    const last = relativeTo(segmentBase, facts.lastOffset)
    let first: number | undefined
    for (; this.#next < this.#order.length; this.#next++) {
      const entry = this.#order[this.#next] as number
      const offset = this.#relative[entry] as number
      if (offset > last) break
      first ??= relativeTo(segmentBase, facts.baseOffset)
      if (offset < first && isBehindDamage) this.#tellDamaged(entry, segmentBase, false)
      else if (offset < first) this.#tell(entry, segmentBase, 'is not in the log')
      else if (!facts.crcIsRight) continue
      else if (this.#timestamps[entry] === facts.maxTimestamp) {
        if (offset !== last) this.#inner.push(entry)
      } else {
        this.#isBad[entry] = 1
        this.#list.add('timeindex-timestamp', {
          file: this.#file,
          position: entry * 12,
          offset: segmentBase + BigInt(offset),
          explanation: `entry ${entry} gives offset ${segmentBase + BigInt(offset)} the timestamp ${this.#timestamps[entry]}, and its batch has ${facts.maxTimestamp}`,
        })
      }
    }
  }

  /** `isClosed`: the last entry must be the segment's largest timestamp. `isWhole`: no damage lies in the log. */
  finish(segmentBase: bigint, {isClosed, isWhole}: {readonly isClosed: boolean; readonly isWhole: boolean}): void {
    for (; this.#next < this.#order.length; this.#next++) {
      const entry = this.#order[this.#next] as number
      if (this.#isDamaged) this.#tellDamaged(entry, segmentBase, true)
      else this.#tell(entry, segmentBase, 'is not in the log')
    }
    this.tellOrder(segmentBase)
    if (!isClosed || !isWhole || this.#largest < 0n) return
    const last = this.#lastTrusted < 0 ? undefined : this.#timestamps[this.#lastTrusted]
    if (this.#lastTrusted !== this.#timestamps.length - 1) return
    if (last !== undefined && last >= this.#largest) return
    this.#list.add('timeindex-last', {
      file: this.#file,
      offset: this.#largestAt,
      explanation: `the ${last === undefined ? 'file has no entry' : `last entry is ${last}`}, and the segment's largest timestamp is ${this.#largest}, at offset ${this.#largestAt}`,
    })
  }

  /** An entry that was right about a log that is damaged. */
  #tellDamaged(entry: number, segmentBase: bigint, isTail: boolean): void {
    const what = isTail ? 'lies behind the last whole batch' : 'lies in damaged bytes of the log'
    this.#tell(
      entry,
      segmentBase,
      what,
      isTail
        ? {severity: 'warning', consequence: 'Recovery after an unclean stop writes the time index anew.'}
        : {severity: 'info'},
    )
  }

  #tell(
    entry: number,
    segmentBase: bigint,
    what: string,
    circumstances: Partial<Pick<NewFinding, 'severity' | 'consequence'>> = {},
  ): void {
    this.#isBad[entry] = 1
    const offset = segmentBase + BigInt(this.#relative[entry] as number)
    this.#list.add('timeindex-offset', {
      file: this.#file,
      position: entry * 12,
      offset,
      explanation: `entry ${entry} (timestamp ${this.#timestamps[entry]}) names offset ${offset}, which ${what}`,
      ...circumstances,
    })
  }

  /** Entries must ascend; those that were told already are left out. */
  tellOrder(segmentBase: bigint): void {
    let before = -1
    for (let entry = 0; entry < this.#relative.length; entry++) {
      if (this.#isBad[entry]) continue
      this.#lastTrusted = entry
      if (before >= 0) {
        const [time, timeBefore] = [this.#timestamps[entry] as bigint, this.#timestamps[before] as bigint]
        const [offset, offsetBefore] = [this.#relative[entry] as number, this.#relative[before] as number]
        if (time < timeBefore || offset < offsetBefore) {
          this.#list.add('timeindex-order', {
            file: this.#file,
            position: entry * 12,
            offset: segmentBase + BigInt(offset),
            explanation: `entry ${entry} (${time}, relative offset ${offset}) is below entry ${before} (${timeBefore}, ${offsetBefore})`,
          })
        }
      }
      before = entry
    }
  }
}
