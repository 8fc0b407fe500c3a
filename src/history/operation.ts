/** `info`: nobody knows whether it happened (time-out, disconnect, REQUEST_TIMED_OUT even with its offset, …). */
export type Outcome = 'ok' | 'fail' | 'info'

/**
 * One operation of a client: a line of `history-<n>.jsonl.gz`. Times are milliseconds on the trial's one monotonic
 * clock. Offsets are plain numbers here, because a line must survive JSON unchanged; the lab refuses to store one
 * beyond 2^53.
 */
export interface Operation {
  /** Which writer or reader, e.g. `wire-acks1-0`. */
  readonly process: string
  readonly operation: 'write' | 'read'
  readonly topic: string
  readonly partition: number
  readonly key?: string
  /** Unique in the run and self-describing: `<topic>/<writer>/<sequence>`. */
  readonly value: string
  readonly offset?: number
  readonly startMs: number
  readonly endMs: number
  readonly outcome: Outcome
  /** Kafka's code where a broker answered; absent where the connection broke. */
  readonly errorCode?: number
  readonly error?: string
  /** Which broker answered. */
  readonly broker?: number
  /** 0 for the first try of a value. */
  readonly attempt: number
}

/** The attempts of one value, as one: what became of it and, if it was acknowledged, where. */
export interface Written {
  readonly value: string
  readonly offset?: number
  readonly startMs: number
  readonly endMs: number
  readonly errorCode?: number
  readonly error?: string
  readonly attempts?: number
}

/** What one or several writers wrote into one topic with one setting of acks. */
export interface Writes {
  readonly topic: string
  readonly acks: 0 | 1 | 'all'
  readonly ok: readonly Written[]
  readonly fail: readonly Written[]
  readonly info: readonly Written[]
}

/** A record as a reader or a segment file gave it. */
export interface Found {
  readonly offset: number
  readonly value: string
  readonly leaderEpoch: number
}

/** All records of one partition in one broker's segment files. */
export interface ReplicaRecords {
  readonly nodeId: number
  readonly topic: string
  readonly logEndOffset: number
  readonly records: readonly Found[]
  /** Every batch's CRC-32C was right and the file had no trailing garbage. */
  readonly intact: boolean
}
