import {execa} from 'execa'
import {z} from 'zod'
import {systemCode} from '../../util/errors.js'

/** Where the Docker engine listens: looked up once, then given to the API client and to Compose alike. */
export interface EngineEndpoint {
  /** In the form of DOCKER_HOST: `unix:///var/run/docker.sock`, `tcp://127.0.0.1:2375`, `npipe:////./pipe/docker_engine`. */
  readonly host: string
  /** For people: `DOCKER_HOST`, `context desktop-linux`. */
  readonly source: string
  /** Folder with `ca.pem`, `cert.pem` and `key.pem`, if the engine speaks TLS. */
  readonly certificates?: string
}

/** An endpoint, or one sentence that says why there is none. */
export type Resolved = {readonly endpoint: EngineEndpoint} | {readonly obstacle: string}

const contextOutput = z
  .array(
    z.object({
      Name: z.string(),
      Endpoints: z.object({docker: z.object({Host: z.string(), SkipTLSVerify: z.boolean().optional()}).optional()}),
      Storage: z.object({TLSPath: z.string().optional()}).optional(),
      TLSMaterial: z.record(z.string(), z.array(z.string())).optional(),
    }),
  )
  .min(1)

/**
 * Resolves the endpoint as Docker's own CLI does: DOCKER_HOST wins, else the current context (which obeys
 * DOCKER_CONTEXT). Engines on another host are refused, because kx's clusters are reached at 127.0.0.1.
 */
export async function resolveEndpoint(env: NodeJS.ProcessEnv = process.env): Promise<Resolved> {
  if (env.DOCKER_HOST) return checked(fromEnvironment(env.DOCKER_HOST, env))
  const inspected = await execa('docker', ['context', 'inspect'], {
    env,
    extendEnv: false,
    reject: false,
    timeout: 10_000,
    stdin: 'ignore',
  })
  if (systemCode(inspected) === 'ENOENT') return {obstacle: noCli}
  if (inspected.failed) {
    const reason = inspected.timedOut ? 'no answer within 10 s' : lastLine(inspected.stderr)
    return {obstacle: `"docker context inspect" failed: ${reason}.`}
  }
  return checked(fromContext(inspected.stdout))
}

export const noCli = 'There is no "docker" command on the PATH.'

/** From the output of `docker context inspect`; `undefined` if that is not what it looks like. */
export function fromContext(output: string): EngineEndpoint | undefined {
  const [context] = contextOutput.safeParse(parseJson(output)).data ?? []
  if (!context?.Endpoints.docker) return undefined
  const material = context.TLSMaterial?.docker ?? []
  const folder = context.Storage?.TLSPath
  return {
    host: context.Endpoints.docker.Host,
    source: `context ${context.Name}`,
    ...(material.length > 0 && folder ? {certificates: `${folder}/docker`} : {}),
  }
}

function fromEnvironment(host: string, env: NodeJS.ProcessEnv): EngineEndpoint {
  // As in Docker's CLI: any value but the empty one switches TLS on.
  const tls = env.DOCKER_TLS_VERIFY ? (env.DOCKER_CERT_PATH ?? `${env.HOME}/.docker`) : undefined
  return {
    host: host.includes('://') ? host : `tcp://${host}`,
    source: 'DOCKER_HOST',
    ...(tls ? {certificates: tls} : {}),
  }
}

function checked(endpoint: EngineEndpoint | undefined): Resolved {
  if (!endpoint) return {obstacle: '"docker context inspect" did not say where the engine is.'}
  const obstacle = obstacleOf(endpoint)
  return obstacle ? {obstacle} : {endpoint}
}

/** Why kx can't use an engine at this place, in one sentence. */
export function obstacleOf({host, source}: EngineEndpoint): string | undefined {
  const url = parseUrl(host)
  if (!url) return `The Docker endpoint "${host}" (${source}) is no URL.`
  switch (url.protocol) {
    case 'unix:':
    case 'npipe:':
      return undefined
    case 'tcp:':
    case 'http:':
    case 'https:':
      return isLoopback(hostnameOf(host)) ? undefined : onAnotherHost(host, source)
    case 'ssh:':
      return onAnotherHost(host, source)
    default:
      return `kx does not know how to reach the Docker endpoint "${host}" (${source}).`
  }
}

function onAnotherHost(host: string, source: string): string {
  return `The Docker engine is on another host (${host}, from ${source}): its brokers would not be reachable at 127.0.0.1.`
}

/** The host name of `tcp://host:port`: for a scheme it does not know, URL leaves IPv6 brackets on. */
export function hostnameOf(host: string): string {
  return (parseUrl(host.replace(/^tcp:/, 'http:'))?.hostname ?? '').replace(/^\[|\]$/g, '')
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '::1' || /^127(\.\d+){3}$/.test(hostname)
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function lastLine(text: string | undefined): string {
  const line = (text ?? '').trim().split('\n').at(-1) ?? ''
  return line.replace(/\.$/, '') || 'it said nothing'
}
