import {readFileSync} from 'node:fs'
import {arch, cpus, platform, release, totalmem} from 'node:os'
import type {Cluster} from '../cluster/cluster.js'
import type {Environment} from '../experiment/run.js'
import {describeConfigs} from '../wire/admin-requests.js'
import {experimentHash} from './experiments.js'
import {isSecretName} from './redact.js'
import type {ClusterView} from './view.js'

export function kxVersion(): string {
  const path = new URL(
    import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json',
    import.meta.url,
  )
  return (JSON.parse(readFileSync(path, 'utf8')) as {version: string}).version
}

/** Settings that are stored with every run, as the broker itself tells them. */
const telling =
  /^(broker\.(session|heartbeat)|replica\.(lag|fetch\.wait)|min\.insync|default\.replication|unclean|auto\.|log\.(flush|segment\.bytes|retention\.check)|num\.(network|io|replica)|offsets\.topic|transaction\.state|inter\.broker\.protocol)/

/** Versions and settings as observed, not as asked for. */
export async function observeEnvironment(
  view: ClusterView,
  cluster: Cluster,
  experiment: string,
): Promise<Environment> {
  const broker = cluster.brokers[0]?.nodeId ?? 1
  const features = await view.ask(broker, async connection => connection.features)
  const configs = await view.ask(broker, connection =>
    describeConfigs(connection, {type: 'broker', name: String(broker)}),
  )
  const brokerConfig = Object.fromEntries(
    configs
      .filter(({name, value}) => value !== null && (telling.test(name) || name in cluster.spec.config))
      .map(({name, value}) => [name, isSecretName(name) ? '[hidden]' : String(value)])
      .sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1)),
  )
  return {
    kx: kxVersion(),
    node: process.versions.node,
    kafka: cluster.spec.kafkaVersion,
    runtime: cluster.runtime,
    platform: `${platform()} ${release()} ${arch()}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cpus: cpus().length,
    memoryMiB: Math.round(totalmem() / 1_048_576),
    features: Object.fromEntries(features),
    brokerConfig,
    experimentHash: experimentHash(experiment),
  }
}
