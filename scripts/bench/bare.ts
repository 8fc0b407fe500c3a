import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {execa} from 'execa'
import {brokerConfig, nodeIds, type Place, rolesOf, toProperties} from '../../src/cluster/broker-config.js'
import type {Cluster, ClusterNode} from '../../src/cluster/cluster.js'
import {nodeFolders} from '../../src/cluster/local/folders.js'
import {type KafkaJvm, log4jConfig, nodeArguments, toolOptions} from '../../src/cluster/local/jvm.js'
import {tail} from '../../src/cluster/local/log-files.js'
import {identify} from '../../src/cluster/owner.js'
import {brokerIds, type ClusterSpec, controllerIds} from '../../src/cluster/spec.js'

export interface BareCluster {
  /** Formats and starts the nodes; resolves as soon as all processes run. */
  start(): Promise<Cluster>
  /** CPU seconds that the nodes have used so far. */
  cpuSeconds(): number
  kill(): Promise<void>
}

export interface BareOptions {
  readonly jvm: KafkaJvm
  readonly spec: ClusterSpec
  readonly ports: readonly number[]
  readonly folder: string
  readonly archive: string
}

const clusterId = 'kxBenchBareScript00000'

/**
 * The same nodes with the same settings, started as a person would who knows how: a shell script that formats all nodes
 * in parallel with kafka-storage, then starts the JVMs with the same options. kx only writes the files beforehand and
 * looks when the cluster is ready.
 */
export function bareCluster({jvm, spec, ports, folder, archive}: BareOptions): BareCluster {
  const places = placesOf(spec, ports, folder)
  const script = join(folder, 'start.sh')
  const java = `"${jvm.java.executable}"`
  const format: string[] = []
  const start: string[] = []
  for (const [nodeId, place] of places) {
    const files = nodeFolders(join(folder, String(nodeId)))
    mkdirSync(files.tmp, {recursive: true})
    writeFileSync(files.properties, toProperties(brokerConfig(spec, nodeId, place)))
    writeFileSync(files.log4j, log4jConfig(files.log))
    const args = nodeArguments({
      ...files,
      heapMiB: spec.heapMiB,
      compiler: spec.compiler,
      archive: archive ? [`-XX:SharedArchiveFile=${archive}`, '-Xlog:cds=off,cds+dynamic=off'] : [],
    })
    format.push(
      `${java} ${toolOptions.join(' ')} kafka.tools.StorageTool format -t ${clusterId} -c ${files.properties} >/dev/null &`,
    )
    start.push(`setsid ${java} ${args.join(' ')} >${files.output} 2>&1 </dev/null &\necho ${nodeId} $!`)
  }
  writeFileSync(script, ['set -e', ...format, 'wait', ...start, ''].join('\n'))
  const pids = new Map<number, number>()
  return {
    async start() {
      const {stdout} = await execa('bash', [script], {env: {CLASSPATH: jvm.classPath}})
      for (const line of stdout.split('\n')) {
        const [nodeId, pid] = line.split(' ').map(Number) as [number, number]
        pids.set(nodeId, pid)
      }
      return handleOn(spec, places, pids, folder)
    },
    cpuSeconds: () => [...pids.values()].reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    async kill() {
      for (const [nodeId, pid] of pids) {
        const found = await identify(pid)
        if (found?.commandLine.includes(nodeFolders(join(folder, String(nodeId))).properties))
          process.kill(pid, 'SIGKILL')
      }
    },
  }
}

/** User and system time of a process, all threads. 0 if it is gone. */
export function cpuSecondsOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

function placesOf(spec: ClusterSpec, ports: readonly number[], folder: string): Map<number, Place> {
  const host = '127.0.0.1'
  const [brokers, controllers] = [brokerIds(spec), controllerIds(spec)]
  const port = (index: number) => ({host, port: ports[index] as number})
  const voters = controllers.map((nodeId, index) => ({nodeId, ...port(2 * brokers.length + index)}))
  return new Map(
    nodeIds(spec).map(nodeId => {
      const index = brokers.indexOf(nodeId)
      const advertised = index < 0 ? {} : {CLIENT: port(index), REPL: port(brokers.length + index)}
      const voter = voters.find(found => found.nodeId === nodeId)
      const listeners = {...advertised, ...(voter ? {CTRL: {host, port: voter.port}} : {})}
      return [nodeId, {listeners, advertised, voters, logDir: nodeFolders(join(folder, String(nodeId))).data}]
    }),
  )
}

/** Just enough of a cluster for `untilReady`. */
function handleOn(
  spec: ClusterSpec,
  places: ReadonlyMap<number, Place>,
  pids: ReadonlyMap<number, number>,
  folder: string,
): Cluster {
  const never = async (): Promise<never> => {
    throw new Error('The bare cluster of a bench is only looked at.')
  }
  const nodes = [...places].map(([nodeId, {listeners}]): ClusterNode => {
    const {host, port} = (listeners.CLIENT ?? listeners.CTRL) as {host: string; port: number}
    const pid = pids.get(nodeId) as number
    return {
      nodeId,
      roles: rolesOf(spec, nodeId),
      address: `${host}:${port}`,
      place: {pid},
      state: async () => ((await identify(pid)) ? 'running' : 'killed'),
      folder: () => {
        throw new Error('The bare cluster of a bench is only looked at.')
      },
      logTail: lines => tail(nodeFolders(join(folder, String(nodeId))).log, lines),
      ...{stop: never, kill: never, pause: never, resume: never, start: never, files: never},
    }
  })
  const brokers = nodes.filter(({roles}) => roles.includes('broker'))
  const bootstrapServers = brokers.map(({address}) => address).join(',')
  return {
    name: 'bare',
    runtime: 'local',
    spec,
    clusterId,
    nodes,
    brokers,
    bootstrapServers,
    ephemeral: true,
    down: never,
    dumpLog: never,
    runTool: never,
    [Symbol.asyncDispose]: async () => {},
  }
}
