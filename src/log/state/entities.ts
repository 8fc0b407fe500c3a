import {plural} from '../../util/format.js'
import {compare} from './apply-cluster.js'
import * as names from './names.js'
import {type Endpoint, type MetadataState, type Partition, Secret, type SupportedFeature, type Topic} from './state.js'

/** In the order in which they are listed. */
export const entityKinds = [
  'quorum',
  'voter',
  'feature',
  'zk-migration',
  'controller',
  'broker',
  'topic',
  'partition',
  'config',
  'client-quota',
  'producer-ids',
  'acl',
  'scram-credential',
  'delegation-token',
] as const
export type EntityKind = (typeof entityKinds)[number]

export type FieldValue = string | number | bigint | boolean | null | readonly (string | number)[]

/** One thing that the state holds, as it is shown and compared. */
export interface Entity {
  readonly kind: EntityKind
  /** The same in two states if it is the same thing: topics by id, so that one made anew is another one. */
  readonly id: string
  /** For people. */
  readonly label: string
  readonly fields: Readonly<Record<string, FieldValue>>
  /** Compared, never shown. */
  readonly secret?: Secret
}

/** How texts that users chose are shown: names of topics, users and hosts, values of settings. */
export type Told = <Text extends string | null>(text: Text) => Text

export const plainly: Told = text => text

/** `--redact`: only how long they are. Ids, numbers and Kafka's own words stay. */
export const redacted: Told = text =>
  (text === null || text === '' ? text : `<redacted, ${plural(Buffer.byteLength(text), 'byte')}>`) as typeof text

const hidden = '[hidden]'

/** Everything that a state holds, by kind and then by name, id or number. */
export function* eachEntity(state: MetadataState, told: Told = plainly): Generator<Entity> {
  yield* quorum(state, told)
  yield* features(state)
  yield* nodes(state, told)
  yield* topics(state, told)
  yield* configs(state, told)
  yield* clientQuotas(state, told)
  const {nextProducerId} = state
  if (nextProducerId !== undefined) yield one('producer-ids', '', 'producer ids', {nextProducerId})
  yield* users(state, told)
}

/** {@link eachEntity}, all of them. */
export function entitiesOf(state: MetadataState, told: Told = plainly): readonly Entity[] {
  return [...eachEntity(state, told)]
}

/** Items by what a function says of them, in their order. */
export function groupsOf<Key, Item>(
  items: readonly Item[],
  key: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group) group.push(item)
    else groups.set(key(item), [item])
  }
  return groups
}

function one(kind: EntityKind, id: string, label: string, fields: Entity['fields'], secret?: Secret): Entity {
  return {kind, id, label, fields, ...(secret && {secret})}
}

function sorted<K extends string | number, V>(map: ReadonlyMap<K, V>): readonly V[] {
  return [...map].sort(([a], [b]) => compare(a, b)).map(([, value]) => value)
}

function quorum({quorum: {leaderId, leaderEpoch, kraftVersion, voters}}: MetadataState, told: Told): Entity[] {
  return [
    one('quorum', '', 'quorum', {
      leaderId: leaderId ?? null,
      leaderEpoch: leaderEpoch < 0 ? null : leaderEpoch,
      kraftVersion,
    }),
    ...voters.map(({voterId, directoryId, endpoints}) =>
      one('voter', `${voterId} ${directoryId ?? ''}`, `voter ${voterId}`, {
        voterId,
        directoryId: directoryId ?? null,
        endpoints: endpointTexts(endpoints, told),
      }),
    ),
  ]
}

function features({features: levels, zkMigrationState}: MetadataState): Entity[] {
  const entities = [...levels]
    .sort(([a], [b]) => compare(a, b))
    .map(([name, featureLevel]) => {
      const level = {name, featureLevel}
      const isVersion = name === 'metadata.version'
      const release = isVersion ? {...level, release: names.nameIn(names.metadataVersions, featureLevel)} : level
      return one('feature', name, name, release)
    })
  if (zkMigrationState === 0) return entities
  const zk = names.nameIn(names.zkMigrationStates, zkMigrationState)
  return [...entities, one('zk-migration', '', 'migration from ZooKeeper', {zkMigrationState: zk})]
}

function nodes({controllers, brokers}: MetadataState, told: Told): Entity[] {
  return [
    ...sorted(controllers).map(({controllerId, incarnationId, zkMigrationReady, endpoints, features: supported}) =>
      one('controller', String(controllerId), `controller ${controllerId}`, {
        controllerId,
        incarnationId,
        endpoints: endpointTexts(endpoints, told),
        features: featureTexts(supported),
        ...(zkMigrationReady && {zkMigrationReady}),
      }),
    ),
    ...sorted(brokers).map(broker =>
      one('broker', String(broker.brokerId), `broker ${broker.brokerId}`, {
        brokerId: broker.brokerId,
        brokerEpoch: broker.brokerEpoch,
        fenced: broker.fenced,
        inControlledShutdown: broker.inControlledShutdown,
        rack: told(broker.rack),
        endpoints: endpointTexts(broker.endpoints, told),
        incarnationId: broker.incarnationId,
        logDirs: broker.logDirs,
        cordonedLogDirs: broker.cordonedLogDirs,
        features: featureTexts(broker.features),
        ...(broker.isMigratingZkBroker && {isMigratingZkBroker: true}),
      }),
    ),
  ]
}

function endpointTexts(endpoints: readonly Endpoint[], told: Told): readonly string[] {
  return endpoints.map(({name, host, port, securityProtocol}) => {
    const protocol = securityProtocol === undefined ? name : names.nameIn(names.securityProtocols, securityProtocol)
    const listener = protocol === name ? '' : ` (${protocol})`
    return `${name}://${told(host)}:${port}${listener}`
  })
}

function featureTexts(features: readonly SupportedFeature[]): readonly string[] {
  return features.map(({name, minSupportedVersion, maxSupportedVersion}) =>
    minSupportedVersion === maxSupportedVersion
      ? `${name} ${minSupportedVersion}`
      : `${name} ${minSupportedVersion}-${maxSupportedVersion}`,
  )
}

function* topics(state: MetadataState, told: Told): Generator<Entity> {
  const all = [...state.topics.values()].sort((a, b) => compare(a.name, b.name) || compare(a.topicId, b.topicId))
  for (const {
    name,
    topicId,
    partitions: {size},
  } of all) {
    yield one('topic', topicId, `topic ${told(name)}`, {name: told(name), topicId, partitions: size})
  }
  for (const topic of all) yield* partitions(topic, told)
}

function partitions({name, topicId, partitions: all}: Topic, told: Told): Entity[] {
  return [...all]
    .sort(([a], [b]) => a - b)
    .map(([partition, fields]) =>
      one('partition', `${topicId} ${partition}`, `partition ${told(name)}-${partition}`, {
        topic: told(name),
        partition,
        ...partitionFields(fields),
        topicId,
      }),
    )
}

function partitionFields({leaderRecoveryState, ...rest}: Partition): Entity['fields'] {
  return {
    leader: rest.leader,
    leaderEpoch: rest.leaderEpoch,
    partitionEpoch: rest.partitionEpoch,
    replicas: rest.replicas,
    inSyncReplicas: rest.inSyncReplicas,
    eligibleLeaderReplicas: rest.eligibleLeaderReplicas,
    lastKnownEligibleLeaderReplicas: rest.lastKnownEligibleLeaderReplicas,
    addingReplicas: rest.addingReplicas,
    removingReplicas: rest.removingReplicas,
    leaderRecoveryState: names.nameIn(names.leaderRecoveryStates, leaderRecoveryState),
    directories: rest.directories,
  }
}

function configs(state: MetadataState, told: Told): Entity[] {
  return [...state.configs.values()]
    .sort((a, b) => a.resourceType - b.resourceType || compare(a.resourceName, b.resourceName))
    .flatMap(({resourceType, resourceName, values}) => {
      const type = names.nameIn(names.configResourceTypes, resourceType)
      // Brokers have numbers for names.
      const shown = /^\d*$/.test(resourceName) && type.startsWith('BROKER') ? resourceName : told(resourceName)
      const resource = shown === '' ? 'default' : shown
      return [...values]
        .sort(([a], [b]) => compare(a, b))
        .map(([name, value]) => {
          const isSecret = names.isSecretSetting(name)
          const fields = {
            resourceType: type,
            resourceName: shown,
            name,
            value: isSecret ? hidden : told(value),
          }
          const label = `setting of ${type.toLowerCase().replaceAll('_', ' ')} ${resource}: ${name}`
          return one('config', `${resourceType} ${resourceName} ${name}`, label, fields, new Secret(value))
        })
    })
}

function clientQuotas(state: MetadataState, told: Told): Entity[] {
  return sorted(state.clientQuotas).flatMap(({entity, values}) => {
    const id = JSON.stringify(entity)
    const of = entity.map(
      ({entityType, entityName}) => `${entityType} ${entityName === null ? 'default' : told(entityName)}`,
    )
    return [...values]
      .sort(([a], [b]) => compare(a, b))
      .map(([key, value]) =>
        one('client-quota', `${id} ${key}`, `quota of ${of.join(', ')}: ${key}`, {entity: of, key, value}),
      )
  })
}

function users(state: MetadataState, told: Told): Entity[] {
  return [
    ...sorted(state.acls).map(acl =>
      one('acl', acl.id, `acl ${acl.id}`, {
        id: acl.id,
        permissionType: names.nameIn(names.aclPermissions, acl.permissionType),
        principal: told(acl.principal),
        host: told(acl.host),
        operation: names.nameIn(names.aclOperations, acl.operation),
        resourceType: names.nameIn(names.aclResourceTypes, acl.resourceType),
        patternType: names.nameIn(names.patternTypes, acl.patternType),
        resourceName: told(acl.resourceName),
      }),
    ),
    ...[...state.scramCredentials.values()]
      .sort((a, b) => compare(a.user, b.user) || a.mechanism - b.mechanism)
      .map(({user, mechanism, iterations, secret}) => {
        const name = names.nameIn(names.scramMechanisms, mechanism)
        const fields = {user: told(user), mechanism: name, iterations}
        return one('scram-credential', `${mechanism} ${user}`, `${name} credential of ${told(user)}`, fields, secret)
      }),
    ...sorted(state.delegationTokens).map(token =>
      one('delegation-token', token.tokenId, `delegation token ${told(token.tokenId)}`, {
        tokenId: told(token.tokenId),
        owner: told(token.owner),
        requester: told(token.requester),
        renewers: token.renewers.map(told),
        issueTimestamp: token.issueTimestamp,
        maxTimestamp: token.maxTimestamp,
        expirationTimestamp: token.expirationTimestamp,
      }),
    ),
  ]
}
