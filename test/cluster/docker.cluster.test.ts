import {mkdtempSync, rmSync} from 'node:fs'
import {connect, createServer, type Server, type Socket} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {execa} from 'execa'
import {Kafka, logLevel} from 'kafkajs'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import type {Cluster, ClusterNode, LogFile, StartOptions} from '../../src/cluster/cluster.js'
import {type EngineEndpoint, resolveEndpoint} from '../../src/cluster/docker/endpoint.js'
import {ownerLabel} from '../../src/cluster/docker/labels.js'
import {findOwned, removeLeftovers} from '../../src/cluster/docker/leftovers.js'
import {DockerRuntime} from '../../src/cluster/docker/runtime.js'
import {untilReady} from '../../src/cluster/ready.js'
import {type ClusterSpec, defaultSpec} from '../../src/cluster/spec.js'
import {loadState} from '../../src/cluster/state.js'
import {until} from '../../src/util/until.js'

// Needs a Docker engine with an image of Kafka (./setup --for-tests brings both) and fails without one: what can't be
// tried is not passed.

const spec: ClusterSpec = {...defaultSpec, controllers: 1}
const small: ClusterSpec = {...defaultSpec, brokers: 1, controllers: 1}
const topic = 'orders'
const values = Array.from({length: 10}, (_, index) => `value ${index} of orders`)
const runtime = new DockerRuntime()
const forever = new AbortController().signal
const kept = process.env.XDG_STATE_HOME
let state: string
let endpoint: EngineEndpoint

beforeAll(async () => {
  // A state folder of its own is also an owner of its own: nothing else on this engine is in reach of these tests.
  state = mkdtempSync(join(tmpdir(), 'kx-docker-test-'))
  process.env.XDG_STATE_HOME = state
  const obstacle = await runtime.obstacle({spec})
  if (obstacle !== undefined) throw new Error(`The tests of the docker runtime need a Docker engine. ${obstacle}`)
  const resolved = await resolveEndpoint()
  if ('obstacle' in resolved) throw new Error(resolved.obstacle)
  endpoint = resolved.endpoint
})

afterAll(async () => {
  if (endpoint) for (const things of await findOwned(endpoint)) await removeLeftovers(endpoint, things)
  if (kept === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = kept
  rmSync(state, {recursive: true, force: true})
})

function start(name: string, more: Partial<StartOptions> = {}): Promise<Cluster> {
  const progress = () => undefined
  return runtime.start({name, spec, ephemeral: true, signal: forever, timeoutMs: 120_000, progress, ...more})
}

function ready(cluster: Cluster): Promise<void> {
  return untilReady(cluster, {timeoutMs: 150_000, signal: forever, progress: () => undefined})
}

/** A second witness beside the API: what Docker's own CLI says. */
async function docker(...args: string[]): Promise<string> {
  return (await execa('docker', args)).stdout
}

async function writeValues(kafka: Kafka): Promise<void> {
  const admin = kafka.admin()
  const producer = kafka.producer()
  try {
    await admin.connect()
    await admin.createTopics({topics: [{topic, numPartitions: 1, replicationFactor: 3}], waitForLeaders: true})
    await producer.connect()
    await producer.send({topic, acks: -1, messages: values.map(value => ({value}))})
  } finally {
    await producer.disconnect()
    await admin.disconnect()
  }
}

async function imageHere(): Promise<string> {
  const images = ['apache/kafka:4.4.0', 'kx/kafka:4.4.0']
  for (const image of images) if (await docker('image', 'ls', '--quiet', image)) return image
  throw new Error(`neither of ${images.join(', ')} is here`)
}

function node(cluster: Cluster, nodeId: number): ClusterNode {
  const found = cluster.nodes.find(one => one.nodeId === nodeId)
  if (!found) throw new Error(`no node ${nodeId}`)
  return found
}

async function bytesOf(file: LogFile | undefined): Promise<Buffer> {
  if (!file) throw new Error('no such file')
  return file.open().read(0, file.size)
}

function segment(files: readonly LogFile[]): LogFile | undefined {
  return files.find(file => file.name === '00000000000000000000.log')
}

/** `kx-life-broker-1` has its data in `kx-life_broker-1`. */
function volumesOf(cluster: Cluster): string[] {
  return cluster.nodes.map(({place}) => (place.container ?? '').replace(/-(broker|controller)-/, '_$1-'))
}

/** Containers, networks and volumes of these tests, as the CLI lists them. */
async function leftBehind(): Promise<string[]> {
  const filter = ['--filter', `label=kx.owner=${ownerLabel()}`]
  const lists = await Promise.all([
    docker('ps', '-a', '--format', '{{.Names}}', ...filter),
    docker('network', 'ls', '--format', '{{.Name}}', ...filter),
    docker('volume', 'ls', '--format', '{{.Name}}', ...filter),
  ])
  return lists.flatMap(list => list.split('\n')).filter(Boolean)
}

describe('a cluster of containers', () => {
  let cluster: Cluster

  beforeAll(async () => {
    cluster = await start('life', {ephemeral: false})
    await ready(cluster)
    await writeValues(new Kafka({brokers: cluster.bootstrapServers.split(','), logLevel: logLevel.NOTHING}))
  }, 300_000)

  afterAll(async () => {
    await cluster?.down({wipe: true})
  })

  it('runs its nodes under labels that tell whose they are', async () => {
    expect(cluster.nodes.map(({nodeId, roles}) => [nodeId, roles])).toEqual([
      [1, ['broker']],
      [2, ['broker']],
      [3, ['broker']],
      [101, ['controller']],
    ])
    expect(await Promise.all(cluster.nodes.map(one => one.state()))).toEqual([
      'running',
      'running',
      'running',
      'running',
    ])
    const [found, ...more] = await findOwned(endpoint)
    expect(more).toEqual([])
    expect(found).toMatchObject({cluster: 'life', pid: process.pid, ephemeral: false, owner: ownerLabel()})
    expect([found?.containers.length, found?.networks.length, found?.volumes.length]).toEqual([4, 1, 4])
  })

  it('mounts one named volume a node, and leaves no anonymous one beside it', async () => {
    const names = cluster.nodes.map(({place}) => place.container ?? '')
    const mounts = await docker('inspect', '--format', '{{range .Mounts}}{{.Type}} {{.Name}};{{end}}', ...names)
    expect(mounts.split('\n').filter(Boolean)).toEqual(volumesOf(cluster).map(name => `volume ${name};`))
  })

  it('listens on loopback only', async () => {
    const published = await docker('ps', '--format', '{{.Ports}}', '--filter', `label=kx.owner=${ownerLabel()}`)
    const addresses = published.match(/[\d.]+:\d+->/g)
    expect(addresses).toHaveLength(3)
    for (const address of addresses ?? []) expect(address).toMatch(/^127\.0\.0\.1:/)
  })

  it('pauses a broker, reads its files meanwhile, and resumes it', async () => {
    const broker = node(cluster, 2)
    const paused = await broker.pause()
    const container = broker.place.container ?? ''
    expect(container).toMatch(/^kx-life.*-broker-2$/)
    expect(paused.mechanism).toBe(`docker pause ${container}`)
    expect(paused.evidence).toMatch(/^docker pause returned after \d+ ms; inspect: Status=paused, Paused=true$/)
    expect(paused.provenMs).toBeGreaterThan(paused.startedMs)
    expect(await docker('inspect', '--format', '{{.State.Paused}}', container)).toBe('true')
    expect(await broker.state()).toBe('paused')
    const log = await bytesOf(segment(await broker.files({topic, partition: 0})))
    for (const value of values) expect(log.includes(value)).toBe(true)
    const resumed = await broker.resume()
    expect(resumed.evidence).toContain('Status=running, Paused=false')
    expect(await broker.state()).toBe('running')
  })

  it('kills a paused broker, reads what it had, and starts it again', async () => {
    const broker = node(cluster, 3)
    await broker.pause()
    const killed = await broker.kill()
    expect(killed.evidence).toMatch(/^inspect: exited, exit code 137, \d+ ms after SIGKILL$/)
    expect(await broker.state()).toBe('killed')
    const files = await broker.files({topic, partition: 0})
    expect(files.map(({name}) => name)).toEqual(
      expect.arrayContaining(['00000000000000000000.index', 'partition.metadata']),
    )
    const own = await bytesOf(segment(files))
    const others = await bytesOf(segment(await node(cluster, 1).files({topic, partition: 0})))
    expect(own.equals(others)).toBe(true)
    const started = await broker.start()
    expect(started.evidence).toMatch(/^inspect: running as the engine's pid \d+/)
    await ready(cluster)
  })

  it('stops a broker politely: the controlled shutdown completes', async () => {
    const broker = node(cluster, 1)
    const stopped = await broker.stop()
    expect(stopped.evidence).toMatch(/^inspect: exited, exit code 143, .+ after SIGTERM$/)
    expect(await broker.state()).toBe('stopped')
    expect((await broker.logTail(5)).join('\n')).toContain('shut down completed')
    await broker.start()
    await ready(cluster)
  })

  it('refuses a fault that does not fit the state of the node', async () => {
    const broker = node(cluster, 1)
    await expect(broker.resume()).rejects.toMatchObject({code: 'KX_NODE_STATE'})
    await expect(broker.start()).rejects.toThrow("Node 1 is running, so it can't be told to start.")
  })

  it('has no files of a partition that a node does not hold', async () => {
    expect(await node(cluster, 1).files({topic: 'nowhere', partition: 7})).toEqual([])
    expect(await node(cluster, 101).files({topic, partition: 0})).toEqual([])
    expect(segment(await node(cluster, 101).files({topic: '__cluster_metadata', partition: 0}))?.size).toBeGreaterThan(
      0,
    )
  })

  it('reads files again and again while the broker writes to them', async () => {
    for (let round = 0; round < 20; round++) {
      const files = await node(cluster, 101).files({topic: '__cluster_metadata', partition: 0})
      expect(segment(files)?.size).toBeGreaterThan(0)
    }
  })

  it("runs Kafka's own dump tool over copies of the files, and leaves no container of it", async () => {
    const log = segment(await node(cluster, 1).files({topic, partition: 0}))
    const copies = [{name: log?.name ?? '', bytes: await bytesOf(log)}]
    const text = await cluster.dumpLog(copies, ['--print-data-log'])
    expect(text).toMatch(/^Dumping 00000000000000000000\.log\nLog starting offset: 0\n/)
    expect(text.match(/payload: .*/g)).toEqual(values.map(value => `payload: ${value}`))
    expect(await findOwned(endpoint)).toHaveLength(1)
  })

  it('says what the dump tool said if it fails', async () => {
    const dumping = cluster.dumpLog([{name: '00000000000000000000.log', bytes: Buffer.alloc(0)}], ['--no-such-flag'])
    await expect(dumping).rejects.toMatchObject({code: 'KX_DUMP_LOG', message: expect.stringContaining('no-such-flag')})
    expect(await findOwned(endpoint)).toHaveLength(1)
  })

  it('is found again by its state', async () => {
    const known = loadState('life')
    expect(known?.phase).toBe('up')
    if (!known) throw new Error('no state')
    await using again = await runtime.attach(known)
    expect(again.bootstrapServers).toBe(cluster.bootstrapServers)
    expect(await node(again, 101).state()).toBe('running')
  })

  it('does not touch a container of somebody else that took a name of its own', async () => {
    const known = loadState('life')
    if (!known) throw new Error('no state')
    const foreign = await foreignContainer({'kx.cluster': 'life', 'kx.owner': 'eve@here:/home/eve'})
    try {
      const [first, ...rest] = known.nodes
      if (!first) throw new Error('no node')
      await using confused = await runtime.attach({...known, nodes: [{...first, container: foreign}, ...rest]})
      await expect(node(confused, 1).kill()).rejects.toMatchObject({code: 'KX_FOREIGN_CONTAINER'})
      expect(await docker('inspect', '--format', '{{.State.Running}}', foreign)).toBe('true')
    } finally {
      await docker('rm', '--force', '--volumes', foreign)
    }
  })

  it('keeps its data when it goes down, and runs on them again', async () => {
    await node(cluster, 2).pause()
    await cluster.down({wipe: false})
    expect(loadState('life')?.phase).toBe('down')
    expect((await leftBehind()).sort()).toEqual(volumesOf(cluster))
    expect(await Promise.all(cluster.nodes.map(one => one.state()))).toEqual([
      'stopped',
      'stopped',
      'stopped',
      'stopped',
    ])
    await Promise.all(cluster.nodes.map(one => one.start()))
    await ready(cluster)
    const log = await bytesOf(segment(await node(cluster, 2).files({topic, partition: 0})))
    for (const value of values) expect(log.includes(value)).toBe(true)
  })

  it('is wiped without a trace, and what belongs to others survives', async () => {
    const foreign = await foreignContainer({'kx.cluster': 'life', 'kx.owner': 'eve@here:/home/eve'})
    const plain = await foreignContainer({})
    try {
      await node(cluster, 1).pause()
      await node(cluster, 3).kill()
      await cluster.down({wipe: true})
      expect(await leftBehind()).toEqual([])
      expect(loadState('life')).toBeUndefined()
      for (const name of [foreign, plain]) {
        expect(await docker('inspect', '--format', '{{.State.Running}}', name)).toBe('true')
      }
    } finally {
      await docker('rm', '--force', '--volumes', foreign, plain)
    }
  })
})

describe('a start', () => {
  it.each([0, 400, 900, 1_500, 2_500])('that is broken off after %i ms leaves nothing', async delayMs => {
    const interrupt = new AbortController()
    const timer = setTimeout(() => interrupt.abort(), delayMs)
    const starting = start('broken-off', {signal: interrupt.signal}).then(async cluster => {
      // The machine was faster than the interruption: the caller takes the cluster down, as for any later one.
      await cluster.down({wipe: true})
      return 'started'
    })
    const outcome = await starting.catch(error => error.code)
    clearTimeout(timer)
    expect(['KX_INTERRUPTED', 'started']).toContain(outcome)
    expect(await leftBehind()).toEqual([])
    expect(loadState('broken-off')).toBeUndefined()
  })

  it('of an image that is nowhere says every way that failed, and leaves nothing', async () => {
    const starting = start('no-image', {image: '127.0.0.1:9/nobody/kafka:none'})
    await expect(starting).rejects.toMatchObject({
      code: 'KX_NO_IMAGE',
      message: expect.stringMatching(
        /none is not here; 127\.0\.0\.1:9\/nobody\/kafka:none can't be pulled \(.*refused/,
      ),
    })
    expect(await leftBehind()).toEqual([])
    expect(loadState('no-image')).toBeUndefined()
  })

  it('of a broker with a setting that kills it shows its last lines', async () => {
    const broken: ClusterSpec = {...spec, brokers: 1, config: {'log.segment.bytes': 'many'}}
    const starting = start('dies', {spec: broken}).then(async cluster => {
      try {
        await ready(cluster)
      } finally {
        await cluster.down({wipe: true})
      }
    })
    await expect(starting).rejects.toMatchObject({
      code: 'KX_NODE_DIED',
      message: expect.stringContaining('log.segment.bytes'),
    })
    expect(await leftBehind()).toEqual([])
  })

  it('with feature levels formats with them', async () => {
    const single: ClusterSpec = {...spec, brokers: 1, controllers: 0, features: {'eligible.leader.replicas.version': 0}}
    const cluster = await start('features', {spec: single})
    try {
      await ready(cluster)
      const log = segment(await node(cluster, 1).files({topic: '__cluster_metadata', partition: 0}))
      const copies = [{name: '00000000000000000000.log', bytes: await bytesOf(log)}]
      const text = await cluster.dumpLog(copies, ['--cluster-metadata-decoder'])
      expect(text).not.toMatch(/"name":"eligible\.leader\.replicas\.version","featureLevel":[1-9]/)
      expect(text).toContain('"name":"transaction.version"')
      await node(cluster, 1).kill()
      await node(cluster, 1).start()
      await ready(cluster)
    } finally {
      await cluster.down({wipe: true})
    }
    expect(await leftBehind()).toEqual([])
  })
})

describe('a cluster of the same name that belongs to somebody else', () => {
  it('is left alone: ours gets a project of its own', async () => {
    const theirs = `kx-test-${process.pid}_broker-1`
    const labels = ['com.docker.compose.project=kx-shared', 'kx.cluster=shared', 'kx.owner=eve@here:/home/eve']
    await docker('volume', 'create', ...labels.flatMap(label => ['--label', label]), theirs)
    try {
      const cluster = await start('shared', {spec: small})
      expect(node(cluster, 1).place.container).toMatch(/^kx-shared-[a-z0-9]+-broker-1$/)
      await cluster.down({wipe: true})
      expect(await leftBehind()).toEqual([])
      expect(await docker('volume', 'ls', '--quiet', '--filter', `name=${theirs}`)).toBe(theirs)
    } finally {
      await docker('volume', 'rm', theirs)
    }
  })
})

describe('compose/kafka.yml', () => {
  it('starts by hand, holds records, and leaves nothing when it goes down', async () => {
    const image = await imageHere()
    const compose = (...args: string[]) =>
      execa('docker', ['compose', '--file', 'compose/kafka.yml', ...args], {env: {KX_IMAGE: image}, timeout: 200_000})
    try {
      await compose('up', '--wait', '--quiet-pull')
      const brokers = ['127.0.0.1:19092', '127.0.0.1:19093', '127.0.0.1:19094']
      const kafka = new Kafka({brokers, logLevel: logLevel.NOTHING})
      await writeValues(kafka)
      const admin = kafka.admin()
      await admin.connect()
      const [end] = await admin.fetchTopicOffsets(topic)
      await admin.disconnect()
      expect(end?.high).toBe(String(values.length))
    } finally {
      await compose('down', '--volumes')
    }
    const filter = ['--filter', 'label=com.docker.compose.project=kx-by-hand']
    expect(await docker('ps', '--all', '--quiet', ...filter)).toBe('')
    expect(await docker('volume', 'ls', '--quiet', ...filter)).toBe('')
  })
})

describe('a port that is taken between the choice and the start', () => {
  it('is named, and nothing is left', async () => {
    const taken = createServer()
    const broken = start('port', {
      spec: small,
      portBase: 20_500,
      progress: phase => {
        // The last phase before Compose runs: the choice has found the port free.
        if (phase.startsWith('starting')) taken.listen(20_500, '127.0.0.1')
      },
    })
    await expect(broken).rejects.toMatchObject({
      code: 'KX_PORT_TAKEN',
      message: 'Port 20500 was free a moment ago and is taken now.',
    })
    taken.close()
    expect(await leftBehind()).toEqual([])
    expect(loadState('port')).toBeUndefined()
  })
})

describe('an engine that goes away', () => {
  const keptHost = process.env.DOCKER_HOST
  let door: Door

  beforeEach(async () => {
    door = await Door.open(join(state, 'docker.sock'), endpoint.host.replace('unix://', ''))
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
    const starting = new DockerRuntime().start(options)
    const outcome = expect(starting).rejects.toMatchObject({
      kind: 'environment',
      code: 'KX_LEFT_BEHIND',
      message: expect.stringContaining('No Docker engine answers at'),
      suggestions: [expect.stringContaining('kx clean')],
    })
    await until(
      'the first container',
      async () => ((await leftBehind()).some(name => name.endsWith('-broker-1')) ? true : undefined),
      {
        timeoutMs: 30_000,
      },
    )
    await door.close()
    await outcome
    const left = loadState('gone')
    expect(left?.phase).toBe('starting')
    if (!left) throw new Error('no state')
    door = await Door.open(door.path, door.target)
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
})

/** A socket in front of the engine's, which can be shut: for its clients the engine is then gone. */
class Door {
  private readonly connections = new Set<Socket>()

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
    })
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

/** A container that does nothing, of the image that is there anyway. */
async function foreignContainer(labels: Readonly<Record<string, string>>): Promise<string> {
  const name = `foreign-${process.pid}-${foreigners++}`
  const flags = Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`])
  const image = await imageHere()
  await docker(
    'run',
    '--detach',
    '--name',
    name,
    '--network',
    'none',
    ...flags,
    '--entrypoint',
    'tail',
    image,
    '-f',
    '/dev/null',
  )
  await until(
    'the foreign container to run',
    async () => {
      const running = await docker('inspect', '--format', '{{.State.Running}}', name)
      return running === 'true' || undefined
    },
    {timeoutMs: 20_000},
  )
  return name
}

let foreigners = 1
