import {ProtocolError} from '../../../src/protocol/errors.js'

/** `kind: message` of the ProtocolError that this throws. */
export function failureOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof ProtocolError) return `${error.failure}: ${error.message}`
    throw error
  }
  return 'none'
}
