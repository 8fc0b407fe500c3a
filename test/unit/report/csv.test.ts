import {expect, test} from 'vitest'
import {measuresCsv} from '../../../src/report/csv.js'
import {column, dataLoss, inconclusive, trial} from './samples.js'

test('a line per trial and measure, raw: no grouping, no unit conversion, decimal point, LF', () => {
  const run = {...dataLoss().run, columns: [column('a', 'A', 'a', 'ms'), column('b', 'B', 'b', 'records/s')]}
  const trials = [trial(1, 'leader-killed', {a: 8_560.25, b: null}), trial(2, 'healed', {a: 12_345_678, b: -3})]
  expect(measuresCsv({...run, trials})).toBe(
    'experiment,run,trial,condition,outcome,measure,unit,value\n' +
      'data-loss,7f3a,1,leader-killed,ok,a,ms,8560.25\n' +
      'data-loss,7f3a,1,leader-killed,ok,b,records/s,\n' +
      'data-loss,7f3a,2,healed,ok,a,ms,12345678\n' +
      'data-loss,7f3a,2,healed,ok,b,records/s,-3\n',
  )
})

test('trials that do not count are there too, and say so', () => {
  const lines = measuresCsv(inconclusive().run).split('\n')
  expect(lines).toHaveLength(1 + 6 * 6 + 1)
  expect(lines.filter(line => line.includes(',inconclusive,'))).toHaveLength(6)
  expect(lines.filter(line => line.includes(',failed,'))).toHaveLength(6)
})

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])(
  'a spreadsheet does not take %j for a formula',
  text => {
    const run = {
      ...dataLoss().run,
      experiment: text,
      trials: [trial(1, text, {a: 1})],
      columns: [column('a', 'A', 'a', text)],
    }
    const line = measuresCsv(run).split('\n').slice(1).join('\n')
    expect(line).not.toMatch(/(^|,)"?[=+\-@\t\r＝]/)
    expect(line).toContain(`'${text}`)
  },
)
