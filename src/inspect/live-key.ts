import {partitionOfKey} from '../log/decode/partition.js'
import {parsePartitionMetadata} from '../log/files/metadata-files.js'
import {KxError} from '../util/errors.js'
import {type LiveRequest, openLive} from './live.js'

/** Who is looked for in an internal topic. */
export interface CoordinatorKey {
  readonly group?: string | undefined
  readonly transactionalId?: string | undefined
  /** With a topic: its state for that partition (`__share_group_state`); without: its group's records. */
  readonly shareGroup?: string | undefined
}

/**
 * The partition of an internal topic that holds the records of a group, a transactional id, or a share group: the hash of
 * the key modulo the number of partitions, as the coordinators have it.
 * @throws KxError as `openLive`
 */
export async function partitionFor(
  {group, transactionalId, shareGroup}: CoordinatorKey,
  request: Omit<LiveRequest, 'topic'> & {readonly topic?: string | undefined},
): Promise<{readonly topic: string; readonly partition: number}> {
  const {topic: ofTopic, partition: ofPartition = 0, ...where} = request
  if (shareGroup !== undefined && ofTopic !== undefined) {
    const topicId = await topicIdOf({...where, topic: ofTopic, partition: ofPartition})
    const topic = '__share_group_state'
    return {topic, partition: partitionOfKey(`${shareGroup}:${topicId}:${ofPartition}`, await partitions(topic, where))}
  }
  const topic = transactionalId === undefined ? '__consumer_offsets' : '__transaction_state'
  const key = transactionalId ?? group ?? shareGroup ?? ''
  return {topic, partition: partitionOfKey(key, await partitions(topic, where))}
}

async function partitions(topic: string, where: Omit<LiveRequest, 'topic'>): Promise<number> {
  const {broker: _, ...anywhere} = where
  await using live = await openLive({...anywhere, topic, partition: 0})
  if (live.state) return live.state.partitionCount
  throw new KxError('environment', 'KX_NO_ANSWER', `No broker says how many partitions ${topic} has.`, {
    suggestions: ['Name the partition: --topic and --partition.'],
  })
}

async function topicIdOf(request: LiveRequest): Promise<string> {
  await using live = await openLive(request)
  const file = await live.open('partition.metadata')
  const topicId = file && parsePartitionMetadata(await file.read(0, file.size)).topicId
  if (topicId) return topicId
  throw new KxError('environment', 'KX_NO_ANSWER', `The id of topic ${request.topic} is not known.`)
}
