import type {FaultRecord} from './bench.js'
import type {TimelineEvent} from './timeline.js'

/** What the controller's log says of one topic around one fault. Empty or `null`: the log does not say it. */
export interface Election {
  /** In-sync replicas just before the step: the batch that fences the victim or gives the partition another leader. */
  readonly isrBefore: readonly number[]
  /** How often the ISR or the leader changed between the first state in the timeline and the step. */
  readonly isrChangesBeforeFence: number
  readonly leaderBefore: number | null
  /** The leader that was elected from the step on; if none was, the leader at the end. */
  readonly leaderAfter: number | null
  readonly epochBefore: number | null
  /** With {@link leaderAfter}. */
  readonly epochAfter: number | null
  readonly epochSteps: number | null
  /** From the blow to the fence of the victim, by the clock of Kafka's records. */
  readonly fencedMs: number | null
  /** From the blow to the record that names another leader than the one before it. */
  readonly newLeaderMs: number | null
  /** The first ISR from the step on that lacks the victim; the ISR after the step, if there is none. */
  readonly isrAfterFault: readonly number[]
  readonly isrAtEnd: readonly number[]
  readonly leaderAtEnd: number | null
}

export interface ElectionQuestion {
  /** The apparatus' name. */
  readonly topic: string
  /** Absent in a condition without a fault: all of the timeline is then "before". */
  readonly fault?: Pick<FaultRecord, 'nodeId' | 'wallMs'>
}

/**
 * Reads an election from the controller's own records. A fence is one atomic batch, and in it the PARTITION_CHANGE
 * records come *before* the registration change, so the step is a batch, never "what follows the fence". With SIGTERM
 * there is no need to wait for a fence: the controlled shutdown moves the leaders first, and that batch is the step.
 * A fault that left no step in the log has no "after": nothing is taken from silence.
 */
export function electionOf(timeline: readonly TimelineEvent[], {topic, fault}: ElectionQuestion): Election {
  const states = timeline.filter(event => event.kind === 'partition' && event.topic === topic)
  if (!fault) return withoutFault(states)
  const since = Math.floor(fault.wallMs) // The controller's timestamps are whole milliseconds.
  const fence = timeline.find(
    event => event.kind === 'fenced' && event.nodeId === fault.nodeId && event.wallMs >= since,
  )
  const step = stepOf(states, fence, since)
  const before = step === undefined ? states : states.filter(event => event.batch < step)
  const from = step === undefined ? [] : states.filter(event => event.batch >= step)
  const [last, end] = [before.at(-1), states.at(-1)]

  const elected = from.find((event, index) => isLed(event) && event.leader !== (from[index - 1] ?? last)?.leader)
  const led = step === undefined ? undefined : (elected ?? (isLed(end) ? end : undefined))
  const inStep = from.filter(event => event.batch === step).at(-1) ?? (step === undefined ? undefined : last)
  const without = from.find(event => event.inSyncReplicas && !event.inSyncReplicas.includes(fault.nodeId))
  return {
    isrBefore: last?.inSyncReplicas ?? [],
    isrChangesBeforeFence: changes(before),
    leaderBefore: last?.leader ?? null,
    leaderAfter: led?.leader ?? null,
    ...epochs(last, led),
    fencedMs: fence ? fence.wallMs - fault.wallMs : null,
    newLeaderMs: elected ? elected.wallMs - fault.wallMs : null,
    isrAfterFault: (without ?? inStep)?.inSyncReplicas ?? [],
    isrAtEnd: end?.inSyncReplicas ?? [],
    leaderAtEnd: end?.leader ?? null,
  }
}

/** "Before" is the last state, and the epochs are those of the first and the last: they must be the same. */
function withoutFault(states: readonly TimelineEvent[]): Election {
  const [first, end] = [states[0], states.at(-1)]
  const isr = end?.inSyncReplicas ?? []
  return {
    isrBefore: isr,
    isrChangesBeforeFence: changes(states),
    leaderBefore: first?.leader ?? null,
    leaderAfter: end?.leader ?? null,
    ...epochs(first, end),
    fencedMs: null,
    newLeaderMs: null,
    isrAfterFault: isr,
    isrAtEnd: isr,
    leaderAtEnd: end?.leader ?? null,
  }
}

function epochs(
  before: TimelineEvent | undefined,
  after: TimelineEvent | undefined,
): Pick<Election, 'epochBefore' | 'epochAfter' | 'epochSteps'> {
  const [epochBefore, epochAfter] = [before?.leaderEpoch ?? null, after?.leaderEpoch ?? null]
  const epochSteps = epochBefore === null || epochAfter === null ? null : epochAfter - epochBefore
  return {epochBefore, epochAfter, epochSteps}
}

/** The batch in which the fault took effect: whichever comes first, the victim's fence or another leader. */
function stepOf(states: readonly TimelineEvent[], fence: TimelineEvent | undefined, since: number): number | undefined {
  const moved = states.find(
    (event, index) => index > 0 && event.wallMs >= since && event.leader !== states[index - 1]?.leader,
  )
  const batches = [fence, moved].flatMap(event => (event ? [event.batch] : []))
  return batches.length === 0 ? undefined : Math.min(...batches)
}

function changes(states: readonly TimelineEvent[]): number {
  return states.filter((event, index) => index > 0 && stateOf(event) !== stateOf(states[index - 1] as TimelineEvent))
    .length
}

/** The order of an ISR means nothing: PARTITION_CHANGE records list it as it happens to be. */
function stateOf({leader, leaderEpoch, inSyncReplicas}: TimelineEvent): string {
  return JSON.stringify([leader, leaderEpoch, [...(inSyncReplicas ?? [])].sort((a, b) => a - b)])
}

function isLed(event: TimelineEvent | undefined): event is TimelineEvent & {leader: number} {
  return event?.leader !== undefined && event.leader >= 0
}
