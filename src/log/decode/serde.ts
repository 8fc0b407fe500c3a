import {ProtocolError} from '../../protocol/errors.js'
import {decodeLikeKafka} from '../../protocol/messages.js'
import type {MessageSchema} from '../../protocol/schema.js'
import type {Fields} from '../../protocol/struct.js'
import {Skipped} from './skipped.js'
import {type KafkaStyle, readingOf} from './style.js'

// Keys and values of a coordinator's records as Kafka's CoordinatorRecordSerde reads them, with its error texts.

/** An int16 stands before the message: of a key the record type, of a value its version. */
export const prefixBytes = 2

/** @throws Skipped */
export function prefixOf(bytes: Buffer, part: 'key' | 'value'): number {
  if (bytes.length < prefixBytes) throw new Skipped(`Could not read version from ${part}'s buffer.`)
  return bytes.readInt16BE(0)
}

/** A key's version is 0; the number that Kafka's error names is the record type. @throws Skipped */
export function readKey(schema: MessageSchema, type: number, bytes: Buffer, style: KafkaStyle): Fields {
  return told(`version ${type} from key`, () => decodeLikeKafka(schema, 0, bytes, readingOf(style, prefixBytes)).value)
}

/** @throws Skipped */
export function readValue(schema: MessageSchema, version: number, bytes: Buffer, style: KafkaStyle): Fields {
  const read = () => decodeLikeKafka(schema, version, bytes, readingOf(style, prefixBytes)).value
  return told(`version ${version} from value`, read)
}

function told(what: string, read: () => Fields): Fields {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new Skipped(`Could not read record with ${what}'s buffer due to: ${error.thrown}.`)
  }
}
