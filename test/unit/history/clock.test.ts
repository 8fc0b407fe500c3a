import {expect, test} from 'vitest'
import {driftMs, trialClock} from '../../../src/history/clock.js'

const clock = trialClock({monotonicMs: 5_000, wallMs: 1_700_000_000_000})

test('all clocks lead to milliseconds since the trial began', () => {
  expect(clock.at(5_250)).toBe(250)
  expect(clock.fromWall(1_700_000_000_250)).toBe(250)
  expect(clock.toWall(250)).toBe(1_700_000_000_250)
})

test('a child process has a monotonic clock of its own, tied to the trial by one instant', () => {
  const fromChild = clock.fromChild({monotonicMs: 40, wallMs: 1_700_000_000_100})
  expect(fromChild(40)).toBe(100)
  expect(fromChild(190)).toBe(250)
})

test('a wall clock that somebody set is noticed', () => {
  const start = {monotonicMs: 0, wallMs: 1_000}
  expect(driftMs(start, {monotonicMs: 500, wallMs: 1_500})).toBe(0)
  expect(driftMs(start, {monotonicMs: 500, wallMs: 4_500})).toBe(3_000)
  expect(driftMs(start, {monotonicMs: 500, wallMs: 500})).toBe(-1_000)
})
