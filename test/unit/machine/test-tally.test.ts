import {describe, expect, it} from 'vitest'
import {
  closingLine,
  sum,
  type Tally,
  tallyCommand,
  tallyNotRun,
  tallyVitest,
  type VitestReport,
} from '../../../scripts/test-tally.mjs'

const passing: VitestReport = {
  numPassedTests: 3,
  numFailedTests: 0,
  testResults: [{name: 'a.test.ts', status: 'passed', assertionResults: [{status: 'passed'}]}],
}

describe('the tally of a vitest run', () => {
  it('counts passed and failed tests', () => {
    expect(tallyVitest(passing, 0)).toEqual({passed: 3, failed: 0, notes: []})
    const failing = {
      numPassedTests: 2,
      numFailedTests: 1,
      testResults: [{name: 'a.test.ts', status: 'failed', assertionResults: [{status: 'passed'}, {status: 'failed'}]}],
    }
    expect(tallyVitest(failing, 1)).toEqual({passed: 2, failed: 1, notes: []})
  })

  it('counts a file that does not load, or whose hook fails, as one failure', () => {
    const broken = {
      ...passing,
      testResults: [{name: 'b.test.ts', status: 'failed', assertionResults: [{status: 'skipped'}]}],
    }
    expect(tallyVitest(broken, 1)).toEqual({passed: 3, failed: 1, notes: ['b.test.ts failed outside of its tests']})
  })

  it('counts an exit with non-zero as a failure although every test passed', () => {
    expect(tallyVitest(passing, 1)).toMatchObject({passed: 3, failed: 1})
  })

  it('counts a run without a report or without a test as a failure', () => {
    expect(tallyVitest(undefined, 0)).toMatchObject({passed: 0, failed: 1})
    expect(tallyVitest({numPassedTests: 0, numFailedTests: 0, testResults: []}, 0)).toMatchObject({
      passed: 0,
      failed: 1,
    })
  })
})

describe('the closing line', () => {
  it('is the sum of all parts, alone on its line', () => {
    const total = sum([tallyVitest(passing, 0), tallyCommand(0), tallyCommand(1)])
    expect(closingLine(total)).toBe('4 passed, 1 failed')
    expect(closingLine(total)).toMatch(/^\d+ passed, \d+ failed$/)
  })

  it('names what was not run, which is a failure in CI only', () => {
    const notes = ['not run: the browser tests, because there is no Chromium here']
    const notRun = (isCi: boolean): Tally => tallyNotRun('the browser tests', 'there is no Chromium here', isCi)
    expect(sum([tallyCommand(0), notRun(false)])).toEqual({passed: 1, failed: 0, notes})
    expect(sum([tallyCommand(0), notRun(true)])).toEqual({passed: 1, failed: 1, notes})
  })

  it('never says that nothing at all has passed', () => {
    expect(closingLine(sum([]))).toBe('0 passed, 1 failed')
    expect(closingLine(sum([tallyNotRun('everything', 'there is nothing', false)]))).toBe('0 passed, 1 failed')
  })
})
