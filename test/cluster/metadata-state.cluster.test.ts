import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Cluster} from '../../src/cluster/cluster.js'
import {killLeftovers} from '../../src/cluster/local/leftovers.js'
import {LocalRuntime} from '../../src/cluster/local/runtime.js'
import {endpointOf} from '../../src/cluster/probe.js'
import {untilReady} from '../../src/cluster/ready.js'
import {type ClusterSpec, defaultSpec} from '../../src/cluster/spec.js'
import {openLive} from '../../src/inspect/live.js'
import {parseFileName} from '../../src/log/files/names.js'
import type {Folder} from '../../src/log/folder.js'
import {until} from '../../src/util/until.js'
import {
  alterPartitionReassignments,
  createTopics,
  deleteTopics,
  describeConfigs,
  incrementalAlterConfigs,
  listPartitionReassignments,
} from '../../src/wire/admin-requests.js'
import {Connection} from '../../src/wire/connection.js'
import {initProducerId} from '../../src/wire/group-requests.js'
import {describeCluster, describeQuorum, describeTopicPartitions, metadata} from '../../src/wire/requests.js'
import {inWorld, kx} from '../cli-harness.js'
import {differences, load} from '../unit/log/state/loading.js'

const name = 'state'
const spec: ClusterSpec = {
  ...defaultSpec,
  controllers: 1,
  profile: 'fast',
  compiler: 'c1',
  config: {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
    'metadata.log.max.record.bytes.between.snapshots': '1000',
  },
}
const signal = new AbortController().signal
const run = {signal, progress: () => {}}

let home = ''
let restore = () => {}
let cluster: Cluster
/** The last offset before anything was changed. */
let begin = ''
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'kx-state-'))
  restore = inWorld({XDG_STATE_HOME: home, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME})
  cluster = await new LocalRuntime().start({name, spec, ephemeral: false, timeoutMs: 150_000, ...run})
  await untilReady(cluster, {timeoutMs: 150_000, ...run})
  begin = (await shown()).offset
  await changeEverything()
})
afterAll(async () => {
  await cluster?.down({wipe: true})
  await killLeftovers(name)
  restore()
  rmSync(home, {recursive: true, force: true, maxRetries: 10, retryDelay: 100})
})

async function asking<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
  const [broker] = cluster.brokers
  if (!broker) throw new Error('there is no broker')
  await using connection = await Connection.open(endpointOf(broker), {reach: 'brokers', requestTimeoutMs: 20_000})
  return await ask(connection)
}

const quota = (user: string | null, ...ops: {key: string; value: number; remove: boolean}[]) => ({
  entity: [
    {entityType: 'user', entityName: user},
    {entityType: 'client-id', entityName: null},
  ],
  ops,
})
const limit = (key: string, value: number, remove = false) => ({key, value, remove})
const credential = (user: string, mechanism: number, iterations: number) => ({
  name: user,
  mechanism,
  iterations,
  salt: Buffer.from('salt'),
  saltedPassword: Buffer.alloc(mechanism === 1 ? 32 : 64, 7),
})
const acl = (resourceName: string, operation: number, permissionType: number) => ({
  resourceType: 2,
  resourceName,
  resourcePatternType: resourceName.endsWith('-') ? 4 : 3,
  principal: 'User:alice',
  host: '*',
  operation,
  permissionType,
})

/** Whatever goes wrong stands somewhere in the answer. */
async function changing(connection: Connection, api: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await connection.request<object>(api, body)
  const told = JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  expect(told, `${api}: ${told}`).not.toMatch(/"errorCode":-?[1-9]/)
}

/** A change of each kind that a client can ask for, some of them undone; then a broker dies. */
async function changeEverything(): Promise<void> {
  await asking(async connection => {
    const assigned = (...all: number[][]) => all.map((brokerIds, partition) => ({partition, brokerIds}))
    const topics = [
      {name: 'orders', assignments: assigned([1, 2], [3, 1]), configs: {'retention.ms': '5000'}},
      {name: 'gone', assignments: assigned([1]), configs: {'retention.ms': '6000'}},
      {name: 'moving', assignments: assigned([1, 2], [2, 3])},
    ]
    expect((await createTopics(connection, {topics})).map(({errorCode}) => errorCode)).toEqual([0, 0, 0])
    await deleteTopics(connection, {topics: ['gone']})
    await createTopics(connection, {topics: [{name: 'gone', assignments: assigned([2])}]})
    const more = [{name: 'orders', count: 3, assignments: [{brokerIds: [2, 3]}]}]
    await changing(connection, 'CreatePartitions', {topics: more, timeoutMs: 5_000, validateOnly: false})
    await incrementalAlterConfigs(connection, {
      changes: [
        {type: 'topic', name: 'orders', configs: {'max.message.bytes': '2000000', 'retention.ms': null}},
        {type: 'topic', name: 'moving', configs: {'cleanup.policy': 'compact', 'min.insync.replicas': '2'}},
        {type: 'broker', name: '', configs: {'log.cleaner.threads': '2'}},
        {type: 'broker', name: '1', configs: {'log.retention.ms': '123456789'}},
      ],
    })
    const quotas = [quota('alice', limit('producer_byte_rate', 1024)), quota(null, limit('request_percentage', 12.25))]
    await changing(connection, 'AlterClientQuotas', {entries: quotas, validateOnly: false})
    const undone = [quota('alice', limit('producer_byte_rate', 0, true), limit('consumer_byte_rate', 2048))]
    await changing(connection, 'AlterClientQuotas', {entries: undone, validateOnly: false})
    const users = [credential('alice', 1, 4096), credential('bob', 2, 4096)]
    await changing(connection, 'AlterUserScramCredentials', {deletions: [], upsertions: users})
    // Of what is loaded at once, Kafka's image loses whom it adds to a mechanism after it has emptied it (4.4.0).
    const deletions = [{name: 'bob', mechanism: 2}]
    await changing(connection, 'AlterUserScramCredentials', {deletions, upsertions: [credential('alice', 1, 5000)]})
    await changing(connection, 'CreateAcls', {creations: [acl('orders', 3, 3), acl('mov-', 4, 2), acl('gone', 8, 3)]})
    const {resourceName, resourcePatternType, ...rest} = acl('gone', 8, 3)
    const filter = {
      resourceTypeFilter: 2,
      resourceNameFilter: resourceName,
      patternTypeFilter: resourcePatternType,
      principalFilter: rest.principal,
      hostFilter: rest.host,
      operation: 8,
      permissionType: 3,
    }
    await changing(connection, 'DeleteAcls', {filters: [filter]})
    const featureUpdates = [{feature: 'streams.version', maxVersionLevel: 0, upgradeType: 2}]
    await changing(connection, 'UpdateFeatures', {timeoutMs: 5_000, featureUpdates, validateOnly: false})
    await initProducerId(connection, {})
    await alterPartitionReassignments(connection, {partitions: [{topic: 'moving', partition: 0, replicas: [2, 3]}]})
    await until(
      'the reassignment to end',
      async () => ((await listPartitionReassignments(connection)).length === 0 ? true : undefined),
      {timeoutMs: 20_000, everyMs: 50},
    )
  })
  await cluster.nodes.find(({nodeId}) => nodeId === 3)?.kill()
  await until(
    'broker 3 to be fenced',
    async () => {
      const {brokers} = await asking(connection => describeCluster(connection, {includeFencedBrokers: true}))
      return brokers.find(({brokerId}) => brokerId === 3)?.isFenced ? true : undefined
    },
    {timeoutMs: 20_000, everyMs: 50},
  )
}

interface Shown {
  readonly offset: string
  readonly findings: readonly unknown[]
  readonly quorum: {readonly leaderId: number; readonly leaderEpoch: number}
  readonly voters: readonly {readonly voterId: number}[]
  readonly features: readonly {readonly name: string; readonly featureLevel: number}[]
  readonly brokers: readonly {readonly brokerId: number; readonly fenced: boolean}[]
  readonly topics: readonly {readonly name: string; readonly topicId: string}[]
  readonly partitions: readonly Readonly<Record<string, unknown> & {topic: string; partition: number}>[]
  readonly configs: readonly Readonly<Record<'resourceType' | 'resourceName' | 'name' | 'value', string>>[]
  readonly clientQuotas: readonly {readonly entity: readonly string[]; readonly key: string; readonly value: number}[]
  readonly acls: readonly Readonly<Record<string, string>>[]
  readonly scramCredentials: readonly unknown[]
  readonly producerIds: {readonly nextProducerId: string}
}

async function shown(...flags: string[]): Promise<Shown> {
  const {stdout, stderr, exit} = await kx(
    'dump-log',
    '--topic',
    '__cluster_metadata',
    '--state',
    '-o',
    'json',
    ...flags,
  )
  expect([stderr, exit]).toEqual(['', 0])
  return JSON.parse(stdout).states[0]
}

const sorted = <Item>(items: readonly Item[]) =>
  [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

/** What the brokers say of topics, in the words of kx's state. */
async function topicsToldBy(connection: Connection, topics: readonly string[]) {
  const {topics: told} = await describeTopicPartitions(connection, {topics})
  return sorted(
    told.flatMap(({name: topic, topicId, partitions}) =>
      partitions.map(each => ({
        topic,
        partition: each.partitionIndex,
        topicId,
        leader: each.leaderId,
        leaderEpoch: each.leaderEpoch,
        replicas: each.replicaNodes,
        inSyncReplicas: each.isrNodes,
        eligibleLeaderReplicas: each.eligibleLeaderReplicas ?? [],
        lastKnownEligibleLeaderReplicas: each.lastKnownElr ?? [],
      })),
    ),
  )
}

test('topics and partitions are those that the brokers describe', async () => {
  const state = await shown()
  const names = await asking(async connection => (await metadata(connection)).topics.map(topic => topic.name))
  expect(state.topics.map(topic => topic.name).sort()).toEqual([...names].sort())
  const told = await asking(connection => topicsToldBy(connection, names))
  const wanted = Object.keys(told[0] ?? {})
  const ours = state.partitions.map(each => Object.fromEntries(wanted.map(field => [field, each[field]])))
  expect(sorted(ours)).toEqual(told)
  expect(told.find(({topic, partition}) => topic === 'moving' && partition === 0)).toMatchObject({replicas: [2, 3]})
  expect(told.length).toBeGreaterThan(5)
})

test('settings are those that the brokers describe', async () => {
  const {configs, topics} = await shown()
  const told = await asking(async connection => {
    const asked = [
      ...topics.map(topic => ({type: 'topic', name: topic.name, source: 'topic'}) as const),
      {type: 'broker', name: '', source: 'dynamic-default-broker'} as const,
      {type: 'broker', name: '1', source: 'dynamic-broker'} as const,
    ]
    const found = []
    for (const {type, name: resourceName, source} of asked) {
      for (const entry of await describeConfigs(connection, {type, name: resourceName})) {
        if (entry.source !== source) continue
        found.push({resourceType: type.toUpperCase(), resourceName, name: entry.name, value: entry.value})
      }
    }
    return found
  })
  expect(sorted(configs)).toEqual(sorted(told))
  expect(configs).toContainEqual({
    resourceType: 'TOPIC',
    resourceName: 'orders',
    name: 'max.message.bytes',
    value: '2000000',
  })
  expect(configs.map(({value}) => value)).not.toContain('6000')
})

test('quorum, brokers, features, quotas, users and rights are those that the brokers describe', async () => {
  const state = await shown()
  await asking(async connection => {
    const {leaderId, leaderEpoch, currentVoters} = await describeQuorum(connection)
    expect(state.quorum).toMatchObject({leaderId, leaderEpoch})
    expect(state.voters.map(({voterId}) => voterId)).toEqual(currentVoters.map(({replicaId}) => replicaId))
    const {brokers} = await describeCluster(connection, {includeFencedBrokers: true})
    expect(state.brokers.map(({brokerId, fenced}) => [brokerId, fenced])).toEqual(
      sorted(brokers.map(({brokerId, isFenced}) => [brokerId, isFenced])),
    )
    const features = new Map(connection.features)
    features.delete('kraft.version')
    expect(state.features.map(({name: feature, featureLevel}) => [feature, featureLevel])).toEqual(
      sorted([...features]),
    )
    expect(features.has('streams.version')).toBe(false)

    const quotas = await connection.request<{
      entries: {entity: {entityType: string; entityName: string | null}[]; values: {key: string; value: number}[]}[]
    }>('DescribeClientQuotas', {components: [], strict: false})
    const toldQuotas = quotas.entries.flatMap(({entity, values}) =>
      values.map(({key, value}) => ({
        entity: entity.map(({entityType, entityName}) => `${entityType} ${entityName ?? 'default'}`).sort(),
        key,
        value,
      })),
    )
    expect(sorted(state.clientQuotas)).toEqual(sorted(toldQuotas))
    expect(toldQuotas.length).toBe(2)

    const scram = await connection.request<{
      results: {user: string; credentialInfos: {mechanism: number; iterations: number}[]}[]
    }>('DescribeUserScramCredentials', {users: null})
    expect(sorted(state.scramCredentials)).toEqual(
      sorted(
        scram.results.flatMap(({user, credentialInfos}) =>
          credentialInfos.map(({mechanism, iterations}) => ({
            user,
            mechanism: mechanism === 1 ? 'SCRAM-SHA-256' : 'SCRAM-SHA-512',
            iterations,
          })),
        ),
      ),
    )
    expect(state.scramCredentials).toContainEqual({user: 'alice', mechanism: 'SCRAM-SHA-256', iterations: 5000})
    const acls = state.acls.map(({id: _, ...rest}) => rest)
    const alice = {principal: 'User:alice', host: '*', resourceType: 'TOPIC'}
    expect(sorted(acls)).toEqual(
      sorted(
        [
          {permissionType: 'ALLOW', ...alice, operation: 'READ', patternType: 'LITERAL', resourceName: 'orders'},
          {permissionType: 'DENY', ...alice, operation: 'WRITE', patternType: 'PREFIXED', resourceName: 'mov-'},
        ].map(({permissionType, principal, host, operation, resourceType, patternType, resourceName}) => ({
          permissionType,
          principal,
          host,
          operation,
          resourceType,
          patternType,
          resourceName,
        })),
      ),
    )
    expect(Number(state.producerIds.nextProducerId)).toBeGreaterThanOrEqual(1000)
  })
})

test('every snapshot that the nodes wrote is what kx makes of their log up to there', async () => {
  let compared = 0
  for (const broker of [101, 1]) {
    await using live = await openLive({topic: '__cluster_metadata', broker, cluster: name, signal})
    const names = await live.list()
    const logs: Folder = {
      path: live.path,
      list: async () => names.filter(file => file.endsWith('.log')),
      open: file => live.open(file),
    }
    for (const snapshot of names.map(parseFileName)) {
      if (snapshot.role !== 'snapshot-log' || snapshot.isBootstrap || snapshot.states.length > 0) continue
      const only: Folder = {...logs, list: async () => [snapshot.name]}
      const written = await load(only)
      const replayed = await load(logs, {upTo: (snapshot.offset ?? 0n) - 1n, mustReach: true})
      expect(differences(replayed.state, written.state)).toEqual([])
      expect([written.findings, replayed.findings]).toEqual([[], []])
      compared++
    }
  }
  expect(compared).toBeGreaterThan(2)
})

test('two offsets: what happened between them', async () => {
  const {offset} = await shown()
  const said = await kx(
    'dump-log',
    '--topic',
    '__cluster_metadata',
    '--state',
    '--at-offset',
    begin,
    '--against',
    offset,
  )
  expect(said.exit).toBe(0)
  expect(said.stdout).toContain('+ topic orders')
  expect(said.stdout).toMatch(/~ broker 3: fenced false (→|->) true/)
  expect(said.stdout).toContain('+ SCRAM-SHA-256 credential of alice: iterations 5000')
  expect(said.stdout).not.toContain('SCRAM-SHA-512')
})
