import {createHash} from 'node:crypto'
import {readdirSync, readFileSync, readlinkSync} from 'node:fs'
import {createServer} from 'node:net'
import {join} from 'node:path'
import {KxError, systemCode} from '../util/errors.js'
import {until} from '../util/until.js'
import type {ClusterState} from './cluster.js'
import {tryLock} from './lock.js'
import {identify, identifyOnLinux} from './owner.js'
import {listStates, notUsable, stateFolder} from './state.js'

const host = '127.0.0.1'
/** Below the ephemeral ranges of Linux (32768…) and macOS (49152…): no outgoing connection can take one of them. */
const first = 19_000
const last = 29_999

/**
 * Chooses `count` consecutive ports that nobody listens on and no cluster of this user keeps, then calls `keep`, which
 * must write them into a cluster's state. The lock around both is why two kx that start at once get different ports.
 * `portBase` fixes the first port.
 * @throws KxError KX_PORT_TAKEN (environment) with the port's owner; KX_PORT_BASE (usage); KX_NO_PORTS (environment)
 */
export async function choosePorts<T>(
  {count, portBase, name, signal}: PortRequest,
  keep: (ports: readonly number[]) => Promise<T> | T,
): Promise<T> {
  using _lock = await lockPorts(signal)
  const others = listStates().states.filter(state => state.name !== name)
  if (portBase === undefined) return await keep(await freeBlock(count, portsOf(others)))
  checkBase(portBase, count)
  const ports = block(portBase, count)
  for (const port of ports) {
    const other = others.find(state => portsOf([state]).has(port))
    if (other) throw taken(port, `cluster "${other.name}"${other.phase === 'down' ? ', which is down,' : ''} keeps it`)
    if (!(await isFree(port))) throw taken(port, await portOwner(port))
  }
  return await keep(ports)
}

export interface PortRequest {
  readonly count: number
  readonly portBase?: number
  /** The cluster that asks: ports that it keeps itself are no clash. */
  readonly name: string
  readonly signal?: AbortSignal
}

/** True if this process could listen there now, on loopback. */
export async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', error => {
      const code = systemCode(error)
      if (code === 'EADDRINUSE' || code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen({port, host, exclusive: true}, () => server.close(() => resolve(true)))
  })
}

/** Who listens on a port of this machine, for people: `nginx (pid 812)`. */
export async function portOwner(port: number): Promise<string> {
  const pid = process.platform === 'linux' ? listenerOnLinux(port) : await listenerByLsof(port)
  if (pid === undefined) return 'a process that this user may not see listens on it'
  const commandLine = (await identify(pid))?.commandLine ?? ''
  return `${shortened(commandLine) || 'a process'} (pid ${pid}) listens on it`
}

/** Every port that these clusters use or will use when started again. */
export function portsOf(states: readonly ClusterState[]): ReadonlySet<number> {
  return new Set(
    states.flatMap(({nodes, detail}) => [
      ...nodes.map(({address}) => Number(address.split(':').at(-1))),
      ...(detail.ports ?? '').split(',').filter(Boolean).map(Number),
    ]),
  )
}

/**
 * Where the search begins. Each state folder (a user's own, a test's) begins elsewhere: clusters of another folder can't
 * be seen before their brokers listen, some seconds after their ports were chosen.
 */
export function firstPort(folder: string): number {
  const hash = createHash('sha256').update(folder).digest().readUInt32BE()
  return first + 10 * (hash % Math.floor((last + 1 - first) / 10))
}

async function freeBlock(count: number, kept: ReadonlySet<number>): Promise<readonly number[]> {
  const begin = firstPort(stateFolder())
  const found = (await freeBlockIn(begin, last, count, kept)) ?? (await freeBlockIn(first, last, count, kept))
  if (found) return found
  throw new KxError('environment', 'KX_NO_PORTS', `No ${count} ports in a row are free between ${first} and ${last}.`, {
    suggestions: ['kx status lists the clusters that keep ports; kx down --wipe gives them back.'],
  })
}

async function freeBlockIn(
  from: number,
  to: number,
  count: number,
  kept: ReadonlySet<number>,
): Promise<readonly number[] | undefined> {
  for (let base = from; base + count - 1 <= to; ) {
    const ports = block(base, count)
    const blocker = await lastBlocked(ports, kept)
    if (blocker === undefined) return ports
    base = blocker + 1
  }
  return undefined
}

async function lastBlocked(ports: readonly number[], kept: ReadonlySet<number>): Promise<number | undefined> {
  for (const port of [...ports].reverse()) if (kept.has(port) || !(await isFree(port))) return port
  return undefined
}

function block(base: number, count: number): readonly number[] {
  return Array.from({length: count}, (_, index) => base + index)
}

function checkBase(base: number, count: number): void {
  if (Number.isInteger(base) && base >= 1_024 && base + count - 1 <= 65_535) return
  throw new KxError(
    'usage',
    'KX_PORT_BASE',
    `--port-base ${base} can't be used: this cluster needs ${count} ports from it on, and they must lie between 1024 and 65535.`,
    {suggestions: [`Take one from ${first} to ${last + 1 - count}.`]},
  )
}

export function taken(port: number, owner: string): KxError {
  return new KxError('environment', 'KX_PORT_TAKEN', `Port ${port} is taken: ${owner}.`, {
    suggestions: [
      'End that process, or take another --port-base; without that flag a new cluster looks for free ports itself.',
    ],
  })
}

async function lockPorts(signal: AbortSignal | undefined): Promise<Disposable> {
  const path = join(stateFolder(), 'ports.lock')
  let holder = ''
  return until(
    'the choice of ports by another kx',
    async () => {
      const lock = await tryLock(path, 'choosing ports').catch(error => {
        throw notUsable(error, path, 'written')
      })
      if (!('heldBy' in lock)) return lock
      holder = `pid ${lock.heldBy.pid} holds ${path} since ${lock.heldBy.since}`
      return undefined
    },
    {timeoutMs: 30_000, everyMs: 20, ...(signal ? {signal} : {}), missing: () => `${holder}.`},
  )
}

/** The listening socket's inode in /proc/net/tcp, then the process that has it open. */
function listenerOnLinux(port: number): number | undefined {
  const inodes = new Set([...listeningInodes('/proc/net/tcp', port), ...listeningInodes('/proc/net/tcp6', port)])
  if (inodes.size === 0) return undefined
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    if (openSockets(pid).some(inode => inodes.has(inode)) && identifyOnLinux(Number(pid))) return Number(pid)
  }
  return undefined
}

function listeningInodes(path: string, port: number): string[] {
  try {
    return parseListening(readFileSync(path, 'utf8'), port)
  } catch {
    return []
  }
}

/** Inodes of the sockets in state LISTEN (0A) on the port, from the text of `/proc/net/tcp`. */
export function parseListening(text: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .flatMap(([, local, , state, , , , , , inode]) =>
      state === '0A' && local?.endsWith(suffix) && inode ? [inode] : [],
    )
}

/** Empty for processes of other users, which this one may not look into. */
function openSockets(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(fd => socketInode(`/proc/${pid}/fd/${fd}`) ?? [])
  } catch {
    return []
  }
}

function socketInode(path: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1]
  } catch {
    return undefined
  }
}

async function listenerByLsof(port: number): Promise<number | undefined> {
  const {execa} = await import('execa')
  const {stdout} = await execa('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'], {reject: false})
  const pid = Number(stdout?.split('\n')[0])
  return pid > 0 ? pid : undefined
}

function shortened(commandLine: string): string {
  return commandLine.length > 80 ? `${commandLine.slice(0, 79)}…` : commandLine
}
