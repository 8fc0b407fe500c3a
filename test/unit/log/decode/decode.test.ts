import {describe, expect, test} from 'vitest'
import {decoderNamed} from '../../../../src/log/decode/decoder.js'
import {partitionOfKey} from '../../../../src/log/decode/partition.js'
import {encode, encodeAs} from '../../../../src/protocol/messages.js'
import {findSchemaIn, type MessageSchema} from '../../../../src/protocol/schema.js'
import {int16} from './records.js'

const offsets = decoderNamed('offsets')
const keyOf = (type: number, name: string, fields: Record<string, unknown>) =>
  Buffer.concat([int16(type), encode(name, 0, fields)])
const groupKey = keyOf(2, 'GroupMetadataKey', {group: 'g'})
const subscription = Buffer.concat([int16(1), encode('ConsumerProtocolSubscription', 1, {topics: ['foo']})])
const assignment = Buffer.concat([int16(0), encode('ConsumerProtocolAssignment', 0, {assignedPartitions: []})])

function groupOf(protocolType: string, ...members: readonly {subscription: Buffer; assignment: Buffer}[]): Buffer {
  const all = members.map(member => ({memberId: 'm', clientId: 'c', clientHost: '/h', sessionTimeout: 1, ...member}))
  return Buffer.concat([int16(0), encode('GroupMetadataValue', 0, {protocolType, generation: 1, members: all})])
}

describe('what is in a record', () => {
  test('an offset, with 64-bit numbers as they are and what is left over', () => {
    const key = keyOf(1, 'OffsetCommitKey', {group: 'g', topic: 'foo', partition: 3})
    const fields = {offset: 2n ** 62n, leaderEpoch: 5, metadata: 'm', commitTimestamp: -1n}
    const value = Buffer.concat([int16(3), encode('OffsetCommitValue', 3, fields), Buffer.alloc(2)])
    expect(offsets.decode({offset: 0n, key, value})).toEqual({
      key: {type: 'OffsetCommit', apiKey: 1, data: {group: 'g', topic: 'foo', partition: 3}},
      value: {version: 3, data: fields},
      problems: ['2 bytes left over after the value'],
    })
  })

  test('a tombstone, and one whose key has more bytes', () => {
    const longer = Buffer.concat([groupKey, Buffer.of(9)])
    expect(offsets.decode({offset: 0n, key: groupKey, value: null})).toMatchObject({value: null, problems: []})
    expect(offsets.decode({offset: 0n, key: longer, value: null})).toMatchObject({
      key: {data: {group: 'g'}},
      value: null,
      problems: ['1 byte left over after the key'],
    })
  })

  test('messages of a consumer group’s members', () => {
    const value = groupOf('consumer', {subscription, assignment})
    const {value: decoded, problems} = offsets.decode({offset: 0n, key: groupKey, value})
    expect(decoded?.data.members).toMatchObject([
      {subscription: {topics: ['foo'], ownedPartitions: []}, assignment: {assignedPartitions: [], userData: null}},
    ])
    expect(problems).toEqual([])
  })

  test('bytes of members that can’t be read stay, and it is told which and why', () => {
    const cut = subscription.subarray(0, 5)
    const longer = Buffer.concat([assignment, Buffer.of(1)])
    const value = groupOf(
      'consumer',
      {subscription, assignment: Buffer.alloc(0)},
      {subscription: cut, assignment: longer},
    )
    const {value: decoded, problems} = offsets.decode({offset: 0n, key: groupKey, value})
    expect(decoded?.data.members).toMatchObject([
      {assignment: Buffer.alloc(0)},
      {subscription: cut, assignment: {assignedPartitions: []}},
    ])
    expect(problems).toEqual([
      expect.stringMatching(/^members\[1\]\.subscription: ConsumerProtocolSubscription v1 topics/),
      'members[1].assignment: 1 byte left over after the ConsumerProtocolAssignment',
    ])
  })

  test('bytes of other groups’ members are nobody’s business', () => {
    const value = groupOf('connect', {subscription, assignment: Buffer.from('opaque')})
    const {value: decoded, problems} = offsets.decode({offset: 0n, key: groupKey, value})
    expect(decoded?.data.members).toMatchObject([{subscription, assignment: Buffer.from('opaque')}])
    expect(problems).toEqual([])
  })

  test('what a member of a consumer group said in the classic protocol, if it fits exactly', () => {
    const key = keyOf(5, 'ConsumerGroupMemberMetadataKey', {groupId: 'g', memberId: 'm'})
    const supportedProtocols = [
      {name: 'range', metadata: subscription},
      {name: 'own', metadata: Buffer.from('opaque')},
    ]
    const fields = {clientId: 'c', classicMemberMetadata: {sessionTimeoutMs: 5, supportedProtocols}}
    const value = Buffer.concat([
      int16(0),
      encode('ConsumerGroupMemberMetadataValue', 0, {
        instanceId: null,
        rackId: null,
        subscribedTopicRegex: null,
        serverAssignor: null,
        ...fields,
      }),
    ])
    const {value: decoded, problems} = offsets.decode({offset: 0n, key, value})
    expect(decoded?.data.classicMemberMetadata).toMatchObject({
      supportedProtocols: [{metadata: {topics: ['foo']}}, {metadata: Buffer.from('opaque')}],
    })
    expect(problems).toEqual([])
  })
})

describe('what an older line of Kafka wrote', () => {
  test('a share group’s snapshot of 4.0, with the line whose schema it was', () => {
    const key = keyOf(0, 'ShareSnapshotKey', {groupId: 'g', partition: 1})
    const schema = findSchemaIn('4.0', 'ShareSnapshotValue') as MessageSchema
    const value = Buffer.concat([int16(0), encodeAs(schema, 0, {snapshotEpoch: 60_000, startOffset: 9n})])
    const {value: decoded, problems} = decoderNamed('share-group-state').decode({offset: 0n, key, value})
    expect(decoded).toMatchObject({version: 0, schemaOf: '4.0', data: {snapshotEpoch: 60_000, startOffset: 9n}})
    expect(problems).toEqual([])
  })

  test('types that were retired or are to come', () => {
    const read = (type: number, value: string) => {
      const key = Buffer.concat([int16(type), Buffer.from('000167', 'hex')])
      return offsets.decode({offset: 0n, key, value: Buffer.from(value, 'hex')})
    }
    expect(read(9, '00000100')).toMatchObject({
      key: {type: 'ShareGroupPartitionMetadata', schemaOf: '4.0'},
      value: {schemaOf: '4.0', data: {topics: []}},
    })
    expect(read(18, '00000100')).toMatchObject({
      key: {type: 'StreamsGroupPartitionMetadata', schemaOf: 'unreleased'},
      value: {schemaOf: 'unreleased', data: {topics: []}},
    })
    expect(read(24, '0000000000070100')).toMatchObject({
      key: {type: 'StreamsGroupTargetAssignmentResolvedTopicIds', schemaOf: 'unreleased'},
      value: {schemaOf: 'unreleased', data: {assignmentEpoch: 7, resolvedTopicIdsBySubtopology: []}},
    })
  })

  test('a damaged value is not taken for another line’s', () => {
    const key = keyOf(3, 'ConsumerGroupMetadataKey', {groupId: 'g'})
    // A hash of which only two bytes are there: to the schema of 4.0 it is a tagged field that nobody knows.
    const value = Buffer.from('000000000001010002abcd', 'hex')
    const {value: decoded, rawValue, problems} = offsets.decode({offset: 0n, key, value})
    expect(decoded).toBeUndefined()
    expect(rawValue).toEqual(value)
    expect(problems).toEqual([expect.stringMatching(/^ConsumerGroupMetadataValue v0 metadataHash: needs 8 bytes/)])
  })
})

describe('what can’t be decoded is kept, with the reason', () => {
  const value = Buffer.from('000000000001', 'hex')
  test.each<[string, Buffer | null, object]>([
    ['no key', null, {rawValue: value, problems: ['the record has no key, so nobody knows its type']}],
    ['a short key', Buffer.of(1), {rawKey: Buffer.of(1), problems: ['a key of 1 bytes, too few for a record type']}],
    ['an unknown type', int16(99), {rawKey: int16(99), rawValue: value, problems: ['record type 99 is not known']}],
  ])('%s', (_, key, expected) => {
    expect(offsets.decode({offset: 0n, key, value})).toMatchObject(expected)
  })

  test('a damaged key does not hide the value', () => {
    const key = Buffer.from('0003000567', 'hex')
    const whole = Buffer.concat([value, Buffer.of(0)])
    expect(offsets.decode({offset: 0n, key, value: whole})).toEqual({
      rawKey: key,
      value: {type: 'ConsumerGroupMetadata', apiKey: 3, version: 0, data: {epoch: 1, metadataHash: 0n}},
      problems: [expect.stringMatching(/^ConsumerGroupMetadataKey v0 groupId: needs 5 bytes, 1 are left/)],
    })
  })

  test('records of the controllers: keys, missing values, frames, types, versions', () => {
    const metadata = decoderNamed('cluster-metadata')
    const problemsOf = (key: Buffer | null, hex: string | null) =>
      metadata.decode({offset: 0n, key, value: hex === null ? null : Buffer.from(hex, 'hex')}).problems
    expect(problemsOf(Buffer.from('k'), '01140000')).toEqual(['a key, which such records do not have'])
    expect(problemsOf(null, null)).toEqual(['no value, which such records have'])
    expect(problemsOf(null, '00')).toEqual(['frame version 0 is not known'])
    expect(problemsOf(null, '01808002')).toEqual(['type 32768 is too large'])
    expect(problemsOf(null, '010d00')).toEqual(['record type 13 is not known'])
    expect(problemsOf(null, '0114000000')).toEqual(['1 byte left over after the NoOpRecord'])
    expect(metadata.decode({offset: 0n, key: null, value: Buffer.from('01140500', 'hex')})).toEqual({
      value: {type: 'NoOpRecord', apiKey: 20, version: 5, data: {}},
      problems: ['NoOpRecord has no version 5; it was read as version 0, the nearest that is known'],
    })
  })
})

test('the partition of an internal topic that holds a key', () => {
  expect(partitionOfKey('my-group', 50)).toBe(12)
  expect(partitionOfKey('kafka-txn-0', 50)).toBe(30)
  // Its hash is −2147483648, whose absolute value Java takes for 0.
  expect(partitionOfKey('polygenelubricants', 50)).toBe(0)
  expect(partitionOfKey('', 50)).toBe(0)
  expect(partitionOfKey('gs1:Uj5wn_FqTXirEASvVZRY1w:0', 50)).toBeLessThan(50)
  expect(partitionOfKey('ünï', 7)).toBe(Math.abs((252 * 31 + 110) * 31 + 239) % 7)
})
