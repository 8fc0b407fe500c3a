import {readBatches} from '../log/batches.js'
import {siblingName} from '../log/files/names.js'
import {openOffsetIndex} from '../log/files/offset-index.js'
import {openTimeIndex} from '../log/files/time-index.js'
import {type IndexedTimes, indexedTimes, startByTimeIndex, startOfTime} from '../log/seek-time.js'
import type {DumpInput, DumpOptions} from './job.js'

/**
 * Where the reading of a log may begin for the offsets and times that are wanted. No index is believed: what it says is
 * held against the log, and where it is not borne out the headers of the log are gone through, or the log is read from its
 * beginning.
 */
export async function startOf(input: DumpInput, {filter, signal}: DumpOptions): Promise<number> {
  const {file, classified} = input
  const {fromOffset, fromTime} = filter
  const from = fromOffset === undefined ? 0 : await startOfOffset(input, fromOffset)
  const {readNow} = file
  // Where each reading costs much, reading it all from there on costs least.
  if (fromTime === undefined || classified.kind !== 'log' || !readNow) return from
  const source = {size: file.size, read: file.read.bind(file), readNow: readNow.bind(file)}
  const turn = () => new Promise<void>(resolve => setImmediate(resolve))
  const times = await timesBeside(input, fromTime)
  const [first] = times?.entries ?? []
  if (times && first) {
    const begin = times.isComplete ? 0 : await startOfOffset(input, first.offset)
    const start = await startByTimeIndex(source, fromTime, times, {from: begin, signal, turn})
    if (start !== undefined) return Math.max(start, from)
  }
  return startOfTime(source, fromTime, {from, signal, turn})
}

/** What the time index beside a log says of the time before `time`. */
async function timesBeside({folder, classified: {name}}: DumpInput, time: bigint): Promise<IndexedTimes | undefined> {
  const beside = siblingName(name, 'timeindex')
  if (name.offset === undefined || !beside || !folder) return undefined
  const source = await folder.open(beside).catch(() => undefined)
  return source && indexedTimes(await openTimeIndex(source, name.offset), time)
}

/**
 * Where the reading of a log may begin for the offsets that are wanted: at the batch of the last index entry that is not
 * above them. The index is not believed: what lies there must be a whole batch with a right CRC that fits the entry, else
 * the log is read from its beginning.
 */
async function startOfOffset({file, folder, classified}: DumpInput, fromOffset: bigint): Promise<number> {
  const {name, kind} = classified
  const beside = siblingName(name, 'index')
  if (kind !== 'log' || name.offset === undefined || !beside || !folder) return 0
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
