/** `default`: Kafka's own time-outs. `fast`: broker session 3 s, heartbeat 500 ms, replica lag 5 s; always printed. */
export type Profile = 'default' | 'fast'
export type RuntimeName = 'docker' | 'local'

/** What a cluster is. Plain data; stored with every run and with every standing cluster. */
export interface ClusterSpec {
  readonly brokers: number
  /** Isolated controllers; 0 means that the brokers are controllers too (combined). */
  readonly controllers: number
  readonly kafkaVersion: string
  readonly profile: Profile
  /** Feature levels given at format, e.g. `eligible.leader.replicas.version: 0`. Empty: Kafka's own choice. */
  readonly features: Readonly<Record<string, number>>
  /** Broker settings that win over kx's own. */
  readonly config: Readonly<Record<string, string>>
  readonly heapMiB: number
  /** `c1` starts faster and runs slower: only where nothing is timed. */
  readonly compiler: 'full' | 'c1'
}

export const defaultSpec: ClusterSpec = {
  brokers: 3,
  controllers: 3,
  kafkaVersion: '4.4.0',
  profile: 'default',
  features: {},
  config: {},
  heapMiB: 384,
  compiler: 'full',
}

/** Brokers are 1, 2, 3, …; isolated controllers 101, 102, …. */
export function brokerIds(spec: ClusterSpec): number[] {
  return Array.from({length: spec.brokers}, (_, index) => index + 1)
}

export function controllerIds(spec: ClusterSpec): number[] {
  return spec.controllers === 0 ? brokerIds(spec) : Array.from({length: spec.controllers}, (_, index) => index + 101)
}

/** In which settings two specs differ, one sentence each; empty if they are the same cluster. */
export function differences(standing: ClusterSpec, asked: ClusterSpec): string[] {
  const keys = Object.keys(asked) as (keyof ClusterSpec)[]
  return keys
    .filter(key => canonical(standing[key]) !== canonical(asked[key]))
    .map(key => `${key} is ${canonical(standing[key])}, asked for ${canonical(asked[key])}`)
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))))
}
