import {describe, expect, test} from 'vitest'
import {controlRecord, controlText} from '../../../../src/log/decode/control.js'
import {kafkaStyles} from '../../../../src/log/decode/style.js'
import {encode} from '../../../../src/protocol/messages.js'
import {int16} from './records.js'

const keyOf = (type: number, version = 0) => Buffer.concat([int16(version), int16(type)])
const marker = (version: number, epoch: number, rest = '') => {
  const bytes = Buffer.alloc(6)
  bytes.writeInt16BE(version)
  bytes.writeInt32BE(epoch, 2)
  return Buffer.concat([bytes, Buffer.from(rest)])
}

const voter = {
  voterId: 1,
  voterDirectoryId: 'tpx8pd1IQDqJwMfGzXj6GA',
  endpoints: [{name: 'CONTROLLER', host: 'localhost', port: 9093}],
  kRaftVersionFeature: {minSupportedVersion: 0, maxSupportedVersion: 1},
}
const leaderChange = encode('LeaderChangeMessage', 0, {
  leaderId: 1,
  voters: [{voterId: 1}, {voterId: 2}],
  grantingVoters: [{voterId: 1}],
})

describe('control records as Kafka’s tools print them', () => {
  test.each([
    ['ABORT', 0],
    ['COMMIT', 1],
  ])('%s, also of a later version and with more bytes', (name, type) => {
    for (const style of kafkaStyles) {
      const text = ` endTxnMarker: ${name} coordinatorEpoch: 7`
      expect(controlText(keyOf(type), marker(0, 7), style)).toBe(text)
      expect(controlText(keyOf(type, 1), marker(3, 7, 'more'), style)).toBe(text)
    }
  })

  test('LEADER_CHANGE, which the tool of 4.0 does not read', () => {
    const json = '{"version":0,"leaderId":1,"voters":[{"voterId":1},{"voterId":2}],"grantingVoters":[{"voterId":1}]}'
    expect(controlText(keyOf(2), leaderChange, '4.4')).toBe(` LeaderChange: ${json}`)
    expect(controlText(keyOf(2), leaderChange, '4.2')).toBe(` LeaderChange: ${json}`)
    expect(controlText(keyOf(2), leaderChange, '4.0')).toBe(' controlType: LEADER_CHANGE(2)')
  })

  test('a message that names version 1 is read as version 0 and printed as version 1', () => {
    const said = encode('LeaderChangeMessage', 0, {version: 1, leaderId: 1, voters: [{voterId: 1}], grantingVoters: []})
    expect(controlText(keyOf(2), said, '4.4')).toBe(
      ' LeaderChange: {"version":1,"leaderId":1,"voters":[{"voterId":1,"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA"}],"grantingVoters":[]}',
    )
  })

  test('KRaft’s other types', () => {
    const text = (type: number, name: string, value: object) =>
      controlText(keyOf(type), encode(name, 0, value as never), '4.0')
    expect(text(3, 'SnapshotHeaderRecord', {lastContainedLogTimestamp: 10_000n})).toBe(
      ' SnapshotHeader {"version":0,"lastContainedLogTimestamp":10000}',
    )
    expect(text(4, 'SnapshotFooterRecord', {})).toBe(' SnapshotFooter {"version":0}')
    expect(text(5, 'KRaftVersionRecord', {kRaftVersion: 1})).toBe(' KRaftVersion {"version":0,"kRaftVersion":1}')
    expect(text(6, 'VotersRecord', {voters: [voter]})).toBe(
      ' KRaftVoters {"version":0,"voters":[{"voterId":1,"voterDirectoryId":"tpx8pd1IQDqJwMfGzXj6GA","endpoints":[{"name":"CONTROLLER","host":"localhost","port":9093}],"kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}}]}',
    )
  })

  test.each([7, -1, 32767, -32768])('the unknown type %d', type => {
    expect(controlText(keyOf(type), null, '4.4')).toBe(` controlType: UNKNOWN(${type})`)
  })

  test.each<[string, Buffer | null, Buffer | null, string]>([
    ['no key', null, marker(0, 7), ' controlType: UNKNOWN (a control record without a key)'],
    [
      'a short key',
      Buffer.alloc(2),
      marker(0, 7),
      " controlType: UNKNOWN (a control record's key of 2 bytes, 4 are needed)",
    ],
    [
      'a negative key version',
      keyOf(1, -2),
      marker(0, 7),
      " controlType: UNKNOWN (version -2 of a control record's key)",
    ],
    [
      'a short marker',
      keyOf(1),
      Buffer.alloc(4),
      " endTxnMarker: COMMIT (a transaction marker's value of 4 bytes, 6 are needed)",
    ],
    ['no marker', keyOf(0), null, ' endTxnMarker: ABORT (a transaction marker without a value)'],
    ['a marker of version −1', keyOf(0), marker(-1, 7), ' endTxnMarker: ABORT (version -1 of a transaction marker)'],
    ['no message', keyOf(5), null, ' controlType: KRAFT_VERSION(5) (no value)'],
    [
      'a cut message',
      keyOf(5),
      Buffer.of(0),
      ' controlType: KRAFT_VERSION(5) (KRaftVersionRecord v0 version: needs 2 bytes, 1 are left (position 0).)',
    ],
  ])('where the run of Kafka’s tool ends, the reason stands there: %s', (_, key, value, text) => {
    expect(controlText(key, value, '4.4')).toBe(text)
  })
})

describe('control records as data', () => {
  test('of transactions', () => {
    expect(controlRecord(keyOf(1), marker(0, 7))).toEqual({
      type: 1,
      name: 'COMMIT',
      version: 0,
      data: {coordinatorEpoch: 7},
      problems: [],
    })
    expect(controlRecord(keyOf(0, 1), marker(2, -1, 'abc'))).toEqual({
      type: 0,
      name: 'ABORT',
      version: 2,
      data: {coordinatorEpoch: -1},
      problems: [
        "version 1 of a control record's key, read as version 0",
        'version 2 of a transaction marker, read as version 0',
        '3 bytes left over after the transaction marker',
      ],
    })
    expect(controlRecord(keyOf(1), marker(0, 7).subarray(0, 4)).problems).toEqual([
      "a transaction marker's value of 4 bytes, 6 are needed",
    ])
  })

  test('of KRaft', () => {
    const {problems, ...record} = controlRecord(keyOf(6), encode('VotersRecord', 0, {voters: [voter]}))
    expect(record).toEqual({type: 6, name: 'KRAFT_VOTERS', version: 0, data: {version: 0, voters: [voter]}})
    expect(problems).toEqual([])
    expect(controlRecord(keyOf(2), Buffer.concat([leaderChange, Buffer.of(1)])).problems).toEqual([
      '1 byte left over after LeaderChangeMessage',
    ])
    const later = controlRecord(keyOf(5), encode('KRaftVersionRecord', 0, {version: 4, kRaftVersion: 2}))
    expect(later).toMatchObject({version: 4, problems: ['KRaftVersionRecord has no version 4']})
  })

  test('a LEADER_CHANGE that really is of version 1 is read as that', () => {
    const data = {
      version: 1,
      leaderId: 3,
      voters: [{voterId: 3, voterDirectoryId: 'tpx8pd1IQDqJwMfGzXj6GA'}],
      grantingVoters: [],
    }
    expect(controlRecord(keyOf(2), encode('LeaderChangeMessage', 1, data))).toEqual({
      type: 2,
      name: 'LEADER_CHANGE',
      version: 1,
      data,
      problems: [],
    })
  })

  test('of unknown types and damaged keys', () => {
    expect(controlRecord(keyOf(7), null)).toEqual({type: 7, name: 'UNKNOWN', problems: ['control type 7 is not known']})
    expect(controlRecord(Buffer.alloc(3), null)).toEqual({
      type: undefined,
      name: 'UNKNOWN',
      problems: ["a control record's key of 3 bytes, 4 are needed"],
    })
    expect(controlRecord(Buffer.concat([keyOf(1), Buffer.of(0)]), marker(0, 1)).problems).toEqual([
      '1 byte left over after the key',
    ])
  })
})
