import type {KafkaText, RecordDecoder} from '../decode/decoder.js'
import type {KafkaStyle} from '../decode/style.js'
import type {LegacyFailure} from '../legacy-message.js'

/**
 * What Kafka's decoders print of a message of magic 0 or 1 whose sizes are wrong: they catch the exception, and tell it.
 * Undefined: the tool ends there.
 */
export function failedText(
  {name}: RecordDecoder,
  {key, value}: LegacyFailure,
  {offset, keySize}: {readonly offset: bigint; readonly keySize: number},
  style: KafkaStyle,
): KafkaText | undefined {
  if (name === 'cluster-metadata') return {payload: `Error at ${offset}, skipping. ${value}`}
  if (name === 'remote-log-metadata') return {payload: `Error at offset ${offset}, skipping. ${value}`}
  const ends = keySize < 0 || (name === 'transaction-log' && style === '4.0')
  return ends ? undefined : {key: `Error at offset ${offset}, skipping. ${key ?? value}`}
}
