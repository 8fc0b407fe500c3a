import {linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {z} from 'zod'
import {systemCode} from '../util/errors.js'
import {identify, isAlive, type ProcessIdentity} from './owner.js'

/** Who holds a lock, and what for. */
export interface LockHolder extends ProcessIdentity {
  readonly purpose: string
  readonly since: string
}

const holderSchema = z.object({pid: z.number(), startTime: z.string(), purpose: z.string(), since: z.string()})

export interface Lock extends Disposable {
  readonly path: string
}

/**
 * Takes the lock file, or says who has it. A lock whose holder is gone (by pid and start time) is taken over: a crash
 * never locks anybody out.
 */
export async function tryLock(path: string, purpose: string): Promise<Lock | {readonly heldBy: LockHolder}> {
  const {startTime = ''} = (await identify(process.pid)) ?? {}
  const mine: LockHolder = {pid: process.pid, startTime, purpose, since: new Date().toISOString()}
  const draft = `${path}.${process.pid}.${nextDraft++}`
  mkdirSync(dirname(path), {recursive: true})
  try {
    writeFileSync(draft, JSON.stringify(mine))
    for (;;) {
      if (linked(draft, path)) return {path, [Symbol.dispose]: () => release(path, mine)}
      const held = read(path)
      if (held === undefined) continue
      if (held.holder && (await isAlive(held.holder))) return {heldBy: held.holder}
      removeStale(path, held.inode, draft)
    }
  } finally {
    rmSync(draft, {force: true})
  }
}

let nextDraft = 1

/** A hard link is made with its content, or not at all: nobody ever sees half a lock. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

function read(path: string): {readonly inode: number; readonly holder: LockHolder | undefined} | undefined {
  try {
    const {ino: inode} = statSync(path)
    return {inode, holder: parse(readFileSync(path, 'utf8'))}
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Nobody can hold a lock that does not say who holds it. */
function parse(text: string): LockHolder | undefined {
  try {
    return holderSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Moves the stale file away, so that of two that found it only one succeeds; a fresh lock moved by mistake goes back. */
function removeStale(path: string, inode: number, draft: string): void {
  const aside = `${draft}.stale`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  if (statSync(aside).ino !== inode) linked(aside, path)
  rmSync(aside, {force: true})
}

function release(path: string, mine: LockHolder): void {
  const held = read(path)?.holder
  if (held?.pid === mine.pid && held.startTime === mine.startTime && held.since === mine.since)
    rmSync(path, {force: true})
}
