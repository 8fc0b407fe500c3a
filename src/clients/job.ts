import type {Codec, ToldRecord} from '../history/told.js'

/** What a producer is to send at once, so that it may become one batch. */
export interface Round {
  readonly records: readonly {readonly key: string; readonly value: string}[]
  /** Of a transactional producer: each round is a transaction. */
  readonly end?: 'commit' | 'abort'
}

/** The work of one producer: it is made, sends its rounds one after another to partition 0, and is closed. */
export interface Job {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly codec: Codec
  readonly idempotent: boolean
  readonly transactionalId?: string
  readonly rounds: readonly Round[]
}

/** What is known of a producer, as it says itself. */
export interface ProducerName {
  readonly producerId: number | null
  readonly producerEpoch: number | null
}

export const nameless: ProducerName = {producerId: null, producerEpoch: null}

export interface JobResult {
  readonly version: string
  readonly records: readonly ToldRecord[]
}

/** A job is abandoned after this long, ms. */
export const jobTimeoutMs = 60_000

export function outcomeOfRound(end: Round['end']): ToldRecord['outcome'] {
  return end === undefined ? 'acknowledged' : end === 'commit' ? 'committed' : 'aborted'
}
