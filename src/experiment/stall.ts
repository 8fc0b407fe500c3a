import type {Writes} from '../history/operation.js'
import {KxError} from '../util/errors.js'
import type {FaultRecord} from './bench.js'

/**
 * True if nothing was acknowledged between the blow and the fence, whenever it was begun: an acknowledgement needs the
 * next fetch of every in-sync replica, and a dead one fetches no more. `slackMs` is taken off at both ends: answers that
 * were under way when the process died, and the fence's time, which the controller writes in whole milliseconds of the
 * wall clock.
 * @throws KxError KX_NO_WITNESS if no acknowledged write was under way during the stall: then nobody had asked.
 */
export function stalledUntil(writes: Writes, blow: FaultRecord, fencedMs: number, slackMs: number): boolean {
  const [fromMs, toMs] = [blow.provenMs + slackMs, blow.startMs + fencedMs - slackMs]
  if (writes.ok.some(({endMs}) => endMs > fromMs && endMs < toMs)) return false
  if (writes.ok.some(({startMs, endMs}) => startMs < toMs && endMs >= toMs)) return true
  throw new KxError('inconclusive', 'KX_NO_WITNESS', 'No write was waiting between the blow and the fence.')
}
