import {setTimeout as wait} from 'node:timers/promises'
import {KxError} from './errors.js'

export interface Patience {
  readonly timeoutMs: number
  /** Pause between two probes; 50 ms if not said. */
  readonly everyMs?: number
  readonly signal?: AbortSignal
  /** Says what is still missing when the time is over. */
  readonly missing?: () => string | Promise<string>
}

/**
 * Asks until the answer is not `undefined`. The only way in kx to wait for something: it is bounded, it can be
 * interrupted, and when the bound is hit the error says what was waited for.
 * @throws KxError KX_TIMEOUT (environment) after `timeoutMs`; KX_INTERRUPTED when the signal fires.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  {timeoutMs, everyMs = 50, signal, missing}: Patience,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    if (signal?.aborted) throw interrupted(what)
    const answer = await probe()
    if (answer !== undefined) return answer
    if (performance.now() + everyMs > deadline) {
      const rest = missing ? ` ${await missing()}` : ''
      throw new KxError('environment', 'KX_TIMEOUT', `Waited ${seconds(timeoutMs)} for ${what}, in vain.${rest}`)
    }
    await pause(everyMs, signal).catch(() => {
      throw interrupted(what)
    })
  }
}

/** A plain pause that the signal ends at once (it then rejects). For `until`, `bench.elapsed`, clients and the proxy. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, signal ? {signal} : undefined)
}

/**
 * Lets a promise take at most `timeoutMs`, and no longer than until the signal fires. The promise itself goes on: the caller
 * must be able to abandon it.
 * @throws KxError KX_TIMEOUT (environment); KX_INTERRUPTED when the signal fires
 */
export async function within<T>(
  what: string,
  timeoutMs: number,
  promise: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let stop: (() => void) | undefined
  const abandoned = new Promise<never>((_, reject) => {
    stop = () => reject(interrupted(what))
    signal?.addEventListener('abort', stop, {once: true})
    if (signal?.aborted) stop()
  })
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new KxError('environment', 'KX_TIMEOUT', `Waited ${seconds(timeoutMs)} for ${what}, in vain.`)),
      timeoutMs,
    )
  })
  try {
    return await Promise.race([promise, late, abandoned])
  } finally {
    clearTimeout(timer)
    if (stop) signal?.removeEventListener('abort', stop)
  }
}

export function interrupted(what: string): KxError {
  return new KxError('interrupted', 'KX_INTERRUPTED', `Interrupted while waiting for ${what}.`)
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Number((ms / 1_000).toFixed(1))} s`
}
