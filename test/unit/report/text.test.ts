import {describe, expect, test} from 'vitest'
import {textReport} from '../../../src/report/text.js'
import {textWidth} from '../../../src/report/text-table.js'
import {column, dataLoss, failover, inconclusive, interrupted, measures, refuted, trial} from './samples.js'

const terminal = {width: 80, colour: false, unicode: true}
const golden = (name: string) => new URL(`../../golden/report/${name}.txt`, import.meta.url).pathname

describe('the end of a run on a terminal of 80 × 24', () => {
  const screens = {
    'data-loss': dataLoss(),
    refuted: refuted(),
    inconclusive: inconclusive(),
    interrupted: interrupted(),
    failover: failover(),
  }

  test.each(Object.entries(screens))('%s looks like its golden and fits', async (name, input) => {
    const text = textReport(input, terminal)
    await expect(`${text}\n`).toMatchFileSnapshot(golden(`${name}-80`))
    const lines = text.split('\n')
    expect(lines.filter(line => textWidth(line) > 80)).toEqual([])
    // A run that told nothing may say why at length: its last lines are what stays on the screen.
    if (input.run.verdict.outcome !== 'inconclusive') expect(lines.length).toBeLessThanOrEqual(24)
  })

  test('a wider terminal gets the sketch of the design: gaps of three, the limits beside the verdict', async () => {
    await expect(`${textReport(dataLoss(), {...terminal, width: 110})}\n`).toMatchFileSnapshot(golden('data-loss-110'))
  })

  test('without UTF-8 everything is ASCII', async () => {
    const text = textReport(inconclusive(), {...terminal, unicode: false})
    expect(text).toMatch(/^[\n\u0020-\u007e]*$/)
    await expect(`${text}\n`).toMatchFileSnapshot(golden('inconclusive-ascii'))
  })

  test('-o wide shows every measure with its spread, every trial and the figures', async () => {
    await expect(`${textReport(failover(), {...terminal, width: 100, wide: true})}\n`).toMatchFileSnapshot(
      golden('failover-wide'),
    )
  })
})

test('the last lines are the verdict, the path of the report and the next command', () => {
  const last = textReport(dataLoss(), {...terminal, dir: 'there', next: 'kx status'})
    .split('\n')
    .slice(-5)
  expect(last[0]).toMatch(/^UPHELD on Kafka 4\.4\.0, local, profile default, in 1 m 52 s\.$/)
  expect(last.slice(-2)).toEqual(['Report   there/report.html', 'Next     kx status'])
  expect(
    textReport(dataLoss(), {...terminal, next: false})
      .split('\n')
      .at(-1),
  ).toMatch(/^Report /)
})

test('a run without a verdict is to be run again, one with a verdict to be looked at: its evidence side by side, and whole', () => {
  const next = (input: Parameters<typeof textReport>[0], wide = false) => {
    const lines = textReport(input, {...terminal, wide}).split('\n')
    return lines.slice(lines.findIndex(line => line.startsWith('Next')))
  }
  const folder = 'results/data-loss/7f3a/evidence/trial-1'
  const compare = `Next     kx diff-replicas ${folder}`
  const show = '         kx results show data-loss/7f3a -o wide'
  expect(next(refuted())).toEqual([compare, show])
  expect(next(refuted(), true)).toEqual([
    compare,
    `         kx dump-log --print-data-log ${folder}/broker-1/kx-data-loss-7f3a-1-acks1-0/00000000000000000000.log`,
    show,
  ])
  expect(next({...refuted(), evidence: []})).toEqual(['Next     kx results show data-loss/7f3a -o wide'])
  expect(next({...refuted(), evidence: refuted().evidence.slice(0, 1)})).toEqual([
    'Next     kx results show data-loss/7f3a -o wide',
  ])
  expect(next(interrupted())).toEqual(['Next     kx experiment data-loss'])
  expect(next(inconclusive())).toEqual(['Next     kx experiment data-loss'])
})

test('the evidence to look at first is that of the trial that the example is about, else that with most replicas', () => {
  const input = dataLoss()
  const trial = (number: number, partition: string, replicas: number) =>
    Array.from({length: replicas}, (_, index) => ({
      path: `evidence/trial-${number}/broker-${index}/${partition}/00000000000000000000.log.gz`,
      sizeInBytes: 1,
      sha256: '',
    }))
  const next = (example: string | undefined, ...evidence: (typeof input)['evidence'][number][][]) => {
    const {example: _, ...run} = input.run
    const told = {...input, run: example === undefined ? run : {...run, example}, evidence: evidence.flat()}
    return /trial-\d/.exec(textReport(told, terminal).match(/^Next .*$/m)?.[0] ?? '')?.[0]
  }
  const all = [trial(1, 'run-1-orders-0', 3), trial(2, 'run-2-orders-0', 2), trial(3, 'run-3-orders-0', 4)]
  expect(next('lost, for example: run-2-orders-0 offset 101', ...all)).toBe('trial-2')
  expect(next(undefined, ...all)).toBe('trial-3')
  expect(next(undefined, trial(1, 'run-1-orders-0', 1))).toBeUndefined()
})

test('colour only adds: without its codes the text is the same', () => {
  for (const input of [dataLoss(), refuted(), inconclusive(), interrupted()]) {
    const coloured = textReport(input, {...terminal, colour: true, figures: true})
    expect(coloured).toContain('\u001b[')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colour codes are meant
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(textReport(input, {...terminal, figures: true}))
  }
})

test('each outcome has its own mark and its own word', () => {
  expect(textReport(dataLoss(), terminal)).toMatch(/^✔ .* seen in 3 of 3 trials$/m)
  expect(textReport(refuted(), terminal)).toMatch(
    /^✘ no acknowledged record of the baseline is lost +refuted: not in trial 4$/m,
  )
  expect(textReport(inconclusive(), terminal)).toMatch(
    /^\? acks=1 loses .*\n? +inconclusive: only 1 of 3 planned trials could tell$/m,
  )
})

test('columns that do not fit are named, never silently gone', () => {
  const narrow = textReport(failover(), {...terminal, width: 60}).replace(/\s+/g, ' ')
  expect(narrow).toContain('Too narrow for: ISR after, acked, lost, rate. All measures: -o wide.')
  const one = textReport(failover(), {...terminal, width: 40})
  expect(one).toContain('fenced')
  expect(one.split('\n').filter(line => textWidth(line) > 40 && !/^(Report|Next| {9}kx )/.test(line))).toEqual([])
})

describe('a cell', () => {
  const shown = (unit: string, ...values: (number | null)[]) => {
    const columns = [column('m', 'measure', 'm', unit)]
    const conditions = [{id: 'c', label: 'c', planned: values.length}]
    const trials = values.map((value, index) => trial(index + 1, 'c', {m: value}))
    const run = {...dataLoss().run, columns, conditions, trials, measures: measures(columns, conditions, trials)}
    return textReport({...dataLoss(), run}, terminal)
      .split('\n')[4]
      ?.replace(/^c +/, '')
  }

  test.each([
    ['records', [500, 500, 500], '500'],
    ['records', [498, 500, 500], '498–500'],
    ['records', [1, 2, 3, 4, 5, 6], '3.5'],
    ['records', [12_345, 12_345], '12,345'],
    ['records', [null, null], '–'],
    ['records', [], '–'],
    ['ms', [7_940, 8_560], '7.9–8.6 s'],
    ['ms', [8_560, 8_570], '8.6 s'],
    ['ms', [840, 8_570], '840 ms – 8.6 s'],
    ['ms', [0.38, 0.38], '0.38 ms'],
    ['ms', [112_000], '1 m 52 s'],
    ['bytes', [1_536], '1.5 KiB'],
    ['records', [-3, 4], '-3 – 4'],
  ] as const)('of %s %j says %s', (unit, values, text) => {
    expect(shown(unit, ...values)).toBe(text)
  })
})

test('what a record or an error says can neither move the cursor nor turn the line', () => {
  const input = dataLoss({
    example: 'lost: \u001b[2J\u001b]0;title\u0007 and \u202egnp.exe',
    question: 'Is\r\nthis\ta question?',
  })
  const text = textReport(input, terminal)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/)
  expect(text).toContain('\\x1b[2J\\x1b]0;title\\x07 and \\u202egnp.exe')
  expect(text.split('\n')[0]).toBe('Is this a question?')
})
