import {KxError} from '../../util/errors.js'
import {interrupted, within} from '../../util/until.js'
import type {KafkaTool} from '../cluster.js'
import {replicationAddresses} from '../compose.js'
import type {ClusterSpec} from '../spec.js'
import {toolFailed} from '../tool.js'
import type {Engine} from './engine.js'
import {oneShotFolder, runOneShot} from './one-shot.js'

const dumpTimeoutMs = 120_000
const graceMs = 30_000
const jvm = ['KAFKA_HEAP_OPTS=-Xmx384m', 'KAFKA_JVM_PERFORMANCE_OPTS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1']

export interface ToolContext {
  readonly cluster: string
  readonly project: string
  readonly image: string
  readonly spec: ClusterSpec
}

/**
 * Kafka's own dump tool over copies of these files, in a container of its own without network. Paths in the output are the
 * names as given.
 * @throws KxError KX_DUMP_LOG (environment) with the tool's first line if it fails; KX_INTERRUPTED once the signal has fired
 */
export async function dumpInContainer(
  engine: Engine,
  {cluster, image}: Pick<ToolContext, 'cluster' | 'image'>,
  files: readonly {readonly name: string; readonly bytes: Buffer}[],
  flags: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const what = "Kafka's dump tool"
  if (signal?.aborted) throw interrupted(what)
  const run = runOneShot(engine, {
    what: 'the dump tool',
    cluster,
    image,
    command: ['/opt/kafka/bin/kafka-dump-log.sh', '--files', files.map(({name}) => name).join(','), ...flags],
    environment: jvm,
    files,
    timeoutMs: dumpTimeoutMs,
    ...(signal ? {signal} : {}),
  })
  // Its container is removed then, which the engine tells as an error of whatever was asked of it.
  const {exitCode, outOfMemory, stdout, stderr} = await run.catch(error => {
    throw signal?.aborted ? interrupted(what) : error
  })
  if (signal?.aborted) throw interrupted(what)
  if (exitCode === 0) return stdout
  const why = outOfMemory ? 'it ran out of memory' : firstLine(stderr || stdout)
  throw new KxError('environment', 'KX_DUMP_LOG', `kafka-dump-log failed with exit code ${exitCode}: ${why}.`)
}

/** Any other tool, in a container of its own on the cluster's network, where the brokers have their own names. */
export async function toolInContainer(
  engine: Engine,
  {cluster, project, image, spec}: ToolContext,
  {what, mainClass, files, arguments: args, timeoutMs, signal}: KafkaTool,
): Promise<{readonly stdout: string; readonly stderr: string}> {
  signal.throwIfAborted()
  const path = (name: string) => `${oneShotFolder}/${name}`
  const place = {bootstrapServers: replicationAddresses(spec).join(','), path}
  const run = runOneShot(engine, {
    what,
    cluster,
    image,
    network: `${project}_default`,
    command: ['/opt/kafka/bin/kafka-run-class.sh', mainClass, ...args(place)],
    environment: [...jvm, `KAFKA_LOG4J_OPTS=-Dlog4j2.configurationFile=${path('log4j2.properties')}`],
    files: files.map(({name, text}) => ({name, bytes: Buffer.from(text)})),
    timeoutMs,
    signal,
  })
  const {exitCode, stdout, stderr} = await within(what, timeoutMs + graceMs, run)
  signal.throwIfAborted()
  if (exitCode !== 0) throw toolFailed(what, exitCode, stderr || stdout)
  return {stdout, stderr}
}

/** The dump tool says what is wrong first, and then how it is used, or a stack trace. */
function firstLine(text: string): string {
  const lines = text.split('\n').filter(line => line.trim() !== '' && !/^Picked up |WARN/.test(line))
  return lines[0]?.trim().replace(/\.$/, '') ?? 'it said nothing'
}
