import {PassingVisitor} from '../log/passing-visitor.js'
import type {BatchCursor} from '../log/batch-cursor.js'
import type {LogVisitor} from '../log/read-log.js'
import type {RecordsProblem} from '../log/records-problem.js'

/** Keeps nothing back when a batch is done: what is followed should be seen at once. */
export class Promptly extends PassingVisitor {
  readonly #hasMore: () => boolean
  #isDone = true

  /** `hasMore`: the visitor has something that is not written yet. */
  constructor(visitor: LogVisitor, hasMore: () => boolean) {
    super(visitor)
    this.#hasMore = hasMore
  }

  override batch(batch: BatchCursor): boolean {
    const wanted = this.visitor.batch(batch)
    this.#isDone = !wanted
    return wanted
  }

  override recordsDone(problem: RecordsProblem | undefined): void {
    this.visitor.recordsDone?.(problem)
    this.#isDone = true
  }

  override get full(): boolean {
    return (this.#isDone && this.#hasMore()) || (this.visitor.full ?? false)
  }
}
