import {remoteLogMetadataRecord} from '../../protocol/messages.js'
import type {Fields} from '../../protocol/struct.js'
import type {KafkaText, RecordDecoder, RecordParts} from './decoder.js'
import {decodeRemoteLogMetadata, type FramedRecord, readFramedLikeKafka} from './metadata.js'
import {Skipped} from './skipped.js'
import type {KafkaStyle} from './style.js'

const segmentStates = [
  'COPY_SEGMENT_STARTED',
  'COPY_SEGMENT_FINISHED',
  'DELETE_SEGMENT_STARTED',
  'DELETE_SEGMENT_FINISHED',
]
const deleteStates = ['DELETE_PARTITION_MARKED', 'DELETE_PARTITION_STARTED', 'DELETE_PARTITION_FINISHED']

/** Records of `__remote_log_metadata` as the default manager writes them (KIP-405); Kafka prints them by Java's toString. */
export const remoteLogMetadataDecoder: RecordDecoder = {
  name: 'remote-log-metadata',
  topic: '__remote_log_metadata',
  kafkaText: ({offset, value}: RecordParts, style: KafkaStyle): KafkaText => {
    try {
      return {payload: textOf(value, style)}
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      return {payload: `Error at offset ${offset}, skipping. ${error.message}`}
    }
  },
  decode: decodeRemoteLogMetadata,
}

function textOf(value: Buffer | null, style: KafkaStyle): string {
  if (value === null) throw new Skipped(nullPointer(style))
  const read = readFramedLikeKafka(value, style, remoteLogMetadataRecord)
  if ('thrown' in read) throw new Skipped(read.thrown)
  const text = texts[read.schema.name]
  if (!text) throw new Skipped(`RemoteLogMetadataTransform for apikey: ${read.schema.apiKey} does not exist.`)
  return text(read)
}

/** The message that the JVM makes for `record.value().remaining()`. */
function nullPointer(style: KafkaStyle): string {
  const record =
    style === '4.4' ? 'org.apache.kafka.common.record.internal.Record' : 'org.apache.kafka.common.record.Record'
  return `Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value of "${record}.value()" is null`
}

const texts: Readonly<Record<string, (record: FramedRecord) => string>> = {
  RemoteLogSegmentMetadataRecord({data}) {
    const {startOffset, endOffset} = data as {startOffset: bigint; endOffset: bigint}
    if (startOffset < 0n) {
      throw new Skipped(`Unexpected start offset = ${startOffset}. StartOffset for a remote segment cannot be negative`)
    }
    if (endOffset < startOffset) {
      throw new Skipped(
        `Unexpected end offset = ${endOffset}. EndOffset for a remote segment cannot be less than startOffset = ${startOffset}`,
      )
    }
    const epochs = leaderEpochs(data)
    return (
      `RemoteLogSegmentMetadata{remoteLogSegmentId=${segmentId(data)}, startOffset=${startOffset}, ` +
      `endOffset=${endOffset}, brokerId=${data.brokerId}, maxTimestampMs=${data.maxTimestampMs}, ` +
      `eventTimestampMs=${data.eventTimestampMs}, segmentLeaderEpochs=${epochs}, ` +
      `segmentSizeInBytes=${data.segmentSizeInBytes}, customMetadata=${customMetadata(data)}, ` +
      `state=${segmentState(data)}, txnIdxEmpty=${data.txnIndexEmpty}}`
    )
  },
  RemoteLogSegmentMetadataUpdateRecord({data}) {
    return (
      `RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=${segmentId(data)}, ` +
      `customMetadata=${customMetadata(data)}, state=${segmentState(data)}, ` +
      `eventTimestampMs=${data.eventTimestampMs}, brokerId=${data.brokerId}}`
    )
  },
  RemotePartitionDeleteMetadataRecord({data}) {
    // Kafka's class has no words for an unknown state here: the exception's message is null.
    const state = stateNamed(deleteStates, data.remotePartitionDeleteState, 'null')
    return (
      `RemotePartitionDeleteMetadata{topicPartition=${topicIdPartition(data.topicIdPartition)}, state=${state}, ` +
      `eventTimestampMs=${data.eventTimestampMs}, brokerId=${data.brokerId}}`
    )
  },
  RemoteLogSegmentMetadataSnapshotRecord({data}) {
    const state = segmentState(data)
    const epochs = leaderEpochs(data)
    return (
      `RemoteLogSegmentMetadataSnapshot{segmentId=${data.segmentId}, startOffset=${data.startOffset}, ` +
      `endOffset=${data.endOffset}, maxTimestampMs=${data.maxTimestampMs}, segmentLeaderEpochs=${epochs}, ` +
      `segmentSizeInBytes=${data.segmentSizeInBytes}, customMetadata=${customMetadata(data)}, ` +
      `state=${state}, txnIdxEmpty=${data.txnIndexEmpty}}`
    )
  },
}

function topicIdPartition(value: unknown): string {
  const {name, id, partition} = value as {name: string; id: string; partition: number}
  return `${id}:${name}-${partition}`
}

function segmentId(data: Fields): string {
  const {topicIdPartition: of, id} = data.remoteLogSegmentId as {topicIdPartition: unknown; id: string}
  return `RemoteLogSegmentId{topicIdPartition=${topicIdPartition(of)}, id=${id}}`
}

/** A TreeMap: by epoch, and of two entries of an epoch the later one. */
function leaderEpochs(data: Fields): string {
  const entries = data.segmentLeaderEpochs as readonly {leaderEpoch: number; offset: bigint}[]
  if (entries.length === 0) throw new Skipped('segmentLeaderEpochs can not be null or empty')
  const byEpoch = [...new Map(entries.map(({leaderEpoch, offset}) => [leaderEpoch, offset]))]
  const sorted = byEpoch.sort(([a], [b]) => a - b)
  return `{${sorted.map(([epoch, offset]) => `${epoch}=${offset}`).join(', ')}}`
}

function customMetadata({customMetadata: bytes}: Fields): string {
  return bytes === null ? 'Optional.empty' : `Optional[CustomMetadata{${(bytes as Buffer).length} bytes}]`
}

function segmentState(data: Fields): string {
  return stateNamed(segmentStates, data.remoteLogSegmentState)
}

function stateNamed(names: readonly string[], id: unknown, otherwise = 'state can not be null'): string {
  const name = names[id as number]
  if (name === undefined) throw new Skipped(otherwise)
  return name
}
