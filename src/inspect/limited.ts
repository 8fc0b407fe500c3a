import {PassingVisitor} from '../log/passing-visitor.js'
import type {BatchCursor} from '../log/batch-cursor.js'
import type {LogVisitor} from '../log/read-log.js'
import type {RecordCursor} from '../log/record-cursor.js'

/** Ends the reading after so many records (or batches). */
export class Limited extends PassingVisitor {
  #left: number
  readonly #deep: boolean
  readonly #tell: (left: number) => void

  /** `deep`: records are counted, not batches. `tell` is given what is left, batch by batch. */
  constructor(visitor: LogVisitor, deep: boolean, left: number, tell: (left: number) => void) {
    super(visitor)
    this.#deep = deep
    this.#left = left
    this.#tell = tell
  }

  override batch(batch: BatchCursor): boolean {
    if (!this.#deep) this.#left--
    return this.visitor.batch(batch)
  }

  override record(record: RecordCursor): void {
    if (this.#left <= 0) return
    this.#left--
    this.visitor.record(record)
  }

  override get enough(): boolean {
    this.#tell(this.#left)
    return this.#left <= 0
  }
}
