import {createRequire} from 'node:module'
import {text} from 'node:stream/consumers'
import type {ToldRecord} from '../history/told.js'
import {type Job, type JobResult, jobTimeoutMs, nameless, outcomeOfRound, type ProducerName, type Round} from './job.js'

// A process of its own: librdkafka is native code, and an addon that fails takes its process with it. It reads one line
// of JSON, `{module, jobs}`, does the jobs one after another and prints `{results}` or `{error}`.

interface Report {
  readonly offset: number
  readonly opaque: number
}

type Done = (error?: Error | null) => void

/** What is used of `@confluentinc/kafka-javascript`'s own producer. */
interface NativeProducer {
  on(event: 'delivery-report', listen: (error: Error | null, report: Report) => void): void
  on(event: 'event.log', listen: (entry: {readonly message: string}) => void): void
  on(event: 'event.error', listen: (error: Error) => void): void
  connect(options: object, done: Done): void
  disconnect(done: Done): void
  setPollInterval(ms: number): void
  produce(topic: string, partition: number, value: Buffer, key: string, timestamp: number, opaque: number): void
  flush(timeoutMs: number, done: Done): void
  initTransactions(timeoutMs: number, done: Done): void
  beginTransaction(done: Done): void
  commitTransaction(timeoutMs: number, done: Done): void
  abortTransaction(timeoutMs: number, done: Done): void
}

interface Library {
  readonly librdkafkaVersion: string
  readonly Producer: new (settings: Record<string, unknown>) => NativeProducer
}

const until = (act: (done: Done) => void): Promise<void> =>
  new Promise((resolve, reject) => act(error => (error ? reject(error) : resolve())))

class Series {
  readonly #offsets = new Map<number, number>()
  readonly #producer: NativeProducer
  readonly #records: ToldRecord[] = []
  #name: ProducerName = nameless
  #failure: Error | undefined
  #next = 0
  #told: () => void = () => undefined

  constructor(
    {Producer}: Library,
    private readonly job: Job,
  ) {
    const {brokers, codec, idempotent, transactionalId} = job
    this.#producer = new Producer({
      'bootstrap.servers': brokers.join(','),
      'client.id': 'kx-librdkafka',
      'compression.codec': codec,
      'enable.idempotence': idempotent || transactionalId !== undefined,
      // All of a round is handed over within it, so that it may become one batch; flush() does not wait for the rest of it.
      'linger.ms': 200,
      dr_cb: true,
      debug: 'eos',
      ...(transactionalId === undefined ? {} : {'transactional.id': transactionalId}),
    })
    this.#producer.on('delivery-report', (error, report) => {
      if (error) this.#failure ??= error
      else this.#offsets.set(report.opaque, report.offset)
      this.#told()
    })
    // It tells its producer id nowhere but here.
    this.#producer.on('event.log', ({message}) => {
      const [, id, epoch] = /Acquired (?:transactional )?PID\{Id:(\d+),Epoch:(\d+)\}/.exec(message) ?? []
      if (id !== undefined) this.#name = {producerId: Number(id), producerEpoch: Number(epoch)}
    })
    this.#producer.on('event.error', () => undefined) // A broker that goes away is no error of a series: reports tell.
  }

  async run(): Promise<readonly ToldRecord[]> {
    const {transactionalId, rounds} = this.job
    await until(done => this.#producer.connect({timeout: 10_000}, done))
    this.#producer.setPollInterval(5)
    try {
      if (transactionalId !== undefined) await until(done => this.#producer.initTransactions(jobTimeoutMs, done))
      for (const round of rounds) await this.#round(round)
    } finally {
      await until(done => this.#producer.disconnect(done))
    }
    return this.#records
  }

  async #round({records, end}: Round): Promise<void> {
    const {topic, idempotent, transactionalId} = this.job
    if (end !== undefined) await until(done => this.#producer.beginTransaction(done))
    const first = this.#next
    for (const {key, value} of records)
      this.#producer.produce(topic, 0, Buffer.from(value), key, Date.now(), this.#next++)
    await until(done => this.#producer.flush(jobTimeoutMs, done)) // An abort would drop what was not sent yet.
    await this.#reported()
    if (end === 'commit') await until(done => this.#producer.commitTransaction(jobTimeoutMs, done))
    if (end === 'abort') await until(done => this.#producer.abortTransaction(jobTimeoutMs, done))
    const own = idempotent || transactionalId !== undefined ? this.#name : nameless
    for (const [index, record] of records.entries()) {
      const offset = this.#offsets.get(first + index) as number
      this.#records.push({...record, offset, outcome: outcomeOfRound(end), ...own})
    }
  }

  /** A flush ends when nothing is outstanding; its reports come with one of the next polls. Whoever started this process bounds it. */
  #reported(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#told = () => {
        if (this.#failure) reject(this.#failure)
        else if (this.#offsets.size === this.#next) resolve()
      }
      this.#told()
    })
  }
}

const {module, jobs} = JSON.parse(await text(process.stdin)) as {readonly module: string; readonly jobs: readonly Job[]}
try {
  const library = createRequire(import.meta.url)(module) as Library
  const results: JobResult[] = []
  for (const job of jobs)
    results.push({version: library.librdkafkaVersion, records: await new Series(library, job).run()})
  process.stdout.write(`${JSON.stringify({results})}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({error: error instanceof Error ? error.message : String(error)})}\n`)
}
process.exitCode = 0
