import {describe, expect, test} from 'vitest'
import {type DecoderName, decoderNamed, decoderOfTopic} from '../../../../src/log/decode/decoder.js'
import {type KafkaStyle, kafkaStyles} from '../../../../src/log/decode/style.js'
import {encode, encodeAs} from '../../../../src/protocol/messages.js'
import {findSchemaIn, type MessageSchema} from '../../../../src/protocol/schema.js'
import {int16} from './records.js'

// All of these texts were printed by the released tools 4.0.2, 4.2.2 and 4.4.0 (scripts/compare-decoders.ts).

const hex = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'hex'))

function said(
  name: DecoderName,
  style: KafkaStyle,
  key: string | Buffer | null,
  value: string | Buffer | null,
): string {
  const bytes = (part: string | Buffer | null) => (Buffer.isBuffer(part) ? part : hex(part))
  const text = decoderNamed(name).kafkaText({offset: 5n, key: bytes(key), value: bytes(value)}, style)
  return [text.key, text.payload].filter(part => part !== undefined).join(' | ')
}

/** `style` of `[all, …exceptions]`. */
type ByStyle = readonly [all: string, exceptions?: Readonly<Partial<Record<KafkaStyle, string>>>]

function expectByStyle(say: (style: KafkaStyle) => string, [all, exceptions = {}]: ByStyle): void {
  for (const style of kafkaStyles) expect(say(style), style).toBe(exceptions[style] ?? all)
}

describe('records of the group coordinator', () => {
  const committed = '{"type":"1","data":{"group":"g1","topic":"foo","partition":0}}'
  const commitKey = '0001000267310003666f6f00000000'
  const group = '{"type":"3","data":{"groupId":"cg"}}'
  const skipped = 'Error at offset 5, skipping. '
  const ofValue = (why: string) => `${skipped}Could not read record with version 0 from value's buffer due to: ${why}.`

  test.each<[string, string | null, string | null, ByStyle]>([
    [
      'an offset',
      commitKey,
      '0003000000000000002a0000000500000000018bcfe56800',
      [
        `${committed} | {"version":"3","data":{"offset":42,"leaderEpoch":5,"metadata":"","commitTimestamp":1700000000000}}`,
      ],
    ],
    [
      'an offset with the id of its topic',
      commitKey,
      `0004000000000000002a00000005010000018bcfe56800010010${'00'.repeat(15)}01`,
      [
        `${committed} | {"version":"4","data":{"offset":42,"leaderEpoch":5,"metadata":"","commitTimestamp":1700000000000,"topicId":"AAAAAAAAAAAAAAAAAAAAAQ"}}`,
        {
          '4.0': `${committed} | {"version":"4","data":{"offset":42,"leaderEpoch":5,"metadata":"","commitTimestamp":1700000000000}}`,
        },
      ],
    ],
    ['a tombstone', commitKey, null, [`${committed} | <DELETE>`]],
    [
      'an epoch with a hash',
      '000300026367',
      '0000000000030100080000000000000009',
      [
        `${group} | {"version":"0","data":{"epoch":3,"metadataHash":9}}`,
        {'4.0': `${group} | {"version":"0","data":{"epoch":3}}`},
      ],
    ],
    ['a type of nobody', '7fff0000', '0000', ['Unknown record type 32767 at offset 5, skipping.']],
    ['a negative type', 'ffff0000', '0000', ['Unknown record type -1 at offset 5, skipping.']],
    [
      'a type of 4.0',
      '000900026367',
      '00000100',
      [
        'Unknown record type 9 at offset 5, skipping.',
        {'4.0': '{"type":"9","data":{"groupId":"cg"}} | {"version":"0","data":{"topics":[]}}'},
      ],
    ],
    [
      'a type that 4.0 does not know',
      '001100026367',
      '000000000001000000000000000000',
      [
        '{"type":"17","data":{"groupId":"cg"}} | {"version":"0","data":{"epoch":1,"metadataHash":0}}',
        {'4.0': 'Unknown record type 17 at offset 5, skipping.'},
      ],
    ],
    ['an empty key', '', null, [`${skipped}Could not read version from key's buffer.`]],
    ['a key of one byte', '00', '0000', [`${skipped}Could not read version from key's buffer.`]],
    [
      'a key that ends after its type',
      '0001',
      '0000',
      [`${skipped}Could not read record with version 1 from key's buffer due to: null.`],
    ],
    [
      'a key that is cut in a text',
      '00020005ab',
      '0000',
      [
        `${skipped}Could not read record with version 2 from key's buffer due to: Error reading byte array of 5 byte(s): only 1 byte(s) available.`,
      ],
    ],
    [
      'a key with null for a text',
      '0002ffff',
      '0000',
      [
        `${skipped}Could not read record with version 2 from key's buffer due to: non-nullable field group was serialized as null.`,
      ],
    ],
    ['a value of one byte', commitKey, '00', [`${skipped}Could not read version from value's buffer.`]],
    ['a version of nobody', '000200026367', '0063', [`${skipped}Found an unknown record version 99 for 2 type`]],
    ['a negative version', '000200026367', 'ffff', [`${skipped}Found an unknown record version -1 for 2 type`]],
    [
      'bytes after key and value',
      '000300026367ffff',
      '00000000000100abcd',
      [`${group} | {"version":"0","data":{"epoch":1}}`],
    ],
    [
      'a tagged field of nobody',
      '000300026367',
      '000000000001010902abcd',
      [`${group} | {"version":"0","data":{"epoch":1}}`],
    ],
    [
      'a tagged field that is too short for its type, at the end',
      '000300026367',
      '000000000001010002abcd',
      [ofValue('null'), {'4.0': `${group} | {"version":"0","data":{"epoch":1}}`}],
    ],
    [
      'a tagged field that claims to be longer than it is',
      '000300026367',
      '0000000000010100090000000000000007',
      [
        `${group} | {"version":"0","data":{"epoch":1,"metadataHash":7}}`,
        {'4.0': ofValue('Error reading byte array of 9 byte(s): only 8 byte(s) available')},
      ],
    ],
    [
      'more tagged fields than bytes',
      '000300026367',
      '00000000000105',
      [ofValue('Tried to read 5 tagged fields, but there are only 0 bytes remaining.'), {'4.0': ofValue('null')}],
    ],
    [
      'a negative number of tagged fields',
      '000300026367',
      '000000000001cc8e81b62e',
      [
        ofValue('Invalid negative number of tagged fields -423606452'),
        {'4.0': `${group} | {"version":"0","data":{"epoch":1}}`},
      ],
    ],
    [
      'a varint that does not end',
      '000300026367',
      '000000000001ffffffffff',
      [ofValue('Varint is too long, the most significant bit in the 5th byte is set, converted value: ffffffff')],
    ],
    [
      'a count that is larger than what is left',
      '000700026367000161',
      '00007f',
      [
        `${skipped}Could not read record with version 0 from value's buffer due to: Tried to allocate a collection of size 126, but there are only 0 bytes remaining..`,
      ],
    ],
    [
      'null for an element of a list',
      '001000026367000161',
      '00000200',
      [ofValue('non-nullable field topics element was serialized as null')],
    ],
    [
      'a text that is longer than any',
      '001000026367000161',
      '000002818002',
      [ofValue('string field topics element had invalid length 32768')],
    ],
  ])('%s', (_, key, value, expected) => {
    expectByStyle(style => said('offsets', style, key, value), expected)
  })

  test('text is read as Java reads UTF-8 and printed as Jackson prints it', () => {
    const key = Buffer.concat([
      Buffer.from('0002000f', 'hex'),
      Buffer.from('222f5c090001c3a9eda0bded417fe28080', 'hex').subarray(0, 15),
    ])
    expect(said('offsets', '4.4', key, null)).toBe(
      '{"type":"2","data":{"group":"\\"/\\\\\\t\\u0000\\u0001é\ufffd\ufffdA\u007f\ufffd"}} | <DELETE>',
    )
  })

  test('a record without a key, where the tool’s run ends', () => {
    const why = (decoder: string) =>
      `Error at offset 5, skipping. Failed to decode message at offset 5 using ${decoder} decoder (message had a missing key)`
    expectByStyle(style => said('offsets', style, null, '00'), [why('the specified'), {'4.0': why('offset topic')}])
    expectByStyle(
      style => said('share-group-state', style, null, '00'),
      [why('the specified'), {'4.0': why('share group state topic')}],
    )
    expectByStyle(style => said('transaction-log', style, null, '00'), [why('the specified')])
  })
})

describe('what the members of a classic group told each other', () => {
  const key = Buffer.concat([int16(2), Buffer.from([0, 1, 0x67])])
  const subscription = Buffer.concat([
    int16(3),
    encode('ConsumerProtocolSubscription', 3, {topics: ['foo'], rackId: 'r'}),
  ])
  const assignment = Buffer.concat([
    int16(0),
    encode('ConsumerProtocolAssignment', 0, {assignedPartitions: [{topic: 'foo', partitions: [1]}]}),
  ])

  function payload(protocolType: string, member: {subscription: Buffer; assignment: Buffer}): string {
    const members = [{memberId: 'm', clientId: 'c', clientHost: '/h', sessionTimeout: 1, ...member}]
    const value = encode('GroupMetadataValue', 0, {protocolType, generation: 1, members})
    const text = said('offsets', '4.4', key, Buffer.concat([int16(0), value]))
    return /"subscription":.*(?=\}\]\}\})/.exec(text)?.[0] ?? text
  }

  const told = '{"topics":["foo"],"userData":null,"ownedPartitions":[],"generationId":-1,"rackId":"r"}'
  const got = '{"assignedPartitions":[{"topic":"foo","partitions":[1]}],"userData":null}'

  test('is printed in a consumer group, and as it is in others', () => {
    expect(payload('consumer', {subscription, assignment})).toBe(`"subscription":${told},"assignment":${got}`)
    const [first, second] = [subscription.toString('base64'), assignment.toString('base64')]
    expect(payload('connect', {subscription, assignment})).toBe(`"subscription":"${first}","assignment":"${second}"`)
  })

  test('stays as it is where it can’t be read: each for itself', () => {
    const cut = subscription.subarray(0, 6)
    expect(payload('consumer', {subscription: cut, assignment})).toBe(
      `"subscription":"${cut.toString('base64')}","assignment":${got}`,
    )
    const none = Buffer.alloc(0)
    expect(payload('consumer', {subscription, assignment: none})).toBe(`"subscription":${told},"assignment":""`)
  })

  test('of a version that nobody knows is read as the nearest one, if no struct in it knows better', () => {
    const later = Buffer.concat([int16(9), subscription.subarray(2)])
    expect(payload('consumer', {subscription: later, assignment})).toContain(told)
    const laterAssignment = Buffer.concat([int16(9), assignment.subarray(2)])
    expect(payload('consumer', {subscription, assignment: laterAssignment})).toContain(
      `"assignment":"${laterAssignment.toString('base64')}"`,
    )
  })
})

describe('records of the transaction coordinator', () => {
  const key = Buffer.concat([int16(0), encode('TransactionLogKey', 0, {transactionalId: 'tx'})])
  const value = (status: number, partitions: unknown, version = 1) =>
    Buffer.concat([
      int16(version),
      encode('TransactionLogValue', version, {
        producerId: 12n,
        producerEpoch: 2,
        transactionTimeoutMs: 14,
        transactionStatus: status,
        transactionPartitions: partitions,
        transactionLastUpdateTimestampMs: 123n,
        transactionStartTimestampMs: 13n,
      }),
    ])
  const json = (status: string, partitions: string) =>
    `{"type":"0","data":{"transactionalId":"tx"}} | {"version":"1","data":{"producerId":12,"producerEpoch":2,"transactionTimeoutMs":14,"transactionStatus":${status},"transactionPartitions":${partitions},"transactionLastUpdateTimestampMs":123,"transactionStartTimestampMs":13}}`
  const own = (state: string, partitions: string) =>
    `transaction_metadata::transactionalId=tx | producerId:12,producerEpoch:2,state=${state},partitions=[${partitions}],txnLastUpdateTimestamp=123,txnTimeoutMs=14`

  test.each(
    [
      'Empty',
      'Ongoing',
      'PrepareCommit',
      'PrepareAbort',
      'CompleteCommit',
      'CompleteAbort',
      'Dead',
      'PrepareEpochFence',
    ].map((name, status) => [name, status] as const),
  )('the status %s', (name, status) => {
    expectByStyle(
      style => said('transaction-log', style, key, value(status, [])),
      [json(`"${name}"`, '[]'), {'4.2': json(String(status), '[]'), '4.0': own(name, '')}],
    )
  })

  test('a status that nobody knows, where the run of the tool of 4.0 ends', () => {
    expectByStyle(
      style => said('transaction-log', style, key, value(77, null)),
      [json('"77"', 'null'), {'4.2': json('77', 'null'), '4.0': own('77', '')}],
    )
  })

  test('the tool of 4.0 prints partitions in the order of a hash set', () => {
    const partitions = [{topic: 'foo', partitionIds: Array.from({length: 13}, (_, index) => index)}]
    expect(said('transaction-log', '4.0', key, value(1, partitions))).toBe(
      own('Ongoing', [6, 7, 4, 5, 2, 3, 0, 1, 12, 10, 11, 8, 9].map(id => `foo-${id}`).join()),
    )
    const some = [
      {topic: 'orders', partitionIds: [2, 0, 1]},
      {topic: 'foo', partitionIds: [1, 1]},
    ]
    expect(said('transaction-log', '4.0', key, value(1, some))).toBe(own('Ongoing', 'foo-1,orders-0,orders-1,orders-2'))
  })

  test('keys of other types, tombstones and unknown versions', () => {
    expectByStyle(
      style => said('transaction-log', style, '00050000', null),
      ['Unknown record type 5 at offset 5, skipping.', {'4.0': 'unknown::version=5'}],
    )
    expect(said('transaction-log', '4.0', key, null)).toBe('transaction_metadata::transactionalId=tx | <DELETE>')
    expectByStyle(
      style => said('transaction-log', style, key, '0009'),
      [
        'Error at offset 5, skipping. Found an unknown record version 9 for 0 type',
        {'4.0': 'Error at offset 5, skipping. Unknown version 9 from the transaction log message value'},
      ],
    )
  })
})

test('records of the share coordinator, whose version has another label and other fields in 4.0', () => {
  const keyFields = {groupId: 'gs', topicId: 'Uj5wn_FqTXirEASvVZRY1w', partition: 0}
  const key = Buffer.concat([int16(1), encode('ShareUpdateKey', 0, keyFields)])
  const value = Buffer.concat([int16(0), encode('ShareUpdateValue', 0, {snapshotEpoch: 7, startOffset: 1n})])
  const keyText = '{"type":"1","data":{"groupId":"gs","topicId":"Uj5wn_FqTXirEASvVZRY1w","partition":0}}'
  expectByStyle(
    style => said('share-group-state', style, key, value),
    [
      `${keyText} | {"version":"0","data":{"snapshotEpoch":7,"leaderEpoch":0,"startOffset":1,"stateBatches":[]}}`,
      {
        '4.0':
          "Error at offset 5, skipping. Could not read record with version 0 from value's buffer due to: non-nullable field stateBatches was serialized as null.",
      },
    ],
  )
  const schema = findSchemaIn('4.0', 'ShareUpdateValue') as MessageSchema
  const older = Buffer.concat([int16(0), encodeAs(schema, 0, {snapshotEpoch: 7, startOffset: 1n})])
  expect(said('share-group-state', '4.0', key, older)).toBe(
    `${keyText} | {"type":"0","data":{"snapshotEpoch":7,"leaderEpoch":0,"startOffset":1,"stateBatches":[]}}`,
  )
})

describe('records of the controllers', () => {
  const skipped = 'Error at 5, skipping. '
  test.each<[string, string | null, ByStyle]>([
    [
      'a topic',
      '01020004666f6f0000000000000000000000000000000100',
      ['{"type":"TOPIC_RECORD","version":0,"data":{"name":"foo","topicId":"AAAAAAAAAAAAAAAAAAAAAQ"}}'],
    ],
    ['a version of nobody', '01140500', ['{"type":"NO_OP_RECORD","version":5,"data":{}}']],
    [
      'a version of nobody with a struct that knows its versions',
      `010009${'00'.repeat(4)}00${'00'.repeat(16)}${'00'.repeat(8)}02016100000001000001000000000000000000`,
      [`${skipped}Failed to deserialize record with type 0`],
    ],
    [
      'a type that 4.0 and 4.2 do not know',
      '011d000000000100',
      [
        '{"type":"UNREGISTER_CONTROLLER_RECORD","version":0,"data":{"controllerId":1}}',
        {
          '4.2': `${skipped}org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 29`,
          '4.0': `${skipped}org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 29`,
        },
      ],
    ],
    [
      'a frame of 2.8',
      '000200',
      [
        `${skipped}Could not deserialize metadata record with frame version 0. Note that upgrades from the preview release of KRaft in 2.8 to newer versions are not supported.`,
      ],
    ],
    [
      'a frame of nobody',
      '020200',
      [
        `${skipped}Could not deserialize metadata record due to unknown frame version 2(only frame version 1 is supported)`,
      ],
    ],
    ['no value', null, [`${skipped}Error while reading frame version`]],
    ['an empty value', '', [`${skipped}Error while reading frame version`]],
    ['a frame and no more', '01', [`${skipped}Error while reading type`]],
    ['no version', '0102', [`${skipped}Error while reading version`]],
    ['a type beyond an int16', '018080020000', [`${skipped}Value for type was too large.`]],
    ['a record that is cut', '01020004', [`${skipped}Failed to deserialize record with type 2`]],
    ['bytes behind the record', '01140000ab', [`${skipped}Found 1 byte(s) of garbage after 20`]],
    [
      'a tag of another version',
      '0111000000000100000000000000090102 01 01'.replaceAll(' ', ''),
      [`${skipped}Failed to deserialize record with type 17`],
    ],
  ])('%s', (_, value, expected) => {
    expectByStyle(style => said('cluster-metadata', style, null, value), expected)
  })
})

test('an internal topic has one decoder, and others have none', () => {
  expect(decoderOfTopic('__consumer_offsets')).toBe('offsets')
  expect(decoderOfTopic('__transaction_state')).toBe('transaction-log')
  expect(decoderOfTopic('__cluster_metadata')).toBe('cluster-metadata')
  expect(decoderOfTopic('__share_group_state')).toBe('share-group-state')
  expect(decoderOfTopic('__remote_log_metadata')).toBe('remote-log-metadata')
  expect(decoderOfTopic('orders')).toBeUndefined()
  expect(decoderOfTopic('toString')).toBeUndefined()
})
