import type {BatchCursor} from './batch-cursor.js'
import type {RecordCursor} from './record-cursor.js'

/** What is to be shown: a batch whose header is refused is not shown, nor are its records. */
export interface LogFilter {
  batch(batch: BatchCursor): boolean
  record(record: RecordCursor): boolean
}
