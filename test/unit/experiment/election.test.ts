import {describe, expect, test} from 'vitest'
import {electionOf} from '../../../src/experiment/election.js'
import type {TimelineEvent} from '../../../src/experiment/timeline.js'

const begin = 1_700_000_000_000

/** The state of the topic `t` after a record, at so many milliseconds of the trial. */
function state(
  batch: number,
  atMs: number,
  leader: number,
  leaderEpoch: number,
  inSyncReplicas: number[],
  topic = 't',
): TimelineEvent {
  return {atMs, wallMs: begin + atMs, batch, kind: 'partition', topic, leader, leaderEpoch, inSyncReplicas}
}

function broker(batch: number, atMs: number, kind: TimelineEvent['kind'], nodeId: number): TimelineEvent {
  return {atMs, wallMs: begin + atMs, batch, kind, nodeId}
}

const blow = (nodeId: number, atMs: number) => ({nodeId, wallMs: begin + atMs})

/** As the controller writes it: PARTITION_CHANGE before the registration change, in one batch with one timestamp. */
const killed: readonly TimelineEvent[] = [
  state(100, 0, 1, 0, [1, 2, 3]),
  state(100, 0, 1, 0, [1, 2, 3], 'other'),
  state(140, 9_600, 2, 1, [2, 3]),
  state(140, 9_600, 2, 1, [2, 3], 'other'),
  broker(140, 9_600, 'fenced', 1),
  broker(155, 16_200, 'registered', 1),
  broker(156, 16_250, 'unfenced', 1),
  state(160, 16_440, 2, 1, [2, 3, 1]),
]

describe('a killed leader', () => {
  test('is fenced, and in the same batch another member of the ISR leads', () => {
    expect(electionOf(killed, {topic: 't', fault: blow(1, 1_000)})).toEqual({
      isrBefore: [1, 2, 3],
      isrChangesBeforeFence: 0,
      leaderBefore: 1,
      leaderAfter: 2,
      epochBefore: 0,
      epochAfter: 1,
      epochSteps: 1,
      fencedMs: 8_600,
      newLeaderMs: 8_600,
      isrAfterFault: [2, 3],
      isrAtEnd: [2, 3, 1],
      leaderAtEnd: 2,
    })
  })

  test('an ISR that shrank before the fence is seen, for it spoils the trial', () => {
    const spoiled = [...killed.slice(0, 2), state(120, 5_000, 1, 0, [1, 2]), ...killed.slice(2)]
    expect(electionOf(spoiled, {topic: 't', fault: blow(1, 1_000)})).toMatchObject({
      isrBefore: [1, 2],
      isrChangesBeforeFence: 1,
    })
  })

  test('an ISR that shrank and grew again before the fence is seen too, although it is complete', () => {
    const spoiled = [
      ...killed.slice(0, 2),
      state(120, 5_000, 1, 0, [1, 2]),
      state(130, 6_000, 1, 0, [3, 2, 1]),
      ...killed.slice(2),
    ]
    expect(electionOf(spoiled, {topic: 't', fault: blow(1, 1_000)})).toMatchObject({
      isrBefore: [3, 2, 1],
      isrChangesBeforeFence: 2,
    })
  })

  test('a record that only lists the ISR in another order changes nothing', () => {
    const same = [...killed.slice(0, 2), state(120, 5_000, 1, 0, [3, 1, 2]), ...killed.slice(2)]
    expect(electionOf(same, {topic: 't', fault: blow(1, 1_000)})).toMatchObject({isrChangesBeforeFence: 0})
  })

  test('a change in the very batch of the fence is the step, not something before it', () => {
    expect(electionOf(killed, {topic: 'other', fault: blow(1, 1_000)})).toMatchObject({
      isrBefore: [1, 2, 3],
      isrChangesBeforeFence: 0,
      leaderAfter: 2,
    })
  })

  test('a fence of another broker, or one before the blow, is not the victim’s', () => {
    const others = [
      broker(90, 500, 'fenced', 1),
      ...killed.slice(0, 2),
      broker(130, 4_000, 'fenced', 3),
      ...killed.slice(2),
    ]
    expect(electionOf(others, {topic: 't', fault: blow(1, 1_000)}).fencedMs).toBe(8_600)
  })

  test('a partition that nobody can lead has no leader after the fault until there is one', () => {
    const offline = [state(100, 0, 1, 0, [1]), state(140, 9_600, -1, 1, [1]), broker(140, 9_600, 'fenced', 1)]
    expect(electionOf(offline, {topic: 't', fault: blow(1, 1_000)})).toMatchObject({
      leaderBefore: 1,
      leaderAfter: null,
      epochSteps: null,
      newLeaderMs: null,
      fencedMs: 8_600,
      leaderAtEnd: -1,
    })
    const unclean = [...offline, state(150, 12_000, 3, 2, [3])]
    expect(electionOf(unclean, {topic: 't', fault: blow(1, 1_000)})).toMatchObject({
      leaderAfter: 3,
      epochSteps: 2,
      newLeaderMs: 11_000,
      isrAfterFault: [3],
    })
  })
})

describe('a leader that is told to stop', () => {
  const stopped: readonly TimelineEvent[] = [
    state(100, 0, 1, 0, [1, 2, 3]),
    state(120, 1_038, 2, 1, [2, 3]),
    broker(120, 1_035, 'controlled-shutdown', 1),
    broker(130, 3_100, 'fenced', 1),
    broker(150, 12_400, 'fenced', 1),
    state(160, 13_000, 2, 1, [2, 3, 1]),
  ]

  test('hands over at once; the first fence comes later', () => {
    expect(electionOf(stopped, {topic: 't', fault: blow(1, 1_000)})).toMatchObject({
      isrBefore: [1, 2, 3],
      isrChangesBeforeFence: 0,
      leaderAfter: 2,
      epochSteps: 1,
      newLeaderMs: 38,
      fencedMs: 2_100,
      isrAfterFault: [2, 3],
      isrAtEnd: [2, 3, 1],
    })
  })
})

describe('a killed follower', () => {
  const follower: readonly TimelineEvent[] = [
    state(100, 0, 1, 0, [1, 2, 3]),
    state(140, 8_300, 1, 0, [1, 3]),
    broker(140, 8_300, 'fenced', 2),
    state(160, 15_000, 1, 0, [1, 3, 2]),
  ]

  test('leaves the ISR with its fence and changes no leader', () => {
    expect(electionOf(follower, {topic: 't', fault: blow(2, 1_000)})).toMatchObject({
      leaderBefore: 1,
      leaderAfter: 1,
      epochSteps: 0,
      newLeaderMs: null,
      fencedMs: 7_300,
      isrBefore: [1, 2, 3],
      isrAfterFault: [1, 3],
      isrAtEnd: [1, 3, 2],
    })
  })

  test('an election that happens all the same is seen', () => {
    const moved = [...follower.slice(0, 3), state(150, 9_000, 3, 1, [1, 3]), ...follower.slice(3)]
    expect(electionOf(moved, {topic: 't', fault: blow(2, 1_000)})).toMatchObject({leaderAfter: 3, epochSteps: 1})
  })
})

describe('what the log does not say', () => {
  test('a fault that left no trace has no "after"', () => {
    expect(electionOf(killed.slice(0, 2), {topic: 't', fault: blow(1, 1_000)})).toMatchObject({
      isrBefore: [1, 2, 3],
      leaderAfter: null,
      epochAfter: null,
      epochSteps: null,
      fencedMs: null,
      newLeaderMs: null,
      isrAfterFault: [],
    })
  })

  test('a topic that is not in the log has no ISR, so that no precondition is met', () => {
    expect(electionOf(killed, {topic: 'missing', fault: blow(1, 1_000)})).toMatchObject({
      isrBefore: [],
      isrAfterFault: [],
      isrAtEnd: [],
      leaderBefore: null,
      epochSteps: null,
    })
    expect(electionOf([], {topic: 't'})).toMatchObject({isrBefore: [], leaderBefore: null, epochSteps: null})
  })

  test('without a fault all is before, and any change shows', () => {
    expect(electionOf(killed.slice(0, 2), {topic: 't'})).toMatchObject({
      isrBefore: [1, 2, 3],
      isrChangesBeforeFence: 0,
      leaderBefore: 1,
      leaderAfter: 1,
      epochSteps: 0,
      fencedMs: null,
      newLeaderMs: null,
    })
    expect(electionOf(killed, {topic: 't'})).toMatchObject({isrChangesBeforeFence: 2, epochSteps: 1})
  })
})
