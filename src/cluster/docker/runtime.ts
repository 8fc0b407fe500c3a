import {randomBytes} from 'node:crypto'
import {mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {compareVersions} from '../../kafka/versions.js'
import {KxError, messageOf} from '../../util/errors.js'
import {plural} from '../../util/format.js'
import {interrupted} from '../../util/until.js'
import {brokerConfig, nodeIds, rolesOf} from '../broker-config.js'
import type {Cluster, ClusterState, Runtime, StartOptions} from '../cluster.js'
import {addressOf, containerName, logDir, renderCompose} from '../compose.js'
import {ownOwner} from '../owner.js'
import {choosePorts} from '../ports.js'
import {brokerIds} from '../spec.js'
import {clusterFolder, inStateFolder, loadState, removeState, saveState} from '../state.js'
import {composeObstacle, composeUp} from './compose-cli.js'
import {type DockerDetail, DockerCluster} from './docker-cluster.js'
import {type EngineEndpoint, type Resolved, resolveEndpoint} from './endpoint.js'
import {Engine, isEngineGone} from './engine.js'
import {imageObstacle, obtainImage} from './image.js'
import {identityOf, labelsOf, ownerLabel} from './labels.js'
import {isForeignProject, removeAllOf, thingsOf} from './leftovers.js'

/** Engine 20.10. */
const oldestApi = '1.41'

/** Runs nodes as containers of one Compose project: Compose makes and starts them, the engine's API does all the rest. */
export class DockerRuntime implements Runtime {
  readonly name = 'docker'
  private resolved: Promise<Resolved> | undefined

  async obstacle({spec, image}: Pick<StartOptions, 'spec' | 'image'>): Promise<string | undefined> {
    const resolved = await this.resolve()
    if ('obstacle' in resolved) return resolved.obstacle
    const {endpoint} = resolved
    const engine = Engine.at(endpoint)
    const early = (await composeObstacle(endpoint)) ?? (await engineObstacle(engine))
    return early ?? imageObstacle(engine, {kafkaVersion: spec.kafkaVersion, ...(image ? {asked: image} : {})})
  }

  async start(options: StartOptions): Promise<Cluster> {
    const {name, spec, signal, progress} = options
    // What is wrong with the settings is said before anything exists.
    for (const id of nodeIds(spec)) brokerConfig(spec, id, {listeners: {}, advertised: {}, voters: [], logDir})
    const engine = Engine.at(await this.endpoint())
    const image = await obtainImage(
      engine,
      {kafkaVersion: spec.kafkaVersion, ...(options.image ? {asked: options.image} : {})},
      {signal, progress},
    )
    const owner = await ownOwner()
    await refuseLeftovers(engine, name)
    const project = await projectName(engine, name)
    if (signal.aborted) throw interrupted('the start of the cluster')
    const state = await choosePorts(
      {count: brokerIds(spec).length, name, signal, ...(options.portBase ? {portBase: options.portBase} : {})},
      ports => prepared({options, engine, image, project, owner}, ports),
    )
    const detail = detailOf(state)
    try {
      progress(`starting ${plural(nodeIds(spec).length, 'container')} of ${image}`)
      await composeUp(engine.endpoint, {project, file: detail.file, signal, timeoutMs: options.timeoutMs})
      return new DockerCluster(state, engine, detail)
    } catch (error) {
      await nothingLeft(engine, state, detail, error)
      throw error
    }
  }

  /** Asks nothing: whether the engine still answers shows with the first question to a node. */
  async attach(state: ClusterState): Promise<Cluster> {
    const detail = detailOf(state)
    const {host, source, certificates} = detail
    const endpoint = {host, source, ...(certificates ? {certificates} : {})}
    return new DockerCluster(state, Engine.at(endpoint), detail)
  }

  private resolve(): Promise<Resolved> {
    this.resolved ??= resolveEndpoint()
    return this.resolved
  }

  private async endpoint(): Promise<EngineEndpoint> {
    const resolved = await this.resolve()
    if ('endpoint' in resolved) return resolved.endpoint
    throw new KxError('environment', 'KX_NO_RUNTIME', resolved.obstacle, {
      suggestions: ['kx doctor', '--runtime local'],
    })
  }
}

async function engineObstacle(engine: Engine): Promise<string | undefined> {
  try {
    const {ApiVersion, Version} = await engine.call('say its version', docker => docker.version(), 10_000)
    if (compareVersions(ApiVersion, oldestApi) >= 0) return undefined
    return `The Docker engine is ${Version} (API ${ApiVersion}), and kx needs 20.10 (API ${oldestApi}) or later.`
  } catch (error) {
    const {host, source} = engine.endpoint
    return isEngineGone(error) ? `No Docker engine answers at ${host} (${source}).` : messageOf(error)
  }
}

interface Plan {
  readonly options: StartOptions
  readonly engine: Engine
  readonly image: string
  readonly project: string
  readonly owner: ClusterState['owner']
}

/** Writes state and Compose file: from here on another kx can find and remove what the next step makes. */
function prepared({options, engine, image, project, owner}: Plan, ports: readonly number[]): ClusterState {
  const {name, spec, ephemeral} = options
  if (loadState(name)) throw alreadyThere(name)
  const clientPorts = Object.fromEntries(brokerIds(spec).map((id, index) => [id, ports[index] as number]))
  const folder = clusterFolder(name)
  const file = join(folder, 'compose.yml')
  const detail: DockerDetail = {...engine.endpoint, project, image, file, owner: ownerLabel(owner.user, owner.host)}
  const state: ClusterState = {
    schema: 'kx/cluster/1',
    name,
    runtime: 'docker',
    spec,
    clusterId: randomBytes(16).toString('base64url'),
    ephemeral,
    owner,
    createdAt: new Date().toISOString(),
    phase: 'starting',
    nodes: nodeIds(spec).map(id => ({
      nodeId: id,
      roles: rolesOf(spec, id),
      address: addressOf(spec, id, clientPorts),
      container: containerName(project, spec, id),
      logDir,
    })),
    detail: {...detail},
  }
  const compose = renderCompose(spec, {
    project,
    image,
    clusterId: state.clusterId,
    clientPorts,
    labels: labelsOf(identityOf(name, ephemeral, owner)),
  })
  inStateFolder(file, () => {
    mkdirSync(folder, {recursive: true})
    writeFileSync(file, compose)
  })
  saveState(state)
  return state
}

function alreadyThere(name: string): KxError {
  const suggestions = [
    `kx status --name ${name} shows it; kx down --name ${name} --wipe removes it; --name makes another.`,
  ]
  return new KxError('environment', 'KX_CLUSTER_EXISTS', `There is a cluster "${name}" already.`, {suggestions})
}

/** On one engine another user may have a cluster of the same name: then the project's name gets the owner's mark. */
async function projectName(engine: Engine, name: string): Promise<string> {
  const owner = ownerLabel()
  const plain = `kx-${name}`
  if (!(await isForeignProject(engine, plain, owner))) return plain
  const mark = Buffer.from(owner)
    .reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7)
    .toString(36)
  return `${plain}-${mark}`
}

/** Without state there is no way to use what is there, and data of a lost cluster are not kx's to delete unasked. */
async function refuseLeftovers(engine: Engine, name: string): Promise<void> {
  const things = await thingsOf(engine, name, ownerLabel())
  const count = (part: 'containers' | 'networks' | 'volumes') =>
    things.reduce((sum, thing) => sum + thing[part].length, 0)
  if (count('containers') + count('networks') + count('volumes') === 0) return
  const filter = `--filter label=kx.cluster=${name} --filter label=kx.owner=${ownerLabel()}`
  throw new KxError(
    'environment',
    'KX_LEFTOVERS',
    `The Docker engine still has ${plural(count('containers'), 'container')} and ${plural(count('volumes'), 'volume')} of an earlier cluster "${name}" of yours, but its state in ${clusterFolder(name)} is gone.`,
    {
      suggestions: [
        'Take another --name.',
        `Or delete them with their data: docker rm -f $(docker ps -aq ${filter}); docker volume rm $(docker volume ls -q ${filter})`,
      ],
    },
  )
}

/** If even the removal fails, the state stays, so that `kx clean` can try again. */
async function nothingLeft(engine: Engine, state: ClusterState, {owner}: DockerDetail, error: unknown): Promise<void> {
  try {
    await removeAllOf(engine, state.name, owner, {keepVolumes: false})
    removeState(state.name)
  } catch (failure) {
    throw new KxError(
      'environment',
      'KX_LEFT_BEHIND',
      `${messageOf(error)} Removing what was started failed too: ${messageOf(failure)}`,
      {suggestions: ['When the Docker engine answers again: kx clean'], cause: new AggregateError([error, failure])},
    )
  }
}

function detailOf({name, detail}: ClusterState): DockerDetail {
  const {host, source = 'state', certificates, project, image, file, owner} = detail
  if (host && project && image && file && owner) {
    return {host, source, project, image, file, owner, ...(certificates ? {certificates} : {})}
  }
  throw new KxError(
    'environment',
    'KX_CLUSTER_STATE',
    `The state of cluster "${name}" lacks what the docker runtime needs.`,
    {
      suggestions: [
        `Remove ${clusterFolder(name)}, then what the engine still has of it: docker ps -a --filter label=kx.cluster=${name}`,
      ],
    },
  )
}
