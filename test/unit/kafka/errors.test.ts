import {expect, test} from 'vitest'
import {kafkaError} from '../../../src/kafka/errors.js'

test.each([
  [0, 'NONE', 'yes'],
  [19, 'NOT_ENOUGH_REPLICAS', 'no'],
  [10, 'MESSAGE_TOO_LARGE', 'no'],
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'no'],
  [7, 'REQUEST_TIMED_OUT', 'unknown'],
  [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'unknown'],
  [6, 'NOT_LEADER_OR_FOLLOWER', 'unknown'],
  [69, 'GROUP_ID_NOT_FOUND', 'unknown'],
  [105, 'TRANSACTIONAL_ID_NOT_FOUND', 'unknown'],
])('error %i is %s, and says of a write: appended %s', (code, name, append) => {
  expect(kafkaError(code)).toEqual({code, name, append})
})

test('a code that kx does not know leaves the write unknown', () => {
  expect(kafkaError(9_999)).toEqual({code: 9_999, name: 'ERROR_9999', append: 'unknown'})
})
