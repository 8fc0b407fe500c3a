import {at} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {crc32c} from './crc32c.js'
import {mayBegin} from './damage.js'

const leastWindow = 4_096
const largestWindow = 1_048_576
/** A larger batch is not read for its CRC. */
const checkedBytes = 4_194_304
const uint32 = 0x1_0000_0000

/**
 * Where the reading of a log may begin for records that are not older than `time` (ms since 1970): of the batches before,
 * each says in its header that all its records are older. From there on readLog gives what it would give from `from` on.
 *
 * The headers are asked, and not the time index: an entry of it that is damaged, or of another log, can look like a right
 * one, and nothing but the headers before it shows that. One in a hundred bytes is read, or less.
 *
 * A length lies outside the CRC, and so it is believed only if the next batch begins where it leads, and goes on with the
 * next offset; or if the CRC of the batch is right, where offsets are missing. The reading begins at the first batch of
 * which that can't be said.
 * @param from The first byte of a batch
 */
export async function startOfTime(
  source: ByteSource,
  time: bigint,
  {from = 0, signal}: {readonly from?: number; readonly signal?: AbortSignal} = {},
): Promise<number> {
  const headers = new Headers(source)
  let [start, following] = [from, Number.NaN]
  for (let position = from; ; ) {
    const head = headers.held(position) ?? (await headers.read(position, signal))
    if (head.length < at.records) return start
    const sizeInBytes = head.readInt32BE(at.batchLength) + at.batchLength + 4
    if (head[at.magic] !== 2 || !mayBegin(head) || position + sizeInBytes > source.size) return start
    const baseOffset = int64(head, at.baseOffset)
    const follows = position === from || baseOffset === following
    if (!follows && !(baseOffset > following && (await isWhole(source, start, position)))) return start
    if (head.readBigInt64BE(at.maxTimestamp) >= time) return position
    start = position
    following = baseOffset + head.readInt32BE(at.lastOffsetDelta) + 1
    // Where numbers are not exact no offset follows another one.
    if (!Number.isSafeInteger(following)) return start
    position += sizeInBytes
  }
}

/** Whether the batch that ends at `end` has a right CRC. */
async function isWhole(source: ByteSource, position: number, end: number): Promise<boolean> {
  if (end - position > checkedBytes) return false
  const bytes = await source.read(position, end - position)
  return bytes.length === end - position && crc32c(bytes.subarray(at.attributes)) === bytes.readUInt32BE(at.crc)
}

function int64(head: Buffer, field: number): number {
  return head.readInt32BE(field) * uint32 + head.readUInt32BE(field + 4)
}

/** Reads little where batches are large, and much at once where there are many in it. */
class Headers {
  readonly #source: ByteSource
  #bytes = Buffer.alloc(0)
  #from = 0
  #window = leastWindow

  constructor(source: ByteSource) {
    this.#source = source
  }

  /** The header at `position`, if it is held. */
  held(position: number): Buffer | undefined {
    const place = position - this.#from
    return place + at.records <= this.#bytes.length ? this.#bytes.subarray(place, place + at.records) : undefined
  }

  /** The same from the source; fewer bytes only at its end. */
  async read(position: number, signal: AbortSignal | undefined): Promise<Buffer> {
    signal?.throwIfAborted()
    const isNear = position - this.#from <= 2 * this.#bytes.length
    this.#window = isNear ? Math.min(largestWindow, 2 * this.#window) : leastWindow
    // The source may read into the same memory again.
    this.#bytes = Buffer.from(await this.#source.read(position, Math.min(this.#window, this.#source.size - position)))
    this.#from = position
    return this.held(position) ?? this.#bytes
  }
}
