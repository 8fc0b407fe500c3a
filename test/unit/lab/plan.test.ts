import {describe, expect, test} from 'vitest'
import type {Claim} from '../../../src/experiment/claims.js'
import type {AnyExperiment} from '../../../src/experiment/experiment.js'
import {experimentNames, loadExperiment} from '../../../src/lab/experiments.js'
import {conditionsOnceMore, estimateSeconds, planTrials, plannedBlows} from '../../../src/lab/plan.js'
import {knobsOf} from '../../../src/lab/knobs.js'

const note = {
  conditions: {hit: {label: 'hit', blows: {full: 10, quick: 2}}, control: {label: 'control'}},
  secondsPerBlow: {hit: 10, control: 3},
  knobs: {records: {kind: 'integer', default: 500, min: 1, max: 1_000, summary: ''}},
} as unknown as AnyExperiment

describe('the plan', () => {
  test('takes three blows per condition, one with --quick, and what the note says where it says so', () => {
    expect(plannedBlows(note, {quick: false})).toEqual({hit: 10, control: 3})
    expect(plannedBlows(note, {quick: true})).toEqual({hit: 2, control: 1})
    expect(plannedBlows(note, {quick: true, trials: 4})).toEqual({hit: 4, control: 4})
  })

  test('is the same for the same seed, and another for another', () => {
    const planned = {a: 6, b: 6, c: 6}
    expect(planTrials(planned, 7)).toEqual(planTrials(planned, 7))
    expect(planTrials(planned, 7)).not.toEqual(planTrials(planned, 8))
  })

  test('runs every condition once in each block, as long as it has blows to come', () => {
    const order = planTrials({hit: 4, control: 2}, 1)
    for (let block = 0; block < 4; block++) {
      const conditions = order.filter(trial => trial.block === block).map(({condition}) => condition)
      expect(conditions.sort()).toEqual(block < 2 ? ['control', 'hit'] : ['hit'])
    }
  })

  test('says about how long it takes', () => {
    expect(estimateSeconds(note, {hit: 2, control: 1}, 10)).toBe(33)
  })
})

describe('a quick run that has not seen what is only sometimes so', () => {
  const blows = {planned: {hit: 2, control: 1, absent: 0}, full: {hit: 4, control: 3, absent: 3}}
  const claim = (quantifier: Claim['quantifier'], outcome: Claim['outcome'], telling = 2): Claim => ({
    claim: 'x',
    quantifier,
    outcome,
    because: '',
    telling,
  })
  const unseen = [claim('always', 'upheld'), claim('sometimes', 'inconclusive'), claim('control', 'upheld')]
  const done = ['hit', 'hit', 'control']

  test('has one blow more under each condition that was planned, until a full run has no more', () => {
    expect(conditionsOnceMore({claims: unseen}, {...blows, done})).toEqual(['hit', 'control'])
    expect(conditionsOnceMore({claims: unseen}, {...blows, done: [...done, 'hit', 'hit']})).toEqual(['control'])
    expect(conditionsOnceMore({claims: unseen}, {...blows, done: [...done, ...done, 'control']})).toEqual([])
  })

  test.each([
    ['it was seen', [claim('sometimes', 'upheld')]],
    ['something else is open', [...unseen, claim('always', 'inconclusive')]],
    ['it is refuted', [...unseen, claim('always', 'refuted')]],
    ['no trial could tell', [claim('sometimes', 'inconclusive', 0)]],
  ])('has no more if %s', (_, claims) => {
    expect(conditionsOnceMore({claims}, {...blows, done})).toEqual([])
  })

  test('has no more if the run has another flaw', () => {
    expect(conditionsOnceMore({claims: unseen, because: 'too few trials'}, {...blows, done})).toEqual([])
  })
})

describe('knobs', () => {
  test('have their defaults, and what was given wins', () => {
    expect(knobsOf(note, {})).toEqual({records: 500})
    expect(knobsOf(note, {records: 7})).toEqual({records: 7})
  })

  test.each([[{records: 0}], [{records: 1.5}], [{records: 1_001}], [{recrods: 5}]])('refuse %j', given => {
    expect(() => knobsOf(note, given)).toThrow(expect.objectContaining({kind: 'usage', code: 'KX_KNOB'}))
  })
})

describe('the experiments', () => {
  test.each(experimentNames())(
    '%s has a control, an estimate for every condition, and claims that are known',
    async name => {
      const loaded = await loadExperiment(name)
      expect(Object.keys(loaded.secondsPerBlow).sort()).toEqual(Object.keys(loaded.conditions).sort())
      expect(
        Object.values(loaded.conditions as Record<string, {label: string}>).some(({label}) =>
          label.includes('(control)'),
        ),
      ).toBe(true)
      expect(loaded.shows.every((claim: string) => /^[SRKPCQ]\d+$/.test(claim))).toBe(true)
      expect(loaded.doesNotShow).toMatch(/^what /)
    },
  )

  test('a name that is none is refused with those that are', async () => {
    await expect(loadExperiment('data-los')).rejects.toMatchObject({code: 'KX_NO_EXPERIMENT', exit: 2})
    await expect(loadExperiment('../src/lab/plan')).rejects.toMatchObject({code: 'KX_NO_EXPERIMENT'})
  })
})
