/**
 * What the controller's log (`__cluster_metadata`) says, in order. `atMs` is the record's own timestamp, moved to the
 * trial's clock. A fence writes its PARTITION_CHANGE records before the BROKER_REGISTRATION_CHANGE, in one atomic batch
 * with one timestamp: `batch` (its base offset) tells what belongs together.
 */
export interface TimelineEvent {
  readonly atMs: number
  readonly wallMs: number
  readonly batch: number
  readonly kind: 'partition' | 'fenced' | 'unfenced' | 'controlled-shutdown' | 'registered'
  /** Of a broker event. */
  readonly nodeId?: number
  /** Of a partition event: the apparatus' name of the topic, and the state after it. */
  readonly topic?: string
  readonly leader?: number
  readonly leaderEpoch?: number
  readonly inSyncReplicas?: readonly number[]
  readonly eligibleLeaderReplicas?: readonly number[]
}

/** The in-sync replicas of a topic at a moment (wall clock, ms), as the controller had written them until then. */
export function isrAt(
  timeline: readonly TimelineEvent[],
  topic: string,
  wallMs: number | undefined,
): readonly number[] | undefined {
  return timeline.findLast(
    event =>
      event.kind === 'partition' && event.topic === topic && event.wallMs <= (wallMs ?? Number.POSITIVE_INFINITY),
  )?.inSyncReplicas
}
