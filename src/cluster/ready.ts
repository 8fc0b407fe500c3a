import {kafkaError} from '../kafka/errors.js'
import {KxError, messageOf} from '../util/errors.js'
import {list} from '../util/format.js'
import {until} from '../util/until.js'
import {Connection} from '../wire/connection.js'
import {describeCluster, describeQuorum} from '../wire/requests.js'
import type {ConnectOptions} from '../wire/types.js'
import type {Cluster, ClusterNode} from './cluster.js'
import {endpointOf, probe} from './probe.js'
import {controllerIds} from './spec.js'
import {updateState} from './state.js'

export interface Readiness {
  readonly ready: boolean
  /** One sentence that says what is missing. */
  readonly missing?: string
  /** The leader of the quorum (the active controller), if a broker could say. */
  readonly controllerId?: number
}

export interface ReadyOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
}

/** What is missing, and the node whose log may say why. */
interface Gap {
  readonly missing: string
  readonly node?: ClusterNode
}

/**
 * Waits until the cluster does what clusters are for: all nodes run, every broker sees all brokers registered and
 * unfenced, the quorum has a leader whom all controllers follow, and a record that was written with acks=all through
 * each broker is read back. An open port says nothing: Docker's proxy accepts for a paused broker too. A cluster that
 * was `starting` is noted as `up`.
 * @throws KxError KX_TIMEOUT (environment) with what was missing and the log of the node at fault; KX_NODE_DIED
 * (environment) as soon as a node ends; KX_INTERRUPTED
 */
export async function untilReady(cluster: Cluster, {timeoutMs, signal, progress}: ReadyOptions): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const remaining = () => Math.max(1_000, deadline - performance.now())
  let gap: Gap = {missing: 'Nothing has answered yet.'}
  const waiting = {signal, missing: async () => `${gap.missing}${await lastLines(gap.node)}`}
  progress(`waiting until ${cluster.nodes.length} nodes are ready`)
  await using connections = new Connections({requestTimeoutMs: 3_000, signal})
  await until(
    `cluster "${cluster.name}" to be ready`,
    async () => {
      const down = await notRunning(cluster)
      await refuseDead(cluster, down)
      // A paused node can't be asked, and answers for nobody else: its sentence is the reason.
      const found: Look = down[0] ? {gap: {missing: down[0].sentence}} : await look(cluster, connections)
      gap = found.gap ?? gap
      return found.gap ? undefined : true
    },
    {...waiting, timeoutMs: remaining(), everyMs: 40},
  )
  progress('writing and reading a probe through each broker')
  await probe(cluster.brokers, {
    timeoutMs: remaining(),
    signal,
    lastLines: nodeId => lastLines(cluster.nodes.find(node => node.nodeId === nodeId)),
  })
  // Only now: a kx that is killed before leaves a cluster that never came up, which `kx clean` may take.
  updateState(cluster.name, state => (state.phase === 'starting' ? {...state, phase: 'up'} : state))
}

/** How it stands now; writes nothing and waits for each answer no longer than `timeoutMs` (default 1,500). */
export async function readiness(cluster: Cluster, timeoutMs = 1_500): Promise<Readiness> {
  await using connections = new Connections({connectTimeoutMs: timeoutMs, requestTimeoutMs: timeoutMs})
  const [down] = await notRunning(cluster)
  const {gap, controllerId} = await look(cluster, connections)
  const found = controllerId === undefined ? {} : {controllerId}
  const missing = down?.sentence ?? gap?.missing
  return missing === undefined ? {ready: true, ...found} : {ready: false, missing, ...found}
}

/** A cluster that was ready, and whose nodes all run, is ready again by then. */
export const settlesWithinMs = 15_000

/**
 * The same, asked again for so long while all nodes run: on a machine that is busy an answer comes late, and a broker
 * that was not heard of for a moment is unfenced soon. @throws KxError KX_INTERRUPTED when the signal fires
 */
export async function readinessWithin(cluster: Cluster, patienceMs: number, signal?: AbortSignal): Promise<Readiness> {
  let last: Readiness = {ready: false}
  const settled = async () => {
    last = await readiness(cluster)
    return last.ready || (await notRunning(cluster)).length > 0 ? last : undefined
  }
  return until('readiness', settled, {timeoutMs: patienceMs, everyMs: 100, ...(signal && {signal})}).catch(
    (error: unknown) => {
      if (error instanceof KxError && error.code === 'KX_TIMEOUT') return last
      throw error
    },
  )
}

interface Look {
  readonly gap?: Gap
  readonly controllerId?: number
}

/** Asks every broker once what it sees. */
async function look(cluster: Cluster, connections: Connections): Promise<Look> {
  const views = await Promise.all(cluster.brokers.map(broker => view(cluster, broker, connections)))
  const gap = views.find(found => found.gap)?.gap
  const answering = views.find(found => found.connection)?.connection
  if (!answering) return gap ? {gap} : {}
  const quorum = await quorumSeenBy(answering, cluster)
  const controllerId = quorum.leaderId === undefined ? {} : {controllerId: quorum.leaderId}
  const missing = gap ?? quorum.gap
  return missing ? {gap: missing, ...controllerId} : controllerId
}

interface View {
  readonly gap?: Gap
  readonly connection?: Connection
}

async function view(cluster: Cluster, broker: ClusterNode, connections: Connections): Promise<View> {
  const name = `Broker ${broker.nodeId} (${broker.address})`
  let connection: Connection
  try {
    connection = await connections.to(broker)
  } catch (error) {
    return {gap: {missing: `${name} does not answer: ${messageOf(error)}`, node: broker}}
  }
  try {
    const {clusterId, brokers} = await describeCluster(connection, {includeFencedBrokers: true})
    if (clusterId !== cluster.clusterId) return {gap: {missing: `${name} belongs to another cluster, ${clusterId}.`}}
    const unfenced = new Set(brokers.filter(({isFenced}) => !isFenced).map(({brokerId}) => brokerId))
    const absent = cluster.brokers.filter(({nodeId}) => !unfenced.has(nodeId))
    const [first] = absent
    if (!first) return {connection}
    const fenced = brokers.some(({brokerId}) => brokerId === first.nodeId)
    const who = `broker ${list(absent.map(({nodeId}) => nodeId))}`
    const missing = fenced ? `${name} sees ${who} as fenced.` : `${name} does not see ${who} registered.`
    return {connection, gap: {missing, node: first}}
  } catch (error) {
    return {gap: {missing: `${name} does not say which brokers it sees: ${messageOf(error)}`, node: broker}}
  }
}

async function quorumSeenBy(
  connection: Connection,
  cluster: Cluster,
): Promise<{readonly gap?: Gap; readonly leaderId?: number}> {
  try {
    const {errorCode, leaderId, currentVoters} = await describeQuorum(connection)
    if (errorCode !== 0)
      return {gap: {missing: `The quorum is not known: error ${errorCode} ${kafkaError(errorCode).name}.`}}
    if (leaderId < 0) return {gap: {missing: 'The controllers have elected no leader.'}}
    const following = new Set(
      currentVoters.filter(({lastFetchTimestamp}) => lastFetchTimestamp > 0n).map(({replicaId}) => replicaId),
    )
    const absent = controllerIds(cluster.spec).find(nodeId => nodeId !== leaderId && !following.has(nodeId))
    if (absent === undefined) return {leaderId}
    const node = cluster.nodes.find(({nodeId}) => nodeId === absent)
    const missing = `Controller ${absent} does not follow the quorum's leader ${leaderId}.`
    return {leaderId, gap: node ? {missing, node} : {missing}}
  } catch (error) {
    return {gap: {missing: `The quorum has no leader that answers: ${messageOf(error)}`}}
  }
}

interface NotRunning {
  readonly node: ClusterNode
  readonly isUp: boolean
  readonly sentence: string
}

async function notRunning(cluster: Cluster): Promise<NotRunning[]> {
  const states = await Promise.all(cluster.nodes.map(async node => ({node, state: await node.state()})))
  return states
    .filter(({state}) => state !== 'running')
    .map(({node, state}) => ({node, isUp: state === 'paused', sentence: `Node ${node.nodeId} is ${state}.`}))
}

/** A node that ended does not come back: waiting for it would only hide its last words. */
async function refuseDead(cluster: Cluster, down: readonly NotRunning[]): Promise<void> {
  const dead = down.find(({isUp}) => !isUp)
  if (!dead) return
  const {nodeId} = dead.node
  const words = await lastLines(dead.node, 12)
  throw new KxError(
    'environment',
    'KX_NODE_DIED',
    `Node ${nodeId} of cluster "${cluster.name}" ended while it started.${words}`,
    {
      suggestions: ['Its last log lines say why. If a setting of yours is named there, leave that --config out.'],
    },
  )
}

/** The end of a node's log as the end of a sentence, without the frames of stack traces: the causes tell more. */
async function lastLines(node: ClusterNode | undefined, count = 5): Promise<string> {
  if (!node) return ''
  const lines = await node.logTail(200).catch(() => [])
  const telling = lines.filter(line => !/^\s+(at |\.\.\. \d+ (more|common))/.test(line)).slice(-count)
  if (telling.length === 0) return ` The log of node ${node.nodeId} is empty.`
  return ` The last lines of the log of node ${node.nodeId}:\n${telling.map(line => `  ${line}`).join('\n')}`
}

/** One connection per broker, kept between two looks; a broken one is replaced. */
class Connections implements AsyncDisposable {
  readonly #open = new Map<number, Connection>()

  constructor(private readonly options: ConnectOptions) {}

  async to(node: ClusterNode): Promise<Connection> {
    const known = this.#open.get(node.nodeId)
    if (known && !known.failure) return known
    await known?.close()
    const fresh = await Connection.open(endpointOf(node), this.options)
    this.#open.set(node.nodeId, fresh)
    return fresh
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map(connection => connection.close()))
  }
}
