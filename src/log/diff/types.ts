import type {EpochEntry} from '../files/checkpoints.js'
import type {Folder} from '../folder.js'
import type {Severity} from '../finding.js'

/** A replica of the partition: a folder on a disk, a copy of one, or that of a running broker. */
export interface ReplicaInput {
  /** Short, and different from those of the others: it stands in sentences. */
  readonly name: string
  readonly folder: Folder
  /** Bytes of a file, where that is cheaper than to open it. */
  readonly sizeOf?: (name: string) => Promise<number | undefined>
  /** As the cluster says; not known of folders. */
  readonly role?: 'leader' | 'follower'
}

export interface DiffOptions {
  /** Compare only below this offset: the high watermark of a live partition. What lies above is legal on a leader. */
  readonly upTo?: bigint
  /** Where the partition begins for readers (DeleteRecords), if a broker says so. */
  readonly logStartOffset?: bigint
  readonly signal?: AbortSignal
  /** Bytes read so far, of all replicas, and bytes in all. */
  readonly progress?: (done: number, total: number) => void
}

/**
 * What a replica has at an offset, beside the others: `0`, `1`, … : a record; the same number, the same record.
 * `absent`: a hole. `ended`: behind its log's end. `unreadable`: damaged bytes. `corrupt`: a batch whose CRC is false.
 */
export type Holding = number | 'absent' | 'ended' | 'unreadable' | 'corrupt'

/** First and last leader epoch of a replica's batches in a range. */
export interface EpochSpan {
  readonly first: number
  readonly last: number
}

/** Offsets in which all replicas stand to each other in the same way. */
export interface DiffRange {
  readonly from: bigint
  /** Exclusive. */
  readonly to: bigint
  /** One per replica, in their order. */
  readonly holdings: readonly Holding[]
  readonly records: readonly number[]
  readonly epochs: readonly (EpochSpan | null)[]
  /** `bytes`: equal batches from byte 16 on. `records`: the batches differ in bytes, so their records were compared. */
  readonly comparedBy: 'bytes' | 'records'
}

/** A batch of a replica, where it lies. */
export interface BatchPlace {
  readonly segment: string
  readonly position: number
  readonly sizeInBytes: number
  readonly baseOffset: bigint
  readonly lastOffset: bigint
  readonly leaderEpoch: number
  readonly crc: number
  readonly crcIsRight: boolean
}

/** The first offset at which two replicas have different records. */
export interface Divergence {
  readonly offset: bigint
  /** The batch that holds it, per replica; `null` where it has none. */
  readonly batches: readonly (BatchPlace | null)[]
}

/** A byte that differs from that of a replica whose batch is right. */
export interface ByteDifference {
  /** In the file. */
  readonly position: number
  /** In the batch. */
  readonly index: number
  /** The field, as Kafka names it, or `records`. */
  readonly field: string
  readonly is: number
  readonly shouldBe: number
  /** Which bits differ; 0 is the least significant. */
  readonly bits: readonly number[]
  /** The record it lies in, if the records are not compressed. */
  readonly offset?: bigint
}

export interface Corruption {
  readonly replica: number
  readonly batch: BatchPlace
  /** `null` if no other replica has this batch whole. The first 16 of them. */
  readonly bytes: readonly ByteDifference[] | null
  readonly differingBytes: number
  /** Whose batch it was compared with. */
  readonly against?: number
}

/** Bytes of a replica that are no batch. */
export interface ReplicaDamage {
  readonly replica: number
  readonly segment: string
  readonly position: number
  readonly sizeInBytes: number
  readonly kind: string
  readonly reason: string
  /** The next offset before it, and the base offset of the batch behind it (`null`: nothing is behind it). */
  readonly from: bigint
  readonly to: bigint | null
  readonly bytes: readonly ByteDifference[] | null
  readonly differingBytes: number
  readonly against?: number
}

export interface ReplicaSummary {
  readonly name: string
  readonly path: string
  readonly role: 'leader' | 'follower' | null
  /** Base offsets of its segments. */
  readonly segments: readonly bigint[]
  readonly sizeInBytes: number
  readonly logStartOffset: bigint
  /** One above its last offset; with `upTo`: of what was looked at. */
  readonly logEndOffset: bigint
  /** Of the offsets that were compared. */
  readonly batches: number
  readonly records: number
  /** `leader-epoch-checkpoint`; `null` if there is none. */
  readonly checkpoint: readonly EpochEntry[] | null
  /** As the batches say. */
  readonly epochs: readonly EpochEntry[]
}

export type ConclusionCode =
  | 'equal'
  | 'equal-by-records'
  | 'divergence'
  | 'conflict'
  | 'corruption'
  | 'damage'
  | 'cut-batch'
  | 'hole'
  | 'compaction'
  | 'tail'
  | 'epoch-bytes'
  | 'base-offset-bytes'
  | 'log-start'
  | 'segments'
  | 'nothing-shared'
  | 'epoch-checkpoint'
  | 'above-high-watermark'

/** A sentence that follows from the comparison. Errors and warnings are differences; `info` is legal. */
export interface Conclusion {
  readonly code: ConclusionCode
  readonly severity: Severity
  /** Names of the replicas that it is about. */
  readonly replicas: readonly string[]
  readonly from?: bigint
  /** Exclusive. */
  readonly to?: bigint
  readonly records?: number
  /** Where Kafka would cut these replicas to. */
  readonly truncatesTo?: bigint
  readonly text: string
}

export interface ReplicaDiff {
  readonly replicas: readonly ReplicaSummary[]
  /** What was compared: from the highest log start up to the highest log end or `upTo`. */
  readonly from: bigint
  readonly to: bigint
  /** The first offset that not all replicas have alike; `to` if there is none. */
  readonly equalUpTo: bigint
  readonly equal: boolean
  readonly comparedBy: 'bytes' | 'records'
  readonly divergence: Divergence | null
  readonly ranges: readonly DiffRange[]
  /** More ranges were found than are kept. */
  readonly rangesLeftOut: number
  readonly corruptions: readonly Corruption[]
  readonly corruptionsLeftOut: number
  readonly damages: readonly ReplicaDamage[]
  readonly conclusions: readonly Conclusion[]
}
