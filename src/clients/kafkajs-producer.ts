import kafkajs, {CompressionTypes, Kafka, type LogEntry, logLevel} from 'kafkajs'
import type {Codec, ToldRecord} from '../history/told.js'
import {interrupted, within} from '../util/until.js'
import {type Job, type JobResult, jobTimeoutMs, nameless, outcomeOfRound, type ProducerName, type Round} from './job.js'
import {compress, prepareCompression} from '../log/codecs.js'
import {withoutTimerWarning} from './kafkajs.js'

/** kafkajs does not tell its version. */
export const kafkajsVersion = '2.2.4'

const types: Readonly<Record<Codec, CompressionTypes>> = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

/** What kafkajs hands to a codec and wants back. It only ever writes here. */
const encoder = (codec: 'snappy-raw' | 'lz4' | 'zstd') => () => ({
  compress: async ({buffer}: {buffer: Buffer}) => {
    await prepareCompression()
    return compress(codec, buffer)
  },
  decompress: async () => {
    throw new Error('kx reads nothing with kafkajs')
  },
})

let registered = false

/**
 * kafkajs brings gzip only, and keeps the codecs that others register in a table of its own module. Its users know snappy
 * without the frame of Java's xerial library.
 */
function registerCodecs(): void {
  if (registered) return
  registered = true
  const table = kafkajs.CompressionCodecs as unknown as Record<number, unknown>
  table[types.snappy] = encoder('snappy-raw')
  table[types.lz4] = encoder('lz4')
  table[types.zstd] = encoder('zstd')
}

interface Sent {
  readonly baseOffset?: string
  readonly errorCode: number
  readonly partition: number
}

/**
 * One kafkajs producer, from its making to its end: one `send`, that is one batch, for each round. It tells the base offset
 * of a batch; its producer id it says only in its log.
 * @throws whatever kafkajs throws, and KxError KX_INTERRUPTED at once when the signal fires: then nothing is known of the
 * records
 */
export async function produceWithKafkajs(job: Job, signal: AbortSignal): Promise<JobResult> {
  const what = 'kafkajs to write its series'
  if (signal.aborted) throw interrupted(what)
  withoutTimerWarning()
  registerCodecs()
  const {brokers, topic, codec, idempotent, transactionalId, rounds} = job
  let name: ProducerName = nameless
  const listen = ({log}: LogEntry) => {
    const {producerId, producerEpoch} = log as {producerId?: unknown; producerEpoch?: unknown}
    if (log.message !== 'Initialized producer id & epoch') return
    name = {producerId: Number(producerId), producerEpoch: Number(producerEpoch)}
  }
  const kafka = new Kafka({
    clientId: 'kx-kafkajs',
    brokers: [...brokers],
    logLevel: logLevel.DEBUG,
    logCreator: () => listen,
    connectionTimeout: 3_000,
  })
  const producer = kafka.producer({
    idempotent: idempotent || transactionalId !== undefined,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    ...(transactionalId === undefined ? {} : {transactionalId}),
  })
  const records: ToldRecord[] = []
  const send = async (sender: {send: typeof producer.send}, round: Round) => {
    const messages = round.records.map(({key, value}) => ({key, value, partition: 0}))
    const answers: readonly Sent[] = await sender.send({topic, acks: -1, compression: types[codec], messages})
    const answer = answers.find(({partition}) => partition === 0)
    if (answer?.errorCode !== 0 || answer.baseOffset === undefined) throw new Error('kafkajs tells no base offset')
    return Number(answer.baseOffset)
  }
  const run = async () => {
    await producer.connect()
    for (const round of rounds) {
      signal.throwIfAborted()
      const transaction = round.end === undefined ? undefined : await producer.transaction()
      const baseOffset = await send(transaction ?? producer, round)
      if (round.end === 'commit') await transaction?.commit()
      else if (round.end === 'abort') await transaction?.abort()
      const outcome = outcomeOfRound(round.end)
      const own = idempotent || transactionalId !== undefined ? name : nameless
      for (const [index, record] of round.records.entries())
        records.push({...record, offset: baseOffset + index, outcome, ...own})
    }
  }
  try {
    await within(what, jobTimeoutMs, run(), signal)
  } finally {
    // What is on its way when the job is interrupted is given up: a broker that does not answer is not waited for.
    const goodbye = signal.aborted ? 500 : 5_000
    await within('kafkajs to disconnect', goodbye, producer.disconnect()).catch(() => undefined)
  }
  return {version: kafkajsVersion, records}
}
