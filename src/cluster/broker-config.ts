import {KxError} from '../util/errors.js'
import type {Endpoint} from '../wire/types.js'
import type {Role} from './cluster.js'
import {brokerIds, type ClusterSpec, controllerIds, type Profile} from './spec.js'

/** CLIENT serves clients, REPL the brokers among themselves (`inter.broker.listener.name`), CTRL the quorum. */
export type ListenerName = 'CLIENT' | 'REPL' | 'CTRL'

export type Listeners = Readonly<Partial<Record<ListenerName, Endpoint>>>

/** Where a node lives: all that `brokerConfig` must be told beside the spec, and all in which runtimes differ. */
export interface Place {
  /** Where its sockets are bound; an empty host is every interface. Listeners that the node's roles lack are left out. */
  readonly listeners: Listeners
  /** What it tells others to connect to. A broker needs CLIENT and REPL; CTRL only where it differs from `listeners`. */
  readonly advertised: Listeners
  /** Every controller of the quorum, as its peers reach it. */
  readonly voters: readonly Voter[]
  /** The one log directory (`log.dirs`), which holds the metadata log too. */
  readonly logDir: string
}

export interface Voter extends Endpoint {
  readonly nodeId: number
}

/** Settings that say which node this is. A cluster in which the user moves one of them is no cluster of kx any more. */
const ownedByKx = new Set([
  'node.id',
  'broker.id',
  'process.roles',
  'listeners',
  'advertised.listeners',
  'listener.security.protocol.map',
  'inter.broker.listener.name',
  'security.inter.broker.protocol',
  'controller.listener.names',
  'controller.quorum.voters',
  'controller.quorum.bootstrap.servers',
  'log.dir',
  'log.dirs',
  'metadata.log.dir',
])

const profiles: Readonly<Record<Profile, Readonly<Record<string, string>>>> = {
  // Kafka's own time-outs, written down so that they are stored with the run even if a later Kafka moves them.
  default: {
    'broker.session.timeout.ms': '9000',
    'broker.heartbeat.interval.ms': '2000',
    'replica.lag.time.max.ms': '30000',
  },
  fast: {
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    'replica.lag.time.max.ms': '5000',
  },
}

/** The roles of a node: brokers are 1, 2, …; isolated controllers 101, 102, …; with 0 controllers brokers are both. */
export function rolesOf(spec: ClusterSpec, nodeId: number): readonly Role[] {
  const roles: Role[] = []
  if (brokerIds(spec).includes(nodeId)) roles.push('broker')
  if (controllerIds(spec).includes(nodeId)) roles.push('controller')
  return roles
}

/** Every node of the cluster once, brokers first. */
export function nodeIds(spec: ClusterSpec): number[] {
  return [...new Set([...brokerIds(spec), ...controllerIds(spec)])]
}

/**
 * The settings of one node, by Kafka's own names: the only source of them for every way of starting it.
 * Docker turns the names into `KAFKA_…` variables, local writes them as `server.properties`.
 * `spec.config` wins over everything but the settings that make the node this node.
 * @throws KxError KX_CONFIG_RESERVED (usage) if `spec.config` names one of those.
 */
export function brokerConfig(spec: ClusterSpec, nodeId: number, place: Place): Record<string, string> {
  checkUserConfig(spec.config)
  const roles = rolesOf(spec, nodeId)
  const isBroker = roles.includes('broker')
  return {
    'node.id': String(nodeId),
    'process.roles': roles.join(','),
    listeners: listenerList(place.listeners, roles),
    // A controller says its address through the voters; advertised.listeners of a controller alone may stay unset.
    ...(isBroker || place.advertised.CTRL ? {'advertised.listeners': listenerList(place.advertised, roles)} : {}),
    'listener.security.protocol.map': 'CLIENT:PLAINTEXT,REPL:PLAINTEXT,CTRL:PLAINTEXT',
    ...(isBroker ? {'inter.broker.listener.name': 'REPL'} : {}),
    'controller.listener.names': 'CTRL',
    // Static voters: a dynamic quorum would need directory ids at format, and nothing here ever changes the quorum.
    'controller.quorum.voters': place.voters.map(({nodeId: id, host, port}) => `${id}@${host}:${port}`).join(','),
    'log.dirs': place.logDir,
    ...rig(spec),
    ...profiles[spec.profile],
    ...spec.config,
  }
}

/** What makes experiments honest and starts quick (docs/DESIGN.md, "The rig"). */
function rig(spec: ClusterSpec): Record<string, string> {
  const replicas = String(Math.min(3, spec.brokers))
  const minIsr = String(Math.min(2, spec.brokers))
  return {
    'auto.create.topics.enable': 'false',
    // Leadership moves only when an experiment moves it.
    'auto.leader.rebalance.enable': 'false',
    'num.partitions': '1',
    'default.replication.factor': replicas,
    // min.insync.replicas is not set here: with eligible leader replicas (4.1+) Kafka forbids it per broker (KIP-966).
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': minIsr,
    'transaction.state.log.num.partitions': '4',
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': minIsr,
    'share.coordinator.state.topic.num.partitions': '4',
    // Kafka's 3 s would be noise in every measurement of a rebalance.
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '1000',
    'group.consumer.min.session.timeout.ms': '1000',
    'group.consumer.min.heartbeat.interval.ms': '1000',
    // Read only at start, so it must be small from the beginning for experiments on retention.
    'log.retention.check.interval.ms': '1000',
    // Internal, but without it the first check (retention, cleaner) comes 30 s after the start.
    'log.initial.task.delay.ms': '1000',
    'log.cleaner.backoff.ms': '500',
    // Kafka's 128 MiB is allocated at start and does not fit a small heap.
    'log.cleaner.dedupe.buffer.size': '4194304',
    'num.network.threads': '2',
    'num.io.threads': '4',
    'num.replica.fetchers': '1',
  }
}

function checkUserConfig(config: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(config).filter(name => ownedByKx.has(name) || name.startsWith('listener.name.'))
  if (reserved.length === 0) return
  throw new KxError(
    'usage',
    'KX_CONFIG_RESERVED',
    `${reserved.join(', ')} can't be set with --config: kx chooses it for each node, or the nodes would not find each other.`,
    {suggestions: ['Leave it out. Ports are chosen with --port-base, node counts with --brokers and --controllers.']},
  )
}

function listenerList(listeners: Listeners, roles: readonly Role[]): string {
  const names: ListenerName[] = [
    ...(roles.includes('broker') ? (['CLIENT', 'REPL'] as const) : []),
    ...(roles.includes('controller') ? (['CTRL'] as const) : []),
  ]
  return names
    .flatMap(name => {
      const endpoint = listeners[name]
      return endpoint ? [`${name}://${endpoint.host}:${endpoint.port}`] : []
    })
    .join(',')
}

/** A Java properties file (java.util.Properties), names in the given order. Every value comes back as it was. */
export function toProperties(config: Readonly<Record<string, string>>): string {
  return Object.entries(config)
    .map(
      ([name, value]) =>
        `${escapeProperty(name).replace(/[=: ]/g, '\\$&')}=${escapeProperty(value).replace(/^ /, '\\ ')}\n`,
    )
    .join('')
}

function escapeProperty(text: string): string {
  return text
    .replace(/\\/g, '\\\\')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t')
    .replace(/\f/g, '\\f')
    .replace(/^[#!]/, '\\$&')
    .replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
