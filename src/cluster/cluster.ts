import type {TopicPartition} from '../kafka/topic-partition.js'
import type {ByteSource} from '../log/byte-source.js'
import type {ClusterSpec, RuntimeName} from './spec.js'

export type NodeState = 'running' | 'paused' | 'stopped' | 'killed'
export type Role = 'broker' | 'controller'

/** How a fault was done and how its runtime knows that it took hold. Stored with the run; no proof, no verdict. */
export interface Proof {
  readonly fault: 'kill' | 'stop' | 'pause' | 'resume' | 'start'
  readonly nodeId: number
  /** e.g. `SIGSTOP to pid 4711`, `docker pause`. */
  readonly mechanism: string
  /** e.g. `all 83 threads in state T after 11 ms`. */
  readonly evidence: string
  /** `performance.now()` of this process, before the blow and when it was proven. */
  readonly startedMs: number
  readonly provenMs: number
  /** Wall clock before the blow, milliseconds since 1970: the clock of Kafka's own records. */
  readonly wallMs: number
}

/** One file in a partition's folder, as it lies there now. */
export interface LogFile {
  readonly name: string
  readonly size: number
  open(): ByteSource
}

/**
 * A partition's folder on a node, for whoever looks at it for longer than a moment. Every call sees it as it is then;
 * nothing in it is ever changed. Memory is bounded whatever the size of the files: what must be copied out of a
 * container goes to the disk. Disposing of it removes the copies.
 */
export interface PartitionFolder extends AsyncDisposable {
  /** For people: a path, or `container:path` as `docker cp` writes it. */
  readonly path: string
  /** Empty if the node has no such folder. */
  list(): Promise<readonly {readonly name: string; readonly size: number}[]>
  /** The file as it is now; `undefined` if it is not there. */
  open(name: string): Promise<ByteSource | undefined>
  /** Bytes of the file now; `undefined` if it is not there. Cheap: for asking again and again. */
  sizeOf(name: string): Promise<number | undefined>
  /** Up to `length` bytes of the file as it is now, fewer if it has become shorter. For the end of a file that grows. */
  read(name: string, position: number, length: number): Promise<Buffer>
}

/** A node and the ways in which it can be hurt. Every fault has its cure: kill, stop ↔ start; pause ↔ resume. */
export interface ClusterNode {
  readonly nodeId: number
  readonly roles: readonly Role[]
  /** `host:port` at which clients (controllers: brokers) reach it. */
  readonly address: string
  /** Process id or container name, for people. */
  readonly place: {readonly pid?: number; readonly container?: string}
  /** Looked up now, not remembered. */
  state(): Promise<NodeState>
  /** SIGTERM: controlled shutdown; waits until the process is gone (bounded by 60 s). */
  stop(): Promise<Proof>
  /** SIGKILL; waits until the process is gone. */
  kill(): Promise<Proof>
  /** SIGSTOP or the engine's freezer; proven by the runtime. */
  pause(): Promise<Proof>
  resume(): Promise<Proof>
  /** Starts a node that is down, on its old data. Returns when the process runs, not when the broker is unfenced. */
  start(): Promise<Proof>
  /** The files of a partition on this node's disk now, whatever state the node is in. Empty if it has none. */
  files(partition: TopicPartition): Promise<readonly LogFile[]>
  /** The same folder, to be read in parts and again later. */
  folder(partition: TopicPartition): PartitionFolder
  /** The last lines of the node's own log. */
  logTail(lines: number): Promise<readonly string[]>
}

/** A running cluster, of either runtime. Disposing of it closes handles; it does not stop the cluster. */
export interface Cluster extends AsyncDisposable {
  readonly name: string
  readonly runtime: RuntimeName
  readonly spec: ClusterSpec
  readonly clusterId: string
  /** All of them, brokers first. With combined roles a node stands here once. */
  readonly nodes: readonly ClusterNode[]
  readonly brokers: readonly ClusterNode[]
  readonly bootstrapServers: string
  /** Made for one run (`x-<run id>`), to be removed at its end. */
  readonly ephemeral: boolean
  /** Stops every node (heals paused ones first). `wipe` deletes the data and the state too. */
  down(options: {readonly wipe: boolean}): Promise<void>
  /**
   * Runs Kafka's own dump tool of the cluster's version over copies of these files; its stdout. The signal ends it.
   * @throws KxError KX_INTERRUPTED once the signal has fired
   */
  dumpLog(
    files: readonly {readonly name: string; readonly bytes: Buffer}[],
    flags: readonly string[],
    signal?: AbortSignal,
  ): Promise<string>
  /**
   * Runs another of Kafka's own tools, of the cluster's version, beside the cluster; bounded by its `timeoutMs`.
   * @throws KxError KX_KAFKA_TOOL (environment) with the tool's last line if it fails or is not done in time
   */
  runTool(tool: KafkaTool): Promise<{readonly stdout: string; readonly stderr: string}>
}

/** A main class of Kafka's jars with its arguments. */
export interface KafkaTool {
  /** For messages: `Kafka's verifiable producer`. */
  readonly what: string
  readonly mainClass: string
  /** Settings that the tool reads: laid down where it runs, and gone afterwards. Log4j reads the one named `log4j2.properties`. */
  readonly files: readonly {readonly name: string; readonly text: string}[]
  arguments(place: ToolPlace): readonly string[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** What a tool must know of the place where it runs. */
export interface ToolPlace {
  /** Brokers as they are reached from there. */
  readonly bootstrapServers: string
  /** The path of one of its files. */
  path(name: string): string
}

export interface StartOptions {
  readonly name: string
  readonly spec: ClusterSpec
  readonly ephemeral: boolean
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly portBase?: number
  /** local: an unpacked Kafka distribution. */
  readonly kafkaHome?: string
  /** docker: the image to run. */
  readonly image?: string
  /** One phase a call, for people: `formatting 4 nodes`. */
  readonly progress: (phase: string) => void
}

/** Something that can run nodes: containers on Docker, or JVMs on this machine. */
export interface Runtime {
  readonly name: RuntimeName
  /** Says in one sentence why it can't be used here and now, or nothing. */
  obstacle(options: Pick<StartOptions, 'spec' | 'kafkaHome' | 'image'>): Promise<string | undefined>
  /** Starts all nodes at once and returns when their processes run; `cluster/ready.ts` waits for readiness. On any failure nothing is left. */
  start(options: StartOptions): Promise<Cluster>
  /** A handle on a cluster that was started earlier, from its state file. */
  attach(state: ClusterState): Promise<Cluster>
}

/** `$XDG_STATE_HOME/kx/clusters/<name>/cluster.json`: all that another kx process must know of a cluster. */
export interface ClusterState {
  readonly schema: 'kx/cluster/1'
  readonly name: string
  readonly runtime: RuntimeName
  readonly spec: ClusterSpec
  readonly clusterId: string
  readonly ephemeral: boolean
  /** The kx process that made it: pid and start time (clock ticks since boot on Linux), so that a recycled pid is not taken for it. */
  readonly owner: {readonly pid: number; readonly startTime: string; readonly user: string; readonly host: string}
  readonly createdAt: string
  /** `starting` until every node runs: a crash before that leaves a half-started cluster, which `kx clean` may take. */
  readonly phase: 'starting' | 'up' | 'down'
  readonly nodes: readonly NodeRecord[]
  /** What only the runtime understands (folders, Compose project, endpoint, image, …). */
  readonly detail: Readonly<Record<string, string>>
}

export interface NodeRecord {
  readonly nodeId: number
  readonly roles: readonly Role[]
  readonly address: string
  readonly pid?: number
  readonly startTime?: string
  readonly container?: string
  readonly logDir: string
  /** How it last went down, so that `killed` and `stopped` can be told apart later. */
  readonly down?: 'stopped' | 'killed'
}
