import {Kafka, logLevel} from 'kafkajs'
import {expect, test} from 'vitest'
import type {Cluster, ClusterNode} from '../../src/cluster/cluster.js'
import {endpointOf} from '../../src/cluster/probe.js'
import {describeLive} from '../../src/inspect/live.js'
import {type CoordinatorKey, partitionFor} from '../../src/inspect/live-key.js'
import {until} from '../../src/util/until.js'
import {Connection} from '../../src/wire/connection.js'
import {findCoordinator} from '../../src/wire/group-requests.js'
import {metadata} from '../../src/wire/requests.js'
import {kx} from '../cli-harness.js'

/** Not Kafka's 50, and not alike: a number of partitions that is taken for granted, or of another topic, is noticed. */
export const internalPartitions = {
  'offsets.topic.num.partitions': '17',
  'transaction.state.log.num.partitions': '13',
  'share.coordinator.state.topic.num.partitions': '11',
}

/** Java hashes UTF-16 units: one beyond the Basic Multilingual Plane is two of them, in UTF-8 it would be four bytes. */
const names = ['billing', 'größe', '日本語', 'zebra-🦓-𝕏', 'a b/c:d', '-dash', 'x'.repeat(200), 'é', 'e\u0301']
const topic = 'shared'
const signal = new AbortController().signal

/** Which partition of an internal topic holds a name, on a running cluster: as kx computes it, and as Kafka does. */
export function coordinatorsOf(cluster: () => Cluster): void {
  async function anyBroker<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
    const [first] = cluster().brokers
    await using connection = await Connection.open(endpointOf(first as ClusterNode), {reach: 'own-topics'})
    return await ask(connection)
  }

  /** Coordinators are the leaders of the partitions that hold their names. */
  async function expectWhatKafkaSays(key: CoordinatorKey, type: 'group' | 'transaction' | 'share', kafkaKey: string) {
    const coordinator = await until(
      `the coordinator of ${kafkaKey}`,
      async () => {
        const found = await anyBroker(connection => findCoordinator(connection, {type, key: kafkaKey}))
        return found.errorCode === 0 ? found.nodeId : undefined
      },
      {timeoutMs: 60_000, everyMs: 100},
    )
    const place = await partitionFor(key, {signal, ...(type === 'share' ? {topic, partition: 1} : {})})
    const {leaderId} = await describeLive({...place, question: 'who leads', signal})
    expect({kafkaKey, place, leaderId}).toEqual({kafkaKey, place, leaderId: coordinator})
    return place
  }

  test('nobody was ever coordinated: then the internal topics are not there, and that is what is said', async () => {
    for (const [flag, who] of [
      ['--group', '__consumer_offsets is not there: no group'],
      ['--transactional-id', '__transaction_state is not there: no transactional id'],
      ['--share-group', '__consumer_offsets is not there: no group'],
    ] as const) {
      const said = await kx('dump-log', flag, 'billing')
      expect(said).toMatchObject({stdout: '', exit: 2})
      expect(said.stderr.replaceAll('\n', ' ')).toContain(`${who} was ever used on this cluster.`)
    }
  })

  test('a name is in the partition whose leader Kafka calls its coordinator, whatever its letters', async () => {
    const kafka = new Kafka({brokers: cluster().bootstrapServers.split(','), logLevel: logLevel.NOTHING})
    const admin = kafka.admin()
    await admin.connect()
    await admin.createTopics({topics: [{topic, numPartitions: 3, replicationFactor: 3}], waitForLeaders: true})
    await admin.disconnect()
    const topicId = await anyBroker(
      async connection => (await metadata(connection, {topics: [topic]})).topics[0]?.topicId,
    )
    const places = new Set<number>()
    for (const name of names) {
      const {partition} = await expectWhatKafkaSays({group: name}, 'group', name)
      await expectWhatKafkaSays({transactionalId: name}, 'transaction', name)
      await expectWhatKafkaSays({shareGroup: name}, 'share', `${name}:${topicId}:1`)
      places.add(partition)
    }
    expect(places.size).toBeGreaterThan(5)
  })

  test('what a group, a transactional producer and a share group leave behind is found by their names', async () => {
    const name = 'zebra-🦓-größe'
    const kafka = new Kafka({brokers: cluster().bootstrapServers.split(','), logLevel: logLevel.NOTHING})
    const producer = kafka.producer({transactionalId: name, idempotent: true, maxInFlightRequests: 1})
    await producer.connect()
    const transaction = await producer.transaction()
    await transaction.send({topic, messages: [{partition: 1, value: 'one'}]})
    await transaction.sendOffsets({consumerGroupId: name, topics: [{topic, partitions: [{partition: 1, offset: '1'}]}]})
    await transaction.commit()
    await producer.disconnect()
    const shown = async (...flags: string[]) => {
      const {stdout, stderr, exit} = await kx('dump-log', ...flags, '--print-data-log')
      expect(exit, stderr).toBe(0)
      return stdout
    }
    expect(await shown('--group', name)).toContain(`"group":"${name}","topic":"${topic}","partition":1}`)
    expect(await shown('--transactional-id', name)).toContain(`"transactionalId":"${name}"`)
    const sharing = `share-${name}` // Kafka takes a name for one kind of group only.
    await untilShared(sharing)
    expect(await shown('--share-group', sharing)).toContain(`{"type":"11","data":{"groupId":"${sharing}"}}`)
  })

  /** A share consumer of Kafka's own runs until its state of a partition is in the log. */
  async function untilShared(group: string): Promise<void> {
    const ended = new AbortController()
    const consuming = cluster().runTool({
      what: "Kafka's share consumer",
      mainClass: 'org.apache.kafka.tools.consumer.ConsoleShareConsumer',
      // In a file and in ASCII: what Java makes of the letters of an argument depends on the locale.
      files: [
        {name: 'log4j2.properties', text: 'status=error\nrootLogger.level=error\n'},
        {name: 'client.properties', text: `group.id=${javaEscaped(group)}\n`},
      ],
      arguments: ({bootstrapServers, path}) => [
        ...['--bootstrap-server', bootstrapServers, '--topic', topic, '--command-config', path('client.properties')],
      ],
      timeoutMs: 120_000,
      signal: ended.signal,
    })
    let failure: unknown
    const end = consuming.catch((error: unknown) => {
      failure = error
    })
    const flags = ['--share-group', group, '--topic', topic, '--partition', '1', '--print-data-log']
    try {
      await until(
        'the state of the share group',
        async () => {
          if (failure !== undefined) throw failure
          const {stdout} = await kx('dump-log', ...flags)
          return stdout.includes(`{"groupId":"${group}","topicId":`) && stdout.includes('"partition":1}')
            ? true
            : undefined
        },
        {timeoutMs: 90_000, everyMs: 200},
      )
    } finally {
      ended.abort()
      await end
    }
  }
}

function javaEscaped(text: string): string {
  return text.replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
