import {crc32} from 'node:zlib'
import {at} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {crc32c} from './crc32c.js'
import {isZero, mayBegin} from './damage.js'
import {legacyAt, LegacyMessage} from './legacy-message.js'
import {type BatchFinder, crcOfRange} from './resync.js'

// A batch's length is not under its CRC, and may be wrong and yet end inside the file: the batch then hides those that lie
// in it, or leaves a rest that is no batch. Its CRC is false in either case, as it is after a flipped bit in a record, where
// the length is right. What tells them apart is looked for around the batch, and only if its CRC is false.

/** A length that does not lead to the next batch. */
export interface FalseLength {
  /** Where reading goes on: at a batch with a right CRC, or at the end. */
  readonly next: number
  readonly reason: string
}

export interface Suspect {
  readonly position: number
  /** By its own length. */
  readonly sizeInBytes: number
  /** Its first 61 bytes; of a message there may be fewer. In memory that stays. */
  readonly head: Buffer
  readonly crc: number
}

/** What may be read in vain, at first and for each byte of progress: a file where every length lies is no trap. */
const freeBytes = 67_108_864
const bytesPerByte = 16
const windowBytes = 65_536
const noBytes: Buffer = Buffer.alloc(0)

/**
 * A source of which some bytes are held already. What is read beyond them takes their place: they may lie in memory that
 * the source reads into again.
 */
export class HeldSource implements ByteSource {
  /** Whether the held bytes are still what they were. */
  isHeld = false
  #bytes = noBytes
  #from = 0

  constructor(readonly source: ByteSource) {}

  get size(): number {
    return this.source.size
  }

  hold(bytes: Buffer, from: number): void {
    this.#bytes = bytes
    this.#from = from
    this.isHeld = true
  }

  release(): void {
    this.#bytes = noBytes
    this.isHeld = false
  }

  async read(position: number, length: number): Promise<Buffer> {
    const start = position - this.#from
    if (this.isHeld && start >= 0 && start + length <= this.#bytes.length)
      return this.#bytes.subarray(start, start + length)
    this.release()
    return this.source.read(position, length)
  }
}

export class LengthJudge {
  /** Read, and to be read again. */
  #wasted = 0
  #window = noBytes
  #windowAt = 0
  /** Mostly one header is read. */
  #ahead: number = at.records

  constructor(
    readonly source: ByteSource,
    readonly from: number,
    readonly finder: BatchFinder,
    readonly signal: AbortSignal | undefined,
  ) {}

  /** `undefined`: there is no sign that the length is wrong. */
  async judge(suspect: Suspect): Promise<FalseLength | undefined> {
    const {position, sizeInBytes} = suspect
    if (this.#left(position) < 0) return undefined
    this.#window = noBytes
    this.#ahead = at.records
    const claimed = position + sizeInBytes
    const inside = await this.finder.next(position + 1, claimed)
    const found = inside < claimed ? await this.#tooLong(suspect, inside) : await this.#tooShort(suspect, claimed)
    this.#window = noBytes
    return found
  }

  /** A whole batch begins inside: it may also lie in a record, which ends before its batch does. */
  async #tooLong(suspect: Suspect, next: number): Promise<FalseLength | undefined> {
    const {position, sizeInBytes} = suspect
    const claimed = position + sizeInBytes
    this.#wasted += claimed - next
    const isProven = await this.#crcIsRight(suspect, next)
    if (!isProven && !(await this.#endsInNothing(claimed)) && !(await this.#chainLeads(next, claimed))) return undefined
    const head = await this.#head(next)
    const offset = head.length < at.batchLength ? 'gone' : head.readBigInt64BE(at.baseOffset)
    const proof = isProven ? `; with ${next - position} bytes its own CRC is right` : ''
    return {
      next,
      reason: `the length says ${sizeInBytes} bytes, but a batch with a right CRC begins at byte ${next} (offset ${offset})${proof}`,
    }
  }

  /** No batch begins inside, and perhaps none at the end. Only its own CRC convinces: garbage may follow a right length. */
  async #tooShort(suspect: Suspect, claimed: number): Promise<FalseLength | undefined> {
    const {position, sizeInBytes} = suspect
    const {end} = this.finder
    if (claimed === end || (await this.#leadsOn(claimed))) return undefined
    const next = await this.finder.next(claimed)
    const size = next - position
    if (size > this.#left(position) || !(await this.#crcIsRight(suspect, next))) {
      this.#wasted += Math.min(size, Math.max(this.#left(position), 0))
      return undefined
    }
    const upTo = next === end ? 'the end' : `the next batch at byte ${next}`
    return {next, reason: `the length says ${sizeInBytes} bytes, but with the ${size} up to ${upTo} its CRC is right`}
  }

  /** Whether a batch may begin there that ends in the source. */
  async #leadsOn(claimed: number): Promise<boolean> {
    const head = await this.#head(claimed)
    return head.length === at.records && mayBegin(head) && claimed + sizeOf(head) <= this.finder.end
  }

  #left(position: number): number {
    return freeBytes + bytesPerByte * (position - this.from) - this.#wasted
  }

  async #endsInNothing(claimed: number): Promise<boolean> {
    if (claimed === this.finder.end) return false
    const head = await this.#head(claimed)
    return !mayBegin(head) && !isZero(head)
  }

  /** Whether batches follow each other from `first` on up to `claimed`, beyond it, or up to zeros. */
  async #chainLeads(first: number, claimed: number): Promise<boolean> {
    for (let position = first; ; ) {
      const head = await this.#head(position)
      if (isZero(head)) return true
      const isBatch = head.length < at.records ? await this.finder.isAt(position) : mayBegin(head)
      if (!isBatch) return false
      const next = position + sizeOf(head)
      if (next > this.finder.end) return false
      if (next === claimed) return true
      if (next > claimed) return this.finder.isAt(position)
      position = next
    }
  }

  async #crcIsRight({position, head, crc}: Suspect, end: number): Promise<boolean> {
    if (end - position < at.records) return false
    const isMessage = (head[at.magic] as number) < 2
    const from = position + (isMessage ? legacyAt.magic : at.attributes)
    return (await crcOfRange(this.source, from, end, isMessage ? crc32 : crc32c, this.signal)) === crc
  }

  /** Up to 61 bytes; a view that is gone with the next call. */
  async #head(position: number): Promise<Buffer> {
    const {end} = this.finder
    const length = Math.min(at.records, end - position)
    const start = position - this.#windowAt
    if (start < 0 || start + length > this.#window.length) {
      this.signal?.throwIfAborted()
      this.#window = Buffer.from(await this.source.read(position, Math.min(this.#ahead, end - position)))
      this.#windowAt = position
      this.#ahead = Math.min(8 * this.#ahead, windowBytes)
    }
    return this.#window.subarray(position - this.#windowAt, position - this.#windowAt + length)
  }
}

/** A message of magic 0 or 1 says twice how long it is: with the lengths of its key and value, too. */
export function fitsItsLength(bytes: Buffer): boolean {
  const message = new LegacyMessage()
  return message.read(bytes, 0, bytes.length) === undefined && message.bytesLeft === 0
}

function sizeOf(head: Buffer): number {
  return head.readInt32BE(at.batchLength) + at.batchLength + 4
}
