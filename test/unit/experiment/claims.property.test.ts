import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {
  allOf,
  always,
  type Claim,
  control,
  ordered,
  slower,
  sometimes,
  type VerdictOutcome,
} from '../../../src/experiment/claims.js'
import {duplicates, gone, lost, unequal} from '../../../src/experiment/delivery.js'
import type {Sample, Trial} from '../../../src/experiment/experiment.js'
import type {Found, ReplicaRecords, Writes} from '../../../src/history/operation.js'
import {log, replica, w, writes} from './samples.js'

const gravity: Record<VerdictOutcome, number> = {upheld: 0, inconclusive: 1, refuted: 2}

interface Seen {
  readonly tells: boolean
  readonly holds: boolean
  readonly value: number | null
  readonly throws: boolean
}
const seen: fc.Arbitrary<Seen> = fc.record({
  tells: fc.boolean(),
  holds: fc.oneof({weight: 4, arbitrary: fc.constant(true)}, {weight: 1, arbitrary: fc.boolean()}),
  value: fc.option(fc.integer({min: 1, max: 100}), {freq: 6}),
  throws: fc.oneof({weight: 8, arbitrary: fc.constant(false)}, {weight: 1, arbitrary: fc.boolean()}),
})
const trials = fc
  .array(seen, {maxLength: 12})
  .map(all =>
    all.map((observation, index): Trial<Seen> => ({number: index + 1, condition: index % 2 ? 'b' : 'a', observation})),
  )

const read = <T>(observation: Seen, value: T): T => {
  if (observation.throws) throw new Error('malformed')
  return value
}
const tests = {tells: (o: Seen) => read(o, o.tells), holds: (o: Seen) => read(o, o.holds)}
const of = (o: Seen) => read(o, o.value)

/** Every quantifier over the same trials; `a` is compared with `b`. */
function claimsOf(
  all: readonly Trial<Seen>[],
  planned: {readonly all: number; readonly a: number; readonly b: number},
): Claim[] {
  const sample = (chosen: readonly Trial<Seen>[], count: number): Sample<Seen> =>
    Object.assign([...chosen], {planned: count})
  const everything = sample(all, planned.all)
  const a = sample(
    all.filter(({condition}) => condition === 'a'),
    planned.a,
  )
  const b = sample(
    all.filter(({condition}) => condition === 'b'),
    planned.b,
  )
  return [
    always('always', everything, tests),
    always('always, of each', a, {holds: tests.holds}),
    sometimes('sometimes', everything, tests),
    sometimes('sometimes, of each', b, {holds: tests.holds}),
    slower('slower', {slow: a, fast: b, by: 2, of}),
    ordered('ordered', {slow: a, fast: b, of}),
    control('control', b, tests),
  ]
}

const planOf = (all: readonly Trial<Seen>[]) => ({
  all: all.length,
  a: all.filter(({condition}) => condition === 'a').length,
  b: all.filter(({condition}) => condition === 'b').length,
})

describe('verdicts', () => {
  test('the order of the trials never matters', () => {
    fc.assert(
      fc.property(
        trials.chain(all => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, {minLength: all.length}))),
        ([all, shuffled]) => {
          expect(allOf(...claimsOf(shuffled, planOf(all)))).toEqual(allOf(...claimsOf(all, planOf(all))))
        },
      ),
    )
  })

  test('removing trials never makes an inconclusive claim upheld', () => {
    fc.assert(
      fc.property(
        trials.chain(all => fc.tuple(fc.constant(all), fc.subarray(all))),
        ([all, fewer]) => {
          const [before, after] = [claimsOf(all, planOf(all)), claimsOf(fewer, planOf(all))]
          before.forEach((claim, index) => {
            if (claim.outcome === 'inconclusive') expect(after[index]?.outcome).not.toBe('upheld')
          })
        },
      ),
      {numRuns: 1_000},
    )
  })

  test('no trials uphold nothing, whatever was planned', () => {
    fc.assert(
      fc.property(fc.nat(5), planned => {
        for (const claim of claimsOf([], {all: planned, a: planned, b: planned}))
          expect(claim.outcome).toBe('inconclusive')
      }),
    )
  })

  test('all upheld means: no claim is anything else, there is a control, and something was observed', () => {
    fc.assert(
      fc.property(trials, all => {
        const {outcome, claims} = allOf(...claimsOf(all, planOf(all)))
        if (outcome === 'upheld')
          expect(claims.every(claim => claim.outcome === 'upheld' && claim.telling > 0)).toBe(true)
        expect(gravity[outcome]).toBe(Math.max(...claims.map(claim => gravity[claim.outcome])))
      }),
    )
  })
})

interface Observed {
  readonly writes: Writes
  readonly found: readonly Found[]
  readonly replicas: readonly ReplicaRecords[]
}

const values = ['v0', 'v1', 'v2', 'v3']

/** A trial in which some values may be missing already, for the reader or in files. */
const observed: fc.Arbitrary<Observed> = fc
  .record({
    ok: fc.subarray(values),
    read: fc.subarray(values),
    disk: fc.tuple(fc.subarray(values), fc.subarray(values)),
  })
  .map(({ok, read: readValues, disk}) => {
    const kept = (present: readonly string[]) => log(...values.map(value => (present.includes(value) ? value : null)))
    return {
      writes: writes({ok: ok.map(value => w(value, values.indexOf(value))), info: []}),
      found: kept(readValues),
      replicas: disk.map((present, index) => replica(index + 1, kept(present))),
    }
  })
/** Most of what a property tries must be near the edge, where everything is there. */
const whole: fc.Arbitrary<Observed> = fc.constant({
  writes: writes({ok: values.map((value, offset) => w(value, offset))}),
  found: log(...values),
  replicas: [replica(1, log(...values)), replica(2, log(...values))],
})

function lossVerdict(observations: readonly Observed[]) {
  const all = observations.map((observation, index) => ({number: index + 1, condition: 'c', observation}))
  const sample: Sample<Observed> = Object.assign(all, {planned: all.length})
  const tells = (o: Observed) => o.writes.ok.length > 0
  return allOf(
    always('nothing is lost', sample, {tells, holds: o => lost(o.writes, o.found).length === 0}),
    always('nothing is gone', sample, {tells, holds: o => gone(o.writes, o.found, o.replicas).length === 0}),
    control('the reader got what the files hold', sample, {
      holds: o => unequal(o.replicas, o.found).length === 0 && duplicates(o.found).length === 0,
    }),
  )
}

test('adding a lost record never improves an outcome', () => {
  const histories = fc.array(fc.oneof({weight: 3, arbitrary: whole}, {weight: 1, arbitrary: observed}), {
    minLength: 1,
    maxLength: 4,
  })
  fc.assert(
    fc.property(histories, fc.nat(), fc.nat(), (observations, which, offset) => {
      const worse = observations.map((each, index) => {
        if (index !== which % observations.length) return each
        const extra = w(`lost-${offset}`, 4 + (offset % 3))
        return {...each, writes: {...each.writes, ok: [...each.writes.ok, extra]}}
      })
      const [before, after] = [lossVerdict(observations), lossVerdict(worse)]
      expect(gravity[after.outcome]).toBeGreaterThanOrEqual(gravity[before.outcome])
      expect(after.outcome).toBe('refuted')
    }),
  )
})

test('taking an acknowledged value away from the reader never improves an outcome', () => {
  const histories = fc.array(fc.oneof({weight: 3, arbitrary: whole}, {weight: 1, arbitrary: observed}), {
    minLength: 1,
    maxLength: 4,
  })
  fc.assert(
    fc.property(histories, fc.nat(), fc.constantFrom(...values), (observations, which, value) => {
      const index = which % observations.length
      const victim = observations[index] as Observed
      fc.pre(victim.writes.ok.some(write => write.value === value))
      const worse = observations.with(index, {...victim, found: victim.found.filter(record => record.value !== value)})
      expect(lossVerdict(worse).outcome).toBe('refuted')
    }),
  )
})
