import fc from 'fast-check'
import {expect, test} from 'vitest'
import {decodeMetadataRecord} from '../../../src/log/metadata-records.js'

const topicRecord = Buffer.from('01020004666f6f0000000000000000000000000000000100', 'hex')

test('the golden vector: TopicRecord v0 "foo"', () => {
  expect(decodeMetadataRecord(topicRecord)).toEqual({
    type: 'TopicRecord',
    apiKey: 2,
    version: 0,
    data: {name: 'foo', topicId: 'AAAAAAAAAAAAAAAAAAAAAQ'},
  })
})

test.each<[string, string, RegExp]>([
  ['the frame of the 2.8 preview', `00${topicRecord.toString('hex').slice(2)}`, /^frame version 0 is not known$/],
  ['a later frame', `02${topicRecord.toString('hex').slice(2)}`, /^frame version 2 is not known$/],
  ['a record type that was retired', '010d00', /^record type 13 is not known$/],
  ['a version that is newer than kx', `010209${topicRecord.toString('hex').slice(6)}`, /TopicRecord has no version 9/],
  ['a record that is cut', topicRecord.toString('hex').slice(0, 20), /TopicRecord v0/],
  ['bytes behind the record', `${topicRecord.toString('hex')}00`, /^1 bytes behind the TopicRecord$/],
  ['nothing at all', '', /^no frame version$/],
  ['a frame and no more', '01', /^no record type and version$/],
  ['a varint without an end', '01ffffffffffff', /^no record type and version$/],
])('%s is kept raw, with the reason', (_, hex, reason) => {
  const value = Buffer.from(hex, 'hex')
  const record = decodeMetadataRecord(value)
  expect(record).toEqual({raw: value, reason: expect.stringMatching(reason)})
})

test('a record without a value is told', () => {
  expect(decodeMetadataRecord(null)).toMatchObject({reason: 'no value'})
})

test('it never throws on any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 60}), fc.nat(30), fc.boolean(), (bytes, type, framed) => {
      const record = decodeMetadataRecord(Buffer.from(framed ? [1, type, 0, ...bytes] : bytes))
      expect('data' in record || 'reason' in record).toBe(true)
    }),
    {numRuns: 2_000},
  )
})
