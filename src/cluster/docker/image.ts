import {existsSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import type Docker from 'dockerode'
import {execa} from 'execa'
import {KxError} from '../../util/errors.js'
import {bytes} from '../../util/format.js'
import {interrupted} from '../../util/until.js'
import {kafkaCacheFolder} from '../cache.js'
import {dockerEnvironment} from './compose-cli.js'
import {type Engine, reasonOf, statusOf} from './engine.js'
import {lastLine} from './endpoint.js'

/** Where an image comes from; the first way that works is taken. */
export type ImageWay =
  | {readonly way: 'local'; readonly image: string}
  | {readonly way: 'pull'; readonly image: string}
  | {readonly way: 'build'; readonly image: string}

/** `--image` is the only candidate if it is given; it may be here or have to be pulled. */
export function imageWays(kafkaVersion: string, asked?: string): ImageWay[] {
  if (asked) {
    return [
      {way: 'local', image: asked},
      {way: 'pull', image: asked},
    ]
  }
  const official = `apache/kafka:${kafkaVersion}`
  const own = `kx/kafka:${kafkaVersion}`
  return [
    {way: 'local', image: official},
    {way: 'local', image: own},
    {way: 'pull', image: official},
    {way: 'build', image: own},
  ]
}

export interface ImageRequest {
  readonly kafkaVersion: string
  readonly asked?: string
}

/** Why no image can be had, in one sentence, or nothing. Fetches nothing; asks the registry for at most 10 s. */
export async function imageObstacle(engine: Engine, {kafkaVersion, asked}: ImageRequest): Promise<string | undefined> {
  const refusals: string[] = []
  for (const {way, image} of imageWays(kafkaVersion, asked)) {
    const refusal = await {local: notHere, pull: notToBePulled, build: notToBeBuilt}[way](engine, image, kafkaVersion)
    if (refusal === undefined) return way === 'local' ? foreignArchitecture(engine, image) : undefined
    refusals.push(refusal)
  }
  return `No image to run: ${refusals.join('; ')}.`
}

/**
 * The image to run, pulled or built if need be.
 * @throws KxError KX_NO_IMAGE (environment) with the obstacle of each way; KX_INTERRUPTED
 */
export async function obtainImage(
  engine: Engine,
  {kafkaVersion, asked}: ImageRequest,
  {signal, progress}: {readonly signal: AbortSignal; readonly progress: (phase: string) => void},
): Promise<string> {
  const refusals: string[] = []
  for (const {way, image} of imageWays(kafkaVersion, asked)) {
    const refusal = await (way === 'local'
      ? notHere(engine, image)
      : way === 'pull'
        ? pull(engine, image, signal, progress)
        : buildImage(engine, image, {kafkaVersion, signal, progress}))
    if (refusal === undefined) {
      const foreign = await foreignArchitecture(engine, image)
      if (foreign === undefined) return image
      refusals.push(foreign)
    } else refusals.push(refusal)
  }
  throw new KxError('environment', 'KX_NO_IMAGE', `There is no image to run: ${refusals.join('; ')}.`, {
    suggestions: [
      ...(asked ? [] : [`Build one where none can be pulled: compose/image/build ${kafkaVersion}`]),
      'Or go without Docker: --runtime local.',
    ],
  })
}

async function notHere(engine: Engine, image: string): Promise<string | undefined> {
  return (await inspect(engine, image)) ? undefined : `${image} is not here`
}

async function notToBePulled(engine: Engine, image: string): Promise<string | undefined> {
  try {
    await engine.call(`ask the registry for ${image}`, docker => docker.getImage(image).distribution(), 10_000)
    return undefined
  } catch (error) {
    return `${image} can't be pulled (${inOneLine(error)})`
  }
}

/** What the build script will miss; it says the same, later and in more words. */
async function notToBeBuilt(engine: Engine, image: string, kafkaVersion: string): Promise<string | undefined> {
  if (!existsSync(buildScript())) return `${image} can't be built (the script compose/image/build is not there)`
  const hasJars = existsSync(`${kafkaCacheFolder(kafkaVersion)}/libs`) || (await isOnPath('mvn'))
  if (!hasJars) return `${image} can't be built (neither jars in the cache nor Maven)`
  const base = process.env.KX_BASE_IMAGE || 'debian:bookworm-slim'
  if (await inspect(engine, base)) return undefined
  if ((await notToBePulled(engine, base)) === undefined) return undefined
  if (process.getuid?.() === 0 && (await isOnPath('debootstrap'))) return undefined
  return `${image} can't be built (its base ${base} is neither here nor to be pulled, and making it needs root and debootstrap)`
}

/** An emulated broker hangs at random (docker/for-mac 5736), so kx refuses instead of judging such a run. */
async function foreignArchitecture(engine: Engine, image: string): Promise<string | undefined> {
  const [found, version] = await Promise.all([
    inspect(engine, image),
    engine.call('say its version', docker => docker.version()),
  ])
  const asked = found?.Architecture
  if (!asked || asked === version.Arch) return undefined
  return `${image} is made for ${asked} and would be emulated on this engine (${version.Arch}), where brokers hang at random`
}

async function inspect(engine: Engine, image: string): Promise<Docker.ImageInspectInfo | undefined> {
  try {
    return await engine.call(`look at image ${image}`, docker => docker.getImage(image).inspect())
  } catch (error) {
    // 400: the name is no image name at all; the pull that follows then says what is wrong with it.
    if (statusOf(error) === 404 || statusOf(error) === 400) return undefined
    throw error
  }
}

interface PullEvent {
  readonly id?: string
  readonly status?: string
  readonly error?: string
  readonly progressDetail?: {readonly current?: number; readonly total?: number}
}

/** A pull may take as long as it makes progress. */
const stallMs = 60_000

async function pull(
  engine: Engine,
  image: string,
  signal: AbortSignal,
  progress: (phase: string) => void,
): Promise<string | undefined> {
  progress(`pulling ${image}`)
  const stalled = new AbortController()
  let watchdog = setTimeout(() => stalled.abort(), stallMs)
  const layers = new Map<string, {current: number; total: number}>()
  let toldAt = performance.now()
  try {
    const stop = AbortSignal.any([signal, stalled.signal])
    await engine.call(`pull ${image}`, docker => followed(docker, image, stop, told), 3_600_000)
    return undefined
  } catch (error) {
    if (signal.aborted) throw interrupted(`${image} to be pulled`)
    const reason = stalled.signal.aborted ? `nothing came for ${stallMs / 1_000} s` : inOneLine(error)
    return `${image} can't be pulled (${reason})`
  } finally {
    clearTimeout(watchdog)
  }

  function told({id, progressDetail}: PullEvent): void {
    clearTimeout(watchdog)
    watchdog = setTimeout(() => stalled.abort(), stallMs)
    const {current, total} = progressDetail ?? {}
    if (id && current !== undefined && total) layers.set(id, {current, total})
    if (performance.now() < toldAt + 2_000 || layers.size === 0) return
    toldAt = performance.now()
    const sum = (part: 'current' | 'total') => [...layers.values()].reduce((all, layer) => all + layer[part], 0)
    progress(`pulling ${image}: ${bytes(sum('current'))} of ${bytes(sum('total'))}`)
  }
}

async function followed(
  docker: Docker,
  image: string,
  signal: AbortSignal,
  event: (event: PullEvent) => void,
): Promise<void> {
  const name = /[:@][^/]*$/.test(image) ? image : `${image}:latest`
  const stream = await docker.pull(name, {abortSignal: signal})
  await new Promise<void>((resolve, reject) => {
    const abort = () => reject(new Error('interrupted'))
    signal.addEventListener('abort', abort, {once: true})
    docker.modem.followProgress(
      stream,
      (error: Error | null, events: PullEvent[] | null) => {
        signal.removeEventListener('abort', abort)
        const failed = error?.message ?? events?.find(({error}) => error)?.error
        if (failed === undefined) resolve()
        else reject(new Error(failed))
      },
      event,
    )
  })
}

/** Runs `compose/image/build VERSION TAG`, which says what it does line by line. One sentence if it fails. */
export async function buildImage(
  engine: Engine,
  image: string,
  {kafkaVersion, signal, progress}: {kafkaVersion: string; signal: AbortSignal; progress: (phase: string) => void},
): Promise<string | undefined> {
  const script = buildScript()
  if (!existsSync(script)) return `${image} can't be built (the script compose/image/build is not there)`
  progress(`building ${image}, which takes a minute or two`)
  const built = await execa(script, [kafkaVersion, image], {
    env: dockerEnvironment(engine.endpoint),
    extendEnv: false,
    cancelSignal: signal,
    forceKillAfterDelay: 10_000,
    timeout: 20 * 60_000,
    reject: false,
    stdin: 'ignore',
    stdout: function* (line: unknown) {
      progress(String(line).replace(/^image: /, ''))
      yield line
    },
  })
  if (signal.aborted) throw interrupted(`${image} to be built`)
  if (!built.failed) return undefined
  const reason = built.timedOut ? 'not done within 20 minutes' : lastLine(built.stderr).replace(/^image: /, '')
  return `${image} can't be built (${reason})`
}

/** Beside `dist/` in the package, beside `src/` in the sources. */
export function buildScript(): string {
  const candidates = ['../../../compose/image/build', '../../../../compose/image/build']
  const paths = candidates.map(path => fileURLToPath(new URL(path, import.meta.url)))
  return paths.find(path => existsSync(path)) ?? (paths[0] as string)
}

async function isOnPath(command: string): Promise<boolean> {
  const found = await execa('sh', ['-c', `command -v ${command}`], {reject: false, timeout: 5_000, stdin: 'ignore'})
  return !found.failed
}

function inOneLine(error: unknown): string {
  return reasonOf(error instanceof KxError ? (error.cause ?? error) : error)
    .split('\n')
    .join(' ')
    .replace(/\.$/, '')
}
