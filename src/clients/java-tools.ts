import type {Cluster, ToolPlace} from '../cluster/cluster.js'
import type {Codec, ToldRecord} from '../history/told.js'
import {compareVersions} from '../kafka/versions.js'
import {jobTimeoutMs, nameless, type ProducerName} from './job.js'

// Apache's own client, through the tools that every Kafka brings: the verifiable producer tells each record's offset, the
// transactional copier is the only one that aborts. What they don't print the client's own log says.

/** Where tools run: a cluster of either runtime. */
export type ToolHost = Pick<Cluster, 'runTool' | 'spec'>

export interface VerifiableSeries {
  readonly topic: string
  readonly codec: Codec
  readonly idempotent: boolean
  readonly count: number
  /** Values are `<prefix>.0`, `<prefix>.1`, … */
  readonly prefix: number
}

/** The Java client tells its producer id, and what becomes of a transaction, nowhere but in this class's log. */
const log4j = {
  name: 'log4j2.properties',
  text: [
    'status=warn',
    'appender.err.type=Console',
    'appender.err.name=err',
    'appender.err.target=SYSTEM_ERR',
    'appender.err.layout.type=PatternLayout',
    'appender.err.layout.pattern=%m%n',
    'rootLogger.level=warn',
    'rootLogger.appenderRef.err.ref=err',
    'logger.transactions.name=org.apache.kafka.clients.producer.internals.TransactionManager',
    'logger.transactions.level=debug',
    '',
  ].join('\n'),
}
const producerIdLine = /ProducerId set to (\d+) with epoch (\d+)/

/** Few enough that a series becomes several batches. */
const batchBytes = 300

/** kafka-verifiable-producer: one series, from the start of its JVM to its end. @throws KxError KX_KAFKA_TOOL */
export async function produceWithJava(
  host: ToolHost,
  {topic, codec, idempotent, count, prefix}: VerifiableSeries,
  signal: AbortSignal,
): Promise<readonly ToldRecord[]> {
  const settings = {
    'compression.type': codec,
    'enable.idempotence': idempotent,
    retries: 10, // The tool's own setting is 0, with which there is no idempotence.
    'linger.ms': 200,
    'batch.size': batchBytes,
  }
  const text = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  // KIP-1147 renamed the flag in 4.2.
  const config = compareVersions(host.spec.kafkaVersion, '4.2.0') >= 0 ? '--command-config' : '--producer.config'
  const {stdout, stderr} = await host.runTool({
    what: "Kafka's verifiable producer",
    mainClass: 'org.apache.kafka.tools.VerifiableProducer',
    files: [log4j, {name: 'producer.properties', text: text.join('')}],
    arguments: ({bootstrapServers, path}: ToolPlace) => [
      ...['--bootstrap-server', bootstrapServers, '--topic', topic, '--max-messages', String(count)],
      ...['--value-prefix', String(prefix), '--repeating-keys', '4', config, path('producer.properties')],
    ],
    timeoutMs: jobTimeoutMs,
    signal,
  })
  const name = idempotent ? (namesIn(stderr).at(-1) ?? nameless) : nameless
  return jsonLines(stdout)
    .flatMap((line): ToldRecord[] => {
      const {key, value, offset} = line as {key: string | null; value: string; offset: number}
      if (line.name === 'producer_send_success') return [{key, value, offset, outcome: 'acknowledged', ...name}]
      return line.name === 'producer_send_error' ? [{key, value, offset: null, outcome: 'failed', ...name}] : []
    })
    .sort((a, b) => sequenceOf(a.value) - sequenceOf(b.value))
}

export interface CopyOptions {
  readonly from: {readonly topic: string; readonly records: readonly Pick<ToldRecord, 'key' | 'value'>[]}
  readonly to: string
  /** Also the name of its consumer group. */
  readonly transactionalId: string
}

/**
 * TransactionalMessageCopier, Kafka's own test tool: copies one record per transaction, aborts about every third and does
 * it again. It tells no offsets.
 * @throws KxError KX_KAFKA_TOOL
 */
export async function copyWithJava(
  host: ToolHost,
  {from, to, transactionalId}: CopyOptions,
  signal: AbortSignal,
): Promise<readonly ToldRecord[]> {
  const {stdout, stderr} = await host.runTool({
    what: "Kafka's transactional copier",
    mainClass: 'org.apache.kafka.tools.TransactionalMessageCopier',
    files: [log4j],
    arguments: ({bootstrapServers}: ToolPlace) => [
      ...['--broker-list', bootstrapServers, '--input-topic', from.topic, '--input-partition', '0'],
      ...['--output-topic', to, '--max-messages', String(from.records.length), '--transaction-size', '1'],
      ...['--transactional-id', transactionalId, '--consumer-group', transactionalId],
      ...['--enable-random-aborts', '--use-group-metadata'],
    ],
    timeoutMs: 2 * jobTimeoutMs,
    signal,
  })
  const records = copied(from.records, stderr)
  const committed = records.filter(({outcome}) => outcome === 'committed').length
  const last = jsonLines(stdout).findLast(({totalProcessed}) => totalProcessed !== undefined)
  if (committed === from.records.length && last?.totalProcessed === committed) return records
  throw new Error(`the transactional copier says ${last?.totalProcessed}, and its log has ${committed} commits`)
}

/** What each transaction held follows from how those before it ended: an aborted one is done again. */
function copied(input: CopyOptions['from']['records'], log: string): readonly ToldRecord[] {
  const records: ToldRecord[] = []
  let name: ProducerName = nameless
  let done = 0
  for (const line of log.split('\n')) {
    name = namesIn(line)[0] ?? name
    const end = /to (COMMITTING|ABORTING)_TRANSACTION/.exec(line)?.[1]
    const record = input[done]
    if (end === undefined || !record) continue
    const outcome = end === 'COMMITTING' ? 'committed' : 'aborted'
    records.push({key: record.key, value: record.value, offset: null, outcome, ...name})
    if (outcome === 'committed') done++
  }
  return records
}

function namesIn(log: string): ProducerName[] {
  return log.split('\n').flatMap(line => {
    const [, id, epoch] = producerIdLine.exec(line) ?? []
    return id === undefined ? [] : [{producerId: Number(id), producerEpoch: Number(epoch)}]
  })
}

function jsonLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

function sequenceOf(value: string): number {
  return Number(value.split('.').at(-1))
}
