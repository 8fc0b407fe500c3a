import {allOf, always, control, slower} from '../src/experiment/claims.js'
import {
  availabilityGap,
  duplicates,
  foreign,
  highWatermarkViolations,
  intact,
  leaderEpochs,
  lost,
  nonmonotonicSends,
  same,
  unequal,
} from '../src/experiment/delivery.js'
import type {FaultRecord} from '../src/experiment/bench.js'
import {electionOf} from '../src/experiment/election.js'
import {experiment, integer, minIsr} from '../src/experiment/experiment.js'
import {latency, leadership} from '../src/experiment/figures.js'
import {stalledUntil} from '../src/experiment/stall.js'
import type {TimelineEvent} from '../src/experiment/timeline.js'

/** The controller stamps whole milliseconds of its own clock: what lies closer together can't be ordered. */
const clockSlackMs = 100

export default experiment({
  question: 'What happens when a broker dies under load: who leads, how long does it take, and is anything lost?',
  hypothesis:
    'A killed leader is noticed when its broker session lapses; then a member of the ISR leads with the next epoch and nothing ' +
    'acknowledged with acks=all is lost. A leader that is told to stop hands over first. A killed follower stalls acks=all until its fence.',
  shows: ['R2', 'R8'],
  doesNotShow: 'what a client library adds: its metadata refresh and back-off come on top.',
  reach: 'brokers',

  apparatus: {controllers: 1, topics: {orders: minIsr(2)}},
  knobs: {
    rate: integer({default: 100, summary: 'records per second, acks=all', min: 20, max: 1_000}),
    connections: integer({default: 10, summary: 'writers, one connection each', max: 50}),
  },

  conditions: {
    sigkill: {label: 'leader SIGKILL', victim: 'leader', how: 'kill'},
    sigterm: {label: 'leader SIGTERM', victim: 'leader', how: 'stop'},
    'follower-killed': {label: 'follower SIGKILL', victim: 'follower', how: 'kill'},
    'no-fault': {label: 'no fault (control)', victim: 'none', how: 'none'},
  },
  secondsPerBlow: {sigkill: 19, sigterm: 16, 'follower-killed': 19, 'no-fault': 5},

  async method(bench, {victim, how}, {rate, connections}) {
    const minIsr = bench.setting('orders', 'min.insync.replicas')
    const made = bench.topicsMade
    const load = await bench.topic('orders').load({client: 'wire', acks: 'all', connections, perSecond: rate, timeoutMs: 30_000})
    const reader = await bench.topic('orders').follow()
    await load.untilAcked(50)
    const fromMs = bench.now()
    await bench.elapsed(1_000)

    const broker = victim === 'leader' ? bench.leader : victim === 'follower' ? bench.followers[0] : undefined
    const blow = how === 'kill' ? await broker?.kill() : how === 'stop' ? await broker?.stop() : undefined
    await load.untilAcked(load.acked + 50) // acks=all again: somebody leads, and who is in the ISR lives
    const restartMs = bench.now()
    await bench.restore()
    await load.untilAcked(load.acked + 50)

    const loadMs = [fromMs, bench.now()] as const
    const writes = await load.stop()
    await bench.untilReplicasAreEqual()
    const reading = await reader.stop()
    const found = await bench.readAll()
    const replicas = await bench.replicaRecords()
    const timeline = await bench.timeline()
    return {minIsr, made, writes, loadMs, reading, blow, restartMs, found, replicas, timeline}
  },

  given: {
    'the ISR was complete before the blow': t => election(t).isrBefore.length === 3,
    'records were acknowledged before and after the blow': ({writes, blow, restartMs}) =>
      writes.ok.some(({endMs}) => endMs < (blow?.startMs ?? restartMs)) && writes.ok.some(({startMs}) => startMs > restartMs),
    'the topic has min.insync.replicas 2': ({minIsr}) => minIsr === '2',
    'the clocks of controller and client agree': ({made, timeline}) =>
      timeline.length > 0 && timeline[0]!.wallMs >= made.fromWallMs - clockSlackMs && timeline[0]!.wallMs <= made.toWallMs + clockSlackMs,
    'without a fault the machine kept up': ({writes, loadMs, blow}) => blow !== undefined || availabilityGap(writes, ...loadMs).lengthMs < 2_000,
    'every segment file could be read whole': ({replicas}) => intact(replicas),
  },

  measures: {
    fencedMs: {label: 'victim fenced after', short: 'fenced', unit: 'ms', of: t => election(t).fencedMs},
    newLeaderMs: {
      label: 'new leader after',
      short: 'new leader',
      unit: 'ms',
      of: (t, {victim}) => (victim === 'leader' ? election(t).newLeaderMs : null),
    },
    noAckMs: {
      label: 'longest time without an acknowledgement',
      short: 'no ack for',
      unit: 'ms',
      of: t => availabilityGap(t.writes, ...t.loadMs).lengthMs,
    },
    acked: {label: 'acknowledged', short: 'acked', unit: 'records', of: t => t.writes.ok.length},
    lost: {label: 'of these lost', short: 'lost', unit: 'records', of: t => lost(t.writes, t.found.orders).length},
    isrBefore: {label: 'ISR before', unit: 'replicas', detail: true, of: t => election(t).isrBefore.length},
    isrAfterFault: {label: 'ISR after the fault', unit: 'replicas', detail: true, of: t => election(t).isrAfterFault.length},
    isrAfterRestart: {label: 'ISR at the end', unit: 'replicas', detail: true, of: t => election(t).isrAtEnd.length},
    leaderEpochSteps: {label: 'steps of the leader epoch', unit: 'epochs', detail: true, of: t => election(t).epochSteps},
    unknown: {label: 'outcome unknown', unit: 'records', detail: true, of: t => t.writes.info.length},
  },

  verdict: trials => {
    const leaderDown = trials.under('sigkill', 'sigterm')
    const faulted = trials.under('sigkill', 'sigterm', 'follower-killed')
    return allOf(
      always('the new leader comes from the old ISR, with the next epoch', leaderDown, {
        tells: t => election(t).leaderAfter !== null,
        holds: t => {
          const {isrBefore, leaderBefore, leaderAfter, epochBefore} = election(t)
          const epochs = [String(epochBefore), String(epochBefore! + 1)] // stamped into the batches by the leaders themselves
          return leaderAfter !== leaderBefore && isrBefore.includes(leaderAfter!) && same(leaderEpochs(t.found.orders), epochs)
        },
      }),
      always('a killed follower changes no leader', trials.under('follower-killed'), {
        holds: t => election(t).epochSteps === 0 && leaderEpochs(t.found.orders).length === 1,
      }),
      always('the ISR goes 3, 2, 3', faulted, {
        holds: t => {
          const {isrBefore, isrAfterFault, isrAtEnd} = election(t)
          return isrBefore.length === 3 && isrAfterFault.length === 2 && isrAtEnd.length === 3
        },
      }),
      always('no acknowledged record is lost', faulted, {
        tells: t => t.writes.ok.length > 0,
        holds: t => lost(t.writes, t.found.orders).length === 0 && unequal(t.replicas, t.found.orders, t.writes.topic).length === 0,
      }),
      always('no record is there twice or from nowhere', trials.all, {
        holds: t => duplicates(t.found.orders).length === 0 && foreign(t.found.orders, t.writes).length === 0,
      }),
      always('offsets only grow; nothing is read above the high watermark', trials.all, {
        tells: t => t.reading.found.length > 0,
        holds: t => nonmonotonicSends(t.writes).length === 0 && highWatermarkViolations(t.reading.watermarks).length === 0,
      }),
      slower('SIGKILL takes at least 5 × as long as SIGTERM', {
        slow: trials.under('sigkill'),
        fast: trials.under('sigterm'),
        by: 5,
        of: t => election(t).newLeaderMs,
      }),
      always('a killed follower stalls acks=all until its fence', trials.under('follower-killed'), {
        tells: t => election(t).fencedMs !== null,
        holds: t => stalledUntil(t.writes, t.blow!, election(t).fencedMs!, clockSlackMs),
      }),
      control('without a fault nothing of this happens', trials.under('no-fault'), {
        tells: t => t.writes.ok.length > 0,
        holds: t => election(t).epochSteps === 0 && lost(t.writes, t.found.orders).length === 0 && t.writes.info.length === 0,
      }),
    )
  },

  figures: trials =>
    trials.all
      .filter(({condition}, index) => trials.all.findIndex(trial => trial.condition === condition) === index)
      .flatMap(({condition, observation: t}) => [
        leadership(`${condition}: who led, and who was in the ISR`, t.timeline, 'orders', t.blow),
        latency(`${condition}: time to the acknowledgement`, t.writes, t.blow),
      ]),
})

function election({timeline, blow}: {timeline: readonly TimelineEvent[]; blow: FaultRecord | undefined}) {
  return electionOf(timeline, {topic: 'orders', fault: blow})
}
