import {expect, test} from 'vitest'
import {failureText, rendered, table} from '../../../src/cli/answer.js'
import {durationMs, mebibytes} from '../../../src/cli/flags.js'
import {Progress} from '../../../src/cli/progress.js'
import {paint, screen, wrap} from '../../../src/cli/terminal.js'

test.each([
  ['a terminal', {isTTY: true, columns: 100}, {}, {columns: 100, colour: true, unicode: true, live: true}],
  ['a pipe', {}, {}, {columns: 80, colour: false, unicode: true, live: false}],
  ['NO_COLOR', {isTTY: true, columns: 100}, {NO_COLOR: '1'}, {columns: 100, colour: false, unicode: true, live: true}],
  [
    'an empty NO_COLOR',
    {isTTY: true, columns: 100},
    {NO_COLOR: ''},
    {columns: 100, colour: true, unicode: true, live: true},
  ],
  [
    'a dumb terminal',
    {isTTY: true, columns: 100},
    {TERM: 'dumb'},
    {columns: 100, colour: false, unicode: true, live: false},
  ],
  [
    'CI that fakes a terminal',
    {isTTY: true, columns: 100},
    {CI: 'true'},
    {columns: 100, colour: true, unicode: true, live: false},
  ],
  ['a pipe with FORCE_COLOR', {}, {FORCE_COLOR: '1'}, {columns: 80, colour: true, unicode: true, live: false}],
  [
    'NO_COLOR against FORCE_COLOR',
    {},
    {FORCE_COLOR: '1', NO_COLOR: '1'},
    {columns: 80, colour: false, unicode: true, live: false},
  ],
  ['COLUMNS in a pipe', {}, {COLUMNS: '120'}, {columns: 120, colour: false, unicode: true, live: false}],
  ['nonsense in COLUMNS', {}, {COLUMNS: 'wide'}, {columns: 80, colour: false, unicode: true, live: false}],
  ['a tiny terminal', {isTTY: true, columns: 10}, {}, {columns: 80, colour: true, unicode: true, live: true}],
])('what can be shown: %s', (_, stream, environment, expected) => {
  expect(screen(stream, environment)).toEqual(expected)
})

test.each([
  [{}, true],
  [{LANG: 'en_US.UTF-8'}, true],
  [{LANG: 'C.utf8'}, true],
  [{LANG: 'C'}, false],
  [{LANG: 'en_US.UTF-8', LC_ALL: 'POSIX'}, false],
  [{LANG: 'de_DE.ISO-8859-1', LC_CTYPE: 'C.UTF-8'}, true],
])('the locale %j can show more than ASCII: %s', (environment, expected) => {
  expect(screen({}, environment).unicode).toBe(expected)
})

test('text is wrapped between words; what is longer than a line stays whole', () => {
  expect(wrap('one two three', 8, '  ')).toBe('one\n  two\n  three')
  expect(wrap('see /a/very/long/path/indeed now', 10)).toBe('see\n/a/very/long/path/indeed\nnow')
})

test('a table puts numbers to the right', () => {
  expect(
    table(
      ['name', 'n'],
      [
        ['a', 1],
        ['long', 100],
      ],
    ),
  ).toBe('name    n\na       1\nlong  100')
})

test('a table wraps its last column where it would be too wide', () => {
  expect(table(['n', 'said'], [[1, 'one two three four five six']], 24)).toBe(
    'n  said\n1  one two three four\n   five six',
  )
})

test('64-bit numbers become strings in JSON and in YAML', async () => {
  const answer = {data: {offset: 9_007_199_254_740_993n}, text: () => 'x'}
  const plain = {columns: 80, colour: false, unicode: true, live: false}
  expect(await rendered(answer, 'json', plain)).toBe('{\n  "offset": "9007199254740993"\n}\n')
  expect(await rendered(answer, 'yaml', plain)).toBe('offset: "9007199254740993"\n')
  expect(await rendered(answer, 'text', plain)).toBe('x\n')
})

test('an error is one paragraph, its cause, and what to try', () => {
  const failure = {
    kind: 'environment',
    code: 'KX_X',
    message: 'The cluster did not become ready in time because broker 2 was never seen by the controller.',
    suggestions: ['Try this.', 'kx doctor'],
    cause: 'connect refused',
    exit: 4,
  } as const
  expect(failureText(failure, {columns: 66, colour: false, unicode: true, live: false})).toMatchInlineSnapshot(`
    "Error: The cluster did not become ready in time because broker 2
    was never seen by the controller.
    Cause: connect refused
    Try:   Try this.
           kx doctor
    "
  `)
})

test.each([
  ['90', 90_000],
  ['90s', 90_000],
  ['2m', 120_000],
  ['1m30s', 90_000],
  ['500ms', 500],
  ['1h', 3_600_000],
  ['1.5s', 1_500],
  ['', undefined],
  ['s', undefined],
  ['-5', undefined],
  ['5 s', undefined],
])('the duration %j is %s ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms)
})

test.each([
  ['384', 384],
  ['512m', 512],
  ['1g', 1_024],
  ['2GiB', 2_048],
  ['x', undefined],
  ['', undefined],
])('the size %j is %s MiB', (text, size) => {
  expect(mebibytes(text)).toBe(size)
})

function progress(live: boolean, quiet = false) {
  const written: string[] = []
  let nowMs = 0
  const it = new Progress({
    screen: {columns: 40, colour: false, unicode: true, live},
    quiet,
    write: text => written.push(text),
    now: () => nowMs,
  })
  return {it, text: () => written.join(''), pass: (ms: number) => (nowMs += ms)}
}

test('off a terminal every step is a plain line, and no line is repeated', () => {
  const {it, text} = progress(false)
  it.live('starting')
  it.live('starting')
  it.line('a note')
  it.live('waiting')
  it.settle('done')
  expect(text()).toBe('starting\na note\nwaiting\ndone\n')
})

test('on a terminal one live line is overwritten, and what stays is written above it', () => {
  const {it, text, pass} = progress(true)
  it.live('starting')
  pass(1_500)
  it.line('a note')
  it.settle('done')
  const erase = '\r\u001b[2K'
  expect(text()).toBe(`${erase}starting  0 ms${erase}a note\n${erase}starting  1.5 s${erase}done\n`)
})

test('on a terminal a phase that is over stays, with the time that it took', () => {
  const {it, text, pass} = progress(true)
  it.live('starting')
  pass(1_500)
  it.live('waiting')
  it.live('waiting')
  it.settle()
  const erase = '\r\u001b[2K'
  expect(text()).toBe(`${erase}starting  0 ms${erase}starting  1.5 s\n${erase}waiting  0 ms${erase}`)
})

test('a counter goes on in its line, and off a terminal is told every 10 s', () => {
  const live = progress(true)
  live.it.live('jars: 1.0 MiB of 54.1 MiB')
  live.it.live('jars: 2.0 MiB of 54.1 MiB')
  expect(live.text()).not.toContain('\n')
  const plain = progress(false)
  for (let seconds = 0; seconds < 30; seconds++) {
    plain.it.live(`jars: ${seconds}.0 MiB of 54.1 MiB`)
    plain.pass(1_000)
  }
  plain.it.live('starting 4 JVMs')
  expect(plain.text()).toBe(
    'jars: 0.0 MiB of 54.1 MiB\njars: 10.0 MiB of 54.1 MiB\njars: 20.0 MiB of 54.1 MiB\nstarting 4 JVMs\n',
  )
})

test('a live line never wraps', () => {
  const {it, text} = progress(true)
  it.live('x'.repeat(100))
  it.settle()
  const lines = text().split('\r\u001b[2K')
  expect(lines).toHaveLength(3)
  expect(Math.max(...lines.map(line => line.length))).toBeLessThan(40)
})

test('--no-progress leaves only warnings', () => {
  const {it, text} = progress(false, true)
  it.live('starting')
  it.line('a note')
  it.settle('done')
  it.warning('broker 2 is slow')
  expect(text()).toBe('Warning: broker 2 is slow\n')
})

test('what a broker wrote can’t command the terminal', () => {
  const {it, text} = progress(false)
  it.line(`evil \u001b]0;title\u0007 ${paint('fine', 'red', true)}`)
  expect(text()).toBe('evil \\x1b]0;title\\x07 \u001b[31mfine\u001b[0m\n')
})
