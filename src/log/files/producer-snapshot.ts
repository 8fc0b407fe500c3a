import type {ByteSource} from '../byte-source.js'
import {crc32c} from '../crc32c.js'
import {entriesOf} from './fixed-entries.js'

/** Where the fields of a `.snapshot` file lie (message ProducerSnapshot; org.apache.kafka.storage.internals.log.ProducerStateManager). */
const at = {version: 0, crc: 2, count: 6, entries: 10} as const
const bytesPerEntry = 46
const knownVersion = 1
const chunkBytes = 1_048_576

/** What a producer had done up to the snapshot's offset; only its newest batch is kept. */
export interface ProducerEntry {
  /** Of the entry among the entries, from 0. */
  readonly index: number
  readonly producerId: bigint
  readonly producerEpoch: number
  /** Of the newest batch's first record: `lastSequence` − `offsetDelta`, below 0 going round to 2147483647. */
  readonly firstSequence: number
  readonly lastSequence: number
  /** −1: no data batch is known (`firstSequence`, `lastSequence` and `offsetDelta` then say nothing). */
  readonly lastOffset: bigint
  readonly offsetDelta: number
  /** Of the newest batch or marker, in ms. */
  readonly timestamp: bigint
  /** −1: no marker is known. */
  readonly coordinatorEpoch: number
  /** Where the open transaction begins; `null`: none is open. */
  readonly currentTxnFirstOffset: bigint | null
}

/**
 * `header`: fewer bytes than a header; `version`: unknown, so that nothing more is interpreted; `count`: negative;
 * `cut`: fewer entries are there than the header says; `leftover`: bytes behind the last entry; `crc`: false.
 */
export interface SnapshotProblem {
  readonly kind: 'header' | 'version' | 'count' | 'cut' | 'leftover' | 'crc'
  readonly reason: string
}

export interface ProducerSnapshot {
  readonly sizeInBytes: number
  /** As stored; undefined as far as the file is too short for them. */
  readonly version: number | undefined
  readonly storedCrc: number | undefined
  /** CRC-32C over everything behind the stored one. */
  readonly computedCrc: number | undefined
  readonly crcIsRight: boolean
  /** As stored; may be negative or more than there are. */
  readonly statedCount: number | undefined
  /** Whole entries that are there: at most the stated count, 0 if the version is unknown. */
  readonly entryCount: number
  /** Bytes that are neither header nor one of these entries. */
  readonly leftoverBytes: number
  readonly problems: readonly SnapshotProblem[]
  /** The line that Kafka's dump tool prints on stderr instead of the entries, if it refuses the file. */
  readonly kafkaRefuses?: string
  /** In pieces, in the order of the file, also if the CRC is false. May be asked for again. */
  entries(): AsyncGenerator<readonly ProducerEntry[], void>
}

/** Opens a `.snapshot` file of any size; reads it once, for the CRC. Never throws on any bytes. */
export async function openProducerSnapshot(source: ByteSource): Promise<ProducerSnapshot> {
  const sizeInBytes = source.size
  const header = await source.read(0, Math.min(at.entries, sizeInBytes))
  const version = header.length >= at.crc ? header.readInt16BE(at.version) : undefined
  const storedCrc = header.length >= at.count ? header.readUInt32BE(at.crc) : undefined
  const statedCount = header.length >= at.entries ? header.readInt32BE(at.count) : undefined
  const computedCrc = storedCrc === undefined ? undefined : await crcOf(source)
  const room = Math.floor(Math.max(0, sizeInBytes - at.entries) / bytesPerEntry)
  const entryCount = version === knownVersion ? Math.max(0, Math.min(statedCount ?? 0, room)) : 0
  const facts = {
    sizeInBytes,
    version,
    storedCrc,
    computedCrc,
    crcIsRight: storedCrc !== undefined && storedCrc === computedCrc,
    statedCount,
    entryCount,
    leftoverBytes: Math.max(0, sizeInBytes - at.entries - entryCount * bytesPerEntry),
  }
  const kafkaRefuses = refusal(facts)
  return {
    ...facts,
    problems: problemsOf(facts),
    ...(kafkaRefuses === undefined ? {} : {kafkaRefuses}),
    entries: () => entriesOf(source, {bytesPerEntry, count: entryCount, from: at.entries}, decode),
  }
}

async function crcOf(source: ByteSource): Promise<number> {
  let crc = 0
  for (let position: number = at.count; position < source.size; ) {
    const bytes = await source.read(position, Math.min(chunkBytes, source.size - position))
    if (bytes.length === 0) break
    crc = crc32c(bytes, crc)
    position += bytes.length
  }
  return crc
}

function decode(bytes: Buffer, start: number, index: number): ProducerEntry {
  const lastSequence = bytes.readInt32BE(start + 10)
  const offsetDelta = bytes.readInt32BE(start + 22)
  const open = bytes.readBigInt64BE(start + 38)
  return {
    index,
    producerId: bytes.readBigInt64BE(start),
    producerEpoch: bytes.readInt16BE(start + 8),
    firstSequence: decrementSequence(lastSequence, offsetDelta),
    lastSequence,
    lastOffset: bytes.readBigInt64BE(start + 14),
    offsetDelta,
    timestamp: bytes.readBigInt64BE(start + 26),
    coordinatorEpoch: bytes.readInt32BE(start + 34),
    // Any negative one, to Kafka too.
    currentTxnFirstOffset: open < 0n ? null : open,
  }
}

/** DefaultRecordBatch.decrementSequence, in int32. */
function decrementSequence(sequence: number, by: number): number {
  return (sequence < by ? 2_147_483_647 - (by - sequence) + 1 : sequence - by) | 0
}

type Facts = Omit<ProducerSnapshot, 'problems' | 'entries' | 'kafkaRefuses'>

function problemsOf(facts: Facts): SnapshotProblem[] {
  const {sizeInBytes, version, storedCrc, computedCrc, statedCount, entryCount, leftoverBytes} = facts
  const problems: SnapshotProblem[] = []
  const add = (kind: SnapshotProblem['kind'], reason: string) => problems.push({kind, reason})
  if (version !== undefined && version !== knownVersion) {
    add('version', `version ${version} is not known, only ${knownVersion} is: the entries are not interpreted`)
  }
  if (statedCount === undefined) {
    add('header', `${sizeInBytes} bytes are too few for a header of ${at.entries}`)
    return problems
  }
  if (version === knownVersion) {
    if (statedCount < 0) add('count', `the number of entries is ${statedCount}`)
    else if (statedCount > entryCount) {
      const missing = at.entries + statedCount * bytesPerEntry - sizeInBytes
      add('cut', `the header says ${statedCount} entries, ${entryCount} are there whole: ${missing} bytes are missing`)
    } else if (leftoverBytes > 0) add('leftover', `${leftoverBytes} bytes are behind the last entry`)
  }
  if (storedCrc !== computedCrc) add('crc', `the stored CRC is ${storedCrc}, that of the bytes is ${computedCrc}`)
  return problems
}

/** Kafka checks the version, then parses, and compares the CRC only of what could be parsed. */
function refusal({sizeInBytes, version, storedCrc, computedCrc, statedCount, entryCount}: Facts): string | undefined {
  const schema = (why: string) => `Snapshot failed schema validation: ${why}`
  if (version === undefined) return schema('null')
  if (version !== knownVersion) return schema(`Snapshot contained an unknown file version ${version}`)
  if (statedCount === undefined) return schema('null')
  if (statedCount < 0) return schema('non-nullable field producerEntries was serialized as null')
  const remaining = sizeInBytes - at.entries
  if (statedCount > remaining) {
    return schema(
      `Tried to allocate a collection of size ${statedCount}, but there are only ${remaining} bytes remaining.`,
    )
  }
  if (statedCount > entryCount) return schema('null')
  if (storedCrc === computedCrc) return undefined
  return `Snapshot is corrupt (CRC is no longer valid). Stored crc: ${storedCrc}. Computed crc: ${computedCrc}`
}

/** The bytes of a `.snapshot` file of version 1 with the right CRC. */
export function writeProducerSnapshot(entries: readonly Omit<ProducerEntry, 'index' | 'firstSequence'>[]): Buffer {
  const bytes = Buffer.alloc(at.entries + entries.length * bytesPerEntry)
  bytes.writeInt16BE(knownVersion, at.version)
  bytes.writeInt32BE(entries.length, at.count)
  entries.forEach((entry, n) => {
    const start = at.entries + n * bytesPerEntry
    bytes.writeBigInt64BE(entry.producerId, start)
    bytes.writeInt16BE(entry.producerEpoch, start + 8)
    bytes.writeInt32BE(entry.lastSequence, start + 10)
    bytes.writeBigInt64BE(entry.lastOffset, start + 14)
    bytes.writeInt32BE(entry.offsetDelta, start + 22)
    bytes.writeBigInt64BE(entry.timestamp, start + 26)
    bytes.writeInt32BE(entry.coordinatorEpoch, start + 34)
    bytes.writeBigInt64BE(entry.currentTxnFirstOffset ?? -1n, start + 38)
  })
  bytes.writeUInt32BE(crc32c(bytes.subarray(at.count)), at.crc)
  return bytes
}
