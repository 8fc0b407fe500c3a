import {readBatches} from '../log/batches.js'
import {siblingName} from '../log/files/names.js'
import {openOffsetIndex} from '../log/files/offset-index.js'
import {startOfTime} from '../log/seek-time.js'
import type {DumpInput, DumpOptions} from './job.js'

/** Where the reading of a log may begin for the offsets and times that are wanted. */
export async function startOf(input: DumpInput, options: DumpOptions): Promise<number> {
  const {file, classified} = input
  const {fromTime} = options.filter
  const from = await startOfOffset(input, options)
  // Where each reading costs much, reading it all from there on costs least.
  if (fromTime === undefined || classified.kind !== 'log' || !file.readNow) return from
  return startOfTime(file, fromTime, {from, signal: options.signal})
}

/**
 * Where the reading of a log may begin for the offsets that are wanted: at the batch of the last index entry that is not
 * above them. The index is not believed: what lies there must be a whole batch with a right CRC that fits the entry, else
 * the log is read from its beginning.
 */
async function startOfOffset({file, folder, classified}: DumpInput, {filter}: DumpOptions): Promise<number> {
  const {fromOffset} = filter
  const {name, kind} = classified
  const beside = siblingName(name, 'index')
  if (fromOffset === undefined || kind !== 'log' || name.offset === undefined || !beside || !folder) return 0
  const source = await folder.open(beside).catch(() => undefined)
  if (!source) return 0
  const index = await openOffsetIndex(source, name.offset)
  let found: {readonly offset: bigint; readonly position: number} | undefined
  for await (const entries of index.entries()) {
    for (const entry of entries) if (entry.offset <= fromOffset) found = entry
    if ((entries.at(-1)?.offset ?? 0n) > fromOffset) break
  }
  return found && (await fits(file, found, fromOffset)) ? found.position : 0
}

const headerBytes = 61
const batchBytesAtMost = 67_108_864

async function fits(
  file: DumpInput['file'],
  {offset, position}: {readonly offset: bigint; readonly position: number},
  wanted: bigint,
): Promise<boolean> {
  if (position < 0 || position + headerBytes > file.size) return false
  const head = await file.read(position, headerBytes)
  const size = head.length < headerBytes ? 0 : 12 + head.readInt32BE(8)
  if (size < headerBytes || size > batchBytesAtMost || position + size > file.size) return false
  const bytes = await file.read(position, size)
  const {batches} = await readBatches({size: bytes.length, read: async (at, length) => bytes.subarray(at, at + length)})
  const [batch] = batches
  return batch?.crcIsRight === true && batch.baseOffset <= wanted && batch.lastOffset <= offset
}
