import type {RecordDecoder} from '../log/decode/decoder.js'
import type {ReadOptions} from '../log/read-log.js'
import type {DumpInput, DumpOptions} from './job.js'

const chunkBytes = 1_048_576

/** How a log is read for these options. */
export async function readOptions(_input: DumpInput, options: DumpOptions): Promise<ReadOptions> {
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
  const {recordDecoder} = await import('../log/decode/decoders.js')
  return recordDecoder(decoder)
}
