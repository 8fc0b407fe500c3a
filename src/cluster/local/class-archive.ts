import {access, mkdir, readdir, rename, rm, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {messageOf} from '../../util/errors.js'
import {until} from '../../util/until.js'
import {brokerConfig, type Listeners, type Place, toProperties} from '../broker-config.js'
import {tryLock} from '../lock.js'
import {isAlive, type ProcessIdentity} from '../owner.js'
import {probe} from '../probe.js'
import {defaultSpec} from '../spec.js'
import {nodeFolder, nodeFolders} from './folders.js'
import {formatNodes, randomUuid} from './format.js'
import {jvmEnvironment, type KafkaJvm, log4jConfig, nodeArguments, nodeMark} from './jvm.js'
import {tail} from './log-files.js'
import {signal as sendSignal, startDetached, untilGone} from './process.js'

export interface ClassArchiveRequest {
  readonly jvm: KafkaJvm
  /** Where class archives are kept, one per Java and Kafka. */
  readonly cache: string
  /** The folder of the cluster that is about to start: the training node lives in it, and is found there after a crash. */
  readonly clusterFolder: string
  /** Addresses that the training node may use. */
  readonly place: Omit<Place, 'logDir'>
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
}

/** The training node has no other number in its cluster. */
const trainingId = 1

/**
 * An AppCDS archive (JEP 350) of the classes of a Kafka node: with it a JVM needs half the CPU until it is ready. It is
 * made once per Java and Kafka, by a node that starts and stops. Whatever goes wrong, the answer is "none", with the
 * reason as progress: a cluster starts without it too.
 */
export async function classArchive(request: ClassArchiveRequest): Promise<string | undefined> {
  const {jvm, cache, signal, progress} = request
  const path = join(cache, 'class-archives', `${jvm.fingerprint}.jsa`)
  if (await exists(path)) return path
  try {
    await mkdir(dirname(path), {recursive: true})
    using lock = await lockOf(path)
    // Another kx makes it right now: this start goes without rather than wait.
    if (!lock) return undefined
    progress('making a class archive for quick starts (once per Java and Kafka version, about 10 s)')
    const draft = `${path}.new`
    await train(request, draft)
    await rename(draft, path)
    await forgetOld(dirname(path))
    return path
  } catch (error) {
    if (signal.aborted) throw error
    progress(`starting without a class archive, which takes longer: ${messageOf(error)}`)
    return undefined
  } finally {
    await rm(nodeFolder(request.clusterFolder, 0), {recursive: true, force: true})
  }
}

async function lockOf(path: string): Promise<Disposable | undefined> {
  const lock = await tryLock(`${path}.lock`, 'making a class archive')
  return 'heldBy' in lock ? undefined : lock
}

/** Starts one combined node that writes the archive at its exit, lets it come up, and stops it. */
async function train({jvm, clusterFolder, place, signal}: ClassArchiveRequest, archive: string): Promise<void> {
  const folders = nodeFolders(nodeFolder(clusterFolder, 0))
  const spec = {...defaultSpec, brokers: 1, controllers: 0, kafkaVersion: jvm.kafkaVersion}
  const here: Place = {...place, logDir: folders.data}
  await mkdir(folders.tmp, {recursive: true})
  await formatNodes({
    jvm,
    spec,
    clusterId: randomUuid(),
    nodes: [{nodeId: trainingId, roles: ['broker', 'controller'], place: here}],
    cache: folders.folder,
    work: folders.folder,
    signal,
  })
  await writeFile(folders.properties, toProperties(brokerConfig(spec, trainingId, here)))
  await writeFile(folders.log4j, log4jConfig(folders.log))
  await rm(archive, {force: true})
  const node = await startDetached({
    executable: jvm.java.executable,
    args: nodeArguments({
      ...folders,
      heapMiB: spec.heapMiB,
      compiler: 'c1',
      archive: [`-XX:ArchiveClassesAtExit=${archive}`, '-Xlog:cds=off,cds+dynamic=off'],
    }),
    env: jvmEnvironment(jvm),
    folder: folders.folder,
    output: folders.output,
  })
  try {
    const {CLIENT} = place.listeners as Required<Listeners>
    await untilStarted(node, folders.log, signal)
    // What a broker does first belongs into the archive too.
    await probe([{nodeId: trainingId, address: `${CLIENT.host}:${CLIENT.port}`}], {
      timeoutMs: 20_000,
      signal,
      lastLines: async () => '',
    })
    await sendSignal(node, nodeMark(folders.properties), 'SIGTERM')
    await untilGone(node, 'the node that makes the class archive', 60_000)
  } finally {
    if (await sendSignal(node, nodeMark(folders.properties), 'SIGKILL'))
      await untilGone(node, 'the node that makes the class archive', 20_000)
  }
  if ((await stat(archive)).size === 0) throw new Error('Java wrote an empty archive')
}

async function untilStarted(node: ProcessIdentity, log: string, signal: AbortSignal): Promise<void> {
  await until(
    'the node that makes the class archive to start',
    async () => {
      if (!(await isAlive(node))) throw new Error(`it ended: ${(await tail(log, 3)).join(' ')}`)
      return (await tail(log, 200)).some(line => line.includes('Kafka Server started')) ? true : undefined
    },
    {timeoutMs: 60_000, everyMs: 100, signal},
  )
}

/** Each is 50 MB, and every update of Java or Kafka makes another. */
async function forgetOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => name.endsWith('.jsa'))
  const found = await Promise.all(names.map(async name => ({name, madeMs: (await stat(join(folder, name))).mtimeMs})))
  const old = found.sort((a, b) => b.madeMs - a.madeMs).slice(3)
  await Promise.all(old.map(({name}) => rm(join(folder, name), {force: true})))
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
