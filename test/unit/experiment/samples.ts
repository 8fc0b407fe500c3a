import type {Sample} from '../../../src/experiment/experiment.js'
import type {Found, ReplicaRecords, Writes, Written} from '../../../src/history/operation.js'

/** The trials that count: numbered from 1, all of them planned unless said otherwise. */
export function sample<O>(observations: readonly O[], planned = observations.length): Sample<O> {
  const trials = observations.map((observation, index) => ({number: index + 1, condition: 'c', observation}))
  return Object.assign(trials, {planned})
}

/** `w('a', 3, 10, 12)`: a was acknowledged at offset 3, began at 10 ms and ended at 12. */
export function w(value: string, offset?: number, startMs = 0, endMs = startMs + 1): Written {
  return offset === undefined ? {value, startMs, endMs} : {value, offset, startMs, endMs}
}

export function writes(parts: Partial<Pick<Writes, 'ok' | 'fail' | 'info'>>, topic = 't'): Writes {
  return {topic, acks: 'all', ok: [], fail: [], info: [], ...parts}
}

/** `log('a', 'b', 'c')`: a at offset 0, b at 1, c at 2, all of leader epoch 0. */
export function log(...values: readonly (string | null)[]): Found[] {
  return values.flatMap((value, offset) => (value === null ? [] : [{offset, value, leaderEpoch: 0}]))
}

export function replica(nodeId: number, records: readonly Found[], topic = 't'): ReplicaRecords {
  return {nodeId, topic, logEndOffset: (records.at(-1)?.offset ?? -1) + 1, records, intact: true}
}
