/** What a producer waits for: nothing, the leader's own append, or the append on every in-sync replica. */
export type Acks = 0 | 1 | 'all'

/** The number in a Produce request. */
export function acksCode(acks: Acks): -1 | 0 | 1 {
  return acks === 'all' ? -1 : acks
}
