import {describe, expect, it} from 'vitest'
import {decode, encode} from '../../../src/protocol/messages.js'
import {failureOf} from './failure.js'

const hex = (text: string) => Buffer.from(text.replace(/ /g, ''), 'hex')
const fooId = 'AAAAAAAAAAAAAAAAAAAAAQ'

describe('golden bytes, encoded independently of kx and read by Kafka’s own tools', () => {
  const goldens = [
    {
      name: 'TopicRecord',
      version: 0,
      bytes: '04666f6f0000000000000000000000000000000100',
      value: {name: 'foo', topicId: fooId},
    },
    {
      name: 'OffsetCommitKey',
      version: 0,
      bytes: '000267310003666f6f00000000',
      value: {group: 'g1', topic: 'foo', partition: 0},
    },
    {
      name: 'OffsetCommitValue',
      version: 3,
      bytes: '000000000000002a0000000500000000018bcfe56800',
      value: {offset: 42n, leaderEpoch: 5, metadata: '', commitTimestamp: 1_700_000_000_000n},
    },
    {
      name: 'OffsetCommitValue',
      version: 4,
      bytes: '000000000000002a00000005010000018bcfe5680001001000000000000000000000000000000001',
      value: {offset: 42n, leaderEpoch: 5, metadata: '', commitTimestamp: 1_700_000_000_000n, topicId: fooId},
    },
    {
      name: 'LeaderChangeMessage',
      version: 0,
      bytes: '00000000000102000000010002000000010000',
      value: {version: 0, leaderId: 1, voters: [{voterId: 1}], grantingVoters: [{voterId: 1}]},
    },
    {name: 'EndTxnMarker', version: 0, bytes: '00000007', value: {coordinatorEpoch: 7}},
    {
      name: 'AbortedTxn',
      version: 0,
      bytes: '00000000000003e8000000000000000200000000000000030000000000000004',
      value: {producerId: 1000n, firstOffset: 2n, lastOffset: 3n, lastStableOffset: 4n},
    },
  ]
  for (const {name, version, bytes, value} of goldens) {
    it(`${name} v${version}`, () => {
      expect(decode(name, version, hex(bytes))).toEqual({value, end: hex(bytes).length})
      expect(encode(name, version, value).toString('hex')).toBe(bytes)
    })
  }
})

describe('requests, byte by byte', () => {
  it('ListOffsets v1, as an old client writes it', () => {
    const value = {replicaId: -2, topics: [{name: 't', partitions: [{partitionIndex: 0, timestamp: -1n}]}]}
    const bytes = 'fffffffe 00000001 0001 74 00000001 00000000 ffffffffffffffff'
    expect(encode('ListOffsetsRequest', 1, value).toString('hex')).toBe(hex(bytes).toString('hex'))
  })

  it('Produce v9 in compact forms', () => {
    const value = {
      acks: -1,
      timeoutMs: 1500,
      topicData: [{name: 't', partitionData: [{index: 0, records: Buffer.from([1, 2, 3])}]}],
    }
    const bytes = '00 ffff 000005dc 02 02 74 02 00000000 04 010203 00 00 00'
    expect(encode('ProduceRequest', 9, value).toString('hex')).toBe(hex(bytes).toString('hex'))
  })

  it('the header of a flexible request keeps the old form of the client id, so that older brokers can read it', () => {
    const value = {requestApiKey: 18, requestApiVersion: 3, correlationId: 7, clientId: 'kx'}
    expect(encode('RequestHeader', 2, value).toString('hex')).toBe(
      hex('0012 0003 00000007 0002 6b78 00').toString('hex'),
    )
    expect(encode('RequestHeader', 1, value).toString('hex')).toBe(hex('0012 0003 00000007 0002 6b78').toString('hex'))
  })

  it('Produce v10 with the current leader in a tagged struct, which is absent when it says nothing', () => {
    const answer = {
      index: 0,
      errorCode: 6,
      baseOffset: -1n,
      logAppendTimeMs: -1n,
      logStartOffset: -1n,
      recordErrors: [],
      errorMessage: null,
    }
    const withLeader = encode('ProduceResponse', 10, {
      responses: [{name: 't', partitionResponses: [{...answer, currentLeader: {leaderId: 2, leaderEpoch: 5}}]}],
    })
    const tagged = '01 00 09 00000002 00000005 00'
    expect(withLeader.toString('hex')).toContain(hex(tagged).toString('hex'))
    const without = encode('ProduceResponse', 10, {
      responses: [{name: 't', partitionResponses: [{...answer, currentLeader: {leaderId: -1}}]}],
    })
    expect(without.length).toBe(withLeader.length - hex(tagged).length + 1)
    const {value} = decode<{responses: {partitionResponses: object[]}[]}>('ProduceResponse', 10, without)
    expect(value.responses[0]?.partitionResponses[0]).toMatchObject({currentLeader: {leaderId: -1, leaderEpoch: -1}})
  })
})

describe('a tagged struct that may be null (the classic member of ConsumerGroupMemberMetadataValue)', () => {
  const fields = {
    instanceId: null,
    rackId: null,
    clientId: '',
    clientHost: '',
    subscribedTopicNames: [],
    subscribedTopicRegex: null,
  }
  const member = {...fields, rebalanceTimeoutMs: -1, serverAssignor: null}
  const head = '00 00 01 01 01 00 ffffffff 00'

  it('is not written at its default, which is no null but a struct of defaults', () => {
    const bytes = hex(`${head} 00`)
    expect(encode('ConsumerGroupMemberMetadataValue', 0, member)).toEqual(bytes)
    expect(decode('ConsumerGroupMemberMetadataValue', 0, bytes).value).toEqual({
      ...member,
      classicMemberMetadata: {sessionTimeoutMs: 0, supportedProtocols: []},
    })
  })

  it('has an unsigned varint before it', () => {
    const value = {...member, classicMemberMetadata: {sessionTimeoutMs: 7, supportedProtocols: []}}
    expect(encode('ConsumerGroupMemberMetadataValue', 0, value)).toEqual(hex(`${head} 01 00 07 01 00000007 01 00`))
    const none = {...member, classicMemberMetadata: null}
    expect(encode('ConsumerGroupMemberMetadataValue', 0, none)).toEqual(hex(`${head} 01 00 01 00`))
    expect(decode('ConsumerGroupMemberMetadataValue', 0, hex(`${head} 01 00 01 00`)).value).toEqual(none)
  })
})

describe('decoding', () => {
  it('leaves out fields that the version does not have', () => {
    const bytes = encode('OffsetCommitValue', 0, {offset: 1n, metadata: 'm', commitTimestamp: 2n})
    expect(decode('OffsetCommitValue', 0, bytes).value).toEqual({offset: 1n, metadata: 'm', commitTimestamp: 2n})
  })

  it('fills tagged fields that are not there, in the place where the schema has them', () => {
    const {value} = decode<object>('PartitionChangeRecord', 0, hex('00000000 00000000000000000000000000000001 00'))
    expect(Object.entries(value)).toEqual([
      ['partitionId', 0],
      ['topicId', fooId],
      ['isr', null],
      ['leader', -2],
      ['replicas', null],
      ['removingReplicas', null],
      ['addingReplicas', null],
      ['leaderRecoveryState', -1],
    ])
  })

  it('keeps tagged fields that it does not know, and writes them again', () => {
    const bytes = hex('04666f6f 00000000000000000000000000000001 01 64 02 abcd')
    const {value, end} = decode('TopicRecord', 0, bytes)
    expect(value).toEqual({name: 'foo', topicId: fooId, unknownTaggedFields: [{tag: 100, bytes: hex('abcd')}]})
    expect(end).toBe(bytes.length)
    expect(encode('TopicRecord', 0, value)).toEqual(bytes)
  })

  it('starts where it is told and says where it ended', () => {
    const bytes = hex('ffff 00000007 ee')
    expect(decode('EndTxnMarker', 0, bytes, 2)).toEqual({value: {coordinatorEpoch: 7}, end: 6})
  })

  const damaged: readonly (readonly [what: string, name: string, version: number, bytes: string, failure: string])[] = [
    [
      'bytes that end in a field',
      'EndTxnMarker',
      0,
      '0000',
      'truncated: EndTxnMarker v0 coordinatorEpoch: needs 4 bytes, 2 are left (position 0).',
    ],
    [
      'a string that says it is longer',
      'OffsetCommitKey',
      0,
      '7fff 61',
      'truncated: OffsetCommitKey v0 group: needs 32767 bytes, 1 are left (position 2).',
    ],
    [
      'null where none is allowed',
      'OffsetCommitKey',
      0,
      'ffff',
      'malformed: OffsetCommitKey v0 group: null, which this version does not allow (position 2).',
    ],
    [
      'an array of two billion elements',
      'ListOffsetsRequest',
      1,
      'ffffffff 7fffffff 00',
      'truncated: ListOffsetsRequest v1 topics: an array of 2147483647 elements, but 1 bytes are left (position 8).',
    ],
    [
      'a failure deep inside',
      'ListOffsetsRequest',
      1,
      'ffffffff 00000001 0001 74 00000001 00000000 ff',
      'truncated: ListOffsetsRequest v1 topics[0].partitions[0].timestamp: needs 8 bytes, 1 are left (position 19).',
    ],
    [
      'a varint without an end',
      'TopicRecord',
      0,
      'ffffffffff01',
      'malformed: TopicRecord v0 name: a varint is longer than 32 bits (position 5).',
    ],
    [
      'a varint of 33 bits',
      'TopicRecord',
      0,
      'ffffffff1f',
      'malformed: TopicRecord v0 name: a varint is longer than 32 bits (position 5).',
    ],
    [
      'a string longer than Kafka allows',
      'TopicRecord',
      0,
      `818002 ${'61'.repeat(32_768)}`,
      'malformed: TopicRecord v0 name: a string of 32768 bytes, the longest is 32767 (position 3).',
    ],
    [
      'a tag twice',
      'TopicRecord',
      0,
      '04666f6f 00000000000000000000000000000001 02 64 00 64 00',
      'malformed: TopicRecord v0: tag 100 after tag 100 (position 25).',
    ],
    [
      'a tagged field that is shorter than it says',
      'PartitionChangeRecord',
      0,
      '00000000 00000000000000000000000000000001 01 01 05 00000002 00',
      'malformed: PartitionChangeRecord v0 leader: takes 4 of its 5 bytes (position 27).',
    ],
    [
      'a tagged field that is longer than it says',
      'PartitionChangeRecord',
      0,
      '00000000 00000000000000000000000000000001 01 01 03 00000002 00',
      'truncated: PartitionChangeRecord v0 leader: needs 4 bytes, 3 are left (position 23).',
    ],
  ]
  for (const [what, name, version, bytes, failure] of damaged) {
    it(`refuses ${what}`, () => {
      expect(failureOf(() => decode(name, version, hex(bytes)))).toBe(failure)
    })
  }

  it('refuses a version that the schema does not have, so that a caller can show the bytes raw', () => {
    expect(failureOf(() => decode('TopicRecord', 1, hex('00')))).toBe(
      'unknown-version: TopicRecord has no version 1; 0 to 0 are known.',
    )
    expect(failureOf(() => decode('LeaderAndIsrRequest', 0, hex('00')))).toBe(
      'unknown-version: LeaderAndIsrRequest has no version 0; none is known.',
    )
    expect(failureOf(() => decode('NoSuchRecord', 0, hex('00')))).toBe(
      'unknown-message: There is no message called NoSuchRecord.',
    )
  })
})

describe('encoding', () => {
  const key = {group: 'g', topic: 't', partition: 0}
  const wrong: readonly (readonly [
    what: string,
    name: string,
    version: number,
    value: Record<string, unknown>,
    failure: string,
  ])[] = [
    [
      'a number that is too large',
      'OffsetCommitKey',
      0,
      {...key, partition: 2 ** 31},
      'OffsetCommitKey v0 partition: 2147483648 is no int32.',
    ],
    ['a fraction', 'OffsetCommitKey', 0, {...key, partition: 0.5}, 'OffsetCommitKey v0 partition: 0.5 is no int32.'],
    ['a number for an int64', 'AbortedTxn', 0, {producerId: 5}, 'AbortedTxn v0 producerId: 5 is no int64 (a bigint).'],
    [
      'a bigint beyond 64 bits',
      'AbortedTxn',
      0,
      {producerId: 2n ** 63n},
      'AbortedTxn v0 producerId: 9223372036854775808 is no int64 (a bigint).',
    ],
    [
      'null where none is allowed',
      'OffsetCommitKey',
      0,
      {...key, topic: null},
      'OffsetCommitKey v0 topic: null is no string.',
    ],
    [
      'a string that is too long',
      'OffsetCommitKey',
      0,
      {...key, topic: 'ä'.repeat(16_384)},
      'OffsetCommitKey v0 topic: a string of 32768 bytes, the longest is 32767.',
    ],
    [
      'a uuid that is none',
      'TopicRecord',
      0,
      {name: 't', topicId: 'nonsense'},
      'TopicRecord v0 topicId: "nonsense" is no uuid in Kafka\'s base64.',
    ],
    [
      'a misspelt field',
      'OffsetCommitKey',
      0,
      {...key, partitions: 3},
      'OffsetCommitKey v0: there is no field "partitions".',
    ],
    [
      'a value that this version cannot carry',
      'InitProducerIdRequest',
      2,
      {transactionalId: null, transactionTimeoutMs: 1, producerId: 7n},
      'InitProducerIdRequest v2: version 2 has no field "producerId".',
    ],
    [
      'a wrong element, by its place',
      'MetadataRequest',
      12,
      {topics: [{name: 'a'}, {name: 7}]},
      'MetadataRequest v12 topics[1].name: 7 is no string.',
    ],
  ]
  for (const [what, name, version, value, message] of wrong) {
    it(`refuses ${what}`, () => {
      expect(failureOf(() => encode(name, version, value))).toBe(`invalid-value: ${message}`)
    })
  }

  it('drops what a version cannot carry where the schema says that it may, and what is only the default', () => {
    const old = {transactionalId: null, transactionTimeoutMs: 1}
    expect(encode('InitProducerIdRequest', 2, {...old, producerId: -1n})).toEqual(
      encode('InitProducerIdRequest', 2, old),
    )
    const partition = {partitionIndex: 0, timestamp: -1n}
    const request = (partitions: object[]) => ({replicaId: -1, topics: [{name: 't', partitions}]})
    expect(encode('ListOffsetsRequest', 1, request([{...partition, currentLeaderEpoch: 5}]))).toEqual(
      encode('ListOffsetsRequest', 1, request([partition])),
    )
  })

  it('grows its buffer by what is written', () => {
    const records = Buffer.alloc(3_000_000, 7)
    const value = {acks: 1, timeoutMs: 1, topicData: [{name: 't', partitionData: [{index: 0, records}]}]}
    const {value: again} = decode<typeof value>('ProduceRequest', 7, encode('ProduceRequest', 7, value))
    expect(again.topicData[0]?.partitionData[0]?.records.equals(records)).toBe(true)
  })
})
