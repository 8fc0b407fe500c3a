import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import type {Cluster} from '../../src/cluster/cluster.js'
import {LocalRuntime} from '../../src/cluster/local/runtime.js'
import {untilReady} from '../../src/cluster/ready.js'
import {defaultSpec} from '../../src/cluster/spec.js'
import {untilHosted} from '../../src/lab/apparatus.js'
import {ClusterView} from '../../src/lab/view.js'
import {writeBatch} from '../../src/log/write-batch.js'
import {messageNamed} from '../../src/protocol/messages.js'
import {until} from '../../src/util/until.js'
import {
  alterPartitionReassignments,
  createTopics,
  deleteTopics,
  describeConfigs,
  electLeaders,
  incrementalAlterConfigs,
  listPartitionReassignments,
} from '../../src/wire/admin-requests.js'
import {Connection} from '../../src/wire/connection.js'
import {WireError} from '../../src/wire/errors.js'
import {
  deleteGroups,
  describeGroups,
  describeProducers,
  describeTransactions,
  findCoordinator,
  initProducerId,
  listGroups,
  listTransactions,
  type ProducerIdAnswer,
} from '../../src/wire/group-requests.js'
import {
  describeCluster,
  describeQuorum,
  describeTopicPartitions,
  fetch,
  listOffsets,
  metadata,
  produce,
} from '../../src/wire/requests.js'
import type {ConnectOptions, RequestOptions} from '../../src/wire/types.js'

// What the unit tests say of a scripted broker, said of real ones: every version that both sides speak is understood.

const quietly = {timeoutMs: 150_000, signal: new AbortController().signal, progress: () => undefined}
const previousHome = process.env.XDG_STATE_HOME
const home = mkdtempSync(join(tmpdir(), 'kx-wire-'))
let cluster: Cluster

beforeAll(async () => {
  process.env.XDG_STATE_HOME = home
  const spec = {...defaultSpec, controllers: 1, compiler: 'c1' as const}
  cluster = await new LocalRuntime().start({name: 'wire', spec, ephemeral: true, ...quietly})
  await untilReady(cluster, quietly)
})

afterAll(async () => {
  await cluster?.down({wipe: true})
  if (previousHome === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = previousHome
  rmSync(home, {recursive: true, force: true})
})

function connect(nodeId: number, options: ConnectOptions = {}): Promise<Connection> {
  const [host = '', port] = (cluster.nodes.find(node => node.nodeId === nodeId)?.address ?? '').split(':')
  return Connection.open(
    {host, port: Number(port)},
    {reach: 'brokers', connectTimeoutMs: 10_000, requestTimeoutMs: 20_000, ...options},
  )
}

/** A topic with one partition and its leader first; gone at the end of the scope. */
async function topicLedBy(
  connection: Connection,
  name: string,
  brokerIds: readonly number[],
): Promise<{topic: string; partition: 0} & AsyncDisposable> {
  const topics = [{name, assignments: [{partition: 0, brokerIds}], configs: {'min.insync.replicas': '2'}}]
  const [made] = await createTopics(connection, {topics})
  expect(made).toMatchObject({name, errorCode: 0, errorMessage: null})
  for (const {nodeId} of cluster.brokers) {
    await using other = await connect(nodeId)
    await until(
      `${name} to be known to broker ${nodeId}`,
      async () => (await isInSync(other, name, brokerIds.length)) || undefined,
      {timeoutMs: 30_000},
    )
  }
  await using view = new ClusterView(cluster, quietly.signal)
  await untilHosted(view, [name], brokerIds)
  return {
    topic: name,
    partition: 0,
    async [Symbol.asyncDispose]() {
      expect(await deleteTopics(connection, {topics: [name]})).toEqual([{name, errorCode: 0, errorMessage: null}])
    },
  }
}

async function isInSync(connection: Connection, topic: string, replicas: number): Promise<boolean> {
  const {topics} = await describeTopicPartitions(connection, {topics: [topic]})
  return topics[0]?.errorCode === 0 && topics[0].partitions[0]?.isrNodes.length === replicas
}

/** A broker that has no block of ids yet answers 14 until the controller gave it one. */
function producerIdFrom(connection: Connection, options: RequestOptions = {}): Promise<ProducerIdAnswer> {
  const ask = async () => {
    const given = await initProducerId(connection, {}, options)
    return given.errorCode === 0 ? given : undefined
  }
  return until('a producer id', ask, {timeoutMs: 20_000})
}

function batchOf(value: string, rest: object = {}): Buffer {
  return writeBatch({records: [{key: null, value: Buffer.from(value), timestamp: BigInt(Date.now())}], ...rest})
}

/** Every version of an API that kx and the broker speak, up to `most`. */
function versionsOf(connection: Connection, apiName: string, most = Number.POSITIVE_INFINITY): number[] {
  const {apiKey = -1, validVersions} = messageNamed(`${apiName}Request`)
  const spoken = connection.apiVersions.get(apiKey)
  if (!spoken) throw new Error(`the broker does not speak ${apiName}`)
  const lowest = Math.max(validVersions.lowest, spoken.lowest)
  const highest = Math.min(validVersions.highest, spoken.highest, most)
  expect(highest).toBeGreaterThanOrEqual(lowest)
  return Array.from({length: highest - lowest + 1}, (_, index) => lowest + index)
}

describe('a real broker', () => {
  it('says its versions and the levels of its features', async () => {
    await using connection = await connect(1)
    expect(connection.apiVersions.size).toBeGreaterThan(60)
    expect(connection.features.get('metadata.version')).toBeGreaterThanOrEqual(33)
    for (const version of versionsOf(connection, 'ApiVersions')) {
      const about = version >= 3 ? {clientSoftwareName: 'kx', clientSoftwareVersion: '0'} : {}
      expect(await connection.request('ApiVersions', about, {version})).toMatchObject({errorCode: 0})
    }
  })

  it('understands Produce, Fetch and ListOffsets in every version with names, and keeps the bytes', async () => {
    await using connection = await connect(2)
    await using target = await topicLedBy(connection, 'kx-wire-versions', [2, 3, 1])
    const written: Buffer[] = []
    for (const version of versionsOf(connection, 'Produce', 12)) {
      const records = batchOf(`written with version ${version}`)
      const answer = await produce(connection, {...target, acks: -1, timeoutMs: 10_000, records}, {version})
      expect(answer, `Produce v${version}`).toMatchObject({
        errorCode: 0,
        baseOffset: BigInt(written.length),
        logAppendTimeMs: -1n,
        errorMessage: null,
      })
      written.push(records)
    }
    // The broker fills in base offset and leader epoch; from the magic byte on all is as it was sent.
    const filledIn = 16
    for (const version of versionsOf(connection, 'Fetch', 12)) {
      const answer = await fetch(connection, {...target, offset: 0n}, {version})
      const ends = {
        errorCode: 0,
        highWatermark: BigInt(written.length),
        lastStableOffset: BigInt(written.length),
        abortedTransactions: [],
      }
      expect(answer, `Fetch v${version}`).toMatchObject(ends)
      let position = 0
      for (const batch of written) {
        expect(answer.records.subarray(position + filledIn, position + batch.length)).toEqual(batch.subarray(filledIn))
        position += batch.length
      }
      expect(answer.records.length).toBe(position)
    }
    for (const version of versionsOf(connection, 'ListOffsets')) {
      const end = await listOffsets(connection, {...target, timestamp: -1n}, {version})
      expect(end, `ListOffsets v${version}`).toMatchObject({errorCode: 0, offset: BigInt(written.length)})
      const start = await listOffsets(connection, {...target, timestamp: -2n, replicaId: -2}, {version})
      expect(start, `ListOffsets v${version}`).toMatchObject({errorCode: 0, offset: 0n})
    }
  })

  it('understands every version of the questions', async () => {
    await using connection = await connect(3)
    for (const version of versionsOf(connection, 'Metadata').filter(number => number >= 4)) {
      const {brokers, topics} = await metadata(connection, {topics: ['kx-none']}, {version})
      expect(brokers.map(({nodeId}) => nodeId).sort(), `Metadata v${version}`).toEqual([1, 2, 3])
      expect(topics).toMatchObject([{name: 'kx-none', errorCode: 3, partitions: []}])
    }
    for (const version of versionsOf(connection, 'DescribeCluster').filter(number => number >= 2)) {
      const {brokers} = await describeCluster(connection, {includeFencedBrokers: true}, {version})
      expect(brokers.map(({brokerId, isFenced}) => `${brokerId} ${isFenced}`).sort()).toEqual([
        '1 false',
        '2 false',
        '3 false',
      ])
    }
    for (const version of versionsOf(connection, 'DescribeQuorum')) {
      const quorum = await describeQuorum(connection, {version})
      expect(quorum).toMatchObject({errorCode: 0, leaderId: 101})
      expect(quorum.currentVoters.map(({replicaId}) => replicaId)).toEqual([101])
      expect(quorum.observers.map(({replicaId}) => replicaId).sort()).toEqual([1, 2, 3])
      expect(quorum.highWatermark).toBeGreaterThan(0n)
    }
    for (const version of versionsOf(connection, 'DescribeConfigs')) {
      const [entry] = await describeConfigs(
        connection,
        {type: 'broker', name: '3', keys: ['auto.create.topics.enable']},
        {version},
      )
      expect(entry, `DescribeConfigs v${version}`).toMatchObject({
        value: 'false',
        source: 'static-broker',
        isSensitive: false,
      })
    }
    for (const version of versionsOf(connection, 'InitProducerId', 5)) {
      const answer = await producerIdFrom(connection, {version})
      expect(answer.producerEpoch, `InitProducerId v${version}`).toBe(0)
    }
  })

  it('knows a duplicate by producer id and sequence, and says so in the append time', async () => {
    await using connection = await connect(1)
    await using target = await topicLedBy(connection, 'kx-wire-duplicate', [1, 2, 3])
    const {producerId} = await producerIdFrom(connection)
    const records = batchOf('once', {producerId, producerEpoch: 0, baseSequence: 0})
    const write = (bytes: Buffer) => produce(connection, {...target, acks: -1, timeoutMs: 10_000, records: bytes})
    expect(await write(records)).toMatchObject({errorCode: 0, baseOffset: 0n, logAppendTimeMs: -1n})
    const again = await write(records)
    expect(again).toMatchObject({errorCode: 0, baseOffset: 0n})
    expect(again.logAppendTimeMs).toBeGreaterThan(0n)
    expect(await write(batchOf('gap', {producerId, producerEpoch: 0, baseSequence: 5}))).toMatchObject({
      errorCode: 45,
      baseOffset: -1n,
    })
    const {activeProducers} = await describeProducers(connection, target)
    expect(activeProducers).toMatchObject([{producerId, producerEpoch: 0, lastSequence: 0, currentTxnStartOffset: -1n}])
  })

  it('refuses as a follower what only the leader does, but tells its own log end offset', async () => {
    await using leader = await connect(1)
    await using follower = await connect(2)
    await using target = await topicLedBy(leader, 'kx-wire-follower', [1, 2, 3])
    await produce(leader, {...target, acks: -1, timeoutMs: 10_000, records: batchOf('x')})
    const refused = await produce(follower, {...target, acks: -1, timeoutMs: 10_000, records: batchOf('y')})
    expect(refused).toMatchObject({errorCode: 6, currentLeader: {leaderId: 1, leaderEpoch: 0}})
    expect(await listOffsets(follower, {...target, timestamp: -1n})).toMatchObject({errorCode: 6, offset: -1n})
    expect(await listOffsets(follower, {...target, timestamp: -1n, replicaId: -2})).toMatchObject({
      errorCode: 0,
      offset: 1n,
    })
    expect(await listOffsets(leader, {...target, timestamp: -1n, replicaId: -2, currentLeaderEpoch: 9})).toMatchObject({
      errorCode: 75,
    })
    expect(await fetch(follower, {...target, offset: 0n, maxWaitMs: 100})).toMatchObject({errorCode: 0})
    expect(await produce(leader, {...target, acks: 0, timeoutMs: 1_000, records: batchOf('z')})).toMatchObject({
      errorCode: 0,
      baseOffset: -1n,
    })
    await until(
      'the write with acks 0',
      async () => (await listOffsets(leader, {...target, timestamp: -1n})).offset === 2n || undefined,
      {timeoutMs: 10_000},
    )
  })

  it('does what changes a cluster', async () => {
    await using connection = await connect(3)
    await using target = await topicLedBy(connection, 'kx-wire-changes', [1, 2, 3])
    const unknown = {topic: 'kx-none', partition: 0}
    expect(
      (await createTopics(connection, {topics: [{name: target.topic, partitions: 1, replicationFactor: 1}]}))[0],
    ).toMatchObject({errorCode: 36})
    expect(await deleteTopics(connection, {topics: ['kx-none']})).toMatchObject([{name: 'kx-none', errorCode: 3}])
    expect(await electLeaders(connection, {type: 'preferred', partitions: [target, unknown]})).toMatchObject([
      {topic: target.topic, errorCode: 84},
      {topic: 'kx-none', errorCode: 3},
    ])
    expect(
      await alterPartitionReassignments(connection, {
        partitions: [
          {...target, replicas: [2, 1, 3]},
          {...unknown, replicas: null},
        ],
      }),
    ).toMatchObject([
      {topic: target.topic, partition: 0, errorCode: 0},
      {topic: 'kx-none', partition: 0, errorCode: 3},
    ])
    expect(await listPartitionReassignments(connection, {partitions: [target]})).toEqual([])
    expect(await electLeaders(connection, {type: 'preferred', partitions: [target]})).toMatchObject([
      {topic: target.topic, errorCode: 0},
    ])
    await until(
      'broker 2 to lead',
      async () => {
        const {topics} = await describeTopicPartitions(connection, {topics: [target.topic]})
        return topics[0]?.partitions[0]?.leaderId === 2 || undefined
      },
      {timeoutMs: 20_000},
    )
    const set = await incrementalAlterConfigs(connection, {
      changes: [{type: 'topic', name: target.topic, configs: {'retention.ms': '1234567', 'min.insync.replicas': null}}],
    })
    expect(set).toMatchObject([{name: target.topic, errorCode: 0}])
    await until(
      'the setting',
      async () => {
        const entries = await describeConfigs(connection, {
          type: 'topic',
          name: target.topic,
          keys: ['retention.ms', 'min.insync.replicas'],
        })
        const told = entries.map(({name, value, source}) => `${name} ${source === 'topic' ? value : 'not set'}`).sort()
        return told.join(', ') === 'min.insync.replicas not set, retention.ms 1234567' || undefined
      },
      {timeoutMs: 20_000},
    )
  })

  it('answers about groups and transactions', async () => {
    await using first = await connect(1)
    const coordinatorOf = (type: 'group' | 'transaction') =>
      until(
        `the coordinator of a ${type}`,
        async () => {
          const found = await findCoordinator(first, {type, key: 'kx-wire'})
          return found.errorCode === 0 ? found : undefined
        },
        {timeoutMs: 60_000},
      )
    const group = await coordinatorOf('group')
    await using groups = await connect(group.nodeId)
    const [description] = await until(
      'the group coordinator to be loaded',
      async () => {
        const described = await describeGroups(groups, {groups: ['kx-wire']})
        return described[0]?.errorCode === 69 || described[0]?.errorCode === 0 ? described : undefined
      },
      {timeoutMs: 30_000},
    )
    expect(description).toMatchObject({groupId: 'kx-wire', groupState: 'Dead', members: []})
    // Of all its partitions: others than that of the group may be loading still.
    const listed = await until('all groups to be loaded', () => listGroups(groups).catch(() => undefined), {
      timeoutMs: 60_000,
    })
    expect(listed.map(({groupId}) => groupId)).not.toContain('kx-wire')
    expect(await deleteGroups(groups, {groups: ['kx-wire']})).toEqual([{groupId: 'kx-wire', errorCode: 69}])

    const {nodeId} = await coordinatorOf('transaction')
    await using transactions = await connect(nodeId)
    const init = () => initProducerId(transactions, {transactionalId: 'kx-wire'})
    const owner = await until(
      'a transactional producer',
      async () => {
        const given = await init()
        return given.errorCode === 0 ? given : undefined
      },
      {timeoutMs: 30_000},
    )
    expect(await init()).toEqual({errorCode: 0, producerId: owner.producerId, producerEpoch: owner.producerEpoch + 1})
    expect(await describeTransactions(transactions, {transactionalIds: ['kx-wire']})).toMatchObject([
      {errorCode: 0, transactionState: 'Empty', topics: []},
    ])
    const transactionsThere = await until(
      'all transactions to be loaded',
      () => listTransactions(transactions).catch(() => undefined),
      {timeoutMs: 60_000},
    )
    expect(transactionsThere).toMatchObject([{transactionalId: 'kx-wire', producerId: owner.producerId}])
  })
})

describe('a broker that is paused or killed', () => {
  it('cannot be asked; its leader cannot append for all, and the answer carries the offset', async () => {
    await using leader = await connect(1)
    await using target = await topicLedBy(leader, 'kx-wire-paused', [1, 2, 3])
    await using follower = await connect(2)
    const node = cluster.nodes.find(({nodeId}) => nodeId === 2)
    await node?.pause()
    try {
      // First what must be over before the session of the follower lapses: without it in the ISR nobody waits for it.
      const late = await produce(leader, {...target, acks: -1, timeoutMs: 1_000, records: batchOf('late')})
      expect(late).toMatchObject({errorCode: 7, baseOffset: 0n})
      expect(await listOffsets(leader, {...target, timestamp: -1n})).toMatchObject({offset: 0n})
      expect(await listOffsets(leader, {...target, timestamp: -1n, replicaId: -2})).toMatchObject({offset: 1n})
      const failure = await listOffsets(follower, {...target, timestamp: -1n, replicaId: -2}, {timeoutMs: 500}).catch(
        (error: unknown) => error,
      )
      expect(failure).toBeInstanceOf(WireError)
      expect(failure).toMatchObject({failure: 'timeout', sent: true})
      await expect(connect(2, {connectTimeoutMs: 500})).rejects.toMatchObject({failure: 'timeout'})
    } finally {
      await node?.resume()
    }
    await until(
      'the high watermark',
      async () => (await listOffsets(leader, {...target, timestamp: -1n})).offset === 1n || undefined,
      {timeoutMs: 30_000},
    )
  })

  it('breaks its connections when it is killed', async () => {
    await using connection = await connect(3)
    await using other = await connect(1)
    const node = cluster.nodes.find(({nodeId}) => nodeId === 3)
    const waiting = fetch(connection, {
      topic: '__cluster_metadata',
      partition: 0,
      offset: 0n,
      maxWaitMs: 15_000,
      minBytes: 1_000_000,
    }).catch((error: unknown) => error)
    await node?.kill()
    const broken = await until('the connection to break', () => connection.failure, {timeoutMs: 60_000})
    expect(broken).toBeInstanceOf(WireError)
    expect(['closed', 'reset']).toContain((broken as WireError).failure)
    await waiting
    await expect(connect(3)).rejects.toMatchObject({failure: 'refused', sent: false})
    await node?.start()
    const again = await until('broker 3 to answer', () => connect(3).catch(() => undefined), {timeoutMs: 60_000})
    await again.close()
    await until(
      'broker 3 to be unfenced',
      async () => {
        const {brokers} = await describeCluster(other, {includeFencedBrokers: true})
        return brokers.every(({isFenced}) => !isFenced) || undefined
      },
      {timeoutMs: 90_000},
    )
  })
})
