import {
  type MetadataState,
  migratingDirectory,
  type Partition,
  resourceKey,
  type SharedLists,
  type Topic,
} from './state.js'

// How records about topics change the state, as org.apache.kafka.image.TopicsDelta, TopicDelta and
// org.apache.kafka.metadata.PartitionRegistration do it. What is returned says why a record does not fit the state.

const topicResource = 2
/** org.apache.kafka.metadata.LeaderConstants.NO_LEADER_CHANGE */
const noLeaderChange = -2
/** org.apache.kafka.metadata.LeaderRecoveryState.NO_CHANGE */
const noRecoveryChange = -1

export function topicRecord(
  state: MetadataState,
  {name, topicId}: {readonly name: string; readonly topicId: string},
): string | undefined {
  const other = state.topicIds.get(name)
  if (other !== undefined && other !== topicId) return `a topic of that name is there already, with the id ${other}`
  state.topics.set(topicId, {name, topicId, partitions: new Map()})
  state.topicIds.set(name, topicId)
  return undefined
}

export function removeTopic(state: MetadataState, {topicId}: {readonly topicId: string}): string | undefined {
  const topic = state.topics.get(topicId)
  if (!topic) return noTopic(topicId)
  state.topics.delete(topicId)
  state.topicIds.delete(topic.name)
  state.configs.delete(resourceKey(topicResource, topic.name))
  return undefined
}

export interface PartitionRecord {
  readonly partitionId: number
  readonly topicId: string
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  readonly removingReplicas: readonly number[]
  readonly addingReplicas: readonly number[]
  readonly leader: number
  readonly leaderRecoveryState: number
  readonly leaderEpoch: number
  readonly partitionEpoch: number
  readonly directories?: readonly string[]
  readonly eligibleLeaderReplicas?: readonly number[] | null
  readonly lastKnownElr?: readonly number[] | null
}

export function partitionRecord(state: MetadataState, record: PartitionRecord): string | undefined {
  const topic = state.topics.get(record.topicId)
  if (!topic) return noTopic(record.topicId)
  const {shared} = state
  topic.partitions.set(record.partitionId, {
    replicas: shared.of(record.replicas),
    directories: shared.of(directoriesOf(record.directories ?? [], record.replicas.length)),
    inSyncReplicas: shared.of(record.isr),
    removingReplicas: shared.of(record.removingReplicas),
    addingReplicas: shared.of(record.addingReplicas),
    leader: record.leader,
    leaderRecoveryState: record.leaderRecoveryState,
    leaderEpoch: record.leaderEpoch,
    partitionEpoch: record.partitionEpoch,
    eligibleLeaderReplicas: shared.of(record.eligibleLeaderReplicas ?? []),
    lastKnownEligibleLeaderReplicas: shared.of(record.lastKnownElr ?? []),
  })
  return undefined
}

/** `null`, −2 of the leader and −1 of the recovery state, and what the version lacks: unchanged. */
export interface PartitionChangeRecord {
  readonly partitionId: number
  readonly topicId: string
  readonly isr: readonly number[] | null
  readonly leader: number
  readonly replicas: readonly number[] | null
  readonly removingReplicas: readonly number[] | null
  readonly addingReplicas: readonly number[] | null
  readonly leaderRecoveryState: number
  readonly directories?: readonly string[] | null
  readonly eligibleLeaderReplicas?: readonly number[] | null
  readonly lastKnownElr?: readonly number[] | null
}

export function partitionChange(state: MetadataState, record: PartitionChangeRecord): string | undefined {
  const topic = state.topics.get(record.topicId)
  if (!topic) return noTopic(record.topicId)
  const before = topic.partitions.get(record.partitionId)
  if (!before) return `the topic with the id ${record.topicId} has no partition ${record.partitionId}`
  topic.partitions.set(record.partitionId, changed(before, record, state.shared))
  return undefined
}

function changed(before: Partition, record: PartitionChangeRecord, shared: SharedLists): Partition {
  const replicas = shared.of(record.replicas ?? before.replicas)
  const isSameLeader = record.leader === noLeaderChange
  const {leaderRecoveryState} = record
  return {
    replicas,
    directories: shared.of(directoriesOf(record.directories ?? before.directories, replicas.length)),
    inSyncReplicas: shared.of(record.isr ?? before.inSyncReplicas),
    removingReplicas: shared.of(record.removingReplicas ?? before.removingReplicas),
    addingReplicas: shared.of(record.addingReplicas ?? before.addingReplicas),
    leader: isSameLeader ? before.leader : record.leader,
    leaderRecoveryState: leaderRecoveryState === noRecoveryChange ? before.leaderRecoveryState : leaderRecoveryState,
    // The record has no epoch: naming a leader, also the same one, raises it.
    leaderEpoch: isSameLeader ? before.leaderEpoch : before.leaderEpoch + 1,
    partitionEpoch: before.partitionEpoch + 1,
    eligibleLeaderReplicas: shared.of(record.eligibleLeaderReplicas ?? before.eligibleLeaderReplicas),
    lastKnownEligibleLeaderReplicas: shared.of(record.lastKnownElr ?? before.lastKnownEligibleLeaderReplicas),
  }
}

/** Of one topic, or of all if its name is empty. Where there is something to clear it is a change of the partition. */
export function clearElr(state: MetadataState, {topicName}: {readonly topicName: string}): string | undefined {
  const topicId = state.topicIds.get(topicName)
  if (topicName !== '' && topicId === undefined) return 'there is no topic of that name'
  for (const topic of state.topics.values()) if (topicName === '' || topic.topicId === topicId) clearElrOf(topic)
  return undefined
}

function clearElrOf(topic: Topic): void {
  for (const [partitionId, partition] of topic.partitions) {
    const {eligibleLeaderReplicas, lastKnownEligibleLeaderReplicas, partitionEpoch} = partition
    if (eligibleLeaderReplicas.length === 0 && lastKnownEligibleLeaderReplicas.length === 0) continue
    topic.partitions.set(partitionId, {
      ...partition,
      partitionEpoch: partitionEpoch + 1,
      eligibleLeaderReplicas: [],
      lastKnownEligibleLeaderReplicas: [],
    })
  }
}

/** Records of metadata.version before 3.7-IV2 have none. */
function directoriesOf(directories: readonly string[], replicas: number): readonly string[] {
  return directories.every(directory => directory === migratingDirectory)
    ? Array.from({length: replicas}, () => migratingDirectory)
    : directories
}

function noTopic(topicId: string): string {
  return `there is no topic with the id ${topicId}`
}
