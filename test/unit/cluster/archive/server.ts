import {createHash} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {createServer, type IncomingMessage, request, type Server, type ServerResponse} from 'node:http'
import {createServer as createTlsServer} from 'node:https'
import {type AddressInfo, connect, type Socket} from 'node:net'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import {pack} from 'tar-stream'

export const version = '4.4.0'
export const archiveName = `kafka_2.13-${version}.tgz`
export const archivePath = `/dist/kafka/${version}/${archiveName}`

/** A certificate for localhost and 127.0.0.1 until 2099, its own authority. Its key opens nothing. */
export const certificate = join(import.meta.dirname, 'localhost.cert.pem')

/** Names and contents of the jars that the archive of {@link archive} holds: enough of Kafka for kx to accept it. */
export const jars: Readonly<Record<string, string>> = Object.fromEntries(
  [
    `kafka_2.13-${version}`,
    `kafka-clients-${version}`,
    `kafka-server-common-${version}`,
    `kafka-tools-${version}`,
    'slf4j-api-1.7.36',
  ].map(name => [`${name}.jar`, noise(name, 40_000)]),
)

export interface TarEntry {
  readonly name: string
  readonly content?: string
  readonly type?: 'file' | 'symlink' | 'directory'
  readonly linkname?: string
}

/** A release archive in Kafka's layout, of about 200 kB, with further entries if wanted. */
export async function archive(...further: readonly TarEntry[]): Promise<Buffer> {
  const root = `kafka_2.13-${version}`
  return tgz([
    {name: `${root}/`, type: 'directory'},
    {name: `${root}/bin/kafka-topics.sh`, content: '#!/bin/bash\n'},
    ...Object.entries(jars).map(([name, content]) => ({name: `${root}/libs/${name}`, content})),
    {name: `${root}/site-docs/kafka_2.13-${version}-site-docs.tgz`, content: 'docs'},
    ...further,
  ])
}

export async function tgz(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = pack()
  for (const {name, content = '', type = 'file', linkname} of entries)
    tar.entry({name, type, ...(linkname ? {linkname} : {})}, content)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks))
}

/** As Apache publishes it: the name, a colon, and the digits in groups over several lines. */
export function gpgChecksum(content: Buffer, name = archiveName): string {
  const groups = sha512(content).toUpperCase().match(/.{8}/g) as string[]
  const lines = [0, 4, 8, 12].map(at => groups.slice(at, at + 4).join(' '))
  return `${name}: ${lines.join(`\n${' '.repeat(name.length + 2)}`)}\n`
}

export function sha512(content: Buffer): string {
  return createHash('sha512').update(content).digest('hex')
}

/** What does not shrink under gzip, the same in each run. */
function noise(seed: string, size: number): string {
  let text = ''
  for (let n = 0; text.length < size; n++) text += createHash('sha256').update(`${seed}${n}`).digest('base64')
  return text.slice(0, size)
}

type Answering = (request: IncomingMessage, response: ServerResponse, file: Buffer | undefined) => void | Promise<void>

/** An HTTP server on loopback that keeps what it was asked, and answers as the test says. */
export class Mirror implements AsyncDisposable {
  readonly files = new Map<string, Buffer>()
  /** Requests for the archive itself, in order: method, URL, headers. */
  readonly asked: {readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers']}[] = []
  /** One for each request for the archive; the last stays. */
  readonly answers: Answering[] = []
  /** One for each of the next requests for the checksum; then it is served as it is. */
  readonly checksumAnswers: Answering[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #port = 0

  private constructor(readonly scheme: 'http' | 'https') {
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response)
    const identity = () => ({
      key: readFileSync(join(import.meta.dirname, 'localhost.key.pem')),
      cert: readFileSync(certificate),
    })
    this.#server = scheme === 'https' ? createTlsServer(identity(), listener) : createServer(listener)
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
    })
  }

  /** With an archive and its checksum in place. */
  static async start(scheme: 'http' | 'https' = 'http'): Promise<Mirror> {
    const mirror = new Mirror(scheme)
    await new Promise<void>(resolve => mirror.#server.listen(0, '127.0.0.1', resolve))
    mirror.#port = (mirror.#server.address() as AddressInfo).port
    mirror.serve(await archive())
    return mirror
  }

  serve(content: Buffer, checksum = gpgChecksum(content)): void {
    this.files.set(archivePath, content)
    this.files.set(`${archivePath}.sha512`, Buffer.from(checksum))
  }

  get port(): number {
    return this.#port
  }

  get base(): string {
    return `${this.scheme}://127.0.0.1:${this.#port}/dist/kafka`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://any').pathname
    const file = this.files.get(path)
    if (path.endsWith('.sha512')) return (this.checksumAnswers.shift() ?? whole)(request, response, file)
    this.asked.push({method: request.method ?? '', url: request.url ?? '', headers: request.headers})
    const answering = this.answers.length > 1 ? this.answers.shift() : this.answers[0]
    await (answering ?? ranged)(request, response, file)
  }
}

/** As a good server does: Range and If-Range with an entity tag, 404 for what is not there. */
export const ranged: Answering = (request, response, file) => {
  if (!file) return whole(request, response, file)
  const etag = `"${sha512(file).slice(0, 12)}"`
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN)
  const condition = request.headers['if-range']
  if (Number.isNaN(from) || (condition !== undefined && condition !== etag)) {
    response.writeHead(200, {'content-length': file.length, etag}).end(file)
  } else if (from >= file.length) {
    response.writeHead(416, {'content-range': `bytes */${file.length}`}).end()
  } else {
    const range = `bytes ${from}-${file.length - 1}/${file.length}`
    response
      .writeHead(206, {'content-length': file.length - from, 'content-range': range, etag})
      .end(file.subarray(from))
  }
}

/** Knows neither ranges nor validators. */
export const whole: Answering = (_request, response, file) => {
  if (!file) response.writeHead(404).end('no such file')
  else response.writeHead(200, {'content-length': file.length}).end(file)
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (_request, response) => {
    response.writeHead(code, headers).end()
  }

/** Answers as `ranged`, but sends only so many bytes of the body, and then cuts the connection or falls silent. */
export const only =
  (count: number, then: 'cut' | 'silence'): Answering =>
  (request, response, file) => {
    const write = response.write.bind(response)
    response.end = ((body: Buffer) => {
      write(body.subarray(0, count), () => void (then === 'cut' && response.destroy()))
      return response
    }) as ServerResponse['end']
    return ranged(request, response, file)
  }

/** A forward proxy on loopback: requests in absolute form, and CONNECT. `resolve` says where a host really is. */
export async function startProxy(resolve: (host: string) => number, demand?: string) {
  const asked: {readonly method: string; readonly url: string; readonly authorization: string | undefined}[] = []
  const sockets = new Set<Socket>()
  const note = (request: IncomingMessage) => {
    const authorization = request.headers['proxy-authorization']
    asked.push({method: request.method ?? '', url: request.url ?? '', authorization})
    return demand === undefined || authorization === demand
  }
  const server = createServer((incoming, response) => {
    if (!note(incoming)) return void response.writeHead(407).end()
    const url = new URL(incoming.url ?? '')
    const options = {host: '127.0.0.1', port: resolve(url.host), path: url.pathname, headers: incoming.headers}
    request(options, answer => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers))).end()
  })
  server.on('connect', (incoming: IncomingMessage, client: Socket) => {
    if (!note(incoming)) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const upstream = connect(resolve(incoming.url ?? ''), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    sockets.add(upstream)
  })
  server.on('connection', (socket: Socket) => void sockets.add(socket))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    asked,
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(done => server.close(done))
    },
  }
}
