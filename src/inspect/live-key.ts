import {partitionOfKey} from '../log/decode/partition.js'
import {KxError} from '../util/errors.js'
import {describeLive, type LiveRequest} from './live.js'

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

const firstUse: Readonly<Record<string, string>> = {
  __consumer_offsets: 'no group',
  __transaction_state: 'no transactional id',
  __share_group_state: 'no share group',
}

async function partitions(topic: string, where: Omit<LiveRequest, 'topic'>): Promise<number> {
  try {
    const question = `how many partitions ${topic} has`
    const {partitionCount} = await describeLive({...where, topic, partition: 0, question})
    return partitionCount
  } catch (error) {
    if (!(error instanceof KxError)) throw error
    // The topic is made for the first of them.
    if (error.code === 'KX_NO_TOPIC') {
      throw new KxError('usage', error.code, `${topic} is not there: ${firstUse[topic]} was ever used on this cluster.`)
    }
    if (error.code !== 'KX_NO_ANSWER') throw error
    throw new KxError(error.kind, error.code, error.message, {
      suggestions: [
        ...error.suggestions.slice(1),
        `--topic ${topic} --partition 0 --broker 1 reads files all the same`,
      ],
    })
  }
}

async function topicIdOf(request: LiveRequest): Promise<string> {
  return (await describeLive({...request, question: `what id topic ${request.topic} has`})).topicId
}
