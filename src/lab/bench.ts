import type {ClusterNode, Proof} from '../cluster/cluster.js'
import type {Bench, BenchBroker, BenchTopic, Cut, FaultRecord, ReplicaEnd, WriteOptions} from '../experiment/bench.js'
import type {DamagedCopy, ReplicaReading} from '../experiment/segment-reading.js'
import type {TimelineEvent} from '../experiment/timeline.js'
import type {Found, ReplicaRecords, Writes} from '../history/operation.js'
import {pause} from '../util/until.js'
import {describeConfigs, electLeaders} from '../wire/admin-requests.js'
import {type Apparatus, untilInSync} from './apparatus.js'
import {BenchTopicOnWire} from './bench-topic.js'
import {act, type FaultContext, heal} from './faults.js'
import {readTimeline} from './metadata-timeline.js'
import {readDamaged, readReplicas} from './segment-readings.js'
import {type Keep, logsOf, recordsOn} from './segments.js'
import type {ClusterView, PartitionView} from './view.js'
import type {WritingContext} from './writing.js'

/** After the followers are stopped their waiting fetches must expire (`replica.fetch.wait.max.ms` is 500). */
const fetchExpiryMs = 600
/** A broker that was stopped is refused until its old session lapses (9 s), and then has to catch up. */
const restoreTimeoutMs = 60_000
const electionTimeoutMs = 30_000
/** A broker that runs answers, if late on a busy machine. */
const answerMs = 30_000

export interface BenchOptions {
  readonly view: ClusterView
  readonly apparatus: Apparatus
  readonly faults: FaultContext
  readonly writing: WritingContext
  readonly random: () => number
  /** Wall clock when the trial began, ms. */
  readonly startWallMs: number
  keepEvidence(path: string, bytes: Buffer): void
  note(text: string): void
}

/** The world of one trial on a real cluster. See the interface for what each method promises. */
export class LabBench implements Bench {
  readonly signal: AbortSignal
  readonly random: () => number
  readonly leader: BenchBroker
  readonly followers: readonly BenchBroker[]
  readonly #faults: FaultRecord[] = []
  readonly #topics: ReadonlyMap<string, BenchTopicOnWire>
  readonly #view: ClusterView
  readonly #seen = new Map<string, {readonly leaderEpoch: number; readonly text: string}>()

  constructor(private readonly options: BenchOptions) {
    const {view, apparatus} = options
    this.#view = view
    this.signal = view.signal
    this.random = options.random
    this.leader = this.#broker(apparatus.leader)
    this.followers = apparatus.followers.map(nodeId => this.#broker(nodeId))
    view.onPartitions = partitions => this.#noteLeadership(partitions)
    this.#topics = new Map(
      [...apparatus.topics].map(([name, topic]) => [name, new BenchTopicOnWire(options.writing, topic)]),
    )
  }

  get #names(): readonly string[] {
    return [...this.options.apparatus.topics.values()]
  }

  topic(name: string): BenchTopic {
    const topic = this.#topics.get(name)
    if (!topic) throw new Error(`the apparatus has no topic "${name}"`)
    return topic
  }

  async writeEach(options: WriteOptions): Promise<Record<string, Writes>> {
    const all: Record<string, Writes> = {}
    for (const [name, topic] of this.#topics) all[name] = await topic.write(options)
    return all
  }

  async cutOffFollowers(): Promise<Cut> {
    const startMs = this.now()
    await all(this.followers.map(follower => follower.pause()))
    await this.elapsed(fetchExpiryMs)
    return {
      heal: async () => {
        await all(this.followers.map(follower => follower.resume()))
        return {cutMs: Math.round(this.now() - startMs)}
      },
    }
  }

  async followerEnds(): Promise<readonly ReplicaEnd[]> {
    const ends: ReplicaEnd[] = []
    for (const {nodeId} of this.followers) {
      for (const topic of this.#names) {
        const what = `broker ${nodeId} to tell its log end offset`
        const logEndOffset = await this.#view.settle(what, answerMs, () => this.#view.logEndOffset(nodeId, topic))
        ends.push({topic, nodeId, logEndOffset})
      }
    }
    return ends
  }

  async untilReplicasAreEqual(): Promise<void> {
    await this.#view.settle('all replicas to have the same end', restoreTimeoutMs, async () => {
      const partitions = await this.#view.partitions(this.#names)
      for (const [topic, {leader, replicas}] of partitions) {
        const highWatermark = await this.#view.highWatermark(leader, topic)
        const ends = await Promise.all(replicas.map(nodeId => this.#view.logEndOffset(nodeId, topic)))
        if (ends.some(end => end !== highWatermark))
          throw new Error(`${topic}: ends ${ends.join(', ')}, high watermark ${highWatermark}.`)
      }
      return true
    })
  }

  async untilNothingIsOpen(): Promise<void> {
    await this.#view.settle('no open transaction', restoreTimeoutMs, async () => {
      for (const [topic, {leader}] of await this.#view.partitions(this.#names)) {
        const end = await this.#view.logEndOffset(leader, topic)
        const stable = await this.#view.lastStableOffset(leader, topic)
        if (stable !== end) throw new Error(`${topic} is stable up to ${stable}, and ends at ${end}.`)
      }
      return true
    })
    await this.untilReplicasAreEqual()
  }

  async untilLed(): Promise<Record<string, number>> {
    return this.#view.settle('a living leader on every topic', electionTimeoutMs, async () => {
      const partitions = await this.#view.partitions(this.#names)
      const leaders: Record<string, number> = {}
      for (const [name, topic] of this.options.apparatus.topics) {
        const leader = partitions.get(topic)?.leader ?? -1
        if (leader < 0 || (await this.#view.node(leader).state()) !== 'running')
          throw new Error(`${topic} is led by ${leader}.`)
        leaders[name] = leader
      }
      return leaders
    })
  }

  async untilInSyncReplicas(size: number): Promise<void> {
    await untilInSync(this.#view, this.#names, {replicas: size}, electionTimeoutMs)
  }

  async untilUnfenced(nodeIds: readonly number[]): Promise<void> {
    const topics = this.#names
    await this.#view.settle(`broker ${nodeIds.join(' and ')} to be unfenced`, restoreTimeoutMs, async () => {
      for (const nodeId of nodeIds) {
        const events = (await this.timeline()).filter(event => event.nodeId === nodeId && event.kind !== 'registered')
        if (events.at(-1)?.kind === 'fenced') throw new Error(`broker ${nodeId} is fenced.`)
        await this.#view.partitionsAt(nodeId, topics)
      }
      return true
    })
  }

  async untilOffline(): Promise<void> {
    const names = [...this.options.apparatus.topics.keys()]
    await this.#view.settle('every topic to be without a leader', electionTimeoutMs, async () => {
      const timeline = await this.timeline()
      const leaders = names.map(name => timeline.findLast(event => event.topic === name)?.leader)
      if (leaders.some(leader => leader !== -1)) throw new Error(`Leaders are ${leaders.join(', ')}.`)
      return true
    })
  }

  async electUnclean(): Promise<Record<string, number>> {
    const partitions = this.#names.map(topic => ({topic, partition: 0}))
    const results = await this.#view.anyBroker(connection =>
      electLeaders(connection, {type: 'unclean', partitions, timeoutMs: 10_000}),
    )
    const codes: Record<string, number> = {}
    for (const [name, topic] of this.options.apparatus.topics) {
      codes[name] = results.find(result => result.topic === topic)?.errorCode ?? -1
    }
    return codes
  }

  async restore(): Promise<void> {
    this.#faults.push(...(await heal(this.options.faults, this.#view.cluster.nodes)))
    await untilInSync(this.#view, this.#names, {replicas: this.#view.cluster.brokers.length}, restoreTimeoutMs)
  }

  async readAll(): Promise<Record<string, readonly Found[]>> {
    await this.untilReplicasAreEqual()
    const all: Record<string, readonly Found[]> = {}
    for (const [name, topic] of this.#topics) all[name] = await topic.read()
    return all
  }

  async replicaRecords(): Promise<readonly ReplicaRecords[]> {
    const all: ReplicaRecords[] = []
    for (const node of this.#view.cluster.brokers) all.push(...(await this.#recordsOf(node, 'end')))
    return all
  }

  async readSegments(): Promise<Record<string, readonly ReplicaReading[]>> {
    const partitions = await this.#view.partitions(this.#names)
    const topics = []
    for (const topic of this.#names) {
      topics.push({
        topic,
        highWatermark: await this.#view.highWatermark(partitions.get(topic)?.leader ?? -1, topic),
        logEndOffset: (nodeId: number) => this.#view.logEndOffset(nodeId, topic),
        keep: (nodeId: number) => this.#keeper(nodeId, 'end'),
      })
    }
    const {cluster} = this.#view
    const readings = await readReplicas(cluster, cluster.brokers, topics, this.signal)
    return Object.fromEntries(
      [...this.options.apparatus.topics].map(([name, topic]) => [name, readings.get(topic) ?? []]),
    )
  }

  async readDamagedCopies(): Promise<readonly DamagedCopy[]> {
    const node = this.#view.node(this.options.apparatus.leader)
    const logs = []
    for (const [name, topic] of this.options.apparatus.topics) {
      for (const log of (await logsOf(node, topic, () => undefined)).logs) logs.push({topic: name, ...log})
    }
    return readDamaged(this.#view.cluster, logs, this.random, this.signal)
  }

  async timeline(): Promise<readonly TimelineEvent[]> {
    const {apparatus, startWallMs} = this.options
    const topics = new Map([...apparatus.topics].map(([name, topic]) => [topic, name]))
    return readTimeline(await this.#controller(), {topics, sinceWallMs: startWallMs})
  }

  faults(): readonly FaultRecord[] {
    return this.#faults
  }

  setting(topic: string, name: string): string | undefined {
    return this.options.apparatus.settings[topic]?.[name]
  }

  async brokerSetting(name: string): Promise<string | undefined> {
    const {leader} = this.options.apparatus
    const entries = await this.#view.settle(`broker ${leader} to tell its ${name}`, answerMs, () =>
      this.#view.ask(leader, connection =>
        describeConfigs(connection, {type: 'broker', name: String(leader), keys: [name]}),
      ),
    )
    return entries.find(entry => entry.name === name)?.value ?? undefined
  }

  get topicsMade(): {readonly fromWallMs: number; readonly toWallMs: number} {
    return this.options.apparatus.made
  }

  now(): number {
    return this.options.writing.now()
  }

  async elapsed(ms: number): Promise<void> {
    await pause(ms, this.signal)
  }

  note(text: string): void {
    this.options.note(text)
  }

  /** Says so when a topic has another leader or other in-sync replicas than before: the person sees the ISR shrink. */
  #noteLeadership(partitions: ReadonlyMap<string, PartitionView>): void {
    for (const [name, topic] of this.options.apparatus.topics) {
      const partition = partitions.get(topic)
      const before = this.#seen.get(name)
      // A broker whose metadata are behind tells an older epoch: no news.
      if (partition?.errorCode !== 0 || (before && partition.leaderEpoch < before.leaderEpoch)) continue
      const inSync = [...partition.inSyncReplicas].sort((a, b) => a - b)
      const text = `${name}: ${partition.leader < 0 ? 'no leader' : `leader ${partition.leader}`}, epoch ${partition.leaderEpoch}, ISR ${inSync.join(' ') || 'empty'}`
      if (before && before.text !== text) this.note(text)
      this.#seen.set(name, {leaderEpoch: partition.leaderEpoch, text})
    }
  }

  /** A node that takes part in the quorum and runs; its copy of the log is whole up to the last committed record. */
  async #controller(): Promise<ClusterNode> {
    for (const node of this.#view.cluster.nodes) {
      if (node.roles.includes('controller') && (await node.state()) === 'running') return node
    }
    throw new Error('no controller runs')
  }

  async #recordsOf(node: ClusterNode, when: string): Promise<readonly ReplicaRecords[]> {
    const all: ReplicaRecords[] = []
    for (const topic of this.#names) {
      all.push(await recordsOn(node, topic, this.#keeper(node.nodeId, when)))
    }
    return all
  }

  #keeper(nodeId: number, when: string): Keep {
    return (path, bytes) => this.options.keepEvidence(`broker-${nodeId}-${when}/${path}`, bytes)
  }

  #broker(nodeId: number): BenchBroker {
    const node = this.#view.node(nodeId)
    const doing = (fault: Proof['fault']) => async () => {
      const done = await act(this.options.faults, node, fault)
      this.#faults.push(done)
      this.note(`${fault} broker ${nodeId} (${done.role?.before})`)
      return done
    }
    return {
      nodeId,
      kill: doing('kill'),
      stop: doing('stop'),
      pause: doing('pause'),
      resume: doing('resume'),
      start: doing('start'),
      records: async () => this.#recordsOf(node, await node.state()),
    }
  }
}

/** Waits for every one, whatever fails: a fault must not land after its trial was given up. Then throws the first failure. */
async function all(acts: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(acts)).find(result => result.status === 'rejected')
  if (failed) throw failed.reason
}
