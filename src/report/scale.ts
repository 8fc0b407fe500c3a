import type {FaultWindow, LanesFigure} from '../experiment/figures.js'
import {median} from '../util/statistics.js'

/** From where to where a time axis goes: whole spans, marks and fault windows; never empty. */
export function timeExtent(figure: LanesFigure): readonly [number, number] {
  const times = figure.lanes.flatMap(({spans, marks = []}) => [
    ...spans.flatMap(({fromMs, toMs}) => [fromMs, toMs]),
    ...marks.map(({atMs}) => atMs),
  ])
  return extent([...times, ...windowTimes(figure.windows)])
}

export function windowTimes(windows: readonly FaultWindow[] = []): number[] {
  return windows.flatMap(({fromMs, toMs}) => [fromMs, toMs])
}

/** The least and the greatest of the finite values, far enough apart to be an axis. */
export function extent(values: readonly number[]): readonly [number, number] {
  const known = values.filter(Number.isFinite)
  const low = known.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const high = known.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  if (low > high) return [0, 1]
  const least = Math.max(1e-6, Math.abs(low) * 1e-9, Math.abs(high) * 1e-9)
  return high - low < least ? [low, low + Math.max(1, least)] : [low, high]
}

/** Round values around the data, one per row of a chart, lowest first; at most about `rows` of them. */
export function roundScale([low, high]: readonly [number, number], rows: number): number[] {
  const power = 10 ** Math.floor(Math.log10((high - low) / rows))
  const step = [1, 2, 2.5, 5, 10].map(factor => factor * power).find(each => (high - low) / each <= rows) ?? 10 * power
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)]
  return Array.from({length: last - first + 1}, (_, index) => Number(((first + index) * step).toPrecision(12)))
}

/** At most `count` round numbers (1, 2 or 5 times a power of ten) from low to high. */
export function ticks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= rough) ?? rough
  if (!(step > 0) || !Number.isFinite(step)) return []
  const first = Math.ceil(low / step)
  const last = Math.floor(high / step)
  return Array.from({length: Math.max(0, Math.min(last - first + 1, count + 1))}, (_, index) => (first + index) * step)
}

type Point = readonly [number, number]

/**
 * At most about four points per column: the first, the least, the greatest and the last of it. Ten thousand
 * acknowledgements look the same as with all of them, and no peak is lost.
 */
export function thinned(points: readonly Point[], columns: number): readonly Point[] {
  const known = points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)).sort(([a], [b]) => a - b)
  if (known.length <= columns * 4) return known
  const [from, to] = [known[0]?.[0] ?? 0, known.at(-1)?.[0] ?? 0]
  const byColumn = new Map<number, Point[]>()
  for (const point of known) {
    const column = Math.min(columns - 1, Math.floor(((point[0] - from) / (to - from || 1)) * columns))
    const there = byColumn.get(column)
    if (there) there.push(point)
    else byColumn.set(column, [point])
  }
  return [...byColumn.values()].flatMap(column => {
    const order = column.map((_, index) => index).sort((a, b) => (column[a]?.[1] ?? 0) - (column[b]?.[1] ?? 0))
    const kept = new Set([0, order[0] ?? 0, order.at(-1) ?? 0, column.length - 1])
    return column.filter((_, index) => kept.has(index))
  })
}

/**
 * True for single events, such as acknowledgements, which come close together and then not at all: a line through a stall
 * of seconds would say that something was measured there. False for what was sampled at even steps.
 */
export function isScattered(points: readonly Point[]): boolean {
  const steps = points.slice(1).map(([x], index) => x - (points[index]?.[0] ?? x))
  if (steps.length < 20) return false
  const whole = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0)
  return Math.max(...steps) > Math.max(median(steps) * 20, whole / 50)
}

type Span = LanesFigure['lanes'][number]['spans'][number]

/** Spans that touch and say the same are one. */
export function joined(spans: readonly Span[]): readonly Span[] {
  const done: Span[] = []
  for (const span of spans) {
    const last = done.at(-1)
    const same = last?.label === span.label && last.tone === span.tone && Math.abs(last.toMs - span.fromMs) < 1
    if (last && same) done[done.length - 1] = {...last, toMs: span.toMs}
    else done.push(span)
  }
  return done
}

/** A moment of a trial: `4.01 s`. All have the same number of decimals, so that they stand under each other. */
export function instant(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}

/** A point in time on an axis: `500 ms`, `1.5 s`, `2 s`. */
export function timeLabel(ms: number): string {
  if (ms === 0) return '0'
  return Math.abs(ms) < 1_000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1_000).toPrecision(4))} s`
}
