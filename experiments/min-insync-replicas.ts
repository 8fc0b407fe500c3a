import {allOf, always, control, sometimes} from '../src/experiment/claims.js'
import {gone, holdsNone, intact, lost, onlyOn, same, unequal} from '../src/experiment/delivery.js'
import {experiment, integer, minIsr} from '../src/experiment/experiment.js'
import {leadership} from '../src/experiment/figures.js'
import {isrAt} from '../src/experiment/timeline.js'

const notEnoughReplicas = 19

export default experiment({
  question: 'What does acks=all promise when only one replica is left in sync?',
  hypothesis:
    'What min.insync.replicas says. With 2, a write with acks=all is refused and nothing is appended, and a write with acks=1 is ' +
    'accepted but stays invisible. With 1, acks=all is acknowledged by the leader alone and can be lost like acks=1.',
  shows: ['R4'],
  doesNotShow: 'what happens when the last in-sync replica comes back first: then nothing acknowledged is lost.',
  reach: 'brokers',

  apparatus: {controllers: 1, topics: {minIsr2: minIsr(2), minIsr1: minIsr(1)}},
  knobs: {
    records: integer({default: 50, summary: 'records of each kind written while one replica is in sync', max: 500}),
  },

  conditions: {
    'followers-killed': {label: 'followers killed', kill: true},
    'all-alive': {label: 'all alive (control)', kill: false},
  },
  secondsPerBlow: {'followers-killed': 28, 'all-alive': 3},

  // Both topics have the same leader and lose the same followers. After the writes the leader dies too, and one of the
  // brokers that never saw them is made leader: an unclean election, which is what an operator in need would do.
  async method(bench, {kill}, {records}) {
    const minIsr = [bench.setting('minIsr2', 'min.insync.replicas'), bench.setting('minIsr1', 'min.insync.replicas')]
    const baseline = await bench.writeEach({acks: 'all', count: 50})
    await bench.untilReplicasAreEqual()
    if (kill) {
      for (const follower of bench.followers) await follower.kill()
      await bench.untilInSyncReplicas(1)
      await bench.elapsed(1_000) // a broker's metadata are ahead of its partitions for a moment
    }

    const strict = bench.topic('minIsr2')
    const before = await strict.watermarks()
    const refused = await strict.write({acks: 'all', count: records, timeoutMs: 1_500})
    const between = await strict.watermarks()
    const acks1 = await strict.write({acks: 1, count: records})
    const after = kill ? await strict.watermarks() : await bench.untilReplicasAreEqual().then(() => strict.watermarks())
    const visible = await strict.read()
    const beyond = await strict.readBeyond()
    const alone = await bench.topic('minIsr1').write({acks: 'all', count: records})

    const blow = kill ? await bench.leader.kill() : undefined
    const dead = kill ? await bench.leader.records() : []
    let electionErrors: Readonly<Record<string, number>> = {}
    if (kill) {
      await bench.untilOffline()
      for (const follower of bench.followers) await follower.start()
      await bench.untilUnfenced(bench.followers.map(({nodeId}) => nodeId))
      electionErrors = await bench.electUnclean()
      await bench.untilLed()
    }
    await bench.restore()

    const found = await bench.readAll()
    const replicas = await bench.replicaRecords()
    const timeline = await bench.timeline()
    const writes = {baseline, refused, acks1, alone}
    return {minIsr, ...writes, before, between, after, visible, beyond, blow, dead, electionErrors, found, replicas, timeline}
  },

  given: {
    'one replica was in sync when the leader died, on both topics': ({timeline, blow}, {kill}) =>
      !kill || ['minIsr2', 'minIsr1'].every(name => isrAt(timeline, name, blow?.wallMs)?.length === 1),
    'the topics have the min.insync.replicas that they were made with': ({minIsr}) => minIsr[0] === '2' && minIsr[1] === '1',
    'the baseline was acknowledged': ({baseline}) => [baseline.minIsr2, baseline.minIsr1].every(({ok}) => ok.length === 50),
    'an unclean election was held': ({electionErrors}, {kill}) => !kill || Object.values(electionErrors).every(code => code === 0),
    'every segment file could be read whole': ({dead, replicas}) => replicas.length > 0 && intact([...dead, ...replicas]),
  },

  measures: {
    refusedAcksAll: {
      label: 'acks=all refused (min ISR 2)',
      short: 'refused',
      unit: 'records',
      of: t => t.refused.fail.filter(({errorCode}) => errorCode === notEnoughReplicas).length,
    },
    ackedAcks1: {label: 'acks=1 accepted (min ISR 2)', short: 'acked acks=1', unit: 'records', of: t => t.acks1.ok.length},
    invisible: {label: 'of these invisible', short: 'invisible', unit: 'records', of: t => lost(t.acks1, t.visible).length},
    ackedAlone: {label: 'acks=all acked (min ISR 1)', short: 'acked acks=all', unit: 'records', of: t => t.alone.ok.length},
    lostAlone: {label: 'of these lost', short: 'lost', unit: 'records', of: t => lost(t.alone, t.found.minIsr1).length},
    lostBaseline: {
      label: 'lost of the baseline',
      unit: 'records',
      detail: true,
      of: t => lost(t.baseline.minIsr2, t.found.minIsr2).length + lost(t.baseline.minIsr1, t.found.minIsr1).length,
    },
    highWatermark: {label: 'high watermark while one replica was in sync', unit: 'offset', detail: true, of: t => t.after.highWatermark},
    logEndOffset: {label: 'log end offset then', unit: 'offset', detail: true, of: t => t.after.logEndOffset},
  },

  verdict: trials => {
    const killed = trials.under('followers-killed')
    return allOf(
      always('min ISR 2 refuses acks=all (NOT_ENOUGH_REPLICAS)', killed, {
        tells: t => t.refused.ok.length + t.refused.fail.length + t.refused.info.length > 0,
        holds: t => t.refused.ok.length + t.refused.info.length === 0 && t.refused.fail.every(({errorCode}) => errorCode === notEnoughReplicas),
      }),
      always('… and appends nothing', killed, {
        holds: t => t.between.logEndOffset === t.before.logEndOffset && holdsNone(t.dead, t.refused),
      }),
      always('acks=1 is accepted there, but nobody can read it', killed, {
        tells: t => t.acks1.ok.length > 0,
        holds: t =>
          lost(t.acks1, t.visible).length === t.acks1.ok.length &&
          t.beyond === 0 &&
          t.after.highWatermark === t.before.highWatermark &&
          t.after.logEndOffset === t.between.logEndOffset + t.acks1.ok.length,
      }),
      sometimes('min ISR 1 lets acks=all lose acknowledged records', killed, {
        tells: t => t.alone.ok.length > 0,
        holds: t => gone(t.alone, t.found.minIsr1, t.replicas).length > 0,
      }),
      always('… exactly those that the leader had alone', killed, {
        tells: t => t.alone.ok.length > 0,
        holds: t =>
          same(lost(t.alone, t.found.minIsr1), onlyOn(t.dead, t.replicas, t.alone)) && lost(t.alone, t.found.minIsr1).length === t.alone.ok.length,
      }),
      always('nothing of the baseline is lost', trials.all, {
        tells: t => t.baseline.minIsr2.ok.length > 0,
        holds: t => lost(t.baseline.minIsr2, t.found.minIsr2).length + lost(t.baseline.minIsr1, t.found.minIsr1).length === 0,
      }),
      always('the reader got what every replica’s files hold', trials.all, {
        holds: t => unequal(t.replicas, t.found.minIsr2, t.refused.topic).length + unequal(t.replicas, t.found.minIsr1, t.alone.topic).length === 0,
      }),
      control('with all alive all is acknowledged, visible and kept', trials.under('all-alive'), {
        tells: t => t.refused.ok.length > 0 && t.acks1.ok.length > 0 && t.alone.ok.length > 0,
        holds: t =>
          t.refused.fail.length + t.refused.info.length === 0 &&
          lost(t.acks1, t.visible).length === 0 &&
          lost(t.refused, t.found.minIsr2).length + lost(t.acks1, t.found.minIsr2).length + lost(t.alone, t.found.minIsr1).length === 0,
      }),
    )
  },

  figures: trials =>
    trials
      .under('followers-killed')
      .slice(0, 1)
      .map(({observation: t}) => leadership('The topic with min.insync.replicas 1', t.timeline, 'minIsr1', t.blow)),
})
