import {type RecordBatch, readBatches} from '../log/batches.js'
import type {ByteSource} from '../log/byte-source.js'

/** A record as a reader of segment files tells it. Numbers are plain: they must survive JSON. */
export interface RecordSeen {
  readonly offset: number
  readonly timestamp: number
  /** −1: null. */
  readonly keySize: number
  readonly valueSize: number
  readonly sequence: number
  readonly headerKeys: string
  readonly key: string | null
  readonly value: string | null
  /** `COMMIT, coordinator epoch 0`; absent for all but control records. */
  readonly marker?: string
}

/** A record batch as a reader of segment files tells it. */
export interface BatchSeen {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly count: number
  readonly baseSequence: number
  readonly lastSequence: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly leaderEpoch: number
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly deleteHorizonMs: number | null
  readonly position: number
  readonly timestampType: string
  /** The greatest of its records. */
  readonly timestamp: number
  readonly sizeInBytes: number
  readonly magic: number
  readonly codec: string
  readonly crc: number
  readonly isValid: boolean
  readonly records: readonly RecordSeen[]
}

/** One `.log` file as one reader tells it. */
export interface FileSeen {
  readonly batches: readonly BatchSeen[]
  /** Behind the last whole batch, as in a live file whose last batch is still being written. */
  readonly trailingBytes: number
}

/** One `.log` file of one replica, the same bytes read by both. */
export interface SegmentReading {
  readonly file: string
  readonly sizeInBytes: number
  readonly kx: FileSeen
  readonly kafka: FileSeen
}

/** What one replica of a topic's partition 0 had on its disk. */
export interface ReplicaReading {
  readonly nodeId: number
  readonly highWatermark: number
  /** Of this replica, when its files were read. */
  readonly logEndOffset: number
  /** All names in the partition's folder. */
  readonly files: readonly string[]
  /** In the order of their offsets. */
  readonly segments: readonly SegmentReading[]
  /** SHA-256 of the batches below the high watermark, chained over all segments, and how many bytes that are. */
  readonly sha256: string
  readonly chainedBytes: number
}

/** A copy of a segment in which one bit was flipped. Batches without their records: no reader can be held to those. */
export interface DamagedCopy {
  /** The apparatus' name of the topic. */
  readonly topic: string
  /** Which batch of the file, from 0, and which bit (0–7) of which byte of the file. */
  readonly batch: number
  readonly position: number
  readonly bit: number
  readonly kx: FileSeen
  readonly kafka: FileSeen
}

/** What kx reads in a `.log` file. */
export async function readSegment(source: ByteSource, {records}: {readonly records: boolean}): Promise<FileSeen> {
  const {batches, trailingBytes} = await readBatches(source)
  return {batches: batches.map(batch => seen(batch, records)), trailingBytes}
}

function seen(batch: RecordBatch, withRecords: boolean): BatchSeen {
  const {baseSequence, isControl} = batch
  return {
    baseOffset: Number(batch.baseOffset),
    lastOffset: Number(batch.lastOffset),
    count: batch.recordsCount,
    baseSequence,
    lastSequence: lastSequence(baseSequence, batch.lastOffsetDelta),
    producerId: Number(batch.producerId),
    producerEpoch: batch.producerEpoch,
    leaderEpoch: batch.leaderEpoch,
    isTransactional: batch.isTransactional,
    isControl,
    deleteHorizonMs: batch.deleteHorizonMs === null ? null : Number(batch.deleteHorizonMs),
    position: batch.position,
    timestampType: batch.timestampType,
    timestamp: Number(batch.maxTimestamp),
    sizeInBytes: batch.sizeInBytes,
    magic: batch.magic,
    codec: batch.codec,
    crc: batch.crc,
    isValid: batch.crcIsRight,
    records: withRecords ? batch.records.map(record => seenRecord(record, isControl)) : [],
  }
}

function lastSequence(baseSequence: number, delta: number): number {
  if (baseSequence < 0) return -1
  const last = baseSequence + delta
  return last > 0x7fff_ffff ? last - 0x8000_0000 : last
}

function seenRecord(record: RecordBatch['records'][number], isControl: boolean): RecordSeen {
  const {key, value, headers, sequence} = record
  const marker = isControl ? markerOf(key, value) : undefined
  return {
    offset: Number(record.offset),
    timestamp: Number(record.timestamp),
    keySize: key?.length ?? -1,
    valueSize: value?.length ?? -1,
    sequence,
    headerKeys: headers.map(header => header.key).join(','),
    key: isControl ? null : (key?.toString('utf8') ?? null),
    value: isControl ? null : (value?.toString('utf8') ?? null),
    ...(marker === undefined ? {} : {marker}),
  }
}

/** org.apache.kafka.common.record.EndTransactionMarker: key {version, type}, value {version, coordinator epoch}. */
function markerOf(key: Buffer | null, value: Buffer | null): string {
  if (!key || key.length < 4 || !value || value.length < 6) return 'not a marker'
  const type = ['ABORT', 'COMMIT'][key.readInt16BE(2)]
  return type === undefined ? 'another control record' : `${type}, coordinator epoch ${value.readInt32BE(2)}`
}

const batchLine =
  /^baseOffset: (-?\d+) lastOffset: (-?\d+) count: (-?\d+) baseSequence: (-?\d+) lastSequence: (-?\d+) producerId: (-?\d+) producerEpoch: (-?\d+) partitionLeaderEpoch: (-?\d+) isTransactional: (\w+) isControl: (\w+) deleteHorizonMs: OptionalLong(?:\.empty|\[(-?\d+)\]) position: (\d+) (\w+): (-?\d+) size: (\d+) magic: (\d+) compresscodec: (\w+) crc: (\d+) isvalid: (\w+)$/
const recordLine =
  /^\| offset: (-?\d+) \w+: (-?\d+) keySize: (-?\d+) valueSize: (-?\d+) sequence: (-?\d+) headerKeys: \[(.*?)\](.*)$/
const endMarker = /^ endTxnMarker: (\w+) coordinatorEpoch: (-?\d+)$/
const trailing = /^Found (\d+) invalid bytes at the end of /

/** What kafka-dump-log printed of each file, by its name; with records if it ran with `--print-data-log`. */
export function parseDump(text: string): ReadonlyMap<string, FileSeen> {
  const files = new Map<string, FileSeen>()
  let batches: (BatchSeen & {readonly records: RecordSeen[]})[] = []
  let name = ''
  for (const line of text.split('\n')) {
    const invalid = trailing.exec(line)?.[1]
    if (line.startsWith('Dumping ')) {
      batches = []
      name = line.slice('Dumping '.length).trim().split('/').at(-1) as string
      files.set(name, {batches, trailingBytes: 0})
    } else if (line.startsWith('baseOffset: ')) batches.push(parseBatch(line))
    else if (line.startsWith('| ')) batches.at(-1)?.records.push(parseRecord(line))
    else if (invalid !== undefined) files.set(name, {batches, trailingBytes: Number(invalid)})
  }
  return files
}

/** @throws Error on a line that is not as in Kafka 4.0 to 4.4: nothing of it may be taken for agreement. */
function parseBatch(line: string): BatchSeen & {readonly records: RecordSeen[]} {
  const [, ...fields] = batchLine.exec(line) ?? []
  if (fields.length === 0) throw new Error(`kafka-dump-log prints a batch in a way that kx does not know: "${line}"`)
  const number = (index: number) => Number(fields[index])
  return {
    baseOffset: number(0),
    lastOffset: number(1),
    count: number(2),
    baseSequence: number(3),
    lastSequence: number(4),
    producerId: number(5),
    producerEpoch: number(6),
    leaderEpoch: number(7),
    isTransactional: fields[8] === 'true',
    isControl: fields[9] === 'true',
    deleteHorizonMs: fields[10] === undefined ? null : number(10),
    position: number(11),
    timestampType: fields[12] as string,
    timestamp: number(13),
    sizeInBytes: number(14),
    magic: number(15),
    codec: fields[16] as string,
    crc: number(17),
    isValid: fields[18] === 'true',
    records: [],
  }
}

function parseRecord(line: string): RecordSeen {
  const [, offset, timestamp, keySize, valueSize, sequence, headerKeys = '', rest = ''] = recordLine.exec(line) ?? []
  if (offset === undefined) throw new Error(`kafka-dump-log prints a record in a way that kx does not know: "${line}"`)
  const marker = endMarker.exec(rest)
  const [hasKey, hasValue] = [Number(keySize) >= 0, Number(valueSize) >= 0]
  const [, key = null, value = null] = marker
    ? []
    : (new RegExp(`^${hasKey ? ' key: (.*?)' : '()'}${hasValue ? ' payload: (.*)' : '()'}$`).exec(rest) ?? [])
  return {
    offset: Number(offset),
    timestamp: Number(timestamp),
    keySize: Number(keySize),
    valueSize: Number(valueSize),
    sequence: Number(sequence),
    headerKeys,
    key: hasKey && !marker ? key : null,
    value: hasValue && !marker ? value : null,
    ...(marker ? {marker: `${marker[1]}, coordinator epoch ${marker[2]}`} : {}),
  }
}

/**
 * Everything in which two readings of one file differ, as sentences: a batch or record that only one of them has, and each
 * field that they tell otherwise. `depth: 'batches'` leaves the records out.
 */
export function differences(kx: FileSeen, kafka: FileSeen, depth: 'records' | 'batches' = 'records'): string[] {
  const told: string[] = []
  if (kx.trailingBytes !== kafka.trailingBytes)
    told.push(`bytes behind the last batch: kx ${kx.trailingBytes}, Kafka ${kafka.trailingBytes}`)
  for (let index = 0; index < Math.max(kx.batches.length, kafka.batches.length); index++) {
    const [mine, theirs] = [kx.batches[index], kafka.batches[index]]
    const what = `batch ${index} (offset ${(mine ?? theirs)?.baseOffset})`
    if (!mine || !theirs) {
      told.push(`${what}: only ${mine ? 'kx' : 'Kafka'} has it`)
      continue
    }
    told.push(...unequalFields(what, mine, theirs))
    if (depth === 'records') told.push(...unequalRecords(what, mine.records, theirs.records))
  }
  return told
}

function unequalRecords(batch: string, kx: readonly RecordSeen[], kafka: readonly RecordSeen[]): string[] {
  const told: string[] = []
  for (let index = 0; index < Math.max(kx.length, kafka.length); index++) {
    const [mine, theirs] = [kx[index], kafka[index]]
    const what = `${batch}, record ${index}`
    if (mine && theirs) told.push(...unequalFields(what, mine, theirs))
    else told.push(`${what}: only ${mine ? 'kx' : 'Kafka'} has it`)
  }
  return told
}

/** Fields that are lists are compared elsewhere. */
function unequalFields(what: string, kx: object, kafka: object): string[] {
  const [mine, theirs] = [kx, kafka] as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])]
    .filter(name => !Array.isArray(mine[name]) && mine[name] !== theirs[name])
    .map(name => `${what}: ${name} is ${mine[name]} to kx and ${theirs[name]} to Kafka`)
}
