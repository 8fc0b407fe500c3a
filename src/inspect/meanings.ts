import type {RecordDecoder} from '../log/decode/decoder.js'
import {bytesJson, valueJson} from '../log/json.js'
import type {RecordCursor} from '../log/record-cursor.js'
import type {DumpInput} from './job.js'
import {decoderOf} from './reading.js'

/** What the records of internal topics and of control batches mean, as JSON. */
export class Meanings {
  readonly #decoder: RecordDecoder | undefined

  private constructor(decoder: RecordDecoder | undefined) {
    this.#decoder = decoder
  }

  static async of(input: DumpInput): Promise<Meanings> {
    return new Meanings(await decoderOf(input))
  }

  /** Fields of the record's object, without braces; empty if nothing is known. */
  json(record: RecordCursor, isControl: boolean): string {
    if (isControl || this.#decoder === undefined) return ''
    const {offset, key, value} = record
    return `"decoded":${valueJson(this.#decoder.decode({offset, key, value}), bytesJson)}`
  }
}
