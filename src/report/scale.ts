import type {Figure, FaultWindow} from '../experiment/figures.js'

/** From where to where a time axis goes: whole spans, marks and fault windows; never empty. */
export function timeExtent(figure: Extract<Figure, {kind: 'lanes'}>): readonly [number, number] {
  const times = figure.lanes.flatMap(({spans, marks = []}) => [
    ...spans.flatMap(({fromMs, toMs}) => [fromMs, toMs]),
    ...marks.map(({atMs}) => atMs),
  ])
  return extent([...times, ...windowTimes(figure.windows)])
}

export function windowTimes(windows: readonly FaultWindow[] = []): number[] {
  return windows.flatMap(({fromMs, toMs}) => [fromMs, toMs])
}

export function extent(values: readonly number[]): readonly [number, number] {
  const known = values.filter(Number.isFinite)
  const low = known.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const high = known.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  if (low > high) return [0, 1]
  return low === high ? [low, low + 1] : [low, high]
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

/** A moment of a trial: `4.01 s`. All have the same number of decimals, so that they stand under each other. */
export function instant(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}

/** A point in time on an axis: `500 ms`, `1.5 s`, `2 s`. */
export function timeLabel(ms: number): string {
  if (ms === 0) return '0'
  return Math.abs(ms) < 1_000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1_000).toPrecision(4))} s`
}
