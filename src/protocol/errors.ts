/**
 * `truncated`: the bytes end inside the message. `malformed`: they break a rule of the format. `unknown-message` and
 * `unknown-version`: there is no schema, so nothing was read. `invalid-value`: the value to be written does not fit.
 */
export type ProtocolFailure = 'truncated' | 'malformed' | 'unknown-message' | 'unknown-version' | 'invalid-value'

/**
 * The one error of this layer. On decode callers catch it and show the bytes raw with its message; on encode it is a
 * mistake of the caller.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'

  constructor(
    readonly failure: ProtocolFailure,
    message: string,
    /** Where in the bytes given to `decode` the reading went wrong. */
    readonly position?: number,
    /** The message of the exception that Kafka's own reader throws there; `null` if that has none (the bytes just end). */
    readonly thrown: string | null = null,
  ) {
    super(message)
  }
}
