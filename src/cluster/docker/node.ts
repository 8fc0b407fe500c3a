import type {Readable} from 'node:stream'
import type Docker from 'dockerode'
import {type TopicPartition, nameOf} from '../../kafka/topic-partition.js'
import {KxError} from '../../util/errors.js'
import {duration} from '../../util/format.js'
import {until} from '../../util/until.js'
import type {ClusterNode, LogFile, NodeRecord, NodeState, PartitionFolder, Proof} from '../cluster.js'
import {type Engine, isEngineGone, reasonOf, statusOf} from './engine.js'
import {filesInArchive} from './files.js'
import {identityFrom} from './labels.js'
import {DockerFolder} from './partition-folder.js'
import {linesOf} from './streams.js'
import {removeReader} from './volume-reader.js'

/** What the nodes of one cluster share. */
export interface NodeContext {
  readonly engine: Engine
  /** Where copies of a container's files may go. */
  readonly copies: string
  /** The label that a container must carry before kx touches it. */
  readonly owner: string
  /** Makes the containers anew after `down` has removed them; the data are in the volumes. */
  recreate(): Promise<void>
  /** A container by which a node's volume can be read after its own is gone; `undefined` if the volume is gone too. */
  reader(nodeId: number): Promise<string | undefined>
}

/** A controlled shutdown is over in a second or two; the controller may have to fence first. */
const stopTimeoutMs = 60_000
const killTimeoutMs = 20_000
const copyMs = 60_000

/** A container. Looked at anew before and after each blow: what it was a moment ago says nothing. */
export class DockerNode implements ClusterNode {
  readonly nodeId
  readonly roles
  readonly address
  readonly place
  private readonly container: string
  private readonly logDir: string

  constructor(
    private readonly context: NodeContext,
    {nodeId, roles, address, container, logDir}: NodeRecord,
  ) {
    this.nodeId = nodeId
    this.roles = roles
    this.address = address
    this.container = container ?? ''
    this.logDir = logDir
    this.place = {container: this.container}
  }

  async state(): Promise<NodeState> {
    return stateOf(await this.inspect())
  }

  async stop(): Promise<Proof> {
    const id = await this.idIn('stop', ['running'])
    return this.proven('stop', `docker kill --signal SIGTERM ${this.container}`, async startedMs => {
      // Not the API's own stop: that turns into a SIGKILL when it takes too long, which is another experiment.
      await this.act('stop', docker => docker.getContainer(id).kill({signal: 'SIGTERM'}))
      const info = await this.untilDown(stopTimeoutMs)
      if (stateOf(info) === 'killed') throw this.unproven('stop', `it was killed (exit code ${info.State.ExitCode})`)
      return `inspect: ${info.State.Status}, exit code ${info.State.ExitCode}, ${since(startedMs)} after SIGTERM`
    })
  }

  async kill(): Promise<Proof> {
    const id = await this.idIn('kill', ['running', 'paused'])
    return this.proven('kill', `docker kill --signal SIGKILL ${this.container}`, async startedMs => {
      await this.act('kill', docker => docker.getContainer(id).kill({signal: 'SIGKILL'}))
      const info = await this.untilDown(killTimeoutMs)
      if (stateOf(info) !== 'killed') throw this.unproven('kill', `it ended with exit code ${info.State.ExitCode}`)
      return `inspect: ${info.State.Status}, exit code ${info.State.ExitCode}, ${since(startedMs)} after SIGKILL`
    })
  }

  async pause(): Promise<Proof> {
    const id = await this.idIn('pause', ['running'])
    return this.proven('pause', `docker pause ${this.container}`, async startedMs => {
      try {
        await this.act('pause', docker => docker.getContainer(id).pause())
      } catch (error) {
        throw isEngineGone(error) || statusOf(error) === undefined ? error : this.cannotPause(error)
      }
      const returned = since(startedMs)
      const info = await this.inspect()
      if (stateOf(info) !== 'paused') throw this.unproven('pause', `inspect says it is ${info?.State.Status}`)
      return `docker pause returned after ${returned}; inspect: Status=${info?.State.Status}, Paused=${info?.State.Paused}`
    })
  }

  async resume(): Promise<Proof> {
    const id = await this.idIn('resume', ['paused'])
    return this.proven('resume', `docker unpause ${this.container}`, async startedMs => {
      await this.act('resume', docker => docker.getContainer(id).unpause())
      const returned = since(startedMs)
      const info = await this.inspect()
      if (stateOf(info) !== 'running') throw this.unproven('resume', `inspect says it is ${info?.State.Status}`)
      return `docker unpause returned after ${returned}; inspect: Status=${info?.State.Status}, Paused=${info?.State.Paused}`
    })
  }

  async start(): Promise<Proof> {
    if (!(await this.inspect())) await this.context.recreate()
    const id = await this.idIn('start', ['stopped', 'killed'])
    return this.proven('start', `docker start ${this.container}`, async startedMs => {
      await this.act('start', docker => docker.getContainer(id).start())
      const info = await this.inspect()
      if (stateOf(info) !== 'running') throw this.unproven('start', `inspect says it is ${info?.State.Status}`)
      return `inspect: ${info?.State.Status} as the engine's pid ${info?.State.Pid}, ${since(startedMs)} after docker start`
    })
  }

  /** Through the archive API: it reads the container's file system and volumes whatever state the container is in. */
  async files(partition: TopicPartition): Promise<readonly LogFile[]> {
    const info = await this.inspect()
    if (!info) throw this.gone()
    const path = `${this.logDir}/${nameOf(partition)}`
    // A running broker may truncate or delete a file while the engine copies it, and the archive then ends early.
    const attempts = stateOf(info) === 'running' ? 3 : 1
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.copied(info.Id, path)
      } catch (error) {
        if (statusOf(error) === 404) return []
        if (error instanceof KxError || attempt >= attempts) throw error
      }
    }
  }

  folder(partition: TopicPartition): PartitionFolder {
    const {engine, copies} = this.context
    let reader: Promise<string | undefined> | undefined
    const found = async () => {
      const info = await this.inspect()
      if (info) return {id: info.Id, isRunning: stateOf(info) === 'running'}
      reader ??= this.context.reader(this.nodeId)
      const id = await reader
      if (id === undefined) throw this.gone()
      return {id, isRunning: false}
    }
    const release = async () => {
      const id = await reader?.catch(() => undefined)
      if (id !== undefined) await removeReader(engine, id)
    }
    const path = `${this.logDir}/${nameOf(partition)}`
    return new DockerFolder({engine, container: this.container, found, release, path, copies})
  }

  async logTail(lines: number): Promise<readonly string[]> {
    const info = await this.inspect()
    if (!info) return []
    const output = await this.act('read the log of', docker =>
      docker.getContainer(info.Id).logs({stdout: true, stderr: true, follow: false, tail: lines}),
    )
    return linesOf(output).slice(-lines)
  }

  /** @throws KxError KX_FOREIGN_CONTAINER (environment) if the name belongs to a container of somebody else */
  async inspect(): Promise<Docker.ContainerInspectInfo | undefined> {
    let info: Docker.ContainerInspectInfo
    try {
      info = await this.act('look at', docker => docker.getContainer(this.container).inspect())
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
    if (identityFrom(info.Config.Labels)?.owner === this.context.owner) return info
    throw new KxError(
      'environment',
      'KX_FOREIGN_CONTAINER',
      `The container ${this.container} is not the one that kx made: its labels are missing or name another owner. kx does not touch it.`,
      {suggestions: ['Rename or remove that container, or take another --name.']},
    )
  }

  private async copied(id: string, path: string): Promise<LogFile[]> {
    const archive = await this.act(`copy ${path} from`, docker => docker.getContainer(id).getArchive({path}))
    const stream = archive as Readable
    const late = () => stream.destroy(new Error(`copying ${path} took longer than ${copyMs / 1_000} s`))
    const timer = setTimeout(late, copyMs) // An engine that hangs in the middle of its answer must not hang a trial.
    try {
      return await filesInArchive(stream)
    } finally {
      clearTimeout(timer)
    }
  }

  private async idIn(fault: Proof['fault'], allowed: readonly NodeState[]): Promise<string> {
    const info = await this.inspect()
    if (!info) throw this.gone()
    const state = stateOf(info)
    if (allowed.includes(state)) return info.Id
    throw new KxError(
      'environment',
      'KX_NODE_STATE',
      `Node ${this.nodeId} is ${state}, so it can't be told to ${fault}.`,
    )
  }

  private async proven(
    fault: Proof['fault'],
    mechanism: string,
    blow: (startedMs: number) => Promise<string>,
  ): Promise<Proof> {
    const wallMs = Date.now()
    const startedMs = performance.now()
    const evidence = await blow(startedMs)
    return {fault, nodeId: this.nodeId, mechanism, evidence, startedMs, provenMs: performance.now(), wallMs}
  }

  private async untilDown(timeoutMs: number): Promise<Docker.ContainerInspectInfo> {
    return until(
      `container ${this.container} to exit`,
      async () => {
        const info = await this.inspect()
        if (!info) throw this.gone()
        return info.State.Running ? undefined : info
      },
      {timeoutMs, everyMs: 20, missing: async () => `Its last line: ${(await this.logTail(1))[0] ?? 'none'}`},
    )
  }

  private act<T>(verb: string, ask: (docker: Docker) => Promise<T>): Promise<T> {
    return this.context.engine.call(`${verb} ${this.container}`, ask)
  }

  private gone(): KxError {
    return new KxError('environment', 'KX_CONTAINER_GONE', `The container ${this.container} does not exist any more.`, {
      suggestions: ['kx heal makes it anew on its old data, if its volume is still there.'],
    })
  }

  private unproven(fault: Proof['fault'], why: string): KxError {
    const message = `The fault "${fault}" on node ${this.nodeId} could not be proven: ${why}.`
    return new KxError('environment', 'KX_UNPROVEN', message)
  }

  private cannotPause(error: unknown): KxError {
    const reason = reasonOf(error instanceof KxError ? error.cause : error)
    return new KxError('environment', 'KX_CANNOT_PAUSE', `This engine can't pause containers: ${reason}.`, {
      suggestions: [
        'Rootless engines and Podman need cgroup v2 with a delegated freezer.',
        'Take --runtime local, which pauses processes itself.',
      ],
      cause: error,
    })
  }
}

/** `killed` is what ended by SIGKILL (128 + 9), whoever sent it: kx, a person, or the kernel for want of memory. */
export function stateOf(info: Docker.ContainerInspectInfo | undefined): NodeState {
  if (!info) return 'stopped'
  const {Paused, Running, ExitCode} = info.State
  if (Paused) return 'paused'
  if (Running) return 'running'
  return ExitCode === 137 ? 'killed' : 'stopped'
}

function since(startedMs: number): string {
  return duration(performance.now() - startedMs)
}
