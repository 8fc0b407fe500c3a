import {access, constants, mkdir, mkdtemp, readdir, rename, rm} from 'node:fs/promises'
import {delimiter, join} from 'node:path'
import {knownVersions} from '../../kafka/versions.js'
import {KxError, systemCode} from '../../util/errors.js'
import {kafkaCacheFolder} from '../cache.js'
import {copyWithMaven} from './maven.js'

export interface JarsRequest {
  readonly version: string
  /** `--kafka-home`: an unpacked Kafka distribution; else `$KX_KAFKA_HOME`. */
  readonly kafkaHome?: string
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
  readonly env?: NodeJS.ProcessEnv
}

export interface KafkaLibs {
  /** The folder with `*.jar`: `<libs>/*` is the class path. */
  readonly libs: string
  /** Where the jars come from, for people and for the run's environment. */
  readonly origin: string
}

/**
 * The jars of a Kafka version, from the first place that has them: `kafkaHome` or `$KX_KAFKA_HOME`, kx's cache, Maven.
 * @throws KxError KX_KAFKA_HOME, KX_KAFKA_VERSION (usage); KX_KAFKA_JARS (environment)
 */
export async function kafkaLibs({
  version,
  kafkaHome,
  signal,
  progress,
  env = process.env,
}: JarsRequest): Promise<KafkaLibs> {
  const home = kafkaHome ?? env.KX_KAFKA_HOME
  if (home) return {libs: await libsOfHome(home, version), origin: home}
  const folder = kafkaCacheFolder(version, env)
  const libs = join(folder, 'libs')
  if (await isComplete(libs, version)) return {libs, origin: 'cache'}
  await mkdir(folder, {recursive: true})
  const staging = await mkdtemp(join(folder, '.new-'))
  try {
    progress(`fetching Kafka ${version} with Maven, about 54 MB`)
    const maven = await copyWithMaven({version, folder: staging, signal, progress, env})
    if (maven.outcome === 'unknown-version') throw unknownVersion(version)
    if (maven.outcome === 'failed') {
      throw new KxError('environment', 'KX_KAFKA_JARS', `The jars of Kafka ${version} can't be had: ${maven.why}.`)
    }
    await publish(join(staging, 'libs'), libs)
    return {libs, origin: 'Maven'}
  } finally {
    await rm(staging, {recursive: true, force: true})
  }
}

/** Says in one sentence why no jars can be had, without fetching any. */
export async function jarsObstacle({
  version,
  kafkaHome,
  env = process.env,
}: Pick<JarsRequest, 'version' | 'kafkaHome' | 'env'>): Promise<string | undefined> {
  const home = kafkaHome ?? env.KX_KAFKA_HOME
  if (home) {
    return libsOfHome(home, version).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    )
  }
  if (await isComplete(join(kafkaCacheFolder(version, env), 'libs'), version)) return undefined
  const found = await Promise.all((env.PATH ?? '').split(delimiter).map(folder => isExecutable(join(folder, 'mvn'))))
  return found.includes(true) ? undefined : `there is no Maven to fetch the jars of Kafka ${version} with`
}

async function libsOfHome(home: string, version: string): Promise<string> {
  const libs = join(home, 'libs')
  const jars = await readdir(libs).catch(() => [] as string[])
  const clients = jars.map(name => /^kafka-clients-(\d.*)\.jar$/.exec(name)?.[1]).find(found => found !== undefined)
  if (clients === undefined)
    throw new KxError(
      'usage',
      'KX_KAFKA_HOME',
      `${home} is no unpacked Kafka distribution: it has no libs/kafka-clients-*.jar.`,
    )
  if (clients !== version)
    throw new KxError('usage', 'KX_KAFKA_HOME', `${home} holds Kafka ${clients}, but ${version} was asked for.`)
  return libs
}

async function isComplete(libs: string, version: string): Promise<boolean> {
  const jars = new Set(await readdir(libs).catch(() => [] as string[]))
  return [`kafka_2.13-${version}.jar`, `kafka-clients-${version}.jar`, `kafka-tools-${version}.jar`].every(name =>
    jars.has(name),
  )
}

/** Another kx may have been faster: then its jars, which are the same, stay. */
async function publish(from: string, to: string): Promise<void> {
  await rename(from, to).catch(error => {
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error
  })
}

function unknownVersion(version: string): KxError {
  return new KxError(
    'usage',
    'KX_KAFKA_VERSION',
    `There is no Kafka ${version}: Maven's repositories do not have it.`,
    {
      suggestions: [`Take one of ${knownVersions.join(', ')}.`],
    },
  )
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
