import type {BatchCursor} from '../log/batch-cursor.js'
import type {Damage, LogVisitor} from '../log/read-log.js'
import type {RecordCursor} from '../log/record-cursor.js'

/** Keeps nothing back when a batch is done: what is followed should be seen at once. */
export class Promptly implements LogVisitor {
  readonly #visitor: LogVisitor
  readonly #hasMore: () => boolean
  #isDone = true

  /** `hasMore`: the visitor has something that is not written yet. */
  constructor(visitor: LogVisitor, hasMore: () => boolean) {
    this.#visitor = visitor
    this.#hasMore = hasMore
  }

  batch(batch: BatchCursor): boolean {
    const wanted = this.#visitor.batch(batch)
    this.#isDone = !wanted
    return wanted
  }

  record(record: RecordCursor): void {
    this.#visitor.record(record)
  }

  recordsDone(problem: string | undefined): void {
    this.#visitor.recordsDone?.(problem)
    this.#isDone = true
  }

  damage(damage: Damage): void {
    this.#visitor.damage?.(damage)
  }

  get full(): boolean {
    return (this.#isDone && this.#hasMore()) || (this.#visitor.full ?? false)
  }

  async drain(): Promise<void> {
    await this.#visitor.drain?.()
  }

  get enough(): boolean {
    return this.#visitor.enough ?? false
  }
}
