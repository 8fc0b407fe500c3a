import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {KxError} from '../../util/errors.js'
import type {Cluster, ClusterState, KafkaTool} from '../cluster.js'
import {signal, untilGone} from '../local/process.js'
import {findProcesses} from '../owner.js'
import {serviceName} from '../compose.js'
import {clusterFolder, removeState, updateState} from '../state.js'
import {composeCreate} from './compose-cli.js'
import {type Engine, isEngineGone} from './engine.js'
import {removeAllOf} from './leftovers.js'
import {DockerNode} from './node.js'
import {dumpInContainer, toolInContainer} from './tools.js'
import {createReader} from './volume-reader.js'

/** What `ClusterState.detail` holds for this runtime. */
export interface DockerDetail {
  /** The endpoint: `host`, `source` and `certificates` of `EngineEndpoint`. */
  readonly host: string
  readonly source: string
  readonly certificates?: string
  readonly project: string
  readonly image: string
  /** Path of the Compose file. */
  readonly file: string
  /** The owner label. */
  readonly owner: string
}

/** A cluster of containers. The handle holds nothing open: every question is a request of its own. */
export class DockerCluster implements Cluster {
  readonly runtime = 'docker'
  readonly name
  readonly spec
  readonly clusterId
  readonly ephemeral
  readonly bootstrapServers
  readonly nodes: readonly DockerNode[]
  readonly brokers: readonly DockerNode[]
  private recreating: Promise<void> | undefined

  constructor(
    state: ClusterState,
    private readonly engine: Engine,
    private readonly detail: DockerDetail,
  ) {
    this.name = state.name
    this.spec = state.spec
    this.clusterId = state.clusterId
    this.ephemeral = state.ephemeral
    const copies = join(clusterFolder(state.name), 'tmp')
    const {owner, image, project} = detail
    const reader = (nodeId: number) => {
      const volume = `${project}_${serviceName(state.spec, nodeId)}`
      return createReader(engine, {cluster: state.name, image, volume, owner})
    }
    const context = {engine, copies, owner, recreate: () => this.recreate(), reader}
    this.nodes = state.nodes.map(record => new DockerNode(context, record))
    this.brokers = this.nodes.filter(node => node.roles.includes('broker'))
    this.bootstrapServers = this.brokers.map(node => node.address).join(',')
  }

  /** Found by their labels, so that it works without the Compose file, and after a start that was broken off. */
  async down({wipe}: {readonly wipe: boolean}): Promise<void> {
    // With the data on the way out nobody needs a controlled shutdown, which takes as long as the slowest broker.
    if (wipe) await endCompose(this.detail.file)
    else await this.shutDown()
    await removeAllOf(this.engine, this.name, this.detail.owner, {keepVolumes: !wipe})
    if (wipe) removeState(this.name)
    else updateState(this.name, state => ({...state, phase: 'down'}))
  }

  async dumpLog(
    files: readonly {readonly name: string; readonly bytes: Buffer}[],
    flags: readonly string[],
    signal?: AbortSignal,
  ): Promise<string> {
    const context = {cluster: this.name, image: this.detail.image}
    return dumpInContainer(this.engine, context, files, flags, signal)
  }

  async runTool(tool: KafkaTool): Promise<{readonly stdout: string; readonly stderr: string}> {
    const {project, image} = this.detail
    return toolInContainer(this.engine, {cluster: this.name, project, image, spec: this.spec}, tool)
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Brokers first: a broker hands its leaderships over through the controllers. */
  private async shutDown(): Promise<void> {
    const controllers = this.nodes.filter(node => !node.roles.includes('broker'))
    for (const group of [this.brokers, controllers]) await Promise.all(group.map(shutDownNode))
  }

  private recreate(): Promise<void> {
    this.recreating ??= this.create().finally(() => {
      this.recreating = undefined
    })
    return this.recreating
  }

  private async create(): Promise<void> {
    const {file, project} = this.detail
    if (!existsSync(file)) {
      throw new KxError('environment', 'KX_COMPOSE', `The Compose file of cluster "${this.name}" is gone (${file}).`, {
        suggestions: [`Remove the cluster and its data: kx down --wipe --name ${this.name}`],
      })
    }
    await composeCreate(this.engine.endpoint, {project, file, timeoutMs: 60_000})
  }
}

/** A `docker compose` that outlived its kx would go on making what is removed here. */
async function endCompose(file: string): Promise<void> {
  for (const process of await findProcesses(`--file ${file} `)) {
    await signal(process, file, 'SIGKILL')
    await untilGone(process, 'docker compose', 10_000)
  }
}

/** A node that does not shut down in time is killed by the removal that follows; its data survive that as a crash. */
async function shutDownNode(node: DockerNode): Promise<void> {
  if ((await node.state()) === 'paused') await node.resume()
  if ((await node.state()) !== 'running') return
  await node.stop().catch(async error => {
    if (isEngineGone(error)) throw error
  })
}
