import {controlRecord} from '../log/decode/control.js'
import type {DecoderName, RecordDecoder} from '../log/decode/decoder.js'
import {type BytesJson, bytesJson, redactedJson, valueJson} from '../log/json.js'
import type {Finding} from '../log/finding.js'
import {findingOf} from '../log/verify/codes.js'
import type {RecordCursor} from '../log/record-cursor.js'
import type {DumpOptions} from './job.js'
import {decoderNamed} from './reading.js'

export interface Meaning {
  /** Fields of the record's object, without braces; empty if nothing is known. */
  readonly json: string
  readonly problems: readonly string[]
}

const nothing: Meaning = {json: '', problems: []}
const none: readonly Omit<Finding, 'file'>[] = []

/** The problems of a record as findings. */
export function oddities(
  {problems}: Meaning,
  record: RecordCursor,
  isControl: boolean,
): readonly Omit<Finding, 'file'>[] {
  if (problems.length === 0) return none
  const {offset} = record
  const code = isControl ? 'control-record' : 'decoder'
  return problems.map(explanation => findingOf(code, {offset, explanation}))
}

/** What the records of internal topics and of control batches mean, as JSON. */
export class Meanings {
  readonly #decoder: RecordDecoder | undefined
  readonly #bytes: BytesJson

  private constructor(decoder: RecordDecoder | undefined, bytes: BytesJson) {
    this.#decoder = decoder
    this.#bytes = bytes
  }

  static async for(decoder: DecoderName | undefined, {redact}: DumpOptions): Promise<Meanings> {
    return new Meanings(redact ? undefined : await decoderNamed(decoder), redact ? redactedJson : bytesJson)
  }

  of(record: RecordCursor, isControl: boolean): Meaning {
    if (isControl) {
      const control = controlRecord(record.key, record.value)
      return {json: `"control":${valueJson(control, this.#bytes)}`, problems: control.problems}
    }
    if (this.#decoder === undefined) return nothing
    const {offset, key, value} = record
    // What could not be decoded stands as key and value already.
    const {rawKey: _key, rawValue: _value, ...decoded} = this.#decoder.decode({offset, key, value})
    return {json: `"decoded":${valueJson(decoded, this.#bytes)}`, problems: decoded.problems}
  }

  /** What cannot be made sense of. */
  oddities(record: RecordCursor, isControl: boolean): readonly Omit<Finding, 'file'>[] {
    if (!isControl && this.#decoder === undefined) return none
    return oddities(this.of(record, isControl), record, isControl)
  }
}
