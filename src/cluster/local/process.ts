import {spawn} from 'node:child_process'
import {closeSync, openSync, readdirSync, readFileSync} from 'node:fs'
import {execa} from 'execa'
import {KxError, messageOf, systemCode} from '../../util/errors.js'
import {until, within} from '../../util/until.js'
import {identify, identifyOnLinux, isAlive, type ProcessIdentity, parseStat} from '../owner.js'

export interface DetachedCommand {
  readonly executable: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly folder: string
  /** Standard output and errors are appended to this file. */
  readonly output: string
}

/**
 * Starts a process in a session of its own, so that the terminal's Ctrl-C does not reach it and it outlives kx.
 * @throws KxError KX_PROCESS (environment) if it can't be started
 */
export async function startDetached({
  executable,
  args,
  env,
  folder,
  output,
}: DetachedCommand): Promise<ProcessIdentity> {
  const file = openSync(output, 'a')
  try {
    const child = spawn(executable, args, {cwd: folder, env, detached: true, stdio: ['ignore', file, file]})
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => resolve(child.pid as number))
    })
    child.unref()
    const startTime = (await identify(pid))?.startTime
    if (startTime === undefined) throw new Error(`it ended at once (exit code ${child.exitCode ?? 'unknown'})`)
    return {pid, startTime}
  } catch (error) {
    throw new KxError('environment', 'KX_PROCESS', `${executable} can't be started: ${messageOf(error)}.`, {
      suggestions: [`Look into ${output}.`],
      cause: error,
    })
  } finally {
    closeSync(file)
  }
}

/**
 * Sends a signal to this very process: pid, start time and command line are looked up right before, so that a process
 * to which the system gave the same pid later is never hit. False if the process is gone.
 */
export async function signal(target: ProcessIdentity, mark: string, name: NodeJS.Signals): Promise<boolean> {
  const now = process.platform === 'linux' ? identifyOnLinux(target.pid) : await identify(target.pid)
  if (now === undefined || now.startTime !== target.startTime || !now.commandLine.includes(mark)) return false
  try {
    process.kill(target.pid, name)
    return true
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false
    throw error
  }
}

/** Waits until the process is gone. */
export async function untilGone(target: ProcessIdentity, what: string, timeoutMs: number): Promise<void> {
  await until(`the end of ${what} (pid ${target.pid})`, async () => ((await isAlive(target)) ? undefined : true), {
    timeoutMs,
    everyMs: 5,
  })
}

/** The state letter of each thread now; empty if the process is gone. */
export async function threadStates(pid: number): Promise<readonly string[]> {
  if (process.platform !== 'linux') {
    const {stdout} = await execa('ps', ['-M', '-p', String(pid)], {env: {LC_ALL: 'C'}, reject: false})
    return parsePsThreads(stdout)
  }
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap(thread => stateOfThread(pid, thread) ?? [])
  } catch {
    return []
  }
}

/** Threads of `ps -M` (macOS): a header, then a line each, in which the state follows the share of the CPU. */
export function parsePsThreads(text: string): string[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap(line => /\s\d+[.,]\d+\s+([A-Z])\S*\s/.exec(line)?.[1] ?? [])
}

export function isStopped(state: string): boolean {
  return state === 'T' || state === 't'
}

/** A thread may end between the listing and the reading. */
function stateOfThread(pid: number, thread: string): string | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')).state
  } catch {
    return undefined
  }
}

export interface ToolRun {
  readonly executable: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly what: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Runs a tool to its end. */
export async function runTool({executable, args, env, what, timeoutMs, signal: abort}: ToolRun): Promise<{
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
}> {
  const run = execa(executable, args, {
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 512 * 1_024 * 1_024,
    ...(abort ? {cancelSignal: abort} : {}),
  })
  const {exitCode, stdout, stderr, isCanceled, timedOut} = await within(what, timeoutMs + 5_000, run)
  if (isCanceled) throw new KxError('interrupted', 'KX_INTERRUPTED', `Interrupted during ${what}.`)
  if (timedOut) throw new KxError('environment', 'KX_TIMEOUT', `${what} took longer than ${timeoutMs / 1_000} s.`)
  return {exitCode, stdout, stderr}
}
