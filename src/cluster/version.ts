import {compareVersions, knownVersions} from '../kafka/versions.js'
import {KxError} from '../util/errors.js'

/**
 * `4.2` → the newest patch of that line that kx knows; `4.2.0` → itself. A line that kx does not know must be given
 * with its patch, because nobody can say which patch exists.
 * @throws KxError KX_KAFKA_VERSION (usage)
 */
export function resolveVersion(asked: string): string {
  const line = /^\d+\.\d+$/.test(asked)
  const known = line ? knownVersions.find(version => version.startsWith(`${asked}.`)) : undefined
  if (known) return known
  if (/^\d+\.\d+\.\d+([-.][A-Za-z0-9.-]+)?$/.test(asked)) {
    if (compareVersions(asked, '4.0.0') >= 0) return asked
    throw new KxError(
      'usage',
      'KX_KAFKA_VERSION',
      `Kafka ${asked} is older than 4.0: kx starts KRaft clusters of Kafka 4 and later only.`,
      {
        suggestions: [`Take one of ${knownVersions.join(', ')}.`],
      },
    )
  }
  throw new KxError('usage', 'KX_KAFKA_VERSION', `"${asked}" is no Kafka version that kx knows.`, {
    suggestions: [`Take one of ${knownVersions.join(', ')}, or a full version such as 4.4.1.`],
  })
}
