import type {DecoderName, RecordDecoder} from '../log/decode/decoder.js'
import type {OpenFile} from '../log/folder.js'
import type {ReadOptions} from '../log/read-log.js'
import type {DumpOptions} from './job.js'

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

/** A decoder of records; loaded only where there is one. */
export async function decoderNamed(name: DecoderName | undefined): Promise<RecordDecoder | undefined> {
  if (name === undefined) return undefined
  const decoders = await import('../log/decode/decoder.js')
  return decoders.decoderNamed(name)
}
