import {at} from './batch-cursor.js'
import {legacyAt, legacyLeastBytes} from './legacy-message.js'
import type {ScanProblem} from './scan.js'

/** Bytes that are no batch. */
export interface Damage {
  /**
   * `cut`: a plausible header whose batch passes the end; `cut-header`: too few bytes for a header; `size`: a length that
   * no batch can have, or that does not lead to the next one; `magic`: an unknown magic; `zero-fill`: nothing but zeros up to the end; `garbage`: anything else;
   * `too-large`, `short-read`: see `ScanProblem`.
   */
  readonly kind: 'cut' | 'cut-header' | 'size' | 'magic' | 'zero-fill' | 'garbage' | 'too-large' | 'short-read'
  readonly position: number
  /** Up to the next batch that was found, or to the end. */
  readonly sizeInBytes: number
  /** For `cut`: what the header says. */
  readonly baseOffset?: bigint
  readonly expectedBytes?: number
  /** What Kafka's own walk over the file reads there, where it reads anything: the size by the length field, and the magic. */
  readonly statedBytes?: number
  readonly magic?: number
  readonly reason: string
}

type Told = Pick<Damage, 'kind' | 'reason' | 'baseOffset' | 'expectedBytes' | 'statedBytes' | 'magic'>

/** What tells a header of magic 2 from other bytes when its length or magic is wrong. */
function looksLikeBatch(head: Buffer): boolean {
  return (
    head.readInt32BE(at.baseOffset) >= 0 &&
    (head.readUInt16BE(at.attributes) & 0xff80) === 0 &&
    (head[at.attributes + 1]! & 0x07) <= 4 &&
    head.readInt32BE(at.leaderEpoch) >= -1 &&
    head.readInt32BE(at.lastOffsetDelta) >= 0 &&
    head.readInt16BE(at.producerEpoch) >= -1 &&
    head.readInt32BE(at.baseSequence) >= -1 &&
    head.readInt32BE(at.recordsCount) >= 0
  )
}

function looksLikeMessage(head: Buffer, magic: 0 | 1): boolean {
  const key = head.readInt32BE(legacyLeastBytes[magic] - 8)
  return (
    head.readInt32BE(legacyAt.offset) >= 0 &&
    (head[legacyAt.attributes]! & 0xf0) === 0 &&
    key >= -1 &&
    key < 0x0100_0000
  )
}

/** Whether a whole header is there, and its other fields are such as a batch has. */
function isPlausible(head: Buffer, magic: number): boolean {
  if (magic === 0 || magic === 1) return head.length >= legacyLeastBytes[magic] && looksLikeMessage(head, magic)
  return head.length >= at.records && looksLikeBatch(head)
}

/**
 * Whether a batch may begin with these bytes, whole or not, as far as they go.
 * @param head Up to 61 bytes
 */
export function mayBegin(head: Buffer): boolean {
  if (head.length < at.records) {
    const magic = head[at.magic] ?? 0
    return (head[0] ?? 0) <= 0x7f && magic <= 2
  }
  const magic = head.readInt8(at.magic)
  const size = head.readInt32BE(at.batchLength) + at.batchLength + 4
  if (magic === 0 || magic === 1) return size >= legacyLeastBytes[magic] && looksLikeMessage(head, magic)
  return magic === 2 && size >= at.records && looksLikeBatch(head)
}

/** As {@link mayBegin}, of any magic, and whole: a batch of that size. 0: it is none. */
export function plausibleBytes(head: Buffer): number {
  if (head.length < at.records) return 0
  const size = head.readInt32BE(at.batchLength) + at.batchLength + 4
  return mayBegin(head) || (size >= at.records && looksLikeBatch(head)) ? size : 0
}

export function isZero(head: Buffer): boolean {
  return head.length > at.magic && head.every(byte => byte === 0)
}

/**
 * What kind of damage a scan ran into.
 * @param head Up to 61 bytes from there
 * @param remaining Bytes up to the end
 */
export function damageKind(problem: ScanProblem, head: Buffer, remaining: number): Told {
  const told = kindOf(problem, head, remaining)
  if (head.length <= at.magic) return told
  const statedBytes = head.readInt32BE(at.batchLength) + at.batchLength + 4
  return {...told, statedBytes, magic: head.readInt8(at.magic)}
}

function kindOf(problem: ScanProblem, head: Buffer, remaining: number): Told {
  const {kind, reason} = problem
  if (kind === 'too-large' || kind === 'short-read') return {kind, reason}
  if (head.length <= at.magic) return {kind: 'cut-header', reason}
  const magic = head.readInt8(at.magic)
  const length = head.readInt32BE(at.batchLength)
  const expectedBytes = length + at.batchLength + 4
  const leastBytes = magic === 0 || magic === 1 ? legacyLeastBytes[magic] : at.records
  const saysItFits = expectedBytes >= leastBytes
  if (head.length < leastBytes && saysItFits && head.readInt32BE(at.baseOffset) >= 0) {
    if (magic >= 0 && magic <= 2)
      return {kind: 'cut-header', reason: `${remaining} bytes are left, too few for a header`}
  } else if (isPlausible(head, magic)) {
    if (kind !== 'cut') return {kind, reason}
    return {kind, reason, expectedBytes, baseOffset: head.readBigInt64BE(at.baseOffset)}
  }
  return {kind: 'garbage', reason: `these bytes are no header of a batch: ${reason}`}
}
