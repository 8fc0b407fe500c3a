import {KxError} from '../util/errors.js'
import type {ClusterState} from './cluster.js'
import {tryLock} from './lock.js'
import {isAlive, isGone} from './owner.js'
import {runtimeNamed} from './runtimes.js'
import {clusterFolder, clusterNames, listStates, loadState, removeState} from './state.js'

export interface Cleaned {
  readonly name: string
  readonly why: string
}

export interface Cleaning {
  readonly progress: (phase: string) => void
}

/**
 * Removes what crashed runs of kx left: clusters that were made for one run, or never came up, and whose kx process is
 * gone for certain; and what an engine still has of clusters without a state. A cluster made by `up` is never a leftover.
 */
export async function clean({progress}: Cleaning): Promise<{readonly removed: Cleaned[]; readonly kept: Cleaned[]}> {
  const removed: Cleaned[] = []
  const kept: Cleaned[] = []
  const {states, unreadable} = listStates()
  for (const state of states) {
    if (!state.ephemeral && state.phase !== 'starting') continue
    const what = state.ephemeral ? 'it was made for one run' : 'it never came up'
    const kx = `its kx (pid ${state.owner.pid})`
    if (!(await isGone(state.owner))) {
      kept.push({name: state.name, why: `${what}, and ${kx} on ${state.owner.host} may still run`})
      continue
    }
    progress(`removing cluster ${state.name}`)
    await removeLeftover(state)
    removed.push({name: state.name, why: `${what}, and ${kx} is gone`})
  }
  for (const name of clusterNames()) {
    if (unreadable.some(error => error.message.includes(`"${name}"`)) || loadState(name)) continue
    if (await removeEmpty(name)) removed.push({name, why: 'its start was broken off before anything ran'})
  }
  for (const error of unreadable) kept.push({name: 'a cluster whose state is damaged', why: error.message})
  removed.push(...(await cleanEngine(progress)))
  return {removed, kept}
}

/** A cluster that another kx began to start. @throws KxError KX_CLUSTER_BUSY (environment) if that kx still runs */
export async function removeHalfStarted(state: ClusterState, {progress}: Cleaning): Promise<void> {
  if (!(await isGone(state.owner))) {
    throw new KxError(
      'environment',
      'KX_CLUSTER_BUSY',
      `Cluster ${state.name} is being started by another kx (pid ${state.owner.pid} on ${state.owner.host}).`,
      {suggestions: ['Wait until it is up: kx status', 'Take another name: --name']},
    )
  }
  progress(`removing what is left of cluster ${state.name}, which never came up`)
  await removeLeftover(state)
}

/** Removes a cluster whose state can't be read, by what the system and the engine know of it. */
export async function removeWithoutState(name: string): Promise<void> {
  const {killLeftovers} = await import('./local/leftovers.js')
  await killLeftovers(name)
  await eachOwned(async (endpoint, things) => {
    if (things.cluster !== name) return
    await (await import('./docker/leftovers.js')).removeLeftovers(endpoint, things)
  })
  removeState(name)
}

async function removeLeftover(state: ClusterState): Promise<void> {
  await using cluster = await (await runtimeNamed(state.runtime)).attach(state)
  await cluster.down({wipe: true})
  removeState(state.name)
}

/** A folder without a state: kx was killed between its lock and its first save, or is there at this moment. */
async function removeEmpty(name: string): Promise<boolean> {
  const lock = await tryLock(`${clusterFolder(name)}/lock.json`, 'kx clean')
  if ('heldBy' in lock) return false
  using _lock = lock
  if (loadState(name)) return false
  await (await import('./local/leftovers.js')).killLeftovers(name)
  removeState(name)
  return true
}

async function cleanEngine(progress: (phase: string) => void): Promise<Cleaned[]> {
  const removed: Cleaned[] = []
  await eachOwned(async (endpoint, things) => {
    const standing = loadState(things.cluster)
    const made = {pid: things.pid, startTime: things.startTime}
    if (!things.ephemeral || standing?.owner.pid === things.pid || (await isAlive(made))) return
    progress(`removing containers of ${things.cluster}`)
    await (await import('./docker/leftovers.js')).removeLeftovers(endpoint, things)
    removed.push({name: things.cluster, why: `containers of a kx (pid ${things.pid}) that is gone`})
  })
  return removed
}

type Owned = Awaited<ReturnType<typeof import('./docker/leftovers.js')['findOwned']>>[number]
type Endpoint = Parameters<typeof import('./docker/leftovers.js')['findOwned']>[0]

/** Everything of this user on the Docker engine, if there is one: without it there is nothing to look at. */
async function eachOwned(act: (endpoint: Endpoint, things: Owned) => Promise<void>): Promise<void> {
  const [{resolveEndpoint}, {findOwned}] = await Promise.all([
    import('./docker/endpoint.js'),
    import('./docker/leftovers.js'),
  ])
  const resolved = await resolveEndpoint()
  if ('obstacle' in resolved) return
  let owned: Owned[]
  try {
    owned = await findOwned(resolved.endpoint)
  } catch (error) {
    if (error instanceof KxError && error.code === 'KX_DOCKER_GONE') return
    throw error
  }
  for (const things of owned) await act(resolved.endpoint, things)
}
