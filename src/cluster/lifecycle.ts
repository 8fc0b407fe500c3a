import {isNewerThanKnown} from '../kafka/versions.js'
import {KxError, messageOf, systemCode} from '../util/errors.js'
import {list as enumerated} from '../util/format.js'
import type {Cluster, ClusterNode, ClusterState, NodeState, Proof, Role} from './cluster.js'
import {entries, record} from './journal.js'
import {removeHalfStarted, removeWithoutState} from './leftovers.js'
import {readinessWithin, settlesWithinMs, untilReady} from './ready.js'
import {type Chosen, chooseRuntime, type RuntimeRequest, runtimeNamed} from './runtimes.js'
import {type ClusterSpec, defaultSpec, differences, type Profile, type RuntimeName} from './spec.js'
import {isGone} from './owner.js'
import {checkName, journalPath, listStates, loadState, lockCluster, removeState, updateState} from './state.js'

/** What every call that changes a cluster is given. */
export interface Conduct {
  readonly signal: AbortSignal
  /** One phase a call, for people. */
  readonly progress: (phase: string) => void
}

export interface ClusterRequest extends Conduct, Omit<RuntimeRequest, 'spec'> {
  readonly name: string
  /** What was asked for; the rest is free, and `defaultSpec` where a cluster must be made. */
  readonly asked: Partial<ClusterSpec>
  readonly timeoutMs: number
  readonly portBase?: number
}

/** `kx status -o json` (`schemas/status.json`). */
export interface ClusterStatus {
  readonly name: string
  readonly runtime: RuntimeName
  readonly kafkaVersion: string
  readonly newerThanKnown: boolean
  readonly profile: Profile
  readonly phase: ClusterState['phase']
  readonly ephemeral: boolean
  readonly ready: boolean
  /** What is missing, if it is not ready. */
  readonly missing?: string
  readonly bootstrapServers: string
  readonly nodes: readonly NodeStatus[]
  readonly controllerId: number | null
}

export interface NodeStatus {
  readonly nodeId: number
  readonly roles: readonly Role[]
  readonly state: NodeState
  readonly address: string
  readonly pid?: number
  readonly container?: string
}

export interface UpResult {
  readonly status: ClusterStatus
  /** `restarted`: it was down, and runs on its old data now. */
  readonly outcome: 'started' | 'restarted' | 'running'
}

/**
 * Makes sure that a cluster of this name is up and ready.
 * @throws KxError KX_OTHER_SPEC, KX_CLUSTER_NAME (usage); KX_NO_RUNTIME, KX_CLUSTER_BUSY, KX_TIMEOUT … (environment)
 */
export async function up(request: ClusterRequest): Promise<UpResult> {
  checkName(request.name)
  const standing = loadState(request.name)
  if (standing?.phase === 'up' && (await runsWhole(standing))) {
    refuseOther(standing, request)
    return {status: await statusOf(standing, settlesWithinMs, request.signal), outcome: 'running'}
  }
  using _lock = await lockCluster(request.name, 'kx up')
  const state = loadState(request.name)
  if (state && state.phase !== 'starting') {
    refuseOther(state, request)
    await using cluster = await startAgain(state, request)
    return {status: await statusOf(stateOf(cluster.name), settlesWithinMs), outcome: 'restarted'}
  }
  if (state) await removeHalfStarted(state, request)
  try {
    const chosen = await chooseRuntime(request.runtime, {...request, spec: await specOf(request)})
    await using cluster = await startReady(chosen, request, false)
    return {status: await statusOf(stateOf(cluster.name), settlesWithinMs), outcome: 'started'}
  } finally {
    // The lock lies in the cluster's folder: without a cluster neither is to stay.
    if (!loadState(request.name)) removeState(request.name)
  }
}

/** A cluster for one run, ready. The caller removes it: `cluster.down({wipe: true})`. On any failure nothing is left. */
export async function startEphemeral(request: ClusterRequest): Promise<Cluster> {
  checkName(request.name)
  const chosen = await chooseRuntime(request.runtime, {...request, spec: await specOf(request)})
  return startReady(chosen, request, true)
}

/** A handle on a cluster that exists. @throws KxError KX_NO_CLUSTER (usage) */
export async function attach(name: string): Promise<Cluster> {
  const state = stateOf(name)
  return (await runtimeNamed(state.runtime)).attach(state)
}

/** Stops a cluster. Its data stay unless `wipe`. @throws KxError KX_NO_CLUSTER (usage), KX_CLUSTER_BUSY (environment) */
export async function down(
  name: string,
  {wipe, progress}: Conduct & {readonly wipe: boolean},
): Promise<{readonly name: string; readonly wiped: boolean; readonly wasRunning: boolean}> {
  const state = stateOf(name, wipe)
  using _lock = await lockCluster(name, 'kx down')
  progress(wipe ? `removing cluster ${name} and its data` : `stopping cluster ${name}`)
  if (state === undefined) {
    await removeWithoutState(name)
    return {name, wiped: true, wasRunning: true}
  }
  await using cluster = await attach(name)
  const wasRunning = (await Promise.all(cluster.nodes.map(node => node.state()))).some(isUp)
  if (wipe) {
    await cluster.down({wipe})
    removeState(name)
  } else if (wasRunning || state.phase !== 'down') await stop(cluster)
  return {name, wiped: wipe, wasRunning}
}

/** An ephemeral cluster that is to stay (`--keep`): from now on it is one like those made by `up`. */
export function keep(name: string): void {
  updateState(name, state => ({...state, ephemeral: false}))
}

/** All clusters of this user, and why some can't be told of (a damaged state file). */
export async function list(): Promise<{
  readonly clusters: readonly ClusterStatus[]
  readonly unreadable: readonly KxError[]
}> {
  const {states, unreadable} = listStates()
  return {clusters: await Promise.all(states.map(statusOrObstacle)), unreadable}
}

/** One engine that is gone must not hide the clusters that are there. */
async function statusOrObstacle(state: ClusterState): Promise<ClusterStatus> {
  try {
    return await statusOf(state)
  } catch (error) {
    const bootstrapServers = state.nodes.filter(({roles}) => roles.includes('broker')).map(({address}) => address)
    return {
      ...knownOf(state),
      ready: false,
      missing: messageOf(error),
      bootstrapServers: bootstrapServers.join(','),
      nodes: [],
      controllerId: null,
    }
  }
}

/** How it stands; with a patience as `readinessWithin` has it. @throws KxError KX_NO_CLUSTER (usage) */
export async function status(name: string, patienceMs = 0, signal?: AbortSignal): Promise<ClusterStatus> {
  return statusOf(stateOf(name), patienceMs, signal)
}

export interface Cure {
  readonly nodeId: number
  readonly cure: 'resume' | 'start'
  readonly was: NodeState
  /** What the journal says of it, e.g. `pause at 2026-11-29T19:44:02Z`. */
  readonly because?: string
}

export interface Healed {
  readonly name: string
  readonly cures: readonly Cure[]
  /** Why it was left alone: an experiment is at work there, and heals its own faults. */
  readonly busy?: string
}

/**
 * Resumes what is paused and starts what is down, in one cluster or in all that are meant to be up, and waits until
 * they are ready. @throws KxError KX_NO_CLUSTER (usage); KX_CLUSTER_BUSY, KX_TIMEOUT, … (environment)
 */
export async function heal(
  name: string | undefined,
  conduct: Conduct & {readonly timeoutMs: number},
): Promise<Healed[]> {
  if (name !== undefined) return [await healOne(stateOf(name).name, conduct)]
  const healed: Healed[] = []
  let failure: unknown
  for (const state of listStates().states.filter(({phase}) => phase === 'up')) {
    // What was made for a run whose kx is gone is not to be healed but removed: `kx clean`.
    if (state.ephemeral && (await isGone(state.owner))) continue
    try {
      healed.push(await healOne(state.name, conduct))
    } catch (error) {
      if (error instanceof KxError && error.code === 'KX_CLUSTER_BUSY') {
        healed.push({name: state.name, cures: [], busy: error.message})
      } else failure ??= error
    }
  }
  if (failure) throw failure
  return healed
}

async function healOne(name: string, conduct: Conduct & {readonly timeoutMs: number}): Promise<Healed> {
  using _lock = await lockCluster(name, 'kx heal')
  await using cluster = await attach(name)
  const cures = await cure(cluster, conduct)
  if (cures.length > 0) await untilReady(cluster, conduct)
  return {name, cures}
}

async function cure(cluster: Cluster, {progress}: Conduct): Promise<Cure[]> {
  const journal = entries(journalPath(cluster.name))
  const reasonOf = (nodeId: number) => {
    const last = journal.findLast(entry => (entry.state === 'proven' ? entry.proof.nodeId : entry.nodeId) === nodeId)
    return last && `${last.state === 'proven' ? last.proof.fault : last.fault} at ${last.at}`
  }
  const cures: Cure[] = []
  let failure: unknown
  // Every node is tried: one that can't be cured must not leave the others paused.
  for (const node of cluster.nodes) {
    try {
      const was = await node.state()
      if (was === 'running') continue
      progress(`${was === 'paused' ? 'resuming' : 'starting'} node ${node.nodeId}`)
      note(cluster, was === 'paused' ? await node.resume() : await node.start())
      const because = reasonOf(node.nodeId)
      cures.push({
        nodeId: node.nodeId,
        cure: was === 'paused' ? 'resume' : 'start',
        was,
        ...(because !== undefined && {because}),
      })
    } catch (error) {
      failure ??= error
    }
  }
  if (failure) throw failure
  return cures
}

/** The cure is done; that a full disk can't take the note of it is no reason to stop. */
function note(cluster: Cluster, proof: Proof): void {
  try {
    record(journalPath(cluster.name), {at: new Date().toISOString(), state: 'proven', proof})
  } catch (error) {
    if (systemCode(error) === undefined) throw error
  }
}

/** What was asked for, else kx's own; an unpacked distribution says itself which Kafka it is. */
async function specOf({asked, kafkaHome}: ClusterRequest): Promise<ClusterSpec> {
  const spec = {...defaultSpec, ...asked}
  if (kafkaHome === undefined || asked.kafkaVersion !== undefined) return spec
  const {versionOfHome} = await import('./local/jars.js')
  return {...spec, kafkaVersion: (await versionOfHome(kafkaHome)) ?? spec.kafkaVersion}
}

async function startReady(
  {runtime, passedOver}: Chosen,
  request: ClusterRequest,
  ephemeral: boolean,
): Promise<Cluster> {
  const {name, signal, timeoutMs, progress} = request
  for (const obstacle of passedOver) progress(`not on ${obstacle}`)
  const startedMs = performance.now()
  const cluster = await runtime.start({...request, spec: await specOf(request), ephemeral})
  try {
    const leftMs = Math.max(5_000, timeoutMs - (performance.now() - startedMs))
    await untilReady(cluster, {signal, progress, timeoutMs: leftMs})
    return cluster
  } catch (error) {
    progress(`removing what was started of cluster ${name}`)
    await orLeftBehind(error, async () => {
      await cluster.down({wipe: true})
      removeState(name)
    })
    throw error
  }
}

/** Cleans up after `error`; if that fails too, both are told. */
async function orLeftBehind(error: unknown, cleanUp: () => Promise<void>): Promise<void> {
  await cleanUp().catch((failure: unknown) => {
    const kind = error instanceof KxError ? error.kind : 'environment'
    throw new KxError(
      kind,
      'KX_LEFT_BEHIND',
      `${messageOf(error)} Removing what was started failed too: ${messageOf(failure)}`,
      {
        suggestions: ['kx clean tries again.'],
        cause: new AggregateError([error, failure]),
      },
    )
  })
}

/** Starts a stopped cluster on its data; if that fails it is stopped again. What ran before is left running. */
async function startAgain(state: ClusterState, request: ClusterRequest): Promise<Cluster> {
  const cluster = await (await runtimeNamed(state.runtime)).attach(state)
  try {
    request.progress(`starting cluster ${state.name} on its data`)
    // All are awaited even when one fails, so that none is started after the cleaning up.
    const outcomes = await Promise.allSettled(cluster.nodes.map(startIfDown))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    request.signal.throwIfAborted()
    updateState(state.name, now => ({...now, phase: 'up'}))
    await untilReady(cluster, request)
    return cluster
  } catch (error) {
    if (state.phase === 'down') await orLeftBehind(error, () => stop(cluster))
    throw error
  }
}

async function stop(cluster: Cluster): Promise<void> {
  await cluster.down({wipe: false})
  updateState(cluster.name, now => ({...now, phase: 'down'}))
}

async function startIfDown(node: ClusterNode): Promise<void> {
  const state = await node.state()
  if (state === 'paused') await node.resume()
  else if (state !== 'running') await node.start()
}

function refuseOther(state: ClusterState, {name, runtime, asked, image}: ClusterRequest): void {
  const differs = differences(state.spec, {...state.spec, ...asked})
  if (runtime !== 'auto' && runtime !== state.runtime)
    differs.unshift(`runtime is ${state.runtime}, asked for ${runtime}`)
  const {image: standing} = state.detail
  if (image !== undefined && standing !== image) differs.push(`image is ${standing ?? 'none'}, asked for ${image}`)
  if (differs.length === 0) return
  const flag = name === 'default' ? '' : ` --name ${name}`
  throw new KxError('usage', 'KX_OTHER_SPEC', `Cluster ${name} exists and is another one: ${enumerated(differs)}.`, {
    suggestions: [
      `Use it as it is: kx up${flag}`,
      `Remove it with its data first: kx down --wipe${flag}`,
      'Make a second one: --name <another>',
    ],
  })
}

function stateOf(name: string): ClusterState
function stateOf(name: string, evenDamaged: boolean): ClusterState | undefined
function stateOf(name: string, evenDamaged = false): ClusterState | undefined {
  try {
    const state = loadState(name)
    if (state) return state
  } catch (error) {
    if (evenDamaged && error instanceof KxError && error.code === 'KX_CLUSTER_STATE') return undefined
    throw error
  }
  const known = listStates().states.map(one => one.name)
  throw new KxError('usage', 'KX_NO_CLUSTER', `There is no cluster ${name}.`, {
    suggestions: [known.length > 0 ? `Clusters: ${known.join(', ')}.` : 'kx up starts one.'],
  })
}

async function runsWhole(state: ClusterState): Promise<boolean> {
  await using cluster = await (await runtimeNamed(state.runtime)).attach(state)
  const states = await Promise.all(cluster.nodes.map(node => node.state()))
  return states.every(one => one === 'running')
}

async function statusOf(state: ClusterState, patienceMs = 0, signal?: AbortSignal): Promise<ClusterStatus> {
  await using cluster = await (await runtimeNamed(state.runtime)).attach(state)
  const nodes = await Promise.all(cluster.nodes.map(nodeStatus))
  const {ready, missing, controllerId} = nodes.some(node => isUp(node.state))
    ? await readinessWithin(cluster, patienceMs, signal)
    : {
        ready: false,
        missing:
          state.phase === 'down' ? 'It is stopped; kx up starts it again.' : 'No node runs; kx up starts it again.',
        controllerId: undefined,
      }
  return {
    ...knownOf(state),
    ready,
    ...(missing !== undefined && {missing}),
    bootstrapServers: cluster.bootstrapServers,
    nodes,
    controllerId: controllerId ?? null,
  }
}

/** What the state file alone says. */
function knownOf({name, runtime, spec, phase, ephemeral}: ClusterState) {
  const {kafkaVersion, profile} = spec
  return {name, runtime, kafkaVersion, newerThanKnown: isNewerThanKnown(kafkaVersion), profile, phase, ephemeral}
}

/** Where a node runs is told only while it does: a stale pid may be somebody else's by now. */
async function nodeStatus(node: ClusterNode): Promise<NodeStatus> {
  const {nodeId, roles, address, place} = node
  const state = await node.state()
  return {nodeId, roles, state, address, ...(isUp(state) || place.container !== undefined ? place : {})}
}

function isUp(state: NodeState): boolean {
  return state === 'running' || state === 'paused'
}
