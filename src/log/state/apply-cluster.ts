import type {Broker, Endpoint, MetadataState, SupportedFeature} from './state.js'

// How records about brokers, controllers and features change the state, as org.apache.kafka.image.ClusterDelta and
// FeaturesDelta do it. What is returned says why a record does not fit the state.

/** Lists whose order says nothing are sorted: a snapshot has another one than the log. */
const byName = (a: {readonly name: string}, b: {readonly name: string}) => compare(a.name, b.name)

export function compare<T extends string | number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

interface RegisterBroker {
  readonly brokerId: number
  readonly isMigratingZkBroker?: boolean
  readonly incarnationId: string
  readonly brokerEpoch: bigint
  readonly endPoints: readonly Endpoint[]
  readonly features: readonly SupportedFeature[]
  readonly rack: string | null
  readonly fenced: boolean
  readonly inControlledShutdown?: boolean
  readonly logDirs?: readonly string[]
  readonly cordonedLogDirs?: readonly string[] | null
}

export function registerBroker(state: MetadataState, record: RegisterBroker): undefined {
  const {brokerId, brokerEpoch, incarnationId, fenced, rack} = record
  state.brokers.set(brokerId, {
    brokerId,
    brokerEpoch,
    incarnationId,
    fenced,
    inControlledShutdown: record.inControlledShutdown ?? false,
    isMigratingZkBroker: record.isMigratingZkBroker ?? false,
    rack,
    endpoints: endpointsOf(record.endPoints),
    features: featuresOf(record.features),
    logDirs: [...(record.logDirs ?? [])].sort(),
    cordonedLogDirs: record.cordonedLogDirs ? [...record.cordonedLogDirs].sort() : null,
  })
}

export function unregisterBroker(state: MetadataState, {brokerId}: {readonly brokerId: number}): undefined {
  state.brokers.delete(brokerId)
}

export function fenceBroker(
  state: MetadataState,
  {id, epoch}: {readonly id: number; readonly epoch: bigint},
  fenced: boolean,
): string | undefined {
  const broker = registered(state, id, epoch)
  if (typeof broker === 'string') return broker
  state.brokers.set(id, {...broker, fenced})
  return undefined
}

/** Of 0, empty lists and `null`: unchanged. */
interface BrokerRegistrationChange {
  readonly brokerId: number
  readonly brokerEpoch: bigint
  readonly fenced: number
  readonly inControlledShutdown?: number
  readonly logDirs?: readonly string[]
  readonly cordonedLogDirs?: readonly string[] | null
}

export function brokerRegistrationChange(state: MetadataState, record: BrokerRegistrationChange): string | undefined {
  const {brokerId, fenced, inControlledShutdown = 0, logDirs = [], cordonedLogDirs} = record
  const broker = registered(state, brokerId, record.brokerEpoch)
  if (typeof broker === 'string') return broker
  if (fenced < -1 || fenced > 1) return `${fenced} is no value of fenced`
  if (inControlledShutdown < 0 || inControlledShutdown > 1) {
    return `${inControlledShutdown} is no value of inControlledShutdown`
  }
  state.brokers.set(brokerId, {
    ...broker,
    fenced: fenced === 0 ? broker.fenced : fenced === 1,
    inControlledShutdown: inControlledShutdown === 0 ? broker.inControlledShutdown : true,
    logDirs: logDirs.length === 0 ? broker.logDirs : [...logDirs].sort(),
    cordonedLogDirs: cordonedLogDirs ? [...cordonedLogDirs].sort() : broker.cordonedLogDirs,
  })
  return undefined
}

/** The registration that a record means, or why there is none. */
function registered(state: MetadataState, brokerId: number, brokerEpoch: bigint): Broker | string {
  const broker = state.brokers.get(brokerId)
  if (!broker) return `broker ${brokerId} is not registered`
  return broker.brokerEpoch === brokerEpoch
    ? broker
    : `the record is of broker epoch ${brokerEpoch}, and broker ${brokerId} is registered with ${broker.brokerEpoch}`
}

interface RegisterController {
  readonly controllerId: number
  readonly incarnationId: string
  readonly zkMigrationReady: boolean
  readonly endPoints: readonly Endpoint[]
  readonly features: readonly SupportedFeature[]
}

export function registerController(state: MetadataState, record: RegisterController): undefined {
  const {controllerId, incarnationId, zkMigrationReady} = record
  state.controllers.set(controllerId, {
    controllerId,
    incarnationId,
    zkMigrationReady,
    endpoints: endpointsOf(record.endPoints),
    features: featuresOf(record.features),
  })
}

export function unregisterController(state: MetadataState, {controllerId}: {readonly controllerId: number}): undefined {
  state.controllers.delete(controllerId)
}

/** kraft.version is said by control records alone, whatever else names it. */
export function featureLevel(
  state: MetadataState,
  {name, featureLevel: level}: {readonly name: string; readonly featureLevel: number},
): undefined {
  if (name === 'kraft.version') return
  if (level === 0 && name !== 'metadata.version') state.features.delete(name)
  else state.features.set(name, level)
}

export function endpointsOf(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints
    .map(({name, host, port, securityProtocol}) => ({
      name,
      host,
      port,
      ...(securityProtocol === undefined ? {} : {securityProtocol}),
    }))
    .sort(byName)
}

function featuresOf(features: readonly SupportedFeature[]): readonly SupportedFeature[] {
  return features
    .map(({name, minSupportedVersion, maxSupportedVersion}) => ({name, minSupportedVersion, maxSupportedVersion}))
    .sort(byName)
}
