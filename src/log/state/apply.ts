import type {Fields} from '../../protocol/struct.js'
import type {MetadataRecord} from '../metadata-records.js'
import * as cluster from './apply-cluster.js'
import * as topics from './apply-topics.js'
import {type Acl, type DelegationToken, type MetadataState, resourceKey, Secret} from './state.js'

/** Changes the state; gives why the record does not fit it, and then nothing was changed. */
type Apply = (state: MetadataState, data: Fields) => string | undefined

/** The records that begin and end a transaction (KIP-868): what is between them is applied at its end, or not at all. */
export const transactionRecords: ReadonlySet<string> = new Set([
  'BeginTransactionRecord',
  'EndTransactionRecord',
  'AbortTransactionRecord',
])

/** Fields have been read by the schema of their record: they have its types. */
function typed<Data>(apply: (state: MetadataState, data: Data) => string | undefined): Apply {
  return apply as Apply
}

/** By the record's name; all that a metadata log of Kafka 4.0 to 4.4 can hold, but for {@link transactionRecords}. */
const appliers: Readonly<Record<string, Apply>> = {
  RegisterBrokerRecord: typed(cluster.registerBroker),
  UnregisterBrokerRecord: typed(cluster.unregisterBroker),
  FenceBrokerRecord: typed((state, data: {id: number; epoch: bigint}) => cluster.fenceBroker(state, data, true)),
  UnfenceBrokerRecord: typed((state, data: {id: number; epoch: bigint}) => cluster.fenceBroker(state, data, false)),
  BrokerRegistrationChangeRecord: typed(cluster.brokerRegistrationChange),
  RegisterControllerRecord: typed(cluster.registerController),
  UnregisterControllerRecord: typed(cluster.unregisterController),
  FeatureLevelRecord: typed(cluster.featureLevel),
  TopicRecord: typed(topics.topicRecord),
  RemoveTopicRecord: typed(topics.removeTopic),
  PartitionRecord: typed(topics.partitionRecord),
  PartitionChangeRecord: typed(topics.partitionChange),
  ClearElrRecord: typed(topics.clearElr),
  ConfigRecord: typed(configRecord),
  ClientQuotaRecord: typed(clientQuota),
  ProducerIdsRecord: typed((state, {nextProducerId}: {nextProducerId: bigint}) => {
    state.nextProducerId = nextProducerId
    return undefined
  }),
  AccessControlEntryRecord: typed((state, {id, ...rest}: Acl) => {
    const {resourceType, resourceName, patternType, principal, host, operation, permissionType} = rest
    const acl = {id, resourceType, resourceName, patternType, principal, host, operation, permissionType}
    state.acls.set(id, acl)
    return undefined
  }),
  RemoveAccessControlEntryRecord: typed((state, {id}: {id: string}) =>
    state.acls.delete(id) ? undefined : `there is no access control entry with the id ${id}`,
  ),
  UserScramCredentialRecord: typed(scramCredential),
  RemoveUserScramCredentialRecord: typed((state, {name, mechanism}: {name: string; mechanism: number}) => {
    state.scramCredentials.delete(scramKey(name, mechanism))
    return undefined
  }),
  DelegationTokenRecord: typed((state, record: DelegationToken) => {
    const {tokenId, owner, requester, renewers, issueTimestamp, maxTimestamp, expirationTimestamp} = record
    const token = {tokenId, owner, requester, renewers, issueTimestamp, maxTimestamp, expirationTimestamp}
    state.delegationTokens.set(tokenId, token)
    return undefined
  }),
  RemoveDelegationTokenRecord: typed((state, {tokenId}: {tokenId: string}) => {
    state.delegationTokens.delete(tokenId)
    return undefined
  }),
  ZkMigrationStateRecord: typed((state, {zkMigrationState}: {zkMigrationState: number}) => {
    state.zkMigrationState = zkMigrationState
    return undefined
  }),
  NoOpRecord: () => undefined,
}

/** Whether {@link applyRecord} knows what the record does. */
export function isApplied(type: string): boolean {
  return Object.hasOwn(appliers, type) || transactionRecords.has(type)
}

/**
 * Changes the state by a record that is in no transaction, or in one that was ended, as org.apache.kafka.image.MetadataDelta
 * does. Gives why it does not fit the state, or `undefined`.
 */
export function applyRecord(state: MetadataState, {type, data}: MetadataRecord): string | undefined {
  const apply = Object.hasOwn(appliers, type) ? appliers[type] : undefined
  return apply ? apply(state, data) : `what a ${type} changes is not known`
}

interface ConfigRecord {
  readonly resourceType: number
  readonly resourceName: string
  readonly name: string
  /** `null` removes it. */
  readonly value: string | null
}

function configRecord(state: MetadataState, {resourceType, resourceName, name, value}: ConfigRecord): undefined {
  const key = resourceKey(resourceType, resourceName)
  const config = state.configs.get(key) ?? {resourceType, resourceName, values: new Map<string, string>()}
  if (value === null) config.values.delete(name)
  else config.values.set(name, value)
  if (config.values.size === 0) state.configs.delete(key)
  else state.configs.set(key, config)
}

interface ClientQuotaRecord {
  readonly entity: readonly {readonly entityType: string; readonly entityName: string | null}[]
  readonly key: string
  readonly value: number
  readonly remove: boolean
}

function clientQuota(state: MetadataState, record: ClientQuotaRecord): undefined {
  const entity = record.entity
    .map(({entityType, entityName}) => ({entityType, entityName}))
    .sort((a, b) => cluster.compare(a.entityType, b.entityType))
  const key = JSON.stringify(entity.map(({entityType, entityName}) => [entityType, entityName]))
  const quota = state.clientQuotas.get(key) ?? {entity, values: new Map<string, number>()}
  if (record.remove) quota.values.delete(record.key)
  else quota.values.set(record.key, record.value)
  if (quota.values.size === 0) state.clientQuotas.delete(key)
  else state.clientQuotas.set(key, quota)
}

interface UserScramCredential {
  readonly name: string
  readonly mechanism: number
  readonly salt: Buffer
  readonly storedKey: Buffer
  readonly serverKey: Buffer
  readonly iterations: number
}

function scramCredential(state: MetadataState, record: UserScramCredential): undefined {
  const {name, mechanism, iterations, salt, storedKey, serverKey} = record
  const secret = new Secret([salt, storedKey, serverKey].map(bytes => bytes.toString('base64')).join(' '))
  state.scramCredentials.set(scramKey(name, mechanism), {user: name, mechanism, iterations, secret})
}

function scramKey(user: string, mechanism: number): string {
  return `${mechanism} ${user}`
}
