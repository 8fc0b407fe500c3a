import {type ChildProcess, spawn} from 'node:child_process'
import {existsSync, mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest'
import type {Cluster, ClusterNode, ClusterState, StartOptions} from '../../src/cluster/cluster.js'
import {killLeftovers} from '../../src/cluster/local/leftovers.js'
import {LocalRuntime} from '../../src/cluster/local/runtime.js'
import {findProcesses, identify} from '../../src/cluster/owner.js'
import {isFree, portsOf} from '../../src/cluster/ports.js'
import {readiness, untilReady} from '../../src/cluster/ready.js'
import {type ClusterSpec, defaultSpec} from '../../src/cluster/spec.js'
import {clusterFolder, loadState, saveState, updateState} from '../../src/cluster/state.js'
import {KxError} from '../../src/util/errors.js'
import {until} from '../../src/util/until.js'
import {Connection} from '../../src/wire/connection.js'
import {metadata} from '../../src/wire/requests.js'

const runtime = new LocalRuntime()
const spec: ClusterSpec = {...defaultSpec, controllers: 1, profile: 'fast', compiler: 'c1'}
const never = new AbortController().signal
const quietly = {timeoutMs: 120_000, signal: never, progress: () => {}}
const children: ChildProcess[] = []

const before = process.env.XDG_STATE_HOME
let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kx-local-'))
  process.env.XDG_STATE_HOME = home
})
afterAll(async () => {
  for (const name of ['life', 'small']) await killLeftovers(name)
  if (before === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = before
  rmSync(home, {recursive: true, force: true, maxRetries: 10, retryDelay: 100})
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function start(name: string, change: Partial<StartOptions> = {}): Promise<Cluster> {
  return runtime.start({name, spec, ephemeral: false, ...quietly, ...change})
}

/** A process of somebody else, with any arguments. */
function stranger(...args: string[]): number {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...args], {stdio: 'ignore'})
  children.push(child)
  return child.pid as number
}

function node(cluster: Cluster, nodeId: number): ClusterNode {
  return cluster.nodes.find(found => found.nodeId === nodeId) as ClusterNode
}

async function expectNothingLeft(name: string, ports: ReadonlySet<number>): Promise<void> {
  expect(existsSync(clusterFolder(name))).toBe(false)
  expect((await findProcesses(`kafka.Kafka ${clusterFolder(name)}/`)).map(({commandLine}) => commandLine)).toEqual([])
  for (const port of ports) expect(await isFree(port)).toBe(true)
}

async function rejection(promise: Promise<unknown>): Promise<KxError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(KxError)
  return error as KxError
}

describe('a local cluster of 3 brokers and a controller', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start('life')
    expect(loadState('life')?.phase).toBe('starting')
    await untilReady(cluster, quietly)
    expect(loadState('life')?.phase).toBe('up')
  })
  afterAll(async () => {
    await cluster?.down({wipe: true})
  })

  it('is ready, and says so to another handle on its state', async () => {
    await using other = await runtime.attach(loadState('life') as ClusterState)
    expect(await readiness(other)).toEqual({ready: true, controllerId: 101})
    expect(other.nodes.map(({nodeId, roles, address}) => [nodeId, roles, address])).toEqual(
      cluster.nodes.map(({nodeId, roles, address}) => [nodeId, roles, address]),
    )
    expect(other.bootstrapServers).toBe(cluster.bootstrapServers)
    expect(await Promise.all(other.nodes.map(one => one.state()))).toEqual(['running', 'running', 'running', 'running'])
  })

  it('listens on loopback only', async () => {
    const {address} = node(cluster, 1)
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/)
    const lines = (await node(cluster, 1).logTail(5_000)).filter(line =>
      line.includes('Awaiting socket connections on'),
    )
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).toContain('127.0.0.1:')
  })

  it('leaves no probe topic behind', async () => {
    for (const {address} of cluster.brokers) {
      const [host = '', port] = address.split(':')
      await using connection = await Connection.open({host, port: Number(port)})
      await until(
        'the probe topic to vanish',
        async () => ((await metadata(connection)).topics.length === 0 ? true : undefined),
        {timeoutMs: 60_000},
      )
    }
  })

  it('can not be made twice', async () => {
    expect(await rejection(start('life'))).toMatchObject({code: 'KX_CLUSTER_EXISTS', exit: 4})
    expect(await node(cluster, 1).state()).toBe('running')
  })

  it('is paused and resumed with the state of every thread as proof', async () => {
    const broker = node(cluster, 2)
    const paused = await broker.pause()
    expect(paused).toMatchObject({fault: 'pause', nodeId: 2, mechanism: `SIGSTOP to pid ${broker.place.pid}`})
    expect(paused.evidence).toMatch(/^all \d{2,} threads in state T after \d+ ms$/)
    expect(paused.provenMs).toBeGreaterThanOrEqual(paused.startedMs)
    expect(await broker.state()).toBe('paused')
    await using other = await runtime.attach(loadState('life') as ClusterState)
    expect(await node(other, 2).state()).toBe('paused')
    expect(await readiness(other)).toMatchObject({ready: false, missing: 'Node 2 is paused.'})
    expect(await rejection(broker.stop())).toMatchObject({code: 'KX_NODE_STATE'})
    const resumed = await broker.resume()
    expect(resumed.evidence).toMatch(/^all \d{2,} threads out of state T after \d+ ms$/)
    await untilReady(cluster, quietly)
  })

  it('loses a killed node, which another handle sees and starts again on its data', async () => {
    const pid = node(cluster, 3).place.pid
    const killed = await node(cluster, 3).kill()
    expect(killed).toMatchObject({mechanism: `SIGKILL to pid ${pid}`, evidence: expect.stringContaining('was gone')})
    await using other = await runtime.attach(loadState('life') as ClusterState)
    expect(await node(other, 3).state()).toBe('killed')
    expect((await readiness(other)).missing).toBe('Node 3 is killed.')
    expect(await rejection(node(other, 3).pause())).toMatchObject({code: 'KX_NODE_STATE'})
    const begun = await node(other, 3).start()
    expect(begun.evidence).toMatch(/^pid \d+ runs since /)
    expect(node(cluster, 3).place.pid).not.toBe(pid)
    expect(await node(cluster, 3).state()).toBe('running')
    expect(await rejection(node(cluster, 3).start())).toMatchObject({code: 'KX_NODE_STATE'})
    await untilReady(cluster, quietly)
  })

  it('tells a stopped node from a killed one', async () => {
    const stopped = await node(cluster, 1).stop()
    expect(stopped.mechanism).toMatch(/^SIGTERM to pid \d+$/)
    expect(await node(cluster, 1).state()).toBe('stopped')
    expect((await node(cluster, 1).logTail(50)).join('\n')).toContain('shut down completed')
    await node(cluster, 1).start()
    await untilReady(cluster, quietly)
  })

  it('shows the files of a partition, whatever state the node is in, and Kafka reads them alike', async () => {
    const controller = node(cluster, 101)
    await controller.pause()
    const files = await controller.files({topic: '__cluster_metadata', partition: 0})
    const log = files.find(({name}) => name === '00000000000000000000.log')!
    const source = log.open()
    const bytes = await source.read(0, source.size)
    await controller.resume()
    expect(bytes.length).toBe(log.size)
    const text = await cluster.dumpLog([{name: log.name, bytes}], ['--cluster-metadata-decoder'])
    expect(text).toContain('"type":"REGISTER_BROKER_RECORD"')
    expect(
      existsSync(join(clusterFolder('life'), 'tmp')) ? readdirSync(join(clusterFolder('life'), 'tmp')) : [],
    ).toEqual([])
    expect(await controller.files({topic: 'nothing', partition: 0})).toEqual([])
  })

  it("ends Kafka's own dump tool when the user interrupts, and leaves nothing of it", async () => {
    const copies = [{name: '00000000000000000000.log', bytes: Buffer.alloc(0)}]
    // Java alone takes longer than that to start.
    const dumping = cluster.dumpLog(copies, [], AbortSignal.timeout(50))
    await expect(dumping).rejects.toMatchObject({code: 'KX_INTERRUPTED', kind: 'interrupted'})
    const left = join(clusterFolder('life'), 'tmp')
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([])
  })

  it("runs Kafka's other tools with the settings they are given, and leaves nothing of them", async () => {
    const features = (property: string) =>
      cluster.runTool({
        what: 'the feature tool',
        mainClass: 'org.apache.kafka.tools.FeatureCommand',
        files: [
          {name: 'log4j2.properties', text: 'status=error\nrootLogger.level=error\n'},
          {name: 'client.properties', text: `${property}\n`},
        ],
        arguments: ({bootstrapServers, path}) => [
          ...['--bootstrap-server', bootstrapServers, '--command-config', path('client.properties'), 'describe'],
        ],
        timeoutMs: 30_000,
        signal: new AbortController().signal,
      })
    expect((await features('client.id=kx-test')).stdout).toContain('Feature: metadata.version')
    expect(await rejection(features('security.protocol=NONE_SUCH'))).toMatchObject({
      code: 'KX_KAFKA_TOOL',
      message: expect.stringMatching(/^the feature tool failed with exit code 1: .*NONE_SUCH/),
    })
    expect(readdirSync(join(clusterFolder('life'), 'tmp'))).toEqual([])
  })

  it('never signals a process that got the pid of a node', async () => {
    const pid = stranger()
    const state = loadState('life') as ClusterState
    const taken = (identity: {pid: number; startTime: string}) =>
      saveState({...state, nodes: state.nodes.map(one => (one.nodeId === 2 ? {...one, ...identity} : one))})
    const old = state.nodes.find(({nodeId}) => nodeId === 2)?.startTime as string
    for (const startTime of [old, (await identify(pid))?.startTime as string]) {
      taken({pid, startTime})
      expect(await node(cluster, 2).state()).toBe('killed')
      expect(await rejection(node(cluster, 2).kill())).toMatchObject({code: 'KX_NODE_STATE'})
      expect(await rejection(node(cluster, 2).pause())).toMatchObject({code: 'KX_NODE_STATE'})
    }
    saveState(state)
    expect((await identify(pid))?.pid).toBe(pid)
    expect(await node(cluster, 2).state()).toBe('running')
  })

  it('finds a node whose pid nobody wrote down, as after a crash of kx', async () => {
    const pid = node(cluster, 2).place.pid
    updateState('life', state => ({
      ...state,
      nodes: state.nodes.map(({pid: _, startTime: __, ...one}) =>
        one.nodeId === 2 ? one : {...one, pid: _, startTime: __},
      ) as ClusterState['nodes'],
    }))
    expect(node(cluster, 2).place).toEqual({})
    expect(await node(cluster, 2).state()).toBe('running')
    expect((await node(cluster, 2).kill()).mechanism).toBe(`SIGKILL to pid ${pid}`)
    await node(cluster, 2).start()
    await untilReady(cluster, quietly)
  })

  it('goes down with paused nodes too, keeps its data, and comes up on them; strangers are left alone', async () => {
    const readers = [
      stranger('tail', join(clusterFolder('life'), 'nodes', '1', 'node.log')),
      stranger('kafka.Kafka', '/opt/kafka/config/server.properties'),
    ]
    await node(cluster, 3).pause()
    await cluster.down({wipe: false})
    expect(loadState('life')?.phase).toBe('down')
    expect(await Promise.all(cluster.nodes.map(one => one.state()))).toEqual([
      'stopped',
      'stopped',
      'stopped',
      'stopped',
    ])
    for (const pid of readers) expect((await identify(pid))?.pid).toBe(pid)
    await Promise.all(cluster.nodes.map(one => one.start()))
    await untilReady(cluster, quietly)
    expect(await killLeftovers('life')).toBe(4)
    for (const pid of readers) expect((await identify(pid))?.pid).toBe(pid)
    const ports = portsOf([loadState('life') as ClusterState])
    await cluster.down({wipe: true})
    await expectNothingLeft('life', ports)
  })
})

describe('a local cluster that does not come up', () => {
  const small: ClusterSpec = {...spec, brokers: 1}

  it('because a broker dies shows its last words, and leaves nothing', async () => {
    const cluster = await start('small', {spec: {...small, config: {'num.io.threads': 'many'}}})
    const ports = portsOf([loadState('small') as ClusterState])
    const error = await rejection(untilReady(cluster, quietly))
    await cluster.down({wipe: true})
    expect(error).toMatchObject({code: 'KX_NODE_DIED', exit: 4})
    expect(error.message).toContain('num.io.threads')
    await expectNothingLeft('small', ports)
  })

  it('because its port is taken names who has it, and leaves nothing', async () => {
    const ports = await portsTried()
    const [first] = [...ports] as [number]
    const holder = spawn(process.execPath, ['-e', `require('net').createServer().listen(${first}, '127.0.0.1')`])
    children.push(holder)
    await until('the port to be taken', async () => ((await isFree(first)) ? undefined : true), {timeoutMs: 10_000})
    const error = await rejection(start('small', {spec: small, portBase: first}))
    expect(error).toMatchObject({code: 'KX_PORT_TAKEN', exit: 4})
    expect(error.message).toContain(`(pid ${holder.pid})`)
    expect(existsSync(clusterFolder('small'))).toBe(false)
  })

  it('because a feature does not exist says so in the words of Kafka, and leaves nothing', async () => {
    const error = await rejection(start('small', {spec: {...small, features: {'no.such.feature': 1}}}))
    expect(error).toMatchObject({code: 'KX_FORMAT', exit: 2})
    expect(error.message).toContain('no.such.feature')
    expect(existsSync(clusterFolder('small'))).toBe(false)
  })

  it.each(['formatting', 'starting'])('because it was interrupted while %s leaves nothing', async phase => {
    const abort = new AbortController()
    let ports: ReadonlySet<number> = new Set()
    const progress = (words: string) => {
      if (!words.startsWith(phase)) return
      ports = portsOf([loadState('small') as ClusterState])
      abort.abort()
    }
    const error = await rejection(start('small', {spec: small, signal: abort.signal, progress}))
    expect(error).toMatchObject({code: 'KX_INTERRUPTED', exit: 130})
    expect(ports.size).toBe(3)
    await expectNothingLeft('small', ports)
  })

  it('because it was interrupted while becoming ready leaves nothing once it is taken down', async () => {
    const cluster = await start('small', {spec: small})
    const ports = portsOf([loadState('small') as ClusterState])
    await node(cluster, 101).pause() // However fast the machine, and however late the interruption: it is not ready yet.
    const error = await rejection(untilReady(cluster, {...quietly, signal: AbortSignal.timeout(500)}))
    expect(error).toMatchObject({code: 'KX_INTERRUPTED', exit: 130})
    await cluster.down({wipe: true})
    await expectNothingLeft('small', ports)
  })

  it('in the time that it was given says what is missing, with the log of the node at fault', async () => {
    const cluster = await start('small', {spec: small})
    try {
      await node(cluster, 101).pause()
      const error = await rejection(untilReady(cluster, {...quietly, timeoutMs: 4_000}))
      expect(error).toMatchObject({code: 'KX_TIMEOUT', exit: 4})
      expect(error.message).toMatch(/^Waited 4 s for cluster "small" to be ready, in vain\. Node 101 is paused\./)
    } finally {
      await cluster.down({wipe: true})
    }
  })
})

/** Ports that a small cluster would get now. */
async function portsTried(): Promise<ReadonlySet<number>> {
  const abort = new AbortController()
  let ports: ReadonlySet<number> = new Set()
  const progress = (): void => {
    ports = portsOf([loadState('small') as ClusterState])
    abort.abort()
  }
  await rejection(start('small', {spec: {...spec, brokers: 1}, signal: abort.signal, progress}))
  return ports
}
