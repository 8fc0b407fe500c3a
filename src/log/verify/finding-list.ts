import type {Finding, Severity} from '../finding.js'
import {type FindingCode, findingOf} from './codes.js'
import type {FindingCount, Findings} from './report.js'

export interface NewFinding {
  readonly file: string
  readonly position?: number | undefined
  readonly offset?: bigint | undefined
  readonly explanation: string
  readonly severity?: Severity
  readonly consequence?: string
}

const weight: Readonly<Record<Severity, number>> = {error: 0, warning: 1, info: 2}

/** Findings of all checks: the first ones of each code and severity are kept, all are counted, so that memory is bounded. */
export class FindingList {
  readonly #kept = new Map<string, Finding[]>()
  /** Errors and warnings by file. */
  readonly #files = new Map<string, number>()
  readonly #counts = new Map<string, {code: FindingCode; severity: Severity; count: number}>()

  constructor(readonly keptPerCode = 100) {}

  add(code: FindingCode, finding: NewFinding): void {
    const {position, offset, ...rest} = finding
    const place = {...(position === undefined ? {} : {position}), ...(offset === undefined ? {} : {offset})}
    this.take(findingOf(code, {...rest, ...place}))
  }

  take(finding: Finding): void {
    const key = `${finding.severity} ${finding.code}`
    if (finding.severity !== 'info') this.#files.set(finding.file, (this.#files.get(finding.file) ?? 0) + 1)
    const counted = this.#counts.get(key)
    if (counted) counted.count++
    else this.#counts.set(key, {code: finding.code, severity: finding.severity, count: 1})
    const kept = this.#kept.get(key) ?? []
    if (kept.length === 0) this.#kept.set(key, kept)
    if (kept.length < this.keptPerCode) kept.push(finding)
  }

  /** Counts findings that are not kept one by one. */
  more(code: FindingCode, severity: Severity, count: number): void {
    const counted = this.#counts.get(`${severity} ${code}`)
    if (counted) counted.count += count
    else this.#counts.set(`${severity} ${code}`, {code, severity, count})
  }

  /** Takes over what another list has about one file. */
  absorb(other: FindingList, file: string): void {
    for (const [key, kept] of other.#kept) {
      const own = kept.filter(finding => finding.file === file)
      for (const finding of own) this.take(finding)
      const counted = other.#counts.get(key)
      if (own.length === 0 || own.length < kept.length || !counted || counted.count === kept.length) continue
      this.more(counted.code, counted.severity, counted.count - kept.length)
    }
  }

  /** Takes over what a report of one file says. */
  takeReport({findings, findingCounts}: Pick<Findings, 'findings' | 'findingCounts'>): void {
    for (const finding of findings) this.take(finding)
    for (const {code, severity, count} of findingCounts) {
      const kept = findings.filter(finding => finding.code === code && finding.severity === severity).length
      if (count > kept) this.more(code, severity, count - kept)
    }
  }

  /** How many there are of these severities, of all that were added so far. */
  count(...severities: readonly Severity[]): number {
    let count = 0
    for (const counted of this.#counts.values()) if (severities.includes(counted.severity)) count += counted.count
    return count
  }

  /** Errors and warnings of one file that were added one by one. */
  countOf(file: string): number {
    return this.#files.get(file) ?? 0
  }

  get counts(): FindingCount[] {
    return [...this.#counts.values()]
      .map(count => ({...count}))
      .sort((a, b) => weight[a.severity] - weight[b.severity] || (a.code < b.code ? -1 : 1))
  }

  /** By severity, then as they were found: file by file, from the beginning to the end. */
  get findings(): Finding[] {
    return [...this.#kept.values()].flat().sort((a, b) => weight[a.severity] - weight[b.severity] || order(a, b))
  }
}

function order(a: Finding, b: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return (a.position ?? -1) - (b.position ?? -1) || Number((a.offset ?? -1n) - (b.offset ?? -1n))
}
