import {createHash} from 'node:crypto'
import type {Cluster, ClusterNode} from '../cluster/cluster.js'
import {
  type DamagedCopy,
  type FileSeen,
  parseDump,
  type ReplicaReading,
  readSegment,
} from '../experiment/segment-reading.js'
import {bufferSource} from '../log/byte-source.js'
import {type Keep, logsOf} from './segments.js'

/** A copy of a `.log` file, the same bytes for every reader. */
interface Copy {
  readonly name: string
  readonly bytes: Buffer
}

export interface ReplicaOptions {
  readonly topic: string
  readonly highWatermark: number
  logEndOffset(nodeId: number): Promise<number>
  keep(nodeId: number): Keep
}

/**
 * Partition 0 of each topic as it lies on each of these nodes, read by kx and, in one run of the tool for all of them, by
 * Kafka's own dump tool. By topic.
 */
export async function readReplicas(
  cluster: Cluster,
  nodes: readonly ClusterNode[],
  topics: readonly ReplicaOptions[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly ReplicaReading[]>> {
  const copies: Copy[] = []
  const found = []
  for (const options of topics) {
    for (const node of nodes) {
      const {names, logs} = await logsOf(node, options.topic, options.keep(node.nodeId))
      const numbered = logs.map(log => ({...log, at: copies.push(log) - 1}))
      found.push({options, node, names, logs: numbered, logEndOffset: await options.logEndOffset(node.nodeId)})
    }
  }
  const theirs = await dumped(cluster, copies, ['--deep-iteration', '--print-data-log'], signal)
  const all = new Map<string, ReplicaReading[]>(topics.map(({topic}) => [topic, []]))
  for (const {options, node, names, logs, logEndOffset} of found) {
    const segments = []
    const chain = createHash('sha256')
    let chainedBytes = 0
    for (const {name, bytes, at} of logs) {
      const kx = await readSegment(bufferSource(bytes), {records: true})
      for (const {position, sizeInBytes, lastOffset} of kx.batches) {
        if (lastOffset >= options.highWatermark) break
        chain.update(bytes.subarray(position, position + sizeInBytes))
        chainedBytes += sizeInBytes
      }
      segments.push({file: name, sizeInBytes: bytes.length, kx, kafka: theirs[at] as FileSeen})
    }
    const {highWatermark} = options
    const sha256 = chain.digest('hex')
    all
      .get(options.topic)
      ?.push({nodeId: node.nodeId, highWatermark, logEndOffset, files: names, segments, sha256, chainedBytes})
  }
  return all
}

/** At most so many copies of one log: an experiment writes fewer batches. */
const copiesAtMost = 64

/** For each batch of each log: a copy with one bit of its records flipped, wherever `random` says. */
export async function readDamaged(
  cluster: Cluster,
  logs: readonly (Copy & {readonly topic: string})[],
  random: () => number,
  signal: AbortSignal,
): Promise<readonly DamagedCopy[]> {
  const damaged = []
  for (const {topic, name, bytes} of logs) {
    const {batches} = await readSegment(bufferSource(bytes), {records: false})
    for (const [batch, {position, sizeInBytes}] of batches.slice(0, copiesAtMost).entries()) {
      // Behind the header: the length is not covered by the CRC, and with another codec the tool ends at once.
      const at = position + headerBytes + Math.floor(random() * (sizeInBytes - headerBytes))
      const bit = Math.floor(random() * 8)
      const copy = Buffer.from(bytes)
      copy.writeUInt8(copy.readUInt8(at) ^ (1 << bit), at)
      damaged.push({flip: {topic, batch, position: at, bit}, copy: {name, bytes: copy}})
    }
  }
  // Headers only: what the tool does with the records of a damaged batch is its own business, and may be an exception.
  const copies = damaged.map(({copy}) => copy)
  const theirs = await dumped(cluster, copies, [], signal)
  const readings: DamagedCopy[] = []
  for (const [index, {flip, copy}] of damaged.entries()) {
    const kx = await readSegment(bufferSource(copy.bytes), {records: false})
    readings.push({...flip, kx, kafka: theirs[index] as FileSeen})
  }
  return readings
}

const headerBytes = 61

/**
 * What Kafka's own tool says of each copy, in their order. @throws Error if it says nothing of one; KxError of the runtime
 * if it fails or is interrupted
 */
export async function dumped(
  cluster: Cluster,
  copies: readonly Copy[],
  flags: readonly string[],
  signal: AbortSignal,
): Promise<readonly FileSeen[]> {
  if (copies.length === 0) return []
  // The tool takes the log's starting offset from the file's name, and only prints it: numbers keep the names apart.
  const files = copies.map(({bytes}, index) => ({name: `${String(index).padStart(20, '0')}.log`, bytes}))
  const seen = parseDump(await cluster.dumpLog(files, flags, signal))
  return files.map(({name}) => {
    const file = seen.get(name)
    if (!file) throw new Error(`Kafka's own dump tool says nothing of ${name}`)
    return file
  })
}
