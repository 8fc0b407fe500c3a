import {getEventListeners} from 'node:events'
import {describe, expect, it} from 'vitest'
import {until} from '../../../src/util/until.js'
import {Connection} from '../../../src/wire/connection.js'
import {failureOf, noTopics, watchForLeaks, wireFailureOf, whenMetadata} from './failures.js'
import {allRanges, metadataAnswer, type Received, ScriptedBroker} from './scripted-broker.js'

watchForLeaks()

describe('opening a connection', () => {
  it('asks which versions the broker speaks, and says who asks', async () => {
    await using broker = await ScriptedBroker.start(received => {
      if (received.apiName !== 'ApiVersions') return undefined
      received.answer({
        errorCode: 0,
        apiKeys: [{apiKey: 3, minVersion: 1, maxVersion: 8}],
        finalizedFeaturesEpoch: 7n,
        finalizedFeatures: [{name: 'metadata.version', maxVersionLevel: 33, minVersionLevel: 33}],
      })
      return true
    })
    await using connection = await Connection.open(broker.endpoint, {clientId: 'me'})
    expect([...connection.apiVersions]).toEqual([[3, {lowest: 1, highest: 8}]])
    expect([...connection.features]).toEqual([['metadata.version', 33]])
    expect(broker.received[0]).toMatchObject({
      version: 5,
      clientId: 'me',
      body: {clientSoftwareName: 'kx', nodeId: -1, clusterId: null},
    })
  })

  it('asks again in a version that an older broker knows', async () => {
    await using broker = await ScriptedBroker.start(received => {
      if (received.version <= 3) return undefined
      received.socket.write(
        received.framed({errorCode: 35, apiKeys: [{apiKey: 18, minVersion: 0, maxVersion: 3}]}, {version: 0}),
      )
      return true
    })
    await using connection = await Connection.open(broker.endpoint)
    expect(broker.received.map(({version}) => version)).toEqual([5, 3])
    expect(connection.versionFor('Metadata')).toBe(13)
  })

  it('asks in version 0 where the broker does not say what it knows', async () => {
    await using broker = await ScriptedBroker.start(received => {
      if (received.version === 0) return undefined
      received.socket.write(received.framed({errorCode: 35, apiKeys: []}, {version: 0}))
      return true
    })
    await using connection = await Connection.open(broker.endpoint)
    expect(broker.received.map(({version}) => version)).toEqual([5, 0])
    expect(connection.features.size).toBe(0)
  })

  it('gives up where a broker refuses every version', async () => {
    await using broker = await ScriptedBroker.start(received => {
      const apiKeys = [{apiKey: 18, minVersion: 0, maxVersion: 5}]
      received.socket.write(received.framed({errorCode: 35, apiKeys}, {version: 0}))
      return true
    })
    const failure = await failureOf(Connection.open(broker.endpoint))
    expect(failure.message).toMatch(/^ApiVersions at 127\.0\.0\.1:\d+ failed with error 35 UNSUPPORTED_VERSION\.$/)
    expect(broker.received.map(({version}) => version)).toEqual([5, 4, 3, 2, 1, 0])
    await until('the socket to close', () => broker.sockets.size === 0 || undefined, {timeoutMs: 2_000})
  })

  it('fails with any other error of ApiVersions', async () => {
    await using broker = await ScriptedBroker.start(received => {
      received.answer({errorCode: 31, apiKeys: []})
      return true
    })
    expect((await failureOf(Connection.open(broker.endpoint))).code).toBe('KX_KAFKA_ERROR')
  })

  it('is refused where nobody listens', async () => {
    const broker = await ScriptedBroker.start()
    const {endpoint} = broker
    await broker[Symbol.asyncDispose]()
    const failure = await wireFailureOf(Connection.open(endpoint))
    expect(failure).toMatchObject({failure: 'refused', code: 'KX_WIRE_REFUSED', sent: false, exit: 4})
    expect(failure.message).toMatch(/^Connecting to 127\.0\.0\.1:\d+ failed: connect ECONNREFUSED/)
  })

  it('is refused at every address of a name', async () => {
    const broker = await ScriptedBroker.start()
    const {port} = broker.endpoint
    await broker[Symbol.asyncDispose]()
    const failure = await wireFailureOf(Connection.open({host: 'localhost', port}))
    expect(failure.failure).toBe('refused')
    expect(failure.message).toMatch(/^Connecting to localhost:\d+ failed: .*ECONNREFUSED.*\.$/)
  })

  it('does not wait longer than it may for a broker that accepts and is silent, as a paused one does', async () => {
    await using broker = await ScriptedBroker.start(() => true)
    const before = performance.now()
    const failure = await wireFailureOf(Connection.open(broker.endpoint, {connectTimeoutMs: 150}))
    expect(failure.failure).toBe('timeout')
    expect(failure.message).toMatch(/gave no answer to ApiVersions within 1\d\d ms/)
    expect(performance.now() - before).toBeLessThan(1_500)
    await until('the socket to close', () => broker.sockets.size === 0 || undefined, {timeoutMs: 2_000})
  })

  it('fails where the other side closes at once, as a port proxy without its container does', async () => {
    await using broker = await ScriptedBroker.start(({socket}) => {
      socket.end()
      return true
    })
    expect((await wireFailureOf(Connection.open(broker.endpoint))).failure).toBe('closed')
  })

  it('fails with what is no Kafka broker', async () => {
    await using broker = await ScriptedBroker.start(({socket}) => {
      socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')
      return true
    })
    const failure = await wireFailureOf(Connection.open(broker.endpoint))
    expect(failure.failure).toBe('protocol')
    expect(failure.message).toContain('A frame says that it is 1213486160 bytes long')
  })
})

describe('a request', () => {
  it('is sent in the highest version that both speak, or in the one that was asked for', async () => {
    await using broker = await ScriptedBroker.start(received => {
      if (received.apiName === 'ApiVersions') {
        received.answer({errorCode: 0, apiKeys: allRanges(key => (key === 3 ? {lowest: 4, highest: 11} : undefined))})
        return true
      }
      received.answer(metadataAnswer)
    })
    await using connection = await Connection.open(broker.endpoint)
    expect(await connection.request('Metadata', noTopics)).toMatchObject({brokers: [{nodeId: 1}]})
    await connection.request('Metadata', noTopics, {maxVersion: 9})
    await connection.request('Metadata', noTopics, {version: 4})
    expect(broker.asked).toEqual(['Metadata v11', 'Metadata v9', 'Metadata v4'])
    for (const options of [{version: 12}, {version: 3}, {maxVersion: 3}, {version: 99}, {version: 8, maxVersion: 7}]) {
      expect((await failureOf(connection.request('Metadata', noTopics, options))).code).toBe('KX_API_VERSION')
    }
    expect((await failureOf(connection.request('Metadata', noTopics, {version: 12}))).message).toMatch(
      /^There is no version for a Metadata request: the broker at 127\.0\.0\.1:\d+ speaks 4 to 11, kx 0 to 13, asked for 12\.$/,
    )
    expect(broker.asked).toHaveLength(3)
  })

  it('is never sent in a version that Kafka calls unstable, unless that is asked for', async () => {
    await using broker = await ScriptedBroker.start()
    await using connection = await Connection.open(broker.endpoint)
    expect(connection.versionFor('InitProducerId')).toBe(5)
    expect(connection.versionFor('InitProducerId', {version: 6})).toBe(6)
  })

  it('is not sent to a broker that does not offer it', async () => {
    await using broker = await ScriptedBroker.start(received => {
      received.answer({errorCode: 0, apiKeys: [{apiKey: 3, minVersion: 0, maxVersion: 13}]})
      return true
    })
    await using connection = await Connection.open(broker.endpoint)
    const failure = await failureOf(connection.request('DescribeCluster', {}))
    expect(failure.message).toMatch(
      /^There is no DescribeCluster request for the broker at 127\.0\.0\.1:\d+: it answers none\.$/,
    )
  })

  it('that does not fit its schema fails alone, and nothing is sent', async () => {
    await using broker = await ScriptedBroker.start(whenMetadata(received => received.answer(metadataAnswer)))
    await using connection = await Connection.open(broker.endpoint)
    await expect(connection.request('Metadata', {...noTopics, topics: [{name: 7}]})).rejects.toThrow(
      'MetadataRequest v13 topics[0].name: 7 is no string.',
    )
    await expect(connection.request('Metadata', noTopics)).resolves.toMatchObject({clusterId: 'c'})
    expect(broker.asked).toEqual(['Metadata v13'])
  })

  it('may be sent before others are answered; the answers come in their order', async () => {
    const held: Received[] = []
    await using broker = await ScriptedBroker.start(
      whenMetadata(received => {
        held.push(received)
        if (held.length === 3)
          for (const [i, one] of held.entries()) one.answer({...metadataAnswer, clusterId: `answer ${i}`})
      }),
    )
    await using connection = await Connection.open(broker.endpoint)
    const answers = await Promise.all(
      [1, 2, 3].map(() => connection.request<{clusterId: string}>('Metadata', noTopics)),
    )
    expect(answers.map(({clusterId}) => clusterId)).toEqual(['answer 0', 'answer 1', 'answer 2'])
  })

  it('gets its answer in whatever pieces it comes', async () => {
    await using broker = await ScriptedBroker.start(
      whenMetadata(received => {
        const bytes = received.framed(metadataAnswer)
        const step = (at: number) => {
          if (at < bytes.length) received.socket.write(bytes.subarray(at, at + 1), () => setImmediate(step, at + 1))
        }
        step(0)
      }),
    )
    await using connection = await Connection.open(broker.endpoint)
    expect(await connection.request('Metadata', noTopics)).toMatchObject({clusterId: 'c'})
    expect(await connection.request('Metadata', noTopics)).toMatchObject({clusterId: 'c'})
  })
})

describe('closing', () => {
  it('fails what is outstanding, may be done twice, and leaves no socket', async () => {
    await using broker = await ScriptedBroker.start()
    const connection = await Connection.open(broker.endpoint)
    const outstanding = wireFailureOf(connection.request('Metadata', noTopics))
    await Promise.all([connection.close(), connection.close()])
    await connection.close()
    expect((await outstanding).message).toMatch(/was closed by kx\.$/)
    expect(await wireFailureOf(connection.request('Metadata', noTopics))).toMatchObject({
      failure: 'closed',
      sent: false,
    })
    await until('the socket to close', () => broker.sockets.size === 0 || undefined, {timeoutMs: 2_000})
  })

  it('happens at the end of the scope', async () => {
    await using broker = await ScriptedBroker.start()
    {
      await using connection = await Connection.open(broker.endpoint)
      expect(connection.failure).toBeUndefined()
    }
    await until('the socket to close', () => broker.sockets.size === 0 || undefined, {timeoutMs: 2_000})
  })
})

describe('a signal', () => {
  it('that has fired prevents the connection', async () => {
    await using broker = await ScriptedBroker.start()
    expect((await failureOf(Connection.open(broker.endpoint, {signal: AbortSignal.abort()}))).code).toBe(
      'KX_INTERRUPTED',
    )
    expect(broker.received).toHaveLength(0)
  })

  it('ends a connection while it is opened, and while it waits', async () => {
    const stop = new AbortController()
    await using silent = await ScriptedBroker.start(() => true)
    await using broker = await ScriptedBroker.start()
    await using connection = await Connection.open(broker.endpoint, {signal: stop.signal})
    const opening = failureOf(Connection.open(silent.endpoint, {signal: stop.signal}))
    const waiting = failureOf(connection.request('Metadata', noTopics))
    await until(
      'the requests to be there',
      () => (silent.received.length === 1 && broker.asked.length === 1) || undefined,
      {timeoutMs: 2_000},
    )
    stop.abort()
    expect(await opening).toMatchObject({code: 'KX_INTERRUPTED', exit: 130})
    expect(await waiting).toMatchObject({code: 'KX_INTERRUPTED', exit: 130})
    expect((await failureOf(connection.request('Metadata', noTopics))).code).toBe('KX_INTERRUPTED')
    await until('the sockets to close', () => broker.sockets.size + silent.sockets.size === 0 || undefined, {
      timeoutMs: 2_000,
    })
  })

  it('has one listener for many connections, and none when they are closed', async () => {
    const {signal} = new AbortController()
    await using broker = await ScriptedBroker.start()
    const connections = await Promise.all(Array.from({length: 60}, () => Connection.open(broker.endpoint, {signal})))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await Promise.all(connections.map(connection => connection.close()))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('the reach', () => {
  it('is checked before a byte is sent', async () => {
    await using broker = await ScriptedBroker.start(whenMetadata(received => received.answer(metadataAnswer)))
    await using connection = await Connection.open(broker.endpoint)
    const failure = await failureOf(connection.request('Produce', {acks: 1, timeoutMs: 1, topicData: []}))
    expect(failure).toMatchObject({code: 'KX_REACH', exit: 2})
    expect(failure.message).toBe(
      'Produce needs the reach "own-topics", but this connection may go only as far as "reads".',
    )
    expect((await failureOf(connection.send('Produce', {acks: 0, timeoutMs: 1, topicData: []}))).code).toBe('KX_REACH')
    expect((await failureOf(connection.request('Metadata', {topics: [{name: 'made-by-asking'}]}))).code).toBe(
      'KX_REACH',
    )
    await connection.request('Metadata', noTopics)
    expect(broker.asked).toEqual(['Metadata v13'])
  })
})
