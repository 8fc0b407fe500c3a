import {type AddressInfo, createServer, type Server, type Socket} from 'node:net'
import {
  decode,
  encode,
  requestFor,
  requestHeaderVersion,
  responseHeaderVersion,
} from '../../../src/protocol/messages.js'
import {allSchemas, findSchema} from '../../../src/protocol/schema.js'
import type {Fields} from '../../../src/protocol/struct.js'
import {Frames} from '../../../src/wire/frames.js'
import {Connection} from '../../../src/wire/connection.js'
import type {Endpoint} from '../../../src/wire/types.js'

/** A request as it came over the socket. */
export interface Received {
  readonly apiName: string
  readonly version: number
  readonly correlationId: number
  readonly clientId: string
  readonly body: Fields
  readonly socket: Socket
  /** The bytes of an answer, with its length before it. */
  framed(
    body: Fields,
    options?: {readonly correlationId?: number; readonly version?: number; readonly rest?: Buffer},
  ): Buffer
  answer(body: Fields): void
}

/** Answers a request, or does something worse. `ApiVersions` is answered without a script unless that returns true for it. */
export type Script = (received: Received) => unknown

/** The other end of a connection in tests: a TCP server on loopback that does with each request what the test says. */
export class ScriptedBroker implements AsyncDisposable {
  readonly received: Received[] = []
  readonly sockets = new Set<Socket>()

  private constructor(
    private readonly server: Server,
    private readonly script: Script,
  ) {
    server.on('connection', socket => this.#serve(socket))
  }

  static async start(script: Script = () => undefined): Promise<ScriptedBroker> {
    const server = createServer()
    const broker = new ScriptedBroker(server, script)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return broker
  }

  get endpoint(): Endpoint {
    return {host: '127.0.0.1', port: (this.server.address() as AddressInfo).port}
  }

  /** Names of what was asked after ApiVersions. */
  get asked(): string[] {
    return this.received
      .filter(({apiName}) => apiName !== 'ApiVersions')
      .map(({apiName, version}) => `${apiName} v${version}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise(resolve => this.server.close(resolve))
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket)
    const frames = new Frames()
    socket.on('close', () => this.sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.on('data', chunk => {
      for (const frame of frames.push(chunk)) this.#take(frame, socket)
    })
  }

  #take(frame: Buffer, socket: Socket): void {
    const request = requestFor(frame.readInt16BE(0))
    if (!request) throw new Error('a request that no schema knows')
    const version = frame.readInt16BE(2)
    const header = decode<{correlationId: number; clientId: string}>(
      'RequestHeader',
      requestHeaderVersion(request, version),
      frame,
    )
    const {value: body} = decode(request.name, version, frame, header.end)
    const responseName = request.name.replace(/Request$/, 'Response')
    const received: Received = {
      apiName: request.name.replace(/Request$/, ''),
      version,
      ...header.value,
      body,
      socket,
      framed(answer, {correlationId = header.value.correlationId, version: as = version, rest = Buffer.alloc(0)} = {}) {
        const response = findSchema(responseName)
        if (!response) throw new Error(responseName)
        const headed = encode('ResponseHeader', responseHeaderVersion(response, as), {correlationId})
        const bytes = Buffer.concat([headed, encode(responseName, as, answer), rest])
        return Buffer.concat([lengthOf(bytes), bytes])
      },
      answer(answer) {
        socket.write(this.framed(answer))
      },
    }
    this.received.push(received)
    const done = this.script(received)
    if (received.apiName === 'ApiVersions' && done !== true) received.answer({errorCode: 0, apiKeys: allRanges()})
  }
}

export function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length)
  return length
}

/** What a broker of the schemas' own release says of itself. */
export function allRanges(
  change: (apiKey: number) => {lowest?: number; highest?: number} | undefined = () => undefined,
): Fields[] {
  return [...allSchemas()]
    .filter(({kind}) => kind === 'request')
    .map(({name}) => findSchema(name))
    .filter(schema => schema !== undefined && schema.validVersions.highest >= 0)
    .map(schema => {
      const {apiKey = 0, validVersions} = schema as NonNullable<typeof schema>
      const {lowest = validVersions.lowest, highest = validVersions.highest} = change(apiKey) ?? {}
      return {apiKey, minVersion: lowest, maxVersion: highest}
    })
}

export const metadataAnswer: Fields = {
  brokers: [{nodeId: 1, host: 'h', port: 9}],
  clusterId: 'c',
  controllerId: 1,
  topics: [],
}

/** A broker that gives these answers, one after another, whatever is asked. */
export async function answering(
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
