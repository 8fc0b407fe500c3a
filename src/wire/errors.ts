import {kafkaError} from '../kafka/errors.js'
import {KxError} from '../util/errors.js'
import type {Endpoint} from './types.js'

/**
 * How a connection failed. `timeout`: no answer in time. `refused`: nobody listens. `reset`: the other side broke it.
 * `closed`: it was closed, by the broker or by us, before the answer came. `unreachable`: no way to the host.
 * `protocol`: what came is not what was asked for.
 */
export type WireFailure = 'timeout' | 'closed' | 'refused' | 'reset' | 'unreachable' | 'protocol'

/** What broke between kx and one broker. An error code in an answer is no WireError: callers must see it as data. */
export class WireError extends KxError {
  constructor(
    readonly failure: WireFailure,
    message: string,
    /** False if no byte of the request was handed to the system: then the broker can't have acted on it. */
    readonly sent: boolean,
    cause?: unknown,
  ) {
    super('environment', `KX_WIRE_${failure.toUpperCase()}`, message, {cause})
  }
}

const failureOfCode: Readonly<Record<string, WireFailure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  ETIMEDOUT: 'timeout',
}

/** A failed system call of a socket as a WireError; what has no name of its own means that the host can't be reached. */
export function wireErrorOf(error: NodeJS.ErrnoException, doing: string, sent: boolean): WireError {
  const failure = failureOfCode[error.code ?? ''] ?? 'unreachable'
  // A name with several addresses gives an AggregateError, which has a code but no message.
  return new WireError(failure, `${doing}: ${error.message || error.code}.`, sent, error)
}

export function addressOf({host, port}: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/**
 * Nothing if the code is 0, otherwise an error for callers that cannot go on with it.
 * @param what a sentence's beginning, e.g. `CreateTopics of kx-orders`
 * @throws KxError KX_KAFKA_ERROR (environment)
 */
export function requireNoError(code: number, what: string, message?: string | null): void {
  if (code === 0) return
  const {name} = kafkaError(code)
  const words = message ? `: ${message.replace(/\.$/, '')}` : ''
  throw new KxError('environment', 'KX_KAFKA_ERROR', `${what} failed with error ${code} ${name}${words}.`)
}
