import {miscounted} from '../batch-cursor.js'
import type {Damage} from '../damage.js'
import type {FindingCode} from './codes.js'

/** Bytes that are no batch. */
export const damageCodes: Readonly<Record<Damage['kind'], FindingCode>> = {
  cut: 'cut-batch',
  'cut-header': 'cut-header',
  size: 'impossible-size',
  magic: 'magic',
  'zero-fill': 'zero-fill',
  garbage: 'garbage',
  'too-large': 'too-large',
  'short-read': 'short-read',
}

/** What the reader says of records that it could not all read, or that are not as many as they should be. */
export function recordsCode(problem: string): FindingCode {
  if (problem.startsWith(miscounted) || problem.startsWith('record count')) return 'record-count'
  if (/bytes? behind the last of/.test(problem)) return 'leftover'
  if (/more than \d+ (plain bytes|bytes when)/.test(problem)) return 'not-uncompressed'
  return 'records'
}
