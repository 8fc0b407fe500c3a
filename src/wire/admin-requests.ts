import type {TopicPartition} from '../kafka/topic-partition.js'
import type {Connection} from './connection.js'
import {requireNoError} from './errors.js'
import {only, outwaiting} from './patience.js'
import type {RequestOptions} from './types.js'

// Requests that change topics, leaders, replicas and settings. Brokers forward them to the active controller. Without a
// quorum the controller's side does not obey the time-out, and a request that was given up may take effect later.

export interface TopicError {
  readonly name: string
  readonly errorCode: number
  readonly errorMessage: string | null
}

export interface PartitionError extends TopicPartition {
  readonly errorCode: number
  readonly errorMessage: string | null
}

interface Bounded {
  /** How long the broker waits for the effect; default 10,000. */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 10_000

export interface NewTopic {
  readonly name: string
  /** Which brokers have the replicas, the preferred leader first. Then `partitions` and `replicationFactor` are not given. */
  readonly assignments?: readonly {readonly partition: number; readonly brokerIds: readonly number[]}[]
  /** Default: the broker's `num.partitions`. */
  readonly partitions?: number
  /** Default: the broker's `default.replication.factor`. */
  readonly replicationFactor?: number
  readonly configs?: Readonly<Record<string, string>>
}

/** One entry per topic, in the broker's order. @throws WireError */
export async function createTopics(
  connection: Connection,
  {topics, timeoutMs = defaultTimeoutMs}: Bounded & {readonly topics: readonly NewTopic[]},
  options: RequestOptions = {},
): Promise<readonly (TopicError & {readonly topicId: string})[]> {
  const body = {
    timeoutMs,
    topics: topics.map(topic => ({
      name: topic.name,
      numPartitions: topic.partitions ?? -1,
      replicationFactor: topic.replicationFactor ?? -1,
      assignments: (topic.assignments ?? []).map(({partition, brokerIds}) => ({
        partitionIndex: partition,
        brokerIds: [...brokerIds],
      })),
      configs: Object.entries(topic.configs ?? {}).map(([name, value]) => ({name, value})),
    })),
  }
  interface Response {
    readonly topics: readonly (TopicError & {readonly topicId: string})[]
  }
  const answer = await connection.request<Response>('CreateTopics', body, outwaiting(connection, timeoutMs, options))
  return answer.topics.map(({name, topicId, errorCode, errorMessage}) => ({name, topicId, errorCode, errorMessage}))
}

/** By name; one entry per topic. The files of the replicas vanish later (`file.delete.delay.ms`). @throws WireError */
export async function deleteTopics(
  connection: Connection,
  {topics, timeoutMs = defaultTimeoutMs}: Bounded & {readonly topics: readonly string[]},
  options: RequestOptions = {},
): Promise<readonly TopicError[]> {
  const body = {timeoutMs, topicNames: [...topics]}
  const bounded = outwaiting(connection, timeoutMs, {maxVersion: 5, ...options})
  const {responses} = await connection.request<{responses: readonly TopicError[]}>('DeleteTopics', body, bounded)
  return responses.map(({name, errorCode, errorMessage}) => ({name, errorCode, errorMessage: errorMessage ?? null}))
}

/**
 * Elects leaders: `preferred` the first replica of the assignment if it is in the ISR, `unclean` any living replica where
 * there is no leader. Error 84 ELECTION_NOT_NEEDED says that the leader is already the right one.
 * @throws WireError
 */
export async function electLeaders(
  connection: Connection,
  {
    type,
    partitions,
    timeoutMs = defaultTimeoutMs,
  }: Bounded & {readonly type: 'preferred' | 'unclean'; readonly partitions: readonly TopicPartition[]},
  options: RequestOptions = {},
): Promise<readonly PartitionError[]> {
  const body = {
    electionType: type === 'preferred' ? 0 : 1,
    topicPartitions: byTopic(partitions, 'topic', 'partitions'),
    timeoutMs,
  }
  interface Response {
    readonly errorCode: number
    readonly replicaElectionResults: readonly {
      readonly topic: string
      readonly partitionResult: readonly {
        readonly partitionId: number
        readonly errorCode: number
        readonly errorMessage: string | null
      }[]
    }[]
  }
  const answer = await connection.request<Response>('ElectLeaders', body, outwaiting(connection, timeoutMs, options))
  if (answer.errorCode !== 0) return allWith(partitions, answer.errorCode, null)
  return answer.replicaElectionResults.flatMap(({topic, partitionResult}) =>
    partitionResult.map(({partitionId, errorCode, errorMessage}) => ({
      topic,
      partition: partitionId,
      errorCode,
      errorMessage,
    })),
  )
}

/**
 * Gives partitions other replicas (the first is the preferred leader); `replicas: null` cancels what is under way. The
 * answer comes when the reassignment has begun, not when it is done: see {@link listPartitionReassignments}.
 * @throws WireError
 */
export async function alterPartitionReassignments(
  connection: Connection,
  {
    partitions,
    timeoutMs = defaultTimeoutMs,
  }: Bounded & {readonly partitions: readonly (TopicPartition & {readonly replicas: readonly number[] | null})[]},
  options: RequestOptions = {},
): Promise<readonly PartitionError[]> {
  const topics = [...new Set(partitions.map(({topic}) => topic))].map(name => ({
    name,
    partitions: partitions
      .filter(({topic}) => topic === name)
      .map(({partition, replicas}) => ({partitionIndex: partition, replicas: replicas && [...replicas]})),
  }))
  interface Response {
    readonly errorCode: number
    readonly errorMessage: string | null
    readonly responses: readonly {
      readonly name: string
      readonly partitions: readonly {
        readonly partitionIndex: number
        readonly errorCode: number
        readonly errorMessage: string | null
      }[]
    }[]
  }
  const answer = await connection.request<Response>(
    'AlterPartitionReassignments',
    {timeoutMs, topics},
    outwaiting(connection, timeoutMs, options),
  )
  if (answer.errorCode !== 0) return allWith(partitions, answer.errorCode, answer.errorMessage)
  return answer.responses.flatMap(({name, partitions: results}) =>
    results.map(({partitionIndex, errorCode, errorMessage}) => ({
      topic: name,
      partition: partitionIndex,
      errorCode,
      errorMessage,
    })),
  )
}

export interface Reassignment extends TopicPartition {
  readonly replicas: readonly number[]
  readonly addingReplicas: readonly number[]
  readonly removingReplicas: readonly number[]
}

/** What is being reassigned now, of these partitions or of all. @throws WireError; KxError KX_KAFKA_ERROR */
export async function listPartitionReassignments(
  connection: Connection,
  {partitions, timeoutMs = defaultTimeoutMs}: Bounded & {readonly partitions?: readonly TopicPartition[]} = {},
  options: RequestOptions = {},
): Promise<readonly Reassignment[]> {
  const body = {timeoutMs, topics: partitions ? byTopic(partitions, 'name', 'partitionIndexes') : null}
  interface Response {
    readonly errorCode: number
    readonly errorMessage: string | null
    readonly topics: readonly {
      readonly name: string
      readonly partitions: readonly (Reassignment & {readonly partitionIndex: number})[]
    }[]
  }
  const answer = await connection.request<Response>(
    'ListPartitionReassignments',
    body,
    outwaiting(connection, timeoutMs, options),
  )
  requireNoError(answer.errorCode, `ListPartitionReassignments at ${connection.address}`, answer.errorMessage)
  return answer.topics.flatMap(({name, partitions: found}) =>
    found.map(({partitionIndex, replicas, addingReplicas, removingReplicas}) => ({
      topic: name,
      partition: partitionIndex,
      replicas,
      addingReplicas,
      removingReplicas,
    })),
  )
}

/** Ids of ConfigResource.Type. */
const resourceTypes = {topic: 2, broker: 4, group: 32} as const

export interface ConfigResource {
  readonly type: keyof typeof resourceTypes
  /** A topic, a group, or a broker's id (an empty name: the default of all brokers). */
  readonly name: string
}

/** Where a setting comes from (DescribeConfigsResponse.ConfigSource). */
const configSources = [
  'unknown',
  'topic',
  'dynamic-broker',
  'dynamic-default-broker',
  'static-broker',
  'default',
  'dynamic-broker-logger',
  'client-metrics',
  'group',
] as const

export interface ConfigEntry {
  readonly name: string
  /** `null` also where the broker hides a sensitive value. */
  readonly value: string | null
  readonly source: (typeof configSources)[number]
  readonly isSensitive: boolean
  readonly readOnly: boolean
}

/**
 * All settings of a resource, or those in `keys`. A broker's own must be asked at that broker.
 * @throws WireError; KxError KX_KAFKA_ERROR, e.g. for a topic that does not exist
 */
export async function describeConfigs(
  connection: Connection,
  {type, name, keys}: ConfigResource & {readonly keys?: readonly string[]},
  options: RequestOptions = {},
): Promise<readonly ConfigEntry[]> {
  const resource = {resourceType: resourceTypes[type], resourceName: name, configurationKeys: keys ? [...keys] : null}
  interface Response {
    readonly results: readonly {
      readonly errorCode: number
      readonly errorMessage: string | null
      readonly configs: readonly (Omit<ConfigEntry, 'source'> & {readonly configSource: number})[]
    }[]
  }
  const {results} = await connection.request<Response>('DescribeConfigs', {resources: [resource]}, options)
  const {errorCode, errorMessage, configs} = only(results, 'A DescribeConfigs answer')
  requireNoError(errorCode, `DescribeConfigs of ${type} ${name} at ${connection.address}`, errorMessage)
  return configs.map(entry => ({
    name: entry.name,
    value: entry.value,
    source: configSources[entry.configSource] ?? 'unknown',
    isSensitive: entry.isSensitive,
    readOnly: entry.readOnly,
  }))
}

/** Sets dynamic settings, or deletes them where the value is `null`. One entry per resource. @throws WireError */
export async function incrementalAlterConfigs(
  connection: Connection,
  {
    changes,
  }: {readonly changes: readonly (ConfigResource & {readonly configs: Readonly<Record<string, string | null>>})[]},
  options: RequestOptions = {},
): Promise<readonly {readonly name: string; readonly errorCode: number; readonly errorMessage: string | null}[]> {
  const resources = changes.map(({type, name, configs}) => ({
    resourceType: resourceTypes[type],
    resourceName: name,
    configs: Object.entries(configs).map(([key, value]) => ({
      name: key,
      configOperation: value === null ? 1 : 0,
      value,
    })),
  }))
  interface Response {
    readonly responses: readonly {
      readonly resourceName: string
      readonly errorCode: number
      readonly errorMessage: string | null
    }[]
  }
  const {responses} = await connection.request<Response>('IncrementalAlterConfigs', {resources}, options)
  return responses.map(({resourceName, errorCode, errorMessage}) => ({name: resourceName, errorCode, errorMessage}))
}

/** `[{topic, partition}]` as the protocol has it: an entry per topic, whose two keys differ between requests. */
function byTopic(
  partitions: readonly TopicPartition[],
  topicKey: string,
  partitionsKey: string,
): Record<string, unknown>[] {
  const grouped = new Map<string, number[]>()
  for (const {topic, partition} of partitions) grouped.set(topic, [...(grouped.get(topic) ?? []), partition])
  return [...grouped].map(([topic, indexes]) => ({[topicKey]: topic, [partitionsKey]: indexes}))
}

/** An error of the whole request is the error of each partition in it. */
function allWith(
  partitions: readonly TopicPartition[],
  errorCode: number,
  errorMessage: string | null,
): PartitionError[] {
  return partitions.map(({topic, partition}) => ({topic, partition, errorCode, errorMessage}))
}
