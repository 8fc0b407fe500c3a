/** How a part of the test run went; `notes` are sentences for the person who reads the end of the output. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly notes: readonly string[]
}

/** The fields of vitest's JSON report that are counted. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly {readonly status: string}[]
  }[]
}

/** Failed tests, files that failed outside of their tests, and whatever else made vitest exit with non-zero. */
export function tallyVitest(report: VitestReport | undefined, exitCode: number): Tally
/** A command (compiler, linter) counts as one test. */
export function tallyCommand(exitCode: number): Tally
/** What this machine can't run is named; in CI it has failed. */
export function tallyNotRun(what: string, why: string, isCi: boolean): Tally
export function sum(tallies: readonly Tally[]): Tally
/** `N passed, N failed`, which stands alone on the last line. */
export function closingLine(tally: Pick<Tally, 'passed' | 'failed'>): string
