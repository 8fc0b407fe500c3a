import {findSchemaIn, includes, type MessageSchema} from '../../protocol/schema.js'
import type {Fields} from '../../protocol/struct.js'
import type {KafkaText} from './decoder.js'
import {javaHash} from './partition.js'
import {prefixOf, readKey, readValue} from './serde.js'
import {Skipped} from './skipped.js'

const statusNames = [
  'Empty',
  'Ongoing',
  'PrepareCommit',
  'PrepareAbort',
  'CompleteCommit',
  'CompleteAbort',
  'Dead',
  'PrepareEpochFence',
]

/** The name of a `transactionStatus`, if there is one. */
export function transactionStatus(id: number): string | undefined {
  return statusNames[id]
}

/**
 * What the tool of Kafka 4.0 prints of a record of `__transaction_state`: a text of its own (TransactionLog.scala,
 * formatRecordKeyAndValue). An unknown status ends its run; kx prints the number.
 */
export function transactionText({key, value}: {key: Buffer; value: Buffer | null}): KafkaText {
  const keySchema = schemaNamed('TransactionLogKey')
  const keyVersion = prefixOf(key, 'key')
  if (!includes(keySchema.validVersions, keyVersion)) return {key: `unknown::version=${keyVersion}`}
  const {transactionalId} = readKey(keySchema, keyVersion, key, '4.0')
  const keyText = `transaction_metadata::transactionalId=${transactionalId}`
  if (value === null) return {key: keyText, payload: '<DELETE>'}
  const version = prefixOf(value, 'value')
  const valueSchema = schemaNamed('TransactionLogValue')
  if (!includes(valueSchema.validVersions, version))
    throw new Skipped(`Unknown version ${version} from the transaction log message value`)
  const data = readValue(valueSchema, version, value, '4.0')
  const status = data.transactionStatus as number
  const state = transactionStatus(status) ?? status
  const payload = [
    `producerId:${data.producerId}`,
    `producerEpoch:${data.producerEpoch}`,
    `state=${state}`,
    `partitions=[${state === 'Empty' ? '' : partitionsOf(data).join(',')}]`,
    `txnLastUpdateTimestamp=${data.transactionLastUpdateTimestampMs}`,
    `txnTimeoutMs=${data.transactionTimeoutMs}`,
  ]
  return {key: keyText, payload: payload.join(',')}
}

function schemaNamed(name: string): MessageSchema {
  return findSchemaIn('4.0', name) as MessageSchema
}

interface OfTopic {
  readonly topic: string
  readonly partitionIds: readonly number[]
}

/** In the order of a scala.collection.mutable.HashSet of TopicPartitions, filled topic by topic. */
function partitionsOf(data: Fields): string[] {
  const topics = (data.transactionPartitions ?? []) as readonly OfTopic[]
  const hashes = new Map<string, number>()
  let slots = 16
  for (const {topic, partitionIds} of topics) {
    const ids = new Set(partitionIds)
    slots = Math.max(slots, slotsFor(Math.floor((ids.size + 1) / loadFactor)))
    for (const id of ids) {
      // A larger set is poured in as a whole, without a look at the load.
      if (ids.size <= largestSmallSet && hashes.size + 1 >= Math.floor(slots * loadFactor)) slots *= 2
      hashes.set(`${topic}-${id}`, improved(topicPartitionHash(topic, id)))
    }
  }
  const slotOf = (hash: number): number => hash & (slots - 1)
  return [...hashes].sort(([, a], [, b]) => slotOf(a) - slotOf(b) || a - b).map(([name]) => name)
}

const loadFactor = 0.75
/** Scala's immutable sets of up to four elements are no hash sets. */
const largestSmallSet = 4

/** The power of two that is not below, and at least 8. */
function slotsFor(capacity: number): number {
  return 2 ** (32 - Math.clz32(Math.max(capacity - 1, 4)))
}

/** org.apache.kafka.common.TopicPartition.hashCode */
function topicPartitionHash(topic: string, partition: number): number {
  return (Math.imul(31, 31 + partition) + javaHash(topic)) | 0
}

function improved(hash: number): number {
  return hash ^ (hash >>> 16)
}
