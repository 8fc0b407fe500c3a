import type {Cluster, ClusterNode, NodeState} from '../cluster/cluster.js'
import {endpointOf} from '../cluster/probe.js'
import {loadState} from '../cluster/state.js'
import {kafkaError} from '../kafka/errors.js'
import {metadataTopic, nameOf, type TopicPartition} from '../kafka/topic-partition.js'
import {KxError} from '../util/errors.js'
import {list, plural} from '../util/format.js'
import {nearest} from '../util/nearest.js'
import {Connection} from '../wire/connection.js'
import {WireError} from '../wire/errors.js'
import {describeQuorum, listOffsets, metadata, type TopicMetadata} from '../wire/requests.js'

/** What the cluster says of a partition. */
export interface PartitionState {
  /** Base64 as Kafka prints it. */
  readonly topicId: string
  readonly partitionCount: number
  readonly isInternal: boolean
  /** −1: none. */
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  /** For `__cluster_metadata`: the voters. */
  readonly inSyncReplicas: readonly number[]
  /** Only for `__cluster_metadata`: the brokers, which follow without a vote. */
  readonly observers: readonly number[]
  /** Only for `__cluster_metadata`, whose quorum tells it itself. */
  readonly quorum?: {
    readonly highWatermark: bigint
    readonly logEndOffsets: ReadonlyMap<number, bigint>
  }
}

/** Offsets as brokers told them; each is `undefined` if who knows it did not answer. */
export interface LogOffsets {
  /** All below is on every in-sync replica: of the leader. */
  readonly highWatermark: bigint | undefined
  /** Where a read_committed reader stops: of the leader. */
  readonly lastStableOffset: bigint | undefined
  readonly logStartOffset: bigint | undefined
  /** One above the last offset that this replica has. */
  readonly logEndOffset: bigint | undefined
}

/** Uuid.METADATA_TOPIC_ID: no record gives it one. */
const metadataTopicId = 'AAAAAAAAAAAAAAAAAAAAAQ'
const unknownTopic = 3
/** A broker that is alive answers in milliseconds; a paused one never does. */
const patience = {connectTimeoutMs: 2_000, requestTimeoutMs: 4_000}

interface Asked extends TopicPartition {
  readonly signal?: AbortSignal | undefined
  /** What is asked, for the message if nobody answers: `who has orders-0`. */
  readonly question?: string
}

/**
 * Who leads, and who has replicas, as the first broker that answers knows it.
 * @throws KxError KX_NO_TOPIC, KX_NO_PARTITION (usage), KX_NO_ANSWER (environment)
 */
export async function stateOf(cluster: Cluster, asked: Asked): Promise<PartitionState> {
  return firstAnswer(cluster, asked, connection =>
    asked.topic === metadataTopic ? quorumState(connection, asked) : topicState(connection, cluster, asked),
  )
}

export interface OffsetsRequest extends Asked {
  readonly nodeId: number
  readonly nodeState: NodeState
  readonly state: PartitionState | undefined
}

export async function offsetsOf(cluster: Cluster, request: OffsetsRequest): Promise<LogOffsets> {
  const {topic, partition, nodeId, nodeState, state, signal} = request
  if (state?.quorum) {
    const {highWatermark, logEndOffsets} = state.quorum
    return {
      highWatermark,
      lastStableOffset: highWatermark,
      logStartOffset: undefined,
      logEndOffset: logEndOffsets.get(nodeId),
    }
  }
  const leader = cluster.nodes.find(node => node.nodeId === state?.leaderId)
  const atLeader = leader
    ? await orNothing(leader, signal, async connection => ({
        highWatermark: await offsetAt(connection, {topic, partition, timestamp: -1n}),
        lastStableOffset: await offsetAt(connection, {topic, partition, timestamp: -1n, isolation: 'read_committed'}),
        logStartOffset: await offsetAt(connection, {topic, partition, timestamp: -2n}),
      }))
    : undefined
  const node = cluster.nodes.find(one => one.nodeId === nodeId)
  const logEndOffset =
    node && nodeState === 'running'
      ? await orNothing(node, signal, connection =>
          offsetAt(connection, {topic, partition, timestamp: -1n, replicaId: -2}),
        )
      : undefined
  return {
    highWatermark: atLeader?.highWatermark,
    lastStableOffset: atLeader?.lastStableOffset,
    logStartOffset: atLeader?.logStartOffset,
    logEndOffset,
  }
}

/**
 * The offset of the first record with this timestamp or a later one, as the replica's own broker finds it by its time
 * index; −1: it has none. `undefined`: the broker does not answer.
 */
export async function offsetAtTime(
  cluster: Cluster,
  {topic, partition, nodeId, signal}: Asked & {readonly nodeId: number},
  timestamp: bigint,
): Promise<bigint | undefined> {
  const node = cluster.nodes.find(one => one.nodeId === nodeId)
  if (!node?.roles.includes('broker') || topic === metadataTopic) return undefined
  const found = await orNothing(node, signal, connection =>
    listOffsets(connection, {topic, partition, timestamp, replicaId: -2}),
  )
  return found?.errorCode === 0 ? found.offset : undefined
}

async function offsetAt(
  connection: Connection,
  request: Parameters<typeof listOffsets>[1],
): Promise<bigint | undefined> {
  const {errorCode, offset} = await listOffsets(connection, request)
  return errorCode === 0 && offset >= 0n ? offset : undefined
}

async function topicState(
  connection: Connection,
  cluster: Cluster,
  {topic, partition}: TopicPartition,
): Promise<PartitionState> {
  const found = await describedTopic(connection, cluster, topic)
  const one = found.partitions.find(({partitionIndex}) => partitionIndex === partition)
  if (!one) throw noPartition({topic, partition}, found.partitions.length)
  return {
    topicId: found.topicId,
    partitionCount: found.partitions.length,
    isInternal: found.isInternal,
    leaderId: one.leaderId,
    leaderEpoch: one.leaderEpoch,
    replicas: one.replicaNodes,
    inSyncReplicas: one.isrNodes,
    observers: [],
  }
}

async function describedTopic(connection: Connection, cluster: Cluster, topic: string): Promise<TopicMetadata> {
  const [found] = (await metadata(connection, {topics: [topic]})).topics
  if (found?.errorCode === 0) return found
  if (found && found.errorCode !== unknownTopic) {
    const {name, meaning} = {name: kafkaError(found.errorCode).name, meaning: `error ${found.errorCode}`}
    throw new KxError(
      'usage',
      'KX_NO_TOPIC',
      `Kafka does not take ${JSON.stringify(topic)} as a topic: ${meaning} ${name}.`,
    )
  }
  const names = [...(await metadata(connection)).topics.map(({name}) => name), metadataTopic].sort()
  const meant = nearest(topic, names)
  const shown = names.filter(name => !name.startsWith('__')).slice(0, 8)
  throw new KxError('usage', 'KX_NO_TOPIC', `Cluster "${cluster.name}" has no topic ${JSON.stringify(topic)}.`, {
    suggestions: [
      ...(meant.length > 0 ? [`Did you mean ${list(meant, 'or')}?`] : []),
      ...(meant.length === 0 && shown.length > 0 ? [`Topics: ${shown.join(', ')}.`] : []),
    ],
  })
}

/** Every node of a KRaft cluster has this log: controllers as voters, brokers as observers. */
async function quorumState(connection: Connection, {topic, partition}: TopicPartition): Promise<PartitionState> {
  if (partition !== 0) throw noPartition({topic, partition}, 1)
  const quorum = await describeQuorum(connection)
  const voters = quorum.currentVoters.map(({replicaId}) => replicaId)
  const observers = quorum.observers.map(({replicaId}) => replicaId).filter(id => !voters.includes(id))
  const all = [...quorum.currentVoters, ...quorum.observers]
  return {
    topicId: metadataTopicId,
    partitionCount: 1,
    isInternal: true,
    leaderId: quorum.leaderId,
    leaderEpoch: quorum.leaderEpoch,
    replicas: [...voters, ...observers],
    inSyncReplicas: voters,
    observers,
    quorum: {
      highWatermark: quorum.highWatermark,
      logEndOffsets: new Map(
        all.flatMap(({replicaId, logEndOffset}) => (logEndOffset < 0n ? [] : [[replicaId, logEndOffset]])),
      ),
    },
  }
}

function noPartition({topic, partition}: TopicPartition, count: number): KxError {
  const there = count === 1 ? 'It has one, 0.' : `It has ${plural(count, 'partition')}, 0 to ${count - 1}.`
  return new KxError('usage', 'KX_NO_PARTITION', `${topic} has no partition ${partition}. ${there}`)
}

/** Brokers that run are asked one after another: the first answer counts, and what only says "no" is an answer. */
async function firstAnswer<T>(cluster: Cluster, asked: Asked, ask: (connection: Connection) => Promise<T>): Promise<T> {
  const states = await Promise.all(cluster.brokers.map(node => node.state()))
  const problems: string[] = []
  for (const [index, node] of cluster.brokers.entries()) {
    if (states[index] !== 'running') {
      problems.push(`broker ${node.nodeId} is ${states[index]}`)
      continue
    }
    try {
      return await connected(node, asked.signal, ask)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      problems.push(`broker ${node.nodeId}: ${error.message.replace(/\.$/, '')}`)
    }
  }
  throw new KxError(
    'environment',
    'KX_NO_ANSWER',
    `No broker of cluster "${cluster.name}" says ${asked.question ?? `who has ${nameOf(asked)}`}: ${list(problems)}.`,
    {suggestions: ['Name the replica whose files are wanted: --broker 1', cureOf(cluster)]},
  )
}

/** How its nodes come to run again. */
export function cureOf({name}: Cluster): string {
  return `kx ${loadState(name)?.phase === 'down' ? 'up' : 'heal'} --name ${name}`
}

async function orNothing<T>(
  node: ClusterNode,
  signal: AbortSignal | undefined,
  ask: (connection: Connection) => Promise<T>,
): Promise<T | undefined> {
  if ((await node.state()) !== 'running') return undefined
  try {
    return await connected(node, signal, ask)
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

async function connected<T>(
  node: ClusterNode,
  signal: AbortSignal | undefined,
  ask: (connection: Connection) => Promise<T>,
): Promise<T> {
  await using connection = await Connection.open(endpointOf(node), {
    ...patience,
    reach: 'reads',
    ...(signal && {signal}),
  })
  return await ask(connection)
}
