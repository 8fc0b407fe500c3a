import {CLIError} from '@oclif/core/errors'
import {expect, test} from 'vitest'
import {failureOf} from '../../../src/cli/failure.js'
import {KxError} from '../../../src/util/errors.js'

test.each([
  ['usage', 2],
  ['environment', 4],
  ['input', 5],
  ['inconclusive', 3],
  ['interrupted', 130],
] as const)('an error of kind %s exits %i and keeps its cure', (kind, exit) => {
  const error = new KxError(kind, 'KX_TEST', 'It went wrong.', {
    suggestions: ['Do this.'],
    cause: new Error('inner', {cause: new Error('innermost')}),
  })
  expect(failureOf(error)).toEqual({
    kind,
    code: 'KX_TEST',
    message: 'It went wrong.',
    suggestions: ['Do this.'],
    cause: 'inner: innermost',
    exit,
  })
})

test('what nobody foresaw is a bug: 70, with a stack', () => {
  const failure = failureOf(new TypeError('x is undefined'))
  expect(failure).toMatchObject({
    kind: 'internal',
    code: 'KX_BUG',
    exit: 70,
    message: 'This is a bug in kx: TypeError: x is undefined',
  })
  expect(failure.stack).toContain('failure.test.ts')
})

test('even a thrown string has a stack and exits 70', () => {
  expect(failureOf('oops')).toMatchObject({exit: 70, message: 'This is a bug in kx: oops'})
  expect(failureOf('oops').stack).not.toBe('')
  expect(failureOf(undefined).exit).toBe(70)
})

test.each([
  ['ENOSPC', 'KX_DISK_FULL'],
  ['EACCES', 'KX_NOT_PERMITTED'],
  ['EROFS', 'KX_NOT_PERMITTED'],
  ['EMFILE', 'KX_TOO_MANY_FILES'],
])('a failed system call (%s) is the machine’s fault', (code, expected) => {
  const failure = failureOf(Object.assign(new Error(`${code}: something, write`), {code}))
  expect(failure).toMatchObject({kind: 'environment', code: expected, exit: 4})
  expect(failure.suggestions).toHaveLength(1)
  expect(failure.stack).toBeUndefined()
})

test('the parser’s complaints are usage errors, said in one line', () => {
  const error = new CLIError('Parsing --heap \n\t"x" is no size\nSee more help with --help', {exit: 2})
  expect(failureOf(error, {command: 'kx up'})).toMatchObject({
    kind: 'usage',
    code: 'KX_USAGE',
    exit: 2,
    message: '--heap: "x" is no size.',
    suggestions: ['kx up --help'],
  })
})

test('an unknown flag finds its neighbour', () => {
  const error = Object.assign(new CLIError('Nonexistent flag: --nam=x', {exit: 2}), {flags: ['--nam=x']})
  expect(failureOf(error, {flags: ['name', 'brokers'], command: 'kx up'}).suggestions).toEqual([
    'Did you mean --name?',
    'kx up --help',
  ])
})

test('after an interruption whatever was thrown exits 130, and an error of the clean-up is told', () => {
  expect(
    failureOf(new KxError('interrupted', 'KX_INTERRUPTED', 'Interrupted by SIGINT.'), {interrupted: true}),
  ).toMatchObject({
    exit: 130,
    message: 'Interrupted by SIGINT.',
  })
  const aborted = Object.assign(new Error('The operation was aborted'), {name: 'AbortError'})
  expect(failureOf(aborted, {interrupted: true})).toMatchObject({exit: 130, message: 'Interrupted.'})
  expect(failureOf(new Error('broker 2 is still paused'), {interrupted: true})).toMatchObject({
    exit: 130,
    message: 'Interrupted. On the way out: broker 2 is still paused',
  })
})
