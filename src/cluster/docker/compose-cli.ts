import {execa} from 'execa'
import {compareVersions} from '../../kafka/versions.js'
import {KxError} from '../../util/errors.js'
import {duration} from '../../util/format.js'
import {interrupted} from '../../util/until.js'
import {type EngineEndpoint, lastLine, noCli} from './endpoint.js'
import {engineGone} from './engine.js'
import {endedBy} from '../local/group.js'

const oldestCompose = '2.20.0'

/** Why `docker compose` can't be used, in one sentence, or nothing. */
export async function composeObstacle(endpoint: EngineEndpoint): Promise<string | undefined> {
  const answer = await run(endpoint, ['version', '--short'], {timeoutMs: 10_000})
  if (answer.code === 'ENOENT') return noCli
  if (answer.timedOut) return '"docker compose version" did not answer within 10 s.'
  if (answer.failed) return 'Docker\'s Compose plugin is missing ("docker compose version" fails).'
  const version = answer.stdout.trim().replace(/^v/, '')
  if (compareVersions(version, oldestCompose) >= 0) return undefined
  return `Docker Compose is ${version}, and kx needs ${oldestCompose} or later.`
}

export interface ComposeRun {
  readonly project: string
  /** Path of the Compose file. */
  readonly file: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/**
 * `docker compose up` in the background. Returns when all containers were started.
 * @throws KxError KX_PORT_TAKEN, KX_DISK_FULL, KX_DOCKER_GONE, KX_COMPOSE (environment); KX_INTERRUPTED
 */
export function composeUp(endpoint: EngineEndpoint, run: ComposeRun): Promise<void> {
  return up(endpoint, run, '--detach')
}

/** The same without starting them: network, volumes and containers are there afterwards. */
export function composeCreate(endpoint: EngineEndpoint, run: ComposeRun): Promise<void> {
  return up(endpoint, run, '--no-start')
}

async function up(
  endpoint: EngineEndpoint,
  {project, file, signal, timeoutMs}: ComposeRun,
  how: '--detach' | '--no-start',
): Promise<void> {
  const flags = ['--project-name', project, '--file', file, '--ansi', 'never', '--progress', 'plain']
  const args = [...flags, 'up', how, '--no-build', '--pull', 'never', '--no-recreate']
  const answer = await run(endpoint, args, {timeoutMs, ...(signal ? {signal} : {})})
  if (signal?.aborted) throw interrupted('docker compose up')
  if (answer.failed) throw failure(endpoint, answer, timeoutMs)
}

interface Answer {
  readonly failed: boolean
  readonly timedOut: boolean
  readonly code?: string
  readonly stdout: string
  readonly stderr: string
}

async function run(
  endpoint: EngineEndpoint,
  args: readonly string[],
  {signal, timeoutMs}: {signal?: AbortSignal; timeoutMs: number},
): Promise<Answer> {
  const late = AbortSignal.timeout(timeoutMs)
  const child = execa('docker', ['compose', ...args], {
    env: dockerEnvironment(endpoint),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    // Its own process session: the terminal's Ctrl-C is for kx, which then ends Compose and cleans up in order.
    detached: true,
  })
  // The CLI runs Compose as a child of its own, which holds the pipes: the whole group is ended, or the wait has no bound.
  using _ended = endedBy(signal ? AbortSignal.any([signal, late]) : late, child.pid)
  const answer = await child
  return {...answer, timedOut: late.aborted && answer.failed && !signal?.aborted}
}

/**
 * The environment of a `docker` command that must reach this very engine. What the user has set for projects of his
 * own (COMPOSE_FILE, COMPOSE_PROFILES, DOCKER_CONTEXT, …) is not for ours.
 */
export function dockerEnvironment({host, certificates}: EngineEndpoint): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(COMPOSE|DOCKER)_/.test(name))
  const config = process.env.DOCKER_CONFIG ? {DOCKER_CONFIG: process.env.DOCKER_CONFIG} : {}
  const tls = certificates ? {DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates} : {}
  return {...Object.fromEntries(kept), ...config, ...tls, DOCKER_HOST: host}
}

/** What went wrong, from what `docker compose up` printed. */
export function failure(
  endpoint: EngineEndpoint,
  {stderr, timedOut = false, code}: {readonly stderr: string; readonly timedOut?: boolean; readonly code?: string},
  timeoutMs = 0,
): KxError {
  if (code === 'ENOENT') return new KxError('environment', 'KX_COMPOSE', noCli)
  if (timedOut) return tooSlow(timeoutMs)
  const port = /(?:127\.0\.0\.1|0\.0\.0\.0):(\d+).*(?:already allocated|already in use|bind)/i.exec(stderr)?.[1]
  if (port) {
    return new KxError('environment', 'KX_PORT_TAKEN', `Port ${port} was free a moment ago and is taken now.`, {
      suggestions: ['Try again: kx then takes other ports. Or choose them with --port-base.'],
      cause: new Error(stderr),
    })
  }
  if (/no space left on device/i.test(stderr)) {
    return new KxError('environment', 'KX_DISK_FULL', `The Docker engine's disk is full: ${lastLine(stderr)}.`, {
      suggestions: ['Make room: docker system df shows what takes it.'],
    })
  }
  if (/cannot connect to the docker daemon|error during connect|EOF$/im.test(stderr)) {
    return engineGone('start the containers', endpoint, lastLine(stderr))
  }
  return new KxError('environment', 'KX_COMPOSE', `"docker compose up" failed: ${lastLine(stderr)}.`, {
    cause: new Error(stderr),
  })
}

function tooSlow(timeoutMs: number): KxError {
  const message = `"docker compose up" did not end within ${duration(timeoutMs)}.`
  return new KxError('environment', 'KX_COMPOSE', message, {
    suggestions: ['Give it more time with --timeout, or look at what else the engine does: docker ps'],
  })
}
