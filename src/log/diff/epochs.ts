import type {EpochEntry} from '../files/checkpoints.js'
import type {ReplicaSummary} from './types.js'

/** The epochs of a replica with their start offsets: from its checkpoint, else from its batches. */
export function epochsOf({checkpoint, epochs}: ReplicaSummary): readonly EpochEntry[] {
  if (!checkpoint || checkpoint.length === 0) return epochs
  // A checkpoint is written before the batches of its last epoch: what batches say of later epochs counts too.
  const last = checkpoint.at(-1)?.epoch ?? -1
  return [...checkpoint, ...epochs.filter(({epoch}) => epoch > last)]
}

export function lastEpochOf(replica: ReplicaSummary): number {
  return epochsOf(replica).reduce((last, {epoch}) => Math.max(last, epoch), -1)
}

export function epochAt(replica: ReplicaSummary, offset: bigint): number | undefined {
  return epochsOf(replica).findLast(({startOffset}) => startOffset <= offset)?.epoch
}

/** Where an epoch begins on a replica; `undefined` if it does not know it. */
export function startOf(replica: ReplicaSummary, epoch: number): bigint | undefined {
  return epochsOf(replica).find(entry => entry.epoch === epoch)?.startOffset
}

/**
 * Where a follower cuts its log before it fetches from this leader (KIP-101, KIP-279): the end of the last epoch that
 * both know.
 */
export function truncationPoint(follower: ReplicaSummary, leader: ReplicaSummary): bigint {
  let end = follower.logEndOffset
  let epoch = lastEpochOf(follower)
  for (;;) {
    const found = largestAtMost(leader, epoch)
    // The leader knows no epoch that old: the follower cuts to the leader's beginning.
    if (!found) return least(end, leader.logStartOffset)
    if (found.epoch === epoch) return least(end, found.end)
    const own = largestAtMost(follower, found.epoch)
    if (!own) return least(end, leader.logStartOffset)
    end = least(end, own.end)
    if (own.epoch === found.epoch) return least(end, found.end)
    epoch = own.epoch
  }
}

function largestAtMost(
  replica: ReplicaSummary,
  epoch: number,
): {readonly epoch: number; readonly end: bigint} | undefined {
  const entries = epochsOf(replica)
  const index = entries.findLastIndex(entry => entry.epoch <= epoch)
  const entry = entries[index]
  return entry && {epoch: entry.epoch, end: entries[index + 1]?.startOffset ?? replica.logEndOffset}
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
