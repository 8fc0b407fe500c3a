import fc from 'fast-check'
import type {WritableBatch, WritableRecord} from '../../../src/log/write-batch.js'
import {golden, realFiles} from './vectors.js'

const int64 = fc.bigInt({min: -(2n ** 63n), max: 2n ** 63n - 1n})
const int32 = fc.integer({min: -(2 ** 31), max: 2 ** 31 - 1})
const int16 = fc.integer({min: -(2 ** 15), max: 2 ** 15 - 1})
const bytes = fc.option(
  fc.uint8Array({maxLength: 200}).map(array => Buffer.from(array)),
  {nil: null},
)
/** Lengths whose varints have one, two and three bytes. */
const value = fc.oneof(
  bytes,
  fc.constantFrom(63, 64, 8_191, 8_192).map(length => Buffer.alloc(length, 'v')),
)
const headers = fc.array(fc.record({key: fc.string({unit: 'grapheme', maxLength: 12}), value: bytes}), {maxLength: 4})

const record = fc.record({
  offset: fc.bigInt({min: 0n, max: 2n ** 31n - 1n}),
  timestamp: fc.oneof(int64, fc.bigInt({min: 0n, max: 2_000_000_000_000n})),
  key: bytes,
  value,
  headers,
})

type Complete = Required<WritableBatch> & {readonly records: readonly Required<WritableRecord>[]}

/** Any batch that magic 2 can hold. */
export const batch: fc.Arbitrary<Complete> = fc
  .record({
    baseOffset: fc.bigInt({min: 0n, max: 2n ** 62n}),
    leaderEpoch: int32,
    producerId: int64,
    producerEpoch: int16,
    baseSequence: int32,
    isTransactional: fc.boolean(),
    isControl: fc.boolean(),
    timestampType: fc.constant('CreateTime' as const),
    deleteHorizonMs: fc.option(int64, {nil: null}),
    baseTimestamp: int64,
    maxTimestamp: int64,
    lastOffsetDelta: int32,
    codec: fc.constantFrom('none' as const, 'gzip' as const, 'snappy' as const, 'lz4' as const, 'zstd' as const),
    records: fc.array(record, {maxLength: 6}),
  })
  .map(made => ({
    ...made,
    baseTimestamp: made.deleteHorizonMs ?? made.baseTimestamp,
    records: made.records.map(each => ({...each, offset: made.baseOffset + each.offset})),
  }))

const files = realFiles.map(folder => golden(folder))

/** A file of a real broker with some bytes changed, cut out, put in, or zeroed; lengths and counts are hit on purpose. */
export const damaged: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.constantFrom(...files),
    fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(5), fc.nat(40)), {minLength: 1, maxLength: 6}),
  )
  .map(([file, wounds]) => {
    let result: Buffer = Buffer.from(file)
    for (const [where, byte, kind, length] of wounds) {
      const at = where % Math.max(result.length, 1)
      if (result.length === 0) break
      if (kind === 0) result[at] = byte
      else if (kind === 1) result.fill(0, at, Math.min(at + length, result.length))
      else if (kind === 2) result = Buffer.concat([result.subarray(0, at), result.subarray(at + length)])
      else if (kind === 3)
        result = Buffer.concat([result.subarray(0, at), Buffer.alloc(length, byte), result.subarray(at)])
      else if (kind === 4) result = result.subarray(0, at)
      else if (result.length > 61) result[[8, 9, 10, 11, 16, 57, 58, 59, 60, 61, 62][where % 11] as number] = byte
    }
    return result
  })

/** Bytes that look like batches here and there, so that a reader gets past the first length. */
export const arbitraryBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({maxLength: 400}).map(array => Buffer.from(array)),
  fc.tuple(fc.uint8Array({minLength: 61, maxLength: 400}), fc.integer({min: 0, max: 20})).map(([array, count]) => {
    const made = Buffer.from(array)
    made.writeInt32BE(made.length - 12, 8)
    made[16] = 2
    made.writeInt16BE(0, 21)
    made.writeInt32BE(count, 57)
    return made
  }),
)
