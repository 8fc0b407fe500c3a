import {access, constants, readFile, statfs} from 'node:fs/promises'
import {availableParallelism, freemem, totalmem} from 'node:os'
import {dirname, join} from 'node:path'
import {execa} from 'execa'
import {systemCode} from '../../util/errors.js'
import {isFree} from '../ports.js'
import type {FolderFacts, LimitFacts, MemoryFacts, PortFacts} from './machine.js'
import {portRange} from './machine.js'

export async function memoryFacts(): Promise<Omit<MemoryFacts, 'engine'>> {
  if (process.platform === 'linux') {
    const facts = parseMeminfo(await readFile('/proc/meminfo', 'utf8'))
    // Inside of a container or a slice with a limit, that is all there is.
    const limit = process.constrainedMemory()
    return limit > 0 && limit < facts.total
      ? {...facts, total: limit, available: Math.min(facts.available, limit)}
      : facts
  }
  const {stdout = ''} = await execa('vm_stat', {reject: false, timeout: 5_000, stdin: 'ignore'})
  return {available: parseVmStat(stdout) ?? freemem(), total: totalmem(), swapUsed: 0}
}

export function processors(): number {
  return availableParallelism()
}

/** From `/proc/meminfo`, in bytes. */
export function parseMeminfo(text: string): Omit<MemoryFacts, 'engine'> {
  const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1_024
  return {available: value('MemAvailable'), total: value('MemTotal'), swapUsed: value('SwapTotal') - value('SwapFree')}
}

/** From macOS's `vm_stat`: free pages and those that are given back when asked for. */
export function parseVmStat(text: string): number | undefined {
  const page = Number(/page size of (\d+) bytes/.exec(text)?.[1])
  const pages = ['free', 'inactive', 'speculative', 'purgeable'].map(name =>
    Number(new RegExp(`^Pages ${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0),
  )
  return page > 0 ? page * pages.reduce((sum, count) => sum + count, 0) : undefined
}

/** The folder, or where it is not there yet, the nearest one above it: there it would be made. */
export async function folderFacts(name: string, folder: string, variable?: string): Promise<FolderFacts> {
  const named = {name, folder, ...(variable ? {variable} : {})}
  for (let at = folder; ; at = dirname(at)) {
    try {
      await access(join(at, '.'), constants.W_OK | constants.X_OK)
      const {bavail, bsize, files, ffree} = await statfs(at)
      return {...named, free: bavail * bsize, ...(files > 0 ? {freeFiles: ffree} : {})}
    } catch (error) {
      const code = systemCode(error) ?? String(error)
      if (code !== 'ENOENT' || at === dirname(at)) return {...named, free: 0, obstacle: code}
    }
  }
}

/** A cluster of 3 + 3 nodes takes nine ports, one after another. */
const blockSize = 9

export async function portFacts(): Promise<PortFacts> {
  const text = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '')
  const [, first, last] = /^(\d+)\s+(\d+)/.exec(text) ?? []
  const ephemeral = first === undefined ? {} : {ephemeral: {first: Number(first), last: Number(last)}}
  return {...ephemeral, freeBlock: await hasFreeBlock()}
}

async function hasFreeBlock(): Promise<boolean> {
  let run = 0
  for (let port = portRange.first; port <= portRange.last; port++) {
    run = (await isFree(port)) ? run + 1 : 0
    if (run === blockSize) return true
  }
  return false
}

export async function limitFacts(): Promise<LimitFacts> {
  if (process.platform === 'linux') return parseLimits(await readFile('/proc/self/limits', 'utf8').catch(() => ''))
  const {stdout = ''} = await execa('sh', ['-c', 'ulimit -n'], {reject: false, timeout: 5_000, stdin: 'ignore'})
  return /^\d+$/.test(stdout.trim()) ? {openFiles: Number(stdout)} : {}
}

/** The soft limits in `/proc/self/limits`. */
export function parseLimits(text: string): LimitFacts {
  const soft = (name: string) => /^\d+/.exec(new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(text)?.[1] ?? '')?.[0]
  const [openFiles, processes] = [soft('Max open files'), soft('Max processes')]
  return {...(openFiles ? {openFiles: Number(openFiles)} : {}), ...(processes ? {processes: Number(processes)} : {})}
}
