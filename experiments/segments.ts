import {allOf, always, control} from '../src/experiment/claims.js'
import {experiment, integer} from '../src/experiment/experiment.js'
import {logBlocks, whoWrote} from '../src/experiment/segment-figures.js'
import {
  chainOf,
  codecsIn,
  disagreements,
  disorder,
  endsIn,
  missedDamage,
  sentAsTheyWere,
  unequalReplicas,
  unlikeTold,
} from '../src/experiment/segment-rules.js'

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
const clients = ['kafkajs', 'librdkafka', 'java'] as const
const names = {kafkajs: 'kafkajs', librdkafka: 'librdkafka', java: 'Java'} as const
const topics = ['asSent', 'recompressed', 'transactions'] as const
// Preallocated indexes are 10 MiB each otherwise, which would be copied with the files of a container.
const made = (compression: string) => ({
  replicationFactor: 3,
  config: {'min.insync.replicas': '2', 'compression.type': compression, 'segment.index.bytes': '65536'},
})
// A second trial has another leader; what a third could add is only time.
const blows = {full: 2, quick: 1}

export default experiment({
  question: 'Can all that a producer did be read in the segment files of every replica?',
  hypothesis:
    'Yes: batches, codec, producer id, epoch, sequences, transactions and their ends, byte for byte the same on all replicas. ' +
    "kx and Kafka's own dump tool read the same, whichever client wrote; and a single flipped bit is seen by both.",
  shows: ['S1', 'S2'],
  doesNotShow: 'what older record formats, compaction or retention leave in a segment, or that the bytes reached the disk.',
  reach: 'own-topics',

  apparatus: {
    controllers: 1,
    topics: {asSent: made('producer'), recompressed: made('zstd'), transactions: made('producer')},
  },
  knobs: {
    records: integer({default: 21, summary: 'records in each series', min: 9, max: 500}),
  },

  conditions: {
    kafkajs: {label: 'kafkajs', client: 'kafkajs', damage: false, blows},
    librdkafka: {label: 'librdkafka', client: 'librdkafka', damage: false, blows},
    java: {label: 'Java (Kafka’s own tools)', client: 'java', damage: false, blows},
    damaged: {label: 'one bit flipped (control)', client: 'kafkajs', damage: true, blows},
  },
  secondsPerBlow: {kafkajs: 4, librdkafka: 5, java: 14, damaged: 7},

  // Each series has a producer of its own. The records of the recompressed topic are written once more, in transactions:
  // so every client has the same to do, the one of Java too, whose only tool that aborts is a copier.
  async method(bench, {client, damage}, {records}) {
    const compression = Object.fromEntries(topics.map(topic => [topic, bench.setting(topic, 'compression.type')]))
    const recompressed = await bench.topic('recompressed').produce(client, [{codec: 'gzip', producer: 'plain', count: records}])
    const [asSent, transactions] = await Promise.all([
      bench.topic('asSent').produce(client, [
        {codec: 'none', producer: 'plain', count: records},
        {codec: 'gzip', producer: 'plain', count: records},
        {codec: 'snappy', producer: 'plain', count: records},
        {codec: 'lz4', producer: 'idempotent', count: records},
        {codec: 'zstd', producer: 'idempotent', count: records},
      ]),
      bench.topic('transactions').transact(client, {codec: 'gzip', source: recompressed[0]!, count: Math.min(records, 18)}),
    ])
    await bench.untilNothingIsOpen()

    const replicas = await bench.readSegments()
    const damaged = damage ? await bench.readDamagedCopies() : []
    return {compression, told: {asSent, recompressed, transactions: [transactions]}, replicas, damaged}
  },

  given: {
    'every record was acknowledged': ({told}) =>
      topics.every(
        topic => told[topic].length > 0 && told[topic].every(({records}) => records.length > 0 && records.every(({outcome}) => outcome !== 'failed')),
      ),
    'transactions were committed and aborted': ({replicas}) =>
      ['committed', 'aborted'].every(end => endsIn(chainOf(replicas.transactions[0])).includes(end)),
    'all three replicas had everything when they were read': ({replicas}) =>
      topics.every(
        topic =>
          replicas[topic].length === 3 &&
          replicas[topic].every(({highWatermark, logEndOffset}) => highWatermark > 0 && logEndOffset === highWatermark),
      ),
    'the topics have the compression that they were made with': ({compression}) =>
      compression.asSent === 'producer' && compression.recompressed === 'zstd' && compression.transactions === 'producer',
  },

  measures: {
    batches: {label: 'batches', unit: 'batches', of: t => topics.flatMap(topic => chainOf(t.replicas[topic][0])).length},
    records: {
      label: 'records',
      unit: 'records',
      detail: true,
      of: t => topics.flatMap(topic => chainOf(t.replicas[topic][0])).reduce((sum, {count}) => sum + count, 0),
    },
    bytes: {
      label: 'on each replica',
      unit: 'bytes',
      detail: true,
      of: t => topics.reduce((sum, topic) => sum + (t.replicas[topic][0]?.chainedBytes ?? 0), 0),
    },
    differences: {
      label: 'kx and Kafka differ',
      short: 'differ',
      unit: 'places',
      of: t => topics.flatMap(topic => disagreements(t.replicas[topic])).length,
    },
    unlikeTold: {
      label: 'unlike what the client was told',
      short: 'unlike told',
      unit: 'places',
      of: t => topics.flatMap(topic => unlikeTold(t.told[topic], chainOf(t.replicas[topic][0]), t.compression[topic])).length,
    },
    copies: {label: 'copies with a flipped bit', short: 'flipped', unit: 'copies', of: (t, {damage}) => (damage ? t.damaged.length : null)},
    missed: {
      label: 'of these not seen by both',
      short: 'missed',
      unit: 'copies',
      of: (t, {damage}) => (damage ? t.damaged.filter(copy => missedDamage(copy).length > 0).length : null),
    },
    asTheyWere: {
      label: 'sent without the codec that was set',
      unit: 'batches',
      detail: true,
      of: t => sentAsTheyWere(t.told.asSent, chainOf(t.replicas.asSent[0])).length,
    },
  },

  verdict: trials => {
    const present = clients.filter(client => trials.under(client).planned > 0)
    const written = trials.under(...present)
    return allOf(
      ...present.flatMap(client => [
        always(`${names[client]}: kx and kafka-dump-log read the same`, trials.under(client), {
          tells: t => codecs.every(codec => codecsIn(chainOf(t.replicas.asSent[0])).includes(codec)),
          holds: t => topics.every(topic => disagreements(t.replicas[topic]).length === 0),
        }),
        always(`${names[client]}: the bytes are what it was told`, trials.under(client), {
          holds: t => topics.every(topic => unlikeTold(t.told[topic], chainOf(t.replicas[topic][0]), t.compression[topic]).length === 0),
        }),
      ]),
      always('a topic’s compression.type wins over the producer’s codec', written, {
        tells: t => t.told.recompressed.every(({codec}) => codec === 'gzip') && chainOf(t.replicas.recompressed[0]).length > 0,
        holds: t => chainOf(t.replicas.recompressed[0]).every(({codec}) => codec === 'zstd'),
      }),
      always('every replica holds the same bytes up to the high watermark', written, {
        holds: t => topics.every(topic => unequalReplicas(t.replicas[topic]).length === 0),
      }),
      always('a segment is in order, without gaps, and has its indexes beside it', written, {
        holds: t => topics.every(topic => disorder(t.replicas[topic]).length === 0),
      }),
      control('one flipped bit makes its batch invalid, and no other, to both', trials.under('damaged'), {
        tells: t => t.damaged.length > 0,
        holds: t => t.damaged.every(copy => missedDamage(copy).length === 0),
      }),
    )
  },

  example: trials =>
    whoWrote(
      clients.map(client => ({name: names[client], observation: trials.under(client)[0]?.observation, missing: trials.under(client).planned === 0})),
    ),

  figures: trials => clients.flatMap(client => logBlocks(`What ${names[client]} left in the log`, trials.under(client)[0]?.observation)),
})
