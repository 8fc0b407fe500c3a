import {describe, expect, test} from 'vitest'
import type {DifferenceId} from '../../../../src/log/text/differences.js'
import {breakdowns, expectations, recorded, shownByGoldenRuns, type Streams, streams} from './golden-differences.js'
import {diskFolder, type GoldenRun, goldenRuns, optionsOf, type Printed, print} from './golden-runs.js'

// Every recorded run of Kafka's own tool: stdout and the report are equal byte for byte, or differ in a way that has a
// name. What is expected instead follows from the recorded output and the rule of the difference, not from what kx prints.

/** No finding about the bytes: they are as they should be, only the tool can't cope with them. */
const clean: ReadonlySet<DifferenceId> = new Set(['sanity-of-preallocated', 'name-without-offset'])

const used = new Set<DifferenceId>()

function printed(run: GoldenRun, bugCompatible = false): Promise<Printed> {
  return print(diskFolder(run.folder), run.file, {...optionsOf(run.args, run.style), bugCompatible})
}

describe("what Kafka's tool printed and came to its end", () => {
  test.each(goldenRuns.filter(({exit}) => exit === 0).map(run => [run.title, run] as const))('%s', async (_, run) => {
    const actual = streams(await printed(run))
    const expected = recorded(run)
    if (actual.stdout === expected.stdout && actual.stderr === expected.stderr) return
    for (const [id, expectation] of Object.entries(expectations) as [
      DifferenceId,
      (typeof expectations)['first-gap'],
    ][]) {
      const other = expectation?.(run)
      if (!other) continue
      used.add(id)
      expect(actual).toEqual(other)
      return
    }
    if (losesFindings(actual, expected)) used.add('lost-findings')
    else if (await isResynchronised(run, actual)) used.add('resynchronisation')
    else expect(actual).toEqual(expected)
  })
})

/** Kafka's lines, in their order, with more of them in between that have the same first number as one of them. */
function losesFindings(actual: Streams, expected: Streams): boolean {
  if (actual.stdout !== expected.stdout) return false
  const [all, kept] = [actual.stderr.split('\n'), expected.stderr.split('\n')]
  let next = 0
  for (const line of all) if (line === kept[next]) next++
  const firstNumber = (line: string): string => line.replace(/(, log offset| is followed by).*/, '')
  return next === kept.length && all.every(line => kept.some(other => firstNumber(other) === firstNumber(line)))
}

/** The file is that of the case `base` with one damage: what kx prints of it are lines of the whole file. */
async function isResynchronised(run: GoldenRun, {stdout}: Streams): Promise<boolean> {
  const whole = goldenRuns.find(
    other => other.case === 'base' && other.file === run.file && other.args.join() === run.args.join(),
  )
  const lines = stdout.split('\n')
  const linesOfWhole = whole?.stdout.toString('latin1').split('\n') ?? []
  return lines.length > 4 && lines.every(line => linesOfWhole.includes(line))
}

describe("where Kafka's tool broke down", () => {
  test.each(goldenRuns.filter(({exit}) => exit !== 0).map(run => [run.title, run] as const))('%s', async (_, run) => {
    const result = await printed(run)
    const [, id] = breakdowns.find(([exception]) => exception.test(run.stderr)) ?? []
    if (id === undefined) throw new Error(`no difference explains it: ${run.stderr}`)
    used.add(id)
    if (!clean.has(id)) expect(result.findings.filter(({severity}) => severity !== 'info')).not.toEqual([])
    else expect(result.findings.filter(({severity}) => severity === 'error')).toEqual([])
    const actual = streams(result)
    expect(actual.stderr).not.toMatch(/Exception|\tat /)
    if (await isResynchronised(run, actual)) return
    // Its last line may be unfinished.
    const lines = recorded(run).stdout.replace(/[^\n]*$/, '')
    expect(actual.stdout.startsWith(lines), `${lines}\n---\n${actual.stdout}`).toBe(true)
  })
})

describe("with bugCompatible the report of Kafka's tool is the same, too", () => {
  const reporting = goldenRuns.filter(run => run.exit === 0 && run.stderr !== '')
  test.each(reporting.map(run => [run.title, run] as const))('%s', async (_, run) => {
    expect(streams(await printed(run, true))).toEqual(recorded(run))
  })
})

test('every difference that recorded runs can show was seen', () => {
  expect([...used].sort()).toEqual([...new Set(shownByGoldenRuns)].sort())
})
