import type {Writes} from '../history/operation.js'
import type {FaultRecord} from './bench.js'

/**
 * True if no write that began after the blow was proven was acknowledged before the fence. `slackMs` is taken off at the
 * fence's end: the controller stamps its records with whole milliseconds of the wall clock, the client has its own.
 * A write that began earlier tells nothing: the follower may have had it.
 */
export function stalledUntil(writes: Writes, blow: FaultRecord, fencedMs: number, slackMs: number): boolean {
  const fenceMs = blow.startMs + fencedMs
  return writes.ok.every(({startMs, endMs}) => startMs <= blow.provenMs || endMs >= fenceMs - slackMs)
}
