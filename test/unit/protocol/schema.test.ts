import {describe, expect, it} from 'vitest'
import {
  coordinatorRecord,
  messageNamed,
  metadataRecord,
  remoteLogMetadataRecord,
  requestFor,
  requestHeaderVersion,
  responseFor,
  responseHeaderVersion,
} from '../../../src/protocol/messages.js'
import {parseVersions, schemasOf} from '../../../src/protocol/schema.js'
import {failureOf} from './failure.js'

describe('finding a schema', () => {
  it('by the key of a request, of a record of each internal topic', () => {
    expect(requestFor(0)?.name).toBe('ProduceRequest')
    expect(responseFor(75)?.name).toBe('DescribeTopicPartitionsResponse')
    expect(metadataRecord(0)?.name).toBe('RegisterBrokerRecord')
    expect(metadataRecord(5)?.name).toBe('PartitionChangeRecord')
    expect(remoteLogMetadataRecord(0)?.name).toBe('RemoteLogSegmentMetadataRecord')
    expect(coordinatorRecord('__consumer_offsets', 1)?.value.name).toBe('OffsetCommitValue')
    expect(coordinatorRecord('__transaction_state', 0)?.key.name).toBe('TransactionLogKey')
    expect(coordinatorRecord('__share_group_state', 1)?.value.name).toBe('ShareUpdateValue')
    expect(metadataRecord(6)).toBeUndefined()
    expect(requestFor(999)).toBeUndefined()
    expect(coordinatorRecord('__transaction_state', 9)).toBeUndefined()
  })

  it('knows the versions of the headers', () => {
    expect(requestHeaderVersion(messageNamed('ProduceRequest'), 8)).toBe(1)
    expect(requestHeaderVersion(messageNamed('ProduceRequest'), 9)).toBe(2)
    expect(responseHeaderVersion(messageNamed('ProduceResponse'), 8)).toBe(0)
    expect(responseHeaderVersion(messageNamed('ProduceResponse'), 9)).toBe(1)
    expect(requestHeaderVersion(messageNamed('ApiVersionsRequest'), 4)).toBe(2)
    expect(responseHeaderVersion(messageNamed('ApiVersionsResponse'), 4)).toBe(0)
  })

  it('says of which release the schemas are', () => {
    expect(schemasOf()).toBe('4.4.0')
  })

  it('reads ranges of versions as Kafka writes them', () => {
    expect(parseVersions('3')).toEqual({lowest: 3, highest: 3})
    expect(parseVersions('1-4')).toEqual({lowest: 1, highest: 4})
    expect(parseVersions('2+')).toEqual({lowest: 2, highest: 32767})
    expect(parseVersions('none')).toEqual(parseVersions(undefined))
    expect(failureOf(() => parseVersions('4-'))).toBe('malformed: "4-" is no range of versions.')
  })
})
