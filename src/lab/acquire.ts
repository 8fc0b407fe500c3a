import type {Cluster} from '../cluster/cluster.js'
import {attach, startEphemeral, status} from '../cluster/lifecycle.js'
import type {Lock} from '../cluster/lock.js'
import {settlesWithinMs} from '../cluster/ready.js'
import {type ClusterSpec, defaultSpec, type Profile, type RuntimeName} from '../cluster/spec.js'
import {loadState, lockCluster} from '../cluster/state.js'
import type {AnyExperiment} from '../experiment/experiment.js'
import {messageOf} from '../util/errors.js'

/** Which cluster an experiment asks for; `undefined` means "whatever is there". */
export interface ClusterChoice {
  readonly name?: string
  readonly runtime: 'auto' | RuntimeName
  readonly kafkaVersion?: string
  readonly profile?: Profile
  readonly kafkaHome?: string
  readonly image?: string
  /** Never a standing cluster. */
  readonly fresh: boolean
  /** An ephemeral cluster stays up after the run. */
  readonly keep: boolean
  readonly config: Readonly<Record<string, string>>
  readonly features?: Readonly<Record<string, number>>
  readonly heapMiB?: number
  readonly portBase?: number
  readonly timeoutMs: number
}

export interface Acquired {
  readonly cluster: Cluster
  readonly lock: Lock
  /** One line for people: why this cluster. */
  readonly why: string
}

interface AcquireOptions {
  readonly note: AnyExperiment
  readonly experiment: string
  readonly runId: string
  readonly choice: ClusterChoice
  readonly signal: AbortSignal
  progress(phase: string): void
}

/**
 * The standing cluster if it is up and satisfies the apparatus, else an ephemeral one, `x-<run id>`. A standing cluster is
 * never reconfigured.
 * @throws KxError KX_CLUSTER_BUSY, KX_NO_RUNTIME, KX_TIMEOUT, … (environment)
 */
export async function acquire(options: AcquireOptions): Promise<Acquired> {
  const {choice, note, experiment, runId, signal, progress} = options
  const name = choice.name ?? 'default'
  const objection = choice.fresh ? 'a fresh one was asked for' : await objectionTo(name, options)
  if (objection === undefined) {
    const lock = await lockCluster(name, `kx experiment ${experiment}`)
    return {cluster: await attach(name), lock, why: `on cluster ${name}`}
  }
  const ephemeral = `x-${runId}`
  progress(`starting a cluster for this run (${objection})`)
  const cluster = await startEphemeral({
    name: ephemeral,
    runtime: choice.runtime,
    asked: askedSpec(note, choice),
    timeoutMs: choice.timeoutMs,
    signal,
    progress,
    ...(choice.kafkaHome === undefined ? {} : {kafkaHome: choice.kafkaHome}),
    ...(choice.image === undefined ? {} : {image: choice.image}),
    ...(choice.portBase === undefined ? {} : {portBase: choice.portBase}),
  })
  try {
    return {
      cluster,
      lock: await lockCluster(ephemeral, `kx experiment ${experiment}`),
      why: `on a cluster of its own (${objection})`,
    }
  } catch (error) {
    await cluster.down({wipe: true})
    throw error
  }
}

function askedSpec(note: AnyExperiment, choice: ClusterChoice): Partial<ClusterSpec> {
  return {
    controllers: note.apparatus.controllers,
    profile: choice.profile ?? note.apparatus.profile ?? defaultSpec.profile,
    ...(choice.kafkaVersion === undefined ? {} : {kafkaVersion: choice.kafkaVersion}),
    config: choice.config,
    features: choice.features ?? {},
    heapMiB: choice.heapMiB ?? defaultSpec.heapMiB,
  }
}

/** Why the standing cluster will not do, or nothing. */
async function objectionTo(
  name: string,
  {note, choice, signal}: Pick<AcquireOptions, 'note' | 'choice' | 'signal'>,
): Promise<string | undefined> {
  const state = loadState(name)
  if (!state) return `there is no cluster "${name}"`
  const {spec} = state
  const profile = choice.profile ?? note.apparatus.profile
  const said = `cluster "${name}"`
  if (choice.runtime !== 'auto' && state.runtime !== choice.runtime) return `${said} runs on ${state.runtime}`
  if (choice.kafkaVersion && spec.kafkaVersion !== choice.kafkaVersion) return `${said} runs Kafka ${spec.kafkaVersion}`
  if (profile && spec.profile !== profile) return `${said} has profile ${spec.profile}`
  if (choice.heapMiB !== undefined && spec.heapMiB !== choice.heapMiB) return `${said} has heaps of ${spec.heapMiB} MiB`
  if (choice.image !== undefined && state.detail.image !== choice.image) return `${said} runs another image`
  if (choice.kafkaHome !== undefined || choice.portBase !== undefined) return `${said} was not made with these flags`
  if (spec.brokers !== 3) return `${said} has ${spec.brokers} brokers, not 3`
  if (spec.controllers === 0)
    return `in ${said} the brokers are controllers too, so a broker's fault is a controller's fault`
  const different = Object.entries(choice.config).find(([key, value]) => spec.config[key] !== value)
  if (different) return `${said} has another ${different[0]}`
  try {
    const {ready, missing} = await status(name, settlesWithinMs, signal)
    return ready ? undefined : `${said} is not ready${missing ? `: ${missing}` : ''}`
  } catch (error) {
    if (signal.aborted) throw error
    return `${said} can't be looked at: ${messageOf(error)}`
  }
}
