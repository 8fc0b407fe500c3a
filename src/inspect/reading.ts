import type {RecordDecoder} from '../log/decode/decoder.js'
import type {OpenFile} from '../log/folder.js'
import type {ReadOptions} from '../log/read-log.js'
import type {DumpInput, DumpOptions} from './job.js'

const chunkBytes = 1_048_576

/** How a log is read for these options; tells how far it came. */
export function readOptions(_file: OpenFile, options: DumpOptions): ReadOptions {
  return {
    chunkBytes,
    signal: options.signal,
    ...(options.maxBytes === undefined ? {} : {maxBytes: options.maxBytes}),
    ...(options.maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes: options.maxDecompressedBytes}),
  }
}

/** The decoder of the file's records; loaded only where there is one. */
export async function decoderOf({decoder}: DumpInput): Promise<RecordDecoder | undefined> {
  if (decoder === undefined) return undefined
  const {decoderNamed} = await import('../log/decode/decoder.js')
  return decoderNamed(decoder)
}
