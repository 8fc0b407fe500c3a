import type {MetadataState} from '../../../../src/log/state/state.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {encode} from '../../../../src/protocol/messages.js'
import type {Fields} from '../../../../src/protocol/struct.js'
import {type NamedRecord, framedValue} from './histories.js'

/** A snapshot as a node would write it of a state without users: header, one batch, footer. */
export function snapshotOf(state: MetadataState): Buffer {
  const records = [...recordsOf(state)]
  const header = control(0n, 3, 'SnapshotHeaderRecord', {version: 0, lastContainedLogTimestamp: state.timestamp})
  const body = writeBatch({
    baseOffset: 1n,
    leaderEpoch: state.epoch,
    records: records.map(record => ({timestamp: state.timestamp, key: null, value: framedValue(record)})),
  })
  return Buffer.concat([header, body, control(BigInt(records.length + 1), 4, 'SnapshotFooterRecord', {version: 0})])
}

export function control(baseOffset: bigint, type: number, name: string, data: Fields, leaderEpoch = 1): Buffer {
  const value = encode(name, 0, data)
  const key = Buffer.from([0, 0, 0, type])
  return writeBatch({baseOffset, leaderEpoch, isControl: true, records: [{timestamp: 1n, key, value}]})
}

export function* recordsOf(state: MetadataState): Generator<NamedRecord> {
  const one = (name: string, data: Fields): NamedRecord => ({name, data})
  for (const [name, featureLevel] of state.features) yield one('FeatureLevelRecord', {name, featureLevel})
  for (const {endpoints, ...controller} of state.controllers.values()) {
    yield one('RegisterControllerRecord', {...controller, endPoints: endpoints})
  }
  for (const {endpoints, ...broker} of state.brokers.values()) {
    yield one('RegisterBrokerRecord', {...broker, endPoints: endpoints})
  }
  for (const {name, topicId, partitions} of state.topics.values()) {
    yield one('TopicRecord', {name, topicId})
    for (const [partitionId, partition] of partitions) {
      const {inSyncReplicas: isr, lastKnownEligibleLeaderReplicas: lastKnownElr, ...rest} = partition
      yield one('PartitionRecord', {partitionId, topicId, isr, lastKnownElr, ...rest})
    }
  }
  for (const {resourceType, resourceName, values} of state.configs.values()) {
    for (const [name, value] of values) yield one('ConfigRecord', {resourceType, resourceName, name, value})
  }
  for (const {entity, values} of state.clientQuotas.values()) {
    for (const [key, value] of values) yield one('ClientQuotaRecord', {entity, key, value, remove: false})
  }
  const {nextProducerId} = state
  if (nextProducerId !== undefined) yield one('ProducerIdsRecord', {brokerId: -1, brokerEpoch: -1n, nextProducerId})
  for (const acl of state.acls.values()) yield one('AccessControlEntryRecord', {...acl})
  for (const token of state.delegationTokens.values()) yield one('DelegationTokenRecord', {...token})
}
