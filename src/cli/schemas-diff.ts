import {z} from 'zod'

// What `kx diff-replicas -o json` prints (src/log/diff/types.ts says what the fields mean).

const offset = z.string().regex(/^-?\d+$/)
const epochs = z.array(z.strictObject({epoch: z.number().int(), startOffset: offset}))

const place = z.strictObject({
  segment: z.string(),
  position: z.number().int(),
  sizeInBytes: z.number().int(),
  baseOffset: offset,
  lastOffset: offset,
  leaderEpoch: z.number().int(),
  crc: z.number().int(),
  crcIsRight: z.boolean(),
})

const byteDifferences = z
  .array(
    z.strictObject({
      position: z.number().int().describe('in the file'),
      index: z.number().int().describe('in the batch'),
      field: z.string(),
      is: z.number().int(),
      shouldBe: z.number().int(),
      bits: z.array(z.number().int()).describe('which differ; 0 is the least significant'),
      offset: offset.optional().describe('the record it lies in'),
    }),
  )
  .nullable()
  .describe('the first 16; null: no other replica has the same batch')

const replica = z.strictObject({
  name: z.string(),
  path: z.string(),
  role: z.enum(['leader', 'follower']).nullable(),
  segments: z.array(offset).describe('their base offsets'),
  sizeInBytes: z.number().int(),
  logStartOffset: offset,
  logEndOffset: offset,
  batches: z.number().int(),
  records: z.number().int(),
  checkpoint: epochs.nullable().describe('leader-epoch-checkpoint'),
  epochs: epochs.describe('as the batches say'),
})

const range = z.strictObject({
  from: offset,
  to: offset.describe('exclusive'),
  holdings: z
    .array(z.union([z.number().int(), z.enum(['absent', 'ended', 'unreadable', 'corrupt'])]))
    .describe('per replica; the same number, the same records'),
  records: z.array(z.number().int()),
  epochs: z.array(z.strictObject({first: z.number().int(), last: z.number().int()}).nullable()),
  comparedBy: z.enum(['bytes', 'records']),
})

const conclusion = z.strictObject({
  code: z.enum([
    'equal',
    'equal-by-records',
    'divergence',
    'conflict',
    'corruption',
    'damage',
    'cut-batch',
    'hole',
    'compaction',
    'tail',
    'epoch-bytes',
    'base-offset-bytes',
    'log-start',
    'segments',
    'nothing-shared',
    'epoch-checkpoint',
    'above-high-watermark',
  ]),
  severity: z.enum(['error', 'warning', 'info']).describe('info: legal, and no difference'),
  replicas: z.array(z.string()),
  from: offset.optional(),
  to: offset.optional(),
  records: z.number().int().optional(),
  truncatesTo: offset.optional().describe('where Kafka would cut these replicas'),
  text: z.string(),
})

const partition = z.strictObject({
  partition: z.string().nullable(),
  cluster: z.string().nullable(),
  equal: z.boolean(),
  comparedBy: z.enum(['bytes', 'records']),
  from: offset,
  to: offset,
  equalUpTo: offset,
  divergence: z.strictObject({offset, batches: z.array(place.nullable())}).nullable(),
  replicas: z.array(replica),
  ranges: z.array(range),
  rangesLeftOut: z.number().int(),
  corruptions: z.array(
    z.strictObject({
      replica: z.number().int(),
      batch: place,
      bytes: byteDifferences,
      differingBytes: z.number().int(),
      against: z.number().int().optional(),
    }),
  ),
  corruptionsLeftOut: z.number().int(),
  damages: z.array(
    z.strictObject({
      replica: z.number().int(),
      segment: z.string(),
      position: z.number().int(),
      sizeInBytes: z.number().int(),
      kind: z.string(),
      reason: z.string(),
      from: offset,
      to: offset.nullable(),
      bytes: byteDifferences,
      differingBytes: z.number().int(),
      against: z.number().int().optional(),
    }),
  ),
  conclusions: z.array(conclusion),
  notes: z.array(z.string()),
})

export const diffReplicasSchema = z.strictObject({
  schema: z.literal('kx/diff-replicas/1'),
  equal: z.boolean(),
  partitions: z.array(partition),
})
