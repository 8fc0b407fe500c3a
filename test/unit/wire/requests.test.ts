import {describe, expect, it} from 'vitest'
import type {Fields} from '../../../src/protocol/struct.js'
import {KxError} from '../../../src/util/errors.js'
import {Connection} from '../../../src/wire/connection.js'
import {requireNoError, WireError} from '../../../src/wire/errors.js'
import * as requests from '../../../src/wire/requests.js'
import {answering, metadataAnswer, ScriptedBroker} from './scripted-broker.js'

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

describe('requireNoError', () => {
  it('turns a code into an error with Kafka’s name for it', () => {
    expect(() => requireNoError(0, 'It')).not.toThrow()
    const failing = () => requireNoError(19, 'Producing to t-0', 'Not enough.')
    expect(failing).toThrow(KxError)
    expect(failing).toThrow('Producing to t-0 failed with error 19 NOT_ENOUGH_REPLICAS: Not enough.')
  })
})
