import type {TopicPartition} from '../kafka/topic-partition.js'
import type {Connection} from './connection.js'
import {requireNoError} from './errors.js'
import {only} from './patience.js'
import type {RequestOptions} from './types.js'

// Requests about consumer groups, producers and transactions, most of which only the coordinator answers.

export interface ProducerIdAnswer {
  readonly errorCode: number
  readonly producerId: bigint
  readonly producerEpoch: number
}

/** A producer id: any broker without a transactional id, else the coordinator, which fences the id's former owner. @throws WireError */
export async function initProducerId(
  connection: Connection,
  {
    transactionalId = null,
    transactionTimeoutMs = 60_000,
  }: {readonly transactionalId?: string | null; readonly transactionTimeoutMs?: number} = {},
  options: RequestOptions = {},
): Promise<ProducerIdAnswer> {
  const answer = await connection.request<ProducerIdAnswer>(
    'InitProducerId',
    {transactionalId, transactionTimeoutMs},
    options,
  )
  return {errorCode: answer.errorCode, producerId: answer.producerId, producerEpoch: answer.producerEpoch}
}

export interface ProducerState {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly lastSequence: number
  readonly lastTimestamp: bigint
  readonly coordinatorEpoch: number
  /** −1: no open transaction. Still set for some milliseconds after a commit or abort, because markers follow later. */
  readonly currentTxnStartOffset: bigint
}

/** The producers that this replica (leader or follower) remembers for a partition. @throws WireError */
export async function describeProducers(
  connection: Connection,
  {topic, partition}: TopicPartition,
  options: RequestOptions = {},
): Promise<{
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly activeProducers: readonly ProducerState[]
}> {
  interface Response {
    readonly topics: readonly {
      readonly partitions: readonly {
        readonly errorCode: number
        readonly errorMessage: string | null
        readonly activeProducers: readonly ProducerState[]
      }[]
    }[]
  }
  const body = {topics: [{name: topic, partitionIndexes: [partition]}]}
  const {topics} = await connection.request<Response>('DescribeProducers', body, options)
  const {errorCode, errorMessage, activeProducers} = only(
    only(topics, 'A DescribeProducers answer').partitions,
    'A DescribeProducers answer',
  )
  return {errorCode, errorMessage, activeProducers}
}

export interface TransactionDescription {
  readonly errorCode: number
  readonly transactionalId: string
  /** `Empty`, `Ongoing`, `PrepareCommit`, `PrepareAbort`, `CompleteCommit`, `CompleteAbort`, `Dead`, … */
  readonly transactionState: string
  readonly transactionTimeoutMs: number
  readonly transactionStartTimeMs: bigint
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly topics: readonly {readonly topic: string; readonly partitions: readonly number[]}[]
}

/** Asked at the coordinator. @throws WireError */
export async function describeTransactions(
  connection: Connection,
  {transactionalIds}: {readonly transactionalIds: readonly string[]},
  options: RequestOptions = {},
): Promise<readonly TransactionDescription[]> {
  const body = {transactionalIds: [...transactionalIds]}
  return (
    await connection.request<{transactionStates: readonly TransactionDescription[]}>(
      'DescribeTransactions',
      body,
      options,
    )
  ).transactionStates
}

export interface ListedTransaction {
  readonly transactionalId: string
  readonly producerId: bigint
  readonly transactionState: string
}

/** Those whose coordinator this broker is. @throws WireError; KxError KX_KAFKA_ERROR */
export async function listTransactions(
  connection: Connection,
  {states = []}: {readonly states?: readonly string[]} = {},
  options: RequestOptions = {},
): Promise<readonly ListedTransaction[]> {
  interface Response {
    readonly errorCode: number
    readonly transactionStates: readonly ListedTransaction[]
  }
  const answer = await connection.request<Response>('ListTransactions', {stateFilters: [...states]}, options)
  requireNoError(answer.errorCode, `ListTransactions at ${connection.address}`)
  return answer.transactionStates
}

export interface Coordinator {
  readonly key: string
  readonly errorCode: number
  readonly errorMessage: string | null
  /** −1 with an error. */
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

const keyTypes = {group: 0, transaction: 1, share: 2} as const

/** Who coordinates a group or a transactional id. @throws WireError */
export async function findCoordinator(
  connection: Connection,
  {type = 'group', key}: {readonly type?: keyof typeof keyTypes; readonly key: string},
  options: RequestOptions = {},
): Promise<Coordinator> {
  const body = {keyType: keyTypes[type], coordinatorKeys: [key]}
  const {coordinators} = await connection.request<{coordinators: readonly Coordinator[]}>(
    'FindCoordinator',
    body,
    options,
  )
  const {errorCode, errorMessage, nodeId, host, port} = only(coordinators, 'A FindCoordinator answer')
  return {key, errorCode, errorMessage, nodeId, host, port}
}

export interface ListedGroup {
  readonly groupId: string
  readonly protocolType: string
  readonly groupState: string
  /** `classic`, `consumer`, `share` or `streams`. */
  readonly groupType: string
}

/** The groups that this broker coordinates. @throws WireError; KxError KX_KAFKA_ERROR */
export async function listGroups(
  connection: Connection,
  options: RequestOptions = {},
): Promise<readonly ListedGroup[]> {
  interface Response {
    readonly errorCode: number
    readonly groups: readonly ListedGroup[]
  }
  const {errorCode, groups} = await connection.request<Response>('ListGroups', {}, options)
  requireNoError(errorCode, `ListGroups at ${connection.address}`)
  return groups
}

export interface GroupDescription {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly groupId: string
  /** `Empty`, `Stable`, `PreparingRebalance`, `CompletingRebalance` or `Dead`. */
  readonly groupState: string
  readonly protocolType: string
  /** The assignor. */
  readonly protocolData: string
  readonly members: readonly {
    readonly memberId: string
    readonly groupInstanceId: string | null
    readonly clientId: string
    readonly clientHost: string
    /** A ConsumerProtocolSubscription after its int16 version. */
    readonly memberMetadata: Buffer
    /** A ConsumerProtocolAssignment after its int16 version. */
    readonly memberAssignment: Buffer
  }[]
}

/** Classic groups, asked at their coordinator. Groups of KIP-848 are described by ConsumerGroupDescribe. @throws WireError */
export async function describeGroups(
  connection: Connection,
  {groups}: {readonly groups: readonly string[]},
  options: RequestOptions = {},
): Promise<readonly GroupDescription[]> {
  const answer = await connection.request<{groups: readonly GroupDescription[]}>(
    'DescribeGroups',
    {groups: [...groups]},
    options,
  )
  return answer.groups.map(group => ({...group, errorMessage: group.errorMessage ?? null}))
}

/** Empty groups only, at their coordinator. @throws WireError */
export async function deleteGroups(
  connection: Connection,
  {groups}: {readonly groups: readonly string[]},
  options: RequestOptions = {},
): Promise<readonly {readonly groupId: string; readonly errorCode: number}[]> {
  const {results} = await connection.request<{results: readonly {groupId: string; errorCode: number}[]}>(
    'DeleteGroups',
    {groupsNames: [...groups]},
    options,
  )
  return results.map(({groupId, errorCode}) => ({groupId, errorCode}))
}
