import * as Args from '@oclif/core/args'
import {CLIError} from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'
import {type Format, streamFormats} from '../src/cli/answer.js'
import type {DecoderName} from '../src/log/decode/decoder.js'
import {kafkaStyles} from '../src/log/decode/style.js'
import {onlyKinds} from '../src/log/filter.js'

/** In the order in which Kafka's tool prefers them. */
export const decoders = [
  'offsets',
  'transaction-log',
  'cluster-metadata',
  'remote-log-metadata',
  'share-group-state',
] as const satisfies readonly DecoderName[]
const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd', 'unknown'] as const
const fieldFormats = ['string', 'int32', 'int64', 'uuid', 'hex', 'base64', 'json'] as const

const units: Readonly<Record<string, number>> = {'': 1, k: 1_024, m: 1_048_576, g: 1_073_741_824, t: 1_099_511_627_776}

/** `65536`, `64k`, `16m`, `2g`: bytes. */
const bytesFlag = Flags.custom<number>({
  helpValue: '<size>',
  async parse(text) {
    const [, digits, unit = ''] = /^(\d{1,15})\s*([kmgt]?)(?:i?b)?$/i.exec(text) ?? []
    const size = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN)
    if (!Number.isSafeInteger(size) || size < 1) throw new CLIError(`"${text}" is no size; write 65536, 64k, 16m or 2g`)
    return size
  },
})

const integerFlag = (summary: string, helpGroup: string) => Flags.integer({summary, helpGroup, helpValue: '<n>'})

const outputFlags = {
  output: Flags.option({
    char: 'o',
    options: streamFormats as readonly Format[],
    default: 'text' as Format,
    summary: "how the answer is written to stdout; kafka: byte for byte as Kafka's own tool",
    helpGroup: 'GLOBAL',
  })(),
  format: Flags.option({
    options: streamFormats as readonly Format[],
    summary: 'the same as -o',
    helpGroup: 'GLOBAL',
    exclusive: ['output', 'json'],
  })(),
  limit: Flags.integer({
    min: 1,
    helpValue: '<n>',
    summary: 'stop after so many records, batches or entries',
    helpGroup: 'SHOW',
  }),
  redact: Flags.boolean({summary: 'show of keys and values only how long they are', helpGroup: 'SHOW'}),
  raw: Flags.boolean({summary: 'text: keys and values as they are, which may drive your terminal', helpGroup: 'SHOW'}),
}

/** Those of Kafka's own tool, with its meanings. */
const kafkaFlags = {
  files: Flags.string({helpValue: '<a,b>', summary: 'files as Kafka takes them: apart by commas', helpGroup: 'KAFKA'}),
  'print-data-log': Flags.boolean({summary: 'show keys and values', helpGroup: 'KAFKA'}),
  'deep-iteration': Flags.boolean({summary: 'show records, not only batches', helpGroup: 'KAFKA'}),
  'skip-record-metadata': Flags.boolean({summary: 'show of records only key and value', helpGroup: 'KAFKA'}),
  'index-sanity-check': Flags.boolean({
    summary: 'of an index: check it, and say only whether it is sane',
    helpGroup: 'KAFKA',
  }),
  'verify-index-only': Flags.boolean({summary: 'of an index: check it, and show no entries', helpGroup: 'KAFKA'}),
  'max-bytes': Flags.integer({
    min: 0,
    helpValue: '<n>',
    summary: 'of a log: look only at the first bytes',
    helpGroup: 'KAFKA',
  }),
  'max-message-size': Flags.integer({
    min: 1,
    helpValue: '<n>',
    default: 5_242_880,
    summary: 'taken for the sake of old scripts: batches of any size are checked',
    helpGroup: 'KAFKA',
  }),
  'offsets-decoder': decoderFlag('__consumer_offsets'),
  'transaction-log-decoder': decoderFlag('__transaction_state'),
  'cluster-metadata-decoder': decoderFlag('__cluster_metadata'),
  'remote-log-metadata-decoder': decoderFlag('__remote_log_metadata'),
  'share-group-state-decoder': decoderFlag('__share_group_state'),
  'key-decoder-class': Flags.string({hidden: true}),
  'value-decoder-class': Flags.string({hidden: true}),
  'kafka-style': Flags.option({
    options: kafkaStyles,
    summary: "-o kafka: as the tool of which Kafka (default: the cluster's, else 4.4)",
    helpGroup: 'KAFKA',
  })(),
  'bug-compatible': Flags.boolean({
    summary: "-o kafka: the false alarms of the tool's final report, too",
    helpGroup: 'KAFKA',
  }),
}

function decoderFlag(topic: string) {
  return Flags.boolean({summary: `records are those of ${topic}`, helpGroup: 'KAFKA'})
}

const showFlags = {
  decoder: Flags.option({
    options: ['auto', 'none', ...decoders] as const,
    default: 'auto' as const,
    summary: "of internal topics' records; auto: by the folder's name",
    helpGroup: 'SHOW',
  })(),
  'key-format': Flags.option({options: fieldFormats, summary: 'how keys are written', helpGroup: 'SHOW'})(),
  'value-format': Flags.option({options: fieldFormats, summary: 'how values are written', helpGroup: 'SHOW'})(),
  stats: Flags.boolean({
    exclusive: ['explain', 'salvage', 'follow'],
    summary: 'codecs, sizes, producers, keys: what is in the log, in numbers',
    helpGroup: 'SHOW',
  }),
  state: Flags.boolean({
    exclusive: ['verify', 'stats', 'explain', 'salvage', 'follow', 'what-if'],
    summary: "what __cluster_metadata's log and snapshots add up to: brokers, topics, settings",
    helpGroup: 'SHOW',
  }),
  'at-offset': Flags.custom<bigint>({
    helpValue: '<offset>',
    dependsOn: ['state'],
    summary: 'with --state: up to which record (the last one)',
    helpGroup: 'SHOW',
    async parse(text) {
      if (/^\d{1,18}$/.test(text)) return BigInt(text)
      throw new CLIError(`"${text}" is no offset`)
    },
  })(),
  against: Flags.string({
    helpValue: '<other>',
    dependsOn: ['state'],
    summary: 'with --state: what has changed at another offset, or in another snapshot or folder',
    helpGroup: 'SHOW',
  }),
  'what-if': Flags.boolean({
    exclusive: ['verify', 'stats', 'explain', 'salvage', 'follow'],
    summary: 'how large the log were with each codec, and how long they take',
    helpGroup: 'SHOW',
  }),
  explain: Flags.boolean({
    exclusive: ['salvage', 'follow'],
    summary: 'one batch byte by byte, field by field',
    helpGroup: 'SHOW',
    dependsOn: ['at'],
  }),
  at: Flags.string({
    helpValue: '<position>',
    summary: 'with --explain: where in the file the batch is',
    helpGroup: 'SHOW',
  }),
  'max-decompressed': bytesFlag({
    summary: 'how large a batch (or a .gz file) may become (1g for a batch)',
    helpGroup: 'SHOW',
  }),
}

const selectFlags = {
  offset: Flags.string({
    helpValue: '<A..B>',
    summary: 'records from A to B; A.., ..B and A alone too',
    helpGroup: 'SELECT',
  }),
  'from-offset': Flags.string({
    helpValue: '<A>',
    summary: 'the same as --offset A..',
    helpGroup: 'SELECT',
    exclusive: ['offset'],
  }),
  'to-offset': Flags.string({
    helpValue: '<B>',
    summary: 'the same as --offset ..B',
    helpGroup: 'SELECT',
    exclusive: ['offset'],
  }),
  time: Flags.string({
    helpValue: '<A..B>',
    summary: 'records of a time: ISO 8601 (UTC) or ms since 1970',
    helpGroup: 'SELECT',
  }),
  key: Flags.string({
    helpValue: '<key>',
    summary: 'records with this key: text, hex:00ff or /regex/',
    helpGroup: 'SELECT',
  }),
  'producer-id': Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: '<id>',
    summary: 'batches of this producer; repeatable',
    helpGroup: 'SELECT',
  }),
  'producer-epoch': integerFlag('batches of this epoch of their producer', 'SELECT'),
  'leader-epoch': integerFlag('batches that a leader of this epoch wrote', 'SELECT'),
  codec: Flags.option({
    options: codecs,
    multiple: true,
    multipleNonGreedy: true,
    summary: 'batches with this codec; repeatable',
    helpGroup: 'SELECT',
  })(),
  only: Flags.option({
    options: onlyKinds,
    multiple: true,
    multipleNonGreedy: true,
    summary: 'only such batches or records; repeatable, all must hold',
    helpGroup: 'SELECT',
  })(),
}

const checkFlags = {
  verify: Flags.boolean({
    exclusive: ['stats', 'explain', 'salvage', 'follow'],

    summary: 'check everything, and say what is wrong and what Kafka does with it',
    helpGroup: 'CHECK',
  }),
  salvage: Flags.string({
    helpValue: '<file>',
    summary: 'write the batches that are whole to a new file',
    helpGroup: 'CHECK',
  }),
}

const liveFlags = {
  topic: Flags.string({helpValue: '<topic>', summary: 'of a running cluster instead of files', helpGroup: 'LIVE'}),
  partition: Flags.integer({min: 0, helpValue: '<n>', summary: 'which partition of the topic (0)', helpGroup: 'LIVE'}),
  broker: Flags.integer({min: 0, helpValue: '<id>', summary: "whose replica (the leader's)", helpGroup: 'LIVE'}),
  cluster: Flags.string({helpValue: '<name>', summary: 'which cluster, if there are several', helpGroup: 'LIVE'}),
  group: Flags.string({
    helpValue: '<id>',
    summary: 'the partition of __consumer_offsets that has this group',
    helpGroup: 'LIVE',
  }),
  'transactional-id': Flags.string({
    helpValue: '<id>',
    summary: 'the partition of __transaction_state that has this id',
    helpGroup: 'LIVE',
  }),
  'share-group': Flags.string({
    helpValue: '<id>',
    summary:
      'the partition of __consumer_offsets that has this share group; with --topic and --partition that of __share_group_state with its state there',
    helpGroup: 'LIVE',
  }),
  follow: Flags.boolean({char: 'f', summary: 'go on with what is appended', helpGroup: 'LIVE'}),
}

export const dumpLogFlags = {
  ...outputFlags,
  ...kafkaFlags,
  ...showFlags,
  ...selectFlags,
  ...checkFlags,
  ...liveFlags,
}

export const dumpLogArguments = {
  files: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: 'segment files, indexes, checkpoints, folders; - is stdin; .gz is unpacked',
  }),
}
