import {randomBytes} from 'node:crypto'
import {kafkaError} from '../kafka/errors.js'
import {writeBatch} from '../log/write-batch.js'
import {until} from '../util/until.js'
import {createTopics, deleteTopics} from '../wire/admin-requests.js'
import {Connection} from '../wire/connection.js'
import {WireError} from '../wire/errors.js'
import {fetch, produce} from '../wire/requests.js'
import type {Endpoint} from '../wire/types.js'
import type {ClusterNode} from './cluster.js'

/** A broker and where it is reached. */
export type ProbedBroker = Pick<ClusterNode, 'nodeId' | 'address'>

export interface ProbeOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** The last log lines of a node, as the end of a sentence. */
  readonly lastLines: (nodeId: number) => Promise<string>
}

/**
 * Writes a record with acks=all to a partition on each broker, with replicas on the others, and reads it back. The
 * topic is deleted again.
 * @throws KxError KX_TIMEOUT (environment) with the last answer and the log of the broker that gave it
 */
export async function probe(
  brokers: readonly ProbedBroker[],
  {timeoutMs, signal, lastLines}: ProbeOptions,
): Promise<void> {
  const topic = `kx-ready-${randomBytes(6).toString('hex')}`
  const deadline = performance.now() + timeoutMs
  /** Repeats the attempt at one broker, on a new connection each, until it succeeds. */
  const attempt = async (
    what: string,
    node: ProbedBroker,
    act: (connection: Connection) => Promise<string | undefined>,
  ) => {
    let problem = ''
    const probing = async () => {
      problem = await at(node, signal, act)
      return problem === '' ? true : undefined
    }
    const missing = async () => `${problem}${await lastLines(node.nodeId)}`
    const left = Math.max(1_000, deadline - performance.now())
    await until(`${what} at broker ${node.nodeId}`, probing, {timeoutMs: left, everyMs: 20, signal, missing})
  }
  const [first] = brokers
  if (!first) return
  await attempt('a probe topic to be made', first, connection => create(connection, topic, brokers))
  try {
    await Promise.all(
      brokers.map((broker, partition) =>
        attempt('a record with acks=all to be written and read', broker, connection =>
          writeAndRead(connection, topic, partition),
        ),
      ),
    )
  } catch (error) {
    // What kept the record from being written may keep the topic from being deleted: the first error is the story.
    await at(first, AbortSignal.timeout(3_000), connection => remove(connection, topic)).catch(() => undefined)
    throw error
  }
  await attempt('the probe topic to be deleted', first, connection => remove(connection, topic))
}

/** Runs one attempt; what went wrong comes back as a sentence, empty if nothing did. */
async function at(
  node: ProbedBroker,
  signal: AbortSignal,
  act: (connection: Connection) => Promise<string | undefined>,
): Promise<string> {
  try {
    await using connection = await Connection.open(endpointOf(node), {
      reach: 'own-topics',
      requestTimeoutMs: 5_000,
      signal,
    })
    return (await act(connection)) ?? ''
  } catch (error) {
    if (signal.aborted || !(error instanceof WireError)) throw error
    return error.message
  }
}

async function create(admin: Connection, topic: string, brokers: readonly ProbedBroker[]): Promise<string | undefined> {
  const ids = brokers.map(({nodeId}) => nodeId)
  const replicas = Math.min(3, ids.length)
  const assignments = ids.map((_, partition) => ({
    partition,
    brokerIds: Array.from({length: replicas}, (__, index) => ids[(partition + index) % ids.length] as number),
  }))
  const configs = {'min.insync.replicas': String(Math.min(2, replicas))}
  const [answer] = await createTopics(admin, {topics: [{name: topic, assignments, configs}]})
  // TOPIC_ALREADY_EXISTS: made by an attempt whose answer was lost.
  return answer?.errorCode === 36 ? undefined : refusal('CreateTopics', answer?.errorCode, answer?.errorMessage)
}

async function writeAndRead(connection: Connection, topic: string, partition: number): Promise<string | undefined> {
  const value = Buffer.from(`${topic}-${partition}-${randomBytes(6).toString('hex')}`)
  const records = writeBatch({records: [{timestamp: BigInt(Date.now()), key: null, value}]})
  const written = await produce(connection, {topic, partition, acks: -1, timeoutMs: 2_000, records})
  if (written.errorCode !== 0) return refusal('Produce', written.errorCode, written.errorMessage)
  const read = await fetch(connection, {topic, partition, offset: written.baseOffset, maxWaitMs: 500})
  if (read.errorCode !== 0) return refusal('Fetch', read.errorCode)
  // The broker fills in the base offset and the leader epoch before the magic byte; all after that comes back as sent.
  const same = read.records.subarray(fromMagic, records.length).equals(records.subarray(fromMagic))
  return same
    ? undefined
    : `The record at offset ${written.baseOffset} was not among the ${read.records.length} bytes read.`
}

const fromMagic = 16

async function remove(admin: Connection, topic: string): Promise<string | undefined> {
  const [answer] = await deleteTopics(admin, {topics: [topic]})
  // UNKNOWN_TOPIC_OR_PARTITION: deleted by an attempt whose answer was lost.
  return answer?.errorCode === 3 ? undefined : refusal('DeleteTopics', answer?.errorCode, answer?.errorMessage)
}

function refusal(api: string, code = 0, message: string | null = null): string | undefined {
  if (code === 0) return undefined
  return `${api} was answered with error ${code} ${kafkaError(code).name}${message ? `: ${message}` : '.'}`
}

/** Where a node is reached. */
export function endpointOf({address}: Pick<ClusterNode, 'address'>): Endpoint {
  const colon = address.lastIndexOf(':')
  return {host: address.slice(0, colon), port: Number(address.slice(colon + 1))}
}
