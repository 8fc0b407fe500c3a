import {max, min, quantileSorted} from 'simple-statistics'

export interface Summary {
  readonly n: number
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The spread of a sample; `undefined` for an empty one. With fewer than six values no interval is ever claimed. */
export function summary(values: readonly number[]): Summary | undefined {
  if (values.length === 0) return undefined
  return {n: values.length, median: median(values), min: min([...values]), max: max([...values])}
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], p: number): number {
  return quantileSorted(
    [...values].sort((a, b) => a - b),
    p,
  )
}

/** A small, fast, seeded generator (mulberry32): the same seed gives the same order of trials on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A new array in random order (Fisher–Yates). */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const kept = result[i] as T
    result[i] = result[j] as T
    result[j] = kept
  }
  return result
}
