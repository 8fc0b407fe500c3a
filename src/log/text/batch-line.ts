import type {BatchCursor} from '../batch-cursor.js'
import {incrementedSequence} from '../sequence.js'
import {constant, type LineWriter} from './line-writer.js'

const text = {
  baseOffset: constant('baseOffset: '),
  lastOffset: constant(' lastOffset: '),
  count: constant(' count: '),
  baseSequence: constant(' baseSequence: '),
  lastSequence: constant(' lastSequence: '),
  producerId: constant(' producerId: '),
  producerEpoch: constant(' producerEpoch: '),
  leaderEpoch: constant(' partitionLeaderEpoch: '),
  isTransactional: constant(' isTransactional: '),
  isControl: constant(' isControl: '),
  noHorizon: constant(' deleteHorizonMs: OptionalLong.empty'),
  horizon: constant(' deleteHorizonMs: OptionalLong['),
  offset: constant('offset: '),
  position: constant(' position: '),
  size: constant(' size: '),
  magic: constant(' magic: '),
  codec: constant(' compresscodec: '),
  crc: constant(' crc: '),
  isValid: constant(' isvalid: '),
}
const closingBracket = 0x5d
const noSequence = -1

/** ` CreateTime: ` and the like, one object for each name. */
export function timeLabel(timestampType: string): Uint8Array {
  const known = timeLabels.get(timestampType)
  if (known) return known
  const label = constant(` ${timestampType}: `)
  timeLabels.set(timestampType, label)
  return label
}

const timeLabels = new Map<string, Uint8Array>()

/** Writes the line of a batch (DumpLogSegments.printBatchLevel), with its end. */
export function writeBatchLine(out: LineWriter, batch: BatchCursor): void {
  if (batch.magic >= 2) writeHeader(out, batch)
  else {
    out.ascii(text.offset)
    out.integer(batch.lastOffset)
  }
  out.ascii(text.position)
  out.number(batch.position)
  out.ascii(timeLabel(batch.timestampType))
  out.integer(batch.maxTimestamp)
  out.ascii(text.size)
  out.number(batch.sizeInBytes)
  out.ascii(text.magic)
  out.number(batch.magic)
  out.ascii(text.codec)
  out.text(batch.codec)
  out.ascii(text.crc)
  out.number(batch.crc)
  out.ascii(text.isValid)
  out.boolean(batch.crcIsRight)
  out.newline()
}

function writeHeader(out: LineWriter, batch: BatchCursor): void {
  out.ascii(text.baseOffset)
  out.integer(batch.baseOffset)
  out.ascii(text.lastOffset)
  out.integer(batch.lastOffset)
  out.ascii(text.count)
  out.number(batch.recordsCount)
  out.ascii(text.baseSequence)
  out.number(batch.baseSequence)
  out.ascii(text.lastSequence)
  out.number(lastSequence(batch))
  out.ascii(text.producerId)
  out.integer(batch.producerId)
  out.ascii(text.producerEpoch)
  out.number(batch.producerEpoch)
  out.ascii(text.leaderEpoch)
  out.number(batch.leaderEpoch)
  out.ascii(text.isTransactional)
  out.boolean(batch.isTransactional)
  out.ascii(text.isControl)
  out.boolean(batch.isControl)
  const {deleteHorizonMs} = batch
  if (deleteHorizonMs === null) out.ascii(text.noHorizon)
  else {
    out.ascii(text.horizon)
    out.integer(deleteHorizonMs)
    out.byte(closingBracket)
  }
}

function lastSequence({baseSequence, lastOffsetDelta}: BatchCursor): number {
  return baseSequence === noSequence ? noSequence : incrementedSequence(baseSequence, lastOffsetDelta)
}
