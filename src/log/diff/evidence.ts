import {differencesOf, recordAt} from './bytes.js'
import type {Held} from './ranges.js'
import type {LogicalItem} from './records.js'
import {type BatchHead, placeOf, type ReplicaFiles} from './replica.js'
import type {BatchPlace, Corruption} from './types.js'

const corruptionsKept = 100

/** What the batches of one replica are like where its bytes differ from the others'. */
export interface Evidence {
  batches: number
  readonly codecs: Set<string>
  /** Batches without records, kept by compaction for their producer's sequence. */
  emptyBatches: number
  /** Batches with a delete horizon: the cleaner has been there. */
  horizons: number
}

/** A header field that the CRC does not cover, other than on the other replicas. */
export interface OtherHeader {
  readonly replica: number
  readonly field: 'baseOffset' | 'partitionLeaderEpoch'
  /** Batches. */
  count: number
  readonly first: BatchPlace
  readonly is: bigint
  readonly shouldBe: bigint
}

/** A batch whose CRC is right, and yet something is wrong with it. */
export interface OddBatch {
  readonly replica: number
  /** `unreadable`: not all of its records can be read; `repeated`: its offsets lie below those before it. */
  readonly what: 'unreadable' | 'repeated'
  /** The first of `count`, one behind the other. */
  readonly batch: BatchPlace
  readonly reason: string
  count: number
  lastOffset: bigint
}

/** Why bytes differ where the records are the same. */
export interface Reasons {
  compacted: boolean
  cut: boolean
  readonly codecs: Set<string>
  other: boolean
}

/** What is noticed while replicas are compared, beside the ranges. */
export class Findings {
  readonly corruptions: Corruption[] = []
  corruptionsLeftOut = 0
  readonly headers: OtherHeader[] = []
  readonly odd: OddBatch[] = []
  oddLeftOut = 0
  readonly reasons: Reasons = {compacted: false, cut: false, codecs: new Set(), other: false}
  /** Records that a replica lacks in the middle of its log, though compaction can't have taken them: they have no key. */
  readonly lostWithoutKey: number[]
  readonly totals: readonly Evidence[]

  constructor(replicas: readonly ReplicaFiles[]) {
    this.lostWithoutKey = replicas.map(() => 0)
    this.totals = replicas.map(() => ({batches: 0, codecs: new Set(), emptyBatches: 0, horizons: 0}))
  }

  /** A batch whose CRC is false, and the same batch of a replica where it is right. */
  corrupt(
    replica: number,
    head: BatchHead,
    right: {readonly index: number; readonly head: BatchHead} | undefined,
  ): void {
    if (this.corruptions.length >= corruptionsKept) {
      this.corruptionsLeftOut++
      return
    }
    const {batch} = head
    const known =
      right && batch.bytes.length === batch.sizeInBytes && right.head.batch.bytes.length === batch.sizeInBytes
    const found = known
      ? differencesOf(batch.bytes, right.head.batch.bytes, batch.position, recordAt(right.head.batch))
      : undefined
    this.corruptions.push({
      replica,
      batch: placeOf(head),
      bytes: found?.bytes ?? null,
      differingBytes: found?.differingBytes ?? 0,
      ...(found && right && {against: right.index}),
    })
  }

  oddBatch(odd: Omit<OddBatch, 'count' | 'lastOffset'>): void {
    const {lastOffset} = odd.batch
    const before = this.odd.findLast(({replica}) => replica === odd.replica)
    if (odd.what === 'repeated' && before?.what === 'repeated' && before.lastOffset + 1n === odd.batch.baseOffset) {
      before.count++
      before.lastOffset = lastOffset
    } else if (this.odd.length < corruptionsKept) this.odd.push({...odd, count: 1, lastOffset})
    else this.oddLeftOut++
  }

  /** Base offset and leader epoch of batches that are the same from byte 16 on. */
  headerBytes(heads: readonly (BatchHead | undefined)[], base: bigint): void {
    const epochs = heads.flatMap(head => (head ? [head.batch.leaderEpoch] : []))
    const epoch = majority(epochs)
    heads.forEach((head, replica) => {
      if (!head || head.batch.magic < 2) return
      const {baseOffset, leaderEpoch} = head.batch
      if (baseOffset !== base) this.#header(replica, 'baseOffset', head, baseOffset, base)
      if (leaderEpoch !== epoch) this.#header(replica, 'partitionLeaderEpoch', head, BigInt(leaderEpoch), BigInt(epoch))
    })
  }

  /** A batch that is not as on the others. */
  see(evidence: Evidence, replica: number, head: BatchHead): void {
    const {batch} = head
    evidence.batches++
    if (!batch.crcIsRight) this.corrupt(replica, head, undefined)
    if (batch.recordsCount === 0) evidence.emptyBatches++
    if (batch.magic >= 2 && batch.deleteHorizonMs !== null) evidence.horizons++
    evidence.codecs.add(batch.codec)
  }

  /** After the records of a span were compared: why their batches have other bytes, if the records are the same. */
  differentBatches(evidence: readonly Evidence[], recordsDiffer: boolean): void {
    evidence.forEach((one, index) => {
      const total = this.totals[index]
      if (!total) return
      total.batches += one.batches
      total.emptyBatches += one.emptyBatches
      total.horizons += one.horizons
    })
    if (recordsDiffer) return
    const present = evidence.filter(({batches}) => batches > 0)
    const codecs = new Set(present.map(one => [...one.codecs].sort().join('+')))
    if (present.some(({emptyBatches, horizons}) => emptyBatches > 0 || horizons > 0)) this.reasons.compacted = true
    else if (codecs.size > 1) for (const codec of codecs) this.reasons.codecs.add(codec)
    else if (new Set(present.map(({batches}) => batches)).size > 1) this.reasons.cut = true
    else this.reasons.other = true
  }

  /** Compaction takes records that have a key, and markers; a record without a key is never taken. */
  missingKeys(held: readonly Held[], records: readonly (LogicalItem | undefined)[]): void {
    const record = records.find(item => item?.kind === 'record')
    if (record?.kind !== 'record' || record.isControl || record.key !== null) return
    held.forEach(({holding}, index) => {
      if (holding === 'absent') this.lostWithoutKey[index] = (this.lostWithoutKey[index] ?? 0) + 1
    })
  }

  #header(replica: number, field: OtherHeader['field'], head: BatchHead, is: bigint, shouldBe: bigint): void {
    const known = this.headers.find(one => one.replica === replica && one.field === field)
    if (known) known.count++
    else this.headers.push({replica, field, count: 1, first: placeOf(head), is, shouldBe})
  }
}

/** What most have; of equally many the first. */
function majority(values: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  let best = values[0] ?? 0
  for (const [value, count] of counts) if (count > (counts.get(best) ?? 0)) best = value
  return best
}
