import {describe, expect, test} from 'vitest'
import {allOf, always, control, never, ordered, slower, sometimes} from '../../../src/experiment/claims.js'
import {sample} from './samples.js'

interface Seen {
  readonly tells?: boolean
  readonly holds: boolean
}
const yes: Seen = {holds: true}
const no: Seen = {holds: false}
const silent: Seen = {tells: false, holds: true}
const silentNo: Seen = {tells: false, holds: false}
const test_ = {tells: (seen: Seen) => seen.tells !== false, holds: (seen: Seen) => seen.holds}
const broken = undefined as unknown as Seen

describe('always', () => {
  test('upheld if it holds in as many telling trials as were planned', () => {
    expect(always('x', sample([yes, yes, yes]), test_)).toEqual({
      claim: 'x',
      quantifier: 'always',
      outcome: 'upheld',
      because: 'in 3 of 3 trials',
      telling: 3,
    })
  })

  test('one counter-example refutes, whatever the others say, and is named', () => {
    expect(always('x', sample([yes, no, yes]), test_)).toMatchObject({outcome: 'refuted', because: 'not in trial 2'})
    expect(always('x', sample([no, yes, no, no], 9), test_)).toMatchObject({
      outcome: 'refuted',
      because: 'not in trials 1, 3 and 4',
    })
  })

  test('no trial, or none that could tell, proves nothing', () => {
    expect(always('x', sample<Seen>([]), test_)).toMatchObject({
      outcome: 'inconclusive',
      because: 'no trial could tell',
    })
    expect(always('x', sample<Seen>([], 3), test_)).toMatchObject({outcome: 'inconclusive'})
    expect(always('x', sample([silent, silent]), test_)).toMatchObject({
      outcome: 'inconclusive',
      because: 'no trial could tell',
      telling: 0,
    })
  })

  test('too few telling trials prove nothing', () => {
    expect(always('x', sample([yes, silent, silent]), test_)).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 1 of 3 planned trials could tell',
      telling: 1,
    })
  })

  test('a trial that could not have failed does not refute either', () => {
    expect(always('x', sample([silentNo, yes], 1), test_)).toMatchObject({
      outcome: 'upheld',
      because: 'in 1 of 1 trials',
    })
  })

  test('a plan that is missing or not a number is never met', () => {
    for (const planned of [Number.NaN, undefined as unknown as number]) {
      expect(always('x', Object.assign(sample([yes]), {planned}), test_).outcome).toBe('inconclusive')
    }
  })

  test('a trial that can’t be judged makes it inconclusive and says why; a counter-example beside it still refutes', () => {
    expect(always('x', sample([yes, broken]), test_)).toMatchObject({
      outcome: 'inconclusive',
      because: expect.stringMatching(/^trial 2 could not be judged: .*undefined/),
    })
    expect(always('x', sample([broken, no]), test_)).toMatchObject({outcome: 'refuted', because: 'not in trial 2'})
  })

  test('an answer that is neither yes nor no is no answer', () => {
    const holds = (() => undefined) as unknown as (seen: Seen) => boolean
    expect(always('x', sample([yes]), {holds})).toMatchObject({
      outcome: 'inconclusive',
      because: expect.stringContaining('neither yes nor no'),
    })
  })
})

describe('never', () => {
  const happens = (seen: Seen) => seen.holds
  test('is always the opposite', () => {
    expect(never('x', sample([no, no]), {happens})).toMatchObject({outcome: 'upheld', quantifier: 'always'})
    expect(never('x', sample([no, yes]), {happens})).toMatchObject({outcome: 'refuted', because: 'not in trial 2'})
    expect(never('x', sample([silentNo]), {...test_, happens})).toMatchObject({outcome: 'inconclusive'})
    expect(never('x', sample([broken]), {happens})).toMatchObject({outcome: 'inconclusive'})
  })
})

describe('sometimes', () => {
  test('one witness upholds', () => {
    expect(sometimes('x', sample([no, yes, no]), test_)).toMatchObject({
      outcome: 'upheld',
      because: 'seen in 1 of 3 trials',
    })
  })

  test('a witness in a run that was cut short upholds nothing: a trial that can’t be judged may be among the missing', () => {
    expect(sometimes('x', sample([yes], 3), test_)).toMatchObject({
      outcome: 'inconclusive',
      because: 'seen in 1, but only 1 of 3 planned trials count',
    })
  })

  test('no witness in any of the planned trials that had to show it refutes', () => {
    expect(sometimes('x', sample([no, no, no]), test_)).toMatchObject({
      outcome: 'refuted',
      because: 'seen in none of 3 trials that had to show it',
    })
  })

  test('no witness where nothing says that a trial had to show it is no proof of absence', () => {
    expect(sometimes('x', sample([no, no, no]), {holds: test_.holds})).toMatchObject({
      outcome: 'inconclusive',
      because: 'not seen in 3 trials',
    })
  })

  test('no witness in too few telling trials, or in none, proves nothing', () => {
    expect(sometimes('x', sample([no, silent, silent]), test_)).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 1 of 3 planned trials could tell',
    })
    expect(sometimes('x', sample<Seen>([]), test_)).toMatchObject({outcome: 'inconclusive'})
  })

  test('a trial that could not tell is no witness', () => {
    expect(sometimes('x', sample([silent, no, no], 2), test_)).toMatchObject({outcome: 'refuted'})
  })

  test('a trial that can’t be judged makes it inconclusive, even beside a witness', () => {
    expect(sometimes('x', sample([yes, broken]), test_)).toMatchObject({outcome: 'inconclusive'})
  })
})

describe('slower', () => {
  const of = (value: number | null) => value
  const claim = (slow: (number | null)[], fast: (number | null)[], planned?: number) =>
    slower('x', {slow: sample(slow, planned), fast: sample(fast, planned), by: 5, of})

  test('every slow value is at least five times every fast one', () => {
    expect(claim([8_000, 9_000, 500], [100, 90, 80])).toMatchObject({
      outcome: 'upheld',
      because: 'in 9 of 9 pairs',
      telling: 6,
    })
  })

  test('one pair the other way round refutes, and is named', () => {
    expect(claim([8_000, 95], [100, 90])).toMatchObject({
      outcome: 'refuted',
      because: 'trial 2 took less than trial 1',
    })
  })

  test('a pair that is slower, but not enough, is no proof either way', () => {
    expect(claim([8_000, 499], [100, 90])).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 5.0 times, between trials 2 and 1',
    })
  })

  test('too few values on either side prove nothing', () => {
    expect(claim([8_000, null], [100, 90])).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 1 of 2 planned trials could tell',
    })
    expect(claim([8_000], [], 1)).toMatchObject({outcome: 'inconclusive', because: 'no trial could tell'})
    expect(claim([Number.NaN], [100])).toMatchObject({outcome: 'inconclusive'})
  })

  test('a value that can’t be had makes it inconclusive', () => {
    const throwing = () => {
      throw new Error('no timeline')
    }
    expect(slower('x', {slow: sample([1]), fast: sample([1]), by: 5, of: throwing})).toMatchObject({
      outcome: 'inconclusive',
      because: 'trial 1 could not be judged: no timeline',
    })
  })
})

describe('ordered', () => {
  const of = (value: number | null) => value
  const claim = (slow: (number | null)[], fast: (number | null)[]) =>
    ordered('x', {slow: sample(slow), fast: sample(fast), of})

  test('five blocks that agree, with a median ratio of 1.1 or more', () => {
    expect(claim([11, 12, 13, 14, 15], [10, 10, 10, 10, 10])).toMatchObject({
      outcome: 'upheld',
      because: 'in 5 of 5 blocks, median ratio 1.30',
      telling: 5,
    })
  })

  test('four blocks are too few, however clear', () => {
    expect(claim([99, 99, 99, 99], [1, 1, 1, 1])).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 4 of 5 blocks could tell',
    })
  })

  test('all blocks agree, but by less than a tenth: no significant difference', () => {
    expect(claim([10.5, 10.5, 10.5, 10.5, 10.5], [10, 10, 10, 10, 10])).toMatchObject({
      outcome: 'inconclusive',
      because: 'no significant difference: 5 of 5 blocks, median ratio 1.05',
    })
  })

  test('one block against it: no significant difference', () => {
    expect(claim([20, 20, 20, 20, 9], [10, 10, 10, 10, 10])).toMatchObject({outcome: 'inconclusive'})
  })

  test('all blocks the other way round refute', () => {
    expect(claim([9, 9, 9, 9, 9], [10, 10, 10, 10, 10])).toMatchObject({
      outcome: 'refuted',
      because: 'the other way round in 5 of 5 blocks',
    })
  })

  test('a block with a value missing does not tell', () => {
    expect(claim([20, 20, 20, 20, null], [10, 10, 10, 10, 10])).toMatchObject({
      outcome: 'inconclusive',
      because: 'only 4 of 5 blocks could tell',
    })
  })

  test('blocks are paired by their name where they have one', () => {
    const cell = (block: number, value: number) => ({block, value})
    const slow = sample([5, 4, 3, 2, 1].map(block => cell(block, block * 12)))
    const fast = sample([1, 2, 3, 4, 5].map(block => cell(block, block * 10)))
    expect(ordered('x', {slow, fast, of: seen => seen.value, block: seen => seen.block})).toMatchObject({
      outcome: 'upheld',
      because: 'in 5 of 5 blocks, median ratio 1.20',
    })
  })
})

describe('allOf', () => {
  const upheld = always('a', sample([yes]), test_)
  const refuted = always('b', sample([no]), test_)
  const inconclusive = always('c', sample([silent]), test_)
  const controlled = control('d', sample([yes]), test_)

  test('the gravest outcome wins, and every claim is kept', () => {
    expect(allOf(upheld, controlled)).toEqual({outcome: 'upheld', claims: [upheld, controlled]})
    expect(allOf(upheld, inconclusive, controlled).outcome).toBe('inconclusive')
    expect(allOf(inconclusive, refuted, controlled)).toEqual({
      outcome: 'refuted',
      claims: [inconclusive, refuted, controlled],
    })
  })

  test('without a control nothing is upheld, and a refutation stays one', () => {
    expect(allOf(upheld)).toMatchObject({outcome: 'inconclusive', because: 'there is no control'})
    expect(allOf(refuted)).toMatchObject({outcome: 'refuted', because: 'there is no control'})
  })

  test('a control that fails or could not tell is as grave as any claim', () => {
    expect(allOf(upheld, control('d', sample([no]), test_)).outcome).toBe('refuted')
    expect(allOf(upheld, control('d', sample<Seen>([], 1), test_)).outcome).toBe('inconclusive')
  })

  test('nothing claimed is inconclusive', () => {
    expect(allOf()).toEqual({outcome: 'inconclusive', claims: [], because: 'nothing was claimed'})
  })
})
