import type {BatchCursor} from '../../../src/log/batch-cursor.js'
import {BatchWriter, jsonLayout, type RecordBytes, RecordWriter} from '../../../src/log/json-records.js'
import {jsonBytes} from '../../../src/log/json-text.js'
import type {RecordCursor} from '../../../src/log/record-cursor.js'
import {type Encoding, LineWriter} from '../../../src/log/text/line-writer.js'

/** Keeps large fields, too, where another one writes them later in pieces. */
class Keeping extends LineWriter {
  override field(bytes: Buffer, from: number, to: number, encoding: Encoding): void {
    encoding.write(this, bytes, from, to)
  }
}

/** What was written into a `LineWriter`, as text. */
export function written(write: (out: LineWriter) => void): string {
  const out = new Keeping(() => {})
  write(out)
  return out.bytes.toString('utf8', 0, out.at)
}

/** The same by way of the pieces in which it is handed on. */
export async function drained(write: (out: LineWriter) => void, pieces: Buffer[] = []): Promise<string> {
  const out = new LineWriter(bytes => void pieces.push(Buffer.from(bytes)))
  write(out)
  await out.drain()
  return Buffer.concat(pieces).toString('utf8')
}

export const asJson: RecordBytes = {key: jsonBytes, value: jsonBytes, header: jsonBytes}
const records = new RecordWriter(jsonLayout, asJson)
const batches = new BatchWriter(jsonLayout)

/** The fields of a record as JSON, without braces. */
export function recordFields(record: RecordCursor, bytes: RecordBytes = asJson): string {
  const writer = bytes === asJson ? records : new RecordWriter(jsonLayout, bytes)
  return written(out => writer.write(out, '', record))
}

/** The fields of a batch as JSON, without braces. */
export function batchFields(batch: BatchCursor): string {
  return written(out => batches.write(out, batch))
}
