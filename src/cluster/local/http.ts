import {type IncomingMessage, request as plainRequest} from 'node:http'
import {type RequestOptions, request as tlsRequest} from 'node:https'
import {isIP, type Socket} from 'node:net'
import {connect as tlsConnect} from 'node:tls'
import {messageOf, systemCode} from '../../util/errors.js'
import {proxyFor, proxyHeaders} from './proxy.js'

/**
 * Why a transfer did not work, as a clause for a sentence.
 * `missing`: the server says that there is no such file. `broken`: it may work when tried again. `refused`: it won't.
 */
export class TransferError extends Error {
  override readonly name = 'TransferError'

  constructor(
    readonly kind: 'missing' | 'broken' | 'refused',
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : {cause})
  }
}

export interface GetOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly env: NodeJS.ProcessEnv
}

const redirects = 5

/**
 * One GET, through the proxy that the environment names, redirects followed. The answer has one of the statuses in
 * `wanted`; its body is not read yet: the caller reads or destroys it.
 * @throws TransferError; whatever reason the signal has
 */
export async function get(url: URL, wanted: readonly number[], options: GetOptions): Promise<IncomingMessage> {
  let at = url
  for (let hop = 0; hop <= redirects; hop++) {
    const answer = await ask(at, options).catch((error: unknown) => {
      options.signal.throwIfAborted()
      throw error instanceof TransferError ? error : connectionError(error, at, proxyFor(at, options.env))
    })
    const status = answer.statusCode ?? 0
    if (wanted.includes(status)) return answer
    answer.destroy()
    const location = answer.headers.location
    if (status < 300 || status > 308 || location === undefined) throw statusError(status, at)
    const next = new URL(location, at)
    if (at.protocol === 'https:' && next.protocol !== 'https:') {
      throw new TransferError(
        'refused',
        `${at.host} sends kx from https to ${next.protocol}//${next.host}, which is not followed`,
      )
    }
    at = next
  }
  throw new TransferError('refused', `${url.host} redirects more than ${redirects} times`)
}

async function ask(url: URL, {headers, signal, env}: GetOptions): Promise<IncomingMessage> {
  const proxy = proxyFor(url, env)
  if (proxy && !/^https?:$/.test(proxy.protocol)) {
    throw new TransferError(
      'refused',
      `the proxy ${proxy.protocol}//${proxy.host} is none that kx can use: it knows http:// and https:// proxies`,
    )
  }
  const common = {
    signal,
    headers: {...headers, 'user-agent': 'kx', 'accept-encoding': 'identity', host: url.host},
    agent: false as const,
  }
  if (!proxy) return answerTo({...address(url), ...common, path: `${url.pathname}${url.search}`}, url.protocol)
  if (url.protocol === 'http:') {
    // A proxy is asked for the whole URL (RFC 9112, absolute-form).
    const toProxy = {...common, headers: {...common.headers, ...proxyHeaders(proxy)}}
    return answerTo({...address(proxy), ...toProxy, path: `${url.origin}${url.pathname}${url.search}`}, proxy.protocol)
  }
  const socket = await tunnel(proxy, url, signal)
  const createConnection = () =>
    tlsConnect({socket, host: hostOf(url), ...(isIP(hostOf(url)) ? {} : {servername: hostOf(url)})})
  // With an agent, even a new one, Node would ignore createConnection.
  return answerTo(
    {...address(url), ...common, agent: undefined, path: `${url.pathname}${url.search}`, createConnection},
    url.protocol,
  )
}

function answerTo(options: RequestOptions, protocol: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = protocol === 'https:' ? tlsRequest(options) : plainRequest(options)
    request.once('error', reject).once('response', resolve).end()
  })
}

/** A connection to the host of `url` through the proxy (RFC 9110, CONNECT). */
function tunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const target = `${url.hostname}:${url.port || 443}`
  const options = {
    ...address(proxy),
    method: 'CONNECT',
    path: target,
    headers: {host: target, ...proxyHeaders(proxy)},
    signal,
    agent: false as const,
  }
  return new Promise((resolve, reject) => {
    const request = proxy.protocol === 'https:' ? tlsRequest(options) : plainRequest(options)
    request
      .once('error', reject)
      .once('connect', (answer, socket) => {
        if (answer.statusCode === 200) return resolve(socket)
        socket.destroy()
        reject(refusedByProxy(answer.statusCode ?? 0, proxy))
      })
      .end()
  })
}

function statusError(status: number, url: URL): TransferError {
  if (status === 404 || status === 410)
    return new TransferError('missing', `${url.host} has no ${url.pathname} (${status})`)
  if (status === 407) return new TransferError('refused', 'the proxy asks for a user name and a password (407)')
  const again = status >= 500 || status === 408 || status === 429
  return new TransferError(again ? 'broken' : 'refused', `${url.host} answered with status ${status}`)
}

function refusedByProxy(status: number, proxy: URL): TransferError {
  if (status === 407)
    return new TransferError('refused', `the proxy ${proxy.host} asks for a user name and a password (407)`)
  return new TransferError(
    status >= 500 ? 'broken' : 'refused',
    `the proxy ${proxy.host} refuses to connect (status ${status})`,
  )
}

/** A failed system call or TLS handshake, said as a clause that names the host and, if there is one, the proxy. */
export function connectionError(error: unknown, url: URL, proxy: URL | undefined): TransferError {
  const code = systemCode(error) ?? ''
  const end = proxy ? `the proxy ${proxy.host}` : url.host
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new TransferError('refused', `the name ${hostOf(proxy ?? url)} can't be resolved`, error)
  }
  if (code === 'ECONNREFUSED') return new TransferError('refused', `nothing listens at ${end}`, error)
  if (['EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM'].includes(code)) {
    return new TransferError('refused', `${end} can't be reached (${code})`, error)
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(code)) {
    const cure = 'if a proxy opens TLS here, name its CA file in NODE_EXTRA_CA_CERTS'
    return new TransferError('refused', `the certificate of ${url.host} is not trusted (${code}; ${cure})`, error)
  }
  return new TransferError('broken', `the connection to ${end} was cut (${code || messageOf(error)})`, error)
}

function address(url: URL): {readonly host: string; readonly port: number} {
  return {host: hostOf(url), port: Number(url.port || (url.protocol === 'https:' ? 443 : 80))}
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}
