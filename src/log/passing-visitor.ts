import type {BatchCursor} from './batch-cursor.js'
import type {Damage, LogVisitor} from './read-log.js'
import type {RecordCursor} from './record-cursor.js'
import type {RecordsProblem} from './records-problem.js'

/** A visitor in front of another one: passes on whatever it does not do itself. */
export abstract class PassingVisitor implements LogVisitor {
  protected readonly visitor: LogVisitor

  constructor(visitor: LogVisitor) {
    this.visitor = visitor
  }

  batch(batch: BatchCursor): boolean {
    return this.visitor.batch(batch)
  }

  record(record: RecordCursor): void {
    this.visitor.record(record)
  }

  recordsDone(problem: RecordsProblem | undefined): void {
    this.visitor.recordsDone?.(problem)
  }

  damage(damage: Damage): void {
    this.visitor.damage?.(damage)
  }

  get full(): boolean {
    return this.visitor.full ?? false
  }

  async drain(): Promise<void> {
    await this.visitor.drain?.()
  }

  get enough(): boolean {
    return this.visitor.enough ?? false
  }
}
