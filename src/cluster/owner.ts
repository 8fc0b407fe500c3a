import {readdirSync, readFileSync} from 'node:fs'
import {hostname, userInfo} from 'node:os'
import type {ClusterState} from './cluster.js'

/** A process as it can be found again: the system gives a pid anew, but never with the same start time. */
export interface ProcessIdentity {
  readonly pid: number
  /** Linux: clock ticks since boot and the first digits of the boot's id. macOS: what `ps -o lstart=` says. */
  readonly startTime: string
}

/** A process that runs now. */
export interface RunningProcess extends ProcessIdentity {
  /** Its arguments, joined by spaces. */
  readonly commandLine: string
}

/** The process with this pid; `undefined` if there is none, or only its zombie. */
export async function identify(pid: number): Promise<RunningProcess | undefined> {
  return process.platform === 'linux' ? identifyOnLinux(pid) : fromPs(await ps('-o', 'lstart=,command=', pid), pid)
}

/** The same, at once: between this answer and a signal nothing of this process can happen. */
export function identifyOnLinux(pid: number): RunningProcess | undefined {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    if (isOver(stat.state) && readdirSync(`/proc/${pid}/task`).length <= 1) return undefined
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trimEnd()
    return {pid, startTime: `${stat.startTicks}@${bootId()}`, commandLine}
  } catch {
    return undefined
  }
}

/** True if that very process still runs. `commandLine`: text that its command line must hold. */
export async function isAlive({pid, startTime}: ProcessIdentity, commandLine = ''): Promise<boolean> {
  const now = await identify(pid)
  return now !== undefined && now.startTime === startTime && now.commandLine.includes(commandLine)
}

/** Who makes clusters in this process. */
export async function ownOwner(): Promise<ClusterState['owner']> {
  const {startTime = ''} = (await identify(process.pid)) ?? {}
  return {pid: process.pid, startTime, user: userInfo().username, host: hostname()}
}

/** True only if it is certain: on another host (a shared home) nobody here can tell. */
export async function isGone(owner: ClusterState['owner']): Promise<boolean> {
  return owner.host === hostname() && !(await isAlive(owner))
}

/** All processes whose command line holds the text. */
export async function findProcesses(text: string): Promise<RunningProcess[]> {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .flatMap(pid => identifyOnLinux(Number(pid)) ?? [])
      .filter(({pid, commandLine}) => pid !== process.pid && commandLine.includes(text))
  }
  const {execa} = await import('execa')
  const {stdout} = await execa('ps', ['-axww', '-o', 'pid=,lstart=,command='], {env: {LC_ALL: 'C'}, reject: false})
  return stdout.split('\n').flatMap(line => {
    const [, pid, rest] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? []
    const found = rest === undefined ? undefined : fromPs(rest, Number(pid))
    return found && found.pid !== process.pid && found.commandLine.includes(text) ? [found] : []
  })
}

/** State and start time in `/proc/<pid>/stat`; the command in parentheses may itself hold spaces and parentheses. */
export function parseStat(text: string): {readonly state: string; readonly startTicks: string} {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {state: fields[0] ?? '', startTicks: fields[19] ?? ''}
}

/** `Sat Nov 29 19:36:01 2026 java -cp …`, as `ps -o lstart=,command=` prints it in the C locale. */
export function fromPs(line: string, pid: number): RunningProcess | undefined {
  const [, startTime, commandLine] = /^\s*(\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})\s+(.*?)\s*$/.exec(line) ?? []
  if (startTime === undefined || commandLine === undefined) return undefined
  return /^\(.*\)$|<defunct>$/.test(commandLine) ? undefined : {pid, startTime, commandLine}
}

/** One line about one process; empty if it is gone. */
export async function ps(format: '-o', columns: string, pid: number): Promise<string> {
  const {execa} = await import('execa')
  const {stdout} = await execa('ps', ['-ww', format, columns, '-p', String(pid)], {env: {LC_ALL: 'C'}, reject: false})
  return stdout
}

function isOver(state: string): boolean {
  return state === 'Z' || state === 'X'
}

let boot: string | undefined

/** Ticks since boot mean nothing after the next boot. */
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
  return boot
}
