import type {DecoderName, RecordDecoder} from '../log/decode/decoder.js'
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
  if (options.filter.fromOffset === undefined) return readOptions(options)
  const {startOf} = await import('./start.js')
  return {...readOptions(options), from: await startOf(input, options)}
}

/** A decoder of records; loaded only where there is one. */
export async function decoderNamed(name: DecoderName | undefined): Promise<RecordDecoder | undefined> {
  if (name === undefined) return undefined
  const decoders = await import('../log/decode/decoder.js')
  return decoders.decoderNamed(name)
}
