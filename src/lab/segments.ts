import type {ClusterNode} from '../cluster/cluster.js'
import type {ReplicaRecords} from '../history/operation.js'
import {batches} from '../log/batches.js'
import {bufferSource} from '../log/byte-source.js'
import {scan} from '../log/scan.js'
import {nameOf} from '../kafka/topic-partition.js'
import {safeOffset} from './reading.js'

/** Keeps a file that was read, under this path below `evidence/`. */
export type Keep = (path: string, bytes: Buffer) => void

/** A segment larger than this is not what kx's experiments write: it is refused rather than read into memory. */
const segmentLimitBytes = 256 * 1_048_576

/**
 * All records of partition 0 of a topic as they lie in this node's segment files, whatever state the node is in: the
 * second witness. Parses batches and checks every CRC (searching raw bytes for a value once made a false loss).
 */
export async function recordsOn(node: ClusterNode, topic: string, keep: Keep): Promise<ReplicaRecords> {
  const partition = {topic, partition: 0}
  const files = [...(await node.files(partition))].sort((a, b) => (a.name < b.name ? -1 : 1))
  const records: ReplicaRecords['records'][number][] = []
  let intact = files.some(({name}) => name.endsWith('.log'))
  let logEndOffset = 0
  for (const file of files) {
    const isLog = file.name.endsWith('.log')
    if (!isLog && file.name !== 'leader-epoch-checkpoint') continue
    if (file.size > segmentLimitBytes) throw new Error(`${file.name} of ${nameOf(partition)} has ${file.size} bytes`)
    const bytes = await file.open().read(0, file.size)
    keep(`${nameOf(partition)}/${file.name}`, bytes)
    if (!isLog) continue
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
  const {trailingBytes} = await scan(bufferSource(bytes), () => undefined)
  for await (const batch of batches(bufferSource(bytes))) {
    logEndOffset = safeOffset(batch.lastOffset) + 1
    readable &&= batch.crcIsRight && batch.problem === undefined
    if (batch.isControl) continue
    for (const {offset, value} of batch.records) {
      records.push({offset: safeOffset(offset), value: value?.toString('utf8') ?? '', leaderEpoch: batch.leaderEpoch})
    }
  }
  return {records, intact: readable && trailingBytes === 0, logEndOffset}
}
