import {exitCode, KxError} from '../util/errors.js'

/** Signals that end kx. SIGHUP: the terminal was closed. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** `npm run` and the terminal both deliver one Ctrl-C: what comes this soon is the same wish. */
const echoMs = 400
/** After a bug nobody knows whether the clean-up ever ends. */
const cleanUpMs = 120_000

export interface Interruption extends Disposable {
  readonly signal: AbortSignal
  /** What was thrown where nobody could catch it: a bug. The work is broken off and cleaned up as after a signal. */
  readonly bug: {readonly error: unknown} | undefined
}

/**
 * The first signal aborts `signal`: the command cleans up, and the process ends with 130. The second leaves at once;
 * `kx heal` and `kx clean` then put things right, because every fault was journalled before it acted.
 */
export function interruptible(say: (text: string) => void, now = () => performance.now()): Interruption {
  const controller = new AbortController()
  let firstMs: number | undefined
  let bug: {readonly error: unknown} | undefined
  const onSignal = (name: NodeJS.Signals) => {
    const nowMs = now()
    if (firstMs === undefined) {
      firstMs = nowMs
      say('Interrupted: cleaning up. Once more leaves at once (kx heal and kx clean then put things right).')
      controller.abort(new KxError('interrupted', 'KX_INTERRUPTED', `Interrupted by ${name}.`))
    } else if (nowMs - firstMs > echoMs) {
      process.exit(exitCode.interrupted)
    }
  }
  // Without this Node would end the process at once, with brokers paused, and with 1, which here means "refuted".
  const onBug = (error: unknown) => {
    if (bug !== undefined) return
    bug = {error}
    say('Something went wrong that kx did not foresee: cleaning up.')
    controller.abort(error)
    setTimeout(() => process.exit(exitCode.internal), cleanUpMs).unref()
  }
  for (const name of signals) process.on(name, onSignal)
  process.on('uncaughtException', onBug)
  return {
    signal: controller.signal,
    get bug() {
      return bug
    },
    [Symbol.dispose]() {
      for (const name of signals) process.off(name, onSignal)
      process.off('uncaughtException', onBug)
    },
  }
}
