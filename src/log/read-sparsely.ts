import {at, BatchCursor} from './batch-cursor.js'
import type {ByteSource} from './byte-source.js'
import {codecIsReady, prepareCodec} from './codecs.js'
import {mayBegin} from './damage.js'
import type {LogVisitor} from './read-log.js'

/** Batches above it are left to `readLog`, which streams them. */
const wholeBatchBytes = 1_048_576
const plainBytes = 1_048_576

/**
 * Visits the batches of a log that is whole, and reads nothing of it but headers and the batches whose records are wanted:
 * for checks of an index, which names one batch in a few. CRCs are not looked at.
 *
 * False: this can't be done, as the source gives nothing at once or there is something else than whole batches of magic 2.
 * Then `readLog` can, with a visitor that begins anew.
 */
export async function readSparsely(source: ByteSource, visitor: LogVisitor): Promise<boolean> {
  if (!source.readNow) return false
  const header = Buffer.alloc(at.records)
  let held = Buffer.alloc(0)
  const batch = new BatchCursor()
  for (let position = 0; position < source.size && !visitor.enough; ) {
    if (source.readNow(position, header) < at.records || header[at.magic] !== 2 || !mayBegin(header)) return false
    const sizeInBytes = header.readInt32BE(at.batchLength) + at.batchLength + 4
    if (position + sizeInBytes > source.size) return false
    batch.placeHeader(header, sizeInBytes, position, undefined)
    if (visitor.batch(batch)) {
      if (sizeInBytes > wholeBatchBytes) return false
      if (held.length < sizeInBytes) held = Buffer.allocUnsafeSlow(Math.max(sizeInBytes, 65_536))
      if (source.readNow(position, held.subarray(0, sizeInBytes)) < sizeInBytes) return false
      batch.place(held, 0, sizeInBytes, position)
      if (!codecIsReady(batch.codec)) await prepareCodec(batch.codec)
      if (batch.openRecords(plainBytes) === 'too-large') return false
      for (let record = batch.nextRecord(); record; record = batch.nextRecord()) visitor.record(record)
      visitor.recordsDone?.(batch.problem)
    }
    position += sizeInBytes
  }
  return true
}
