import {createHash} from 'node:crypto'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {gzipSync} from 'node:zlib'
import {execa} from 'execa'
import tar from 'tar-stream'
import {afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {resolveEndpoint} from '../../src/cluster/docker/endpoint.js'
import {Engine} from '../../src/cluster/docker/engine.js'
import {buildImage, imageObstacle, obtainImage} from '../../src/cluster/docker/image.js'
import {pause, until} from '../../src/util/until.js'

// Pulls from a registry on loopback, which an engine takes without TLS. Needs a Docker engine and fails without one.

let engine: Engine
let registry: Registry
let phases: string[]
const forever = new AbortController().signal

beforeAll(async () => {
  const resolved = await resolveEndpoint()
  if ('obstacle' in resolved) throw new Error(`The tests of images need a Docker engine. ${resolved.obstacle}`)
  engine = Engine.at(resolved.endpoint)
})

beforeEach(async () => {
  registry = await Registry.open()
  phases = []
})

afterEach(async () => {
  const image = registry.image('tiny')
  await registry.close()
  await execa('docker', ['image', 'rm', '--force', image], {reject: false})
})

function obtain(asked: string, signal = forever): Promise<string> {
  return obtainImage(engine, {kafkaVersion: '4.4.0', asked}, {signal, progress: phase => phases.push(phase)})
}

describe('obtainImage', () => {
  it('pulls what is not here, and asks nobody the second time', async () => {
    await registry.offer('tiny')
    const image = registry.image('tiny')
    expect(await imageObstacle(engine, {kafkaVersion: '4.4.0', asked: image})).toBeUndefined()
    expect(await obtain(image)).toBe(image)
    expect(phases).toEqual([`pulling ${image}`])
    const asked = registry.requests
    expect(await obtain(image)).toBe(image)
    expect(registry.requests).toBe(asked)
  })

  it('tells how far a slow pull is', async () => {
    await registry.offer('tiny', {layerMs: 4_000, layerBytes: 8_000_000})
    await obtain(registry.image('tiny'))
    expect(phases.slice(1).length).toBeGreaterThan(0)
    for (const phase of phases.slice(1)) expect(phase).toMatch(/^pulling .+\/tiny:1: [\d.]+ [KM]iB of [\d.]+ MiB$/)
  })

  it('says why a pull failed', async () => {
    const image = registry.image('nothing')
    await expect(obtain(image)).rejects.toMatchObject({
      code: 'KX_NO_IMAGE',
      kind: 'environment',
      message: expect.stringContaining(`${image} is not here; ${image} can't be pulled (`),
    })
    expect(await imageObstacle(engine, {kafkaVersion: '4.4.0', asked: image})).toContain("can't be pulled")
  })

  it('takes no image whose bytes are not what the manifest promised', async () => {
    await registry.offer('tiny', {damaged: true})
    await expect(obtain(registry.image('tiny'))).rejects.toMatchObject({code: 'KX_NO_IMAGE'})
  })

  it('refuses an image that would be emulated', async () => {
    await registry.offer('tiny', {architecture: 's390x'})
    await expect(obtain(registry.image('tiny'))).rejects.toThrow(
      'is made for s390x and would be emulated on this engine',
    )
  })

  it('can be interrupted at once', async () => {
    await registry.offer('tiny', {layerMs: 30_000, layerBytes: 8_000_000})
    const interrupt = new AbortController()
    const obtaining = obtain(registry.image('tiny'), interrupt.signal)
    const outcome = expect(obtaining).rejects.toMatchObject({code: 'KX_INTERRUPTED'})
    await until('the layer to be on its way', () => registry.sending || undefined, {timeoutMs: 60_000})
    interrupt.abort()
    await outcome
    expect(registry.sent).toBe(false) // Nobody waited for the rest of it.
  })
})

describe('buildImage', () => {
  const image = `kx/test-${process.pid}:1`

  afterEach(() => execa('docker', ['image', 'rm', '--force', image], {reject: false}))

  it('builds with the script of the package and tells its steps', async () => {
    const options = {kafkaVersion: '4.4.0', signal: forever, progress: (phase: string) => phases.push(phase)}
    expect(await buildImage(engine, image, options)).toBeUndefined()
    expect(phases).toEqual(expect.arrayContaining([`building ${image}`]))
    expect(await imageObstacle(engine, {kafkaVersion: '4.4.0', asked: image})).toBeUndefined()
  })

  it('says what the script said if it fails', async () => {
    const options = {kafkaVersion: '0.0.1', signal: forever, progress: (phase: string) => phases.push(phase)}
    expect(await buildImage(engine, image, options)).toMatch(/^kx\/test-\d+:1 can't be built \(.+Kafka 0\.0\.1/)
  })
})

interface Offer {
  readonly architecture?: string
  /** The layer is sent over so many milliseconds. */
  readonly layerMs?: number
  readonly layerBytes?: number
  readonly damaged?: boolean
}

/** As much of the registry's HTTP API (version 2) as a pull needs. */
class Registry {
  requests = 0
  /** A layer has begun to go out, and has gone out whole. */
  sending = false
  sent = false
  private readonly answers = new Map<string, (answer: ServerResponse) => Promise<void>>()

  private constructor(private readonly server: ReturnType<typeof createServer>) {
    server.on('request', (request: IncomingMessage, answer: ServerResponse) => void this.serve(request, answer))
  }

  static async open(): Promise<Registry> {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return new Registry(server)
  }

  image(name: string): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}/${name}:1`
  }

  async offer(
    name: string,
    {architecture, layerMs = 0, layerBytes = 1_000, damaged = false}: Offer = {},
  ): Promise<void> {
    const layer = await layerOf(layerBytes)
    const zipped = gzipSync(layer, {level: 0})
    const here = process.arch === 'x64' ? 'amd64' : process.arch
    const config = JSON.stringify({
      architecture: architecture ?? here,
      os: 'linux',
      config: {Cmd: ['/nothing']},
      rootfs: {type: 'layers', diff_ids: [digest(layer)]},
    })
    const manifest = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: {
        mediaType: 'application/vnd.docker.container.image.v1+json',
        size: config.length,
        digest: digest(config),
      },
      layers: [
        {mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', size: zipped.length, digest: digest(zipped)},
      ],
    })
    const headers = {'content-type': manifestType, 'docker-content-digest': digest(manifest)}
    for (const reference of ['1', digest(manifest)]) {
      this.answers.set(`/v2/${name}/manifests/${reference}`, async answer => {
        answer.writeHead(200, {...headers, 'content-length': manifest.length}).end(manifest)
      })
    }
    this.answers.set(`/v2/${name}/blobs/${digest(config)}`, async answer => void answer.end(config))
    const sent = damaged ? Buffer.alloc(zipped.length, 'x') : zipped
    this.answers.set(`/v2/${name}/blobs/${digest(zipped)}`, async answer => {
      this.sending = true
      await inPieces(answer, sent, layerMs)
      this.sent = true
    })
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>(resolve => this.server.close(() => resolve()))
  }

  private async serve({url = ''}: IncomingMessage, answer: ServerResponse): Promise<void> {
    this.requests++
    if (url === '/v2/') return void answer.end('{}')
    const known = this.answers.get(url)
    if (!known)
      return void answer.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
    await known(answer)
  }
}

const manifestType = 'application/vnd.docker.distribution.manifest.v2+json'

async function inPieces(answer: ServerResponse, bytes: Buffer, ms: number): Promise<void> {
  const pieces = ms === 0 ? 1 : 40
  answer.writeHead(200, {'content-length': bytes.length})
  for (let piece = 0; piece < pieces && !answer.destroyed; piece++) {
    answer.write(bytes.subarray((piece * bytes.length) / pieces, ((piece + 1) * bytes.length) / pieces))
    await pause(ms / pieces)
  }
  answer.end()
}

async function layerOf(size: number): Promise<Buffer> {
  const pack = tar.pack()
  pack.entry({name: 'nothing'}, Buffer.alloc(size, `${process.pid} ${Math.random()}`))
  pack.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of pack) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function digest(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}
