/** One instant on a process's monotonic clock and on the wall clock, read together. Milliseconds. */
export interface Instant {
  readonly monotonicMs: number
  /** Since 1970: the clock of Kafka's own records. */
  readonly wallMs: number
}

/** The one clock of a trial: milliseconds since it began. Reads no clock itself; times come in from outside. */
export interface TrialClock {
  readonly start: Instant
  /** From the monotonic clock of the process that began the trial. */
  at(monotonicMs: number): number
  /** From the wall clock, e.g. of a record's timestamp. */
  fromWall(wallMs: number): number
  toWall(trialMs: number): number
  /** From the monotonic clock of a child process, which wrote down this instant of its own. */
  fromChild(child: Instant): (monotonicMs: number) => number
}

export function trialClock(start: Instant): TrialClock {
  const fromWall = (wallMs: number) => wallMs - start.wallMs
  return {
    start,
    at: monotonicMs => monotonicMs - start.monotonicMs,
    fromWall,
    toWall: trialMs => start.wallMs + trialMs,
    fromChild: child => monotonicMs => fromWall(child.wallMs) + (monotonicMs - child.monotonicMs),
  }
}

/**
 * By how much the wall clock ran ahead of the monotonic one between two instants of one process: about 0, or somebody
 * set the clock, and times that came over the wall clock are off by as much.
 */
export function driftMs(from: Instant, to: Instant): number {
  return to.wallMs - from.wallMs - (to.monotonicMs - from.monotonicMs)
}
