import {randomUUID} from 'node:crypto'
import {existsSync} from 'node:fs'
import {mkdir, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {KxError} from '../../util/errors.js'
import type {Cluster, ClusterNode, ClusterState, KafkaTool} from '../cluster.js'
import type {ClusterSpec} from '../spec.js'
import {removeState, updateState} from '../state.js'
import {nodeFolder, nodeFolders} from './folders.js'
import {kafkaLibs} from './jars.js'
import {findJava} from './java.js'
import {classPathOf, dumpLogClass, jvmEnvironment, nodeArguments, toolOptions} from './jvm.js'
import {killLeftovers} from './leftovers.js'
import {LocalNode} from './node.js'
import {runTool} from './process.js'
import {toolFailed} from '../tool.js'

/** What the local runtime keeps in `ClusterState.detail`. */
export interface LocalDetail {
  readonly folder: string
  readonly java: string
  readonly libs: string
  /** Path of the class archive; empty if there is none. */
  readonly archive: string
  /** All ports of the cluster, also those that are no node's address. */
  readonly ports: string
}

const brokersMs = 40_000
const controllersMs = 15_000
const killMs = 20_000
const refetchMs = 600_000

/** A cluster of JVMs on this machine. */
export class LocalCluster implements Cluster {
  readonly runtime = 'local'
  readonly name: string
  readonly spec: ClusterSpec
  readonly clusterId: string
  readonly ephemeral: boolean
  readonly nodes: readonly ClusterNode[]
  readonly brokers: readonly ClusterNode[]
  readonly bootstrapServers: string
  readonly #detail: LocalDetail
  readonly #nodes: readonly LocalNode[]

  constructor(state: ClusterState) {
    this.name = state.name
    this.spec = state.spec
    this.clusterId = state.clusterId
    this.ephemeral = state.ephemeral
    this.#detail = state.detail as unknown as LocalDetail
    this.#nodes = state.nodes.map(
      record =>
        new LocalNode({
          clusterName: state.name,
          record,
          folder: nodeFolder(this.#detail.folder, record.nodeId),
          command: nodeId => this.#command(nodeId),
        }),
    )
    this.nodes = this.#nodes
    this.brokers = this.#nodes.filter(({roles}) => roles.includes('broker'))
    this.bootstrapServers = this.brokers.map(({address}) => address).join(',')
  }

  /**
   * Stops brokers first, so that they can hand their leaders over, then controllers; kills what does not end in time.
   * With `wipe` all are killed at once: nobody will ever read their data again.
   */
  async down({wipe}: {readonly wipe: boolean}): Promise<void> {
    if (wipe) {
      await killLeftovers(this.name)
      removeState(this.name)
      return
    }
    const [brokers, controllers] = [true, false].map(isBroker =>
      this.#nodes.filter(({roles}) => roles.includes('broker') === isBroker),
    ) as [LocalNode[], LocalNode[]]
    await Promise.all(brokers.map(node => end(node, brokersMs)))
    await Promise.all(controllers.map(node => end(node, controllersMs)))
    updateState(this.name, state => ({...state, phase: 'down'}))
  }

  async dumpLog(
    files: readonly {readonly name: string; readonly bytes: Buffer}[],
    flags: readonly string[],
    signal?: AbortSignal,
  ): Promise<string> {
    const folder = join(this.#detail.folder, 'tmp', `dump-${randomUUID()}`)
    try {
      const paths = await Promise.all(
        files.map(async ({name, bytes}, index) => {
          // A folder each: replicas of one partition have files of the same name, and the tool asks for the bare name.
          const path = join(folder, String(index), name)
          await mkdir(join(folder, String(index)), {recursive: true})
          await writeFile(path, bytes)
          return path
        }),
      )
      return await this.#dump(paths, flags, signal)
    } finally {
      await rm(folder, {recursive: true, force: true})
    }
  }

  async runTool(tool: KafkaTool): Promise<{readonly stdout: string; readonly stderr: string}> {
    const folder = join(this.#detail.folder, 'tmp', `tool-${randomUUID()}`)
    const path = (name: string) => join(folder, name)
    try {
      await mkdir(folder, {recursive: true})
      await Promise.all(tool.files.map(({name, text}) => writeFile(path(name), text)))
      const {java, libs} = await this.#found()
      const args = tool.arguments({bootstrapServers: this.bootstrapServers, path})
      const log4j = `-Dlog4j2.configurationFile=${path('log4j2.properties')}`
      const {exitCode, stdout, stderr} = await runTool({
        executable: java,
        args: [...toolOptions, ...this.#archive, log4j, tool.mainClass, ...args],
        env: jvmEnvironment({classPath: classPathOf(libs)}),
        what: tool.what,
        timeoutMs: tool.timeoutMs,
        signal: tool.signal,
      })
      if (exitCode !== 0) throw toolFailed(tool.what, exitCode, stderr || stdout)
      return {stdout, stderr}
    } finally {
      await rm(folder, {recursive: true, force: true})
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #dump(paths: readonly string[], flags: readonly string[], signal: AbortSignal | undefined): Promise<string> {
    const {java, libs} = await this.#found()
    const {exitCode, stdout, stderr} = await runTool({
      executable: java,
      args: [
        ...toolOptions,
        ...this.#archive,
        dumpLogClass(this.spec.kafkaVersion),
        ...flags,
        '--files',
        paths.join(','),
      ],
      env: jvmEnvironment({classPath: classPathOf(libs)}),
      what: "Kafka's dump tool",
      timeoutMs: 120_000,
      ...(signal ? {signal} : {}),
    })
    if (exitCode === 0) return stdout
    throw new KxError(
      'environment',
      'KX_DUMP_TOOL',
      `Kafka's dump tool failed with exit code ${exitCode}: ${stderr.trim().split('\n').at(0) ?? ''}`,
    )
  }

  /** Java may have been updated since the cluster was made, and the cache emptied: both can be had again. */
  async #found(): Promise<{readonly java: string; readonly libs: string}> {
    const {java, libs} = this.#detail
    const version = this.spec.kafkaVersion
    const signal = AbortSignal.timeout(refetchMs)
    return {
      java: existsSync(java) ? java : (await findJava()).executable,
      libs: existsSync(libs) ? libs : (await kafkaLibs({version, signal, progress: () => {}})).libs,
    }
  }

  /**
   * Half of the time that a tool takes is the loading of classes that brokers load too. A wrong or missing archive is no
   * error for Java: it starts without, and must not fill the log with that.
   */
  get #archive(): readonly string[] {
    const {archive} = this.#detail
    return archive ? [`-XX:SharedArchiveFile=${archive}`, '-Xlog:cds=off,cds+dynamic=off'] : []
  }

  async #command(nodeId: number) {
    const {folder} = this.#detail
    const {java, libs} = await this.#found()
    const {heapMiB, compiler} = this.spec
    return {
      executable: java,
      args: nodeArguments({
        ...nodeFolders(nodeFolder(folder, nodeId)),
        heapMiB,
        compiler,
        archive: this.#archive,
      }),
      env: jvmEnvironment({classPath: classPathOf(libs)}),
    }
  }
}

async function end(node: LocalNode, timeoutMs: number): Promise<void> {
  await node.terminate('SIGTERM', timeoutMs).catch(async error => {
    if (!(error instanceof KxError && error.code === 'KX_TIMEOUT')) throw error
    await node.terminate('SIGKILL', killMs)
  })
}
