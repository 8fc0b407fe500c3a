import {describe, expect, it} from 'vitest'
import type {Fields} from '../../../src/protocol/struct.js'
import {KxError} from '../../../src/util/errors.js'
import * as admin from '../../../src/wire/admin-requests.js'
import {Connection} from '../../../src/wire/connection.js'
import {requireNoError, WireError} from '../../../src/wire/errors.js'
import * as groups from '../../../src/wire/group-requests.js'
import * as requests from '../../../src/wire/requests.js'
import {metadataAnswer, ScriptedBroker} from './scripted-broker.js'

/** A broker that gives these answers, one after another, whatever is asked. */
async function answering(
  ...answers: Fields[]
): Promise<{broker: ScriptedBroker; connection: Connection} & AsyncDisposable> {
  const broker = await ScriptedBroker.start(received => {
    const answer = received.apiName === 'ApiVersions' ? undefined : answers.shift()
    if (answer) received.answer(answer)
  })
  const connection = await Connection.open(broker.endpoint, {reach: 'brokers', requestTimeoutMs: 300})
  return {
    broker,
    connection,
    async [Symbol.asyncDispose]() {
      await connection.close()
      await broker[Symbol.asyncDispose]()
    },
  }
}

const partition = {topic: 't', partition: 3}
const records = Buffer.from('batch')
const produced = {
  index: 3,
  errorCode: 0,
  baseOffset: 9n,
  logAppendTimeMs: -1n,
  logStartOffset: 2n,
  recordErrors: [],
  errorMessage: null,
}
const produceAnswer = (answer: Fields) => ({responses: [{name: 't', partitionResponses: [{...produced, ...answer}]}]})
const fetched = {
  partitionIndex: 3,
  errorCode: 0,
  highWatermark: 5n,
  lastStableOffset: 4n,
  logStartOffset: 1n,
  abortedTransactions: null,
  records: null,
}

describe('produce', () => {
  it('names the topic by name, in the last version that does, and gives what the broker said', async () => {
    await using world = await answering(produceAnswer({}))
    const answer = await requests.produce(world.connection, {...partition, acks: -1, timeoutMs: 100, records})
    expect(answer).toEqual({
      errorCode: 0,
      errorMessage: null,
      baseOffset: 9n,
      logAppendTimeMs: -1n,
      logStartOffset: 2n,
      currentLeader: undefined,
    })
    expect(world.broker.asked).toEqual(['Produce v12'])
    expect(world.broker.received.at(-1)?.body).toEqual({
      transactionalId: null,
      acks: -1,
      timeoutMs: 100,
      topicData: [{name: 't', partitionData: [{index: 3, records}]}],
    })
  })

  it('gives error codes as data, with the leader that the broker knows', async () => {
    await using world = await answering(
      produceAnswer({errorCode: 6, baseOffset: -1n, currentLeader: {leaderId: 2, leaderEpoch: 5}}),
    )
    const answer = await requests.produce(world.connection, {...partition, acks: 1, timeoutMs: 100, records})
    expect(answer).toMatchObject({errorCode: 6, currentLeader: {leaderId: 2, leaderEpoch: 5}})
  })

  it('gives defaults for what an old version does not say', async () => {
    const {index, errorCode, baseOffset, logAppendTimeMs} = produced
    await using world = await answering({
      responses: [{name: 't', partitionResponses: [{index, errorCode, baseOffset, logAppendTimeMs}]}],
    })
    const answer = await requests.produce(
      world.connection,
      {...partition, acks: 1, timeoutMs: 100, records},
      {version: 3},
    )
    expect(answer).toMatchObject({errorMessage: null, logStartOffset: -1n, currentLeader: undefined})
  })

  it('waits for the broker longer than the broker waits for its followers', async () => {
    const broker = await ScriptedBroker.start(received => {
      if (received.apiName === 'Produce') setTimeout(() => received.answer(produceAnswer({errorCode: 7})), 700)
    })
    await using _broker = broker
    await using connection = await Connection.open(broker.endpoint, {reach: 'own-topics', requestTimeoutMs: 300})
    expect(await requests.produce(connection, {...partition, acks: -1, timeoutMs: 600, records})).toMatchObject({
      errorCode: 7,
      baseOffset: 9n,
    })
    await expect(
      requests.produce(connection, {...partition, acks: -1, timeoutMs: 600, records}, {timeoutMs: 100}),
    ).rejects.toThrow('within 100 ms')
  })

  it('with acks 0 waits for no answer, and the next request gets its own', async () => {
    const broker = await ScriptedBroker.start(received => {
      if (received.apiName === 'Metadata') received.answer(metadataAnswer)
    })
    await using _broker = broker
    await using connection = await Connection.open(broker.endpoint, {reach: 'own-topics'})
    expect(await requests.produce(connection, {...partition, acks: 0, timeoutMs: 100, records})).toMatchObject({
      errorCode: 0,
      baseOffset: -1n,
    })
    expect(await requests.metadata(connection)).toMatchObject({clusterId: 'c'})
    expect(broker.received.map(({apiName, correlationId}) => `${apiName} ${correlationId}`)).toEqual([
      'ApiVersions 0',
      'Produce 1',
      'Metadata 2',
    ])
  })

  it('with acks 0 on a broken connection fails', async () => {
    await using world = await answering()
    await world.connection.close()
    const failure = await requests
      .produce(world.connection, {...partition, acks: 0, timeoutMs: 100, records})
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(WireError)
    expect(failure).toMatchObject({failure: 'closed', sent: false})
  })

  it('does not take an answer about nothing for an answer', async () => {
    await using world = await answering({responses: []})
    const failure = await requests
      .produce(world.connection, {...partition, acks: 1, timeoutMs: 100, records})
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({failure: 'protocol', message: 'A Produce answer has 0 entries instead of one.'})
  })
})

describe('fetch', () => {
  it('asks as a consumer, by name', async () => {
    await using world = await answering({responses: [{topic: 't', partitions: [{...fetched, records}]}]})
    const answer = await requests.fetch(world.connection, {
      ...partition,
      offset: 7n,
      isolation: 'read_committed',
      maxWaitMs: 10,
      maxBytes: 99,
    })
    const {highWatermark, lastStableOffset, logStartOffset} = fetched
    expect(answer).toEqual({
      errorCode: 0,
      highWatermark,
      lastStableOffset,
      logStartOffset,
      abortedTransactions: [],
      records,
      currentLeader: undefined,
    })
    expect(world.broker.asked).toEqual(['Fetch v12'])
    expect(world.broker.received.at(-1)?.body).toMatchObject({
      replicaId: -1,
      maxWaitMs: 10,
      minBytes: 1,
      maxBytes: 99,
      isolationLevel: 1,
      topics: [
        {topic: 't', partitions: [{partition: 3, fetchOffset: 7n, currentLeaderEpoch: -1, partitionMaxBytes: 99}]},
      ],
    })
  })

  it('gives an error of the partition and one of the whole answer alike', async () => {
    await using world = await answering(
      {responses: [{topic: 't', partitions: [{...fetched, errorCode: 1}]}]},
      {errorCode: 56, responses: []},
    )
    expect(await requests.fetch(world.connection, {...partition, offset: 7n})).toMatchObject({
      errorCode: 1,
      highWatermark: 5n,
    })
    expect(await requests.fetch(world.connection, {...partition, offset: 7n})).toMatchObject({
      errorCode: 56,
      highWatermark: -1n,
      records: Buffer.alloc(0),
    })
  })
})

describe('questions about topics', () => {
  it('listOffsets asks as a consumer or as a debugger', async () => {
    const answer = {partitionIndex: 3, errorCode: 0, timestamp: -1n, offset: 12n, leaderEpoch: 4}
    await using world = await answering(
      {topics: [{name: 't', partitions: [answer]}]},
      {topics: [{name: 't', partitions: [{...answer, errorCode: 75}]}]},
    )
    expect(await requests.listOffsets(world.connection, {...partition, timestamp: -1n, replicaId: -2})).toEqual({
      errorCode: 0,
      offset: 12n,
      timestamp: -1n,
      leaderEpoch: 4,
    })
    expect(
      await requests.listOffsets(world.connection, {...partition, timestamp: -1n, currentLeaderEpoch: 9}),
    ).toMatchObject({errorCode: 75})
    expect(world.broker.received.slice(1).map(({body}) => body.replicaId)).toEqual([-2, -1])
  })

  it('describeTopicPartitions asks for all pages', async () => {
    const part = (partitionIndex: number) => ({
      errorCode: 0,
      partitionIndex,
      leaderId: 1,
      leaderEpoch: 0,
      replicaNodes: [1],
      isrNodes: [1],
      offlineReplicas: [],
    })
    const topic = (name: string, ...indexes: number[]) => ({errorCode: 0, name, partitions: indexes.map(part)})
    await using world = await answering(
      {topics: [topic('a', 0), topic('b', 0, 1)], nextCursor: {topicName: 'b', partitionIndex: 2}},
      {topics: [topic('b', 2), topic('c', 0)], nextCursor: null},
    )
    const {topics} = await requests.describeTopicPartitions(world.connection, {topics: ['c', 'a', 'b']})
    expect(
      topics.map(({name, partitions}) => `${name} ${partitions.map(({partitionIndex}) => partitionIndex).join(' ')}`),
    ).toEqual(['a 0', 'b 0 1 2', 'c 0'])
    expect(world.broker.received.slice(1).map(({body}) => body.cursor)).toEqual([
      null,
      {topicName: 'b', partitionIndex: 2},
    ])
  })

  it('metadata never creates a topic', async () => {
    await using world = await answering(metadataAnswer, metadataAnswer)
    await requests.metadata(world.connection, {topics: ['t']})
    await requests.metadata(world.connection)
    expect(world.broker.received.slice(1).map(({body}) => body.allowAutoTopicCreation)).toEqual([false, false])
    expect(world.broker.received.at(-1)?.body.topics).toBeNull()
  })

  it('describeCluster and describeQuorum fail with the broker’s error', async () => {
    await using world = await answering(
      {errorCode: 31, errorMessage: 'no.', clusterId: '', brokers: []},
      {errorCode: 41, topics: []},
    )
    await expect(requests.describeCluster(world.connection)).rejects.toThrow(
      /failed with error 31 CLUSTER_AUTHORIZATION_FAILED: no\.$/,
    )
    await expect(requests.describeQuorum(world.connection)).rejects.toThrow(
      /^DescribeQuorum at .* failed with error 41 NOT_CONTROLLER\.$/,
    )
  })
})

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

describe('requireNoError', () => {
  it('turns a code into an error with Kafka’s name for it', () => {
    expect(() => requireNoError(0, 'It')).not.toThrow()
    const failing = () => requireNoError(19, 'Producing to t-0', 'Not enough.')
    expect(failing).toThrow(KxError)
    expect(failing).toThrow('Producing to t-0 failed with error 19 NOT_ENOUGH_REPLICAS: Not enough.')
  })
})
