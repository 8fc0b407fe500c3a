import {PassingVisitor} from '../log/passing-visitor.js'
import {type BatchCursor, miscounted} from '../log/batch-cursor.js'
import type {Finding} from '../log/finding.js'
import type {Damage, LogVisitor} from '../log/read-log.js'
import {plural} from '../util/format.js'

export interface Watched {
  /** As the file was named. */
  readonly path: string
  /** Zeros at its end are no damage. */
  readonly preallocated: boolean
  /** Only so many bytes are looked at. */
  readonly maxBytes: number | undefined
}

/** What even a plain dump notices: false CRCs, records that can't be read, bytes that are no batch. */
export class WatchingVisitor extends PassingVisitor {
  readonly #file: string
  readonly #preallocated: boolean
  readonly #maxBytes: number
  readonly #tell: (finding: Finding) => void
  #batch: BatchCursor | undefined

  constructor(visitor: LogVisitor, {path, preallocated, maxBytes}: Watched, tell: (finding: Finding) => void) {
    super(visitor)
    this.#preallocated = preallocated
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY
    this.#file = path
    this.#tell = tell
  }

  override batch(batch: BatchCursor): boolean {
    this.#batch = batch
    const wanted = this.visitor.batch(batch)
    if (!batch.crcIsRight) this.#tell(crcFinding(batch, this.#file))
    return wanted
  }

  override recordsDone(problem: string | undefined): void {
    this.visitor.recordsDone?.(problem)
    if (problem === undefined || this.#batch === undefined) return
    this.#tell({
      code: 'records',
      severity: 'error',
      file: this.#file,
      position: this.#batch.position,
      offset: this.#batch.baseOffset,
      explanation: problem.startsWith(miscounted)
        ? `${problem}.`
        : `Not all records of this batch can be read: ${problem}.`,
    })
  }

  override damage(damage: Damage): void {
    this.visitor.damage?.(damage)
    const {kind, position, sizeInBytes} = damage
    // A batch that passes the window is not looked at.
    if (position + sizeInBytes >= this.#maxBytes && (kind === 'cut' || kind === 'cut-header')) return
    this.#tell(damageFinding(damage, this.#file, this.#preallocated))
  }
}

export function crcFinding(batch: BatchCursor, file: string): Finding {
  return {
    code: 'crc',
    severity: 'error',
    file,
    position: batch.position,
    offset: batch.baseOffset,
    explanation: `The stored CRC is ${batch.crc}, that of the bytes is ${batch.computedCrc}.`,
    consequence: 'Consumers stop here, and recovery cuts the log here.',
  }
}

export function damageFinding(damage: Damage, file: string, preallocated: boolean): Finding {
  const {kind, position, sizeInBytes, baseOffset, reason} = damage
  if (kind === 'zero-fill' && preallocated) {
    const explanation = `${plural(sizeInBytes, 'zero byte')} up to the end: space that the broker has preallocated.`
    return {code: 'preallocated', severity: 'info', file, position, explanation}
  }
  return {
    code: kind,
    severity: 'error',
    file,
    position,
    ...(baseOffset === undefined ? {} : {offset: baseOffset}),
    explanation: `${plural(sizeInBytes, 'byte is', 'bytes are')} no batch: ${reason}.`,
  }
}
