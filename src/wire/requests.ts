import type {TopicPartition} from '../kafka/topic-partition.js'
import type {Connection} from './connection.js'
import {requireNoError} from './errors.js'
import {only, outwaiting} from './patience.js'
import type {RequestOptions} from './types.js'

// Requests about topics and partitions. Kafka's error codes are part of the answers (`errorCode`; 0 is none), because
// callers must see them; what throws is written at the function. Names of fields are those of the protocol.

/** The last versions of Produce and Fetch that name topics by name; later ones want topic ids (KIP-516). */
const byName = 12

export interface LeaderIdAndEpoch {
  readonly leaderId: number
  readonly leaderEpoch: number
}

export interface ProduceRequest extends TopicPartition {
  readonly acks: -1 | 0 | 1
  /** How long the leader waits for the in-sync replicas. */
  readonly timeoutMs: number
  /** An encoded batch, or several. */
  readonly records: Buffer
  readonly transactionalId?: string
}

export interface ProduceAnswer {
  readonly errorCode: number
  readonly errorMessage: string | null
  /** −1 if the broker gave none. REQUEST_TIMED_OUT carries one: the records are in the leader's log. */
  readonly baseOffset: bigint
  /** −1 for a fresh append to a topic with CreateTime; the batch's own timestamp if the broker knew it as a duplicate. */
  readonly logAppendTimeMs: bigint
  readonly logStartOffset: bigint
  /** Who leads instead, if the broker says so (with NOT_LEADER_OR_FOLLOWER, version 10 and later). */
  readonly currentLeader: LeaderIdAndEpoch | undefined
}

/** With acks 0 nobody answers: all that `errorCode` 0 then says is that the bytes were sent. */
const notAnswered: ProduceAnswer = {
  errorCode: 0,
  errorMessage: null,
  baseOffset: -1n,
  logAppendTimeMs: -1n,
  logStartOffset: -1n,
  currentLeader: undefined,
}

interface ProduceResponse {
  readonly responses: readonly {
    readonly partitionResponses: readonly (Omit<ProduceAnswer, 'currentLeader' | 'errorMessage'> & {
      readonly errorMessage?: string | null
      readonly currentLeader?: LeaderIdAndEpoch
    })[]
  }[]
}

/** Appends to one partition. @throws WireError */
export async function produce(
  connection: Connection,
  request: ProduceRequest,
  options: RequestOptions = {},
): Promise<ProduceAnswer> {
  const {topic, partition, acks, timeoutMs, records, transactionalId = null} = request
  const body = {
    transactionalId,
    acks,
    timeoutMs,
    topicData: [{name: topic, partitionData: [{index: partition, records}]}],
  }
  const bounded = outwaiting(connection, timeoutMs, {maxVersion: byName, ...options})
  if (acks === 0) {
    await connection.send('Produce', body, bounded)
    return notAnswered
  }
  const {responses} = await connection.request<ProduceResponse>('Produce', body, bounded)
  const answer = only(only(responses, 'A Produce answer').partitionResponses, 'A Produce answer')
  return {
    errorCode: answer.errorCode,
    errorMessage: answer.errorMessage ?? null,
    baseOffset: answer.baseOffset,
    logAppendTimeMs: answer.logAppendTimeMs,
    logStartOffset: answer.logStartOffset ?? -1n,
    currentLeader: known(answer.currentLeader),
  }
}

export type Isolation = 'read_uncommitted' | 'read_committed'

export interface FetchRequest extends TopicPartition {
  readonly offset: bigint
  /** How long the broker waits for `minBytes`; default 500. */
  readonly maxWaitMs?: number
  /** Default 1. */
  readonly minBytes?: number
  /** Default 1 MiB; a first batch that is larger comes whole. */
  readonly maxBytes?: number
  /** Default `read_uncommitted`. */
  readonly isolation?: Isolation
  readonly currentLeaderEpoch?: number
}

export interface FetchAnswer {
  readonly errorCode: number
  readonly highWatermark: bigint
  readonly lastStableOffset: bigint
  readonly logStartOffset: bigint
  readonly abortedTransactions: readonly {readonly producerId: bigint; readonly firstOffset: bigint}[]
  /** Whole batches from the one that holds `offset` on; the last one may be cut off. */
  readonly records: Buffer
  readonly currentLeader: LeaderIdAndEpoch | undefined
}

interface FetchResponse {
  readonly errorCode?: number
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly errorCode: number
      readonly highWatermark: bigint
      readonly lastStableOffset: bigint
      readonly logStartOffset?: bigint
      readonly currentLeader?: LeaderIdAndEpoch
      readonly abortedTransactions: FetchAnswer['abortedTransactions'] | null
      readonly records: Buffer | null
    }[]
  }[]
}

/**
 * Reads one partition as a consumer without a rack, which a follower answers too: what it has below its own high
 * watermark. Without a fetch session.
 * @throws WireError
 */
export async function fetch(
  connection: Connection,
  request: FetchRequest,
  options: RequestOptions = {},
): Promise<FetchAnswer> {
  const {
    topic,
    partition,
    offset,
    maxWaitMs = 500,
    minBytes = 1,
    maxBytes = 1_048_576,
    isolation,
    currentLeaderEpoch = -1,
  } = request
  const asked = {partition, currentLeaderEpoch, fetchOffset: offset, partitionMaxBytes: maxBytes}
  const body = {
    maxWaitMs,
    minBytes,
    maxBytes,
    isolationLevel: isolationLevel(isolation),
    topics: [{topic, partitions: [asked]}],
  }
  const bounded = outwaiting(connection, maxWaitMs, {maxVersion: byName, ...options})
  const {errorCode = 0, responses} = await connection.request<FetchResponse>('Fetch', body, bounded)
  if (errorCode !== 0) {
    const nothing = {highWatermark: -1n, lastStableOffset: -1n, logStartOffset: -1n, records: Buffer.alloc(0)}
    return {...nothing, errorCode, abortedTransactions: [], currentLeader: undefined}
  }
  const answer = only(only(responses, 'A Fetch answer').partitions, 'A Fetch answer')
  return {
    errorCode: answer.errorCode,
    highWatermark: answer.highWatermark,
    lastStableOffset: answer.lastStableOffset,
    logStartOffset: answer.logStartOffset ?? -1n,
    abortedTransactions: answer.abortedTransactions ?? [],
    records: answer.records ?? Buffer.alloc(0),
    currentLeader: known(answer.currentLeader),
  }
}

export interface ListOffsetsRequest extends TopicPartition {
  /** Milliseconds since 1970, or −1n the end, −2n the log start, −3n the newest timestamp, −4n the local log's start. */
  readonly timestamp: bigint
  /**
   * −1 asks as a consumer: the end is the high watermark, and only the leader answers. −2 asks as a debugger: the end is
   * the log end offset, and every replica answers with its own. Default −1.
   */
  readonly replicaId?: -1 | -2
  /** With `read_committed` the end is the last stable offset. */
  readonly isolation?: Isolation
  /** Error 75 if the broker's epoch is lower, 74 if it is higher. */
  readonly currentLeaderEpoch?: number
}

export interface ListOffsetsAnswer {
  readonly errorCode: number
  readonly offset: bigint
  readonly timestamp: bigint
  readonly leaderEpoch: number
}

/** One offset of one partition, by this broker. @throws WireError */
export async function listOffsets(
  connection: Connection,
  request: ListOffsetsRequest,
  options: RequestOptions = {},
): Promise<ListOffsetsAnswer> {
  const {topic, partition, timestamp, replicaId = -1, isolation, currentLeaderEpoch = -1} = request
  const partitions = [{partitionIndex: partition, currentLeaderEpoch, timestamp}]
  const body = {replicaId, isolationLevel: isolationLevel(isolation), topics: [{name: topic, partitions}]}
  const {topics} = await connection.request<{topics: readonly {partitions: readonly ListOffsetsAnswer[]}[]}>(
    'ListOffsets',
    body,
    options,
  )
  const {
    errorCode,
    offset,
    timestamp: at,
    leaderEpoch,
  } = only(only(topics, 'A ListOffsets answer').partitions, 'A ListOffsets answer')
  return {errorCode, offset, timestamp: at, leaderEpoch: leaderEpoch ?? -1}
}

export interface BrokerAddress {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

export interface PartitionMetadata {
  readonly errorCode: number
  readonly partitionIndex: number
  /** −1: none. */
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly replicaNodes: readonly number[]
  readonly isrNodes: readonly number[]
  readonly offlineReplicas: readonly number[]
}

export interface TopicMetadata<P = PartitionMetadata> {
  readonly errorCode: number
  readonly name: string
  readonly topicId: string
  readonly isInternal: boolean
  readonly partitions: readonly P[]
}

export interface Metadata {
  readonly brokers: readonly BrokerAddress[]
  readonly clusterId: string | null
  /** Of a KRaft cluster: any broker, because clients talk to controllers through brokers. */
  readonly controllerId: number
  readonly topics: readonly TopicMetadata[]
}

/** What this broker knows of these topics, or of all. Never creates one. @throws WireError */
export async function metadata(
  connection: Connection,
  {topics}: {readonly topics?: readonly string[]} = {},
  options: RequestOptions = {},
): Promise<Metadata> {
  const body = {topics: topics?.map(name => ({name})) ?? null, allowAutoTopicCreation: false}
  return connection.request<Metadata>('Metadata', body, options)
}

export interface DescribedPartition extends PartitionMetadata {
  /** Replicas outside the ISR that still have all committed records (KIP-966). */
  readonly eligibleLeaderReplicas: readonly number[] | null
  readonly lastKnownElr: readonly number[] | null
}

/**
 * Topics with their eligible leader replicas, as this broker knows them: all partitions (up to 2,000 in one answer; the
 * next page is asked for as long as there is one).
 * @throws WireError
 */
export async function describeTopicPartitions(
  connection: Connection,
  {topics}: {readonly topics: readonly string[]},
  options: RequestOptions = {},
): Promise<{readonly topics: readonly TopicMetadata<DescribedPartition>[]}> {
  interface Page {
    readonly topics: readonly TopicMetadata<DescribedPartition>[]
    readonly nextCursor: {readonly topicName: string; readonly partitionIndex: number} | null
  }
  const names = [...topics].sort()
  const found = new Map<string, TopicMetadata<DescribedPartition>>()
  let cursor: Page['nextCursor'] = null
  // Every page brings at least one partition, and no cluster has more topics than this has pages.
  for (let pages = 0; pages < 100_000; pages++) {
    const page: Page = await connection.request<Page>(
      'DescribeTopicPartitions',
      {topics: names.map(name => ({name})), cursor},
      options,
    )
    for (const topic of page.topics) {
      const before = found.get(topic.name)?.partitions ?? []
      found.set(topic.name, {...topic, partitions: [...before, ...topic.partitions]})
    }
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return {topics: [...found.values()]}
}

export interface DescribedCluster {
  readonly clusterId: string
  /** Of a KRaft cluster asked through a broker: any broker. The leader of the quorum is in {@link describeQuorum}. */
  readonly controllerId: number
  readonly brokers: readonly {
    readonly brokerId: number
    readonly host: string
    readonly port: number
    readonly rack: string | null
    /** Always false for brokers older than 4.0, which leave fenced ones out. */
    readonly isFenced: boolean
  }[]
}

/** @throws WireError; KxError KX_KAFKA_ERROR */
export async function describeCluster(
  connection: Connection,
  {includeFencedBrokers = false}: {readonly includeFencedBrokers?: boolean} = {},
  options: RequestOptions = {},
): Promise<DescribedCluster> {
  interface Response extends DescribedCluster {
    readonly errorCode: number
    readonly errorMessage: string | null
  }
  const {errorCode, errorMessage, clusterId, controllerId, brokers} = await connection.request<Response>(
    'DescribeCluster',
    {includeFencedBrokers},
    options,
  )
  requireNoError(errorCode, `DescribeCluster at ${connection.address}`, errorMessage)
  return {clusterId, controllerId, brokers: brokers.map(broker => ({...broker, isFenced: broker.isFenced ?? false}))}
}

export interface QuorumReplica {
  readonly replicaId: number
  readonly logEndOffset: bigint
  /** Milliseconds since 1970 by the leader's clock; −1 if unknown. */
  readonly lastFetchTimestamp: bigint
  readonly lastCaughtUpTimestamp: bigint
}

export interface Quorum {
  readonly errorCode: number
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly highWatermark: bigint
  readonly currentVoters: readonly QuorumReplica[]
  readonly observers: readonly QuorumReplica[]
}

/** The KRaft quorum; brokers forward the question to the active controller. @throws WireError; KxError KX_KAFKA_ERROR */
export async function describeQuorum(connection: Connection, options: RequestOptions = {}): Promise<Quorum> {
  const body = {topics: [{topicName: '__cluster_metadata', partitions: [{partitionIndex: 0}]}]}
  interface Response {
    readonly errorCode: number
    readonly errorMessage?: string | null
    readonly topics: readonly {readonly partitions: readonly Quorum[]}[]
  }
  const {errorCode, errorMessage, topics} = await connection.request<Response>('DescribeQuorum', body, options)
  requireNoError(errorCode, `DescribeQuorum at ${connection.address}`, errorMessage)
  return only(only(topics, 'A DescribeQuorum answer').partitions, 'A DescribeQuorum answer')
}

function isolationLevel(isolation: Isolation = 'read_uncommitted'): 0 | 1 {
  return isolation === 'read_committed' ? 1 : 0
}

/** Tagged fields that were not sent have their defaults: −1. */
function known(leader: LeaderIdAndEpoch | undefined): LeaderIdAndEpoch | undefined {
  return leader === undefined || leader.leaderId < 0 ? undefined : leader
}
