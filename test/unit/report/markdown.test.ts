import {expect, test} from 'vitest'
import {markdownReport, md} from '../../../src/report/markdown.js'
import {stepSummary} from '../../../src/report/step-summary.js'
import {dataLoss, failover, inconclusive, refuted} from './samples.js'

const golden = (name: string) => new URL(`../../golden/report/${name}.md`, import.meta.url).pathname

test('the report of a run as Markdown looks like its golden', async () => {
  await expect(markdownReport(dataLoss())).toMatchFileSnapshot(golden('data-loss'))
  await expect(markdownReport(inconclusive(), {level: 2})).toMatchFileSnapshot(golden('inconclusive'))
})

test.each([
  ['a|b', 'a\\|b'],
  ['<script>', '&lt;script&gt;'],
  ['[x](javascript:y)', '\\[x\\](javascript:y)'],
  ['**bold** `code`', '\\*\\*bold\\*\\* \\`code\\`'],
  ['two\nlines', 'two lines'],
  ['NOT_LEADER_OR_FOLLOWER _em_', 'NOT_LEADER_OR_FOLLOWER \\_em\\_'],
  ['# head', '\\# head'],
  ['1. list', '1\\. list'],
  ['- item', '\\- item'],
  ['&lt;', '&amp;lt;'],
  ['\u001b[0m', '\\\\x1b\\[0m'],
  ['https://x.example', 'https&#8203;://x.example'],
  ['@someone', '@&#8203;someone'],
])('%j as Markdown is only text', (text, safe) => {
  expect(md(text)).toBe(safe)
})

test('every row of a table has as many cells as its head, whatever the texts are', () => {
  const input = inconclusive()
  const trials = input.run.trials.map(trial => ({...trial, reason: 'a | b\n| c |'}))
  const lines = markdownReport({...input, run: {...input.run, trials}}).split('\n')
  const counts = lines.filter(line => line.startsWith('|')).map(line => line.replaceAll('\\|', '').split('|').length)
  expect(new Set(counts)).toEqual(new Set([9, 12, 7, 5, 4]))
})

test('a command that has backticks gets a longer fence', () => {
  const run = {...dataLoss().run, experiment: 'a```b'}
  expect(markdownReport({...dataLoss(), run})).toContain("````sh\nkx experiment 'a```b'")
})

test('the step summary counts what was upheld and opens what was not', async () => {
  const results = [
    {experiment: 'data-loss', run: dataLoss().run, durationMs: 112_000},
    {experiment: 'refuted', run: refuted().run, durationMs: 112_000},
    {experiment: 'inconclusive', run: inconclusive().run, durationMs: 60_000},
    {experiment: 'failover', run: failover({state: 'interrupted'}).run, durationMs: 60_000},
    {experiment: 'broken', error: {code: 'KX_PORT', message: 'port 19001 is taken by <nginx>'}, durationMs: 120},
  ]
  const text = stepSummary(results)
  await expect(text).toMatchFileSnapshot(golden('step-summary'))
  expect(text).toContain('## kx: 1 of 5 experiments upheld')
  expect(text.match(/<details open>/g)).toHaveLength(4)
})

test('the step summary stays below the limit of 1 MiB and says that it was cut', () => {
  const run = dataLoss({question: 'x'.repeat(300_000)}).run
  const text = stepSummary(Array.from({length: 6}, () => ({experiment: 'big', run, durationMs: 1})))
  expect(Buffer.byteLength(text)).toBeLessThan(1_048_576)
  expect(text).toContain('More is in the artifacts')
})
