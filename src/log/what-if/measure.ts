import {at} from '../batch-cursor.js'
import {
  type Codec,
  type CodecName,
  compress,
  prepareCodec,
  prepareCompression,
  type Uncompressed,
  uncompressed,
} from '../codecs.js'
import {Outlet} from '../codec/stream.js'
import type {Sample, SampledBatch} from './sample.js'

/** What is tried: every codec of Kafka's, and the levels that differ. `undefined`: the codec has one way only. */
export const choices: readonly {readonly codec: Codec; readonly level?: number}[] = [
  {codec: 'none'},
  {codec: 'gzip', level: 1},
  {codec: 'gzip', level: 6},
  {codec: 'gzip', level: 9},
  {codec: 'snappy'},
  {codec: 'lz4'},
  {codec: 'zstd', level: 1},
  {codec: 'zstd', level: 3},
  {codec: 'zstd', level: 9},
]

/** One way to store the sample. */
export interface Outcome {
  readonly codec: Codec
  /** `null`: the codec has one way only. */
  readonly level: number | null
  /** Of the sample's batches, with their headers of 61 bytes. */
  readonly sizeInBytes: number
  /** Plain bytes of the records, by the bytes they are stored in. */
  readonly ratio: number
  /** Of all batches of the log, those that were left out as they are: exact if all are in the sample. */
  readonly logSizeInBytes: number
  /** ms for a MiB of plain bytes; `null`: there is nothing to do. */
  readonly compressMsPerMiB: number | null
  readonly decompressMsPerMiB: number | null
}

export interface WhatIf {
  readonly sample: Omit<Sample, 'batches'> & {readonly batches: number}
  readonly plainBytes: number
  /** As the log is. Who compressed it, and how fast, is not known. */
  readonly present: Omit<Outcome, 'codec' | 'level'> & {readonly codecs: readonly string[]}
  readonly outcomes: readonly Outcome[]
}

export interface Means {
  /** ms that were worked, with fractions. */
  readonly clock: () => number
  /** Lets others have their turn: asked after each batch or so, and throws if nobody wants the answer any more. */
  readonly turn: () => Promise<void>
}

const mebibyte = 1_048_576
/** What is too short to be measured is done again, up to so many times. */
const enoughMs = 40
const roundsAtMost = 20
/** Done before the clock runs: the first calls are slow. */
const warmUpBytes = 262_144

/** Compresses the sample in every way, and uncompresses it again: what comes back is compared. */
export async function whatIf(sample: Sample, means: Means): Promise<WhatIf> {
  const {batches, ...rest} = sample
  const plainBytes = batches.reduce((sum, {plain}) => sum + plain.length, 0)
  const others = rest.leftOut.reduce((sum, {sizeInBytes}) => sum + sizeInBytes, 0)
  const storedNow = sumOf(batches.map(({stored}) => stored))
  const sized = (sizeInBytes: number) => ({
    sizeInBytes,
    ratio: sizeInBytes === 0 ? 1 : plainBytes / (sizeInBytes - at.records * batches.length),
    logSizeInBytes: others + Math.round(storedNow === 0 ? 0 : rest.candidateBytes * (sizeInBytes / storedNow)),
  })
  await prepareCodec('zstd')
  await prepareCompression()
  const isPlain = batches.every(({codec}) => codec === 'none')
  const decompressed = isPlain
    ? null
    : await timed(
        batches,
        means,
        reader(({codec, stored}) => [codec, stored]),
      )
  const perMiB = (ms: number | null) => (ms === null || plainBytes === 0 ? null : (ms * mebibyte) / plainBytes)
  const outcomes: Outcome[] = []
  for (const {codec, level} of batches.length === 0 ? [] : choices) {
    const told = {codec, level: level ?? null}
    if (codec === 'none') {
      const size = sumOf(batches.map(({plain}) => plain))
      outcomes.push({...told, ...sized(size), compressMsPerMiB: null, decompressMsPerMiB: null})
      continue
    }
    const packed = new Map<SampledBatch, Buffer>()
    const compressMs = await timed(batches, means, {
      work: batch => compress(codec, batch.plain, {level}),
      done: (blob, batch) => packed.set(batch, blob),
    })
    const decompressMs = await timed(
      batches,
      means,
      reader(batch => [codec, packed.get(batch) as Buffer]),
    )
    const times = {compressMsPerMiB: perMiB(compressMs), decompressMsPerMiB: perMiB(decompressMs)}
    outcomes.push({...told, ...sized(sumOf([...packed.values()])), ...times})
  }
  const present = {
    codecs: [...new Set(batches.map(({codec}) => codec))],
    ...sized(storedNow),
    compressMsPerMiB: null,
    decompressMsPerMiB: perMiB(decompressed),
  }
  return {sample: {...rest, batches: batches.length}, plainBytes, present, outcomes}
}

function sumOf(blobs: readonly Buffer[]): number {
  return blobs.reduce((sum, {length}) => sum + at.records + length, 0)
}

/** What is timed, and what is done with its result while the clock stands. */
interface Timed<Result> {
  work(batch: SampledBatch): Result
  done(result: Result, batch: SampledBatch): void
}

/** @throws Error if the plain bytes are not those of the batch: then kx is wrong, and no figure of it is worth anything */
function reader(blobOf: (batch: SampledBatch) => readonly [CodecName, Buffer]): Timed<Uncompressed> {
  const outlet = new Outlet()
  return {
    work(batch) {
      const [codec, stored] = blobOf(batch)
      return uncompressed(codec, stored, {atMost: batch.plain.length, outlet})
    },
    done(back, batch) {
      if ('bytes' in back && back.bytes.equals(batch.plain)) return
      throw new Error(`what ${blobOf(batch)[0]} has stored does not come back`)
    },
  }
}

/** ms for all batches once; short samples are done several times, and the fastest counts: the others waited. */
async function timed<Result>(
  batches: readonly SampledBatch[],
  {clock, turn}: Means,
  {work, done}: Timed<Result>,
): Promise<number> {
  let warm = 0
  for (const batch of batches) {
    if (warm >= warmUpBytes) break
    warm += batch.plain.length
    done(work(batch), batch)
    await turn()
  }
  let spentMs = 0
  let fastestMs = Number.POSITIVE_INFINITY
  for (let round = 0; round === 0 || (spentMs < enoughMs && round < roundsAtMost); round++) {
    let roundMs = 0
    for (const batch of batches) {
      const from = clock()
      const result = work(batch)
      roundMs += clock() - from
      done(result, batch)
      await turn()
    }
    spentMs += roundMs
    fastestMs = Math.min(fastestMs, roundMs)
  }
  return fastestMs
}
