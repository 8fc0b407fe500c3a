import {spawn} from 'node:child_process'
import {closeSync, openSync, readFileSync} from 'node:fs'
import {cpuSecondsOf} from './bare.js'

export interface Measured {
  readonly wallMs: number
  /** User and system time, all threads, as last seen: at most one sample (10 ms) too low. */
  readonly cpuMs: number
  /** The kernel's own high-water mark of resident memory (VmHWM), as last seen. */
  readonly peakMiB: number
  readonly exit: number | null
}

const sampleMs = 10

/** Runs a program with its output in the null device, and looks at its memory every 10 ms. */
export async function measure(
  executable: string,
  args: readonly string[],
  options: {readonly env?: NodeJS.ProcessEnv; readonly cwd?: string; readonly stdoutTo?: string} = {},
): Promise<Measured> {
  const out = openSync(options.stdoutTo ?? '/dev/null', 'w')
  try {
    const begun = performance.now()
    const child = spawn(executable, args, {
      stdio: ['ignore', out, out],
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : {cwd: options.cwd}),
    })
    const pid = child.pid as number
    let peakKiB = 0
    let cpuSeconds = 0
    const sample = (): void => {
      peakKiB = Math.max(peakKiB, highWaterKiB(pid))
      cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(pid))
    }
    const timer = setInterval(sample, sampleMs)
    const exit = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', resolve)
    })
    clearInterval(timer)
    return {wallMs: performance.now() - begun, cpuMs: cpuSeconds * 1000, peakMiB: peakKiB / 1024, exit}
  } finally {
    closeSync(out)
  }
}

function highWaterKiB(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
