const callbacks = new WeakMap<AbortSignal, Set<() => void>>()

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
  const waiting = callbacks.get(signal) ?? listen(signal)
  waiting.add(callback)
  return () => waiting.delete(callback)
}

function listen(signal: AbortSignal): Set<() => void> {
  const waiting = new Set<() => void>()
  callbacks.set(signal, waiting)
  const fire = () => {
    for (const callback of [...waiting]) callback()
  }
  signal.addEventListener('abort', fire, {once: true})
  return waiting
}
