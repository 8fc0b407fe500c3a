import {appendFileSync, existsSync, fsyncSync, openSync, closeSync, readFileSync} from 'node:fs'
import type {Proof} from './cluster.js'

/** One line of `faults.jsonl`. `planned` is on disk before the blow, so that `kx heal` works after a crash of kx. */
export type JournalEntry =
  | {
      readonly at: string
      readonly state: 'planned'
      readonly fault: Proof['fault']
      readonly nodeId: number
      readonly why?: string
    }
  | {readonly at: string; readonly state: 'proven'; readonly proof: Proof}
  | {
      readonly at: string
      readonly state: 'failed'
      readonly fault: Proof['fault']
      readonly nodeId: number
      readonly error: string
    }

/** Appends and syncs: what was not written down did not happen. */
export function record(path: string, entry: JournalEntry): void {
  const file = openSync(path, 'a')
  try {
    appendFileSync(file, `${JSON.stringify(entry)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The entries so far; a torn last line (a crash in the middle of a write) is left out. */
export function entries(path: string): JournalEntry[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap(line => {
      try {
        return line === '' ? [] : [JSON.parse(line) as JournalEntry]
      } catch {
        return []
      }
    })
}
