import {createHash} from 'node:crypto'
import {createReadStream, createWriteStream, writeFileSync} from 'node:fs'
import {readFile, rename, rm, stat} from 'node:fs/promises'
import type {IncomingHttpHeaders, IncomingMessage} from 'node:http'
import {pipeline} from 'node:stream/promises'
import {systemCode} from '../../util/errors.js'
import {bytes, duration} from '../../util/format.js'
import {interrupted, pause} from '../../util/until.js'
import {connectionError, get, TransferError} from './http.js'
import {proxyFor} from './proxy.js'

export interface Download {
  readonly url: URL
  /** Until it is whole it lies beside this, as `<to>.part`, and a later call goes on from there. */
  readonly to: string
  readonly signal: AbortSignal
  readonly env: NodeJS.ProcessEnv
  readonly progress: (phase: string) => void
  /** A transfer that brings nothing for this long is given up; 30 s if not said. */
  readonly stallMs?: number
  /** Pause before another try; doubled when a try brought nothing. 500 ms if not said. */
  readonly pauseMs?: number
}

/** In all, and in a row without a new byte. */
const tries = {all: 20, inVain: 3}

/**
 * Fetches a file, goes on after a cut (Range with If-Range), and gives up after a bounded number of tries. What has
 * come so far stays in `<to>.part` for a later call. Nothing is verified here but the length that the server tells.
 * @returns true if the part of an earlier call is in the file
 * @throws TransferError; KxError KX_INTERRUPTED; system errors of the disk
 */
export async function download(request: Download): Promise<boolean> {
  const {url, to, signal, pauseMs = 500} = request
  const part = `${to}.part`
  let ofEarlierCall = (await sizeOf(part)) > 0
  let inVain = 0
  for (let attempt = 1; ; attempt++) {
    const had = await sizeOf(part)
    try {
      const startedOver = () => {
        ofEarlierCall = false
      }
      await transfer(request, part, startedOver)
      await rename(part, to)
      await rm(`${part}.json`, {force: true})
      return ofEarlierCall
    } catch (error) {
      if (signal.aborted) throw interrupted(`the download of ${nameIn(url)}`)
      // On a full disk the half is more harm than help.
      if (isFull(error)) await Promise.all([part, `${part}.json`].map(path => rm(path, {force: true})))
      const has = await sizeOf(part)
      inVain = has > had ? 0 : inVain + 1
      if (!(error instanceof TransferError) || error.kind !== 'broken') throw error
      if (inVain >= tries.inVain || attempt >= tries.all) throw givenUp(error, attempt, has)
      request.progress(`${error.message}; going on at ${bytes(has)}`)
      // An interrupted pause needs no care: the next transfer fails at once then.
      await pause(pauseMs * 2 ** inVain, signal).catch(() => undefined)
    }
  }
}

/** Reads a small text, such as a checksum file. The same errors as {@link download}, and as many tries in vain. */
export async function downloadText(request: Omit<Download, 'to'>, atMost = 65_536): Promise<string> {
  const {url, signal, pauseMs = 500} = request
  for (let attempt = 1; ; attempt++) {
    try {
      return await readText(request, atMost)
    } catch (error) {
      if (signal.aborted) throw interrupted(`the download of ${nameIn(url)}`)
      if (!(error instanceof TransferError) || error.kind !== 'broken') throw error
      if (attempt === tries.inVain) throw givenUp(error, attempt, 0)
      await pause(pauseMs * 2 ** attempt, signal).catch(() => undefined)
    }
  }
}

async function readText({url, signal, env, stallMs = 30_000}: Omit<Download, 'to'>, atMost: number): Promise<string> {
  const watch = new StallWatch(stallMs, signal)
  try {
    const body = await get(url, [200], {signal: watch.signal, env})
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      watch.touch()
      chunks.push(chunk)
      size += chunk.length
      if (size > atMost)
        throw new TransferError('refused', `${url.href} is no checksum file: it is longer than ${bytes(atMost)}`)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    throw watch.explain(error, url, env)
  } finally {
    watch.end()
  }
}

/** The SHA-512 of a file in lower-case hex. */
export async function sha512Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha512')
  await pipeline(createReadStream(path), hash, {signal})
  return hash.digest('hex')
}

/** One connection's worth. */
async function transfer(
  {url, signal, env, progress, stallMs = 30_000}: Download,
  part: string,
  startedOver: () => void,
): Promise<void> {
  const watch = new StallWatch(stallMs, signal)
  try {
    const validator = await validatorOf(part, url)
    const have = validator === undefined ? 0 : await sizeOf(part)
    const headers = have > 0 ? {range: `bytes=${have}-`, ...(validator ? {'if-range': validator} : {})} : {}
    // From here to `store` nothing may wait: a body that nobody reads yet loses what it holds when it is cut.
    const answer = await get(url, [200, 206, 416], {headers, signal: watch.signal, env})
    // Whole already: an earlier call ended between the last byte and the rename.
    if (answer.statusCode === 416 && answer.headers['content-range'] === `bytes */${have}`) return void answer.destroy()
    const from = startOf(answer, have)
    if (from !== have || have === 0) {
      startedOver()
      writeFileSync(part, '')
    }
    if (from === undefined) {
      answer.destroy()
      throw new TransferError('broken', `${url.host} can't go on at byte ${have}`)
    }
    if (from === 0)
      writeFileSync(`${part}.json`, JSON.stringify({url: url.href, validator: validatorIn(answer.headers)}))
    const total = totalOf(answer.headers, from)
    const got = await store(answer, part, {from, total, watch, progress, name: nameIn(url)})
    if (total !== undefined && got !== total)
      throw new TransferError('broken', `the connection to ${url.host} ended at ${bytes(got)} of ${bytes(total)}`)
  } catch (error) {
    throw watch.explain(error, url, env)
  } finally {
    watch.end()
  }
}

interface Storing {
  readonly from: number
  readonly total: number | undefined
  readonly watch: StallWatch
  readonly progress: (phase: string) => void
  readonly name: string
}

/**
 * Appends the body; tells each tenth, or each 16 MiB where the size is not known. Returns the size of the file then.
 * What came before a cut is written all the same: iterating over the body would drop what it has buffered.
 */
async function store(
  body: IncomingMessage,
  part: string,
  {from, total, watch, progress, name}: Storing,
): Promise<number> {
  const step = total === undefined ? 16 * 1_048_576 : total / 10
  const sink = createWriteStream(part, {flags: 'a'})
  let size = from
  const ended = new Promise<void>((resolve, reject) => {
    if (body.destroyed) reject(body.errored ?? new TransferError('broken', 'the connection was closed'))
    sink.once('error', reject)
    body.once('error', reject).once('end', resolve)
    body.once('close', () => reject(body.errored ?? new TransferError('broken', 'the connection was closed')))
  })
  body.on('data', (chunk: Buffer) => {
    watch.touch()
    const before = size
    size += chunk.length
    if (Math.floor(size / step) === Math.floor(before / step)) return
    progress(`${name}: ${bytes(size)}${total === undefined ? '' : ` of ${bytes(total)}`}`)
  })
  body.pipe(sink, {end: false})
  try {
    await ended
    return size
  } finally {
    body.destroy()
    if (!sink.errored)
      await new Promise<void>((resolve, reject) => sink.once('error', reject).once('close', resolve).end())
  }
}

/** At which byte the answer's body begins; `undefined` if what we have can't be used. */
function startOf(answer: IncomingMessage, have: number): number | undefined {
  if (answer.statusCode === 200) return 0
  if (answer.statusCode === 416) return undefined
  const from = Number(/^bytes (\d+)-/.exec(answer.headers['content-range'] ?? '')?.[1] ?? Number.NaN)
  return from === have ? have : undefined
}

function totalOf(headers: IncomingHttpHeaders, from: number): number | undefined {
  const inRange = /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]
  if (inRange !== undefined) return Number(inRange)
  const length = headers['content-length']
  return length === undefined ? undefined : from + Number(length)
}

/** What If-Range may carry: a strong entity tag, else the date (RFC 9110, 13.1.5). Empty if the server gives neither. */
function validatorIn(headers: IncomingHttpHeaders): string {
  const {etag, 'last-modified': modified = ''} = headers
  return etag?.startsWith('"') ? etag : modified
}

/** The validator of the part that lies there; `undefined` if it is of another URL or nobody knows: then start over. */
async function validatorOf(part: string, url: URL): Promise<string | undefined> {
  try {
    const note = JSON.parse(await readFile(`${part}.json`, 'utf8')) as {url?: unknown; validator?: unknown}
    return note.url === url.href && typeof note.validator === 'string' ? note.validator : undefined
  } catch {
    return undefined
  }
}

function nameIn(url: URL): string {
  return url.pathname.split('/').at(-1) ?? ''
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({size}) => size,
    () => 0,
  )
}

function givenUp(error: TransferError, attempts: number, has: number): TransferError {
  const kept = has === 0 ? '' : `; ${bytes(has)} are kept, and the next try goes on there`
  return new TransferError('broken', `${error.message}, at the last of ${attempts} tries${kept}`, error)
}

/** Ends a transfer that brings nothing any more: fires its signal when it was not touched for a while. */
class StallWatch {
  readonly #stall = new AbortController()
  readonly signal: AbortSignal
  #timer: NodeJS.Timeout

  constructor(
    readonly stallMs: number,
    outer: AbortSignal,
  ) {
    this.signal = AbortSignal.any([outer, this.#stall.signal])
    this.#timer = this.#start()
  }

  touch(): void {
    clearTimeout(this.#timer)
    this.#timer = this.#start()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  /** The error to throw: a stall as such, a cut as such, and what comes from the disk as it is. */
  explain(error: unknown, url: URL, env: NodeJS.ProcessEnv): unknown {
    if (error instanceof TransferError) return error
    if (this.#stall.signal.aborted)
      return new TransferError('broken', `${url.host} sent nothing for ${duration(this.stallMs)}`, error)
    return isOfDisk(error) ? error : connectionError(error, url, proxyFor(url, env))
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#stall.abort(), this.stallMs)
  }
}

/** A socket has no path, and can't be full. */
function isOfDisk(error: unknown): boolean {
  const ofDisk = ['EFBIG', 'EIO', 'EROFS', 'EMFILE', 'ENFILE']
  return isFull(error) || (error as {path?: unknown}).path !== undefined || ofDisk.includes(systemCode(error) ?? '')
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '')
}
