import type {BarsFigure, FaultWindow, LinesFigure} from '../experiment/figures.js'
import {oneLine} from './pen.js'
import {Html} from './html-text.js'
import {extent, isScattered, roundScale, thinned, timeLabel, windowTimes} from './scale.js'
import {quantity, shownUnit, withUnit} from './values.js'

/** Draws charts as SVG, without a browser. Made once per page, because loading echarts takes half a second. */
export interface Charts {
  lines(figure: LinesFigure, place: Place): Html
  bars(figure: BarsFigure, place: Place): Html
}

/** `id` makes the ids inside the SVG unique on the page, and the same for the same run. */
export interface Place {
  readonly id: string
  readonly width: number
  readonly height: number
}

type Option = Readonly<Record<string, unknown>>

// Colours are variables of the page, so that one SVG serves the light and the dark scheme.
const ink = 'var(--ink)'
const soft = 'var(--soft)'
const hair = 'var(--line)'
const seriesColours = [1, 2, 3, 4, 5].map(n => `var(--series-${n})`)
// Each series has its own dash too: a chart must be readable without colour.
const dashes = ['solid', [7, 4], [2, 3], [9, 3, 2, 3], [1, 2]] as const
const font = {fontFamily: 'system-ui, sans-serif', fontSize: 12, color: soft}

export async function loadCharts(): Promise<Charts> {
  const [{init, use}, charts, components, {SVGRenderer}] = await Promise.all([
    import('echarts/core'),
    import('echarts/charts'),
    import('echarts/components'),
    import('echarts/renderers'),
  ])
  use([charts.LineChart, charts.BarChart, components.GridComponent, components.MarkAreaComponent, SVGRenderer])
  use([components.LegendComponent])
  const draw = (option: Option, {id, width, height}: Place): Html => {
    const chart = init(null, null, {renderer: 'svg', ssr: true, width, height})
    try {
      chart.setOption({animation: false, backgroundColor: 'transparent', textStyle: font, ...option})
      return new Html(settled(chart.renderToSVGString({useViewBox: true}), id))
    } finally {
      chart.dispose()
    }
  }
  return {
    lines: (figure, place) => draw(lineOption(figure, place), place),
    bars: (figure, place) => draw(barOption(figure, place), place),
  }
}

/**
 * echarts counts its ids up from the start of the process (`zr7-c0`); the report must be the same each time. Its hover
 * styles are of no use in a page without scripts. A lone point (`M1 2`) has no stroke until it has a length.
 */
function settled(svg: string, id: string): string {
  return svg
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/\bzr\d+-/g, `${id}-`)
    .replace(/ (?:pointer-events="visible"|class="[^"]*")/g, '')
    .replace(/M(-?[\d.]+ -?[\d.]+)(?=M|")/g, 'M$1h.01')
    .replace(/<svg /, '<svg aria-hidden="true" ')
}

function lineOption(figure: LinesFigure, {width}: Place): Option {
  const [min, max] = extent([
    ...figure.series.flatMap(({points}) => points.map(([x]) => x)),
    ...windowTimes(figure.windows),
  ])
  const values = figure.series.flatMap(({points}) => points.map(([, y]) => y))
  const time = figure.x.unit === 'ms'
  const many = figure.series.length > 1
  return {
    grid: {
      left: 8,
      right: 16,
      top: many && width < 500 ? 66 : 40,
      bottom: 30,
      outerBoundsMode: 'same',
      outerBoundsContain: 'axisLabel',
    },
    legend: many
      ? {
          top: 0,
          right: 0,
          itemWidth: 26,
          itemHeight: 10,
          itemGap: 36,
          textStyle: {...font, color: ink},
          data: figure.series.map(({name}) => oneLine(name)),
        }
      : undefined,
    xAxis: {
      ...axis(oneLine(withUnit(figure.x.label, shownUnit(figure.x.unit)))),
      type: 'value',
      ...rounded([min, max], width / 110),
      nameLocation: 'middle',
      nameGap: 28,
      splitLine: {show: false},
      axisLabel: {
        ...font,
        hideOverlap: true,
        formatter: (value: number) => (time ? timeLabel(value) : quantity(value, figure.x.unit)),
      },
    },
    yAxis: {...valueAxis(figure.y), ...rounded(extent([0, ...values]), 5)},
    series: figure.series.map(({name, points}, index) => ({
      type: 'line',
      name: oneLine(name),
      ...strokes(points, index, width),
      symbol: points.length < 2 ? 'circle' : 'none',
      symbolSize: 6,
      color: seriesColours[index % seriesColours.length],
      markArea: index === 0 ? faultBands(figure.windows ?? [], (max - min) * 0.003) : undefined,
    })),
  }
}

/** A line; or, of single events, a dot each: a segment without a length and with a round end, all in one path. */
function strokes(points: readonly (readonly [number, number])[], index: number, width: number): Option {
  const few = thinned(points, width / 2)
  if (isScattered(few)) {
    return {
      data: few.flatMap(point => [[...point], [null, null]]),
      lineStyle: {width: 3.5, cap: index % 2 === 0 ? 'round' : 'square', opacity: 0.85},
    }
  }
  return {data: few.map(point => [...point]), lineStyle: {width: 1.75, type: dashes[index % dashes.length]}}
}

/** A kill takes milliseconds: its band is at least `thinnest` wide. */
function faultBands(windows: readonly FaultWindow[], thinnest: number): Option {
  return {
    silent: true,
    itemStyle: {color: 'var(--fault)', opacity: 1},
    label: {...font, color: 'var(--bad)', position: 'insideTop', distance: 6},
    data: windows.map(({fromMs, toMs, label}) => [
      {name: oneLine(label), xAxis: fromMs},
      {xAxis: Math.max(toMs, fromMs + thinnest)},
    ]),
  }
}

/** Bars lie, because their names are long; those of one group have one colour and stand together. */
function barOption({bars, y}: BarsFigure, {width}: Place): Option {
  const groups = [...new Set(bars.map(({group}) => group))]
  const name = (bar: BarsFigure['bars'][number]) =>
    oneLine(bar.group === undefined ? bar.label : `${bar.group} · ${bar.label}`)
  return {
    grid: {left: 8, right: 72, top: 8, bottom: 30, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel'},
    xAxis: {
      ...valueAxis(y),
      name: oneLine(withUnit(y.label, shownUnit(y.unit))),
      nameLocation: 'middle',
      nameGap: 28,
      ...rounded(extent([0, ...bars.map(({value}) => value)]), Math.max(2, width / 130)),
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: bars.map(name),
      axisTick: {show: false},
      axisLine: {lineStyle: {color: soft}},
      axisLabel: {...font, color: ink, width: width * 0.36, overflow: 'truncate'},
    },
    series: [
      {
        type: 'bar',
        barMaxWidth: 18,
        data: bars.map(bar => ({
          value: bar.value,
          itemStyle: {
            color: seriesColours[groups.indexOf(bar.group) % seriesColours.length],
            borderRadius: [0, 2, 2, 0],
          },
        })),
        label: {
          show: true,
          position: 'right',
          ...font,
          color: ink,
          formatter: ({value}: {value: number}) => quantity(value, y.unit),
        },
      },
    ],
  }
}

/** How high a bar chart must be. */
export function barsHeight({bars}: BarsFigure): number {
  return 52 + bars.length * 30
}

function valueAxis({label, unit}: BarsFigure['y']): Option {
  return {
    ...axis(oneLine(withUnit(label, shownUnit(unit)))),
    type: 'value',
    axisLine: {show: false},
    splitLine: {lineStyle: {color: hair}},
    axisLabel: {
      ...font,
      hideOverlap: true,
      formatter: (value: number) => (unit === 'ms' ? timeLabel(value) : quantity(value, unit)),
    },
    nameTextStyle: {...font, align: 'left', padding: [0, 0, 6, -28]},
  }
}

/** Least, greatest and step of an axis, all round numbers: the same as in the drawing for the terminal. */
function rounded(values: readonly [number, number], steps: number): Option {
  const scale = roundScale(values, steps)
  const [min = 0, second = 1] = scale
  return {min, max: scale.at(-1), interval: second - min}
}

function axis(name: string): Option {
  return {name, nameTextStyle: font, axisTick: {show: false}, axisLine: {lineStyle: {color: soft}}}
}
