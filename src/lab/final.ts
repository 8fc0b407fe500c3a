import {KxError} from '../util/errors.js'

/** Waiting or repeating would not help: these end the run and are told to the person, with their cure. */
const codes: ReadonlySet<string> = new Set([
  'KX_RESULTS',
  'KX_DISK_FULL',
  'KX_DYNAMIC_CONFIG',
  'KX_DOCKER_GONE',
  'KX_DOCKER_DENIED',
])

export function endsTheRun(error: unknown): boolean {
  return error instanceof KxError && codes.has(error.code)
}
