import {createConnection, type Socket} from 'node:net'
import {interrupted} from '../util/until.js'
import {onAbort} from './abort.js'
import {addressOf, WireError, wireErrorOf} from './errors.js'
import type {Endpoint} from './types.js'

/**
 * Opens the stream to a broker. The one place where TLS and SASL come in (with external clusters): a dialled stream is
 * ready for Kafka's requests.
 * @throws WireError refused, unreachable or timeout; KxError KX_INTERRUPTED when the signal fires
 */
export function dial(endpoint: Endpoint, timeoutMs: number, signal?: AbortSignal): Promise<Socket> {
  const what = `connecting to ${addressOf(endpoint)}`
  if (signal?.aborted) return Promise.reject(interrupted(what))
  return new Promise((resolve, reject) => {
    const socket = createConnection({host: endpoint.host, port: endpoint.port, noDelay: true})
    const settle = (error?: Error) => {
      clearTimeout(timer)
      forget()
      socket.off('connect', connected)
      // The listener for 'error' stays: there is no moment in which a socket's failure could end the process.
      if (!error) return resolve(socket)
      socket.destroy()
      reject(error)
    }
    const connected = () => settle()
    const failed = (error: NodeJS.ErrnoException) => settle(wireErrorOf(error, `${capital(what)} failed`, false))
    const timer = setTimeout(
      () => settle(new WireError('timeout', `${capital(what)} took longer than ${timeoutMs} ms.`, false)),
      timeoutMs,
    )
    const forget = onAbort(signal, () => settle(interrupted(what)))
    socket.once('connect', connected)
    socket.on('error', failed)
  })
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
