import type {Following, Reading} from '../experiment/bench.js'
import type {Found} from '../history/operation.js'
import {bufferSource} from '../log/byte-source.js'
import {batches} from '../log/batches.js'
import {KxError, messageOf} from '../util/errors.js'
import {pause, within} from '../util/until.js'
import {Connection} from '../wire/connection.js'
import {fetch} from '../wire/requests.js'
import type {ClusterView} from './view.js'

/** A gap in which nothing came is noted from this length on, ms. */
const notedGapMs = 200

/** The records in raw bytes of a log or of a Fetch answer (whose last batch may be cut off). Control records are left out. */
export async function foundIn(
  bytes: Buffer,
): Promise<{readonly found: Found[]; readonly nextOffset: number | undefined}> {
  const found: Found[] = []
  let nextOffset: number | undefined
  for await (const batch of batches(bufferSource(bytes))) {
    nextOffset = Number(batch.lastOffset) + 1
    if (!batch.crcIsRight)
      throw new KxError('inconclusive', 'KX_CRC', `The batch at offset ${batch.baseOffset} has a false CRC.`)
    if (batch.problem !== undefined) {
      throw new KxError(
        'inconclusive',
        'KX_UNREADABLE',
        `The batch at offset ${batch.baseOffset} can't be read whole: ${batch.problem}.`,
      )
    }
    if (batch.isControl) continue
    for (const record of batch.records) {
      found.push({
        offset: safeOffset(record.offset),
        value: record.value?.toString('utf8') ?? '',
        leaderEpoch: batch.leaderEpoch,
      })
    }
  }
  return {found, nextOffset}
}

/** Offsets are plain numbers in observations, because those must survive JSON; beyond 2^53 kx refuses rather than rounds. */
export function safeOffset(offset: bigint): number {
  const number = Number(offset)
  if (!Number.isSafeInteger(number))
    throw new KxError('inconclusive', 'KX_OFFSET', `Offset ${offset} is too large for an observation.`)
  return number
}

/** A fresh reader: from offset 0 to an end offset that was taken beforehand; committed records only. */
export async function readTo(
  view: ClusterView,
  topic: string,
  leader: number,
  endOffset: number,
): Promise<readonly Found[]> {
  await using connection = await reader(view, leader)
  const found: Found[] = []
  let offset = 0
  while (offset < endOffset) {
    view.signal.throwIfAborted()
    const part = await foundIn(await recordsAt(connection, topic, leader, offset))
    if (part.nextOffset === undefined) {
      throw new KxError(
        'environment',
        'KX_FETCH',
        `${topic} ends at ${offset} for the reader, although its high watermark was ${endOffset}.`,
      )
    }
    found.push(...part.found.filter(record => record.offset >= offset && record.offset < endOffset))
    offset = part.nextOffset
  }
  return found
}

/** What a consumer gets from this offset on, asking once and waiting a little: 0 if the leader gives nothing. */
export async function recordsFrom(view: ClusterView, topic: string, leader: number, offset: number): Promise<number> {
  await using connection = await reader(view, leader)
  const {found} = await foundIn(await recordsAt(connection, topic, leader, offset))
  return found.filter(record => record.offset >= offset).length
}

/** One Fetch; an error of the broker is an error here, never an empty answer. */
async function recordsAt(connection: Connection, topic: string, leader: number, offset: number): Promise<Buffer> {
  const request = {topic, partition: 0, offset: BigInt(offset), maxBytes: 4_194_304, minBytes: 1, maxWaitMs: 500}
  const {errorCode, records} = await fetch(connection, request)
  if (errorCode === 0) return records
  const message = `Broker ${leader} answers a Fetch of ${topic} at ${offset} with error ${errorCode}.`
  throw new KxError('environment', 'KX_FETCH', message)
}

/** Follows a topic until it is stopped; finds the leader again whenever the connection or the leadership breaks. */
export class WireFollowing implements Following {
  readonly #found: Found[] = []
  readonly #gaps: (readonly [number, number])[] = []
  readonly #watermarks: (readonly [number, number, number])[] = []
  readonly #loop: Promise<void>
  #stopping = false
  #lastMs: number

  constructor(
    private readonly view: ClusterView,
    private readonly topic: string,
    private readonly now: () => number,
  ) {
    this.#lastMs = now()
    this.#loop = this.#follow()
    this.#loop.catch(() => undefined) // stop() tells.
  }

  get read(): number {
    return this.#found.length
  }

  async stop(): Promise<Reading> {
    this.#stopping = true
    await within(`the reader of ${this.topic} to finish`, 10_000, this.#loop)
    return {found: this.#found, gaps: this.#gaps, watermarks: this.#watermarks}
  }

  async #follow(): Promise<void> {
    let connection: Connection | undefined
    let offset = 0
    let lastReadFrom: Connection | undefined
    while (!this.#stopping && !this.view.signal.aborted) {
      try {
        connection ??= await this.#connect()
        const answer = await fetch(connection, {
          topic: this.topic,
          partition: 0,
          offset: BigInt(offset),
          maxBytes: 1_048_576,
          minBytes: 1,
          maxWaitMs: 200,
        })
        if (answer.errorCode !== 0) throw new Error(`error ${answer.errorCode}`)
        // The high watermark in an answer was read before its records, and may have moved between: only a later answer of the
        // leader that gave the last records can convict. Another leader's high watermark trails by a fetch: seen, and legal.
        if (lastReadFrom === connection) this.#sample(Number(answer.highWatermark))
        const {found, nextOffset} = await foundIn(answer.records)
        if (nextOffset === undefined) continue
        lastReadFrom = connection
        this.#note(found.filter(record => record.offset >= offset))
        offset = nextOffset
      } catch (error) {
        if (this.view.signal.aborted) break
        if (error instanceof KxError && error.kind === 'inconclusive') throw error
        await connection?.close()
        connection = undefined
        await pause(50, this.view.signal).catch(() => messageOf(error))
      }
    }
    await connection?.close()
  }

  #note(records: readonly Found[]): void {
    if (records.length === 0) return
    const nowMs = this.now()
    if (nowMs - this.#lastMs >= notedGapMs) this.#gaps.push([Math.round(this.#lastMs), Math.round(nowMs)])
    this.#lastMs = nowMs
    this.#found.push(...records)
  }

  #sample(highWatermark: number): void {
    const last = this.#found.at(-1)
    if (!last) return
    const nowMs = this.now()
    // One sample a second is enough for the picture; a violation is kept whenever it is seen.
    const previous = this.#watermarks.at(-1)
    if (!previous || nowMs - previous[0] > 1_000 || last.offset >= highWatermark) {
      this.#watermarks.push([Math.round(nowMs), highWatermark, last.offset])
    }
  }

  async #connect(): Promise<Connection> {
    const leader = (await this.view.partitions([this.topic])).get(this.topic)?.leader ?? -1
    if (leader < 0) throw new Error(`${this.topic} has no leader`)
    return reader(this.view, leader)
  }
}

function reader(view: ClusterView, leader: number): Promise<Connection> {
  return Connection.open(view.endpoint(leader), {
    clientId: 'kx-reader',
    reach: 'reads',
    requestTimeoutMs: 5_000,
    signal: view.signal,
  })
}
