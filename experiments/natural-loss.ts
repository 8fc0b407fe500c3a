import {allOf, always, control, sometimes} from '../src/experiment/claims.js'
import {gone, intact, lost, onlyOn, unequal} from '../src/experiment/delivery.js'
import {electionOf} from '../src/experiment/election.js'
import {experiment, integer, minIsr} from '../src/experiment/experiment.js'
import {distribution} from '../src/experiment/figures.js'

export default experiment({
  question: 'How much does acks=1 lose when the leader just dies, with nothing else done to the cluster?',
  hypothesis:
    'With acks=1 a few records, or many, or none: whatever no follower had fetched in that moment. It is a distribution, not a claim. ' +
    'With acks=all nothing that was acknowledged is lost.',
  shows: ['R5'],
  doesNotShow: 'what a loaded network of several machines would lose: here the followers are on the same host.',
  reach: 'brokers',

  apparatus: {controllers: 1, topics: {wire: minIsr(2), kafkajs: minIsr(2), acksAll: minIsr(2)}},
  knobs: {
    rate: integer({default: 400, summary: 'records per second of each acks=1 writer', min: 20, max: 2_000}),
    loadMs: integer({
      default: 2_000,
      summary: 'the leader dies at a random moment within this time of load',
      min: 500,
      max: 20_000,
    }),
  },

  conditions: {
    'killed-at-random': {label: 'leader killed at random', kill: true, blows: {full: 10, quick: 2}},
    'not-killed': {label: 'not killed (control)', kill: false, blows: {full: 3, quick: 1}},
  },
  secondsPerBlow: {'killed-at-random': 18, 'not-killed': 5},

  // kafkajs is observed as people use it; the wire writer sees every error code. The acks=all twin shares the blow.
  async method(bench, {kill}, {rate, loadMs}) {
    // A topic that was just made is not replicated at once: seen, 302 of 302 records lost of a topic of one second. That is
    // another finding than this one, so replication is running before the load begins.
    const baseline = await bench.writeEach({acks: 'all', count: 10})
    await bench.untilReplicasAreEqual()

    const wire = await bench.topic('wire').load({client: 'wire', acks: 1, connections: 4, perSecond: rate})
    const kafkajs = await bench.topic('kafkajs').load({client: 'kafkajs', acks: 1, perSecond: rate})
    const acksAll = await bench.topic('acksAll').load({client: 'wire', acks: 'all', connections: 4, perSecond: rate / 4})
    for (const load of [wire, kafkajs, acksAll]) await load.untilAcked(20)
    await bench.elapsed(bench.random() * loadMs)

    const blow = kill ? await bench.leader.kill() : undefined
    const [wireWrites, kafkajsWrites, acksAllWrites] = await Promise.all([wire.stop(), kafkajs.stop(), acksAll.stop()])
    const dead = kill ? await bench.leader.records() : []
    await bench.untilLed()
    await bench.restore()

    const found = await bench.readAll()
    const replicas = await bench.replicaRecords()
    const timeline = await bench.timeline()
    return {baseline, wire: wireWrites, kafkajs: kafkajsWrites, acksAll: acksAllWrites, blow, dead, found, replicas, timeline}
  },

  given: {
    'the ISR was complete until the fence': ({blow, timeline}) => {
      const {isrBefore, isrChangesBeforeFence} = electionOf(timeline, {topic: 'acksAll', fault: blow})
      return isrBefore.length === 3 && isrChangesBeforeFence === 0
    },
    'every writer had records acknowledged': t => [t.wire, t.kafkajs, t.acksAll].every(({ok}) => ok.length >= 20),
    'the load was running when the leader died': ({acksAll, blow}) => !blow || (acksAll.ok.at(-1)?.endMs ?? 0) > blow.startMs - 500,
    'every segment file could be read whole': ({dead, replicas}) => replicas.length > 0 && intact([...dead, ...replicas]),
  },

  measures: {
    ackedAcks1: {label: 'acked with acks=1', short: 'acked acks=1', unit: 'records', of: t => t.wire.ok.length + t.kafkajs.ok.length},
    lostAcks1: {
      label: 'of these lost',
      short: 'lost',
      unit: 'records',
      of: t => lost(t.wire, t.found.wire).length + lost(t.kafkajs, t.found.kafkajs).length,
    },
    ackedAcksAll: {label: 'acked with acks=all', short: 'acked acks=all', unit: 'records', of: t => t.acksAll.ok.length},
    lostAcksAll: {label: 'of these lost', short: 'lost', unit: 'records', of: t => lost(t.acksAll, t.found.acksAll).length},
    ratePerS: {label: 'acks=1 records acknowledged per second', short: 'rate', unit: '1/s', of: t => rateOf([...t.wire.ok, ...t.kafkajs.ok])},
    lostWire: {label: 'lost, wire client', unit: 'records', detail: true, of: t => lost(t.wire, t.found.wire).length},
    lostKafkajs: {label: 'lost, kafkajs', unit: 'records', detail: true, of: t => lost(t.kafkajs, t.found.kafkajs).length},
    goneAcks1: {
      label: 'lost, and in no replica’s file',
      unit: 'records',
      detail: true,
      of: t => gone(t.wire, t.found.wire, t.replicas).length + gone(t.kafkajs, t.found.kafkajs, t.replicas).length,
    },
    newLeaderMs: {
      label: 'new leader after',
      short: 'new leader',
      unit: 'ms',
      of: t => electionOf(t.timeline, {topic: 'acksAll', fault: t.blow}).newLeaderMs,
    },
  },

  verdict: trials =>
    allOf(
      always('acks=all loses nothing that was acknowledged', trials.under('killed-at-random'), {
        tells: t => t.acksAll.ok.length > 0 && electionOf(t.timeline, {topic: 'acksAll', fault: t.blow}).newLeaderMs !== null,
        holds: t => [t.acksAll, t.baseline.acksAll].every(writes => lost(writes, t.found.acksAll).length === 0),
      }),
      sometimes('the leader was ahead of its followers when it died', trials.under('killed-at-random'), {
        holds: t => [t.wire, t.kafkajs, t.acksAll].some(writes => onlyOn(t.dead, t.replicas, writes).length > 0),
      }),
      always('the reader got what every replica’s files hold', trials.all, {
        holds: t =>
          unequal(t.replicas, t.found.wire, t.wire.topic).length +
            unequal(t.replicas, t.found.kafkajs, t.kafkajs.topic).length +
            unequal(t.replicas, t.found.acksAll, t.acksAll.topic).length ===
          0,
      }),
      control('without a blow nothing is lost', trials.under('not-killed'), {
        tells: t => t.wire.ok.length > 0 && t.kafkajs.ok.length > 0,
        holds: t => lost(t.wire, t.found.wire).length + lost(t.kafkajs, t.found.kafkajs).length + lost(t.acksAll, t.found.acksAll).length === 0,
      }),
    ),

  example: trials => {
    const blows = trials.under('killed-at-random')
    if (blows.length === 0) return undefined
    const ascending = (losses: readonly number[]) => [...losses].sort((a, b) => a - b).join(', ')
    const wire = blows.map(({observation: t}) => lost(t.wire, t.found.wire).length)
    const kafkajs = blows.map(({observation: t}) => lost(t.kafkajs, t.found.kafkajs).length)
    const some = blows.filter((_, index) => wire[index]! + kafkajs[index]! > 0).length
    return (
      `acknowledged with acks=1 and lost, blow by blow in ascending order: wire client ${ascending(wire)}; kafkajs ${ascending(kafkajs)}. ` +
      `Something was lost in ${some} of ${blows.length} blows.`
    )
  },

  figures: trials => [
    distribution(
      'Acknowledged records lost with acks=1, blow by blow',
      trials.under('killed-at-random').flatMap(({number, observation: t}) => [
        {label: `trial ${number}`, group: 'wire', value: lost(t.wire, t.found.wire).length},
        {label: `trial ${number}`, group: 'kafkajs', value: lost(t.kafkajs, t.found.kafkajs).length},
      ]),
    ),
  ],
})

function rateOf(acked: readonly {readonly endMs: number}[]): number {
  const times = acked.map(({endMs}) => endMs)
  const spanMs = Math.max(...times) - Math.min(...times)
  return spanMs > 0 ? Math.round((acked.length * 1_000) / spanMs) : 0
}
