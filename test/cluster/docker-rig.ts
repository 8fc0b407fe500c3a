import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {execa} from 'execa'
import type {Kafka} from 'kafkajs'
import type {Cluster, ClusterNode, LogFile, StartOptions} from '../../src/cluster/cluster.js'
import {type EngineEndpoint, resolveEndpoint} from '../../src/cluster/docker/endpoint.js'
import {ownerLabel} from '../../src/cluster/docker/labels.js'
import {findOwned, removeLeftovers} from '../../src/cluster/docker/leftovers.js'
import {DockerRuntime} from '../../src/cluster/docker/runtime.js'
import {untilReady} from '../../src/cluster/ready.js'
import {type ClusterSpec, defaultSpec} from '../../src/cluster/spec.js'
import {until} from '../../src/util/until.js'

// What the tests of the docker runtime share. They need a Docker engine with an image of Kafka (./setup --for-tests
// brings both) and fail without one: what can't be tried is not passed.

export const spec: ClusterSpec = {...defaultSpec, controllers: 1}
export const small: ClusterSpec = {...defaultSpec, brokers: 1, controllers: 1}
export const topic = 'orders'
export const values = Array.from({length: 10}, (_, index) => `value ${index} of orders`)
export const forever = new AbortController().signal
export const runtime = new DockerRuntime()

/** A state folder of its own is also an owner of its own: nothing else on the engine is in reach of the tests. */
export class Rig implements AsyncDisposable {
  private constructor(
    readonly endpoint: EngineEndpoint,
    readonly state: string,
    private readonly kept: string | undefined,
  ) {}

  static async open(): Promise<Rig> {
    const obstacle = await runtime.obstacle({spec})
    const resolved = await resolveEndpoint()
    if (obstacle !== undefined) throw new Error(`The tests of the docker runtime need a Docker engine. ${obstacle}`)
    if ('obstacle' in resolved) throw new Error(resolved.obstacle)
    const kept = process.env.XDG_STATE_HOME
    const state = mkdtempSync(join(tmpdir(), 'kx-docker-test-'))
    process.env.XDG_STATE_HOME = state
    return new Rig(resolved.endpoint, state, kept)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const things of await findOwned(this.endpoint)) await removeLeftovers(this.endpoint, things)
    if (this.kept === undefined) delete process.env.XDG_STATE_HOME
    else process.env.XDG_STATE_HOME = this.kept
    rmSync(this.state, {recursive: true, force: true})
  }
}

export function start(name: string, more: Partial<StartOptions> = {}): Promise<Cluster> {
  const progress = () => undefined
  return runtime.start({name, spec, ephemeral: true, signal: forever, timeoutMs: 120_000, progress, ...more})
}

export function ready(cluster: Cluster): Promise<void> {
  return untilReady(cluster, {timeoutMs: 150_000, signal: forever, progress: () => undefined})
}

/** A second witness beside the API: what Docker's own CLI says. */
export async function docker(...args: string[]): Promise<string> {
  return (await execa('docker', args)).stdout
}

export async function writeValues(kafka: Kafka): Promise<void> {
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

export async function imageHere(): Promise<string> {
  const images = ['apache/kafka:4.4.0', 'kx/kafka:4.4.0']
  for (const image of images) if (await docker('image', 'ls', '--quiet', image)) return image
  throw new Error(`neither of ${images.join(', ')} is here`)
}

export function node(cluster: Cluster, nodeId: number): ClusterNode {
  const found = cluster.nodes.find(one => one.nodeId === nodeId)
  if (!found) throw new Error(`no node ${nodeId}`)
  return found
}

export async function bytesOf(file: LogFile | undefined): Promise<Buffer> {
  if (!file) throw new Error('no such file')
  return file.open().read(0, file.size)
}

export function segment(files: readonly LogFile[]): LogFile | undefined {
  return files.find(file => file.name === '00000000000000000000.log')
}

/** `kx-life-broker-1` has its data in `kx-life_broker-1`. */
export function volumesOf(cluster: Cluster): string[] {
  return cluster.nodes.map(({place}) => (place.container ?? '').replace(/-(broker|controller)-/, '_$1-'))
}

/** Containers, networks and volumes of these tests, as the CLI lists them. */
export async function leftBehind(): Promise<string[]> {
  const filter = ['--filter', `label=kx.owner=${ownerLabel()}`]
  const lists = await Promise.all([
    docker('ps', '-a', '--format', '{{.Names}}', ...filter),
    docker('network', 'ls', '--format', '{{.Name}}', ...filter),
    docker('volume', 'ls', '--format', '{{.Name}}', ...filter),
  ])
  return lists.flatMap(list => list.split('\n')).filter(Boolean)
}

/** A container that does nothing, of the image that is there anyway. */
export async function foreignContainer(labels: Readonly<Record<string, string>>): Promise<string> {
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
