import {PassingVisitor} from '../log/passing-visitor.js'
import type {Finding} from '../log/finding.js'
import type {Damage, LogVisitor} from '../log/read-log.js'
import {damageFinding} from './watch.js'

/** Keeps the zeros of a preallocated log from a visitor that would take them for damage, and tells them otherwise. */
export class PreallocatedLog extends PassingVisitor {
  readonly #file: string
  readonly #tell: (finding: Finding) => void

  constructor(visitor: LogVisitor, file: string, tell: (finding: Finding) => void) {
    super(visitor)
    this.#file = file
    this.#tell = tell
  }

  override damage(damage: Damage): void {
    if (damage.kind === 'zero-fill') this.#tell(damageFinding(damage, this.#file, true))
    else this.visitor.damage?.(damage)
  }
}
