import type {BatchCursor} from '../../../../src/log/batch-cursor.js'
import type {KafkaStyle} from '../../../../src/log/decode/style.js'
import type {RecordCursor} from '../../../../src/log/record-cursor.js'
import {scanBuffer} from '../../../../src/log/scan.js'

interface Options {
  readonly style: KafkaStyle
  readonly printDataLog: boolean
  readonly deepIteration: boolean
  readonly skipRecordMetadata: boolean
}

/** What Kafka's tool prints for a log of magic 2 without control batches, made of strings and bigints: slow and plain. */
export function naiveLines(log: Buffer, options: Options): Buffer[] {
  const lines: Buffer[] = []
  scanBuffer(log, batch => {
    lines.push(Buffer.from(batchLine(batch)))
    if (options.deepIteration) batch.records(record => lines.push(...recordLine(batch, record, options)))
  })
  return lines
}

function batchLine(batch: BatchCursor): string {
  const {baseSequence, lastOffsetDelta, deleteHorizonMs} = batch
  const last = BigInt(baseSequence) + BigInt(lastOffsetDelta)
  // In Java's int32.
  const above = BigInt(baseSequence) > BigInt.asIntN(32, 2_147_483_647n - BigInt(lastOffsetDelta))
  const lastSequence = baseSequence === -1 ? -1 : BigInt.asIntN(32, above ? last - 2n ** 31n : last)
  const horizon = deleteHorizonMs === null ? 'OptionalLong.empty' : `OptionalLong[${deleteHorizonMs}]`
  const fields = [
    ['baseOffset', batch.baseOffset],
    ['lastOffset', batch.lastOffset],
    ['count', batch.recordsCount],
    ['baseSequence', baseSequence],
    ['lastSequence', lastSequence],
    ['producerId', batch.producerId],
    ['producerEpoch', batch.producerEpoch],
    ['partitionLeaderEpoch', batch.leaderEpoch],
    ['isTransactional', batch.isTransactional],
    ['isControl', batch.isControl],
    ['deleteHorizonMs', horizon],
    ['position', batch.position],
    [batch.timestampType, batch.maxTimestamp],
    ['size', batch.sizeInBytes],
    ['magic', batch.magic],
    ['compresscodec', batch.codec],
    ['crc', batch.crc],
    ['isvalid', batch.crcIsRight],
  ]
  return `${fields.map(([name, value]) => `${name}: ${value}`).join(' ')}\n`
}

function recordLine(batch: BatchCursor, record: RecordCursor, options: Options): Buffer[] {
  const {key, value, headers} = record
  const {skipRecordMetadata, style} = options
  const metadata =
    `| offset: ${record.offset} ${batch.timestampType}: ${record.timestamp} keySize: ${key?.length ?? -1} ` +
    `valueSize: ${value?.length ?? -1} sequence: ${record.sequence} headerKeys: [${headers.map(header => header.key).join(',')}]`
  const line: Buffer[] = [Buffer.from(skipRecordMetadata ? '' : metadata)]
  if (options.printDataLog) {
    if (key) line.push(Buffer.from(skipRecordMetadata ? '| key: ' : ' key: '), javaUtf8(key))
    if (value)
      line.push(
        Buffer.from(skipRecordMetadata && !key && style === '4.4' ? '| payload: ' : ' payload: '),
        javaUtf8(value),
      )
  }
  return [...line, Buffer.from('\n')]
}

/** Java's replacement of what is no UTF-8: as everywhere, but an encoded surrogate counts once. */
export function javaUtf8(bytes: Buffer): Buffer {
  const marked = bytes.toString('latin1').replace(/\xed[\xa0-\xbf][\x80-\xbf]?/g, '\xff')
  return Buffer.from(Buffer.from(marked, 'latin1').toString('utf8'))
}
