import {describe, expect, it} from 'vitest'
import {decode, encode} from '../../../src/protocol/messages.js'

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
