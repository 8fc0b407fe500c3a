import {KxError} from '../util/errors.js'
import type {Reach} from './types.js'

/** Each level includes those before it. */
const levels: readonly Reach[] = ['reads', 'own-topics', 'cluster', 'brokers']

/**
 * The least reach that a request needs: `reads` changes nothing but what every reader changes (FindCoordinator may make
 * Kafka create its own internal topic), `own-topics` changes topics, groups and producers that kx made, `cluster` moves
 * leaders and replicas or changes settings, `brokers` is what brokers say to each other, and membership.
 */
const apis: Readonly<Record<Reach, readonly string[]>> = {
  reads: [
    'ApiVersions',
    'ConsumerGroupDescribe',
    'DescribeAcls',
    'DescribeClientQuotas',
    'DescribeCluster',
    'DescribeConfigs',
    'DescribeDelegationToken',
    'DescribeGroups',
    'DescribeLogDirs',
    'DescribeProducers',
    'DescribeQuorum',
    'DescribeShareGroupOffsets',
    'DescribeTopicPartitions',
    'DescribeTransactions',
    'DescribeUserScramCredentials',
    'Fetch',
    'FindCoordinator',
    'GetTelemetrySubscriptions',
    'ListConfigResources',
    'ListGroups',
    'ListOffsets',
    'ListPartitionReassignments',
    'ListTransactions',
    'Metadata',
    'OffsetFetch',
    'OffsetForLeaderEpoch',
    'SaslAuthenticate',
    'SaslHandshake',
    'ShareGroupDescribe',
    'StreamsGroupDescribe',
  ],
  'own-topics': [
    'AddOffsetsToTxn',
    'AddPartitionsToTxn',
    'AlterShareGroupOffsets',
    'ConsumerGroupHeartbeat',
    'CreatePartitions',
    'CreateTopics',
    'DeleteGroups',
    'DeleteRecords',
    'DeleteShareGroupOffsets',
    'DeleteTopics',
    'EndTxn',
    'Heartbeat',
    'InitProducerId',
    'JoinGroup',
    'LeaveGroup',
    'OffsetCommit',
    'OffsetDelete',
    'Produce',
    'ShareAcknowledge',
    'ShareFetch',
    'ShareGroupHeartbeat',
    'StreamsGroupHeartbeat',
    'SyncGroup',
    'TxnOffsetCommit',
  ],
  cluster: [
    'AlterClientQuotas',
    'AlterConfigs',
    'AlterPartitionReassignments',
    'AlterReplicaLogDirs',
    'ElectLeaders',
    'IncrementalAlterConfigs',
  ],
  brokers: [],
}

const leastReach = new Map(levels.flatMap(reach => apis[reach].map(api => [api, reach] as const)))

/** The least reach for a request. What the table does not know needs the most. */
export function reachOf(apiName: string, body: Readonly<Record<string, unknown>> = {}): Reach {
  // A Fetch with a broker's id counts as that replica's progress and moves the high watermark.
  if (apiName === 'Fetch' && (isBrokerId(body.replicaId) || body.replicaState !== undefined)) return 'brokers'
  // Asking for a topic creates it, unless the request says otherwise (the schema's default is true).
  if (apiName === 'Metadata' && body.allowAutoTopicCreation !== false) return 'own-topics'
  return leastReach.get(apiName) ?? 'brokers'
}

/**
 * The gate that every request passes before a byte is sent.
 * @throws KxError KX_REACH (usage)
 */
export function requireReach(allowed: Reach, apiName: string, body?: Readonly<Record<string, unknown>>): void {
  const needed = reachOf(apiName, body)
  if (levels.indexOf(needed) <= levels.indexOf(allowed)) return
  throw new KxError(
    'usage',
    'KX_REACH',
    `${apiName} needs the reach "${needed}", but this connection may go only as far as "${allowed}".`,
    {
      suggestions: [
        'On a cluster of kx itself everything is allowed; elsewhere the command must declare it and the user allow it.',
      ],
    },
  )
}

function isBrokerId(id: unknown): boolean {
  return typeof id === 'number' && id >= 0
}
