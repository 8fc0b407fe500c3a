import type {Proof} from '../cluster/cluster.js'
import type {Found, ReplicaRecords, Writes} from '../history/operation.js'
import type {ClientName, Codec, Told} from '../history/told.js'
import type {DamagedCopy, ReplicaReading} from './segment-reading.js'
import type {TimelineEvent} from './timeline.js'

/** A fault as a trial keeps it: times are milliseconds on the trial's clock, `wallMs` is the clock of Kafka's records. */
export interface FaultRecord {
  readonly fault: Proof['fault']
  readonly nodeId: number
  readonly mechanism: string
  readonly evidence: string
  readonly startMs: number
  readonly provenMs: number
  readonly wallMs: number
  /** The role that made this node the victim, read again after the blow (`leader of … before and after`). */
  readonly role?: {readonly before: string; readonly after: string}
}

export interface WriteOptions {
  readonly acks: 0 | 1 | 'all'
  readonly count: number
  /** How many writes may be outstanding at once; each has a connection of its own. Default 1. */
  readonly connections?: number
  /** Produce's own time-out (how long the leader waits for the in-sync replicas). Default 10,000 ms. */
  readonly timeoutMs?: number
  /** No write is begun later than this; fewer than `count` are then made. Default: as long as it takes. */
  readonly withinMs?: number
}

export interface LoadOptions {
  readonly client: 'wire' | 'kafkajs'
  readonly acks: 0 | 1 | 'all'
  readonly connections?: number
  readonly perSecond: number
  readonly timeoutMs?: number
}

/** What one producer of a client is told to write. */
export interface Series {
  readonly codec: Codec
  readonly producer: 'plain' | 'idempotent'
  readonly count: number
}

export interface TransactionOptions {
  /** Java's copier takes no settings, and compresses nothing: what was told to it says so. */
  readonly codec: Codec
  /** Its first records are written again. */
  readonly source: Told
  readonly count: number
}

/** A writer that goes on until it is stopped. Each value is tried once: what broke is `info`, never silently repeated. */
export interface Load {
  /** Acknowledged so far. */
  readonly acked: number
  /** Milliseconds (trial clock) of the newest acknowledgement. */
  readonly lastAckMs: number
  /** Waits until this many values are acknowledged; the load is then known to run. */
  untilAcked(count: number): Promise<void>
  /** Waits for what is outstanding (bounded by its time-out) and tells all. */
  stop(): Promise<Writes>
}

/** A reader that goes on until it is stopped; it reads committed records (below the high watermark) only. */
export interface Following {
  readonly read: number
  stop(): Promise<Reading>
}

export interface Reading {
  readonly found: readonly Found[]
  /** Gaps, in milliseconds, of at least `200 ms` in which nothing came: `[fromMs, toMs]`. */
  readonly gaps: readonly (readonly [number, number])[]
  /**
   * Samples `[atMs, high watermark in the next answer of the same leader, offset of the last record read before it]`. The
   * high watermark in an answer itself is read before its records and may lag behind them.
   */
  readonly watermarks: readonly (readonly [number, number, number])[]
}

export interface Watermarks {
  readonly nodeId: number
  readonly highWatermark: number
  readonly logEndOffset: number
}

export interface ReplicaEnd {
  readonly topic: string
  readonly nodeId: number
  readonly logEndOffset: number
}

/** A broker in its role at the beginning of the trial. Every fault is journalled, proven and has a cure. */
export interface BenchBroker {
  readonly nodeId: number
  kill(): Promise<FaultRecord>
  stop(): Promise<FaultRecord>
  pause(): Promise<FaultRecord>
  resume(): Promise<FaultRecord>
  start(): Promise<FaultRecord>
  /** All records of the apparatus' topics in this broker's segment files, whatever state it is in. */
  records(): Promise<readonly ReplicaRecords[]>
}

export interface BenchTopic {
  /** The real name in the cluster. */
  readonly name: string
  write(options: WriteOptions): Promise<Writes>
  load(options: LoadOptions): Promise<Load>
  /** Lets a client write series one after another, each with a producer of its own; what it was told of each. */
  produce(client: ClientName, series: readonly Series[]): Promise<readonly Told[]>
  /** Lets a client write in transactions, some of which it commits and some it aborts (Java's copier: at random). */
  transact(client: ClientName, options: TransactionOptions): Promise<Told>
  follow(): Promise<Following>
  /** Leader's high watermark and log end offset, over the wire. */
  watermarks(): Promise<Watermarks>
  /** What a fresh reader gets now, up to the high watermark. */
  read(): Promise<readonly Found[]>
  /** How many records a consumer gets that asks for what lies at the high watermark and beyond. */
  readBeyond(): Promise<number>
}

export interface Cut {
  /** Milliseconds from the first pause until the heal; the broker session is 9,000. */
  heal(): Promise<{readonly cutMs: number}>
}

/** The world of one trial. Everything bounded, everything cured at the end, whatever happens. */
export interface Bench<T extends string = string> {
  readonly signal: AbortSignal
  /** Seeded with the run's seed and the trial's number. */
  readonly random: () => number
  /** Leads every topic of the apparatus when the trial begins. */
  readonly leader: BenchBroker
  readonly followers: readonly BenchBroker[]
  topic(name: T): BenchTopic
  /** The same to every topic of the apparatus, one after another. Keyed by the apparatus' names. */
  writeEach(options: WriteOptions): Promise<Readonly<Record<T, Writes>>>
  /** Pauses all followers, proves it, and waits until their waiting fetches at the leader have expired (600 ms). */
  cutOffFollowers(): Promise<Cut>
  /** Log end offsets of the followers over the wire (ListOffsets, replica id −2), each topic. They must run. */
  followerEnds(): Promise<readonly ReplicaEnd[]>
  untilReplicasAreEqual(): Promise<void>
  /** The same, and no transaction is open: the markers of those that ended are written after their clients were told. */
  untilNothingIsOpen(): Promise<void>
  /** Waits until every topic has a living leader, as a living broker says; the ids by the apparatus' names. */
  untilLed(): Promise<Readonly<Record<T, number>>>
  /** Waits until the ISR of every topic has this size. */
  untilInSyncReplicas(size: number): Promise<void>
  /** Waits until these brokers are registered and unfenced again. */
  untilUnfenced(nodeIds: readonly number[]): Promise<void>
  /** Waits until no topic of the apparatus has a leader. */
  untilOffline(): Promise<void>
  /** ElectLeaders of type unclean on every topic of the apparatus; error codes by the apparatus' names. */
  electUnclean(): Promise<Readonly<Record<T, number>>>
  /** Resumes and starts what is paused or down, waits until the ISR of all topics is full and replicas are equal. */
  restore(): Promise<void>
  /** A fresh reader, from the beginning to the end offset taken beforehand. By the apparatus' names. */
  readAll(): Promise<Readonly<Record<T, readonly Found[]>>>
  /** The segment files of every replica of every topic. `topic` is the real name. */
  replicaRecords(): Promise<readonly ReplicaRecords[]>
  /** The same files, read by kx and by Kafka's own dump tool. Keyed by the apparatus' names; the same bytes for both. */
  readSegments(): Promise<Readonly<Record<T, readonly ReplicaReading[]>>>
  /** For each batch in the leader's files of all topics: a copy in which one bit of that batch was flipped, read by both. */
  readDamagedCopies(): Promise<readonly DamagedCopy[]>
  /** What the controller's own log says of the apparatus' topics and of the brokers, since the trial began. */
  timeline(): Promise<readonly TimelineEvent[]>
  faults(): readonly FaultRecord[]
  /** A setting of a topic as a broker told it after the topics were made: what a condition or a topic varies is read back. */
  setting(topic: T, name: string): string | undefined
  /** A setting of the leader, read now. */
  brokerSetting(name: string): Promise<string | undefined>
  /** Wall clock around the making of the topics; their first records in the controller's log must lie between, or clocks differ. */
  readonly topicsMade: {readonly fromWallMs: number; readonly toWallMs: number}
  /** Milliseconds since the trial began. */
  now(): number
  elapsed(ms: number): Promise<void>
  /** A line for the person who watches. */
  note(text: string): void
}
