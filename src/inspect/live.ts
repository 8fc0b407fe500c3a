import type {Cluster, ClusterNode, NodeState, PartitionFolder} from '../cluster/cluster.js'
import {attach} from '../cluster/lifecycle.js'
import type {RuntimeName} from '../cluster/spec.js'
import {listStates} from '../cluster/state.js'
import {nameOf} from '../kafka/topic-partition.js'
import type {Folder, OpenFile} from '../log/folder.js'
import {KxError, messageOf} from '../util/errors.js'
import {list} from '../util/format.js'
import {until} from '../util/until.js'
import type {GrowingFolder} from './follow.js'
import {cureOf, type LogOffsets, offsetAtTime, offsetsOf, type PartitionState, stateOf} from './live-state.js'

/** A partition of a running cluster, as it is asked for. */
export interface LiveRequest {
  readonly topic: string
  /** Default 0. */
  readonly partition?: number
  /** Whose replica; default the leader's. For `__cluster_metadata` any node. */
  readonly broker?: number
  /** Name of the cluster; default the only one there is. */
  readonly cluster?: string
  readonly signal?: AbortSignal
}

export type ReplicaRole = 'leader' | 'follower' | 'observer' | 'unknown'

/** One replica of a partition: its files, and what the cluster says of it. Disposing of it removes copies of its files. */
export interface LiveFolder extends Folder, GrowingFolder, LogOffsets, AsyncDisposable {
  readonly cluster: string
  readonly runtime: RuntimeName
  readonly kafkaVersion: string
  readonly topic: string
  readonly partition: number
  readonly brokerId: number
  /** False: an isolated controller, which has `__cluster_metadata` only. */
  readonly isBroker: boolean
  readonly nodeState: NodeState
  /** `unknown` if no broker answered. `observer`: a broker's copy of `__cluster_metadata`. */
  readonly role: ReplicaRole
  readonly inSync: boolean
  /** Of the whole partition; `undefined` if no broker answered. */
  readonly state: PartitionState | undefined
  /** Offset of the first record with this timestamp (ms) or a later one; −1: none; `undefined`: its broker can't say. */
  offsetAtTime(timestamp: bigint): Promise<bigint | undefined>
}

/** All replicas of a partition that can be read. */
export interface LiveReplicas extends AsyncDisposable {
  readonly cluster: string
  readonly topic: string
  readonly partition: number
  readonly state: PartitionState
  readonly replicas: readonly LiveFolder[]
  /** Replicas without files, one sentence each. */
  readonly missing: readonly {readonly brokerId: number; readonly why: string}[]
}

/**
 * The files of one replica of a running cluster, of either runtime, whatever state its node is in; nothing is changed.
 * @throws KxError KX_NO_CLUSTER, KX_SEVERAL_CLUSTERS, KX_NO_TOPIC, KX_NO_PARTITION, KX_NO_REPLICA (usage); KX_NO_LEADER,
 * KX_NO_ANSWER and those of the runtime (environment)
 */
export async function openLive(request: LiveRequest): Promise<LiveFolder> {
  const {topic, partition = 0, broker, signal} = request
  const cluster = await clusterFor(request)
  try {
    const state = await stateOf(cluster, {topic, partition, signal}).catch(error => {
      // With no broker to ask, the files of one that is named can still be read.
      if (broker !== undefined && error instanceof KxError && error.code === 'KX_NO_ANSWER') return undefined
      throw error
    })
    const nodeId = broker ?? leaderOf(state, {topic, partition})
    const node = nodeFor(cluster, nodeId, {topic, partition, state})
    const folder = await replicaOn(cluster, node, {topic, partition, state, signal})
    if (folder) return folder
    throw new KxError(
      'usage',
      'KX_NO_REPLICA',
      `Broker ${nodeId} of cluster "${cluster.name}" has no files of ${nameOf({topic, partition})}.`,
      {suggestions: [state ? `Its replicas: ${list(state.replicas)}.` : cureOf(cluster)]},
    )
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * What the cluster says of a partition, whose files are not looked at.
 * @throws KxError as {@link openLive}, KX_NO_ANSWER with the question that nobody answered
 */
export async function describeLive(request: LiveRequest & {readonly question: string}): Promise<PartitionState> {
  const {topic, partition = 0, question, signal} = request
  await using cluster = await clusterFor(request)
  return await stateOf(cluster, {topic, partition, question, signal})
}

/** Every replica of a partition. @throws as {@link openLive}; KX_NO_ANSWER also if no broker can be asked */
export async function openReplicas(request: Omit<LiveRequest, 'broker'>): Promise<LiveReplicas> {
  const {topic, partition = 0, signal} = request
  const cluster = await clusterFor(request)
  const replicas: LiveFolder[] = []
  const missing: {brokerId: number; why: string}[] = []
  const close = async () => {
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  }
  try {
    const state = await caughtUp(cluster, {topic, partition, signal})
    for (const brokerId of [...state.replicas].sort((a, b) => a - b)) {
      const node = cluster.nodes.find(({nodeId}) => nodeId === brokerId)
      const folder =
        node &&
        (await replicaOn(cluster, node, {topic, partition, state, signal}).catch((error: unknown) => {
          if (!(error instanceof KxError)) throw error
          missing.push({brokerId, why: messageOf(error)})
        }))
      if (folder) replicas.push(folder)
      else if (!missing.some(one => one.brokerId === brokerId)) {
        missing.push({brokerId, why: `Broker ${brokerId} has no files of ${nameOf({topic, partition})}.`})
      }
    }
    return {cluster: cluster.name, topic, partition, state, replicas, missing, [Symbol.asyncDispose]: close}
  } catch (error) {
    await close()
    throw error
  }
}

/** Brokers are not waited for by the high watermark of `__cluster_metadata`, and behind it for a moment. */
const observersMs = 2_000

/** As `stateOf`; of `__cluster_metadata` as soon as all nodes that run have what the high watermark says. */
async function caughtUp(cluster: Cluster, asked: Parameters<typeof stateOf>[1]): Promise<PartitionState> {
  const first = await stateOf(cluster, asked)
  if (!first.quorum) return first
  const {highWatermark} = first.quorum
  const running: number[] = []
  for (const node of cluster.nodes) if ((await node.state()) === 'running') running.push(node.nodeId)
  const look = async () => {
    const {quorum} = await stateOf(cluster, asked)
    const isThere = (nodeId: number) => (quorum?.logEndOffsets.get(nodeId) ?? -1n) >= highWatermark
    return quorum && running.every(isThere) ? {...first, quorum: {...quorum, highWatermark}} : undefined
  }
  const patience = {timeoutMs: observersMs, everyMs: 50, ...(asked.signal && {signal: asked.signal})}
  return until('every node to have the metadata', look, patience).catch((error: unknown) => {
    if (error instanceof KxError && (error.code === 'KX_TIMEOUT' || error.code === 'KX_NO_ANSWER')) return first
    throw error
  })
}

/** @throws KxError KX_NO_CLUSTER, KX_SEVERAL_CLUSTERS (usage) */
async function clusterFor({cluster}: LiveRequest): Promise<Cluster> {
  if (cluster !== undefined) return attach(cluster)
  const {states} = listStates()
  const running = states.filter(({phase}) => phase === 'up')
  // Those that are down have their files still.
  const known = running.length > 0 ? running : states.filter(({phase}) => phase === 'down')
  const standing = known.length > 1 ? known.filter(({ephemeral}) => !ephemeral) : known
  const [only, ...more] = standing.length > 0 ? standing : known
  if (only && more.length === 0) return attach(only.name)
  if (!only) {
    throw new KxError('usage', 'KX_NO_CLUSTER', 'No cluster runs here, so there is no topic to read.', {
      suggestions: ['kx up starts one.', 'Files can be read without a cluster: name them instead of --topic.'],
    })
  }
  const names = [only, ...more].map(({name}) => name)
  throw new KxError(
    'usage',
    'KX_SEVERAL_CLUSTERS',
    `Several clusters ${running.length > 0 ? 'run' : 'are down'} here: ${list(names)}.`,
    {
      suggestions: names.map(name => `--cluster ${name}`),
    },
  )
}

function leaderOf(state: PartitionState | undefined, partition: {topic: string; partition: number}): number {
  if (state && state.leaderId >= 0) return state.leaderId
  throw new KxError('environment', 'KX_NO_LEADER', `${nameOf(partition)} has no leader now.`, {
    suggestions: (state?.replicas ?? []).map(
      id => `--broker ${id}${state?.inSyncReplicas.includes(id) ? ' (in sync)' : ''}`,
    ),
  })
}

interface Wanted {
  readonly topic: string
  readonly partition: number
  readonly state: PartitionState | undefined
  readonly signal?: AbortSignal | undefined
}

function nodeFor(cluster: Cluster, nodeId: number, {topic, partition, state}: Wanted): ClusterNode {
  const node = cluster.nodes.find(one => one.nodeId === nodeId)
  const hosts = state?.replicas ?? cluster.brokers.map(one => one.nodeId)
  if (node && (!state || hosts.includes(nodeId))) return node
  const what = node
    ? `Broker ${nodeId} has no replica of ${nameOf({topic, partition})}.`
    : `Cluster "${cluster.name}" has no node ${nodeId}.`
  throw new KxError('usage', 'KX_NO_REPLICA', what, {
    suggestions: [`Replicas of ${nameOf({topic, partition})} are on ${list(hosts)}.`],
  })
}

/** `undefined`: the node has no files of this partition. */
async function replicaOn(cluster: Cluster, node: ClusterNode, wanted: Wanted): Promise<LiveFolder | undefined> {
  const {topic, partition, state, signal} = wanted
  const folder = node.folder({topic, partition})
  try {
    if ((await folder.list()).length === 0) {
      await folder[Symbol.asyncDispose]()
      return undefined
    }
    const nodeState = await node.state()
    const offsets = await offsetsOf(cluster, {topic, partition, nodeId: node.nodeId, nodeState, state, signal})
    return {
      ...asFolder(folder),
      // In a container every look is a request to the engine.
      lookEveryMs: cluster.runtime === 'docker' ? 500 : 250,
      ...offsets,
      cluster: cluster.name,
      runtime: cluster.runtime,
      kafkaVersion: cluster.spec.kafkaVersion,
      topic,
      partition,
      brokerId: node.nodeId,
      isBroker: node.roles.includes('broker'),
      nodeState,
      role: roleOf(node.nodeId, state),
      inSync: state?.inSyncReplicas.includes(node.nodeId) ?? false,
      state,
      offsetAtTime: timestamp => offsetAtTime(cluster, {topic, partition, nodeId: node.nodeId, signal}, timestamp),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    }
  } catch (error) {
    await folder[Symbol.asyncDispose]()
    throw error
  }
}

function roleOf(nodeId: number, state: PartitionState | undefined): ReplicaRole {
  if (!state) return 'unknown'
  if (nodeId === state.leaderId) return 'leader'
  return state.observers.includes(nodeId) ? 'observer' : 'follower'
}

function asFolder(folder: PartitionFolder): Folder & GrowingFolder {
  const {path} = folder
  return {
    path,
    list: async () => (await folder.list()).map(({name}) => name),
    async open(name): Promise<OpenFile | undefined> {
      const source = await folder.open(name)
      return (
        source && {
          path: `${path}/${name}`,
          name,
          size: source.size,
          read: (position, length) => source.read(position, length),
        }
      )
    },
    sizeOf: name => folder.sizeOf(name),
    read: (name, position, length) => folder.read(name, position, length),
  }
}
