import {allOf, always, control, sometimes} from '../src/experiment/claims.js'
import {gone, intact, lost, onlyOn, same, truncated, unequal} from '../src/experiment/delivery.js'
import {electionOf} from '../src/experiment/election.js'
import {experiment, integer, minIsr} from '../src/experiment/experiment.js'
import {leadership} from '../src/experiment/figures.js'

export default experiment({
  question: 'Does an acknowledged record survive the death of the leader that acknowledged it?',
  hypothesis:
    'With acks=1 it may not: the leader answers alone, and can die before a follower has fetched. ' +
    'With acks=all it does: what only the leader has is never acknowledged.',
  shows: ['R4', 'R5'],
  doesNotShow: 'what a power cut does: the page cache survives a killed process.',
  reach: 'brokers',

  apparatus: {controllers: 1, topics: {acks1: minIsr(2), acksAll: minIsr(2)}},
  knobs: {
    records: integer({default: 500, summary: 'acks=1 records that only the leader gets, at most', max: 2_000}),
    waitMs: integer({default: 1_500, summary: 'how long the leader waits for the followers before it gives up, ms', min: 200, max: 4_000}),
    unacked: integer({default: 20, summary: 'acks=all writes tried meanwhile, one connection each', max: 100}),
  },

  conditions: {
    'leader-killed': {label: 'leader killed', kill: true},
    healed: {label: 'healed instead (control)', kill: false},
  },
  secondsPerBlow: {'leader-killed': 19, healed: 5},

  // The followers are cut off first, so that the leader is certain to be ahead of them when it dies: what would be a
  // race of milliseconds becomes a step of the method. Both topics share the blow.
  async method(bench, {kill}, {records, unacked, waitMs}) {
    const sessionMs = Number(await bench.brokerSetting('broker.session.timeout.ms'))
    const minIsr = [bench.setting('acks1', 'min.insync.replicas'), bench.setting('acksAll', 'min.insync.replicas')]
    const baseline = await bench.writeEach({acks: 'all', count: 100})
    await bench.untilReplicasAreEqual()

    const cut = await bench.cutOffFollowers() // stopped, and their waiting fetches expired
    const timeoutMs = Math.min(waitMs, sessionMs / 6) // the leader must be dead before a follower's session lapses
    const [acks1, acksAll] = await Promise.all([
      bench.topic('acks1').write({acks: 1, count: records, withinMs: timeoutMs}),
      bench.topic('acksAll').write({acks: 'all', count: unacked, connections: unacked, timeoutMs}),
    ])

    const blow = kill ? await bench.leader.kill() : undefined
    const {cutMs} = await cut.heal()
    const survivors = kill ? await bench.followerEnds() : [] // with the leader dead, a follower can't move
    const dead = kill ? await bench.leader.records() : [] // read from its files, before it returns
    await bench.untilLed()
    await bench.restore() // starts whatever is down; every replica has the same end

    const found = await bench.readAll()
    const replicas = await bench.replicaRecords()
    const timeline = await bench.timeline()
    return {sessionMs, minIsr, baseline, cutMs, acks1, acksAll, blow, survivors, dead, found, replicas, timeline}
  },

  // What must be seen in a trial for it to tell anything. Not seen: that trial is inconclusive, and says why.
  given: {
    'the ISR was complete until the fence': ({blow, timeline}) =>
      ['acks1', 'acksAll'].every(topic => {
        const {isrBefore, isrChangesBeforeFence} = electionOf(timeline, {topic, fault: blow})
        return isrBefore.length === 3 && isrChangesBeforeFence === 0
      }),
    'the followers had the baseline and no more': ({survivors, baseline}, {kill}) =>
      !kill || (survivors.length === 4 && survivors.every(({logEndOffset}) => logEndOffset === baseline.acks1.ok.length)),
    'the baseline was acknowledged': ({baseline}) => [baseline.acks1, baseline.acksAll].every(({ok}) => ok.length === 100),
    'the followers were cut off for less than the broker session': ({cutMs, sessionMs}) => cutMs < sessionMs,
    'the topics have min.insync.replicas 2': ({minIsr}) => minIsr.length === 2 && minIsr.every(value => value === '2'),
    'the broker that was killed led both topics': ({blow, timeline}) =>
      !blow || ['acks1', 'acksAll'].every(topic => electionOf(timeline, {topic, fault: blow}).leaderBefore === blow.nodeId),
    'every segment file could be read whole': ({dead, replicas}) => replicas.length > 0 && intact([...dead, ...replicas]),
  },

  measures: {
    ackedAcks1: {label: 'acked with acks=1', short: 'acked acks=1', unit: 'records', of: t => t.acks1.ok.length},
    lostAcks1: {label: 'of these lost', short: 'lost', unit: 'records', of: t => lost(t.acks1, t.found.acks1).length},
    ackedAcksAll: {label: 'acked with acks=all', short: 'acked acks=all', unit: 'records', of: t => t.acksAll.ok.length},
    lostAcksAll: {label: 'of these lost', short: 'lost', unit: 'records', of: t => lost(t.acksAll, t.found.acksAll).length},
    newLeaderMs: {
      label: 'new leader after',
      short: 'new leader',
      unit: 'ms',
      of: t => electionOf(t.timeline, {topic: 'acks1', fault: t.blow}).newLeaderMs,
    },
    onlyOnOldLeaderAcksAll: {
      label: 'acks=all records only in the dead leader’s file',
      unit: 'records',
      detail: true,
      of: (t, {kill}) => (kill ? onlyOn(t.dead, t.replicas, t.acksAll).length : null),
    },
    lostBaseline: {
      label: 'lost of the baseline',
      unit: 'records',
      detail: true,
      of: t => lost(t.baseline.acks1, t.found.acks1).length + lost(t.baseline.acksAll, t.found.acksAll).length,
    },
    truncated: {
      label: 'records cut from the old leader’s log on its return',
      unit: 'records',
      detail: true,
      of: (t, {kill}) => (kill ? truncated(t.dead, t.replicas).length : null),
    },
  },

  verdict: trials => {
    const killed = trials.under('leader-killed')
    return allOf(
      sometimes('acks=1 loses acknowledged records', killed, {
        tells: t => t.acks1.ok.length > 0,
        holds: t => gone(t.acks1, t.found.acks1, t.replicas).length > 0,
      }),
      always('what was lost is exactly what only the dead leader had', killed, {
        tells: t => t.acks1.ok.length > 0,
        holds: t =>
          same(lost(t.acks1, t.found.acks1), onlyOn(t.dead, t.replicas, t.acks1)) && lost(t.acks1, t.found.acks1).length === t.acks1.ok.length,
      }),
      always('acks=all acknowledges nothing that only the leader has', killed, {
        tells: t => onlyOn(t.dead, t.replicas, t.acksAll).length > 0,
        holds: t => t.acksAll.ok.length === 0,
      }),
      always('no acknowledged record of the baseline is lost', trials.all, {
        tells: t => t.baseline.acks1.ok.length > 0 && t.baseline.acksAll.ok.length > 0,
        holds: t => lost(t.baseline.acks1, t.found.acks1).length + lost(t.baseline.acksAll, t.found.acksAll).length === 0,
      }),
      always('the reader got what every replica’s files hold', trials.all, {
        holds: t => unequal(t.replicas, t.found.acks1, t.acks1.topic).length + unequal(t.replicas, t.found.acksAll, t.acksAll.topic).length === 0,
      }),
      control('the cut alone loses nothing', trials.under('healed'), {
        tells: t => t.acks1.ok.length > 0 && t.acksAll.ok.length === 0 && t.acksAll.info.length > 0, // the cut held
        holds: t => lost(t.acks1, t.found.acks1).length + lost(t.acksAll, t.found.acksAll).length === 0,
      }),
    )
  },

  example: trials => {
    for (const {observation: t} of trials.under('leader-killed')) {
      const [record] = onlyOn(t.dead, t.replicas, t.acks1)
      const instead = t.replicas.find(({topic}) => topic === t.acks1.topic)?.records.find(({offset}) => offset === record?.offset)
      if (!record || !t.blow) continue
      return (
        `lost, for example: ${record.value} at offset ${record.offset} (leader epoch ${record.leaderEpoch}): ` +
        `only in the dead leader's file (broker ${t.blow.nodeId}); ` +
        (instead ? `the others have another record there, of epoch ${instead.leaderEpoch}.` : 'the others end before it.')
      )
    }
    return undefined
  },

  figures: trials =>
    trials
      .under('leader-killed')
      .slice(0, 1)
      .map(({observation: t}) => leadership('Who led acks1, and who was in its ISR', t.timeline, 'acks1', t.blow)),
})
