import {mkdir, rm, statfs, writeFile} from 'node:fs/promises'
import {KxError, messageOf} from '../../util/errors.js'
import {bytes} from '../../util/format.js'
import {interrupted} from '../../util/until.js'
import {brokerConfig, nodeIds, type Place, rolesOf, toProperties} from '../broker-config.js'
import {kafkaCacheFolder} from '../cache.js'
import type {Cluster, ClusterState, NodeRecord, Runtime, StartOptions} from '../cluster.js'
import {ownOwner} from '../owner.js'
import {choosePorts} from '../ports.js'
import {brokerIds, type ClusterSpec, controllerIds} from '../spec.js'
import {clusterFolder, loadState, notUsable, removeState, saveState, updateState} from '../state.js'
import {classArchive} from './class-archive.js'
import {LocalCluster, type LocalDetail} from './cluster.js'
import {nodeFolder, nodeFolders} from './folders.js'
import {formatNodes, randomUuid} from './format.js'
import {jarsObstacle, kafkaLibs} from './jars.js'
import {findJava} from './java.js'
import {type KafkaJvm, kafkaJvm, log4jConfig} from './jvm.js'
import {killLeftovers} from './leftovers.js'

const host = '127.0.0.1'

/** JVM processes of this machine, bound to loopback. */
export class LocalRuntime implements Runtime {
  readonly name = 'local'

  async obstacle({spec, kafkaHome}: Pick<StartOptions, 'spec' | 'kafkaHome'>): Promise<string | undefined> {
    if (process.platform === 'win32') return 'Kafka does not run reliably on Windows: use WSL'
    try {
      await findJava()
    } catch (error) {
      return messageOf(error)
    }
    return jarsObstacle({version: spec.kafkaVersion, ...(kafkaHome === undefined ? {} : {kafkaHome})})
  }

  /**
   * Starts a new cluster in its own folder. Takes as long as the processes need to run, not to be ready.
   * @throws KxError KX_CLUSTER_EXISTS, KX_PORT_TAKEN, KX_NO_JAVA, KX_OLD_JAVA, KX_STATE_FOLDER, … (environment);
   * KX_CONFIG_RESERVED, KX_FORMAT, KX_KAFKA_VERSION (usage); KX_INTERRUPTED
   */
  async start(options: StartOptions): Promise<Cluster> {
    const {name, spec, signal, progress} = options
    const ids = nodeIds(spec)
    // First, as it throws for settings that no node can have.
    brokerConfig(spec, 1, {listeners: {}, advertised: {}, voters: [], logDir: ''})
    const jvm = await findJvm(options)
    const folder = clusterFolder(name)
    const state = await reserve(options, jvm)
    try {
      await enoughRoom(folder, ids.length)
      const cache = kafkaCacheFolder(spec.kafkaVersion)
      const place = trainingPlace(portsIn(state))
      const archive = await classArchive({jvm, cache, clusterFolder: folder, place, signal, progress})
      stopIf(signal)
      progress(`formatting ${ids.length} nodes`)
      const places = placesOf(spec, portsIn(state), folder)
      await prepare({jvm, spec, places, clusterId: state.clusterId, cache, folder, signal})
      stopIf(signal)
      progress(`starting ${ids.length} JVMs`)
      updateState(name, now => ({...now, detail: {...now.detail, archive: archive ?? ''}}))
      return await startNodes(name, signal)
    } catch (error) {
      await killLeftovers(name)
      removeState(name)
      throw notUsable(error, folder, 'written')
    }
  }

  async attach(state: ClusterState): Promise<Cluster> {
    return new LocalCluster(state)
  }
}

async function startNodes(name: string, signal: AbortSignal): Promise<Cluster> {
  const cluster = new LocalCluster(loadState(name) as ClusterState)
  // All of them are awaited even when one fails, so that none is started after the cleaning up.
  const outcomes = await Promise.allSettled(cluster.nodes.map(node => node.start()))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  stopIf(signal)
  return cluster
}

async function findJvm({spec, kafkaHome, signal, progress}: StartOptions): Promise<KafkaJvm> {
  const java = await findJava()
  const {libs} = await kafkaLibs({
    version: spec.kafkaVersion,
    signal,
    progress,
    ...(kafkaHome === undefined ? {} : {kafkaHome}),
  })
  stopIf(signal)
  return kafkaJvm(java, spec.kafkaVersion, libs)
}

/** Takes the name and the ports, in one step that no other kx can interrupt. */
async function reserve({name, spec, ephemeral, portBase, signal}: StartOptions, jvm: KafkaJvm): Promise<ClusterState> {
  const owner = await ownOwner()
  const count = brokerIds(spec).length * 2 + controllerIds(spec).length
  return choosePorts({count, name, signal, ...(portBase === undefined ? {} : {portBase})}, ports => {
    if (loadState(name)) throw alreadyThere(name)
    const folder = clusterFolder(name)
    const detail: LocalDetail = {folder, java: jvm.java.executable, libs: jvm.libs, archive: '', ports: ports.join(',')}
    const state: ClusterState = {
      schema: 'kx/cluster/1',
      name,
      runtime: 'local',
      spec,
      clusterId: randomUuid(),
      ephemeral,
      owner,
      createdAt: new Date().toISOString(),
      phase: 'starting',
      nodes: placesOf(spec, ports, folder).map(recordOf(spec)),
      detail: {...detail},
    }
    saveState(state)
    return state
  })
}

interface NodePlace extends Place {
  readonly nodeId: number
}

/** Client ports first, so that the bootstrap servers are consecutive; then replication, then controllers. */
function placesOf(spec: ClusterSpec, ports: readonly number[], folder: string): NodePlace[] {
  const [brokers, controllers] = [brokerIds(spec), controllerIds(spec)]
  const port = (index: number) => ({host, port: ports[index] as number})
  const voters = controllers.map((nodeId, index) => ({nodeId, ...port(2 * brokers.length + index)}))
  return nodeIds(spec).map(nodeId => {
    const index = brokers.indexOf(nodeId)
    const voter = voters.find(found => found.nodeId === nodeId)
    const advertised = index < 0 ? {} : {CLIENT: port(index), REPL: port(brokers.length + index)}
    const listeners = {...advertised, ...(voter ? {CTRL: {host: voter.host, port: voter.port}} : {})}
    return {nodeId, listeners, advertised, voters, logDir: nodeFolders(nodeFolder(folder, nodeId)).data}
  })
}

function recordOf(spec: ClusterSpec): (place: NodePlace) => NodeRecord {
  return ({nodeId, listeners, logDir}) => {
    const address = listeners.CLIENT ?? listeners.CTRL
    return {nodeId, roles: rolesOf(spec, nodeId), address: `${address?.host}:${address?.port}`, logDir}
  }
}

/** The training node runs before all others, on ports that are theirs. */
function trainingPlace(ports: readonly number[]): Omit<Place, 'logDir'> {
  const [client, repl, ctrl] = ports.map(port => ({host, port})) as [Endpoint, Endpoint, Endpoint]
  const advertised = {CLIENT: client, REPL: repl}
  return {listeners: {...advertised, CTRL: ctrl}, advertised, voters: [{nodeId: 1, ...ctrl}]}
}

interface Endpoint {
  readonly host: string
  readonly port: number
}

interface Preparation {
  readonly jvm: KafkaJvm
  readonly spec: ClusterSpec
  readonly places: readonly NodePlace[]
  readonly clusterId: string
  readonly cache: string
  readonly folder: string
  readonly signal: AbortSignal
}

async function prepare({jvm, spec, places, clusterId, cache, folder, signal}: Preparation): Promise<void> {
  const nodes = places.map(place => ({nodeId: place.nodeId, roles: rolesOf(spec, place.nodeId), place}))
  const work = nodeFolder(folder, 0)
  await formatNodes({jvm, spec, clusterId, nodes, cache, work, signal})
  for (const place of places) {
    const folders = nodeFolders(nodeFolder(folder, place.nodeId))
    await mkdir(folders.tmp, {recursive: true})
    await writeFile(folders.properties, toProperties(brokerConfig(spec, place.nodeId, place)))
    await writeFile(folders.log4j, log4jConfig(folders.log))
  }
  await rm(work, {recursive: true, force: true})
}

/** A broker that meets a full disk dies in the middle of an experiment: better to say so before. */
async function enoughRoom(folder: string, nodes: number): Promise<void> {
  const needed = nodes * 64 * 1_048_576
  const {bavail, bsize} = await statfs(folder)
  if (bavail * bsize >= needed) return
  throw new KxError(
    'environment',
    'KX_STATE_FOLDER',
    `The disk of ${folder} is nearly full: ${bytes(bavail * bsize)} are free, and ${nodes} nodes need at least ${bytes(needed)}.`,
    {suggestions: ['Make room there, or point kx to another place: export XDG_STATE_HOME=/path/with/room']},
  )
}

function portsIn(state: ClusterState): number[] {
  return (state.detail.ports ?? '').split(',').map(Number)
}

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw interrupted('the start of the cluster')
}

function alreadyThere(name: string): KxError {
  return new KxError('environment', 'KX_CLUSTER_EXISTS', `There is a cluster "${name}" already.`, {
    suggestions: [`kx status --name ${name} shows it; kx down --name ${name} --wipe removes it; --name makes another.`],
  })
}
