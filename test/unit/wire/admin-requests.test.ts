import {describe, expect, it} from 'vitest'
import * as admin from '../../../src/wire/admin-requests.js'
import * as groups from '../../../src/wire/group-requests.js'
import {answering} from './scripted-broker.js'

const partition = {topic: 't', partition: 3}

describe('changes', () => {
  it('createTopics sends assignments, or numbers', async () => {
    await using world = await answering({
      topics: [
        {name: 'a', errorCode: 0, errorMessage: null},
        {name: 'b', errorCode: 36, errorMessage: 'there'},
      ],
    })
    const answers = await admin.createTopics(world.connection, {
      topics: [
        {name: 'a', assignments: [{partition: 0, brokerIds: [2, 1]}], configs: {'min.insync.replicas': '2'}},
        {name: 'b', partitions: 4, replicationFactor: 3},
      ],
    })
    expect(answers.map(({name, errorCode, errorMessage}) => [name, errorCode, errorMessage])).toEqual([
      ['a', 0, null],
      ['b', 36, 'there'],
    ])
    expect(world.broker.received.at(-1)?.body).toMatchObject({
      timeoutMs: 10_000,
      validateOnly: false,
      topics: [
        {
          name: 'a',
          numPartitions: -1,
          replicationFactor: -1,
          assignments: [{partitionIndex: 0, brokerIds: [2, 1]}],
          configs: [{name: 'min.insync.replicas', value: '2'}],
        },
        {name: 'b', numPartitions: 4, replicationFactor: 3, assignments: [], configs: []},
      ],
    })
  })

  it('deleteTopics deletes by name', async () => {
    await using world = await answering({responses: [{name: 'a', errorCode: 3}]})
    expect(await admin.deleteTopics(world.connection, {topics: ['a']})).toEqual([
      {name: 'a', errorCode: 3, errorMessage: null},
    ])
    expect(world.broker.asked).toEqual(['DeleteTopics v5'])
  })

  it('electLeaders and alterPartitionReassignments give an error per partition, also when the whole request failed', async () => {
    const partitions = [partition, {topic: 't', partition: 4}, {topic: 'u', partition: 0}]
    await using world = await answering(
      {
        errorCode: 0,
        replicaElectionResults: [
          {topic: 't', partitionResult: [{partitionId: 3, errorCode: 84, errorMessage: 'fine'}]},
        ],
      },
      {errorCode: 31, replicaElectionResults: []},
      {
        errorCode: 0,
        errorMessage: null,
        responses: [{name: 'u', partitions: [{partitionIndex: 0, errorCode: 85, errorMessage: null}]}],
      },
      {errorCode: 7, errorMessage: 'late', responses: []},
    )
    expect(await admin.electLeaders(world.connection, {type: 'unclean', partitions})).toEqual([
      {...partition, errorCode: 84, errorMessage: 'fine'},
    ])
    expect(world.broker.received.at(-1)?.body).toMatchObject({
      electionType: 1,
      topicPartitions: [
        {topic: 't', partitions: [3, 4]},
        {topic: 'u', partitions: [0]},
      ],
    })
    expect(await admin.electLeaders(world.connection, {type: 'preferred', partitions})).toEqual(
      partitions.map(one => ({...one, errorCode: 31, errorMessage: null})),
    )
    const moves = partitions.map(one => ({...one, replicas: [1, 2]}))
    expect(await admin.alterPartitionReassignments(world.connection, {partitions: moves})).toEqual([
      {topic: 'u', partition: 0, errorCode: 85, errorMessage: null},
    ])
    expect(
      await admin.alterPartitionReassignments(world.connection, {partitions: [{...partition, replicas: null}]}),
    ).toEqual([{...partition, errorCode: 7, errorMessage: 'late'}])
    expect(world.broker.received.at(-1)?.body).toMatchObject({
      topics: [{name: 't', partitions: [{partitionIndex: 3, replicas: null}]}],
    })
  })

  it('listPartitionReassignments tells what moves', async () => {
    const moving = {partitionIndex: 3, replicas: [1, 2, 3], addingReplicas: [3], removingReplicas: [1]}
    await using world = await answering({errorCode: 0, errorMessage: null, topics: [{name: 't', partitions: [moving]}]})
    expect(await admin.listPartitionReassignments(world.connection)).toEqual([
      {...partition, replicas: [1, 2, 3], addingReplicas: [3], removingReplicas: [1]},
    ])
  })

  it('describeConfigs says where a setting comes from; incrementalAlterConfigs sets and deletes', async () => {
    const entry = {
      name: 'retention.ms',
      value: '5',
      readOnly: false,
      configSource: 1,
      isSensitive: false,
      synonyms: [],
      configType: 5,
      documentation: null,
    }
    const result = {errorCode: 0, errorMessage: null, resourceType: 2, resourceName: 't'}
    await using world = await answering(
      {results: [{...result, configs: [entry, {...entry, configSource: 77}]}]},
      {results: [{...result, errorCode: 3, errorMessage: 'none', configs: []}]},
      {responses: [{errorCode: 40, errorMessage: 'bad', resourceType: 2, resourceName: 't'}]},
    )
    const [first, second] = await admin.describeConfigs(world.connection, {
      type: 'topic',
      name: 't',
      keys: ['retention.ms'],
    })
    expect(first).toEqual({name: 'retention.ms', value: '5', source: 'topic', isSensitive: false, readOnly: false})
    expect(second?.source).toBe('unknown')
    await expect(admin.describeConfigs(world.connection, {type: 'topic', name: 't'})).rejects.toThrow(
      /^DescribeConfigs of topic t at .* failed with error 3 UNKNOWN_TOPIC_OR_PARTITION: none\.$/,
    )
    const changes = [{type: 'topic', name: 't', configs: {a: '1', b: null}}] as const
    expect(await admin.incrementalAlterConfigs(world.connection, {changes})).toEqual([
      {name: 't', errorCode: 40, errorMessage: 'bad'},
    ])
    expect(world.broker.received.at(-1)?.body).toMatchObject({
      resources: [
        {
          resourceType: 2,
          resourceName: 't',
          configs: [
            {name: 'a', configOperation: 0, value: '1'},
            {name: 'b', configOperation: 1, value: null},
          ],
        },
      ],
    })
  })
})

describe('groups and producers', () => {
  it('initProducerId takes a stable version', async () => {
    await using world = await answering({errorCode: 0, producerId: 5n, producerEpoch: 1})
    expect(await groups.initProducerId(world.connection)).toEqual({errorCode: 0, producerId: 5n, producerEpoch: 1})
    expect(world.broker.asked).toEqual(['InitProducerId v5'])
  })

  it('findCoordinator asks for one key of its kind', async () => {
    await using world = await answering({
      coordinators: [{key: 'x', nodeId: 2, host: 'h', port: 9, errorCode: 0, errorMessage: ''}],
    })
    expect(await groups.findCoordinator(world.connection, {type: 'transaction', key: 'x'})).toMatchObject({
      key: 'x',
      nodeId: 2,
    })
    expect(world.broker.received.at(-1)?.body).toMatchObject({keyType: 1, coordinatorKeys: ['x']})
  })

  it('listGroups and listTransactions fail with the broker’s error', async () => {
    await using world = await answering(
      {errorCode: 14, groups: []},
      {errorCode: 14, unknownStateFilters: [], transactionStates: []},
    )
    await expect(groups.listGroups(world.connection)).rejects.toThrow('error 14 COORDINATOR_LOAD_IN_PROGRESS')
    await expect(groups.listTransactions(world.connection)).rejects.toThrow('error 14 COORDINATOR_LOAD_IN_PROGRESS')
  })
})
