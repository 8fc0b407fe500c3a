interface Waiting {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const waitingFor = new WeakMap<AbortSignal, Waiting>()

/**
 * Calls back once when the signal fires (at once if it has), until the returned function is called. However many wait
 * for a signal, it has one listener: fifty connections of one trial would otherwise set off Node's leak warning.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => undefined
  if (signal.aborted) {
    callback()
    return () => undefined
  }
  const {callbacks, listener} = waitingFor.get(signal) ?? listen(signal)
  callbacks.add(callback)
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return
    signal.removeEventListener('abort', listener)
    waitingFor.delete(signal)
  }
}

function listen(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>()
  const listener = () => {
    for (const callback of [...callbacks]) callback()
  }
  const waiting = {callbacks, listener}
  waitingFor.set(signal, waiting)
  signal.addEventListener('abort', listener, {once: true})
  return waiting
}
