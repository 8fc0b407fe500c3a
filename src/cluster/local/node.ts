import {join} from 'node:path'
import {nameOf, type TopicPartition} from '../../kafka/topic-partition.js'
import {KxError} from '../../util/errors.js'
import {until} from '../../util/until.js'
import type {ClusterNode, LogFile, NodeRecord, NodeState, PartitionFolder, Proof, Role} from '../cluster.js'
import {findProcesses, identify, type RunningProcess} from '../owner.js'
import {isFree, portOwner, taken} from '../ports.js'
import {loadState, updateState} from '../state.js'
import {nodeFolders} from './folders.js'
import {nodeMark} from './jvm.js'
import {filesIn, localFolder, tail} from './log-files.js'
import {isStopped, signal, startDetached, threadStates, untilGone} from './process.js'

/** Controlled shutdown moves leaders first; Kafka itself gives up after a while. */
const stopMs = 60_000
const killMs = 20_000
const freezeMs = 10_000

export interface LocalNodeOptions {
  readonly clusterName: string
  readonly record: NodeRecord
  /** The node's folder: settings, log, data. */
  readonly folder: string
  /** How to start it: known only where Java and the jars were looked up, so asked for when needed. */
  readonly command: (
    nodeId: number,
  ) => Promise<{readonly executable: string; readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv}>
}

/** A node that is a JVM on this machine. Its process is looked up at each use: other kx processes may have hurt it. */
export class LocalNode implements ClusterNode {
  readonly nodeId: number
  readonly roles: readonly Role[]
  readonly address: string

  constructor(private readonly options: LocalNodeOptions) {
    this.nodeId = options.record.nodeId
    this.roles = options.record.roles
    this.address = options.record.address
  }

  get place(): {readonly pid?: number} {
    const pid = this.record().pid
    return pid === undefined ? {} : {pid}
  }

  async state(): Promise<NodeState> {
    const running = await this.process()
    if (!running) return this.record().down ?? 'killed'
    const states = await threadStates(running.pid)
    if (states.length === 0) return this.record().down ?? 'killed' // It died between the two looks.
    return states.every(isStopped) ? 'paused' : 'running'
  }

  async stop(): Promise<Proof> {
    if ((await this.state()) === 'paused') throw this.wrongState('stopped', 'paused', 'kx heal resumes it')
    return this.end('stop', 'SIGTERM', stopMs)
  }

  async kill(): Promise<Proof> {
    return this.end('kill', 'SIGKILL', killMs)
  }

  async pause(): Promise<Proof> {
    return this.freeze('pause', 'SIGSTOP', states => states.every(isStopped), 'in state T')
  }

  async resume(): Promise<Proof> {
    return this.freeze('resume', 'SIGCONT', states => !states.some(isStopped), 'out of state T')
  }

  async start(): Promise<Proof> {
    const begun = now()
    const running = (await this.process()) ?? (await findProcesses(this.mark))[0]
    if (running) throw this.wrongState('started', `running already (pid ${running.pid})`, 'kx status shows the nodes')
    const port = Number(this.address.split(':').at(-1))
    if (!(await isFree(port))) throw taken(port, await portOwner(port))
    const command = await this.options.command(this.nodeId)
    // Forgotten first: should kx die between here and the next note, the process is found by its command line.
    this.note({pid: undefined, startTime: undefined, down: undefined})
    const {folder, output} = nodeFolders(this.options.folder)
    const {pid, startTime} = await startDetached({...command, folder, output})
    this.note({pid, startTime})
    return this.proof('start', begun, `java as pid ${pid}`, `pid ${pid} runs since ${startTime}`)
  }

  async files(partition: TopicPartition): Promise<readonly LogFile[]> {
    return filesIn(join(this.record().logDir, nameOf(partition)))
  }

  folder(partition: TopicPartition): PartitionFolder {
    return localFolder(join(this.record().logDir, nameOf(partition)))
  }

  async logTail(lines: number): Promise<readonly string[]> {
    const {log, output} = nodeFolders(this.options.folder)
    // What the JVM itself says (out of memory, a wrong option) never reaches the log of Kafka.
    return [...(await tail(log, lines)), ...(await tail(output, lines))].slice(-lines)
  }

  /** Takes down whatever runs as this node, in whatever state: for `down` and for cleaning up. */
  async terminate(name: 'SIGTERM' | 'SIGKILL', timeoutMs: number): Promise<void> {
    const found = [await this.process(), ...(await findProcesses(this.mark))].filter(process => process !== undefined)
    for (const process of found) {
      await signal(process, this.mark, name)
      // A stopped process takes no SIGTERM before it runs again.
      if (name === 'SIGTERM') await signal(process, this.mark, 'SIGCONT')
      await untilGone(process, this.title, timeoutMs)
    }
    if (found.length > 0) this.note({down: name === 'SIGTERM' ? 'stopped' : 'killed'})
  }

  private async end(fault: 'stop' | 'kill', name: 'SIGTERM' | 'SIGKILL', timeoutMs: number): Promise<Proof> {
    const target = await this.running(fault === 'stop' ? 'stopped' : 'killed')
    const begun = now()
    if (!(await signal(target, this.mark, name)))
      throw this.wrongState(fault, 'gone already', 'kx status shows the nodes')
    await untilGone(target, this.title, timeoutMs)
    this.note({down: fault === 'stop' ? 'stopped' : 'killed'})
    return this.proof(
      fault,
      begun,
      `${name} to pid ${target.pid}`,
      `pid ${target.pid} was gone ${since(begun)} ms later`,
    )
  }

  private async freeze(
    fault: 'pause' | 'resume',
    name: 'SIGSTOP' | 'SIGCONT',
    holds: (states: readonly string[]) => boolean,
    words: string,
  ): Promise<Proof> {
    const target = await this.running(`${fault}d`)
    const begun = now()
    if (!(await signal(target, this.mark, name)))
      throw this.wrongState(`${fault}d`, 'gone', 'kx status shows the nodes')
    // kill(2) returns before the threads stop: up to 19 ms were seen, in which a broker still answers.
    const threads = await until(
      `all threads of ${this.title} (pid ${target.pid}) to be ${words}`,
      async () => {
        const states = await threadStates(target.pid)
        return states.length > 0 && holds(states) ? states.length : undefined
      },
      {timeoutMs: freezeMs, everyMs: 1},
    )
    const evidence = `all ${threads} threads ${words} after ${since(begun)} ms`
    return this.proof(fault, begun, `${name} to pid ${target.pid}`, evidence)
  }

  /** What the command line of this node, and of no other process, holds. */
  private get mark(): string {
    return nodeMark(nodeFolders(this.options.folder).properties)
  }

  private get title(): string {
    return `node ${this.nodeId} of cluster "${this.options.clusterName}"`
  }

  /** As last written by any kx process; the node as this handle was made, once the cluster is gone. */
  private record(): NodeRecord {
    const state = loadState(this.options.clusterName)
    return state?.nodes.find(({nodeId}) => nodeId === this.nodeId) ?? this.options.record
  }

  private async process(): Promise<RunningProcess | undefined> {
    const {pid, startTime} = this.record()
    if (pid === undefined) return (await findProcesses(this.mark))[0]
    const found = await identify(pid)
    return found && found.startTime === startTime && found.commandLine.includes(this.mark) ? found : undefined
  }

  private async running(done: string): Promise<RunningProcess> {
    const found = await this.process()
    if (found) return found
    throw this.wrongState(done, this.record().down ?? 'killed', 'kx heal starts what is down')
  }

  private note(change: {
    pid?: number | undefined
    startTime?: string | undefined
    down?: 'stopped' | 'killed' | undefined
  }): void {
    updateState(this.options.clusterName, state => ({
      ...state,
      nodes: state.nodes.map(node =>
        node.nodeId === this.nodeId ? (withoutUndefined({...node, ...change}) as NodeRecord) : node,
      ),
    }))
  }

  private proof(fault: Proof['fault'], begun: Begun, mechanism: string, evidence: string): Proof {
    return {fault, nodeId: this.nodeId, mechanism, evidence, ...begun, provenMs: performance.now()}
  }

  private wrongState(done: string, state: string, cure: string): KxError {
    return new KxError('environment', 'KX_NODE_STATE', `${this.title} can't be ${done}: it is ${state}.`, {
      suggestions: [`${cure}.`],
    })
  }
}

interface Begun {
  readonly startedMs: number
  readonly wallMs: number
}

function now(): Begun {
  return {startedMs: performance.now(), wallMs: Date.now()}
}

function since({startedMs}: Begun): number {
  return Math.round(performance.now() - startedMs)
}

function withoutUndefined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}
