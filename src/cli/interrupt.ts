import {exitCode, KxError} from '../util/errors.js'

/** Signals that end kx. SIGHUP: the terminal was closed. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** `npm run` and the terminal both deliver one Ctrl-C: what comes this soon is the same wish. */
const echoMs = 400

export interface Interruption extends Disposable {
  readonly signal: AbortSignal
}

/**
 * The first signal aborts `signal`: the command cleans up, and the process ends with 130. The second leaves at once;
 * `kx heal` and `kx clean` then put things right, because every fault was journalled before it acted.
 */
export function interruptible(say: (text: string) => void): Interruption {
  const controller = new AbortController()
  let firstMs: number | undefined
  const onSignal = (name: NodeJS.Signals) => {
    const nowMs = performance.now()
    if (firstMs === undefined) {
      firstMs = nowMs
      say('Interrupted: cleaning up. Once more leaves at once (kx heal and kx clean then put things right).')
      controller.abort(new KxError('interrupted', 'KX_INTERRUPTED', `Interrupted by ${name}.`))
    } else if (nowMs - firstMs > echoMs) {
      process.exit(exitCode.interrupted)
    }
  }
  for (const name of signals) process.on(name, onSignal)
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of signals) process.off(name, onSignal)
    },
  }
}
