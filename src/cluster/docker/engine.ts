import {readFileSync} from 'node:fs'
import {Agent as HttpAgent} from 'node:http'
import {Agent as HttpsAgent} from 'node:https'
import {join} from 'node:path'
import Docker from 'dockerode'
import {KxError, messageOf, systemCode} from '../../util/errors.js'
import {within} from '../../util/until.js'
import {type EngineEndpoint, hostnameOf} from './endpoint.js'

/** Answers of an engine that is alive come in milliseconds; a loaded one may need seconds. */
const patienceMs = 30_000

/**
 * A connection to one Docker engine, and the one place in which its errors become kx's: whatever goes wrong is a
 * `KxError` of kind environment, with the HTTP status of the answer (if there was one) in reach of `statusOf`.
 */
export class Engine {
  private constructor(
    readonly endpoint: EngineEndpoint,
    private readonly docker: Docker,
  ) {}

  /** Opens nothing: the first call does. */
  static at(endpoint: EngineEndpoint): Engine {
    try {
      return new Engine(endpoint, new Docker(connectionOptions(endpoint)))
    } catch (error) {
      throw engineError('connect to the Docker engine', endpoint, error)
    }
  }

  /** @param what completes the sentence "Docker could not …" */
  async call<T>(what: string, ask: (docker: Docker) => Promise<T>, timeoutMs = patienceMs): Promise<T> {
    try {
      return await within(`the Docker engine to ${what}`, timeoutMs, ask(this.docker))
    } catch (error) {
      throw error instanceof KxError ? error : engineError(what, this.endpoint, error)
    }
  }
}

/** The status of the engine's answer: 404 no such thing, 409 conflict, 500 engine's own; `undefined` without answer. */
export function statusOf(error: unknown): number | undefined {
  const cause = error instanceof KxError ? error.cause : error
  const status = (cause as {statusCode?: unknown} | undefined)?.statusCode
  return typeof status === 'number' ? status : undefined
}

/** True if the engine itself is gone, not only one thing in it. */
export function isEngineGone(error: unknown): boolean {
  return error instanceof KxError && error.code === 'KX_DOCKER_GONE'
}

export function engineError(what: string, endpoint: EngineEndpoint, error: unknown): KxError {
  const code = systemCode(error)
  const where = `${endpoint.host} (${endpoint.source})`
  if (code === 'EACCES' || code === 'EPERM') {
    return new KxError('environment', 'KX_DOCKER_DENIED', `You may not use the Docker engine at ${where}.`, {
      suggestions: [
        'Join the group that owns the socket: sudo usermod -aG docker "$USER", then log in again.',
        'Or go without Docker: --runtime local.',
      ],
      cause: error,
    })
  }
  if (code && /^E(CONN|PIPE|NOENT|NOTFOUND|TIMEDOUT|HOSTUNREACH)/.test(code)) return engineGone(what, endpoint, error)
  if (/socket hang up|aborted/.test(messageOf(error))) return engineGone(what, endpoint, error)
  return new KxError('environment', 'KX_DOCKER', `Docker could not ${what}: ${reasonOf(error)}.`, {cause: error})
}

export function engineGone(what: string, endpoint: EngineEndpoint, cause: unknown): KxError {
  return new KxError(
    'environment',
    'KX_DOCKER_GONE',
    `No Docker engine answers at ${endpoint.host} (${endpoint.source}), so kx could not ${what}: ${reasonOf(cause)}.`,
    {
      suggestions: [
        'Start the engine again (Docker Desktop, or: sudo systemctl start docker).',
        'kx clean then removes what a half-done command left behind.',
        'Or go without Docker: --runtime local.',
      ],
      cause,
    },
  )
}

/** The engine's own words, without dockerode's "(HTTP code 404) no such container - " before them. */
export function reasonOf(error: unknown): string {
  const said = (error as {json?: {message?: unknown}} | undefined)?.json?.message
  return (typeof said === 'string' ? said : messageOf(error)).trim().replace(/\.$/, '')
}

function connectionOptions({host, certificates}: EngineEndpoint): Docker.DockerOptions & {agent: HttpAgent} {
  // Everything is said, because what is left out dockerode takes from the environment.
  const nothing = {
    host: undefined,
    port: undefined,
    socketPath: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
    // A connection kept from before the engine's restart would break the first call after it.
    agent: certificates ? new HttpsAgent({keepAlive: false}) : new HttpAgent({keepAlive: false}),
  }
  if (host.startsWith('unix://')) return {...nothing, protocol: 'http', socketPath: host.slice('unix://'.length)}
  if (host.startsWith('npipe://')) return {...nothing, protocol: 'http', socketPath: host.slice('npipe://'.length)}
  const port = Number(/:(\d+)\/?$/.exec(host)?.[1] ?? (certificates ? 2376 : 2375))
  const file = (name: string) => readFileSync(join(certificates ?? '', name))
  return {
    ...nothing,
    host: hostnameOf(host),
    port,
    protocol: certificates ? 'https' : 'http',
    ...(certificates ? {ca: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem')} : {}),
  }
}
