import type {Socket} from 'node:net'
import {ProtocolError} from '../protocol/errors.js'
import {decode, encode, messageNamed, requestHeaderVersion, responseHeaderVersion} from '../protocol/messages.js'
import type {Versions} from '../protocol/schema.js'
import type {Fields} from '../protocol/struct.js'
import {type KxError, messageOf} from '../util/errors.js'
import {interrupted} from '../util/until.js'
import {onAbort} from './abort.js'
import {apiVersionsBody, chooseVersion, type Negotiated, readApiVersions} from './api-versions.js'
import {dial} from './dial.js'
import {addressOf, requireNoError, WireError, wireErrorOf} from './errors.js'
import {Frames} from './frames.js'
import {requireReach} from './reach.js'
import type {ConnectOptions, Endpoint, Reach, RequestOptions} from './types.js'

/** A request that was sent and waits for its answer. */
interface Pending {
  readonly apiName: string
  readonly version: number
  readonly correlationId: number
  readonly timer: NodeJS.Timeout
  /** Gets the frame's body; what it throws breaks the connection. */
  readonly answer: (body: Buffer) => void
  readonly reject: (error: KxError) => void
}

/**
 * One connection to one broker. A broker answers the requests of a connection one after another and in their order, so
 * whoever must not wait behind somebody else's request opens a connection of its own.
 *
 * The first failure (a time-out, a closed or reset stream, bytes that are no answer) breaks the connection for good: it
 * is closed, all that was outstanding fails, and so does every later request, without being sent.
 */
export class Connection implements AsyncDisposable {
  readonly reach: Reach
  readonly requestTimeoutMs: number
  readonly #clientId: string
  readonly #frames = new Frames()
  readonly #pending: Pending[] = []
  readonly #closed: Promise<void>
  #forgetSignal: () => void = () => undefined
  #nextCorrelationId = 0
  #failure: KxError | undefined
  #versions: ReadonlyMap<number, Versions> = new Map()
  #features: ReadonlyMap<string, number> = new Map()

  private constructor(
    readonly endpoint: Endpoint,
    private readonly socket: Socket,
    {clientId = 'kx', reach = 'reads', requestTimeoutMs = 10_000, signal}: ConnectOptions,
  ) {
    this.reach = reach
    this.requestTimeoutMs = requestTimeoutMs
    this.#clientId = clientId
    this.#closed = socket.closed ? Promise.resolve() : new Promise(resolve => socket.once('close', () => resolve()))
    socket.on('data', chunk => this.#take(chunk))
    socket.on('end', () => this.#fail(this.#error('closed', 'was closed by the broker')))
    socket.on('error', error => this.#fail(wireErrorOf(error, `The connection to ${this.address} broke`, true)))
    socket.on('close', () => this.#fail(this.#error('closed', 'was closed')))
    if (socket.destroyed) this.#fail(this.#error('closed', 'was closed'))
    this.#forgetSignal = onAbort(signal, () => this.#fail(interrupted(`an answer of ${this.address}`)))
  }

  /**
   * Connects and asks which versions the broker speaks, both within `connectTimeoutMs`.
   * @throws WireError; KxError KX_INTERRUPTED when the signal fires, now or later
   */
  static async open(endpoint: Endpoint, options: ConnectOptions = {}): Promise<Connection> {
    const {connectTimeoutMs = 3_000, signal} = options
    const deadline = performance.now() + connectTimeoutMs
    const connection = new Connection(endpoint, await dial(endpoint, connectTimeoutMs, signal), options)
    try {
      await connection.#negotiate(deadline)
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  get address(): string {
    return addressOf(this.endpoint)
  }

  /** Why the connection can't be used any more; `undefined` while it can. */
  get failure(): KxError | undefined {
    return this.#failure
  }

  /** Versions of each API that the broker speaks, by API key. */
  get apiVersions(): ReadonlyMap<number, Versions> {
    return this.#versions
  }

  /** Level of each finalized feature of the cluster, e.g. `metadata.version` → 33. */
  get features(): ReadonlyMap<string, number> {
    return this.#features
  }

  /** @throws KxError KX_API_VERSION if both sides have no version in common */
  versionFor(apiName: string, options: RequestOptions = {}): number {
    return chooseVersion(apiName, this.#versions, `the broker at ${this.address}`, options)
  }

  /**
   * Sends a request, named without "Request" (`Metadata`), and gives the body of its answer. Error codes in it are data.
   * @throws KxError KX_REACH or KX_API_VERSION before anything is sent; ProtocolError if the body does not fit the schema;
   * WireError if no answer came
   */
  async request<T = Fields>(apiName: string, body: Fields, options: RequestOptions = {}): Promise<T> {
    requireReach(this.reach, apiName, body)
    const version = this.versionFor(apiName, options)
    const bytes = encode(`${apiName}Request`, version, body)
    const answer = await this.#exchange(apiName, version, bytes, options.timeoutMs ?? this.requestTimeoutMs, frame => {
      const {value, end} = decode<T>(`${apiName}Response`, version, frame)
      if (end !== frame.length)
        throw new ProtocolError(
          'malformed',
          `${apiName}Response v${version}: ${frame.length - end} bytes are left over.`,
          end,
        )
      return value
    })
    return answer
  }

  /**
   * Sends a request that is not answered (Produce with acks 0). Done when the system has taken the bytes, which does not
   * say that the broker got them.
   */
  async send(apiName: string, body: Fields, options: RequestOptions = {}): Promise<void> {
    requireReach(this.reach, apiName, body)
    const version = this.versionFor(apiName, options)
    const bytes = encode(`${apiName}Request`, version, body)
    this.#requireUsable()
    const timeoutMs = options.timeoutMs ?? this.requestTimeoutMs
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => this.#fail(this.#error('timeout', `did not take a ${apiName} request within ${timeoutMs} ms`)),
        timeoutMs,
      )
      this.socket.write(this.#framed(apiName, version, this.#correlate(), bytes), error => {
        clearTimeout(timer)
        if (error) reject(this.#failure ?? wireErrorOf(error, `Sending ${apiName} to ${this.address} failed`, true))
        else resolve()
      })
    })
  }

  /** Closes the connection; what is outstanding fails. Any number of times, in any state. */
  async close(): Promise<void> {
    this.#fail(this.#error('closed', 'was closed by kx'))
    await this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #negotiate(deadline: number): Promise<void> {
    let version: number | undefined = messageNamed('ApiVersionsRequest').validVersions.highest
    while (version !== undefined) {
      const asked: number = version
      const leftMs = Math.max(1, Math.round(deadline - performance.now()))
      const negotiated: Negotiated = await this.#exchange('ApiVersions', asked, apiVersionsBody(asked), leftMs, body =>
        readApiVersions(asked, body),
      )
      this.#versions = negotiated.versions
      this.#features = negotiated.features
      if (negotiated.errorCode === 0) return
      version = negotiated.instead
      if (version === undefined) requireNoError(negotiated.errorCode, `ApiVersions at ${this.address}`)
    }
  }

  async #exchange<T>(
    apiName: string,
    version: number,
    bytes: Buffer,
    timeoutMs: number,
    read: (body: Buffer) => T,
  ): Promise<T> {
    this.#requireUsable()
    const correlationId = this.#correlate()
    return new Promise<T>((resolve, reject) => {
      const late = () => this.#expire(correlationId, `gave no answer to ${apiName} within ${timeoutMs} ms`)
      const timer = setTimeout(late, timeoutMs)
      this.#pending.push({apiName, version, correlationId, timer, answer: body => resolve(read(body)), reject})
      this.socket.write(this.#framed(apiName, version, correlationId, bytes))
    })
  }

  #correlate(): number {
    const id = this.#nextCorrelationId
    this.#nextCorrelationId = (id + 1) & 0x7fff_ffff
    return id
  }

  #framed(apiName: string, version: number, correlationId: number, body: Buffer): Buffer {
    const request = messageNamed(`${apiName}Request`)
    const header = encode('RequestHeader', requestHeaderVersion(request, version), {
      requestApiKey: request.apiKey,
      requestApiVersion: version,
      correlationId,
      clientId: this.#clientId,
    })
    const length = Buffer.allocUnsafe(4)
    length.writeInt32BE(header.length + body.length)
    return Buffer.concat([length, header, body])
  }

  #take(chunk: Buffer): void {
    if (this.#failure) return
    try {
      for (const frame of this.#frames.push(chunk)) this.#answer(frame)
    } catch (error) {
      this.#fail(this.#error('protocol', `sent what is no answer: ${messageOf(error)}`, error))
    }
  }

  /** Answers come in the order of the requests, so an answer belongs to the oldest one or to none. */
  #answer(frame: Buffer): void {
    const pending = this.#pending[0]
    if (!pending) throw new ProtocolError('malformed', `an answer of ${frame.length} bytes to nothing`)
    const response = messageNamed(`${pending.apiName}Response`)
    const header = decode<{correlationId: number}>(
      'ResponseHeader',
      responseHeaderVersion(response, pending.version),
      frame,
    )
    if (header.value.correlationId !== pending.correlationId) {
      throw new ProtocolError(
        'malformed',
        `correlation id ${header.value.correlationId} where ${pending.correlationId} was expected`,
      )
    }
    pending.answer(frame.subarray(header.end))
    this.#pending.shift()
    clearTimeout(pending.timer)
  }

  /** An answer that lies unread in the socket because this process was busy is not late: one round of input comes first. */
  #expire(correlationId: number, what: string): void {
    setImmediate(() => {
      if (this.#pending.some(pending => pending.correlationId === correlationId))
        this.#fail(this.#error('timeout', what))
    })
  }

  /** Breaks the connection, once. Every path that ends it goes through here. */
  #fail(error: KxError): void {
    if (this.#failure) return
    this.#failure = error
    this.#forgetSignal()
    this.socket.destroy()
    for (const pending of this.#pending.splice(0)) {
      clearTimeout(pending.timer)
      pending.reject(error)
    }
  }

  #requireUsable(): void {
    if (!this.#failure) return
    if (!(this.#failure instanceof WireError)) throw this.#failure
    throw new WireError(this.#failure.failure, this.#failure.message, false, this.#failure)
  }

  #error(failure: WireError['failure'], what: string, cause?: unknown): WireError {
    return new WireError(failure, `The connection to ${this.address} ${what}.`, true, cause)
  }
}
