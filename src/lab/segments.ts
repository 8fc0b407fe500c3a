import type {ClusterNode} from '../cluster/cluster.js'
import type {ReplicaRecords} from '../history/operation.js'
import {readBatches} from '../log/batches.js'
import {bufferSource} from '../log/byte-source.js'
import {nameOf} from '../kafka/topic-partition.js'
import {safeOffset} from './reading.js'

/** Keeps a file that was read, under this path below `evidence/`. */
export type Keep = (path: string, bytes: Buffer) => void

/** A segment larger than this is not what kx's experiments write: it is refused rather than read into memory. */
const segmentLimitBytes = 256 * 1_048_576

/** The names in the folder of a topic's partition 0 on this node, whatever state the node is in, and its `.log` files in their order. */
export async function logsOf(
  node: ClusterNode,
  topic: string,
  keep: Keep,
): Promise<{readonly names: readonly string[]; readonly logs: readonly {name: string; bytes: Buffer}[]}> {
  const partition = {topic, partition: 0}
  const files = [...(await node.files(partition))].sort((a, b) => (a.name < b.name ? -1 : 1))
  const logs: {name: string; bytes: Buffer}[] = []
  for (const file of files) {
    const isLog = file.name.endsWith('.log')
    if (!isLog && file.name !== 'leader-epoch-checkpoint') continue
    if (file.size > segmentLimitBytes) throw new Error(`${file.name} of ${nameOf(partition)} has ${file.size} bytes`)
    const bytes = await file.open().read(0, file.size)
    keep(`${nameOf(partition)}/${file.name}`, bytes)
    if (isLog) logs.push({name: file.name, bytes})
  }
  return {names: files.map(({name}) => name), logs}
}

/**
 * All records of partition 0 of a topic as they lie in this node's segment files: the second witness. Parses batches and
 * checks every CRC (searching raw bytes for a value once made a false loss).
 */
export async function recordsOn(node: ClusterNode, topic: string, keep: Keep): Promise<ReplicaRecords> {
  const {logs} = await logsOf(node, topic, keep)
  const records: ReplicaRecords['records'][number][] = []
  let intact = logs.length > 0
  let logEndOffset = 0
  for (const {bytes} of logs) {
    const part = await parse(bytes)
    records.push(...part.records)
    intact &&= part.intact
    logEndOffset = Math.max(logEndOffset, part.logEndOffset)
  }
  return {nodeId: node.nodeId, topic, logEndOffset, records, intact}
}

async function parse(bytes: Buffer): Promise<Pick<ReplicaRecords, 'records' | 'intact' | 'logEndOffset'>> {
  const records: ReplicaRecords['records'][number][] = []
  let logEndOffset = 0
  let readable = true
  const {batches, trailingBytes} = await readBatches(bufferSource(bytes))
  for (const batch of batches) {
    logEndOffset = safeOffset(batch.lastOffset) + 1
    readable &&= batch.crcIsRight && batch.problem === undefined
    if (batch.isControl) continue
    for (const {offset, value} of batch.records) {
      records.push({offset: safeOffset(offset), value: value?.toString('utf8') ?? '', leaderEpoch: batch.leaderEpoch})
    }
  }
  return {records, intact: readable && trailingBytes === 0, logEndOffset}
}
