import type {CodecName} from '../codecs.js'
import type {DecoderName} from '../decode/decoder.js'
import type {FileKind} from '../files/kinds.js'
import type {Finding, Severity} from '../finding.js'
import type {Folder} from '../folder.js'
import type {FindingCode} from './codes.js'

/** A folder whose subfolders can be opened. `folder` gives `undefined` for a name that is not there or no folder. */
export interface FolderTree extends Folder {
  folder(name: string): Promise<FolderTree | undefined>
}

export interface VerifyOptions {
  /** Decodes the records of internal topics and tells what is left over. Default: by the folder's topic. */
  readonly decoder?: DecoderName | 'none'
  /** The plain size that a compressed batch may have; beyond it its records are not checked. Default: that of `readLog`. */
  readonly maxDecompressedBytes?: number
  /** Whether the topic is compacted (cleanup.policy), where that is known. Default: it is inferred from the log. */
  readonly compacted?: boolean
  /** A transaction that is open for longer is hanging; default 900,000 ms (transaction.max.timeout.ms). */
  readonly hangingAfterMs?: number
  /** The wall clock in ms since 1970; `src/log` has none. Without it nothing is told about the future and about delete horizons. */
  readonly now?: bigint
  /** How many findings of one code are kept one by one; the rest is counted. Default 100. */
  readonly findingsPerCode?: number
  readonly signal?: AbortSignal
  /** Told after each piece of a log: bytes read so far, and bytes in all. */
  readonly progress?: (done: number, total: number) => void
}

export interface FindingCount {
  readonly code: FindingCode
  readonly severity: Severity
  readonly count: number
}

/** What every report has. */
export interface Findings {
  /** The first ones of each code, in the order of severity, file and position. */
  readonly findings: readonly Finding[]
  /** All of them, by code and severity. */
  readonly findingCounts: readonly FindingCount[]
  /** Sentences for people: what is there, the first damage, what is readable behind it, what Kafka itself would do. */
  readonly conclusions: readonly string[]
}

export interface CodecSummary {
  readonly codec: CodecName
  readonly batches: number
  readonly records: number
  /** Of the records as they lie in the file, without batch headers. */
  readonly storedBytes: number
  /** Of the records uncompressed. */
  readonly plainBytes: number
  /** Plain by stored; 1 for `none`. */
  readonly ratio: number
}

export interface ProducerSummary {
  readonly producerId: bigint
  readonly firstEpoch: number
  readonly lastEpoch: number
  readonly batches: number
  readonly records: number
  readonly firstOffset: bigint
  readonly lastOffset: bigint
  readonly isTransactional: boolean
}

export interface LeaderEpochSummary {
  readonly epoch: number
  readonly firstOffset: bigint
  readonly lastOffset: bigint
  readonly batches: number
}

export interface OpenTransaction {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly firstOffset: bigint
  readonly lastOffset: bigint
  /** Of its newest record, by the client's clock. */
  readonly timestamp: bigint
  /** By the timestamps in the log; `undefined`: they don't say. */
  readonly openForMs?: number
  readonly isHanging: boolean
}

export interface AbortedRange {
  readonly producerId: bigint
  readonly firstOffset: bigint
  /** Of the marker. */
  readonly lastOffset: bigint
}

export interface TransactionsSummary {
  readonly committed: number
  readonly aborted: number
  /** Markers without any data before them in this log. */
  readonly withoutData: number
  readonly open: readonly OpenTransaction[]
  /** The first 1,000. */
  readonly abortedRanges: readonly AbortedRange[]
  /** Up to where `read_committed` may read; `undefined`: there are no transactions. */
  readonly lastStableOffset?: bigint
}

/** What lies in one log (or snapshot), or in all segments of a partition. */
export interface LogSummary {
  readonly batches: number
  /** Those that could be read. */
  readonly records: number
  readonly controlBatches: number
  /** Batches without records, as compaction keeps them. */
  readonly emptyBatches: number
  readonly sizeInBytes: number
  /** Bytes that belong to no whole batch. */
  readonly damagedBytes: number
  /** Batches whose CRC is false or whose records can't all be read. */
  readonly damagedBatches: number
  /** Undefined: no batch is there. */
  readonly firstOffset?: bigint
  readonly lastOffset?: bigint
  /** Of records and batches, in ms; −1 is left out. */
  readonly firstTimestamp?: bigint
  readonly lastTimestamp?: bigint
  readonly magics: readonly number[]
  readonly codecs: readonly CodecSummary[]
  /** The 1,000 that wrote most. */
  readonly producers: readonly ProducerSummary[]
  readonly producerCount: number
  readonly leaderEpochs: readonly LeaderEpochSummary[]
  readonly transactions: TransactionsSummary
  /** Batches that carry a delete horizon, and between which times these lie, in ms. */
  readonly deleteHorizons?: {readonly batches: number; readonly first: bigint; readonly last: bigint}
  readonly isCompacted: boolean
  /** Offsets that are missing between batches. */
  readonly missingOffsets: bigint
}

/** `absent`: not there, and nobody misses it. */
export type BesideState = 'ok' | 'absent' | 'missing' | 'findings'

export interface SegmentSummary extends LogSummary {
  readonly name: string
  /** From the name. */
  readonly baseOffset?: bigint
  readonly isActive: boolean
  readonly offsetIndex: BesideState
  readonly timeIndex: BesideState
  readonly transactionIndex: BesideState
  readonly findings: number
}

export interface FileReport extends Findings {
  readonly path: string
  readonly name: string
  readonly role: FileKind
  readonly sizeInBytes: number
  /** Of logs and snapshots. */
  readonly log?: LogSummary
  /** Of all other files: how many entries (or lines) they have. */
  readonly entries?: number
}

export interface OtherFile {
  readonly name: string
  readonly role: FileKind
  readonly sizeInBytes: number
  readonly entries?: number
}

export interface FolderReport extends Findings {
  readonly path: string
  /** `files`: neither a partition nor a log dir by its content. */
  readonly kind: 'partition' | 'log-dir' | 'files'
  readonly topic?: string
  readonly partition?: number
  readonly segments: readonly SegmentSummary[]
  /** Over all segments. */
  readonly log?: LogSummary
  readonly otherFiles: readonly OtherFile[]
  /** Of a log dir. */
  readonly partitions: readonly FolderReport[]
}

export type Report = FileReport | FolderReport

/** Errors and warnings make the exit code 1, what is only worth knowing does not. */
export function hasFindings(report: Report): boolean {
  if (report.findingCounts.some(({severity}) => severity !== 'info')) return true
  return 'partitions' in report && report.partitions.some(hasFindings)
}
