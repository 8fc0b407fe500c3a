/** The clients that kx's experiments observe. `java`: the tools of Apache Kafka itself, of the cluster's version. */
export const clientNames = ['kafkajs', 'librdkafka', 'java'] as const
export type ClientName = (typeof clientNames)[number]

export const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Codec = (typeof codecs)[number]

/** A record and what its client was told of it. */
export interface ToldRecord {
  readonly key: string | null
  readonly value: string
  /** `null`: the client tells no offsets (Java's transactional copier). */
  readonly offset: number | null
  readonly outcome: 'acknowledged' | 'committed' | 'aborted' | 'failed'
  /** As the client says in its own log; `null` for a producer that has none. */
  readonly producerId: number | null
  readonly producerEpoch: number | null
}

/** What a client was told to write into one topic, and what it was told back: one series. */
export interface Told {
  readonly client: ClientName
  /** Of the client's library. */
  readonly version: string
  /** The real name. */
  readonly topic: string
  readonly codec: Codec
  readonly producer: 'plain' | 'idempotent' | 'transactional'
  /** In the order in which they were sent. */
  readonly records: readonly ToldRecord[]
}
