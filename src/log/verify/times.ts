import {plural} from '../../util/format.js'
import type {FindingCode} from './codes.js'
import type {Facts} from './facts.js'
import type {FindingList} from './finding-list.js'

interface Seen {
  count: number
  file: string
  /** Of the first one. */
  offset: bigint
  largest: bigint
}

/** What is worth knowing about the times in a log: counted, and told once. */
export class Times {
  readonly #list: FindingList
  readonly #now: bigint | undefined
  readonly #seen = new Map<FindingCode, Seen>()

  constructor(list: FindingList, now: bigint | undefined) {
    this.#list = list
    this.#now = now
  }

  batch(facts: Facts, file: string): void {
    const {maxTimestamp, baseTimestamp, hasDeleteHorizon, magic} = facts
    const now = this.#now
    if (magic < 2) this.#count('old-magic', facts, file, maxTimestamp)
    if (maxTimestamp < 0n && magic > 0) this.#count('no-timestamp', facts, file, maxTimestamp)
    if (now === undefined) return
    if (maxTimestamp > now) this.#count('future-timestamp', facts, file, maxTimestamp)
    if (hasDeleteHorizon && baseTimestamp < now) this.#count('horizon-passed', facts, file, baseTimestamp)
  }

  finish(): void {
    for (const [code, {count, file, offset, largest}] of this.#seen) {
      const batches = plural(count, 'batch has', 'batches have')
      const what =
        code === 'no-timestamp'
          ? 'no timestamp'
          : code === 'old-magic'
            ? 'magic 0 or 1'
            : code === 'future-timestamp'
              ? `timestamps in the future, up to ${largest}`
              : 'a delete horizon that has passed'
      this.#list.add(code, {file, offset, explanation: `${batches} ${what}; the first is at offset ${offset}`})
    }
  }

  #count(code: FindingCode, {baseOffset}: Facts, file: string, time: bigint): void {
    const seen = this.#seen.get(code)
    if (!seen) {
      this.#seen.set(code, {count: 1, file, offset: baseOffset, largest: time})
      return
    }
    seen.count++
    if (time > seen.largest) seen.largest = time
  }
}
