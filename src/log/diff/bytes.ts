import {at, type BatchCursor} from '../batch-cursor.js'
import type {ByteDifference} from './types.js'

/** One by one so many differing bytes are told. */
export const bytesTold = 16

const fields: readonly (readonly [from: number, name: string])[] = [
  [at.baseOffset, 'baseOffset'],
  [at.batchLength, 'batchLength'],
  [at.leaderEpoch, 'partitionLeaderEpoch'],
  [at.magic, 'magic'],
  [at.crc, 'crc'],
  [at.attributes, 'attributes'],
  [at.lastOffsetDelta, 'lastOffsetDelta'],
  [at.baseTimestamp, 'baseTimestamp'],
  [at.maxTimestamp, 'maxTimestamp'],
  [at.producerId, 'producerId'],
  [at.producerEpoch, 'producerEpoch'],
  [at.baseSequence, 'baseSequence'],
  [at.recordsCount, 'recordsCount'],
  [at.records, 'records'],
]

/** Where the bytes that a batch has alike on all replicas begin: before it lie its base offset, length and leader epoch. */
export function sameFrom(magic: number): number {
  return magic >= 2 ? at.magic : at.leaderEpoch
}

/** Equal batches but for base offset and leader epoch, which the CRC does not cover. */
export function sameContent(a: BatchCursor, b: BatchCursor): boolean {
  if (a.sizeInBytes !== b.sizeInBytes || a.magic !== b.magic) return false
  const [left, right] = [a.bytes, b.bytes]
  // A batch that is larger than the reading's window is not in memory whole: its CRC stands for it.
  if (left.length !== a.sizeInBytes || right.length !== b.sizeInBytes) {
    return a.crc === b.crc && a.computedCrc === b.computedCrc
  }
  const from = sameFrom(a.magic)
  return left.compare(right, from, right.length, from, left.length) === 0
}

export interface Comparison {
  readonly bytes: readonly ByteDifference[]
  readonly differingBytes: number
}

/**
 * In which bytes `wrong`, whose batch begins at `position` of its file, differs from `right`, as far as both go. `from`:
 * of which byte of the batch on they are.
 */
export function differencesOf(
  wrong: Buffer,
  right: Buffer,
  position: number,
  offsetAt: (index: number) => bigint | undefined = () => undefined,
  from = 0,
): Comparison {
  const bytes: ByteDifference[] = []
  let differingBytes = 0
  const end = Math.min(wrong.length, right.length)
  if (wrong.compare(right, 0, end, 0, end) === 0) return {bytes, differingBytes}
  for (let at = 0; at < end; at++) {
    const [is, shouldBe] = [wrong[at] as number, right[at] as number]
    if (is === shouldBe) continue
    differingBytes++
    if (bytes.length >= bytesTold) continue
    const index = from + at
    const offset = offsetAt(index)
    bytes.push({
      position: position + index,
      index,
      field: fieldAt(index),
      is,
      shouldBe,
      bits: bitsOf(is ^ shouldBe),
      ...(offset !== undefined && {offset}),
    })
  }
  return {bytes, differingBytes}
}

/** The record of a right batch that a byte lies in, if its records are not compressed. */
export function recordAt(batch: BatchCursor): (index: number) => bigint | undefined {
  const ends: {readonly end: number; readonly offset: bigint}[] = []
  if (batch.magic === 2 && batch.codec === 'none' && batch.sizeInBytes <= 4_194_304) {
    let end = at.records
    batch.records(record => {
      end += record.sizeInBytes
      ends.push({end, offset: record.offset})
    })
  }
  return index => (index < at.records ? undefined : ends.find(({end}) => index < end)?.offset)
}

function fieldAt(index: number): string {
  return fields.findLast(([from]) => index >= from)?.[1] ?? 'records'
}

function bitsOf(difference: number): number[] {
  return [0, 1, 2, 3, 4, 5, 6, 7].filter(bit => (difference & (1 << bit)) !== 0)
}
