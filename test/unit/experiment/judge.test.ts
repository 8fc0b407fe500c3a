import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {allOf, always, control} from '../../../src/experiment/claims.js'
import {experiment, integer, type AnyExperiment} from '../../../src/experiment/experiment.js'
import {judge, type StoredRun, type StoredTrial, type trialsOf} from '../../../src/experiment/judge.js'

interface Seen {
  readonly acked: number
  readonly lost: number
  readonly isr: number[]
  readonly timeline?: {readonly ms: number | null}
}

const note = experiment({
  question: 'Is anything lost?',
  hypothesis: 'No.',
  shows: ['R5'],
  doesNotShow: 'all else.',
  reach: 'brokers',
  apparatus: {controllers: 1, topics: {}},
  knobs: {records: integer({default: 10, summary: 'records'})},
  conditions: {killed: {label: 'killed'}, healed: {label: 'healed (control)'}},
  secondsPerBlow: {killed: 1, healed: 1},
  method: async (): Promise<Seen> => ({acked: 0, lost: 0, isr: []}),
  given: {
    'the ISR was complete': (seen: Seen) => seen.isr.length === 3,
    'all was acknowledged': (seen: Seen, _: unknown, {records}) => seen.acked === records,
  },
  measures: {
    lost: {label: 'lost', unit: 'records', of: (seen: Seen) => seen.lost},
    ms: {label: 'took', unit: 'ms', of: (seen: Seen) => seen.timeline!.ms},
  },
  verdict: trials =>
    allOf(
      always('nothing is lost', trials.under('killed'), {tells: t => t.acked > 0, holds: t => t.lost === 0}),
      control('nor is it without a kill', trials.under('healed'), {holds: t => t.lost === 0}),
    ),
  figures: () => [],
}) as AnyExperiment

const good: Seen = {acked: 10, lost: 0, isr: [1, 2, 3], timeline: {ms: 100}}
const trial = (
  number: number,
  condition: string,
  observation: unknown = good,
  rest: Partial<StoredTrial> = {},
): StoredTrial => ({
  number,
  condition,
  outcome: 'ok',
  observation,
  durationMs: 5,
  ...rest,
})
const run = (trials: readonly StoredTrial[], rest: Partial<StoredRun> = {}): StoredRun => ({
  trials,
  planned: {killed: 2, healed: 1},
  knobs: {records: 10},
  ...rest,
})
const whole = [trial(1, 'killed'), trial(2, 'healed'), trial(3, 'killed')]
const judged = (trials: readonly StoredTrial[], rest?: Partial<StoredRun>) => judge(note, run(trials, rest))

describe('a run that is whole', () => {
  test('is upheld, with its trials and measures', () => {
    const {verdict, trials, measures, counted} = judged(whole)
    expect(verdict).toMatchObject({
      outcome: 'upheld',
      claims: [{because: 'in 2 of 2 trials'}, {because: 'in 1 of 1 trials'}],
    })
    expect(verdict.because).toBeUndefined()
    expect(trials[0]).toEqual({
      number: 1,
      condition: 'killed',
      outcome: 'ok',
      durationMs: 5,
      measures: {lost: 0, ms: 100},
    })
    expect(measures).toContainEqual({
      condition: 'killed',
      measure: 'ms',
      label: 'took',
      unit: 'ms',
      n: 2,
      median: 100,
      min: 100,
      max: 100,
    })
    expect(counted.all.map(({number}) => number)).toEqual([1, 2, 3])
    expect(counted.all.planned).toBe(3)
  })

  test('is refuted by one doctored value', () => {
    const doctored = whole.with(2, trial(3, 'killed', {...good, lost: 1}))
    expect(judged(doctored).verdict).toMatchObject({outcome: 'refuted', claims: [{because: 'not in trial 3'}, {}]})
    const control = whole.with(1, trial(2, 'healed', {...good, lost: 1}))
    expect(judged(control).verdict.outcome).toBe('refuted')
  })
})

describe('a trial that can’t tell', () => {
  test('a precondition that was not met makes it inconclusive, by its name, and the run too', () => {
    const {verdict, trials} = judged(whole.with(0, trial(1, 'killed', {...good, isr: [1, 2]})))
    expect(trials[0]).toMatchObject({outcome: 'inconclusive', reason: 'the ISR was complete', measures: {lost: 0}})
    expect(verdict).toMatchObject({outcome: 'inconclusive', because: 'only 1 of 2 planned trials under killed count'})
  })

  test('a lost record in it refutes nothing', () => {
    expect(judged(whole.with(0, trial(1, 'killed', {...good, isr: [1], lost: 5}))).verdict.outcome).toBe('inconclusive')
  })

  test('it may be repeated: with enough that count the run is upheld', () => {
    expect(judged([...whole.with(0, trial(1, 'killed', {...good, isr: []})), trial(4, 'killed')]).verdict.outcome).toBe(
      'upheld',
    )
  })

  test('a precondition that throws is not met, with the error', () => {
    const {trials} = judged(whole.with(0, trial(1, 'killed', {acked: 10, lost: 0})))
    expect(trials[0]).toMatchObject({
      outcome: 'inconclusive',
      reason: expect.stringMatching(/^the ISR was complete: .*undefined/),
    })
  })

  test('a precondition that says neither yes nor no is not met', () => {
    const vague = {...note, given: {vague: () => 'yes' as unknown as boolean}}
    expect(judge(vague, run(whole)).trials.map(({reason}) => reason)).toEqual(['vague', 'vague', 'vague'])
  })

  test('preconditions are looked at with the run’s knobs', () => {
    expect(judged(whole, {knobs: {records: 11}}).trials[0]).toMatchObject({
      outcome: 'inconclusive',
      reason: 'all was acknowledged',
    })
    expect(judged(whole, {knobs: {}}).trials[0]).toMatchObject({outcome: 'ok'})
  })

  test('a precondition that failed when it was stored is looked at again', () => {
    const again = trial(1, 'killed', good, {outcome: 'inconclusive', reason: 'the ISR was complete'})
    expect(judged(whole.with(0, again)).verdict.outcome).toBe('upheld')
    const threw = trial(1, 'killed', good, {outcome: 'inconclusive', reason: 'the ISR was complete: it threw'})
    expect(judged(whole.with(0, threw)).trials[0]?.outcome).toBe('ok')
  })

  test('what was inconclusive for another reason stays so', () => {
    const unproven = trial(1, 'killed', good, {outcome: 'inconclusive', reason: 'the pause could not be proven'})
    const {verdict, trials} = judged(whole.with(0, unproven))
    expect(trials[0]).toMatchObject({outcome: 'inconclusive', reason: 'the pause could not be proven'})
    expect(verdict.outcome).toBe('inconclusive')
  })

  test('a failed trial stays failed, whatever it has observed', () => {
    const failed = trial(1, 'killed', good, {outcome: 'failed', reason: 'ECONNRESET'})
    const {verdict, trials} = judged(whole.with(0, failed))
    expect(trials[0]).toMatchObject({outcome: 'failed', reason: 'ECONNRESET'})
    expect(verdict.outcome).toBe('inconclusive')
  })

  test.each<[string, StoredTrial, RegExp]>([
    ['without an observation', trial(1, 'killed', good, {observation: undefined}), /^no observation was stored$/],
    ['of a condition that is no longer there', trial(1, 'moved'), /no condition moved/],
    ['of a condition that only objects have', trial(1, 'constructor'), /no condition constructor/],
  ])('one %s is inconclusive', (_, stored, reason) => {
    const {trials, verdict} = judged(whole.with(0, stored))
    expect(trials[0]).toMatchObject({outcome: 'inconclusive', reason: expect.stringMatching(reason)})
    expect(verdict.outcome).toBe('inconclusive')
  })

  test('one that is stored twice counts once', () => {
    const {verdict, trials} = judged([trial(1, 'killed'), trial(1, 'killed'), trial(2, 'healed')])
    expect(trials.map(({outcome}) => outcome)).toEqual(['ok', 'inconclusive', 'ok'])
    expect(verdict.outcome).toBe('inconclusive')
  })
})

describe('a run that can’t be upheld', () => {
  test('no trials', () => {
    expect(judged([]).verdict).toMatchObject({outcome: 'inconclusive', because: 'no trial counts'})
  })

  test('no trial that counts, even if one of them was bad', () => {
    const {verdict, measures} = judged([trial(1, 'killed', {...good, isr: [], lost: 3})])
    expect(verdict).toMatchObject({outcome: 'inconclusive', because: 'no trial counts'})
    expect(measures.every(({n, median}) => n === 0 && median === null)).toBe(true)
  })

  test('too few trials under one condition; a refutation stays one', () => {
    expect(judged([trial(1, 'killed'), trial(2, 'killed')]).verdict).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 0 of 1 planned trials under healed count',
    })
    expect(judged([trial(1, 'killed', {...good, lost: 1})]).verdict).toMatchObject({
      outcome: 'refuted',
      because: 'only 1 of 2 planned trials under killed and 0 of 1 planned trials under healed count',
    })
  })

  test('a plan that says nothing, or nothing sensible, of a condition does not spare its trials', () => {
    const plans: StoredRun['planned'][] = [{}, {killed: 0, healed: 0}, {killed: Number.NaN, healed: -1}]
    for (const planned of plans) {
      expect(judged([trial(1, 'killed')], {planned}).verdict.outcome).toBe('inconclusive')
    }
  })

  test('a condition that no claim looks at needs its trials all the same', () => {
    const careless = {
      ...note,
      verdict: (trials: ReturnType<typeof trialsOf>) =>
        allOf(control('x', trials.under('killed'), {holds: () => true})),
    }
    expect(judge(careless, run([trial(1, 'killed')], {planned: {killed: 1}})).verdict).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 0 of 1 planned trials under healed count',
    })
  })

  test('a verdict that throws, for example because it asks for a condition that does not exist', () => {
    const typo = {
      ...note,
      verdict: (trials: ReturnType<typeof trialsOf>) => allOf(control('x', trials.under('kiled'), {holds: () => true})),
    }
    expect(judge(typo, run(whole)).verdict).toEqual({
      outcome: 'inconclusive',
      claims: [],
      because: 'the verdict could not be formed: there is no condition kiled',
    })
  })

  test('an experiment that says "upheld" on its own, without claims or without a control', () => {
    const bold = {...note, verdict: () => ({outcome: 'upheld' as const, claims: []})}
    expect(judge(bold, run(whole)).verdict).toMatchObject({outcome: 'inconclusive', because: 'nothing was claimed'})
    const uncontrolled = {
      ...note,
      verdict: (trials: ReturnType<typeof trialsOf>) => ({
        outcome: 'upheld' as const,
        claims: [always('x', trials.all, {holds: () => true})],
      }),
    }
    expect(judge(uncontrolled, run(whole)).verdict).toMatchObject({
      outcome: 'inconclusive',
      because: 'there is no control',
    })
  })
})

test('a measure that throws or is no number is a dash, and not counted', () => {
  const trials = [
    trial(1, 'killed', {...good, timeline: undefined}),
    trial(2, 'healed'),
    trial(3, 'killed', {...good, timeline: {ms: Number.NaN}}),
  ]
  const {trials: records, measures, verdict} = judged(trials)
  expect(records[0]?.measures).toEqual({lost: 0, ms: null})
  expect(measures).toContainEqual({
    condition: 'killed',
    measure: 'ms',
    label: 'took',
    unit: 'ms',
    n: 0,
    median: null,
    min: null,
    max: null,
  })
  expect(verdict.outcome).toBe('upheld')
})

describe('judging, as properties', () => {
  const seen = fc.record({
    acked: fc.constantFrom(10, 10, 10, 0),
    lost: fc.constantFrom(0, 0, 0, 0, 1),
    isr: fc.constantFrom([1, 2, 3], [1, 2, 3], [1, 2]),
    timeline: fc.record({ms: fc.option(fc.nat(1_000))}),
  })
  const trials = fc
    .array(
      fc.tuple(
        fc.constantFrom('killed', 'healed'),
        fc.option(seen, {freq: 8}),
        fc.constantFrom('ok', 'ok', 'ok', 'failed', 'inconclusive'),
      ),
      {maxLength: 8},
    )
    .map(all =>
      all.map(([condition, observation, outcome], index) =>
        trial(index + 1, condition, good, {
          observation: observation ?? undefined,
          outcome: outcome as StoredTrial['outcome'],
        }),
      ),
    )

  test('the order in which trials were stored never matters', () => {
    fc.assert(
      fc.property(
        trials.chain(all => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, {minLength: all.length}))),
        ([all, shuffled]) => {
          const [{counted: _, ...one}, {counted: __, ...other}] = [judged(all), judged(shuffled)]
          expect(other).toEqual(one)
        },
      ),
    )
  })

  test('removing trials never makes an inconclusive run upheld, as long as the plan asked for all of them', () => {
    fc.assert(
      fc.property(
        trials.chain(all => fc.tuple(fc.constant(all), fc.subarray(all))),
        ([all, fewer]) => {
          const count = (condition: string) => all.filter(each => each.condition === condition).length
          const planned = {killed: count('killed'), healed: count('healed')}
          if (judged(all, {planned}).verdict.outcome === 'inconclusive') {
            expect(judged(fewer, {planned}).verdict.outcome).not.toBe('upheld')
          }
        },
      ),
      {numRuns: 1_000},
    )
  })

  test('a lost record in any trial that counts never leaves a run upheld', () => {
    fc.assert(
      fc.property(trials, fc.nat(), (all, which) => {
        fc.pre(all.length > 0)
        const victim = all[which % all.length] as StoredTrial
        const worse = all.with(which % all.length, {
          ...victim,
          observation: {...(victim.observation as Seen | undefined), lost: 1},
        })
        const before = judged(all)
        const counts = before.trials.find(({number}) => number === victim.number)?.outcome === 'ok'
        expect(judged(worse).verdict.outcome).toBe(
          counts && (victim.condition === 'healed' || (victim.observation as Seen).acked > 0)
            ? 'refuted'
            : before.verdict.outcome,
        )
      }),
    )
  })
})

describe('a condition that needs a client', () => {
  const optional = {
    ...note,
    conditions: {...note.conditions, other: {label: 'another client', client: 'librdkafka'}},
  } as AnyExperiment
  const withOther = (planned: Record<string, number>) =>
    judge(optional, run(whole, {planned: {killed: 2, healed: 1, ...planned}}))

  test('may be left out, which the plan says with 0 trials', () => {
    const {verdict, counted} = withOther({other: 0})
    expect(verdict.outcome).toBe('upheld')
    expect([counted.under('other').planned, counted.all.planned]).toEqual([0, 3])
  })

  test('needs its trials if the plan says so, or says nothing', () => {
    for (const planned of [{other: 1}, {}, {other: Number.NaN}] as Record<string, number>[])
      expect(withOther(planned).verdict).toMatchObject({
        outcome: 'inconclusive',
        because: expect.stringContaining('0 of 1 planned trials under other'),
      })
  })

  test('gives no claim: what rests on it is inconclusive, not upheld', () => {
    const claiming = {
      ...optional,
      verdict: (trials: Parameters<typeof note.verdict>[0]) =>
        allOf(control('it holds for another client', trials.under('other'), {holds: () => true})),
    } as AnyExperiment
    expect(judge(claiming, run(whole, {planned: {killed: 2, healed: 1, other: 0}})).verdict).toMatchObject({
      outcome: 'inconclusive',
      claims: [{because: 'no trial could tell'}],
    })
  })

  test('and no other may be left out', () => {
    expect(judged([trial(1, 'killed'), trial(2, 'killed')], {planned: {killed: 2, healed: 0}}).verdict.outcome).toBe(
      'inconclusive',
    )
  })
})
