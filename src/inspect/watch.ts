import {PassingVisitor} from '../log/passing-visitor.js'
import type {BatchCursor} from '../log/batch-cursor.js'
import type {Finding} from '../log/finding.js'
import type {Damage, LogVisitor} from '../log/read-log.js'
import type {RecordsProblem} from '../log/records-problem.js'
import {damageCodes, recordsCodes, recordsText} from '../log/verify/code-of.js'
import {findingOf} from '../log/verify/codes.js'
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

  override recordsDone(problem: RecordsProblem | undefined): void {
    this.visitor.recordsDone?.(problem)
    if (problem === undefined || this.#batch === undefined) return
    const {position, baseOffset: offset} = this.#batch
    const explanation = `${sentence(recordsText(problem))}.`
    this.#tell(findingOf(recordsCodes[problem.kind], {file: this.#file, position, offset, explanation}))
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
  const {position, baseOffset: offset} = batch
  const explanation = `The stored CRC is ${batch.crc}, that of the bytes is ${batch.computedCrc}.`
  return findingOf('crc', {file, position, offset, explanation})
}

export function damageFinding(damage: Damage, file: string, preallocated: boolean): Finding {
  const {kind, position, sizeInBytes, baseOffset, reason} = damage
  if (kind === 'zero-fill' && preallocated) {
    const explanation = `${plural(sizeInBytes, 'zero byte')} up to the end: space that the broker has preallocated.`
    return findingOf('preallocated', {file, position, explanation})
  }
  const explanation = `${plural(sizeInBytes, 'byte is', 'bytes are')} no batch: ${reason}.`
  const offset = baseOffset === undefined ? {} : {offset: baseOffset}
  return findingOf(damageCodes[kind], {file, position, ...offset, explanation})
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
