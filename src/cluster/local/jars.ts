import {access, constants, mkdir, mkdtemp, readdir, rename, rm, rmdir} from 'node:fs/promises'
import {delimiter, dirname, join} from 'node:path'
import {knownVersions} from '../../kafka/versions.js'
import {KxError, messageOf, systemCode} from '../../util/errors.js'
import {until} from '../../util/until.js'
import {kafkaCacheFolder} from '../cache.js'
import {diskError} from '../disk.js'
import {type Lock, tryLock} from '../lock.js'
import {archiveUrl, unpackArchive} from './archive.js'
import {contentsOf, isComplete, missingIn, seal} from './libs.js'
import {copyWithMaven} from './maven.js'

export interface JarsRequest {
  readonly version: string
  /** `--kafka-home`: an unpacked Kafka distribution; else `$KX_KAFKA_HOME`. */
  readonly kafkaHome?: string
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
  readonly env?: NodeJS.ProcessEnv
  /** For the archive: how long a transfer may bring nothing, and the pause before another try. */
  readonly stallMs?: number
  readonly pauseMs?: number
}

export interface KafkaLibs {
  /** The folder with `*.jar`: `<libs>/*` is the class path. */
  readonly libs: string
  /** Where the jars come from, for people and for the run's environment. */
  readonly origin: string
}

type Asked = Pick<JarsRequest, 'version' | 'kafkaHome' | 'env'>

/** Fetching takes seconds; but another process may fetch the same over a slow line. */
const atMostMs = 60 * 60_000

/**
 * The jars of a Kafka version, from the first place that has them: `kafkaHome` or `$KX_KAFKA_HOME`, kx's cache
 * (`<cache>/kafka/<version>/libs`), Maven, Apache's release archive. What is fetched stays in the cache; it appears
 * there whole or not at all, and processes that need the same wait for one another.
 * @throws KxError KX_KAFKA_HOME, KX_KAFKA_VERSION, KX_KAFKA_MIRROR (usage); KX_KAFKA_JARS, KX_KAFKA_CHECKSUM,
 *   KX_DISK_FULL, KX_NOT_WRITABLE (environment); KX_INTERRUPTED
 */
export async function kafkaLibs(request: JarsRequest): Promise<KafkaLibs> {
  const {version, env = process.env} = request
  mustBeVersion(version)
  const home = await homeFor(request)
  if (home) return {libs: join(home, 'libs'), origin: home}
  const folder = kafkaCacheFolder(version, env)
  const cached = await fromCache(folder, version)
  if (cached) return cached
  try {
    await mkdir(folder, {recursive: true})
    const lock = await locked(folder, request)
    try {
      return (await fromCache(folder, version)) ?? (await fetched({...request, env}, folder))
    } finally {
      lock[Symbol.dispose]()
    }
  } catch (error) {
    // Nothing of a version that can't be had stays; a folder with half a download in it is not empty.
    await rmdir(folder).catch(() => undefined)
    throw diskError(error, folder, elsewhere)
  }
}

/** From where {@link kafkaLibs} would take the jars. That a network is down shows only when something is fetched. */
export type JarsOutlook =
  | {readonly from: 'home' | 'archive'; readonly place: string}
  | {readonly from: 'cache' | 'maven'}
  | {readonly from: 'nowhere'; readonly obstacle: string}

/** Looks, and fetches nothing. */
export async function jarsOutlook(asked: Asked): Promise<JarsOutlook> {
  const {version, env = process.env} = asked
  try {
    mustBeVersion(version)
    const home = await homeFor(asked)
    if (home) return {from: 'home', place: home}
    const folder = kafkaCacheFolder(version, env)
    if (await fromCache(folder, version)) return {from: 'cache'}
    await mustBeWritable(folder)
    return (await hasMaven(env)) ? {from: 'maven'} : {from: 'archive', place: archiveUrl(version, env).host}
  } catch (error) {
    return {from: 'nowhere', obstacle: messageOf(error)}
  }
}

/** Says in one sentence why the jars can't be had, without fetching any. */
export async function jarsObstacle(asked: Asked): Promise<string | undefined> {
  const outlook = await jarsOutlook(asked)
  return outlook.from === 'nowhere' ? outlook.obstacle : undefined
}

/** The Kafka version of an unpacked distribution, read from the name of its clients' jar; `undefined` if it is none. */
export async function versionOfHome(home: string): Promise<string | undefined> {
  const jars = await readdir(join(home, 'libs')).catch(() => [] as string[])
  const version = /^kafka-clients-(\d+\.\d+\.\d+(?:-(?!test|sources|javadoc)[A-Za-z0-9.]+)?)\.jar$/
  return jars.map(name => version.exec(name)?.[1]).find(found => found !== undefined)
}

/** Is there a `mvn` on the PATH? */
export async function hasMaven(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const folders = (env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  const found = await Promise.all(
    folders.map(folder =>
      access(join(folder, 'mvn'), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}

const elsewhere =
  "Name another folder for kx's cache in XDG_CACHE_HOME, or an unpacked Kafka distribution with --kafka-home DIR."

/**
 * The distribution to use, if one was named. A flag that names the wrong one is an error; the variable may stand there
 * for other versions, and then does not apply.
 */
async function homeFor({
  version,
  kafkaHome,
  env = process.env,
  progress,
}: Asked & {progress?: (phase: string) => void}): Promise<string | undefined> {
  const home = kafkaHome ?? env.KX_KAFKA_HOME
  if (!home) return undefined
  const found = await versionOfHome(home)
  const from = kafkaHome === undefined ? 'KX_KAFKA_HOME' : '--kafka-home'
  if (found === undefined) {
    throw new KxError(
      'usage',
      'KX_KAFKA_HOME',
      `${from} is ${home}, which is no unpacked Kafka distribution: it has no libs/kafka-clients-<version>.jar.`,
      {
        suggestions: ['Give the folder that holds bin/ and libs/, or leave it out: kx then fetches the jars.'],
      },
    )
  }
  if (found === version) return home
  if (kafkaHome === undefined) {
    progress?.(`KX_KAFKA_HOME holds Kafka ${found}, not ${version}: not used`)
    return undefined
  }
  throw new KxError(
    'usage',
    'KX_KAFKA_HOME',
    `--kafka-home is ${home}, which holds Kafka ${found}, but Kafka ${version} was asked for.`,
    {
      suggestions: [`Add --kafka-version ${found}, or leave out --kafka-home.`],
    },
  )
}

async function fromCache(folder: string, version: string): Promise<KafkaLibs | undefined> {
  const libs = join(folder, 'libs')
  if (!(await isComplete(libs, version))) return undefined
  const origin = (await contentsOf(libs))?.origin
  return {libs, origin: origin ? `kx's cache (${origin})` : "kx's cache"}
}

/** Waits while another kx fetches the same version. A holder that has died does not count. */
async function locked(folder: string, {version, signal, progress}: JarsRequest): Promise<Lock> {
  let holder = ''
  return until(
    `another kx to fetch Kafka ${version}`,
    async () => {
      const lock = await tryLock(join(folder, 'fetching.lock'), `fetching Kafka ${version}`)
      if (!('heldBy' in lock)) return lock
      const seen = `pid ${lock.heldBy.pid} is fetching Kafka ${version} since ${lock.heldBy.since}`
      if (seen !== holder) progress(`waiting: ${seen}`)
      holder = seen
      return undefined
    },
    {timeoutMs: atMostMs, everyMs: 200, signal, missing: () => `${holder}.`},
  )
}

type Fetching = JarsRequest & {readonly env: NodeJS.ProcessEnv}

/** Under the lock: Maven, else the archive, into a new folder beside `libs` that then becomes `libs`. */
async function fetched(request: Fetching, folder: string): Promise<KafkaLibs> {
  for (const name of await readdir(folder)) {
    if (/^\.(new|old)-/.test(name)) await rm(join(folder, name), {recursive: true, force: true})
  }
  const staging = await mkdtemp(join(folder, '.new-'))
  try {
    const origin = await fill(request, folder, staging)
    await seal(join(staging, 'libs'), request.version, origin)
    await publish(join(staging, 'libs'), join(folder, 'libs'))
    return {libs: join(folder, 'libs'), origin}
  } finally {
    await rm(staging, {recursive: true, force: true})
  }
}

/** Fills `staging/libs`; the answer says from where. */
async function fill(request: Fetching, folder: string, staging: string): Promise<string> {
  const {version, progress, env} = request
  const libs = join(staging, 'libs')
  const maven = await byMaven(request, staging)
  if (maven === undefined) return 'Maven'
  progress(`${maven.why}; trying the release archive`)
  await rm(libs, {recursive: true, force: true})
  const url = archiveUrl(version, env)
  progress(`fetching ${url.href}`)
  const archive = await unpackArchive({...request, folder, libs})
  const missing = await missingIn(libs, version)
  if (archive.outcome === 'unpacked' && missing.length === 0) return `archive of ${url.host}`
  const why = archive.outcome === 'unpacked' ? `${url.href} holds no ${missing.join(', ')}` : archive.why
  if (maven.unknown || archive.outcome === 'unknown-version') throw unknownVersion(version, [maven.why, why])
  throw new KxError(
    'environment',
    'KX_KAFKA_JARS',
    `The jars of Kafka ${version} can't be had: ${maven.why}, and ${why}.`,
    {
      suggestions: [
        (await hasMaven(env))
          ? 'See that Maven reaches its repositories (mirror and proxy stand in ~/.m2/settings.xml).'
          : 'Install Maven, e.g.: apt-get install maven; brew install maven',
        'Behind a proxy: set HTTPS_PROXY; with a mirror of the archive: set KX_KAFKA_MIRROR.',
        `Or fetch and unpack kafka_2.13-${version}.tgz by other means, and give its folder with --kafka-home DIR.`,
      ],
    },
  )
}

/** Nothing if Maven did it; else why not. */
async function byMaven(
  {version, signal, progress, env}: Fetching,
  folder: string,
): Promise<{readonly why: string; readonly unknown: boolean} | undefined> {
  if (!(await hasMaven(env))) return {why: 'there is no mvn on the PATH', unknown: false}
  progress(`fetching Kafka ${version} with Maven, about 54 MB`)
  const maven = await copyWithMaven({version, folder, signal, progress, env})
  if (maven.outcome === 'failed') return {why: maven.why, unknown: false}
  if (maven.outcome === 'unknown-version') return {why: "Maven's repositories do not have it", unknown: true}
  const missing = await missingIn(join(folder, 'libs'), version)
  return missing.length > 0 ? {why: `Maven brought no ${missing.join(', ')}`, unknown: false} : undefined
}

/** A folder that is there but not complete (files were deleted) goes aside first; a JVM that reads it keeps its open files. */
async function publish(from: string, to: string): Promise<void> {
  const aside = join(dirname(to), `.old-${process.pid}-${Date.now()}`)
  await rename(to, aside).catch(error => {
    if (systemCode(error) !== 'ENOENT') throw error
  })
  await rename(from, to)
  await rm(aside, {recursive: true, force: true})
}

/** A version becomes part of paths and URLs. */
function mustBeVersion(version: string): void {
  if (!/^\d+\.\d+\.\d+(-[A-Za-z0-9.]+)?$/.test(version)) throw unknownVersion(version, ['a version looks like 4.4.0'])
}

function unknownVersion(version: string, because: readonly string[]): KxError {
  return new KxError(
    'usage',
    'KX_KAFKA_VERSION',
    `There is no Kafka ${version} that kx could start: ${because.join(', and ')}.`,
    {
      suggestions: [`Take one of ${knownVersions.join(', ')}.`],
    },
  )
}

/** Throws if the folder can't be written, or, where it is not there yet, can't be made. */
async function mustBeWritable(folder: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    try {
      await access(join(at, '.'), constants.W_OK | constants.X_OK)
      return
    } catch (error) {
      if (systemCode(error) === 'ENOENT' && at !== dirname(at)) continue
      throw diskError(error, folder, elsewhere)
    }
  }
}
