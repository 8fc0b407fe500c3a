import {join} from 'node:path'
import {connect, createServer, type Server, type Socket} from 'node:net'
import {DockerRuntime} from '../../src/cluster/docker/runtime.js'
import {clusterNames, loadState} from '../../src/cluster/state.js'
import {runExperiment} from '../../src/lab/run.js'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {forever, leftBehind, node, Rig, small, topic} from './docker-rig.js'

let rig: Rig

beforeAll(async () => {
  rig = await Rig.open()
})

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]()
})

describe('an engine that goes away', () => {
  const keptHost = process.env.DOCKER_HOST
  let door: Door

  beforeEach(async () => {
    door = await Door.open(join(rig.state, 'docker.sock'), rig.endpoint.host.replace('unix://', ''))
    process.env.DOCKER_HOST = `unix://${door.path}`
  })

  afterEach(async () => {
    await door.close()
    if (keptHost === undefined) delete process.env.DOCKER_HOST
    else process.env.DOCKER_HOST = keptHost
  })

  it('in the middle of a start is one sentence and leaves a state, by which all is removed when it is back', async () => {
    const progress = () => undefined
    const options = {name: 'gone', spec: small, ephemeral: true, signal: forever, timeoutMs: 60_000, progress}
    // When the engine answers that it has made the first container: at that very moment, however slow the machine.
    door.shutsBehind(/^POST \S*\/containers\/create\?\S*-broker-1/m)
    const starting = new DockerRuntime().start(options)
    const outcome = expect(starting).rejects.toMatchObject({
      kind: 'environment',
      code: 'KX_LEFT_BEHIND',
      message: expect.stringContaining('No Docker engine answers at'),
      suggestions: [expect.stringContaining('kx clean')],
    })
    await outcome
    await door.close()
    const left = loadState('gone')
    expect(left?.phase).toBe('starting')
    if (!left) throw new Error('no state')
    door = await Door.open(door.path, door.target)
    expect(await leftBehind()).toContainEqual(expect.stringMatching(/-broker-1$/))
    await using cluster = await new DockerRuntime().attach(left)
    await cluster.down({wipe: true})
    expect(await leftBehind()).toEqual([])
    expect(loadState('gone')).toBeUndefined()
  })

  it('fails every question and every blow at once, and says which engine it was', async () => {
    const progress = () => undefined
    const options = {name: 'deaf', spec: small, ephemeral: true, signal: forever, timeoutMs: 60_000, progress}
    const cluster = await new DockerRuntime().start(options)
    await door.close()
    const gone = {kind: 'environment', code: 'KX_DOCKER_GONE', message: expect.stringContaining(door.path)}
    await expect(node(cluster, 1).state()).rejects.toMatchObject(gone)
    await expect(node(cluster, 1).pause()).rejects.toMatchObject(gone)
    await expect(node(cluster, 1).files({topic, partition: 0})).rejects.toMatchObject(gone)
    await expect(cluster.dumpLog([], [])).rejects.toMatchObject(gone)
    await expect(cluster.down({wipe: true})).rejects.toMatchObject(gone)
    door = await Door.open(door.path, door.target)
    await cluster.down({wipe: true})
    expect(await leftBehind()).toEqual([])
  })

  it('in the middle of an experiment’s fault ends the run with that one error, and names the way to clean up', async () => {
    const warnings: string[] = []
    const run = runExperiment('data-loss', {
      cluster: {runtime: 'docker', fresh: true, keep: false, config: {}, timeoutMs: 120_000},
      knobs: {},
      quick: true,
      resultsDir: join(rig.state, 'results'),
      signal: forever,
      watch: ({kind, text}) => {
        if (kind === 'warning') warnings.push(text)
        if (text.startsWith('pause broker')) void door.close()
      },
    })
    await expect(run).rejects.toMatchObject({
      kind: 'environment',
      code: 'KX_DOCKER_GONE',
      message: expect.stringContaining(door.path),
    })
    expect(warnings).toEqual([expect.stringContaining('kx clean')])
    const [name = ''] = clusterNames()
    expect(name).toMatch(/^x-/)
    door = await Door.open(door.path, door.target)
    const state = loadState(name)
    if (!state) throw new Error('no state')
    await using cluster = await new DockerRuntime().attach(state)
    await cluster.down({wipe: true})
    expect(await leftBehind()).toEqual([])
  })
})

/** A socket in front of the engine's, which can be shut: for its clients the engine is then gone. */
class Door {
  private readonly connections = new Set<Socket>()
  private shutting: RegExp | undefined

  private constructor(
    readonly path: string,
    readonly target: string,
    private readonly server: Server,
  ) {
    server.on('connection', client => {
      const engine = connect(target)
      for (const [one, other] of [
        [client, engine],
        [engine, client],
      ] as const) {
        this.connections.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
        one.pipe(other)
      }
      client.on('data', (chunk: Buffer) => {
        if (this.shutting?.test(chunk.toString('latin1'))) engine.once('data', () => void this.close())
      })
    })
  }

  /** Is shut as soon as the engine answers a request that begins like this. */
  shutsBehind(request: RegExp): void {
    this.shutting = request
  }

  static async open(path: string, target: string): Promise<Door> {
    const server = createServer({allowHalfOpen: true})
    await new Promise<void>(resolve => server.listen(path, resolve))
    return new Door(path, target, server)
  }

  async close(): Promise<void> {
    if (!this.server.listening) return
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    for (const connection of this.connections) connection.destroy()
    await closed
  }
}
