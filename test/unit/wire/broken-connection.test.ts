import {describe, expect, it} from 'vitest'
import {until} from '../../../src/util/until.js'
import {Connection} from '../../../src/wire/connection.js'
import {noTopics, watchForLeaks, wireFailureOf, whenMetadata} from './failures.js'
import {lengthOf, metadataAnswer, type Received, ScriptedBroker} from './scripted-broker.js'

watchForLeaks()

describe('a connection breaks for good', () => {
  it('when an answer does not come in time; all that was outstanding fails, and later requests are not sent', async () => {
    await using broker = await ScriptedBroker.start()
    await using connection = await Connection.open(broker.endpoint, {requestTimeoutMs: 5_000})
    const other = wireFailureOf(connection.request('Metadata', noTopics))
    const late = await wireFailureOf(connection.request('Metadata', noTopics, {timeoutMs: 60}))
    expect(late).toMatchObject({failure: 'timeout', sent: true, code: 'KX_WIRE_TIMEOUT'})
    expect(late.message).toMatch(/^The connection to 127\.0\.0\.1:\d+ gave no answer to Metadata within 60 ms\.$/)
    expect((await other).failure).toBe('timeout')
    expect(connection.failure).toBe(late)
    expect(await wireFailureOf(connection.request('Metadata', noTopics))).toMatchObject({
      failure: 'timeout',
      sent: false,
    })
    expect(broker.asked).toHaveLength(2)
    await until('the socket to close', () => broker.sockets.size === 0 || undefined, {timeoutMs: 2_000})
  })

  it('but not when the answer was there and only this process was too busy to read it', async () => {
    await using broker = await ScriptedBroker.start(
      whenMetadata(received => {
        received.answer(metadataAnswer)
        const until = performance.now() + 150
        while (performance.now() < until);
      }),
    )
    await using connection = await Connection.open(broker.endpoint)
    expect(await connection.request('Metadata', noTopics, {timeoutMs: 80})).toMatchObject({clusterId: 'c'})
  })

  it('when the broker closes it in the middle of an answer', async () => {
    await using broker = await ScriptedBroker.start(
      whenMetadata(received => {
        const bytes = received.framed(metadataAnswer)
        received.socket.end(bytes.subarray(0, bytes.length - 3))
      }),
    )
    await using connection = await Connection.open(broker.endpoint)
    const failure = await wireFailureOf(connection.request('Metadata', noTopics))
    expect(failure.message).toMatch(/^The connection to 127\.0\.0\.1:\d+ was closed by the broker\.$/)
    expect(failure).toMatchObject({failure: 'closed', sent: true})
  })

  it('when it is reset, as it is by a broker that is killed', async () => {
    await using broker = await ScriptedBroker.start(whenMetadata(({socket}) => socket.resetAndDestroy()))
    await using connection = await Connection.open(broker.endpoint)
    expect((await wireFailureOf(connection.request('Metadata', noTopics))).failure).toBe('reset')
  })

  it('when it is closed while nothing is outstanding', async () => {
    await using broker = await ScriptedBroker.start()
    await using connection = await Connection.open(broker.endpoint)
    for (const socket of broker.sockets) socket.end()
    await until('the failure to be noticed', () => connection.failure, {timeoutMs: 2_000})
    expect(await wireFailureOf(connection.request('Metadata', noTopics))).toMatchObject({
      failure: 'closed',
      sent: false,
    })
  })

  const nonsense: readonly (readonly [what: string, bytes: (received: Received) => Buffer, says: RegExp])[] = [
    [
      'of another request',
      received => received.framed(metadataAnswer, {correlationId: 77}),
      /correlation id 77 where 1 was expected/,
    ],
    [
      'with bytes left over',
      received => received.framed(metadataAnswer, {rest: Buffer.from('x')}),
      /MetadataResponse v13: 1 bytes are left over/,
    ],
    [
      'that ends too early',
      () => Buffer.concat([lengthOf(Buffer.alloc(7)), Buffer.from([0, 0, 0, 1, 0, 0, 0])]),
      /MetadataResponse v13 throttleTimeMs/,
    ],
    ['without a header', () => Buffer.alloc(4), /ResponseHeader v1 correlationId: needs 4 bytes, 0 are left/],
    ['of a negative length', () => Buffer.from('ffffffff', 'hex'), /A frame says that it is -1 bytes long/],
    ['of two gigabytes', () => Buffer.from('7fffffff00', 'hex'), /A frame says that it is 2147483647 bytes long/],
  ]
  for (const [what, bytes, says] of nonsense) {
    it(`when an answer comes ${what}`, async () => {
      await using broker = await ScriptedBroker.start(
        whenMetadata(received => void received.socket.write(bytes(received))),
      )
      await using connection = await Connection.open(broker.endpoint)
      const failure = await wireFailureOf(connection.request('Metadata', noTopics))
      expect(failure.failure).toBe('protocol')
      expect(failure.message).toMatch(says)
      expect((await wireFailureOf(connection.request('Metadata', noTopics))).sent).toBe(false)
    })
  }

  it('when an answer comes that nobody asked for', async () => {
    await using broker = await ScriptedBroker.start()
    await using connection = await Connection.open(broker.endpoint)
    for (const socket of broker.sockets) socket.write(Buffer.from('0000000400000001', 'hex'))
    const failure = await until('the failure', () => connection.failure, {timeoutMs: 2_000})
    expect(failure.message).toContain('an answer of 4 bytes to nothing')
  })
})
