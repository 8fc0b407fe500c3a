import type {DiffRange, EpochSpan, Holding} from './types.js'

const rangesKept = 2_000

/** What one replica has at one step of the comparison. */
export interface Held {
  readonly holding: Holding
  readonly records: number
  /** `undefined` where it has no batch. */
  readonly epoch: number | undefined
}

interface Growing {
  from: bigint
  to: bigint
  readonly holdings: readonly Holding[]
  readonly records: number[]
  readonly epochs: ({first: number; last: number} | null)[]
  readonly comparedBy: DiffRange['comparedBy']
}

/** Joins neighbouring offsets at which the replicas stand to each other in the same way. */
export class RangeBuilder {
  readonly #ranges: Growing[] = []
  #last: Growing | undefined
  leftOut = 0

  get ranges(): readonly DiffRange[] {
    return this.#ranges
  }

  add(from: bigint, to: bigint, held: readonly Held[], comparedBy: DiffRange['comparedBy']): void {
    const holdings = normalised(held.map(({holding}) => holding))
    const last = this.#last
    if (last && last.comparedBy === comparedBy && last.holdings.every((one, index) => one === holdings[index])) {
      if (to > last.to) last.to = to
      for (const [index, one] of held.entries()) grow(last, index, one)
      return
    }
    this.#last = {
      from,
      to,
      holdings,
      records: held.map(({records}) => records),
      epochs: held.map(({epoch}) => (epoch === undefined ? null : {first: epoch, last: epoch})),
      comparedBy,
    }
    if (this.#ranges.length < rangesKept) this.#ranges.push(this.#last)
    else this.leftOut++
  }
}

function grow(range: Growing, index: number, {records, epoch}: Held): void {
  range.records[index] = (range.records[index] ?? 0) + records
  if (epoch === undefined) return
  const span = range.epochs[index]
  if (span) span.last = epoch
  else range.epochs[index] = {first: epoch, last: epoch}
}

/** Contents are numbered in the order of the replicas. */
function normalised(holdings: readonly Holding[]): Holding[] {
  const numbers = new Map<number, number>()
  return holdings.map(holding => {
    if (typeof holding !== 'number') return holding
    const known = numbers.get(holding)
    if (known !== undefined) return known
    numbers.set(holding, numbers.size)
    return numbers.size - 1
  })
}

/** Contents that differ from each other. */
export function contentsOf({holdings}: Pick<DiffRange, 'holdings'>): number {
  return new Set(holdings.filter(holding => typeof holding === 'number')).size
}

/** Every replica has the same there. */
export function isSame({holdings}: Pick<DiffRange, 'holdings'>): boolean {
  return holdings.every(holding => holding === 0)
}

/** The replicas that are not at their end have the same there. */
export function isSameOrEnded({holdings}: Pick<DiffRange, 'holdings'>): boolean {
  return holdings.every(holding => holding === 0 || holding === 'ended')
}

export function epochText(span: EpochSpan | null | undefined): string {
  if (!span) return 'no epoch'
  return span.first === span.last ? `epoch ${span.first}` : `epochs ${span.first} to ${span.last}`
}

/** "offsets 0..14", or "offset 14" alone; `to` is exclusive. */
export function offsets(from: bigint, to: bigint): string {
  return to - from === 1n ? `offset ${from}` : `offsets ${from}..${to - 1n}`
}
