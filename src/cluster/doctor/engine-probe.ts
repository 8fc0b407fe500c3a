import {execa} from 'execa'
import {lastLine, resolveEndpoint} from '../docker/endpoint.js'
import {Engine} from '../docker/engine.js'
import {imageObstacle, imageWays} from '../docker/image.js'
import {type EngineFacts, type EngineInfo, engineInfo} from './engine.js'
import {type Host, onPath} from './host.js'

export interface EngineProbe {
  readonly env: NodeJS.ProcessEnv
  readonly host: Host
  readonly kafkaVersion: string
  /** `--image` */
  readonly image?: string
  readonly signal: AbortSignal
  /** How long each question may take; 10 s if not said. */
  readonly patienceMs?: number
}

/** Asks Docker's own CLI, as the user would; each question is bounded. */
export async function engineFacts({
  env,
  host,
  kafkaVersion,
  image,
  signal,
  patienceMs = 10_000,
}: EngineProbe): Promise<EngineFacts> {
  if (!(await onPath('docker', env))) return {host, cli: 'missing'}
  const docker = (...args: string[]) =>
    execa('docker', args, {
      env,
      extendEnv: false,
      reject: false,
      timeout: patienceMs,
      stdin: 'ignore',
      cancelSignal: signal,
    })
  const resolved = await resolveEndpoint(env)
  if ('obstacle' in resolved) {
    const {stdout, stderr} = await docker('--version')
    const stub = /WSL integration|could not be found in this WSL/i.test(`${stdout ?? ''}${stderr ?? ''}`)
    return {host, cli: stub ? 'wsl-stub' : 'there', resolved}
  }
  const [answer, version, compose] = await Promise.all([
    docker('info', '--format', '{{json .}}'),
    docker('version', '--format', '{{json .Server}}'),
    docker('compose', 'version', '--short'),
  ])
  const info = parsed(answer.stdout)
  const said = answer.timedOut ? 'The engine did not answer.' : (answer.stderr ?? '')
  const facts = {host, cli: 'there', resolved, said, ...(info ? {info} : {}), ...server(version.stdout)} as const
  const withCompose = compose.failed ? facts : {...facts, compose: lastLine(compose.stdout)}
  if (!info?.ServerVersion) return withCompose
  const found = await imageFacts(env, Engine.at(resolved.endpoint), kafkaVersion, image, docker)
  return found ? {...withCompose, image: found} : withCompose
}

type Ask = (...args: string[]) => Promise<{readonly stdout?: string; readonly failed: boolean}>

/** Nothing if none is here but one can be had. */
async function imageFacts(
  _env: NodeJS.ProcessEnv,
  engine: Engine,
  kafkaVersion: string,
  asked: string | undefined,
  docker: Ask,
): Promise<EngineFacts['image']> {
  for (const {way, image} of imageWays(kafkaVersion, asked)) {
    if (way !== 'local') continue
    const {stdout = '', failed} = await docker('image', 'inspect', '--format', '{{.Architecture}}', image)
    if (!failed) return {name: image, architecture: lastLine(stdout)}
  }
  const obstacle = await imageObstacle(engine, {kafkaVersion, ...(asked ? {asked} : {})}).catch((error: unknown) =>
    String(error),
  )
  return obstacle === undefined ? undefined : {obstacle}
}

function parsed(text: string | undefined): EngineInfo | undefined {
  try {
    return engineInfo.safeParse(JSON.parse(text ?? '')).data
  } catch {
    return undefined
  }
}

function server(text: string | undefined): {readonly server?: string} {
  const name = /"Components":\[\{"Name":"([^"]+)"/.exec(text ?? '')?.[1]
  return name === undefined ? {} : {server: name}
}
