import type {AnyExperiment, TopicSpec} from '../experiment/experiment.js'
import {kafkaError} from '../kafka/errors.js'
import {KxError} from '../util/errors.js'
import {
  createTopics,
  deleteTopics,
  describeConfigs,
  electLeaders,
  listPartitionReassignments,
} from '../wire/admin-requests.js'
import {describeCluster, metadata} from '../wire/requests.js'
import type {ClusterView} from './view.js'

/** The topics of one trial: the apparatus' name → the real topic. All have one partition and the same leader. */
export interface Apparatus {
  readonly topics: ReadonlyMap<string, string>
  /** Broker that leads them all; the followers in the order of the assignment. */
  readonly leader: number
  readonly followers: readonly number[]
  /** Settings of each topic as a broker tells them: what was varied is read back. By the apparatus' names. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Wall clock before the topics were asked for and when they were there: the controller's records must lie between. */
  readonly made: {readonly fromWallMs: number; readonly toWallMs: number}
}

/** `kx-<experiment>-<run>-<trial>-<name>`: unique on every cluster, and recognisable as kx's own. */
export function topicName(experiment: string, run: string, trial: number, name: string): string {
  return `kx-${experiment}-${run}-${trial}-${name}`.replace(/[^a-zA-Z0-9._-]/g, '-')
}

const alreadyThere = 36

/** Makes the topics with an explicit assignment, whose first replica leads; returns when every broker knows them and the ISR is full. */
export async function setUp(
  view: ClusterView,
  note: AnyExperiment,
  names: ReadonlyMap<string, string>,
  leader: number,
): Promise<Apparatus> {
  const ids = view.cluster.brokers.map(({nodeId}) => nodeId)
  const start = ids.indexOf(leader)
  const order = ids.map((_, index) => ids[(start + index) % ids.length] as number)
  const specs = note.apparatus.topics as Readonly<Record<string, TopicSpec>>
  const topics = [...names].map(([name, topic]) => ({
    name: topic,
    assignments: [{partition: 0, brokerIds: order.slice(0, specs[name]?.replicationFactor ?? 3)}],
    configs: specs[name]?.config ?? {},
  }))
  const fromWallMs = Date.now()
  const answers = await view.anyBroker(connection => createTopics(connection, {topics, timeoutMs: 10_000}))
  for (const {name, errorCode, errorMessage} of answers) {
    // Nobody else has such a name: it was made by another broker, whose answer came too late.
    if (errorCode === 0 || errorCode === alreadyThere) continue
    throw new KxError(
      'environment',
      'KX_CREATE_TOPIC',
      `The topic ${name} can't be made: ${kafkaError(errorCode).name} ${errorMessage ?? ''}.`,
    )
  }
  await untilInSync(view, [...names.values()], {replicas: 3, leader, everywhere: true})
  await untilHosted(view, [...names.values()], order)
  const toWallMs = Date.now()
  const settings = await readBack(view, names)
  return {topics: names, leader, followers: order.slice(1), settings, made: {fromWallMs, toWallMs}}
}

/**
 * A broker's metadata are ahead of its partitions for some milliseconds: a write then gets NOT_LEADER_OR_FOLLOWER (seen
 * once in 6 trials on containers). So the partitions themselves are asked: the leader for its high watermark, every
 * replica for its end.
 */
export async function untilHosted(
  view: ClusterView,
  topics: readonly string[],
  [leader, ...followers]: readonly number[],
): Promise<void> {
  await view.settle('every replica of the new topics to be there', 30_000, async () => {
    for (const topic of topics) {
      await view.highWatermark(leader as number, topic)
      for (const nodeId of followers) await view.logEndOffset(nodeId, topic)
    }
    return true
  })
}

async function readBack(view: ClusterView, names: ReadonlyMap<string, string>): Promise<Apparatus['settings']> {
  const settings: Record<string, Record<string, string>> = {}
  for (const [name, topic] of names) {
    const entries = await view.anyBroker(connection => describeConfigs(connection, {type: 'topic', name: topic}))
    settings[name] = Object.fromEntries(
      entries.flatMap(entry => (entry.value === null ? [] : [[entry.name, entry.value]])),
    )
  }
  return settings
}

interface InSync {
  readonly replicas: number
  readonly leader?: number
  /** Every broker must say so: a broker that was just restarted may not know a new topic yet. */
  readonly everywhere?: boolean
}

export async function untilInSync(
  view: ClusterView,
  topics: readonly string[],
  {replicas, leader, everywhere}: InSync,
  timeoutMs = 30_000,
): Promise<void> {
  await view.settle(
    `${replicas} in-sync replicas on ${topics.length === 1 ? topics[0] : 'all topics'}`,
    timeoutMs,
    async () => {
      const views = everywhere
        ? await Promise.all(view.cluster.brokers.map(({nodeId}) => view.partitionsAt(nodeId, topics)))
        : [await view.partitions(topics)]
      for (const partitions of views) {
        for (const topic of topics) {
          const partition = partitions.get(topic)
          if (partition?.errorCode !== 0) throw new Error(`${topic} is not known to every broker yet.`)
          if (partition.inSyncReplicas.length !== replicas)
            throw new Error(`${topic} has ${partition.inSyncReplicas.length} in sync.`)
          if (leader !== undefined && partition.leader !== leader)
            throw new Error(`${topic} is led by ${partition.leader}.`)
        }
      }
      return true
    },
  )
}

/** Topics that an earlier run of kx could not delete (killed, or no broker left): nobody else has such names. */
export async function sweep(view: ClusterView, experiments: readonly string[]): Promise<readonly string[]> {
  const own = new RegExp(`^kx-(${experiments.join('|')})-[0-9a-f]{4}-\\d+-`)
  const {topics} = await view.anyBroker(connection => metadata(connection))
  const left = topics.map(({name}) => name).filter(name => own.test(name))
  const failed = left.length > 0 ? await tearDown(view, left) : undefined
  return failed === undefined ? left : left.filter(name => !failed.includes(`${name}: `))
}

/** Deletes what a trial made; failures are told, not thrown: the verdict does not rest on it. */
export async function tearDown(view: ClusterView, topics: readonly string[]): Promise<string | undefined> {
  const answers = await view.anyBroker(connection => deleteTopics(connection, {topics, timeoutMs: 10_000}))
  const failed = answers.filter(({errorCode}) => errorCode !== 0)
  return failed.length === 0
    ? undefined
    : failed.map(({name, errorCode}) => `${name}: ${kafkaError(errorCode).name}`).join(', ')
}

/** What a trial waits for first; a failure that names it is one of the cluster, not of the method. */
export const cleanGround = 'a clean cluster (brokers unfenced, ISR full, nothing being reassigned)'

/**
 * The ground before a trial: every broker registered and unfenced, the ISR full on all topics, preferred leaders elected,
 * nothing being reassigned. Waits for it, because the trial before may still be settling. Open transactions of others are
 * no matter: the trial's topics are fresh.
 * @throws KxError KX_TIMEOUT (environment) with what was missing; KX_DYNAMIC_CONFIG (environment) for a changed broker setting
 */
export async function untilClean(view: ClusterView, timeoutMs = 45_000): Promise<void> {
  await view.settle(cleanGround, timeoutMs, async () => {
    const cluster = await view.anyBroker(connection => describeCluster(connection, {includeFencedBrokers: true}))
    const unfenced = new Set(cluster.brokers.filter(({isFenced}) => !isFenced).map(({brokerId}) => brokerId))
    const missing = view.cluster.brokers.filter(({nodeId}) => !unfenced.has(nodeId)).map(({nodeId}) => nodeId)
    if (missing.length > 0) throw new Error(`Fenced or not registered: broker ${missing.join(', ')}.`)
    const moving = await view.anyBroker(connection => listPartitionReassignments(connection, {timeoutMs: 5_000}))
    if (moving.length > 0) throw new Error(`${moving.length} partitions are being reassigned.`)
    await requireOrder(view)
    return true
  })
  for (const {nodeId} of view.cluster.brokers) await refuseDynamicConfig(view, nodeId)
}

/** Every partition has all its replicas in sync and is led by the first of them; asks for the election where it is not. */
async function requireOrder(view: ClusterView): Promise<void> {
  const {topics} = await view.anyBroker(connection => metadata(connection))
  const partitions = topics.flatMap(({name, partitions}) => partitions.map(partition => ({topic: name, ...partition})))
  const behind = partitions.find(({isrNodes, replicaNodes}) => isrNodes.length < replicaNodes.length)
  if (behind)
    throw new Error(
      `${behind.topic}-${behind.partitionIndex} has ${behind.isrNodes.length} of ${behind.replicaNodes.length} replicas in sync.`,
    )
  const moved = partitions.filter(({leaderId, replicaNodes}) => leaderId !== replicaNodes[0])
  if (moved.length === 0) return
  const back = moved.map(({topic, partitionIndex}) => ({topic, partition: partitionIndex}))
  await view.anyBroker(connection => electLeaders(connection, {type: 'preferred', partitions: back, timeoutMs: 5_000}))
  throw new Error(`${moved.length} partitions were not led by their preferred leader.`)
}

/** What the controller itself writes at format with eligible leader replicas on (KIP-966). */
const ownDynamicConfig = new Set(['min.insync.replicas'])

/** A setting that somebody changed on the running cluster (unclean elections, throttles, …) could explain anything. */
async function refuseDynamicConfig(view: ClusterView, nodeId: number): Promise<void> {
  const configs = await view.settle(`broker ${nodeId} to tell its settings`, 30_000, () =>
    view.ask(nodeId, connection => describeConfigs(connection, {type: 'broker', name: String(nodeId)})),
  )
  const changed = configs.filter(({name, source}) => source.startsWith('dynamic-') && !ownDynamicConfig.has(name))
  if (changed.length === 0) return
  throw new KxError(
    'environment',
    'KX_DYNAMIC_CONFIG',
    `Broker ${nodeId} has dynamic settings that kx did not make: ${changed.map(({name, value}) => `${name}=${value ?? '[hidden]'}`).join(', ')}. An experiment on it would not show what Kafka does by itself.`,
    {suggestions: ['Delete them with kafka-configs --alter --delete-config, or add --fresh.']},
  )
}

/** Which broker leads in this trial: the victim rotates, so that no result hangs on one broker. */
export function victimOf(view: ClusterView, trial: number): number {
  const brokers = view.cluster.brokers
  return brokers[(trial - 1) % brokers.length]?.nodeId as number
}
