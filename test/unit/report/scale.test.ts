import {expect, test} from 'vitest'
import {extent, instant, isScattered, joined, roundScale, ticks, timeLabel} from '../../../src/report/scale.js'

test('an axis has round steps around its data', () => {
  expect(roundScale([0, 442], 8)).toEqual([0, 100, 200, 300, 400, 500])
  expect(roundScale([0, 9_122], 5)).toEqual([0, 2_000, 4_000, 6_000, 8_000, 10_000])
  expect(roundScale([-3, 4], 8)).toEqual([-3, -2, -1, 0, 1, 2, 3, 4])
  expect(roundScale([0, 0.3], 3)).toEqual([0, 0.1, 0.2, 0.3])
})

test('an extent is never empty, whatever the values', () => {
  expect(extent([])).toEqual([0, 1])
  expect(extent([Number.NaN, 5])).toEqual([5, 6])
  expect(extent([5, 1, 3])).toEqual([1, 5])
  expect(extent([0, 5e-324])).toEqual([0, 1])
})

test('ticks are round numbers inside the axis', () => {
  expect(ticks(137, 24_313, 8)).toEqual([5_000, 10_000, 15_000, 20_000])
  expect(ticks(0, 1, 4)).toEqual([0, 0.5, 1])
})

test('times: a tick has as few digits as it can, a moment always two decimals', () => {
  expect([0, 500, 1_500, 20_000].map(timeLabel)).toEqual(['0', '500 ms', '1.5 s', '20 s'])
  expect([4_010, 12_700].map(instant)).toEqual(['4.01 s', '12.70 s'])
})

test('a stall among close events makes a series scattered; even steps and few points do not', () => {
  const even = Array.from({length: 100}, (_, i) => [i * 10, 1] as const)
  expect(isScattered(even)).toBe(false)
  expect(isScattered(even.map(([x, y], i) => [i < 50 ? x : x + 5_000, y] as const))).toBe(true)
  expect(
    isScattered([
      [0, 1],
      [1, 1],
      [9_000, 1],
    ]),
  ).toBe(false)
})

test('spans that touch and say the same are one, others stay', () => {
  const span = (fromMs: number, toMs: number, label: string) => ({fromMs, toMs, label, tone: 'good' as const})
  expect(joined([span(0, 5, 'a'), span(5, 9, 'a'), span(9, 12, 'b'), span(20, 25, 'b')])).toEqual([
    span(0, 9, 'a'), span(9, 12, 'b'), span(20, 25, 'b'),
  ]) // biome-ignore format: one row
})
