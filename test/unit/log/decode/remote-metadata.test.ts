import {describe, expect, test} from 'vitest'
import {decoderNamed} from '../../../../src/log/decode/decoder.js'
import {type KafkaStyle, kafkaStyles} from '../../../../src/log/decode/style.js'
import {encode} from '../../../../src/protocol/messages.js'

const decoder = decoderNamed('remote-log-metadata')
const topicIdPartition = {name: 'foo', id: 'Uj5wn_FqTXirEASvVZRY1w', partition: 3}
const segmentId = {topicIdPartition, id: 'tpx8pd1IQDqJwMfGzXj6GA'}
const of = 'RemoteLogSegmentId{topicIdPartition=Uj5wn_FqTXirEASvVZRY1w:foo-3, id=tpx8pd1IQDqJwMfGzXj6GA}'

function said(apiKey: number, name: string, fields: Record<string, unknown>, style: KafkaStyle = '4.4'): string {
  const value = Buffer.concat([Buffer.of(1, apiKey, 0), encode(name, 0, fields)])
  const {key, payload} = decoder.kafkaText({offset: 8n, key: null, value}, style)
  expect(key).toBeUndefined()
  return payload ?? ''
}

const segment = (fields: Record<string, unknown>) =>
  said(0, 'RemoteLogSegmentMetadataRecord', {
    remoteLogSegmentId: segmentId,
    startOffset: 10n,
    endOffset: 20n,
    brokerId: 1,
    maxTimestampMs: 2n,
    eventTimestampMs: 3n,
    segmentLeaderEpochs: [{leaderEpoch: 0, offset: 10n}],
    segmentSizeInBytes: 100,
    remoteLogSegmentState: 0,
    ...fields,
  })

describe('records about remote segments, as Java’s toString prints them', () => {
  test('a segment: epochs in their order, custom metadata by their size', () => {
    const segmentLeaderEpochs = [
      {leaderEpoch: 5, offset: 15n},
      {leaderEpoch: -1, offset: 9n},
      {leaderEpoch: 5, offset: 17n},
    ]
    const fields = {segmentLeaderEpochs, customMetadata: Buffer.alloc(4), remoteLogSegmentState: 3, txnIndexEmpty: true}
    expect(segment(fields)).toBe(
      `RemoteLogSegmentMetadata{remoteLogSegmentId=${of}, startOffset=10, endOffset=20, brokerId=1, maxTimestampMs=2, eventTimestampMs=3, segmentLeaderEpochs={-1=9, 5=17}, segmentSizeInBytes=100, customMetadata=Optional[CustomMetadata{4 bytes}], state=DELETE_SEGMENT_FINISHED, txnIdxEmpty=true}`,
    )
    expect(segment({})).toContain('customMetadata=Optional.empty, state=COPY_SEGMENT_STARTED, txnIdxEmpty=false}')
  })

  test('an update, a deleted partition, a snapshot', () => {
    const update = {remoteLogSegmentId: segmentId, brokerId: 7, eventTimestampMs: 4n, remoteLogSegmentState: 2}
    expect(said(1, 'RemoteLogSegmentMetadataUpdateRecord', update)).toBe(
      `RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=${of}, customMetadata=Optional.empty, state=DELETE_SEGMENT_STARTED, eventTimestampMs=4, brokerId=7}`,
    )
    const deleted = {topicIdPartition, brokerId: 7, eventTimestampMs: 4n, remotePartitionDeleteState: 1}
    expect(said(2, 'RemotePartitionDeleteMetadataRecord', deleted)).toBe(
      'RemotePartitionDeleteMetadata{topicPartition=Uj5wn_FqTXirEASvVZRY1w:foo-3, state=DELETE_PARTITION_STARTED, eventTimestampMs=4, brokerId=7}',
    )
    const snapshot = {segmentId: segmentId.id, segmentLeaderEpochs: [{leaderEpoch: 2, offset: 4n}], endOffset: 9n}
    expect(said(3, 'RemoteLogSegmentMetadataSnapshotRecord', snapshot)).toBe(
      'RemoteLogSegmentMetadataSnapshot{segmentId=tpx8pd1IQDqJwMfGzXj6GA, startOffset=0, endOffset=9, maxTimestampMs=0, segmentLeaderEpochs={2=4}, segmentSizeInBytes=0, customMetadata=Optional.empty, state=COPY_SEGMENT_STARTED, txnIdxEmpty=false}',
    )
  })

  test.each<[string, Record<string, unknown>, string]>([
    [
      'a negative start',
      {startOffset: -1n},
      'Unexpected start offset = -1. StartOffset for a remote segment cannot be negative',
    ],
    [
      'an end before the start',
      {endOffset: 9n},
      'Unexpected end offset = 9. EndOffset for a remote segment cannot be less than startOffset = 10',
    ],
    ['no epochs', {segmentLeaderEpochs: []}, 'segmentLeaderEpochs can not be null or empty'],
    ['a state of nobody', {remoteLogSegmentState: 9}, 'state can not be null'],
  ])('%s is refused by Kafka’s class', (_, fields, why) => {
    expect(segment(fields)).toBe(`Error at offset 8, skipping. ${why}`)
  })

  test('an unknown state of a deleted partition, for which Kafka has no words', () => {
    expect(said(2, 'RemotePartitionDeleteMetadataRecord', {topicIdPartition, remotePartitionDeleteState: 3})).toBe(
      'Error at offset 8, skipping. null',
    )
  })

  test('no value, a type of nobody, a cut record', () => {
    const text = (value: Buffer | null, style: KafkaStyle) =>
      decoder.kafkaText({offset: 8n, key: null, value}, style).payload
    for (const style of kafkaStyles) {
      const record = style === '4.4' ? 'record.internal.Record' : 'record.Record'
      expect(text(null, style)).toBe(
        `Error at offset 8, skipping. Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value of "org.apache.kafka.common.${record}.value()" is null`,
      )
      expect(text(Buffer.of(1, 9, 0), style)).toBe(
        'Error at offset 8, skipping. org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 9',
      )
      expect(text(Buffer.of(1, 0, 0), style)).toBe(
        'Error at offset 8, skipping. Failed to deserialize record with type 0',
      )
    }
  })
})
