import {beforeAll, describe, expect, test} from 'vitest'
import type {ReportInput} from '../../../src/experiment/run.js'
import {htmlReport} from '../../../src/report/html.js'
import {commandBlock, escaped, html, relativeLink} from '../../../src/report/html-text.js'
import {dataLoss, failover, inconclusive, interrupted, lanesFigure, linesFigure, refuted} from './samples.js'

/** The text that a reader sees, roughly: tags away, entities back. */
const words = (page: string) =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')

describe('the page of a run', () => {
  let page = ''
  beforeAll(async () => {
    page = await htmlReport(failover())
  })

  test('says what the design promises: verdict, question, claims, measures, trials, faults, evidence, how to repeat, environment', () => {
    const text = words(page)
    for (const part of [
      'upheld Every claim held',
      'How long is a partition without a leader',
      'SIGKILL takes at least 5 times as long as SIGTERM',
      'in all of 3 pairs, median ratio 230',
      '8.7–9.1 s',
      'SIGSTOP to pid 4712 all 83 threads in state T after 11 ms',
      'kx diff-replicas results/failover/b21c/evidence/trial-1',
      'kx dump-log --print-data-log results/failover/b21c/evidence/trial-1/broker-1/kx-data-loss-7f3a-1-acks1-0/00000000000000000000.log',
      'kafka-dump-log.sh --print-data-log --files results/failover/b21c/evidence/trial-1/broker-1/kx-data-loss-7f3a-1-acks1-0/00000000000000000000.log',
      'kx experiment failover --seed 1234 --connections 10 --kafka-version 4.4.0 --runtime local --profile default',
      'bin/kafka-topics.sh --bootstrap-server "$BOOTSTRAP" --create',
      'kill -STOP "$NODE_2" # after 1.204 s',
      'kill -9 "$NODE_1"',
      'bin/kafka-dump-log.sh --print-data-log',
      'broker.session.timeout.ms 9000',
      'How long a client of another kind needs to find the new leader.',
    ])
      expect(text).toContain(part)
  })

  test('asks for nothing from anywhere, runs no script, and its policy says so', () => {
    expect(page).not.toMatch(/<script|<iframe|<object|<embed|<img|@import|url\((?!#)/i)
    expect(page).not.toMatch(/\s(?:src|srcset|action|on\w+)=/i)
    const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, link]) => link)
    expect(links.filter(link => !/^(#[\w-]+|\.\/evidence\/[\w./%-]+|measures\.csv|data:,)$/.test(link ?? ''))).toEqual(
      [],
    )
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'`)
  })

  test('is the same each time, and each id in it is used once', async () => {
    expect(await htmlReport(failover())).toBe(page)
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    expect(ids.length).toBeGreaterThan(5)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('draws every kind of figure, with the fault as a band', () => {
    for (const kind of ['lanes', 'lines', 'bars', 'blocks', 'table']) expect(page).toContain(`<figure class="${kind}"`)
    expect(page.match(/<svg /g)).toHaveLength(4)
    expect(page).toContain('var(--fault)')
    expect(page).toContain('class="band"')
    expect(page).not.toMatch(/zr\d+-/)
  })

  test('opens and closes the same tags', () => {
    const open: string[] = []
    const empty = new Set(['meta', 'link', 'br', '!doctype'])
    for (const [, close, name = '', self] of page.matchAll(/<(\/?)([a-z!][a-z0-9-]*)[^>]*?(\/?)>/gi)) {
      if (empty.has(name.toLowerCase()) || self) continue
      if (close) expect(open.pop()).toBe(name)
      else open.push(name)
    }
    expect(open).toEqual([])
  })
})

test('only a run that goes on loads itself again', async () => {
  const running: ReportInput = {...interrupted(), run: {...interrupted().run, state: 'running'}}
  expect(await htmlReport(running)).toContain('<meta http-equiv="refresh" content="5">')
  expect(words(await htmlReport(running))).toContain('Still running: 2 of 6 trials have ended.')
  expect(await htmlReport(dataLoss())).not.toContain('http-equiv="refresh"')
})

test('the verdict card says in words why a run is not upheld', async () => {
  expect(words(await htmlReport(refuted()))).toContain(
    'refuted no acknowledged record of the baseline is lost: not in trial 4.',
  )
  expect(words(await htmlReport(interrupted()))).toContain('Interrupted after 2 of 6 trials. The run was interrupted.')
  const spoilt = words(await htmlReport(inconclusive()))
  expect(spoilt).toContain('2 trials did not count.')
  expect(spoilt).toContain('the followers had the baseline and no more')
})

test('a run of which nothing is known yet is a page too', async () => {
  const run = {...interrupted().run, state: 'running' as const, trials: [], measures: [], columns: []}
  const text = words(await htmlReport({run, figures: [], evidence: [], faults: []}))
  expect(text).toContain('No claim was judged yet.')
  expect(text).toContain('No trial has ended yet.')
})

test('in the folder of the run, paths are relative to the page', async () => {
  expect(await htmlReport(dataLoss({dir: '.'}))).toContain('--files evidence/trial-1/')
})

describe('what comes from records, brokers and errors', () => {
  const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>&amp;\u202egnp\u0000\u001b[31m`

  test('is text everywhere on the page, in the drawings too', async () => {
    const poisoned = JSON.parse(JSON.stringify(failover()), (key, value) => {
      const kept = [
        'kind',
        'tone',
        'align',
        'outcome',
        'quantifier',
        'state',
        'profile',
        'condition',
        'measure',
        'id',
        'schema',
        'compiler',
        'runtime',
      ]
      return typeof value === 'string' && !kept.includes(key) ? evil : value
    }) as ReportInput
    const page = await htmlReport(poisoned)
    expect(page).not.toMatch(/<script|<img/i)
    expect(page.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(60)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(page).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/)
    for (const [, attributes = ''] of page.matchAll(/<[a-z][\w-]*((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*\/?>/gi))
      expect(attributes.replace(/"[^"]*"/g, '')).not.toMatch(/\son\w+=/i)
    // Every "<" begins a tag that is well formed: nothing broke out of an attribute.
    expect(
      page.replace(/<style>[\s\S]*?<\/style>/, '').match(/<(?!\/?[a-z!][\w-]*(?:\s+[\w:-]+(?:="[^"<>]*")?)*\s*\/?>)/gi),
    ).toBeNull()
  })

  test('a path of evidence is a link below the page, whatever it is called', () => {
    expect(relativeLink('evidence/a b/00.log')).toBe('./evidence/a%20b/00.log')
    expect(relativeLink('javascript:alert(1)')).toBe('./javascript%3Aalert(1)')
    expect(relativeLink('\ud800"<>')).toBe('./%EF%BF%BD%22%3C%3E')
  })

  test('the template escapes plain values, takes markup over, and keeps nothing for nothing', () => {
    expect(html`<p title="${'"'}">${'<b>'} ${html`<i>${1}</i>`}${undefined}${false}${['a', '&']}</p>`.markup).toBe(
      '<p title="&quot;">&lt;b&gt; <i>1</i>a&amp;</p>',
    )
    expect(escaped('a\n b\u0007')).toBe('a b\\x07')
    expect(commandBlock(['a  <b>', 'c']).markup).toContain('<span>a  &lt;b&gt;</span><span>c</span>')
  })
})

test('ten thousand acknowledgements become a small drawing that keeps the peak', async () => {
  const points = Array.from({length: 10_000}, (_, i) => [i * 2, i === 7_777 ? 9_000 : 3 + (i % 5)] as const)
  const figure = {...linesFigure, series: [{name: 'acks=all', points}]} as typeof linesFigure
  const page = await htmlReport({...dataLoss(), figures: [figure, lanesFigure]})
  expect(page.length).toBeLessThan(200_000)
  expect(page).toContain('>10 s<')
})
