/** What the records of `__cluster_metadata` up to an offset add up to (org.apache.kafka.image.MetadataImage, and what KRaft's control records say). */
export interface MetadataState {
  /** Of the last record that is in it; −1: none, or it is not known (a snapshot whose name says nothing). */
  offset: bigint
  /** Of that record; −1: not known. */
  epoch: number
  /** Append time of the last batch, ms since 1970; −1: not known. */
  timestamp: bigint
  readonly quorum: Quorum
  /** Finalized levels by name. Those that were set to 0 are gone, but for `metadata.version`. */
  readonly features: Map<string, number>
  /** 0 NONE, 1 PRE_MIGRATION, 2 MIGRATION, 3 POST_MIGRATION, 4 ZK. */
  zkMigrationState: number
  readonly brokers: Map<number, Broker>
  readonly controllers: Map<number, Controller>
  /** By topic id. */
  readonly topics: Map<string, Topic>
  /** Topic ids by name. */
  readonly topicIds: Map<string, string>
  /** By resource: see {@link resourceKey}. */
  readonly configs: Map<string, ResourceConfig>
  /** By entity. */
  readonly clientQuotas: Map<string, ClientQuota>
  /** The first producer id that no broker was given; `undefined`: none was given. */
  nextProducerId: bigint | undefined
  /** By id. */
  readonly acls: Map<string, Acl>
  /** By user and mechanism. */
  readonly scramCredentials: Map<string, ScramCredential>
  /** By token id. */
  readonly delegationTokens: Map<string, DelegationToken>
  /** Lists that are the same in many partitions are there once. */
  readonly shared: SharedLists
}

export interface Quorum {
  /** As the last LEADER_CHANGE says; `undefined`: none was seen (snapshots have none). */
  leaderId: number | undefined
  leaderEpoch: number
  /** 0: voters are a setting of each node, and the log only names them; 1: they are in the log (KIP-853). */
  kraftVersion: number
  voters: readonly Voter[]
}

export interface Voter {
  readonly voterId: number
  /** `undefined` with kraft.version 0. */
  readonly directoryId: string | undefined
  readonly endpoints: readonly Endpoint[]
}

export interface Endpoint {
  readonly name: string
  readonly host: string
  readonly port: number
  /** As a number (org.apache.kafka.common.security.auth.SecurityProtocol). */
  readonly securityProtocol?: number
}

export interface SupportedFeature {
  readonly name: string
  readonly minSupportedVersion: number
  readonly maxSupportedVersion: number
}

export interface Broker {
  readonly brokerId: number
  readonly brokerEpoch: bigint
  readonly incarnationId: string
  readonly fenced: boolean
  readonly inControlledShutdown: boolean
  readonly isMigratingZkBroker: boolean
  readonly rack: string | null
  readonly endpoints: readonly Endpoint[]
  readonly features: readonly SupportedFeature[]
  readonly logDirs: readonly string[]
  /** `null`: the broker did not say. */
  readonly cordonedLogDirs: readonly string[] | null
}

export interface Controller {
  readonly controllerId: number
  readonly incarnationId: string
  readonly zkMigrationReady: boolean
  readonly endpoints: readonly Endpoint[]
  readonly features: readonly SupportedFeature[]
}

export interface Topic {
  readonly name: string
  readonly topicId: string
  readonly partitions: Map<number, Partition>
}

/** As org.apache.kafka.metadata.PartitionRegistration. */
export interface Partition {
  readonly replicas: readonly number[]
  /** Of each replica; see {@link migratingDirectory}. */
  readonly directories: readonly string[]
  readonly inSyncReplicas: readonly number[]
  readonly removingReplicas: readonly number[]
  readonly addingReplicas: readonly number[]
  /** −1: none. */
  readonly leader: number
  /** 1: the leader was elected uncleanly, and is recovering. */
  readonly leaderRecoveryState: number
  readonly leaderEpoch: number
  readonly partitionEpoch: number
  readonly eligibleLeaderReplicas: readonly number[]
  readonly lastKnownEligibleLeaderReplicas: readonly number[]
}

export interface ResourceConfig {
  /** 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group (org.apache.kafka.common.config.ConfigResource.Type). */
  readonly resourceType: number
  /** Empty: the default of all brokers. */
  readonly resourceName: string
  readonly values: Map<string, string>
}

export interface ClientQuota {
  /** `null`: the default of that type. */
  readonly entity: readonly {readonly entityType: string; readonly entityName: string | null}[]
  readonly values: Map<string, number>
}

export interface Acl {
  readonly id: string
  readonly resourceType: number
  readonly resourceName: string
  readonly patternType: number
  readonly principal: string
  readonly host: string
  readonly operation: number
  readonly permissionType: number
}

export interface ScramCredential {
  readonly user: string
  readonly mechanism: number
  readonly iterations: number
  readonly secret: Secret
}

export interface DelegationToken {
  readonly tokenId: string
  readonly owner: string
  readonly requester: string
  readonly renewers: readonly string[]
  readonly issueTimestamp: bigint
  readonly maxTimestamp: bigint
  readonly expirationTimestamp: bigint
}

/** What is compared and never shown: nothing that writes objects finds it. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  equals(other: Secret | undefined): boolean {
    return other !== undefined && this.#text === other.#text
  }
}

/** Of a million replicas there are a few hundred assignments. */
export class SharedLists {
  readonly #lists = new Map<string, readonly (string | number)[]>()

  /** A list with these items, and maybe not this one. */
  of<Item extends string | number>(items: readonly Item[]): readonly Item[] {
    const key = items.join(' ')
    const known = this.#lists.get(key)
    if (known) return known as readonly Item[]
    this.#lists.set(key, items)
    return items
  }
}

/** org.apache.kafka.common.DirectoryId: a replica whose directory nobody has told yet. */
export const migratingDirectory = 'AAAAAAAAAAAAAAAAAAAAAA'

/** Before the first record. */
export function emptyState(): MetadataState {
  return {
    offset: -1n,
    epoch: -1,
    timestamp: -1n,
    quorum: {leaderId: undefined, leaderEpoch: -1, kraftVersion: 0, voters: []},
    features: new Map(),
    zkMigrationState: 0,
    brokers: new Map(),
    controllers: new Map(),
    topics: new Map(),
    topicIds: new Map(),
    configs: new Map(),
    clientQuotas: new Map(),
    nextProducerId: undefined,
    acls: new Map(),
    scramCredentials: new Map(),
    delegationTokens: new Map(),
    shared: new SharedLists(),
  }
}

export function resourceKey(resourceType: number, resourceName: string): string {
  return `${resourceType} ${resourceName}`
}
