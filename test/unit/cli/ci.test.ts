import {mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {keepArtifacts} from '../../../src/cli/artifacts.js'
import {type CiCase, gravest, runSet} from '../../../src/cli/ci.js'
import type {ReportInput, RunRecord} from '../../../src/experiment/run.js'
import {KxError} from '../../../src/util/errors.js'

const never = new AbortController().signal

function record(experiment: string, outcome: RunRecord['verdict']['outcome'], because = 'in 1 of 1 trials'): RunRecord {
  return {
    experiment,
    id: '7f3a',
    startedAt: '2026-11-29T19:44:02.123Z',
    dir: `/results/${experiment}/7f3a`,
    seed: 42,
    environment: {kafka: '4.4.0', runtime: 'local'},
    verdict: {
      outcome,
      claims: [
        {claim: 'acks=all loses nothing', quantifier: 'always', outcome, because, telling: 1},
        {
          claim: 'the cut alone loses nothing',
          quantifier: 'control',
          outcome: 'upheld',
          because: 'in 1 of 1 trials',
          telling: 1,
        },
      ],
    },
  } as unknown as RunRecord
}

const upheld: CiCase = {
  experiment: 'data-loss',
  outcome: 'upheld',
  durationMs: 61_000,
  run: record('data-loss', 'upheld'),
}
const refuted: CiCase = {
  experiment: 'failover',
  outcome: 'refuted',
  durationMs: 1_500,
  run: record('failover', 'refuted', 'not in trial 2: <lost> & "gone"\u0000'),
}
const unclear: CiCase = {
  experiment: 'natural-loss',
  outcome: 'inconclusive',
  durationMs: 1_000,
  run: record('natural-loss', 'inconclusive', 'no trial could tell'),
}
const broken: CiCase = {
  experiment: 'min-insync-replicas',
  outcome: 'error',
  durationMs: 10,
  failure: {
    kind: 'environment',
    code: 'KX_NO_RUNTIME',
    message: 'No cluster can be started.',
    suggestions: ['kx doctor'],
    cause: null,
    exit: 4,
  },
}

describe('the exit code is that of the gravest outcome', () => {
  test.each([
    [[upheld], 0],
    [[upheld, unclear], 3],
    [[upheld, unclear, broken], 4],
    [[refuted, unclear, broken], 1],
    [[refuted, {...broken, failure: {...broken.failure!, exit: 70}}], 70],
    [[], 3],
  ])('%#', (cases, exit) => {
    expect(gravest(cases as CiCase[])).toBe(exit)
    expect(gravest([...(cases as CiCase[])].reverse())).toBe(exit)
  })
})

describe('a set', () => {
  const input = {} as ReportInput
  const watch = () => undefined

  test('goes on after an error', async () => {
    const result = await runSet({
      experiments: ['a', 'b'],
      budgetMs: 60_000,
      signal: never,
      watch,
      run: async name => {
        if (name === 'a') throw new KxError('environment', 'KX_TIMEOUT', 'Waited in vain.')
        return {run: record(name, 'upheld'), input}
      },
    })
    expect(result.cases.map(({experiment, outcome, failure}) => [experiment, outcome, failure?.code])).toEqual([
      ['a', 'error', 'KX_TIMEOUT'],
      ['b', 'upheld', undefined],
    ])
    expect(result.exit).toBe(4)
  })

  test('ends with its time budget: the one that runs is interrupted, the others are errors', async () => {
    const result = await runSet({
      experiments: ['slow', 'never'],
      budgetMs: 30,
      signal: never,
      watch,
      run: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    expect(result.cases.map(({outcome, failure}) => [outcome, failure?.code])).toEqual([
      ['error', 'KX_BUDGET'],
      ['error', 'KX_BUDGET'],
    ])
    expect(result.exit).toBe(4)
  })

  test('that is interrupted ends with 130, and what did not run is told', async () => {
    const stop = new AbortController()
    const result = await runSet({
      experiments: ['a', 'b'],
      budgetMs: 60_000,
      signal: stop.signal,
      watch,
      run: async () => {
        stop.abort(new KxError('interrupted', 'KX_INTERRUPTED', 'Interrupted by SIGINT.'))
        throw stop.signal.reason
      },
    })
    expect(result.exit).toBe(130)
    expect(result.cases.map(({failure}) => failure?.exit)).toEqual([130, 130])
  })
})

describe('artifacts', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kx-artifacts-'))
    mkdirSync(join(folder, 'run/evidence'), {recursive: true})
    writeFileSync(join(folder, 'run/run.json'), 'x'.repeat(100))
    writeFileSync(join(folder, 'run/report.html'), 'x'.repeat(200))
    writeFileSync(join(folder, 'run/evidence/a.log.gz'), 'x'.repeat(50))
    writeFileSync(join(folder, 'run/evidence/b.log.gz'), 'x'.repeat(5_000))
  })
  afterEach(() => rmSync(folder, {recursive: true, force: true}))

  test('all fit', async () => {
    const target = join(folder, 'out')
    expect(await keepArtifacts({'data-loss-7f3a': join(folder, 'run')}, target, 10_000)).toEqual({
      files: 4,
      sizeInBytes: 5_350,
      omitted: [],
    })
    expect(readFileSync(join(target, 'data-loss-7f3a/evidence/b.log.gz')).length).toBe(5_000)
    expect(readdirSync(target)).toEqual(['data-loss-7f3a'])
  })

  test('what exceeds the limit is left out and named; the verdict and the report come first', async () => {
    const target = join(folder, 'out')
    expect(await keepArtifacts({r: join(folder, 'run')}, target, 350)).toEqual({
      files: 3,
      sizeInBytes: 350,
      omitted: ['r/evidence/b.log.gz'],
    })
    expect(readFileSync(join(target, 'OMITTED.txt'), 'utf8')).toBe(
      '1 file left out: more than 350 B in all.\nr/evidence/b.log.gz\n',
    )
    const tight = await keepArtifacts({r: join(folder, 'run')}, join(folder, 'tight'), 120)
    expect(tight.omitted).toEqual(['r/report.html', 'r/evidence/a.log.gz', 'r/evidence/b.log.gz'])
  })
})
