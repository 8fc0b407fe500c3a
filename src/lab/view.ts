import type {Cluster, ClusterNode} from '../cluster/cluster.js'
import {endsTheRun} from './final.js'
import {KxError, messageOf} from '../util/errors.js'
import {until} from '../util/until.js'
import {Connection} from '../wire/connection.js'
import {describeTopicPartitions, type Isolation, listOffsets} from '../wire/requests.js'
import type {Endpoint} from '../wire/types.js'

/** What one broker says of a partition, now. */
export interface PartitionView {
  readonly errorCode: number
  readonly leader: number
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly inSyncReplicas: readonly number[]
}

const probeTimeoutMs = 2_000

/**
 * Looks at a cluster over the wire. Probes have connections of their own, one per broker: a broker answers the requests
 * of one connection one after another, so a probe behind a waiting acks=all write would hang with it.
 */
export class ClusterView implements AsyncDisposable {
  readonly #connections = new Map<number, Promise<Connection>>()
  /** Told of every look at partitions, whoever looks: what a person may watch live. */
  onPartitions: (partitions: ReadonlyMap<string, PartitionView>) => void = () => undefined

  constructor(
    readonly cluster: Cluster,
    readonly signal: AbortSignal,
  ) {}

  node(nodeId: number): ClusterNode {
    const node = this.cluster.nodes.find(candidate => candidate.nodeId === nodeId)
    if (!node) throw new Error(`no node ${nodeId} in cluster ${this.cluster.name}`)
    return node
  }

  endpoint(nodeId: number): Endpoint {
    return endpointOf(this.node(nodeId).address)
  }

  /** Asks this broker on its probe connection; a connection that failed is thrown away, not reused. */
  async ask<T>(nodeId: number, question: (connection: Connection) => Promise<T>): Promise<T> {
    const opened = this.#connections.get(nodeId) ?? this.#open(nodeId)
    this.#connections.set(nodeId, opened)
    try {
      return await question(await opened)
    } catch (error) {
      if (this.#connections.get(nodeId) === opened) this.#connections.delete(nodeId)
      await opened.then(
        connection => connection.close(),
        () => undefined,
      )
      throw error
    }
  }

  #open(nodeId: number): Promise<Connection> {
    return Connection.open(this.endpoint(nodeId), {
      clientId: 'kx-probe',
      reach: 'brokers',
      connectTimeoutMs: probeTimeoutMs,
      requestTimeoutMs: probeTimeoutMs,
      signal: this.signal,
    })
  }

  /** The first good answer of any broker that runs; paused and dead ones are not asked. */
  async anyBroker<T>(question: (connection: Connection) => Promise<T>): Promise<T> {
    const obstacles: string[] = []
    for (const node of this.cluster.brokers) {
      if ((await node.state()) !== 'running') {
        obstacles.push(`broker ${node.nodeId} is ${await node.state()}`)
        continue
      }
      try {
        return await this.ask(node.nodeId, question)
      } catch (error) {
        if (this.signal.aborted) throw error
        obstacles.push(`broker ${node.nodeId}: ${messageOf(error)}`)
      }
    }
    throw new KxError(
      'environment',
      'KX_NO_BROKER',
      `No broker of ${this.cluster.name} answers: ${obstacles.join('; ')}.`,
      {
        suggestions: ['kx status shows the nodes; kx heal starts and resumes what is down.'],
      },
    )
  }

  /** The only partition of each topic, as one living broker sees it. */
  async partitions(topics: readonly string[]): Promise<ReadonlyMap<string, PartitionView>> {
    const seen = await this.anyBroker(connection => this.#partitionsBy(connection, topics))
    this.onPartitions(seen)
    return seen
  }

  /** The same, as this broker sees it. */
  async partitionsAt(nodeId: number, topics: readonly string[]): Promise<ReadonlyMap<string, PartitionView>> {
    return this.ask(nodeId, connection => this.#partitionsBy(connection, topics))
  }

  async #partitionsBy(connection: Connection, topics: readonly string[]): Promise<ReadonlyMap<string, PartitionView>> {
    const answer = await describeTopicPartitions(connection, {topics})
    return new Map(
      answer.topics.map(topic => {
        const partition = topic.partitions[0]
        const view: PartitionView = {
          errorCode: topic.errorCode || (partition?.errorCode ?? 0),
          leader: partition?.leaderId ?? -1,
          leaderEpoch: partition?.leaderEpoch ?? -1,
          replicas: partition?.replicaNodes ?? [],
          inSyncReplicas: partition?.isrNodes ?? [],
        }
        return [topic.name, view] as const
      }),
    )
  }

  /** This replica's own log end offset (ListOffsets, replica id −2): answered by followers too. */
  async logEndOffset(nodeId: number, topic: string): Promise<number> {
    return this.#offset(nodeId, topic, -2)
  }

  /** The high watermark, which only the leader tells. */
  async highWatermark(leader: number, topic: string): Promise<number> {
    return this.#offset(leader, topic, -1)
  }

  /** Up to where every transaction is decided; the leader tells. */
  async lastStableOffset(leader: number, topic: string): Promise<number> {
    return this.#offset(leader, topic, -1, 'read_committed')
  }

  async #offset(nodeId: number, topic: string, replicaId: -1 | -2, isolation?: Isolation): Promise<number> {
    const {errorCode, offset} = await this.ask(nodeId, connection =>
      listOffsets(connection, {
        topic,
        partition: 0,
        timestamp: -1n,
        replicaId,
        ...(isolation === undefined ? {} : {isolation}),
      }),
    )
    if (errorCode !== 0) {
      throw new KxError(
        'environment',
        'KX_LIST_OFFSETS',
        `Broker ${nodeId} answers ListOffsets for ${topic} with error ${errorCode}.`,
      )
    }
    return Number(offset)
  }

  /** Waits until the probe gives an answer; whatever it throws meanwhile is what was missing. */
  async settle<T>(what: string, timeoutMs: number, probe: () => Promise<T | undefined>): Promise<T> {
    let last = ''
    return until(
      what,
      async () => {
        try {
          return await probe()
        } catch (error) {
          if (this.signal.aborted || endsTheRun(error)) throw error
          last = messageOf(error)
          return undefined
        }
      },
      {timeoutMs, signal: this.signal, missing: () => last},
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#connections.values())
    await Promise.all(opened.map(result => (result.status === 'fulfilled' ? result.value.close() : undefined)))
    this.#connections.clear()
  }
}

export function endpointOf(address: string): Endpoint {
  const colon = address.lastIndexOf(':')
  return {host: address.slice(0, colon), port: Number(address.slice(colon + 1))}
}
