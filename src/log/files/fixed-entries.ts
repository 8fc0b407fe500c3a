import type {ByteSource} from '../byte-source.js'

/**
 * `right`: every entry that was written, up to the zeros of a preallocated file. `kafka`: what Kafka's own dump tool
 * takes for entries: it begins with the zeros of an empty preallocated file as if they were one (the phantom entry), and
 * ends at the first entry after the first whose offset is the base offset.
 */
export type EntriesView = 'right' | 'kafka'

/** How a file of entries of one size is laid out. Found out from its end, without reading the entries. */
export interface EntriesLayout {
  readonly sizeInBytes: number
  readonly bytesPerEntry: number
  /** Entries that were written. */
  readonly entryCount: number
  /** Whole entries that the file has room for, zeros or not: what Kafka's tool takes for the number of entries. */
  readonly roomForEntries: number
  /** Where the zeros begin that reach to the end: the preallocated space of an active segment, or of one that was not closed. */
  readonly preallocatedFrom?: number
  /** Bytes behind the last whole entry: the size is no multiple of an entry's. 0 in a whole file. */
  readonly leftoverBytes: number
}

const chunkBytes = 262_144
const zeros = Buffer.alloc(chunkBytes)

/**
 * Zeros that reach to the end are preallocated space and no entries, with one exception: a file of exactly one entry's
 * size was trimmed to its entries, so its zeros are one (timestamp 0, offset of the first record).
 */
export async function layoutOf(source: ByteSource, bytesPerEntry: number): Promise<EntriesLayout> {
  const sizeInBytes = source.size
  const roomForEntries = Math.floor(sizeInBytes / bytesPerEntry)
  const wholeBytes = roomForEntries * bytesPerEntry
  const written = roomForEntries === 1 ? 1 : Math.ceil((await endOfNonZeros(source, wholeBytes)) / bytesPerEntry)
  const layout = {
    sizeInBytes,
    bytesPerEntry,
    entryCount: written,
    roomForEntries,
    leftoverBytes: sizeInBytes - wholeBytes,
  }
  return written < roomForEntries ? {...layout, preallocatedFrom: written * bytesPerEntry} : layout
}

/** Where the last byte that is not zero ends, among the first `size` bytes; read from the back. */
async function endOfNonZeros(source: ByteSource, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkBytes)
    const bytes = await source.read(start, end - start)
    if (!bytes.equals(zeros.subarray(0, bytes.length))) {
      for (let n = bytes.length; n > 0; n--) if (bytes[n - 1] !== 0) return start + n
    }
    end = start
  }
  return 0
}

/**
 * The entries in pieces of at most 256 KiB of the file, so that the reader sets the pace and memory is bounded. A source
 * that has become shorter ends the entries early.
 */
export async function* entriesOf<Entry>(
  source: ByteSource,
  {bytesPerEntry, count, from = 0}: {readonly bytesPerEntry: number; readonly count: number; readonly from?: number},
  decode: (bytes: Buffer, at: number, index: number) => Entry,
): AsyncGenerator<readonly Entry[], void> {
  const perChunk = Math.floor(chunkBytes / bytesPerEntry)
  for (let first = 0; first < count; first += perChunk) {
    const wanted = Math.min(perChunk, count - first)
    const bytes = await source.read(from + first * bytesPerEntry, wanted * bytesPerEntry)
    const there = Math.min(wanted, Math.floor(bytes.length / bytesPerEntry))
    const entries = new Array<Entry>(there)
    for (let n = 0; n < there; n++) entries[n] = decode(bytes, n * bytesPerEntry, first + n)
    if (there > 0) yield entries
    if (there < wanted) return
  }
}

/** The first entry, and those up to the next one whose offset is the base offset. */
async function* untilBaseOffset<Entry extends {readonly relativeOffset: number; readonly index: number}>(
  chunks: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<readonly Entry[], void> {
  for await (const chunk of chunks) {
    const end = chunk.findIndex(({relativeOffset, index}) => index > 0 && relativeOffset === 0)
    if (end < 0) yield chunk
    else {
      if (end > 0) yield chunk.slice(0, end)
      return
    }
  }
}

/** The entries of an offset or time index in a view. May be asked for again; the source is then read again. */
export function viewOf<Entry extends {readonly relativeOffset: number; readonly index: number}>(
  source: ByteSource,
  {bytesPerEntry, entryCount, roomForEntries}: EntriesLayout,
  decode: (bytes: Buffer, at: number, index: number) => Entry,
): (view?: EntriesView) => AsyncGenerator<readonly Entry[], void> {
  return (view = 'right') =>
    view === 'right'
      ? entriesOf(source, {bytesPerEntry, count: entryCount}, decode)
      : untilBaseOffset(entriesOf(source, {bytesPerEntry, count: roomForEntries}, decode))
}

/** The bytes of a file of entries. */
export function written<Entry>(
  entries: Iterable<Entry>,
  bytesPerEntry: number,
  encode: (bytes: Buffer, entry: Entry) => void,
): Buffer {
  return Buffer.concat(
    [...entries].map(entry => {
      const bytes = Buffer.alloc(bytesPerEntry)
      encode(bytes, entry)
      return bytes
    }),
  )
}
