import {decodeGzip} from './codec/gzip.js'
import {gzipPieces} from './codec/gzip-stream.js'
import {decodeLz4} from './codec/lz4.js'
import {decodeSnappy} from './codec/snappy.js'
import {CodecError, type Decoding, Inlet, Outlet} from './codec/stream.js'
import {writeGzip, writeLz4, writeRawSnappy, writeSnappy} from './codec/writers.js'
import {decodeZstd, loadZstd, streamZstd, zstdIsLoaded} from './codec/zstd.js'
import {loadZstdWriter, writeZstd} from './codec/zstd-writer.js'

/** Bits 0-2 of a batch's attributes (org.apache.kafka.common.record.CompressionType). */
export const codecNames = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Codec = (typeof codecNames)[number]
export type CodecName = Codec | 'unknown'

export function codecName(attributes: number): CodecName {
  return codecNames[attributes & 0x07] ?? 'unknown'
}

/** Records as they lie in memory once they are uncompressed. */
export interface Uncompressed {
  /** All of them, or those before the damage. */
  readonly bytes: Buffer
  /** What is odd in the codec's stream and no error to Kafka, e.g. bytes behind its end. */
  readonly remarks: readonly string[]
  /** Why these are not all. */
  readonly unreadable?: string
  /** The plain bytes are more than were allowed; nothing else is known to be wrong. */
  readonly tooLarge?: boolean
}

export interface UncompressOptions {
  /** Most plain bytes; default 64 MiB. */
  readonly atMost?: number
  /** Of the batch; 0 has an odd LZ4 header. Default 2. */
  readonly magic?: number
  /** Where the plain bytes go: they last until it is used again. Default: memory of their own. */
  readonly outlet?: Outlet
}

export const plainBytesAtMost = 67_108_864
const noRemarks: readonly string[] = []
const inlet = new Inlet()

/**
 * Loads what must be loaded before {@link uncompressed} can read a codec (zstd; the others need nothing). Whoever reads a
 * log asynchronously through `scan`, `batches` or `readLog` has it done for him.
 */
export async function prepareCodec(codec: CodecName): Promise<void> {
  if (codec === 'zstd') await loadZstd()
}

/** False: {@link prepareCodec} is to be awaited first. */
export function codecIsReady(codec: CodecName): boolean {
  return codec !== 'zstd' || zstdIsLoaded()
}

/**
 * The one place where codecs come in: the records of a compressed batch are one blob in that codec's own stream format.
 * `none` is not copied. What Kafka's reader refuses is refused, and what comes before it given.
 */
export function uncompressed(codec: CodecName, bytes: Buffer, options: UncompressOptions = {}): Uncompressed {
  if (codec === 'none') return {bytes, remarks: noRemarks}
  const {atMost = plainBytesAtMost, magic = 2, outlet = new Outlet()} = options
  outlet.reset(atMost)
  inlet.open(bytes)
  try {
    if (codec === 'gzip') decodeGzip(inlet, outlet, atMost)
    else if (codec === 'snappy') toEnd(decodeSnappy(inlet, outlet))
    else if (codec === 'lz4') toEnd(decodeLz4(inlet, outlet, magic === 0))
    else if (codec === 'zstd') decodeZstd(inlet, outlet, atMost)
    else throw new CodecError('a codec that is not known')
    return {bytes: outlet.plain, remarks: outlet.remarks}
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    const {message: unreadable, tooLarge} = error
    return {bytes: outlet.plain, remarks: outlet.remarks, unreadable, tooLarge}
  }
}

/**
 * {@link uncompressed} for what is too large to be held: plain bytes in pieces, as views that last until the next piece is
 * asked for. `stored` may give views too; it may be called twice. Remarks are added to a list. `none` passes through.
 * @throws CodecError after what comes before the damage
 */
export async function* plainPieces(
  codec: CodecName,
  stored: () => AsyncIterable<Buffer>,
  {magic = 2, remarks = []}: {readonly magic?: number; readonly remarks?: string[]} = {},
): AsyncGenerator<Buffer, void, void> {
  if (codec === 'none') yield* stored()
  else if (codec === 'gzip') yield* gzipPieces(stored, remarks)
  else yield* decodedPieces(codec, stored(), magic, remarks)
}

async function* decodedPieces(
  codec: CodecName,
  stored: AsyncIterable<Buffer>,
  magic: number,
  remarks: string[],
): AsyncGenerator<Buffer, void, void> {
  await prepareCodec(codec)
  const input = new Inlet()
  const output = new Outlet().reset(plainBytesAtMost)
  const decoding = streaming(codec, input, output, magic)
  const source = stored[Symbol.asyncIterator]()
  try {
    for (;;) {
      const {done, value, damage} = nextOf(decoding)
      if (output.length > 0) yield output.plain
      output.length = 0
      if (damage) throw damage
      if (done) break
      if (value === 0) continue
      const piece = await source.next()
      if (piece.done) input.isLast = true
      else input.feed(piece.value)
    }
    remarks.push(...output.remarks)
  } finally {
    decoding.return()
    await source.return?.()
  }
}

/** The next step of a decoder; what is wrong is told after what was decoded before it. */
function nextOf(decoding: Decoding): {readonly done: boolean; readonly value: number; readonly damage?: CodecError} {
  try {
    const {done, value} = decoding.next()
    return {done: done ?? false, value: value ?? 0}
  } catch (error) {
    if (error instanceof CodecError) return {done: true, value: 0, damage: error}
    throw error
  }
}

function streaming(codec: CodecName, input: Inlet, output: Outlet, magic: number): Decoding {
  if (codec === 'snappy') return decodeSnappy(input, output)
  if (codec === 'lz4') return decodeLz4(input, output, magic === 0)
  if (codec === 'zstd') return streamZstd(input, output)
  throw new CodecError('a codec that is not known')
}

/** {@link compress} to zstd needs it once before. @throws KxError if the codec can't be loaded */
export async function prepareCompression(): Promise<void> {
  await loadZstdWriter()
}

/**
 * What Kafka's own producer would put in a batch, or nearly: `snappy` is xerial's stream, `snappy-raw` is what librdkafka
 * and kafkajs write. `level` is one of gzip's or zstd's; the others have one way only.
 * @throws RangeError for `unknown`; Error for zstd before {@link prepareCompression}
 */
export function compress(
  codec: CodecName | 'snappy-raw',
  bytes: Buffer,
  {magic = 2, level}: {readonly magic?: number; readonly level?: number | undefined} = {},
): Buffer {
  switch (codec) {
    case 'none':
      return bytes
    case 'gzip':
      return writeGzip(bytes, level)
    case 'snappy':
      return writeSnappy(bytes)
    case 'snappy-raw':
      return writeRawSnappy(bytes)
    case 'lz4':
      return writeLz4(bytes, magic)
    case 'zstd':
      return writeZstd(bytes, level)
    default:
      throw new RangeError('no codec has this name')
  }
}

const beginnings: readonly (readonly [Codec, string])[] = [
  ['gzip', '1f8b08'],
  ['snappy', '82534e41505059'],
  ['lz4', '04224d18'],
  ['zstd', '28b52ffd'],
]

/** For records that can't be read though no codec is set: what they look like, as the end of a sentence, or nothing. */
export function codecHint(bytes: Buffer, at = 0): string {
  const begin = bytes.toString('hex', at, at + 8)
  const codec = beginnings.find(([, hex]) => begin.startsWith(hex))?.[0]
  return codec === undefined
    ? ''
    : ` (the records begin as a ${codec} stream does, and the batch says that none is used)`
}

function toEnd(decoding: Decoding): void {
  while (!decoding.next().done);
}
