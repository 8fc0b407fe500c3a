import type {Connection} from './connection.js'
import {WireError} from './errors.js'
import type {RequestOptions} from './types.js'

/** A broker that may wait itself must have the time to say that it waited in vain: this is added to its own bound. */
const graceMs = 2_000

/** The options for a request in which the broker is told to wait up to `brokerTimeoutMs`. */
export function outwaiting(connection: Connection, brokerTimeoutMs: number, options: RequestOptions): RequestOptions {
  return {...options, timeoutMs: options.timeoutMs ?? Math.max(connection.requestTimeoutMs, brokerTimeoutMs + graceMs)}
}

/** The one entry that an answer about one thing has. */
export function only<T>(items: readonly T[], what: string): T {
  const [first] = items
  if (first === undefined || items.length > 1)
    throw new WireError('protocol', `${what} has ${items.length} entries instead of one.`, true)
  return first
}
