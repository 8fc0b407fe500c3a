import type {Finding} from '../finding.js'
import type {FindingCode} from '../verify/codes.js'

/** Findings of one kind that are kept; what is beyond is counted, so that a file of any size needs bounded memory. */
const keptPerCode = 100

/** The findings of one file, in the order in which they were found. */
export class FindingList {
  readonly #findings: Finding[] = []
  readonly #counts = new Map<FindingCode, number>()

  constructor(readonly file: string) {}

  add(finding: Omit<Finding, 'file'>): Finding {
    const whole = {...finding, file: this.file}
    const count = (this.#counts.get(finding.code) ?? 0) + 1
    this.#counts.set(finding.code, count)
    if (count <= keptPerCode) this.#findings.push(whole)
    return whole
  }

  /** At the end: with a line for each kind of which there were too many. */
  all(): readonly Finding[] {
    const beyond = [...this.#counts].filter(([, count]) => count > keptPerCode)
    return [
      ...this.#findings,
      ...beyond.map(([code, count]): Finding => {
        const severity = this.#findings.find(finding => finding.code === code)?.severity ?? 'error'
        return {code, severity, file: this.file, explanation: `${count - keptPerCode} more findings of this kind`}
      }),
    ]
  }
}

/** Findings of several files. */
export class FindingLists {
  readonly #lists = new Map<string, FindingList>()

  add(finding: Finding): void {
    const list = this.#lists.get(finding.file) ?? new FindingList(finding.file)
    this.#lists.set(finding.file, list)
    list.add(finding)
  }

  all(): readonly Finding[] {
    return [...this.#lists.values()].flatMap(list => list.all())
  }
}
