import fc from 'fast-check'
import {migratingDirectory} from '../../../../src/log/state/state.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {encode, messageNamed} from '../../../../src/protocol/messages.js'
import type {Fields} from '../../../../src/protocol/struct.js'

// Made-up histories of a cluster's metadata: what a controller could have written.

export interface NamedRecord {
  readonly name: string
  readonly data: Fields
}

/** A batch of one append, or one of KRaft's own records. */
export type History = readonly (readonly NamedRecord[])[]

/** The value of a record: frame version 1, type, version, message; all three are one byte long. */
export function framedValue({name, data}: NamedRecord, version?: number): Buffer {
  const {apiKey = 0, validVersions} = messageNamed(name)
  const written = version ?? validVersions.highest
  return Buffer.concat([Buffer.of(1, apiKey, written), encode(name, written, data)])
}

export function recordCount(history: History): number {
  return history.reduce((sum, {length}) => sum + length, 0)
}

/** The bytes of a metadata log, from an offset on. */
export function logOf(history: History, {baseOffset = 0n, leaderEpoch = 1} = {}): Buffer {
  let offset = baseOffset
  const batches = history.map(records => {
    const bytes = writeBatch({
      baseOffset: offset,
      leaderEpoch,
      records: records.map(record => ({timestamp: 1_700_000_000_000n, key: null, value: framedValue(record)})),
    })
    offset += BigInt(records.length)
    return bytes
  })
  return Buffer.concat(batches)
}

export function uuid(kind: string, n: number): string {
  return `${kind}${String(n).padStart(22 - kind.length - 1, 'x')}A`
}

interface World {
  readonly brokers: Map<number, bigint>
  readonly topics: Map<number, {readonly id: string; readonly name: string; readonly partitions: number}>
  readonly acls: Set<number>
  made: number
}

type Step = readonly [kind: number, a: number, b: number, c: number]

const name = (prefix: string, n: number) => `${prefix}-${n % 4}`
const nodes = (seed: number) => [1, 2, 3, 4].filter(id => (seed >> (id - 1)) & 1)

/** What each step writes; nothing where the world has nothing that it could be about. */
const writers: readonly ((world: World, a: number, b: number, c: number) => NamedRecord | undefined)[] = [
  (world, a, b, c) => {
    const brokerId = 1 + (a % 4)
    const brokerEpoch = BigInt(++world.made)
    world.brokers.set(brokerId, brokerEpoch)
    const endPoints = [
      {name: 'EXTERNAL', host: name('host', b), port: 9000 + c, securityProtocol: b % 4},
      {name: 'BROKER', host: name('host', c), port: 9092, securityProtocol: 0},
    ]
    const features = [
      {name: 'metadata.version', minSupportedVersion: 7, maxSupportedVersion: 33},
      {name: 'group.version', minSupportedVersion: 0, maxSupportedVersion: 1},
    ]
    const logDirs = [uuid('Z', c), uuid('D', b)]
    const common = {brokerId, brokerEpoch, incarnationId: uuid('I', world.made), endPoints, features, logDirs}
    const cordoned = c % 3 === 0 ? {cordonedLogDirs: [uuid('D', b)]} : {}
    const rack = b % 2 === 0 ? null : name('rack', c)
    return record('RegisterBrokerRecord', {
      ...common,
      ...cordoned,
      rack,
      fenced: a % 2 === 0,
      inControlledShutdown: false,
    })
  },
  (world, a) => {
    const brokerId = 1 + (a % 4)
    const brokerEpoch = world.brokers.get(brokerId)
    world.brokers.delete(brokerId)
    return brokerEpoch === undefined ? undefined : record('UnregisterBrokerRecord', {brokerId, brokerEpoch})
  },
  (world, a, b) => {
    const epoch = world.brokers.get(1 + (a % 4))
    const type = b % 2 === 0 ? 'FenceBrokerRecord' : 'UnfenceBrokerRecord'
    return epoch === undefined ? undefined : record(type, {id: 1 + (a % 4), epoch})
  },
  (world, a, b, c) => {
    const brokerId = 1 + (a % 4)
    const brokerEpoch = world.brokers.get(brokerId)
    if (brokerEpoch === undefined) return undefined
    const dirs = c % 3 === 0 ? {logDirs: [uuid('D', c), uuid('B', b)]} : {}
    const cordoned = c % 3 === 1 ? {cordonedLogDirs: c % 2 === 0 ? [] : [uuid('D', c)]} : {}
    const change = {fenced: (b % 3) - 1, inControlledShutdown: c % 2, ...dirs, ...cordoned}
    return record('BrokerRegistrationChangeRecord', {brokerId, brokerEpoch, ...change})
  },
  (world, a) => {
    const n = a % 4
    if (world.topics.has(n)) return undefined
    const topic = {id: uuid('T', ++world.made), name: name('topic', n), partitions: 0}
    world.topics.set(n, topic)
    return record('TopicRecord', {name: topic.name, topicId: topic.id})
  },
  (world, a, b, c) => {
    const topic = world.topics.get(a % 4)
    if (!topic) return undefined
    world.topics.set(a % 4, {...topic, partitions: topic.partitions + 1})
    const replicas = nodes(1 + (b % 15))
    const directories = replicas.map(id => (c % 5 === 0 ? migratingDirectory : uuid('D', id)))
    const elr = c % 2 === 0 ? {eligibleLeaderReplicas: nodes(c % 16), lastKnownElr: nodes(b % 16)} : {}
    const leader = replicas[c % replicas.length] as number
    const registration = {replicas, isr: replicas, leader, leaderEpoch: 0, partitionEpoch: 0, directories, ...elr}
    const {partitions: partitionId, id: topicId} = topic
    const moving = {removingReplicas: [], addingReplicas: [], leaderRecoveryState: c % 2}
    return record('PartitionRecord', {partitionId, topicId, ...registration, ...moving})
  },
  (world, a, b, c) => {
    const topic = world.topics.get(a % 4)
    if (!topic || topic.partitions === 0) return undefined
    const replicas = b % 7 === 0 ? nodes(1 + (c % 15)) : null
    const change = {
      isr: b % 2 === 0 ? nodes(c % 16) : null,
      leader: [-2, -1, 1 + (c % 4)][b % 3] as number,
      replicas,
      removingReplicas: b % 5 === 0 ? nodes(c % 16) : null,
      addingReplicas: b % 5 === 1 ? nodes(c % 16) : null,
      leaderRecoveryState: (c % 3) - 1,
      directories: replicas?.map(id => uuid('D', id)) ?? null,
      eligibleLeaderReplicas: c % 4 === 0 ? nodes(b % 16) : null,
      lastKnownElr: c % 4 === 1 ? nodes(b % 16) : null,
    }
    return record('PartitionChangeRecord', {partitionId: c % topic.partitions, topicId: topic.id, ...change})
  },
  (world, a) => {
    const topic = world.topics.get(a % 4)
    world.topics.delete(a % 4)
    return topic && record('RemoveTopicRecord', {topicId: topic.id})
  },
  (world, a, b) => {
    const topic = world.topics.get(a % 4)
    if (b % 4 !== 0) return topic && record('ClearElrRecord', {topicName: topic.name})
    return record('ClearElrRecord', {topicName: ''})
  },
  (_world, a, b, c) => {
    const resourceType = [2, 4, 16, 32][a % 4] as number
    const resourceName = resourceType === 4 ? String(b % 3).replace('0', '') : name('topic', b)
    const value = c % 3 === 0 ? null : c % 3 === 1 ? '' : `value ${c}`
    return record('ConfigRecord', {resourceType, resourceName, name: `setting.${c % 4}`, value})
  },
  (_world, a, b, c) => {
    const entity = [
      {entityType: 'user', entityName: b % 2 === 0 ? null : name('user', b)},
      ...(a % 2 === 0 ? [{entityType: 'client-id', entityName: c % 2 === 0 ? null : name('client', c)}] : []),
    ]
    return record('ClientQuotaRecord', {entity, key: `quota_${a % 2}`, value: c / 8, remove: b % 3 === 0})
  },
  (world, a) =>
    record('ProducerIdsRecord', {brokerId: 1, brokerEpoch: 1n, nextProducerId: BigInt(++world.made * 1000 + a)}),
  (world, a, b, c) => {
    const fresh = !world.acls.has(a)
    if (!fresh) return undefined
    world.acls.add(a)
    const resource = {resourceType: 2 + (b % 5), resourceName: name('topic', c), patternType: 3 + (b % 2)}
    const allowed = {principal: `User:${c}`, host: '*', operation: 2 + (c % 10), permissionType: 2 + (c % 2)}
    return record('AccessControlEntryRecord', {id: uuid('L', a), ...resource, ...allowed})
  },
  (world, a) => (world.acls.delete(a) ? record('RemoveAccessControlEntryRecord', {id: uuid('L', a)}) : undefined),
  (_world, a, b, c) => {
    const secret = {salt: Buffer.of(a, 1), storedKey: Buffer.of(b, 2), serverKey: Buffer.of(c, 3)}
    return record('UserScramCredentialRecord', {
      name: name('user', a),
      mechanism: 1 + (b % 2),
      iterations: 4096 + c,
      ...secret,
    })
  },
  (_world, a, b) => record('RemoveUserScramCredentialRecord', {name: name('user', a), mechanism: 1 + (b % 2)}),
  (_world, a, b, c) => {
    const who = {owner: `User:${a}`, requester: `User:${b}`, renewers: [`User:${c}`]}
    const when = {issueTimestamp: BigInt(a), maxTimestamp: BigInt(b), expirationTimestamp: BigInt(c)}
    return record('DelegationTokenRecord', {...who, ...when, tokenId: name('token', a)})
  },
  (_world, a) => record('RemoveDelegationTokenRecord', {tokenId: name('token', a)}),
  (_world, a, b) => record('FeatureLevelRecord', {name: `feature.${a % 3}`, featureLevel: b % 3}),
  (_world, a, b, c) => {
    const endPoints = [{name: 'CONTROLLER', host: name('host', b), port: 9093, securityProtocol: c % 4}]
    const features = [{name: 'kraft.version', minSupportedVersion: 0, maxSupportedVersion: 1}]
    const controller = {incarnationId: uuid('C', c), zkMigrationReady: b % 2 === 0, endPoints, features}
    return record('RegisterControllerRecord', {controllerId: 101 + (a % 3), ...controller})
  },
  (_world, a) => record('UnregisterControllerRecord', {controllerId: 101 + (a % 3)}),
  () => record('NoOpRecord', {}),
]

function record(recordName: string, data: Fields): NamedRecord {
  return {name: recordName, data}
}

/** Every history begins with its metadata.version, as that of each cluster does. */
export const first: NamedRecord = record('FeatureLevelRecord', {name: 'metadata.version', featureLevel: 33})

function interpreted(batches: readonly (readonly Step[])[]): History {
  const world: World = {brokers: new Map(), topics: new Map(), acls: new Set(), made: 0}
  const written = batches.map(steps =>
    steps.flatMap(([kind, a, b, c]) => {
      const one = writers[kind % writers.length]?.(world, a, b, c)
      return one ? [one] : []
    }),
  )
  const alone = written.flatMap(records => {
    // A removal that leaves a mechanism without users makes Kafka's ScramDelta lose what the same delta adds to it.
    const removals = records.filter(({name: type}) => type === 'RemoveUserScramCredentialRecord')
    return [records.filter(one => !removals.includes(one)), ...removals.map(one => [one])]
  })
  return [[first], ...alone.filter(records => records.length > 0)]
}

const seed = fc.integer({min: 0, max: 255})
const step = fc.tuple(seed, seed, seed, seed)
/** Histories without transactions. */
export const anyHistory: fc.Arbitrary<History> = fc
  .array(fc.array(step, {minLength: 1, maxLength: 6}), {minLength: 1, maxLength: 30})
  .map(interpreted)

/** The same history, with some of its batches in transactions that end. */
export function inTransactions(history: History, where: readonly boolean[]): History {
  return history.flatMap((records, n) => {
    if (!where[n % where.length]) return [records]
    const begin = record('BeginTransactionRecord', {name: `transaction ${n}`})
    return [[begin, ...records], [record('EndTransactionRecord', {})]]
  })
}

/** A transaction that was given up: what is in it never was. */
export function aborted(records: readonly NamedRecord[]): History {
  return [[record('BeginTransactionRecord', {})], records, [record('AbortTransactionRecord', {reason: 'a new leader'})]]
}
