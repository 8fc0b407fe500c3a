import {decode, encode, messageNamed} from '../protocol/messages.js'
import type {Versions} from '../protocol/schema.js'
import {KxError} from '../util/errors.js'
import type {RequestOptions} from './types.js'

const apiVersionsKey = 18
const unsupportedVersion = 35

interface ApiVersionsAnswer {
  readonly errorCode: number
  readonly apiKeys: readonly {readonly apiKey: number; readonly minVersion: number; readonly maxVersion: number}[]
  readonly supportedFeatures?: readonly {
    readonly name: string
    readonly minVersion: number
    readonly maxVersion: number
  }[]
  readonly finalizedFeaturesEpoch?: bigint
  readonly finalizedFeatures?: readonly {readonly name: string; readonly maxVersionLevel: number}[]
}

/** Which requests a broker answers, and the finalized features of its cluster. */
export interface Negotiated {
  /** By API key. */
  readonly versions: ReadonlyMap<number, Versions>
  /** Level of each finalized feature, e.g. `metadata.version` → 33. Empty in answers before version 3. */
  readonly features: ReadonlyMap<string, number>
  readonly errorCode: number
  /** The version to try next when the broker did not know the one that was asked with. */
  readonly instead: number | undefined
}

export function apiVersionsBody(version: number): Buffer {
  const software = version >= 3 ? {clientSoftwareName: 'kx', clientSoftwareVersion: '0'} : {}
  return encode('ApiVersionsRequest', version, software)
}

/**
 * Reads an answer to ApiVersions. A broker that is older than the request answers in version 0 with the error
 * UNSUPPORTED_VERSION, and says which versions of ApiVersions it knows (KIP-511); the code stands first in all versions.
 * @throws ProtocolError
 */
export function readApiVersions(asked: number, body: Buffer): Negotiated {
  const refused = body.length >= 2 && body.readInt16BE(0) === unsupportedVersion
  const {value} = decode<ApiVersionsAnswer>('ApiVersionsResponse', refused ? 0 : asked, body)
  const own = value.apiKeys.find(api => api.apiKey === apiVersionsKey)
  const instead = Math.min(own?.maxVersion ?? 0, asked - 1)
  return {
    errorCode: value.errorCode,
    instead: refused && instead >= 0 ? instead : undefined,
    versions: new Map(value.apiKeys.map(api => [api.apiKey, {lowest: api.minVersion, highest: api.maxVersion}])),
    features: new Map((value.finalizedFeatures ?? []).map(feature => [feature.name, feature.maxVersionLevel])),
  }
}

/**
 * The version in which to send a request: what was asked for, else the highest that kx, the broker and `maxVersion` allow.
 * A version that Kafka itself calls unstable is only taken when it is asked for.
 * @throws KxError KX_API_VERSION (environment): there is none
 */
export function chooseVersion(
  apiName: string,
  spoken: ReadonlyMap<number, Versions>,
  who: string,
  options: RequestOptions,
): number {
  const request = messageNamed(`${apiName}Request`)
  const broker = spoken.get(request.apiKey ?? -1)
  if (!broker)
    throw new KxError('environment', 'KX_API_VERSION', `There is no ${apiName} request for ${who}: it answers none.`)
  const own = request.validVersions
  const stable = own.highest - (request.latestVersionUnstable && options.version === undefined ? 1 : 0)
  const lowest = Math.max(own.lowest, broker.lowest)
  const highest = Math.min(stable, broker.highest, options.maxVersion ?? stable)
  const version = options.version ?? highest
  if (version >= lowest && version <= highest) return version
  const asked = [
    ...(options.version === undefined ? [] : [`asked for ${options.version}`]),
    ...(options.maxVersion === undefined ? [] : [`asked for at most ${options.maxVersion}`]),
  ]
  throw new KxError(
    'environment',
    'KX_API_VERSION',
    `There is no version for a ${apiName} request: ${[`${who} speaks ${broker.lowest} to ${broker.highest}`, `kx ${own.lowest} to ${stable}`, ...asked].join(', ')}.`,
  )
}
