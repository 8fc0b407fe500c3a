import {KxError} from '../util/errors.js'
import type {Runtime, StartOptions} from './cluster.js'
import type {ClusterSpec, RuntimeName} from './spec.js'

export interface RuntimeRequest {
  readonly runtime: 'auto' | RuntimeName
  readonly spec: ClusterSpec
  readonly kafkaHome?: string
  readonly image?: string
}

export interface Chosen {
  readonly runtime: Runtime
  /** Why the ones before it in the order were passed over, one sentence each. */
  readonly passedOver: readonly string[]
}

/** Loaded where used: the Docker client is heavy. */
const load: Readonly<Record<RuntimeName, () => Promise<Runtime>>> = {
  docker: async () => new (await import('./docker/runtime.js')).DockerRuntime(),
  local: async () => new (await import('./local/runtime.js')).LocalRuntime(),
}

export function runtimeNamed(name: RuntimeName): Promise<Runtime> {
  return load[name]()
}

/**
 * `auto` tries docker, then local.
 * @throws KxError KX_NO_RUNTIME (environment) with every obstacle; KX_USAGE (usage) for flags of the other runtime
 */
export async function chooseRuntime(
  asked: RuntimeRequest['runtime'],
  options: Omit<RuntimeRequest, 'runtime'>,
): Promise<Chosen> {
  const candidates = candidatesFor(asked, options)
  const obstacles: string[] = []
  for (const name of candidates) {
    const runtime = await runtimeNamed(name)
    const obstacle = await runtime.obstacle(options as Pick<StartOptions, 'spec' | 'kafkaHome' | 'image'>)
    if (obstacle === undefined) return {runtime, passedOver: obstacles}
    obstacles.push(`${name}: ${obstacle}`)
  }
  throw new KxError(
    'environment',
    'KX_NO_RUNTIME',
    `No cluster can be started on this machine. ${obstacles.map(sentence).join(' ')}`,
    {
      suggestions: ['kx doctor says what is missing and how to get it.'],
    },
  )
}

function candidatesFor(
  asked: RuntimeRequest['runtime'],
  {kafkaHome, image}: Omit<RuntimeRequest, 'runtime'>,
): RuntimeName[] {
  if (kafkaHome !== undefined && image !== undefined) {
    throw new KxError(
      'usage',
      'KX_USAGE',
      'A Kafka distribution runs as local JVMs, an image in Docker: --kafka-home and --image exclude each other.',
    )
  }
  if (asked === 'docker' && kafkaHome !== undefined) {
    throw new KxError('usage', 'KX_USAGE', '--kafka-home is for the local runtime; containers run an image.', {
      suggestions: ['--runtime local', '--image <image>'],
    })
  }
  if (asked === 'local' && image !== undefined) {
    throw new KxError('usage', 'KX_USAGE', '--image is for the docker runtime; local JVMs run jars.', {
      suggestions: ['--runtime docker', '--kafka-home <folder>'],
    })
  }
  if (asked !== 'auto') return [asked]
  if (image !== undefined) return ['docker']
  return kafkaHome === undefined ? ['docker', 'local'] : ['local']
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(whole) ? whole : `${whole}.`
}
