import type {BatchCursor} from '../log/batch-cursor.js'
import type {Damage, LogVisitor} from '../log/read-log.js'
import type {RecordCursor} from '../log/record-cursor.js'

/** Ends the reading after so many records (or batches). */
export class Limited implements LogVisitor {
  #left: number
  readonly #visitor: LogVisitor
  readonly #deep: boolean
  readonly #tell: (left: number) => void

  /** `deep`: records are counted, not batches. `tell` is given what is left, batch by batch. */
  constructor(visitor: LogVisitor, deep: boolean, left: number, tell: (left: number) => void) {
    this.#visitor = visitor
    this.#deep = deep
    this.#left = left
    this.#tell = tell
  }

  batch(batch: BatchCursor): boolean {
    if (!this.#deep) this.#left--
    return this.#visitor.batch(batch)
  }

  record(record: RecordCursor): void {
    if (this.#left <= 0) return
    this.#left--
    this.#visitor.record(record)
  }

  recordsDone(problem: string | undefined): void {
    this.#visitor.recordsDone?.(problem)
  }

  damage(damage: Damage): void {
    this.#visitor.damage?.(damage)
  }

  get full(): boolean {
    return this.#visitor.full ?? false
  }

  async drain(): Promise<void> {
    await this.#visitor.drain?.()
  }

  get enough(): boolean {
    this.#tell(this.#left)
    return this.#left <= 0
  }
}
