import {resolve} from 'node:path'
import {messageOf} from '../util/errors.js'
import {cacheFolder} from './cache.js'
import {engineFindings} from './doctor/engine.js'
import {engineFacts} from './doctor/engine-probe.js'
import {type Finding, nodeFinding, settled, warning} from './doctor/finding.js'
import {probeHost, systemFinding} from './doctor/host.js'
import {jarsFacts, jarsFinding, javaFacts, javaFindings} from './doctor/java.js'
import {folderFinding, limitFindings, memoryFindings, portsFinding, processorFinding} from './doctor/machine.js'
import {folderFacts, limitFacts, memoryFacts, portFacts, processors} from './doctor/machine-probe.js'
import {installSecondClient, secondClientFinding} from './doctor/second-client.js'
import {type ClusterSpec, defaultSpec} from './spec.js'
import {stateFolder} from './state.js'

export type {Finding} from './doctor/finding.js'

export interface ExamineOptions {
  /** The cluster that is wanted: its version, number of nodes and heap. The default one if not said. */
  readonly spec?: ClusterSpec
  readonly kafkaHome?: string
  readonly image?: string
  /** Where results go; `./results` if not said. */
  readonly results?: string
  readonly signal?: AbortSignal
  readonly env?: NodeJS.ProcessEnv
}

/**
 * Looks at all that a cluster and an experiment need of this machine, and changes nothing. Each probe is bounded (10 s,
 * the image's registry included), and one that fails is itself a finding. At most one finding per id; the last, `runtime`,
 * says what `--runtime auto` takes, or is the problem that nothing can be started.
 */
export async function examine(options: ExamineOptions = {}): Promise<Finding[]> {
  const {
    spec = defaultSpec,
    kafkaHome,
    image,
    results = 'results',
    env = process.env,
    signal = new AbortController().signal,
  } = options
  const host = await probeHost(env, process.platform)
  const docker = engineFacts({env, host, kafkaVersion: spec.kafkaVersion, signal, ...(image ? {image} : {})})
  const groups = [
    probing('node', async () => [nodeFinding(process.versions.node), systemFinding(host, stateFolder(env))]),
    probing('java', async () => javaFindings(await javaFacts(env, host))),
    probing('jars', async () => [jarsFinding(await jarsFacts(env, host, spec.kafkaVersion, kafkaHome))]),
    probing('docker-engine', async () => engineFindings(await docker)),
    probing('memory', async () => {
      const engine = await docker.then(
        ({info}) => info?.MemTotal,
        () => undefined,
      )
      return [
        processorFinding(processors()),
        ...memoryFindings({...(await memoryFacts()), ...(engine ? {engine} : {})}, spec),
      ]
    }),
    probing('folder-state', async () => [
      folderFinding(await folderFacts('state', stateFolder(env), 'XDG_STATE_HOME')),
    ]),
    probing('folder-cache', async () => [
      folderFinding(await folderFacts('cache', cacheFolder(env), 'XDG_CACHE_HOME')),
    ]),
    probing('folder-results', async () => [folderFinding(await folderFacts('results', resolve(results)))]),
    probing('ports', async () => [portsFinding(await portFacts())]),
    probing('limits', async () => limitFindings(await limitFacts(), host)),
    probing('second-client', async () => [await secondClientFinding(env)]),
  ]
  const findings = (await Promise.all(groups)).flat()
  signal.throwIfAborted()
  return settled(findings)
}

/** What `kx doctor --fix` can do itself, by name. Each answers with one sentence, or throws a KxError. */
export const fixes: Readonly<Record<string, (options: FixRequest) => Promise<string>>> = {
  librdkafka: async ({env = process.env, signal, progress}) =>
    installSecondClient({env, signal, progress, host: await probeHost(env, process.platform)}),
}

export interface FixRequest {
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
  readonly env?: NodeJS.ProcessEnv
}

/** A doctor that dies of what it finds is of no use. */
async function probing(id: string, probe: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await probe()
  } catch (error) {
    return [warning(id, `This could not be examined: ${messageOf(error)}`)]
  }
}
