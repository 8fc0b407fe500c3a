import type Docker from 'dockerode'
import {until} from '../../util/until.js'
import type {EngineEndpoint} from './endpoint.js'
import {Engine, statusOf} from './engine.js'
import {type Identity, identityFrom, labelNames, ownerLabel, projectLabel} from './labels.js'

/** What one kx process made on an engine for one cluster: Docker's ids (volumes: names). */
export interface OwnedThings extends Identity {
  readonly containers: readonly string[]
  readonly networks: readonly string[]
  readonly volumes: readonly string[]
}

interface Found {
  readonly kind: 'containers' | 'networks' | 'volumes'
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/**
 * All containers, networks and volumes on this engine that carry the labels of this user's kx, by maker: a maker is
 * one cluster and one kx process. Reads only. Whoever removes decides by `ephemeral` and by whether the process lives.
 * @throws KxError KX_DOCKER_GONE, KX_DOCKER (environment)
 */
export async function findOwned(endpoint: EngineEndpoint, owner = ownerLabel()): Promise<OwnedThings[]> {
  return grouped(await everything(Engine.at(endpoint), [`${labelNames.owner}=${owner}`]))
}

/**
 * Removes what `findOwned` found: containers (killed; paused ones too), networks and, unless `keepVolumes`, volumes.
 * What is gone by now is no error.
 */
export async function removeLeftovers(
  endpoint: EngineEndpoint,
  things: OwnedThings,
  {keepVolumes = false}: {readonly keepVolumes?: boolean} = {},
): Promise<void> {
  const engine = Engine.at(endpoint)
  await Promise.all(things.containers.map(id => removeContainer(engine, id)))
  await Promise.all(
    things.networks.map(id => remove(engine, `remove network ${id}`, docker => docker.getNetwork(id).remove())),
  )
  if (keepVolumes) return
  await Promise.all(
    things.volumes.map(id => remove(engine, `remove volume ${id}`, docker => docker.getVolume(id).remove())),
  )
}

/** What this owner has for a cluster, whoever of his processes made it. */
export async function thingsOf(engine: Engine, cluster: string, owner: string): Promise<OwnedThings[]> {
  return grouped(await everything(engine, [`${labelNames.cluster}=${cluster}`, `${labelNames.owner}=${owner}`]))
}

/**
 * Removes all that this owner has for a cluster, and looks again until nothing is left: a killed `docker compose` may
 * have sent a request that the engine still works on. Two empty looks in a row end it.
 */
export async function removeAllOf(
  engine: Engine,
  cluster: string,
  owner: string,
  {keepVolumes}: {readonly keepVolumes: boolean},
): Promise<void> {
  let empty = 0
  await until(
    `the containers of cluster "${cluster}" to be gone`,
    async () => {
      const things = await thingsOf(engine, cluster, owner)
      const left = things.filter(
        ({containers, networks, volumes}) =>
          containers.length + networks.length + (keepVolumes ? 0 : volumes.length) > 0,
      )
      for (const each of left) await removeLeftovers(engine.endpoint, each, {keepVolumes})
      empty = left.length === 0 ? empty + 1 : 0
      return empty >= 2 || undefined
    },
    {timeoutMs: 60_000, everyMs: 200},
  )
}

/** True if something of this Compose project belongs to somebody else: kx must then take another project name. */
export async function isForeignProject(engine: Engine, project: string, owner: string): Promise<boolean> {
  const found = await everything(engine, [`${projectLabel}=${project}`])
  return found.some(({labels}) => identityFrom(labels)?.owner !== owner)
}

async function everything(engine: Engine, labels: readonly string[]): Promise<Found[]> {
  const filters = {label: [...labels]}
  const [containers, networks, volumes] = await Promise.all([
    engine.call('list containers', docker => docker.listContainers({all: true, filters})),
    engine.call('list networks', docker => docker.listNetworks({filters})),
    engine.call('list volumes', docker => docker.listVolumes({filters})),
  ])
  return [
    ...containers.map(({Id, Labels}) => ({kind: 'containers', id: Id, labels: Labels}) as const),
    ...networks.map(({Id, Labels}) => ({kind: 'networks', id: Id, labels: Labels ?? {}}) as const),
    ...(volumes.Volumes ?? []).map(({Name, Labels}) => ({kind: 'volumes', id: Name, labels: Labels ?? {}}) as const),
  ]
}

function grouped(found: readonly Found[]): OwnedThings[] {
  const groups = new Map<string, OwnedThings>()
  for (const {kind, id, labels} of found) {
    const identity = identityFrom(labels)
    if (!identity) continue
    const key = JSON.stringify(identity)
    const group = groups.get(key) ?? {...identity, containers: [], networks: [], volumes: []}
    groups.set(key, {...group, [kind]: [...group[kind], id]})
  }
  return [...groups.values()]
}

/** With its anonymous volumes. */
async function removeContainer(engine: Engine, id: string): Promise<void> {
  await remove(engine, `remove container ${id.slice(0, 12)}`, docker =>
    docker.getContainer(id).remove({force: true, v: true}),
  )
}

/** Gone already is as good; "removal already in progress" (409) is waited for by the caller's next look. */
async function remove(engine: Engine, what: string, act: (docker: Docker) => Promise<unknown>): Promise<void> {
  try {
    await engine.call(what, act, 60_000)
  } catch (error) {
    const status = statusOf(error)
    if (status !== 404 && status !== 409) throw error
  }
}
