import {grouped} from '../../util/format.js'
import type {Facts} from './facts.js'
import type {FindingList, NewFinding} from './finding-list.js'

const maxRelativeOffset = 0x7fff_ffffn
const gapsKept = 100

interface Gap {
  readonly code: 'offset-gap' | 'segment-gap'
  readonly finding: NewFinding
}

/** Where the segment that is being read stands among the others. */
export interface SegmentPlace {
  readonly file: string
  /** From the name. */
  readonly baseOffset?: bigint | undefined
  /** That of the next segment. */
  readonly nextBaseOffset?: bigint | undefined
}

/**
 * Offsets must rise from batch to batch and from segment to segment. Whether a gap is a finding is only known at the end:
 * in a compacted topic it is normal, so gaps are kept until then.
 */
export class OffsetOrder {
  /** Offsets that are missing in gaps, as far as damage does not explain them. */
  missing = 0n
  gapCount = 0
  /** The offset that should follow; undefined before the first batch of a log whose base offset is not known. */
  next: bigint | undefined

  readonly #list: FindingList
  readonly #gaps: Gap[] = []
  #place: SegmentPlace = {file: ''}
  #previousBase: bigint | undefined
  #previousLast: bigint | undefined
  /** Damage lies between: what is missing is no gap. */
  #isUncertain = false
  #overlapTold = false

  constructor(list: FindingList) {
    this.#list = list
  }

  segment(place: SegmentPlace): void {
    const {baseOffset, file} = place
    this.#place = place
    this.#overlapTold = false
    if (baseOffset === undefined) return
    if (this.next !== undefined && baseOffset > this.next) {
      this.#gap('segment-gap', this.next, baseOffset, {
        file,
        offset: this.next,
        explanation: `the segment before ends with offset ${this.next - 1n}, and this one begins at ${baseOffset}: ${missingText(baseOffset - this.next)}`,
      })
    }
    if (this.next === undefined || baseOffset > this.next) this.next = baseOffset
  }

  /** Damage begins: its offsets are not known until the next batch. */
  damaged(): void {
    this.#isUncertain = true
  }

  batch(facts: Facts): void {
    const {baseOffset, lastOffset} = facts
    this.#range(facts)
    const previousLast = this.#previousLast
    if (previousLast !== undefined && baseOffset <= previousLast) this.#falls(facts, previousLast)
    else if (this.next !== undefined && baseOffset > this.next && !facts.hidesItsBase) {
      this.#gap('offset-gap', this.next, baseOffset, {
        file: this.#place.file,
        position: facts.position,
        offset: baseOffset,
        explanation: `${this.#before(this.next)} ${baseOffset}: ${missingText(baseOffset - this.next)}`,
      })
    }
    this.#isUncertain = !facts.crcIsRight || (previousLast !== undefined && baseOffset <= previousLast)
    this.#previousBase = baseOffset
    this.#previousLast = highest(lastOffset, baseOffset)
    this.next = this.#previousLast + 1n
  }

  /** Tells the gaps, unless the topic is compacted. */
  finish(isCompacted: boolean): void {
    if (isCompacted) return
    for (const {code, finding} of this.#gaps) this.#list.add(code, finding)
    const more = this.gapCount - this.#gaps.length
    if (more > 0) this.#list.more('offset-gap', 'warning', more)
  }

  #before(next: bigint): string {
    return this.#previousLast === undefined || this.#previousLast < next - 1n
      ? `the segment begins with offset ${next} by its name, and its first batch with`
      : `offset ${next - 1n} is followed by`
  }

  #range({baseOffset, lastOffset, lastOffsetDelta, position}: Facts): void {
    const {file, baseOffset: segmentBase, nextBaseOffset} = this.#place
    const at = {file, position, offset: baseOffset}
    if (baseOffset < 0n) this.#list.add('offset-negative', {...at, explanation: `the base offset is ${baseOffset}`})
    if (lastOffsetDelta >= 0 && lastOffset < baseOffset) {
      const explanation = `the batch begins at ${baseOffset}, and its last offset, ${lastOffsetDelta} further on, is beyond 2^63 − 1`
      this.#list.add('offset-overflow', {...at, explanation})
    } else if (segmentBase !== undefined && lastOffset - segmentBase > maxRelativeOffset) {
      const explanation = `the last offset ${lastOffset} is more than 2^31 − 1 beyond the segment's base offset ${segmentBase}`
      this.#list.add('offset-overflow', {...at, explanation})
    }
    if (segmentBase !== undefined && baseOffset >= 0n && baseOffset < segmentBase) {
      const explanation = `the base offset ${baseOffset} is below the segment's own, ${segmentBase}, which its name says`
      this.#list.add('offset-before-name', {...at, explanation})
    }
    if (nextBaseOffset !== undefined && lastOffset >= nextBaseOffset && !this.#overlapTold) {
      this.#overlapTold = true
      const explanation = `the batch reaches to offset ${lastOffset}, and the next segment begins at ${nextBaseOffset}`
      this.#list.add('segment-overlap', {...at, explanation})
    }
  }

  #falls({baseOffset, lastOffset, position}: Facts, previousLast: bigint): void {
    const at = {file: this.#place.file, position, offset: baseOffset}
    if (lastOffset >= previousLast) {
      const isSame = baseOffset === this.#previousBase && lastOffset === previousLast
      const explanation = isSame
        ? `offsets ${baseOffset} to ${lastOffset} are there twice`
        : `the batch has the offsets ${baseOffset} to ${lastOffset}, and the one before ends with ${previousLast}`
      this.#list.add('offset-overlap', {...at, explanation})
      return
    }
    const explanation = `the base offset ${baseOffset} is not above the last offset of the batch before, ${previousLast}`
    this.#list.add('offset-regress', {...at, explanation})
  }

  #gap(code: Gap['code'], from: bigint, to: bigint, finding: NewFinding): void {
    if (this.#isUncertain) return
    this.missing += to - from
    this.gapCount++
    if (this.#gaps.length < gapsKept) this.#gaps.push({code, finding})
  }
}

function missingText(count: bigint): string {
  return count === 1n ? 'one offset is missing' : `${grouped(count)} offsets are missing`
}

function highest(a: bigint, b: bigint): bigint {
  return a < b ? b : a
}
