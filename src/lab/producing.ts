import {copyWithJava, produceWithJava} from '../clients/java-tools.js'
import type {Job, JobResult, Round} from '../clients/job.js'
import {produceWithKafkajs} from '../clients/kafkajs-producer.js'
import {produceWithLibrdkafka} from '../clients/librdkafka.js'
import {secondClientFinding, secondClientFolder, secondClientModule} from '../cluster/doctor/second-client.js'
import type {Series, TransactionOptions} from '../experiment/bench.js'
import type {AnyExperiment, ConditionBase} from '../experiment/experiment.js'
import type {ClientName, Told} from '../history/told.js'
import {deleteGroups, findCoordinator} from '../wire/group-requests.js'
import type {WritingContext} from './writing.js'

/** Sends of one series; each may become one batch. The last is a single small record, which a codec may not make smaller. */
const roundsOf = (count: number): readonly number[] => {
  const half = Math.ceil((count - 1) / 2)
  return [half, count - 1 - half, 1].filter(size => size > 0)
}
const recordsPerTransaction = 3

/** Why a client can't be used here, with the cure; `undefined` if it can. */
async function clientObstacle(client: ClientName): Promise<string | undefined> {
  if (client !== 'librdkafka') return undefined // kafkajs is a dependency, and Java's tools come with every Kafka.
  const {what, cure} = await secondClientFinding(process.env)
  return cure === undefined ? undefined : `${what.replace(/[;.].*$/, '')} (${cure})`
}

/** The conditions of an experiment that can't be had here, each with the reason. */
export async function obstaclesOf(note: AnyExperiment): Promise<Readonly<Record<string, string>>> {
  const obstacles: Record<string, string> = {}
  for (const [id, {client}] of Object.entries(note.conditions as Readonly<Record<string, ConditionBase>>)) {
    const obstacle = client === undefined ? undefined : await clientObstacle(client)
    if (obstacle !== undefined) obstacles[id] = obstacle
  }
  return obstacles
}

export interface ProducingTarget {
  /** The real topic. */
  readonly topic: string
  /** Of this writer among those of the topic, from 1. */
  readonly number: number
}

/** The verifiable producer takes a number as the beginning of its values; long ones, so that there is something to compress. */
const prefixOf = ({number}: ProducingTarget, index: number) => 1_000_000_000 + number * 1_000 + index

/** Lets a real client write series one after another, each with a producer of its own, and gathers what it was told. */
export async function produceSeries(
  context: WritingContext,
  target: ProducingTarget,
  client: ClientName,
  series: readonly Series[],
): Promise<readonly Told[]> {
  const {topic, number} = target
  if (client === 'java') {
    const told: Told[] = []
    for (const [index, {codec, producer, count}] of series.entries()) {
      const options = {topic, codec, idempotent: producer === 'idempotent', count, prefix: prefixOf(target, index)}
      const records = await produceWithJava(context.view.cluster, options, context.signal)
      told.push({client, version: context.view.cluster.spec.kafkaVersion, topic, codec, producer, records})
    }
    return told
  }
  const jobs = series.map(({codec, producer, count}, index): Job => {
    let next = 0
    const rounds = roundsOf(count).map(size => ({
      records: Array.from({length: size}, () => recordOf(`${topic}/w${number}-${index}`, next++)),
    }))
    return {brokers: brokersOf(context), topic, codec, idempotent: producer === 'idempotent', rounds}
  })
  const results = await run(context, client, jobs)
  return series.map(({codec, producer}, index) => ({client, topic, codec, producer, ...(results[index] as JobResult)}))
}

/** Writes the records of a series again in transactions, some of which are committed and some aborted. */
export async function transact(
  context: WritingContext,
  {topic, number}: ProducingTarget,
  client: ClientName,
  {codec, source, count}: TransactionOptions,
): Promise<Told> {
  const input = source.records.slice(0, count)
  const producer = 'transactional'
  const name = `${topic}-w${number}`
  if (client === 'java') {
    const {cluster} = context.view
    const records = await copyWithJava(
      cluster,
      {from: {topic: source.topic, records: input}, to: topic, transactionalId: name},
      context.signal,
    )
    await forget(context, name)
    // The copier takes no settings: it compresses nothing.
    return {client, version: cluster.spec.kafkaVersion, topic, codec: 'none', producer, records}
  }
  const rounds: Round[] = []
  for (let at = 0; at < input.length; at += recordsPerTransaction) {
    const records = input.slice(at, at + recordsPerTransaction)
    rounds.push({
      records: records.map(({key, value}) => ({key: key ?? '', value})),
      end: rounds.length % 2 === 0 ? 'commit' : 'abort',
    })
  }
  const brokers = brokersOf(context)
  const [result] = await run(context, client, [
    {brokers, topic, codec, idempotent: true, transactionalId: name, rounds},
  ])
  return {client, topic, codec, producer, ...(result as JobResult)}
}

async function run(
  {signal}: WritingContext,
  client: 'kafkajs' | 'librdkafka',
  jobs: readonly Job[],
): Promise<readonly JobResult[]> {
  if (client === 'librdkafka') return produceWithLibrdkafka(secondClientModule(secondClientFolder()), jobs, signal)
  const results: JobResult[] = []
  for (const job of jobs) results.push(await produceWithKafkajs(job, signal))
  return results
}

/** A value says where it comes from, and repeats itself a little, as the records of one topic do. */
function recordOf(writer: string, sequence: number): Round['records'][number] {
  return {
    key: `key-${sequence % 4}`,
    value: `${writer}/${sequence} {"order":${sequence},"state":"paid","currency":"EUR"}`,
  }
}

function brokersOf({view}: WritingContext): readonly string[] {
  return view.cluster.brokers.map(({address}) => address)
}

/** The copier's consumer group goes, as all that kx made. */
async function forget({view}: WritingContext, group: string): Promise<void> {
  const {nodeId} = await view.anyBroker(connection => findCoordinator(connection, {type: 'group', key: group}))
  await view.ask(nodeId, connection => deleteGroups(connection, {groups: [group]}))
}
