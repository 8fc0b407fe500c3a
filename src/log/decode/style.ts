import type {OlderLine} from '../../protocol/schema.js'

/** The lines of Kafka whose dump tool prints differently: 4.0 (Scala), 4.2 (Scala, JSON everywhere), 4.4 (Java). */
export const kafkaStyles = ['4.0', '4.2', '4.4'] as const

export type KafkaStyle = (typeof kafkaStyles)[number]

/** Whose schemas the tool of that line has; `undefined`: the newest. */
export function schemaLineOf(style: KafkaStyle): OlderLine | undefined {
  return style === '4.4' ? undefined : style
}

/** How the tool of that line reads a message; to be given to `decodeLikeKafka`. */
export function readingOf(
  style: KafkaStyle,
  position: number,
): {readonly position: number; readonly countsTags: boolean} {
  return {position, countsTags: style !== '4.0'}
}
