import {describe, expect, test} from 'vitest'
import type {Figure} from '../../../src/experiment/figures.js'
import {figureText} from '../../../src/report/chart.js'
import {textWidth} from '../../../src/report/text-table.js'
import {barsFigure, blocksFigure, lanesFigure, linesFigure, stripFigure, tableFigure} from './samples.js'

const figures = {
  lanes: lanesFigure,
  lines: linesFigure,
  bars: barsFigure,
  blocks: blocksFigure,
  strip: stripFigure,
  table: tableFigure,
}
const golden = (name: string) => new URL(`../../golden/report/${name}.txt`, import.meta.url).pathname
const draw = (figure: Figure, width = 80, unicode = true) => figureText(figure, {width, unicode, colour: false})

describe.each(Object.entries(figures))('a figure of the kind %s', (kind, figure) => {
  test('looks like its golden at 80 columns', async () => {
    await expect(`${draw(figure).join('\n')}\n`).toMatchFileSnapshot(golden(`figure-${kind}`))
  })

  test.each([60, 80, 120])('fits into %d columns', width => {
    expect(draw(figure, width).filter(line => textWidth(line) > width)).toEqual([])
  })

  test('can be drawn with ASCII only', () => {
    expect(draw(figure, 80, false).join('')).toMatch(/^[\u0020-\u007e]*$/)
  })
})

test('a lane says in words what its colour says, and a label that was cut shows it', () => {
  const lines = draw(lanesFigure, 80)
  expect(lines.find(line => line.startsWith('in-sync'))).toMatch(/1, 2, 3 .* 2, 3 .* 2, …$/)
  expect(lines.find(line => line.startsWith('fault'))).toContain('broker 1 killed')
})

test('marks are told below their lanes, with time and lane', () => {
  const text = draw(lanesFigure).join('\n')
  expect(text).toMatch(/ b +12\.70 s {2}leader: broker 1 fenced by the controller$/m)
  expect(text).toMatch(/ c +12\.91 s {2}acks=all writer: first acknowledgement of the new leader$/m)
})

test('one slow acknowledgement among thousands of fast ones can be seen', () => {
  const points = Array.from({length: 5_000}, (_, i) => [i, i === 2_500 ? 9_000 : 3] as const)
  const lines = draw({
    kind: 'lines',
    title: 't',
    x: {label: 'time', unit: 'ms'},
    y: {label: 'took', unit: 'ms'},
    series: [{name: 's', points}],
  })
  expect(lines.filter(line => /[│╭╮]/.test(line)).length).toBe(5)
  expect(lines.join('\n')).toContain('10.0 s')
})

test('a constant series, a single point and no point at all are drawn without a fuss', () => {
  const lines = (points: readonly (readonly [number, number])[]): Figure => ({
    kind: 'lines', title: 't', x: {label: 'x', unit: ''}, y: {label: 'y', unit: ''}, series: [{name: 's', points}],
  }) // biome-ignore format: one figure
  expect(draw(lines([])).at(-1)).toBe('no data')
  expect(draw(lines([[Number.NaN, 1]])).at(-1)).toBe('no data')
  expect(
    draw(
      lines([
        [0, 0],
        [1, 0],
      ]),
    ).length,
  ).toBeGreaterThan(3)
  expect(draw(lines([[5, 7]])).length).toBeGreaterThan(3)
  expect(draw({kind: 'lanes', title: 't', lanes: []}).at(-1)).toBe('no data')
  expect(draw({kind: 'bars', title: 't', y: {label: 'y', unit: ''}, bars: [{label: 'a', value: 0}]}).at(-1)).toBe(
    'a   0',
  )
})
