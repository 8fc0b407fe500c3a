import {z} from 'zod'

/** 64-bit numbers are strings: JSON's readers know no such integers. */
const int64 = z.string().regex(/^-?\d+$/)
const count = z.number().int().nonnegative()
const codec = z.enum(['none', 'gzip', 'snappy', 'lz4', 'zstd', 'unknown'])

const bytes = z
  .union([
    z.strictObject({text: z.string()}),
    z.strictObject({base64: z.string()}),
    z.strictObject({hex: z.string()}),
    z.strictObject({int32: z.number().int()}),
    z.strictObject({int64}),
    z.strictObject({uuid: z.string()}),
    z.strictObject({json: z.unknown()}),
    z.strictObject({redacted: z.literal(true), sizeInBytes: count}),
  ])
  .nullable()
  .describe('text where the bytes are UTF-8, else base64; the others with --key-format, --value-format and --redact')

const finding = z.strictObject({
  code: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  position: z.number().int().optional().describe('bytes in the file'),
  offset: int64.optional(),
  explanation: z.string(),
  consequence: z.string().optional().describe('what Kafka itself does with it'),
})

const batchShape = {
  position: count,
  sizeInBytes: count,
  magic: z.number().int(),
  baseOffset: int64,
  lastOffset: int64,
  recordsCount: z.number().int(),
  codec,
  timestampType: z.enum(['NoTimestampType', 'CreateTime', 'LogAppendTime']),
  baseTimestamp: int64,
  maxTimestamp: int64,
  leaderEpoch: z.number().int(),
  producerId: int64,
  producerEpoch: z.number().int(),
  baseSequence: z.number().int(),
  isTransactional: z.boolean(),
  isControl: z.boolean(),
  deleteHorizonMs: int64.nullable(),
  crc: count,
  crcIsRight: z.boolean(),
}

const decoded = z.strictObject({
  key: z
    .strictObject({type: z.string(), apiKey: z.number().int(), data: z.unknown(), schemaOf: z.string().optional()})
    .optional(),
  value: z
    .strictObject({
      type: z.string().optional(),
      apiKey: z.number().int().optional(),
      version: z.number().int(),
      data: z.unknown(),
      schemaOf: z.string().optional().describe('the line of Kafka whose schema fitted, where it was not the newest'),
    })
    .nullable()
    .optional()
    .describe('null: a tombstone'),
  problems: z.array(z.string()),
})

const control = z.strictObject({
  type: z.number().int().nullable().optional(),
  name: z.string(),
  version: z.number().int().optional(),
  data: z.unknown().optional(),
  problems: z.array(z.string()),
})

const recordShape = {
  offset: int64,
  timestamp: int64.describe('ms since 1970; -1: none'),
  sequence: z.number().int().describe('-1: none'),
  key: bytes,
  value: bytes,
  headers: z.array(
    z.strictObject({
      key: z.string(),
      keyBase64: z.string().optional().describe('of a key that is no UTF-8'),
      value: bytes,
    }),
  ),
  control: control.optional().describe('of a control batch'),
  decoded: decoded.optional().describe('of an internal topic'),
}

const fileShape = {
  path: z.string(),
  type: z.string().describe('log, snapshot-log, offset-index, time-index, …, or folder'),
  sizeInBytes: count.optional(),
  offsetInName: int64.nullable().optional(),
  epochInName: z.number().int().optional(),
  states: z.array(z.string()).optional().describe('deleted, cleaned, swap, part, tmp'),
  topic: z.string().nullable().optional(),
  partition: z.number().int().nullable().optional(),
  decoder: z.string().nullable().optional(),
  note: z.string().optional(),
}

const endShape = {
  batchCount: count.optional(),
  validBytes: count.optional(),
  trailingBytes: count.optional(),
  skippedBytes: count.optional(),
  limitReached: z.boolean().optional(),
  entryCount: count.optional(),
  content: z.record(z.string(), z.unknown()).optional().describe('of checkpoints and other text files'),
  findingCount: count.optional(),
  report: z.unknown().optional().describe('of a folder: as in verify.json'),
}

const errorShape = {path: z.string(), code: z.string(), message: z.string(), suggestions: z.array(z.string())}

export const dumpLogSchema = z.strictObject({
  schema: z.literal('kx/dump-log/1'),
  files: z.array(
    z.strictObject({
      ...fileShape,
      batches: z
        .array(
          z.strictObject({
            ...batchShape,
            records: z.array(z.strictObject(recordShape)),
            problem: z.string().optional().describe('why not all records could be read'),
          }),
        )
        .optional(),
      entries: z.array(z.record(z.string(), z.unknown())).optional(),
      findings: z.array(finding).optional(),
      ...endShape,
    }),
  ),
  errors: z.array(z.strictObject(errorShape)),
  limitReached: z.boolean(),
})

const ofFile = {file: z.string()}

/** A line of `-o ndjson`. */
export const dumpLogLineSchema = z.union([
  z.strictObject({kind: z.literal('file'), ...fileShape}),
  z.strictObject({kind: z.literal('batch'), ...ofFile, ...batchShape}),
  z.strictObject({kind: z.literal('record'), ...ofFile, ...recordShape}),
  z.looseObject({kind: z.literal('entry'), ...ofFile}),
  z.strictObject({kind: z.literal('finding'), ...ofFile, ...finding.shape}),
  z.strictObject({kind: z.literal('end'), ...ofFile, ...endShape}),
  z.strictObject({kind: z.literal('report'), report: z.unknown()}),
  z.strictObject({kind: z.literal('error'), ...errorShape}),
])

const bucket = z.strictObject({upTo: count, batches: count})

export const dumpLogStatsSchema = z.strictObject({
  schema: z.literal('kx/dump-log-stats/1'),
  reports: z.array(
    z.strictObject({
      path: z.string(),
      stats: z.strictObject({
        batches: count,
        records: count,
        sizeInBytes: count,
        controlBatches: count,
        transactionalBatches: count,
        idempotentBatches: count,
        emptyBatches: count,
        tombstones: count,
        recordsWithoutKey: count,
        headers: count,
        firstOffset: int64.nullable(),
        lastOffset: int64.nullable(),
        firstTimestamp: int64.nullable(),
        lastTimestamp: int64.nullable(),
        timestampsBackwards: z.strictObject({records: count, largestMs: int64}),
        codecs: z.array(
          z.strictObject({
            codec,
            batches: count,
            records: count,
            storedBytes: count,
            plainBytes: count,
            ratio: z.number().nullable(),
          }),
        ),
        batchSizes: z.array(bucket),
        recordsPerBatch: z.array(bucket),
        producerCount: count,
        producers: z.array(
          z.strictObject({
            producerId: int64,
            epochs: z.array(z.number().int()),
            batches: count,
            records: count,
            sizeInBytes: count,
          }),
        ),
        topKeys: z.array(z.strictObject({key: bytes, records: count})),
        topKeysExact: z.boolean(),
      }),
      bytesByKind: z.array(z.strictObject({kind: z.string(), files: count, sizeInBytes: count})),
      findingCount: count,
    }),
  ),
})

const reportShape = {
  path: z.string(),
  findings: z.array(z.strictObject({...finding.shape, file: z.string()})),
  findingCounts: z.array(z.strictObject({code: z.string(), severity: z.string(), count})),
  conclusions: z.array(z.string()),
}

const folderReport = z.looseObject({
  ...reportShape,
  kind: z.enum(['partition', 'log-dir', 'files']),
  segments: z.array(z.looseObject({name: z.string()})),
  otherFiles: z.array(z.looseObject({name: z.string()})),
  partitions: z.array(z.looseObject(reportShape)),
})

const fileReport = z.looseObject({...reportShape, name: z.string(), role: z.string(), sizeInBytes: count})

export const verifySchema = z.strictObject({
  schema: z.literal('kx/verify/1'),
  reports: z.array(z.union([folderReport, fileReport])),
  errors: z.array(z.strictObject(errorShape)),
})

export const explainSchema = z.strictObject({
  schema: z.literal('kx/explain/1'),
  path: z.string(),
  position: count,
  fields: z.array(
    z.strictObject({
      space: z.enum(['file', 'plain']).describe('plain: positions in the records once they are uncompressed'),
      position: count,
      name: z.string(),
      value: z.string(),
      depth: z.number().int(),
      sizeInBytes: count,
      hex: z.string(),
    }),
  ),
  problem: z.string().optional(),
})

export const salvageSchema = z.strictObject({
  schema: z.literal('kx/salvage/1'),
  path: z.string(),
  out: z.string(),
  batches: count,
  records: count,
  bytes: count,
  skippedBatches: count,
  skippedBytes: count,
  firstOffset: int64.optional(),
  lastOffset: int64.optional(),
  repeatedBatches: count,
})
