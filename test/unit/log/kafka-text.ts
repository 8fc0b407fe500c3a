import type {BatchCursor} from '../../../src/log/batch-cursor.js'
import type {RecordCursor} from '../../../src/log/record-cursor.js'
import {scanBuffer} from '../../../src/log/scan.js'

// The lines of Kafka's dump tool, made from kx's cursors: comparing whole lines compares every field.

/** One line per batch. */
export function batchLines(bytes: Buffer): string {
  let text = ''
  const {trailingBytes} = scanBuffer(bytes, batch => {
    text += `${batchLine(batch)}\n`
  })
  return text + tail(trailingBytes)
}

/** The batches and their records, as with `--print-data-log`; only of files without compression and control batches. */
export function recordLines(bytes: Buffer): string {
  let text = ''
  const {trailingBytes} = scanBuffer(bytes, batch => {
    text += `${batchLine(batch)}\n`
    const problem = batch.records(record => {
      text += `${recordLine(batch, record)}\n`
    })
    if (problem !== undefined) text += `${problem}\n`
  })
  return text + tail(trailingBytes)
}

const tail = (bytes: number) =>
  bytes === 0 ? '' : `Found ${bytes} invalid bytes at the end of 00000000000000000000.log\n`

function batchLine(batch: BatchCursor): string {
  const lastSequence = batch.baseSequence < 0 ? -1 : batch.baseSequence + batch.lastOffsetDelta
  const horizon = batch.deleteHorizonMs === null ? 'OptionalLong.empty' : `OptionalLong[${batch.deleteHorizonMs}]`
  return (
    `baseOffset: ${batch.baseOffset} lastOffset: ${batch.lastOffset} count: ${batch.recordsCount} ` +
    `baseSequence: ${batch.baseSequence} lastSequence: ${lastSequence} producerId: ${batch.producerId} ` +
    `producerEpoch: ${batch.producerEpoch} partitionLeaderEpoch: ${batch.leaderEpoch} ` +
    `isTransactional: ${batch.isTransactional} isControl: ${batch.isControl} deleteHorizonMs: ${horizon} ` +
    `position: ${batch.position} ${batch.timestampType}: ${batch.maxTimestamp} size: ${batch.sizeInBytes} ` +
    `magic: ${batch.magic} compresscodec: ${batch.codec} crc: ${batch.crc} isvalid: ${batch.crcIsRight}`
  )
}

function recordLine(batch: BatchCursor, record: RecordCursor): string {
  const headerKeys = record.headers.map(header => header.key).join(',')
  const line =
    `| offset: ${record.offset} ${batch.timestampType}: ${record.timestamp} keySize: ${record.keySize} ` +
    `valueSize: ${record.valueSize} sequence: ${record.sequence} headerKeys: [${headerKeys}]`
  if (batch.isControl) return `${line} ${marker(record)}`
  const key = record.key === null ? '' : ` key: ${record.key.toString('utf8')}`
  return line + key + (record.value === null ? '' : ` payload: ${record.value.toString('utf8')}`)
}

function marker({key, value}: RecordCursor): string {
  return `endTxnMarker: ${key?.readInt16BE(2) === 1 ? 'COMMIT' : 'ABORT'} coordinatorEpoch: ${value?.readInt32BE(2)}`
}
