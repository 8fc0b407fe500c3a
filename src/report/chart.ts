import asciichart from 'asciichart'
import type {BarsFigure, BlocksFigure, FaultWindow, Figure, LinesFigure, TableFigure} from '../experiment/figures.js'
import {lanesText} from './lanes.js'
import {inkOfTone, type Pen, penOf, type TextStyle} from './pen.js'
import {extent, roundScale, timeLabel, windowTimes} from './scale.js'
import {clip, pad, textTable, textWidth, wrap} from './text-table.js'
import {quantity, shownUnit, withUnit} from './values.js'

export interface ChartOptions extends TextStyle {
  readonly width: number
  /** Rows of a line chart; 8 if not said. */
  readonly height?: number
}

/** A figure as lines of text, its title first. */
export function figureText(figure: Figure, options: ChartOptions): string[] {
  const pen = penOf(options)
  const title = wrap(pen.text(figure.title), options.width).map(line => pen.ink('bold', line))
  return [...title, ...body(figure, pen, options)]
}

function body(figure: Figure, pen: Pen, options: ChartOptions): string[] {
  switch (figure.kind) {
    case 'table':
      return tableText(figure, pen, options.width)
    case 'lines':
      return linesText(figure, pen, options)
    case 'bars':
      return barsText(figure, pen, options.width)
    case 'lanes':
      return lanesText(figure, pen, options.width)
    case 'blocks':
      return blocksText(figure, pen, options.width)
  }
}

function tableText(figure: TableFigure, pen: Pen, width: number): string[] {
  const columns = figure.columns.map(({label, unit, align}) => ({
    head: pen.text(withUnit(label, unit)),
    ...(align && {align}),
  }))
  const rows = figure.rows.map(row =>
    row.map(value => (typeof value === 'string' ? pen.text(value) : quantity(value, '', pen.dash))),
  )
  return textTable(columns, rows, {width})
}

/** One small chart per series: side by side in one plot they could be told apart by colour only. */
function linesText(figure: LinesFigure, pen: Pen, {width, height = 8}: ChartOptions): string[] {
  const series = figure.series.filter(({points}) => points.some(point => point.every(Number.isFinite)))
  if (series.length === 0) return ['no data']
  const [from, to] = extent([...series.flatMap(({points}) => points.map(([x]) => x)), ...windowTimes(figure.windows)])
  const scale = roundScale(extent([0, ...series.flatMap(({points}) => points.map(([, y]) => y))]), height)
  const labels = scale.map(y => quantity(y, figure.y.unit, pen.dash))
  const axis = Math.max(...labels.map(textWidth)) + 1
  const columns = Math.max(10, width - axis - 1)
  const charts = series.flatMap(({name, points}) => {
    const plot = asciichart.plot([sampled(points, from, to, columns - 1)], {
      min: scale[0] ?? 0,
      max: scale.at(-1) ?? 1,
      height: scale.length - 1,
      offset: 2,
      format: (_, row) => `${pad(labels.at(-1 - row) ?? '', axis - 1, 'right')} `,
      ...(pen.unicode ? {} : {symbols: ['+', '|', '-', '-', '-', '`', '.', '.', "'", '|']}),
    })
    const head = `${pen.text(name)}, ${pen.text(withUnit(figure.y.label, shownUnit(figure.y.unit)))}`
    return [head, ...plot.split('\n').map(line => line.trimEnd())]
  })
  const place = (x: number) => Math.round(((x - from) / (to - from)) * (columns - 1))
  const windows = (figure.windows ?? []).flatMap(window => windowLines(window, place, axis, width, pen))
  return [...charts, ...windows, ' '.repeat(axis) + foot(figure, [from, to], columns, pen)]
}

/** A fault below the charts, its name where there is room: before the bar, after it, or on a line of its own. */
function windowLines(
  window: FaultWindow,
  place: (x: number) => number,
  axis: number,
  width: number,
  pen: Pen,
): string[] {
  const start = axis + Math.max(0, place(window.fromMs))
  const length = Math.max(1, axis + place(window.toMs) - start)
  const bar = pen.ink('red', (pen.unicode ? '▒' : '#').repeat(length))
  const name = pen.text(window.label)
  if (textWidth(name) < start) return [`${pad(name, start - 1, 'right')} ${bar}`]
  const alone = ' '.repeat(start) + bar
  if (start + length + 1 + textWidth(name) <= width) return [`${alone} ${name}`]
  return [...wrap(name, width), alone]
}

/** `0        time of the trial        20 s`. */
function foot({x}: LinesFigure, ends: readonly [number, number], columns: number, pen: Pen): string {
  const [left = '', right = ''] = ends.map(end => (x.unit === 'ms' ? timeLabel(end) : quantity(end, x.unit, pen.dash)))
  const room = columns - textWidth(left) - textWidth(right)
  const label = clip(pen.text(withUnit(x.label, shownUnit(x.unit))), room - 2, pen.ellipsis)
  const before = Math.max(1, Math.floor((room - textWidth(label)) / 2))
  return left + ' '.repeat(before) + pad(label, Math.max(1, room - before)) + right
}

/** The greatest value of each column, so that no stall is lost; a column without a point goes on with the last one. */
function sampled(points: readonly (readonly [number, number])[], from: number, to: number, columns: number): number[] {
  const sorted = points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)).sort(([a], [b]) => a - b)
  let next = 0
  let value = sorted[0]?.[1] ?? 0
  return Array.from({length: columns}, (_, column) => {
    const end = from + ((column + 1) / columns) * (to - from)
    let highest = Number.NEGATIVE_INFINITY
    for (; next < sorted.length && (sorted[next]?.[0] ?? 0) <= end; next++) {
      value = sorted[next]?.[1] ?? value
      highest = Math.max(highest, value)
    }
    return highest === Number.NEGATIVE_INFINITY ? value : highest
  })
}

function barsText({bars, y}: BarsFigure, pen: Pen, width: number): string[] {
  const named = bars.map(({label, group, value}) => ({
    name: pen.text(group === undefined ? label : `${group}, ${label}`),
    value,
  }))
  const names = Math.min(Math.max(0, ...named.map(({name}) => textWidth(name))), Math.floor(width * 0.4))
  const numbers = named.map(({value}) => quantity(value, y.unit, pen.dash))
  const room = Math.max(4, width - names - Math.max(0, ...numbers.map(textWidth)) - 3)
  const [, high] = extent([0, ...bars.map(({value}) => value)])
  const rows = named.map(({name, value}, index) => {
    const length = Math.max(0, Math.round((value / high) * room)) || 0
    return `${pad(clip(name, names, pen.ellipsis), names)}  ${(pen.unicode ? '█' : '#').repeat(Math.min(length, room))} ${numbers[index]}`
  })
  return [pen.text(withUnit(y.label, shownUnit(y.unit))), ...rows]
}

/**
 * Parts of a file, a batch, a header: each as wide as its share, and below them what they are and how large. With a `line`
 * the labels and sizes stand in the blocks, and long rows go on below.
 */
function blocksText(figure: BlocksFigure, pen: Pen, width: number): string[] {
  const {rows, unit, line, caption, legend = []} = figure
  const names = Math.max(0, ...rows.flatMap(({name, note = ''}) => [name, note].map(text => textWidth(pen.text(text)))))
  const room = Math.max(10, width - names - 3)
  if (line !== undefined) {
    const told = legend.map(({tone, text}) => `${pen.ink(inkOfTone[tone], sign[tone])} ${pen.text(text)}`)
    const drawn = rows.flatMap(row => strip(row, {line, unit, room, names}, pen))
    return [...drawn, ...(caption === undefined ? [] : wrap(pen.text(caption), width)), ...told]
  }
  const largest = Math.max(1, ...rows.map(({blocks}) => blocks.reduce((sum, {size}) => sum + size, 0)))
  return rows.flatMap(({name, blocks}) => {
    const drawn = blocks.map(({size, label, tone}) => {
      const cells = Math.max(2, Math.floor((size / largest) * room) || 0)
      return `|${pen.ink(inkOfTone[tone], pad(clip(pen.text(label), cells - 1, ''), cells - 1))}`
    })
    const told = blocks.map(({size, label}) => `${pen.text(label)}: ${quantity(size, unit, pen.dash)}`).join('; ')
    const legend = wrap(pen.text(withUnit(told, shownUnit(unit))), width - names - 2)
    return [`${pad(pen.text(name), names)}  ${drawn.join('')}|`, ...legend.map(line => ' '.repeat(names + 2) + line)]
  })
}

/** What stands for a tone where there is no colour. */
const sign = {good: '+', bad: 'x', warn: '!', neutral: '.', accent: '='} as const

interface Strip {
  readonly line: number
  readonly unit: string
  readonly room: number
  readonly names: number
}

/** Blocks side by side, as many as fit into a line; the name and its note stand before the first two. */
function strip(row: BlocksFigure['rows'][number], {line, unit, room, names}: Strip, pen: Pen): string[] {
  const lines: string[] = ['']
  let used = 0
  for (const {size, label, tone, short = label} of row.blocks) {
    const cells = Math.min(room, Math.max(3, Math.floor((size / line) * room) || 0))
    if (used > 0 && used + cells > room) {
      lines.push('')
      used = 0
    }
    const full = `${sign[tone]}${pen.text(label)} ${quantity(size, unit, pen.dash)}`
    const text = textWidth(full) < cells ? full : `${sign[tone]}${pen.text(short)}`
    lines[lines.length - 1] += `|${pen.ink(inkOfTone[tone], pad(clip(text, cells - 1, ''), cells - 1))}`
    used += cells
  }
  const before = [row.name, row.note ?? '']
  while (lines.length < (row.note === undefined ? 1 : 2)) lines.push('')
  return lines.map((blocks, index) => {
    const name = pad(pen.text(before[index] ?? ''), names)
    return blocks === '' ? name.trimEnd() : `${name}  ${blocks}|`
  })
}
