import {describe, expect, test} from 'vitest'
import {
  divergence,
  duplicates,
  foreign,
  highWatermarkViolations,
  lost,
  gone,
  moved,
  nonmonotonicSends,
  unequal,
} from '../../../src/experiment/delivery.js'
import type {Found, ReplicaRecords, Writes, Written} from '../../../src/history/operation.js'
import {log, replica, w, writes} from './samples.js'

// A checker without seeded faults is no evidence. Here is a good history; each fault that is put into it must be caught
// by exactly the rules that are meant for it, and by no other.

interface History {
  readonly writes: Writes
  readonly found: readonly Found[]
  readonly replicas: readonly ReplicaRecords[]
  readonly watermarks: readonly (readonly [number, number, number])[]
}

const values = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5']
/** Six acknowledged values, one of which nobody knew and that was appended, one that was not, and one refused. */
const good: History = {
  writes: writes({
    ok: values.map((value, offset) => w(value, offset, offset * 10, offset * 10 + 5)),
    info: [w('appended', 6, 60, 70), w('never-appended', 7, 71, 80)],
    fail: [w('refused', undefined, 81, 82)],
  }),
  found: log(...values, 'appended'),
  replicas: [1, 2, 3].map(nodeId => replica(nodeId, log(...values, 'appended'))),
  watermarks: [
    [6, 1, 0],
    [66, 7, 6],
  ],
}

/** All rules that see something, in alphabetical order. */
function rules({writes: written, found, replicas, watermarks}: History): string[] {
  const goneValues = new Set(gone(written, found, replicas).map(({value}) => value))
  const seen = [
    ...lost(written, found).map(({rule, value}) => (goneValues.has(value) ? rule : 'not-read')),
    ...duplicates(found).map(() => 'duplicate'),
    ...moved(written, found).map(() => 'inconsistent-offset'),
    ...divergence(replicas).map(() => 'divergence'),
    ...unequal(replicas, found).map(() => 'unequal'),
    ...nonmonotonicSends(written).map(() => 'nonmonotonic-send'),
    ...highWatermarkViolations(watermarks).map(() => 'high-watermark'),
    ...foreign(found, written).map(({rule}) => rule),
  ]
  return [...new Set(seen)].sort()
}

/** The same change to what the reader got and to every replica's file. */
function everywhere(change: (records: readonly Found[]) => readonly Found[]): History {
  return {
    ...good,
    found: change(good.found),
    replicas: good.replicas.map(each => ({...each, records: change(each.records)})),
  }
}

const onReplica = (nodeId: number, change: (records: readonly Found[]) => readonly Found[]): History => ({
  ...good,
  replicas: good.replicas.map(each => (each.nodeId === nodeId ? {...each, records: change(each.records)} : each)),
})

const acknowledged = (change: (ok: readonly Written[]) => readonly Written[]): Writes => ({
  ...good.writes,
  ok: change(good.writes.ok),
})

const without = (offset: number) => (records: readonly Found[]) => records.filter(record => record.offset !== offset)
const exchanged = (a: number, b: number) => (records: readonly Found[]) =>
  records.map(record =>
    record.offset === a ? {...record, offset: b} : record.offset === b ? {...record, offset: a} : record,
  )
const at = (offset: number, rest: Partial<Found>) => (records: readonly Found[]) =>
  records.map(record => (record.offset === offset ? {...record, ...rest} : record))
const appended = (value: string) => (records: readonly Found[]) => [...records, {offset: 7, value, leaderEpoch: 0}]

test('the good history is good', () => {
  expect(rules(good)).toEqual([])
})

describe('each seeded fault is caught by exactly the rules meant for it', () => {
  test.each<[string, History, string[]]>([
    ['an acknowledged value is dropped', everywhere(without(2)), ['lost-write']],
    ['the tail is dropped', everywhere(records => records.filter(({offset}) => offset < 4)), ['lost-tail']],
    [
      'another value lies in place of the last acknowledged one and nothing behind',
      everywhere(records => at(5, {value: 'appended'})(without(6)(records))),
      ['lost-tail'],
    ],
    ['only the reader misses one', {...good, found: without(2)(good.found)}, ['not-read', 'unequal']],
    ['a value is there twice', everywhere(appended('v3')), ['duplicate']],
    ['two values have changed places', everywhere(exchanged(1, 2)), ['inconsistent-offset']],
    ['one replica holds another value', onReplica(2, at(3, {value: 'v1'})), ['divergence', 'unequal']],
    ['one replica holds a record of another epoch', onReplica(2, at(3, {leaderEpoch: 1})), ['divergence', 'unequal']],
    ['one replica lacks a record', onReplica(3, without(3)), ['unequal']],
    ['one replica has a record more', onReplica(3, appended('never-appended')), ['unequal']],
    [
      'a value of which nobody knew is marked as acknowledged',
      {
        ...good,
        writes: {
          ...good.writes,
          ok: [...good.writes.ok, w('never-appended', 7, 71, 80)],
          info: [w('appended', 6, 60, 70)],
        },
      },
      ['lost-tail'],
    ],
    [
      'a value of which nobody knew is marked as refused',
      {...good, writes: {...good.writes, fail: [...good.writes.fail, w('appended', 6, 60, 70)], info: []}},
      ['resurrected'],
    ],
    ['a refused value is in the log', everywhere(appended('refused')), ['resurrected']],
    ['a value that nobody wrote is in the log', everywhere(appended('nobody')), ['never-written']],
    [
      'a later write was appended before an earlier one',
      {
        ...everywhere(exchanged(1, 4)),
        writes: acknowledged(ok =>
          ok.map(each => (each.offset === 1 ? {...each, offset: 4} : each.offset === 4 ? {...each, offset: 1} : each)),
        ),
      },
      ['nonmonotonic-send'],
    ],
    [
      'a reader got a record that was not committed',
      {...good, watermarks: [...good.watermarks, [80, 7, 7]]},
      ['high-watermark'],
    ],
  ])('%s', (_, history, expected) => {
    expect(rules(history)).toEqual(expected)
  })
})

test('a refused value that is marked as of unknown outcome changes nothing: it may or may not be there', () => {
  expect(
    rules({...good, writes: {...good.writes, info: [...good.writes.info, ...good.writes.fail], fail: []}}),
  ).toEqual([])
})
