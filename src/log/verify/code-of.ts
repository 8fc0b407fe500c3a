import type {Damage} from '../damage.js'
import type {RecordsProblem} from '../records-problem.js'
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

/** Records that could not all be read, or are not as many as they should be. */
export const recordsCodes: Readonly<Record<RecordsProblem['kind'], FindingCode>> = {
  miscounted: 'record-count',
  count: 'record-count',
  leftover: 'leftover',
  'too-large': 'not-uncompressed',
  unreadable: 'records',
}

/** In words. */
export function recordsText({kind, reason}: RecordsProblem): string {
  return kind === 'miscounted' ? reason : `not all records of the batch can be read: ${reason}`
}
