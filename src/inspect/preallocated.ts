import type {BatchCursor} from '../log/batch-cursor.js'
import type {Finding} from '../log/finding.js'
import type {Damage, LogVisitor} from '../log/read-log.js'
import type {RecordCursor} from '../log/record-cursor.js'
import {damageFinding} from './watch.js'

/** Keeps the zeros of a preallocated log from a visitor that would take them for damage, and tells them otherwise. */
export class PreallocatedLog implements LogVisitor {
  readonly #visitor: LogVisitor
  readonly #file: string
  readonly #tell: (finding: Finding) => void

  constructor(visitor: LogVisitor, file: string, tell: (finding: Finding) => void) {
    this.#visitor = visitor
    this.#file = file
    this.#tell = tell
  }

  batch(batch: BatchCursor): boolean {
    return this.#visitor.batch(batch)
  }

  record(record: RecordCursor): void {
    this.#visitor.record(record)
  }

  recordsDone(problem: string | undefined): void {
    this.#visitor.recordsDone?.(problem)
  }

  damage(damage: Damage): void {
    if (damage.kind === 'zero-fill') this.#tell(damageFinding(damage, this.#file, true))
    else this.#visitor.damage?.(damage)
  }

  get full(): boolean {
    return this.#visitor.full ?? false
  }

  async drain(): Promise<void> {
    await this.#visitor.drain?.()
  }

  get enough(): boolean {
    return this.#visitor.enough ?? false
  }
}
