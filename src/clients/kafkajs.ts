import {Kafka, logLevel} from 'kafkajs'
import {gather, outcomeOf} from '../history/writes.js'
import type {Operation, Writes} from '../history/operation.js'
import {messageOf} from '../util/errors.js'
import {pause, until, within} from '../util/until.js'

export interface KafkajsLoadOptions {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly writer: string
  readonly acks: 0 | 1 | 'all'
  readonly perSecond: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
  now(): number
  record(operation: Operation): void
}

/**
 * kafkajs as people use it, observed: one record per `send`, sends not awaited, so that several are outstanding. One
 * partition per send, retries off, never idempotent (spec: its retry of several partitions can acknowledge what was never
 * sent). It sees no error codes of other partitions and is never the judge.
 */
export async function startKafkajsLoad(options: KafkajsLoadOptions): Promise<KafkajsLoad> {
  withoutTimerWarning()
  const load = new KafkajsLoad(options)
  await load.connect()
  return load
}

export class KafkajsLoad {
  readonly #operations: Operation[] = []
  readonly #outstanding = new Set<Promise<void>>()
  readonly #producer
  #stopping = false
  #loop: Promise<void> | undefined
  acked = 0
  lastAckMs = 0

  constructor(private readonly options: KafkajsLoadOptions) {
    const kafka = new Kafka({
      clientId: 'kx-kafkajs',
      brokers: [...options.brokers],
      logLevel: logLevel.NOTHING, // It logs ordinary retriable answers as errors; outcomes are in the history.
      requestTimeout: options.timeoutMs,
      connectionTimeout: 3_000,
      retry: {retries: 0},
    })
    this.#producer = kafka.producer({idempotent: false, retry: {retries: 0}, allowAutoTopicCreation: false})
  }

  async connect(): Promise<void> {
    await within('kafkajs to connect', 15_000, this.#producer.connect())
    this.#loop = this.#run()
    this.#loop.catch(() => undefined)
    // A trial that is given up does not call stop().
    this.options.signal.addEventListener('abort', () => void this.#producer.disconnect().catch(() => undefined), {
      once: true,
    })
  }

  async untilAcked(count: number): Promise<void> {
    const {topic, signal} = this.options
    await until(
      `${count} acknowledged records of ${topic} by kafkajs`,
      () => (this.acked >= count ? true : undefined),
      {timeoutMs: 30_000, signal},
    )
  }

  async stop(): Promise<Writes> {
    this.#stopping = true
    await this.#loop
    try {
      await within('kafkajs to settle its sends', this.options.timeoutMs + 5_000, Promise.all([...this.#outstanding]))
    } finally {
      await within('kafkajs to disconnect', 5_000, this.#producer.disconnect()).catch(() => undefined)
    }
    return gather(this.#operations, {topic: this.options.topic, acks: this.options.acks})
  }

  async #run(): Promise<void> {
    const {now, perSecond, signal} = this.options
    const everyMs = 1_000 / perSecond
    let dueMs = now()
    for (let sequence = 0; !this.#stopping && !signal.aborted; ) {
      if (dueMs > now()) {
        await pause(1, signal).catch(() => undefined)
        continue
      }
      const send = this.#send(sequence++)
      this.#outstanding.add(send)
      void send.finally(() => this.#outstanding.delete(send))
      dueMs = Math.max(dueMs + everyMs, now() - 100) // After a hiccup it catches up on 100 ms at most.
    }
  }

  async #send(sequence: number): Promise<void> {
    const {topic, writer, acks, timeoutMs, now} = this.options
    const value = `${topic}/${writer}/${sequence}`
    const base = {process: writer, operation: 'write', topic, partition: 0, value, startMs: now(), attempt: 0} as const
    try {
      const answers = await this.#producer.send({
        topic,
        acks: acks === 'all' ? -1 : acks,
        timeout: timeoutMs,
        messages: [{value, partition: 0}],
      })
      const answer = answers.find(({partition}) => partition === 0)
      const endMs = now()
      // Resolved without naming the partition: not an acknowledgement.
      if (answer?.errorCode !== 0)
        return this.#keep({
          ...base,
          endMs,
          outcome: outcomeOf(answer?.errorCode),
          ...(answer ? {errorCode: answer.errorCode} : {}),
        })
      this.acked++
      this.lastAckMs = endMs
      this.#keep({
        ...base,
        endMs,
        outcome: 'ok',
        errorCode: 0,
        ...(answer.baseOffset === undefined ? {} : {offset: Number(answer.baseOffset)}),
      })
    } catch (error) {
      const code = (error as {code?: unknown}).code
      this.#keep({
        ...base,
        endMs: now(),
        outcome: outcomeOf(code),
        error: messageOf(error),
        ...(typeof code === 'number' ? {errorCode: code} : {}),
      })
    }
  }

  #keep(operation: Operation): void {
    this.#operations.push(operation)
    this.options.record(operation)
  }
}

let isQuiet = false

/** kafkajs sets a timer of negative length whenever it connects, of which Node 24 warns on stderr (tulios/kafkajs#1751). Other warnings pass. */
export function withoutTimerWarning(): void {
  if (isQuiet) return
  isQuiet = true
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', warning => {
    if (warning.name === 'TimeoutNegativeWarning' && warning.stack?.includes('kafkajs')) return
    for (const listener of listeners) listener(warning)
  })
}
