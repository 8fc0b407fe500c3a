import type {DecoderName, RecordDecoder} from '../log/decode/decoder.js'
import {parseFileName} from '../log/files/names.js'
import type {Folder} from '../log/folder.js'
import type {ReadOptions} from '../log/read-log.js'
import type {DumpInput, DumpOptions} from './job.js'

const chunkBytes = 1_048_576

/** How a log is read for these options. */
export function readOptions(options: DumpOptions): ReadOptions {
  return {
    chunkBytes,
    signal: options.signal,
    ...(options.maxBytes === undefined ? {} : {maxBytes: options.maxBytes}),
    ...(options.maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes: options.maxDecompressedBytes}),
  }
}

/** {@link readOptions}, from the first batch that may be wanted. */
export async function readOptionsFor(input: DumpInput, options: DumpOptions): Promise<ReadOptions> {
  if (options.filter.fromOffset === undefined && options.filter.fromTime === undefined) return readOptions(options)
  const {startOf} = await import('./start.js')
  return {...readOptions(options), from: await startOf(input, options)}
}

/** A decoder of records; loaded only where there is one. */
export async function decoderNamed(name: DecoderName | undefined): Promise<RecordDecoder | undefined> {
  if (name === undefined) return undefined
  const decoders = await import('../log/decode/decoder.js')
  return decoders.decoderNamed(name)
}

/** Fewer zeros are not told from the beginning of a batch. */
const tailBytes = 17

/**
 * Zeros at the end of the newest segment are space that the broker has preallocated (log.preallocate); in any other log
 * they are damage. A log that nobody knows the neighbours of is taken for the newest.
 */
export async function isPreallocated({
  file,
  folder,
  classified,
}: Pick<DumpInput, 'file' | 'classified'> & {readonly folder: Pick<Folder, 'list'> | undefined}): Promise<boolean> {
  const tail = await file.read(Math.max(0, file.size - tailBytes), tailBytes)
  if (tail.length === 0 || tail.some(byte => byte !== 0)) return false
  const own = classified.name.offset
  if (!folder || own === undefined) return true
  const names = (await folder.list()).map(parseFileName)
  return !names.some(({role, states, offset}) => role === 'log' && states.length === 0 && (offset ?? -1n) > own)
}

export function spoolLimit({maxDecompressedBytes}: DumpOptions): {maxSpoolBytes?: number} {
  return maxDecompressedBytes === undefined ? {} : {maxSpoolBytes: maxDecompressedBytes}
}
