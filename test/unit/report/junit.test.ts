import {describe, expect, test} from 'vitest'
import {junitXml, xml} from '../../../src/report/junit.js'
import {dataLoss, failover, inconclusive, refuted} from './samples.js'

const golden = new URL('../../golden/report/junit.xml', import.meta.url).pathname
const ci = (input: ReturnType<typeof dataLoss>) =>
  junitXml([{experiment: input.run.experiment, run: input.run, durationMs: 112_000}])

test('a set of runs looks like its golden', async () => {
  const text = junitXml([
    {experiment: 'data-loss', run: dataLoss().run, durationMs: 112_000},
    {experiment: 'refuted', run: refuted().run, durationMs: 112_000},
    {experiment: 'inconclusive', run: inconclusive().run, durationMs: 60_000},
    {
      experiment: 'broken',
      error: {code: 'KX_PORT', message: 'port 19001 is taken by "nginx" & co\nsecond line'},
      durationMs: 120,
    },
  ])
  await expect(text).toMatchFileSnapshot(golden)
})

describe('the outcome', () => {
  test('upheld is a success', () => {
    expect(ci(dataLoss())).toMatch(/<testsuites name="kx" tests="6" failures="0" errors="0" skipped="0"/)
  })

  test('refuted is a failure, of the claim that is refuted', () => {
    expect(ci(refuted())).toMatch(/tests="6" failures="1" errors="0"/)
    expect(ci(refuted())).toMatch(
      /baseline is lost"[^>]*>\s*<failure type="refuted" message="refuted: not in trial 4">/,
    )
  })

  test('inconclusive is an error, never skipped', () => {
    expect(ci(inconclusive())).toMatch(/tests="6" failures="0" errors="3" skipped="0"/)
    expect(ci(inconclusive())).not.toContain('<skipped')
  })

  test('a verdict that is worse than its claims can not hide behind them', () => {
    const {run} = dataLoss()
    const doubted = {
      ...run,
      verdict: {...run.verdict, outcome: 'inconclusive' as const, because: 'there is no control'},
    }
    expect(ci({...dataLoss(), run: doubted})).toMatch(
      /name="the run"[^>]*>\s*<error type="inconclusive" message="inconclusive: there is no control">/,
    )
    const worse = {...run, verdict: {...run.verdict, outcome: 'refuted' as const}}
    expect(ci({...dataLoss(), run: worse})).toMatch(/failures="1" errors="0"/)
  })

  test('a run that broke off, and one that is missing, are errors', () => {
    expect(ci(failover({state: 'interrupted'}))).toMatch(/name="the run"[^>]*>\s*<error type="interrupted"/)
    expect(junitXml([{experiment: 'x', durationMs: 0}])).toMatch(/tests="1" failures="0" errors="1"/)
  })
})

test('what XML can not hold becomes visible, what has a meaning is escaped', () => {
  expect(xml(`<a b="c" d='e'>&`)).toBe('&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;')
  expect(xml('\u0000\u001b\ud800\ufffe')).toBe('\\u0000\\u001b\\ud800\\ufffe')
  expect(xml('a\nb\tc\u0085')).toBe('a&#10;b&#9;c&#133;')
  expect(xml('é 記 🙂')).toBe('é 記 🙂')
})
