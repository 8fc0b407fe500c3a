import {describe, expect, test} from 'vitest'
import type {Operation} from '../../../src/history/operation.js'
import {gather, outcomeOf} from '../../../src/history/writes.js'

let clock = 0
function attempt(value: string, rest: Partial<Operation> & Pick<Operation, 'outcome'>): Operation {
  const startMs = ++clock
  return {
    process: 'w',
    operation: 'write',
    topic: 't',
    partition: 0,
    value,
    startMs,
    endMs: startMs + 0.5,
    attempt: 0,
    ...rest,
  }
}
const of = (operations: readonly Operation[]) => gather(operations, {topic: 't', acks: 'all'})

describe('what an answer says of a write', () => {
  test.each<[unknown, string, string]>([
    [0, 'ok', 'NONE'],
    [19, 'fail', 'NOT_ENOUGH_REPLICAS: refused before the append'],
    [10, 'fail', 'MESSAGE_TOO_LARGE'],
    [45, 'fail', 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
    [20, 'info', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND: it was appended, and may yet be cut off'],
    [7, 'info', 'REQUEST_TIMED_OUT: appended by the leader, with its offset'],
    [6, 'info', 'NOT_LEADER_OR_FOLLOWER: a deposed leader may have appended it before'],
    [-1, 'info', 'UNKNOWN_SERVER_ERROR'],
    [9_999, 'info', 'a code that kx does not know'],
    [undefined, 'info', 'no answer at all, as with acks=0'],
    [new Error('ECONNRESET'), 'info', 'a broken connection'],
  ])('%s is %s (%s)', (answer, outcome) => {
    expect(outcomeOf(answer)).toBe(outcome)
  })
})

describe('what became of a value', () => {
  test('ok if any attempt was, even if a later one was refused', () => {
    const {ok, fail, info} = of([
      attempt('a', {outcome: 'ok', offset: 5}),
      attempt('a', {outcome: 'fail', errorCode: 45, attempt: 1}),
    ])
    expect(ok).toEqual([{value: 'a', offset: 5, startMs: expect.any(Number), endMs: expect.any(Number), attempts: 2}])
    expect([fail, info]).toEqual([[], []])
  })

  test('fail only if all attempts surely failed', () => {
    const {fail} = of([
      attempt('a', {outcome: 'fail', errorCode: 19, error: 'NOT_ENOUGH_REPLICAS'}),
      attempt('a', {outcome: 'fail', errorCode: 10, error: 'MESSAGE_TOO_LARGE', attempt: 1}),
    ])
    expect(fail).toMatchObject([{value: 'a', errorCode: 10, error: 'MESSAGE_TOO_LARGE', attempts: 2}])
  })

  test('error 45 after an attempt of which nobody knows is info: the first may have been appended and forgotten', () => {
    const {info, fail} = of([
      attempt('a', {outcome: 'info', error: 'ECONNRESET'}),
      attempt('a', {outcome: 'fail', errorCode: 45, error: 'OUT_OF_ORDER_SEQUENCE_NUMBER', attempt: 1}),
    ])
    expect(info.map(each => each.value)).toEqual(['a'])
    expect(fail).toEqual([])
  })

  test('a time-out keeps its offset, which tells where the value would be', () => {
    const {info} = of([attempt('a', {outcome: 'info', errorCode: 7, error: 'REQUEST_TIMED_OUT', offset: 50})])
    expect(info).toMatchObject([{value: 'a', offset: 50, errorCode: 7}])
  })

  test('an acknowledged value lasts from its first attempt to its first acknowledgement', () => {
    const operations = [
      attempt('a', {outcome: 'info', startMs: 10, endMs: 20}),
      attempt('a', {outcome: 'ok', offset: 1, startMs: 21, endMs: 25}),
      attempt('a', {outcome: 'ok', offset: 2, startMs: 26, endMs: 30}),
    ]
    expect(of(operations).ok).toEqual([{value: 'a', offset: 1, startMs: 10, endMs: 25, attempts: 3}])
    expect(of([...operations].reverse()).ok).toEqual(of(operations).ok)
  })

  test('reads and other topics do not count, and values keep the order of their first attempts', () => {
    const writes = of([
      attempt('b', {outcome: 'ok', offset: 1}),
      attempt('x', {outcome: 'ok', offset: 1, operation: 'read'}),
      attempt('y', {outcome: 'ok', offset: 1, topic: 'other'}),
      attempt('a', {outcome: 'ok', offset: 0}),
    ])
    expect(writes).toMatchObject({topic: 't', acks: 'all', fail: [], info: []})
    expect(writes.ok.map(each => each.value)).toEqual(['b', 'a'])
  })
})
