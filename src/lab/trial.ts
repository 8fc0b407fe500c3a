import {setMaxListeners} from 'node:events'
import type {Cluster} from '../cluster/cluster.js'
import {journalPath} from '../cluster/state.js'
import type {AnyExperiment} from '../experiment/experiment.js'
import type {Operation} from '../history/operation.js'
import {KxError, messageOf} from '../util/errors.js'
import {randomFrom} from '../util/statistics.js'
import {within} from '../util/until.js'
import {type Apparatus, setUp, tearDown, topicName, untilClean, victimOf} from './apparatus.js'
import {LabBench} from './bench.js'
import {type FaultContext, heal} from './faults.js'
import {endsTheRun} from './final.js'
import type {Store, StoredTrial} from './store.js'
import {ClusterView} from './view.js'

export interface TrialOptions {
  readonly note: AnyExperiment
  readonly experiment: string
  readonly runId: string
  readonly number: number
  readonly condition: string
  readonly knobs: Readonly<Record<string, number>>
  readonly seed: number
  readonly cluster: Cluster
  readonly store: Store
  readonly signal: AbortSignal
  /** The cluster goes with the run, whatever is wrong with it then. */
  readonly removedAfterwards: boolean
  say(text: string): void
}

/** A blow is abandoned after this long, whatever it waits for; every wait inside is bounded too. */
const trialTimeoutMs = 180_000
const roleTimeoutMs = 500
const cureTimeoutMs = 30_000
const listenersAtMost = 1_000

/**
 * One blow: clean ground, fresh topics, the method, and the cure of all it did. Never throws but when interrupted: what
 * went wrong is the trial's outcome.
 */
export async function runTrial(options: TrialOptions): Promise<StoredTrial> {
  const {number, condition, signal, say, store, note} = options
  const startedMs = performance.now()
  const notes: string[] = []
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(trialTimeoutMs)])
  setMaxListeners(listenersAtMost, bounded) // Each connection listens; Node warns on stderr beyond ten.
  const base = {schema: 'kx/trial/1', number, condition, notes} as const
  const remember = (text: string) => {
    notes.push(text)
    say(text)
  }
  try {
    const observation = await observe(options, bounded, remember)
    // What is judged now must be what can be judged again: the observation as it is after a round trip through JSON.
    const plain = JSON.parse(JSON.stringify(observation)) as unknown
    const unmet = unmetOf(note, plain, condition, options.knobs)
    const outcome = unmet === undefined ? ('ok' as const) : ('inconclusive' as const)
    return {
      ...base,
      outcome,
      ...(unmet === undefined ? {} : {reason: unmet}),
      durationMs: since(startedMs),
      observation: plain,
    }
  } catch (error) {
    if (signal.aborted) throw error
    if (endsTheRun(error)) throw error
    const reason = bounded.aborted
      ? `the trial took longer than ${trialTimeoutMs / 1_000} s (${messageOf(error)})`
      : messageOf(error)
    store.appendFault({trial: number, state: 'trial-failed', reason})
    const kind =
      error instanceof KxError && error.kind === 'inconclusive' ? ('inconclusive' as const) : ('failed' as const)
    return {...base, outcome: kind, reason, durationMs: since(startedMs)}
  }
}

async function observe(options: TrialOptions, signal: AbortSignal, remember: (text: string) => void): Promise<unknown> {
  const {note, experiment, runId, number, condition, cluster, store, seed} = options
  // Loads and readers end with the trial, whatever becomes of it: they must not run on into the next.
  const scope = new AbortController()
  const inside = AbortSignal.any([signal, scope.signal])
  setMaxListeners(listenersAtMost, inside)
  await using view = new ClusterView(cluster, inside)
  const names = new Map(
    Object.keys(note.apparatus.topics).map(name => [name, topicName(experiment, runId, number, name)]),
  )
  // The timeline begins before the topics are made, so that it holds their first state.
  const start = {monotonicMs: performance.now(), wallMs: Date.now()}
  const operations: Operation[] = []
  let apparatus: Apparatus | undefined
  const faults: FaultContext = {
    journal: journalPath(cluster.name),
    keep: entry => store.appendFault({trial: number, startWallMs: start.wallMs, ...entry}),
    trialMs: monotonicMs => monotonicMs - start.monotonicMs,
    roleOf: nodeId => roleOf(view, apparatus, nodeId),
  }
  try {
    for (const {fault, nodeId} of await heal(faults, cluster.nodes)) remember(`healed first: ${fault} node ${nodeId}`)
    await untilClean(view)
    apparatus = await setUp(view, note, names, victimOf(view, number))
    const now = () => performance.now() - start.monotonicMs
    const bench = new LabBench({
      view,
      apparatus,
      faults,
      writing: {view, signal: inside, now, record: operation => void operations.push(operation)},
      random: randomFrom(seed + number),
      startWallMs: start.wallMs,
      keepEvidence: (path, bytes) => store.saveEvidence(`trial-${number}/${path}`, bytes),
      note: remember,
    })
    const observation = await note.method(bench, note.conditions[condition], options.knobs)
    store.saveTimeline(number, await bench.timeline())
    return observation
  } finally {
    scope.abort()
    try {
      await cure(options, faults, [...names.values()], remember)
    } finally {
      if (operations.length > 0) store.saveHistory(number, operations)
    }
  }
}

/** Whatever happened: nothing stays paused or down, and the topics go. A cluster that is about to be removed as a whole needs neither. */
async function cure(
  {cluster, signal, removedAfterwards}: TrialOptions,
  faults: FaultContext,
  topics: readonly string[],
  remember: (text: string) => void,
): Promise<void> {
  if (signal.aborted && removedAfterwards) return
  for (const {fault, nodeId} of await heal(faults, cluster.nodes)) remember(`healed: ${fault} node ${nodeId}`)
  await using view = new ClusterView(cluster, AbortSignal.timeout(cureTimeoutMs))
  const left = await tearDown(view, topics).catch(messageOf)
  if (left !== undefined) remember(`topics could not be deleted: ${left}`)
}

/** What the node is now, as another running broker says, or itself. Asks no node that is stopped: it would not answer. */
async function roleOf(view: ClusterView, apparatus: Apparatus | undefined, nodeId: number): Promise<string> {
  if (!apparatus) return 'unknown'
  const topics = [...apparatus.topics]
  const others = [apparatus.leader, ...apparatus.followers].filter(id => id !== nodeId)
  for (const id of [...others, nodeId]) {
    if (!view.cluster.brokers.some(broker => broker.nodeId === id)) continue
    if ((await view.node(id).state()) !== 'running') continue
    try {
      const seen = await within(
        'a role',
        roleTimeoutMs,
        view.partitionsAt(
          id,
          topics.map(([, topic]) => topic),
        ),
      )
      const roles = topics.map(([name, topic]) => {
        const partition = seen.get(topic)
        if (partition?.leader === nodeId) return `leader of ${name}`
        return partition?.inSyncReplicas.includes(nodeId)
          ? `in-sync follower of ${name}`
          : `out-of-sync replica of ${name}`
      })
      return `${roles.join(', ')} (says broker ${id})`
    } catch {
      // The next one is asked: a role is a remark in the record, and the timeline is what verdicts rest on.
    }
  }
  return 'unknown (no broker ran that could be asked)'
}

function unmetOf(
  note: AnyExperiment,
  observation: unknown,
  condition: string,
  knobs: Readonly<Record<string, number>>,
): string | undefined {
  for (const [name, holds] of Object.entries(note.given)) {
    try {
      if (!holds(observation, note.conditions[condition], knobs)) return name
    } catch (error) {
      return `${name}: ${messageOf(error)}`
    }
  }
  return undefined
}

function since(startedMs: number): number {
  return Math.round(performance.now() - startedMs)
}
