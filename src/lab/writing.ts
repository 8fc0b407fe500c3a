import type {Load, LoadOptions, WriteOptions} from '../experiment/bench.js'
import {gather, outcomeOf} from '../history/writes.js'
import type {Operation, Writes} from '../history/operation.js'
import {acksCode} from '../kafka/acks.js'
import {kafkaError} from '../kafka/errors.js'
import {writeBatch} from '../log/write-batch.js'
import {messageOf} from '../util/errors.js'
import {pause, until, within} from '../util/until.js'
import {Connection} from '../wire/connection.js'
import {WireError} from '../wire/errors.js'
import {produce} from '../wire/requests.js'
import type {ClusterView} from './view.js'

/** What a writer needs of its trial. */
export interface WritingContext {
  readonly view: ClusterView
  readonly signal: AbortSignal
  now(): number
  /** A line of the history. */
  record(operation: Operation): void
}

export interface Target {
  /** The real topic; kx's experiments use partition 0 only. */
  readonly topic: string
  /** Unique among the writers of this topic in this trial. */
  readonly writer: string
}

/** A value says where it comes from: topic (unique in the run), writer, sequence. */
const valueFor = ({topic, writer}: Target, sequence: number): string => `${topic}/${writer}/${sequence}`

/** How long a client waits beyond the time-out that it gave the broker. */
const graceMs = 3_000
const defaultTimeoutMs = 10_000

/**
 * Writes `count` records, fewer if the time is over before: one record per batch and one batch per request, each value
 * tried once. Every connection has one write outstanding; with as many connections as records all are outstanding at once.
 */
export async function writeSeries(context: WritingContext, target: Target, options: WriteOptions): Promise<Writes> {
  const {acks, count, connections = 1, timeoutMs = defaultTimeoutMs, withinMs = Number.POSITIVE_INFINITY} = options
  const leader = await leaderOf(context, target.topic)
  const open = await openAll(context, leader, connections, timeoutMs)
  const operations: Operation[] = []
  const endMs = context.now() + withinMs
  let next = 0
  try {
    await Promise.all(
      open.map(async connection => {
        let current: Connection | undefined = connection
        while (next < count && context.now() < endMs && !context.signal.aborted) {
          const sequence = next++
          current ??= await connect(context, leader, timeoutMs).catch(() => undefined)
          const operation = await writeOne(context, target, current, leader, {acks, timeoutMs, sequence})
          operations.push(operation)
          if (operation.errorCode === undefined && operation.outcome !== 'ok') current = await dropped(current)
        }
        await current?.close()
      }),
    )
  } finally {
    await Promise.all(open.map(connection => connection.close()))
  }
  context.signal.throwIfAborted()
  return gather(operations, {topic: target.topic, acks})
}

/** A closed-loop writer at a steady pace: each connection has at most one write outstanding and then skips what is overdue. */
export class WireLoad implements Load {
  readonly #operations: Operation[] = []
  readonly #loops: Promise<void>
  #stopping = false
  #sequence = 0
  #acked = 0
  #lastAckMs = 0

  constructor(
    private readonly context: WritingContext,
    private readonly target: Target,
    private readonly options: LoadOptions,
  ) {
    const {connections = 1, perSecond} = options
    const everyMs = (connections * 1_000) / perSecond
    const loops = Array.from({length: connections}, (_, index) => this.#loop((index * everyMs) / connections, everyMs))
    this.#loops = Promise.all(loops).then(() => undefined)
    this.#loops.catch(() => undefined) // stop() tells; until then a failure must not count as unhandled.
  }

  get acked(): number {
    return this.#acked
  }

  get lastAckMs(): number {
    return this.#lastAckMs
  }

  async untilAcked(count: number): Promise<void> {
    await untilAcked(this, count, this.target.topic, this.context.signal)
  }

  async stop(): Promise<Writes> {
    this.#stopping = true
    const bound = (this.options.timeoutMs ?? defaultTimeoutMs) + 2 * graceMs
    await within(`the writers of ${this.target.topic} to finish`, bound, this.#loops)
    return gather(this.#operations, {topic: this.target.topic, acks: this.options.acks})
  }

  async #loop(firstMs: number, everyMs: number): Promise<void> {
    const {context, target} = this
    const {acks, timeoutMs = defaultTimeoutMs} = this.options
    let dueMs = context.now() + firstMs
    let connection: Connection | undefined
    let leader = -1
    while (!this.#stopping && !context.signal.aborted) {
      const waitMs = dueMs - context.now()
      if (waitMs > 1) await pause(Math.min(waitMs, 100), context.signal).catch(() => undefined)
      if (dueMs - context.now() > 1) continue
      dueMs = Math.max(dueMs + everyMs, context.now())
      if (!connection) {
        leader = await leaderOf(context, target.topic).catch(() => -1)
        connection = leader < 0 ? undefined : await connect(context, leader, timeoutMs).catch(() => undefined)
        if (!connection) continue // Nothing was sent: no operation, the next turn tries again.
      }
      const operation = await writeOne(context, target, connection, leader, {
        acks,
        timeoutMs,
        sequence: this.#sequence++,
      })
      this.#operations.push(operation)
      if (operation.outcome === 'ok') {
        this.#acked++
        this.#lastAckMs = operation.endMs
      } else {
        connection = await dropped(connection)
      }
    }
    await connection?.close()
  }
}

/** Bounded: a load that acknowledges nothing at all is a failed trial, not an endless one. */
export async function untilAcked(
  load: Pick<Load, 'acked'>,
  count: number,
  topic: string,
  signal: AbortSignal,
): Promise<void> {
  await until(`${count} acknowledged records of ${topic}`, () => (load.acked >= count ? true : undefined), {
    timeoutMs: 30_000,
    everyMs: 20,
    signal,
    missing: () => `There were ${load.acked}.`,
  })
}

interface OneWrite {
  readonly acks: 0 | 1 | 'all'
  readonly timeoutMs: number
  readonly sequence: number
}

async function writeOne(
  context: WritingContext,
  target: Target,
  connection: Connection | undefined,
  broker: number,
  {acks, timeoutMs, sequence}: OneWrite,
): Promise<Operation> {
  const value = valueFor(target, sequence)
  const records = writeBatch({records: [{key: null, value: Buffer.from(value), timestamp: BigInt(Date.now())}]})
  const startMs = context.now()
  const base = {
    process: target.writer,
    operation: 'write',
    topic: target.topic,
    partition: 0,
    value,
    startMs,
    attempt: 0,
  } as const
  const finish = (rest: Omit<Operation, keyof typeof base | 'endMs'>): Operation => {
    const operation: Operation = {...base, ...rest, endMs: context.now()}
    context.record(operation)
    return operation
  }
  // Without a connection nothing was sent, so this value was surely not written.
  if (!connection) return finish({outcome: 'fail', error: 'not connected'})
  try {
    const answer = await produce(
      connection,
      {topic: target.topic, partition: 0, acks: acksCode(acks), timeoutMs, records},
      {timeoutMs: timeoutMs + graceMs},
    )
    const offset = answer.baseOffset >= 0n ? {offset: Number(answer.baseOffset)} : {}
    if (answer.errorCode === 0) return finish({outcome: 'ok', broker, errorCode: 0, ...offset})
    const {name} = kafkaError(answer.errorCode)
    return finish({outcome: outcomeOf(answer.errorCode), broker, errorCode: answer.errorCode, error: name, ...offset})
  } catch (error) {
    // No byte left: surely not written. Otherwise nobody knows.
    const outcome = error instanceof WireError && !error.sent ? 'fail' : 'info'
    return finish({outcome, error: messageOf(error)})
  }
}

async function dropped(connection: Connection | undefined): Promise<undefined> {
  await connection?.close()
  return undefined
}

async function openAll(
  context: WritingContext,
  leader: number,
  count: number,
  timeoutMs: number,
): Promise<Connection[]> {
  const opened = await Promise.allSettled(Array.from({length: count}, () => connect(context, leader, timeoutMs)))
  const connections = opened.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = opened.find(result => result.status === 'rejected')
  if (failed) {
    await Promise.all(connections.map(connection => connection.close()))
    throw failed.reason
  }
  return connections
}

function connect(context: WritingContext, nodeId: number, timeoutMs: number): Promise<Connection> {
  return Connection.open(context.view.endpoint(nodeId), {
    clientId: 'kx-writer',
    reach: 'brokers',
    requestTimeoutMs: timeoutMs + graceMs,
    signal: context.signal,
  })
}

async function leaderOf(context: WritingContext, topic: string): Promise<number> {
  const view = (await context.view.partitions([topic])).get(topic)
  if (!view || view.leader < 0) throw new Error(`${topic} has no leader`)
  return view.leader
}
