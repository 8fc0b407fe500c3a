import {systemCode} from '../../util/errors.js'

/**
 * Ends a process group (a child that was started detached, and all that it started) when the signal fires: politely,
 * and after 5 s for certain. Dispose of it when the child has ended.
 */
export function endedBy(signal: AbortSignal, pid: number | undefined): Disposable {
  let timer: NodeJS.Timeout | undefined
  const kill = (how: 'SIGTERM' | 'SIGKILL') => {
    try {
      if (pid !== undefined) process.kill(-pid, how)
    } catch (error) {
      // Gone already.
      if (systemCode(error) !== 'ESRCH') throw error
    }
  }
  const end = () => {
    kill('SIGTERM')
    timer = setTimeout(kill, 5_000, 'SIGKILL')
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, {once: true})
  return {
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', end)
      clearTimeout(timer)
    },
  }
}
