import {describe, expect, test} from 'vitest'
import type {FaultRecord} from '../../../src/experiment/bench.js'
import {stalledUntil} from '../../../src/experiment/stall.js'
import {w, writes} from './samples.js'

const blow: FaultRecord = {
  fault: 'kill',
  nodeId: 2,
  mechanism: 'SIGKILL',
  evidence: 'gone',
  startMs: 1_000,
  provenMs: 1_100,
  wallMs: 1_700_000_001_000,
}
/** The fence comes 8 s after the blow, at 9,000 ms of the trial. */
const stalled = (...ok: ReturnType<typeof w>[]) => stalledUntil(writes({ok}), blow, 8_000, 50)

describe('acks=all stalls until the fence', () => {
  test('if what was begun before the blow or during the stall is acknowledged only with the fence', () => {
    expect(stalled(w('a', 0, 900, 990), w('b', 1, 995, 9_010), w('c', 2, 4_000, 9_020))).toBe(true)
  })

  test('not if one write was acknowledged during it, whenever it was begun', () => {
    expect(stalled(w('a', 0, 995, 9_010), w('b', 1, 4_000, 4_010))).toBe(false)
    expect(stalled(w('a', 0, 995, 9_010), w('b', 1, 900, 4_010))).toBe(false)
  })

  test('answers that were under way when the process died, or came a moment before the fence’s time stamp, are no break', () => {
    expect(stalled(w('a', 0, 995, 1_140), w('b', 1, 1_200, 8_960))).toBe(true)
    expect(stalled(w('a', 0, 995, 1_160), w('b', 1, 1_200, 8_960))).toBe(false)
    expect(stalled(w('a', 0, 1_200, 8_940), w('b', 1, 1_200, 8_960))).toBe(false)
  })

  test('a stall in which nobody waited tells nothing', () => {
    expect(() => stalled(w('a', 0, 900, 990), w('b', 1, 9_100, 9_110))).toThrow('No write was waiting')
    expect(() => stalled()).toThrow('No write was waiting')
  })
})
