import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import {homedir} from 'node:os'
import {dirname, isAbsolute, join} from 'node:path'
import {z} from 'zod'
import {KxError, messageOf, systemCode} from '../util/errors.js'
import type {ClusterState} from './cluster.js'
import {type Lock, tryLock} from './lock.js'

/**
 * The folder of all that must outlive a kx process: `$XDG_STATE_HOME/kx`, else `~/.local/state/kx`, on macOS
 * `~/Library/Application Support/kx`. Data of local brokers lie here too (`clusters/<name>/nodes/<id>/data`), so that a
 * cluster is one folder, and never in the system's temp folder, which others may tidy up.
 */
export function stateFolder(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const said = env.XDG_STATE_HOME
  if (said && isAbsolute(said)) return join(said, 'kx')
  const home = env.HOME || homedir()
  return platform === 'darwin'
    ? join(home, 'Library', 'Application Support', 'kx')
    : join(home, '.local', 'state', 'kx')
}

/** @throws KxError KX_CLUSTER_NAME (usage), as the name becomes a folder and part of container names. */
export function clusterFolder(name: string): string {
  return join(stateFolder(), 'clusters', checkName(name))
}

/** The fault journal of a cluster, which `kx heal` reads. */
export function journalPath(name: string): string {
  return join(clusterFolder(name), 'faults.jsonl')
}

/** @throws KxError KX_CLUSTER_NAME (usage) */
export function checkName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,62}$/.test(name)) return name
  throw new KxError(
    'usage',
    'KX_CLUSTER_NAME',
    `${JSON.stringify(name)} can't be the name of a cluster: it becomes part of folder and container names.`,
    {
      suggestions: ["Take up to 63 lower-case letters (a–z), digits, '-' and '_', with a letter or a digit first."],
    },
  )
}

const stateSchema = z.object({
  schema: z.literal('kx/cluster/1'),
  name: z.string(),
  runtime: z.enum(['docker', 'local']),
  spec: z.object({
    brokers: z.number().int().min(1),
    controllers: z.number().int().min(0),
    kafkaVersion: z.string(),
    profile: z.enum(['default', 'fast']),
    features: z.record(z.string(), z.number()),
    config: z.record(z.string(), z.string()),
    heapMiB: z.number(),
    compiler: z.enum(['full', 'c1']),
  }),
  clusterId: z.string(),
  ephemeral: z.boolean(),
  owner: z.object({pid: z.number(), startTime: z.string(), user: z.string(), host: z.string()}),
  createdAt: z.string(),
  phase: z.enum(['starting', 'up', 'down']),
  nodes: z.array(
    z.object({
      nodeId: z.number().int(),
      roles: z.array(z.enum(['broker', 'controller'])),
      address: z.string(),
      pid: z.number().optional(),
      startTime: z.string().optional(),
      container: z.string().optional(),
      logDir: z.string(),
      down: z.enum(['stopped', 'killed']).optional(),
    }),
  ),
  detail: z.record(z.string(), z.string()),
})

/**
 * What is known of a cluster; `undefined` if there is none of this name.
 * @throws KxError KX_CLUSTER_STATE (environment) if its file is damaged; KX_CLUSTER_NAME (usage)
 */
export function loadState(name: string): ClusterState | undefined {
  const path = statePath(name)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined
    throw notUsable(error, path, 'read')
  }
  try {
    return stateSchema.parse(JSON.parse(text))
  } catch (error) {
    throw damaged(name, path, error)
  }
}

/** Writes it beside and renames it, so that a reader sees the old or the new state. @throws KxError (environment) */
export function saveState(state: ClusterState): void {
  const path = statePath(state.name)
  const draft = `${path}.${process.pid}.tmp`
  inStateFolder(path, () => {
    mkdirSync(clusterFolder(state.name), {recursive: true})
    try {
      writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, {flush: true})
      renameSync(draft, path)
    } catch (error) {
      rmSync(draft, {force: true})
      throw error
    }
  })
}

/** Reads the state, changes it and writes it, without a gap in this process. Nothing happens if the cluster is gone. */
export function updateState(name: string, change: (state: ClusterState) => ClusterState): void {
  const state = loadState(name)
  if (state) saveState(change(state))
}

/** Deletes all that kx keeps of the cluster on this machine: state, journal, logs, data. */
export function removeState(name: string): void {
  const folder = clusterFolder(name)
  inStateFolder(folder, () => rmSync(folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 50}))
}

/** Every cluster of this user. A folder whose state can't be read is named with the reason, never left out. */
export function listStates(): {readonly states: readonly ClusterState[]; readonly unreadable: readonly KxError[]} {
  const states: ClusterState[] = []
  const unreadable: KxError[] = []
  for (const name of clusterNames()) {
    try {
      const state = loadState(name)
      if (state) states.push(state)
    } catch (error) {
      if (!(error instanceof KxError)) throw error
      unreadable.push(error)
    }
  }
  return {states, unreadable}
}

/** The names of the folders under `clusters/`, with or without a state in them. */
export function clusterNames(): string[] {
  const folder = join(stateFolder(), 'clusters')
  if (!existsSync(folder)) return []
  return readdirSync(folder, {withFileTypes: true})
    .filter(entry => entry.isDirectory() && /^[a-z0-9][a-z0-9_-]*$/.test(entry.name))
    .map(entry => entry.name)
    .sort()
}

/**
 * Takes a cluster for one experiment. Released by disposing of it, or by the end of this process.
 * @throws KxError KX_CLUSTER_BUSY (environment) with what holds it
 */
export async function lockCluster(name: string, purpose: string): Promise<Lock> {
  const path = join(clusterFolder(name), 'lock.json')
  const lock = await tryLock(path, purpose).catch(error => {
    forgetIfEmpty(clusterFolder(name))
    throw notUsable(error, path, 'written')
  })
  if (!('heldBy' in lock)) return lock
  const {pid, purpose: busyWith, since} = lock.heldBy
  throw new KxError(
    'environment',
    'KX_CLUSTER_BUSY',
    `Cluster "${name}" is busy: ${busyWith} (pid ${pid}) has it since ${since}, and two experiments on one cluster would judge each other's faults.`,
    {suggestions: ['Wait until it ends, or take a cluster of your own: add --fresh or --name.']},
  )
}

/** Runs what writes below the state folder; a full disk or a read-only home becomes an error with its cure. */
export function inStateFolder<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw notUsable(error, path, 'written')
  }
}

/** A folder that was made for what could not be written. */
function forgetIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It is not empty, or was never made: both are right.
  }
}

/** The error of a state folder that can't be used; other errors come back as they are. */
export function notUsable(error: unknown, path: string, verb: 'read' | 'written'): unknown {
  const code = systemCode(error) === 'ENOENT' && verb === 'written' ? whyNotMade(path) : systemCode(error)
  const why = code === undefined ? undefined : reasons[code]
  if (why === undefined || error instanceof KxError) return error
  return new KxError(
    'environment',
    'KX_STATE_FOLDER',
    `${path} can't be ${verb}: ${why} (${code}). kx keeps its clusters and their data there.`,
    {
      suggestions: [
        ...(code === 'ENOSPC' || code === 'EDQUOT'
          ? ['Make room there (kx status and kx down --wipe show and remove clusters).']
          : []),
        'Point kx to another place: export XDG_STATE_HOME=/path/with/room',
      ],
      cause: error,
    },
  )
}

/** Node says ENOENT when it can't make a folder for whatever reason: the nearest folder that exists tells the real one. */
function whyNotMade(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!existsSync(folder) && folder !== dirname(folder)) continue
    try {
      accessSync(folder, constants.W_OK)
      return 'ENOENT'
    } catch (error) {
      return systemCode(error) ?? 'ENOENT'
    }
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  ENOENT: 'its folder can not be made',
  ENOTDIR: 'a part of the path is no folder',
  EIO: 'the disk failed',
}

function statePath(name: string): string {
  return join(clusterFolder(name), 'cluster.json')
}

function damaged(name: string, path: string, error: unknown): KxError {
  const why = error instanceof z.ZodError ? z.prettifyError(error).replace(/\s*\n\s*/g, ' ') : messageOf(error)
  return new KxError(
    'environment',
    'KX_CLUSTER_STATE',
    `The state of cluster "${name}" in ${path} is damaged: ${why}`,
    {
      suggestions: [`Remove the cluster and its data: kx down --name ${name} --wipe`],
      cause: error,
    },
  )
}
