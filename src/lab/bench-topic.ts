import type {
  BenchTopic,
  Following,
  Load,
  LoadOptions,
  Series,
  TransactionOptions,
  Watermarks,
  WriteOptions,
} from '../experiment/bench.js'
import type {ClientName, Told} from '../history/told.js'
import type {Found, Writes} from '../history/operation.js'
import {startKafkajsLoad} from '../clients/kafkajs.js'
import {produceSeries, transact} from './producing.js'
import {readTo, recordsFrom, WireFollowing} from './reading.js'
import {WireLoad, type WritingContext, writeSeries} from './writing.js'

/** A topic of the apparatus, written and read over the wire. */
export class BenchTopicOnWire implements BenchTopic {
  #writers = 0

  constructor(
    private readonly context: WritingContext,
    readonly name: string,
  ) {}

  async write(options: WriteOptions): Promise<Writes> {
    return writeSeries(this.context, this.#target(), options)
  }

  async load(options: LoadOptions): Promise<Load> {
    const target = this.#target()
    if (options.client === 'wire') return new WireLoad(this.context, target, options)
    const {view, signal, now, record} = this.context
    return startKafkajsLoad({
      brokers: view.cluster.brokers.map(({address}) => address),
      topic: target.topic,
      writer: `${target.writer}-kafkajs`,
      acks: options.acks,
      perSecond: options.perSecond,
      timeoutMs: options.timeoutMs ?? 10_000,
      signal,
      now,
      record,
    })
  }

  async produce(client: ClientName, series: readonly Series[]): Promise<readonly Told[]> {
    return produceSeries(this.context, {topic: this.name, number: ++this.#writers}, client, series)
  }

  async transact(client: ClientName, options: TransactionOptions): Promise<Told> {
    return transact(this.context, {topic: this.name, number: ++this.#writers}, client, options)
  }

  async follow(): Promise<Following> {
    return new WireFollowing(this.context.view, this.name, this.context.now)
  }

  async watermarks(): Promise<Watermarks> {
    const {view} = this.context
    const nodeId = await this.#leader()
    const highWatermark = await view.highWatermark(nodeId, this.name)
    return {nodeId, highWatermark, logEndOffset: await view.logEndOffset(nodeId, this.name)}
  }

  async read(): Promise<readonly Found[]> {
    const {view} = this.context
    const leader = await this.#leader()
    return readTo(view, this.name, leader, await view.highWatermark(leader, this.name))
  }

  async readBeyond(): Promise<number> {
    const {view} = this.context
    const leader = await this.#leader()
    return recordsFrom(view, this.name, leader, await view.highWatermark(leader, this.name))
  }

  #target(): {topic: string; writer: string} {
    this.#writers++
    return {topic: this.name, writer: `w${this.#writers}`}
  }

  async #leader(): Promise<number> {
    const leader = (await this.context.view.partitions([this.name])).get(this.name)?.leader ?? -1
    if (leader < 0) throw new Error(`${this.name} has no leader`)
    return leader
  }
}
