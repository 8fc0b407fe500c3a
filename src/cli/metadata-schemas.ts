import {z} from 'zod'

/** 64-bit numbers are strings: JSON's readers know no such integers. */
const int64 = z.string().regex(/^-?\d+$/)
const integer = z.number().int()
const count = integer.nonnegative()
const ids = z.array(integer)
const texts = z.array(z.string())

const finding = z.strictObject({
  code: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  file: z.string(),
  position: integer.optional().describe('bytes in the file'),
  offset: int64.optional(),
  explanation: z.string(),
  consequence: z.string().optional().describe('what Kafka itself does with it'),
})

const provenance = {
  path: z.string(),
  offset: int64.describe('of the last record that is in the state; -1: none'),
  epoch: integer,
  timestamp: int64.describe('when it was appended, ms since 1970'),
  snapshot: z.string().nullable(),
  logs: texts,
  records: count,
  openTransaction: z
    .strictObject({name: z.string().nullable(), offset: int64, records: count})
    .nullable()
    .describe('its records are not in the state'),
  withinBatch: z
    .strictObject({baseOffset: int64, lastOffset: int64})
    .nullable()
    .describe('the offset lies within this batch: no broker ever had this state'),
}

export const metadataStateSchema = z.strictObject({
  schema: z.literal('kx/metadata-state/1'),
  states: z.array(
    z.strictObject({
      ...provenance,
      quorum: z.strictObject({leaderId: integer.nullable(), leaderEpoch: integer.nullable(), kraftVersion: integer}),
      voters: z.array(z.strictObject({voterId: integer, directoryId: z.string().nullable(), endpoints: texts})),
      features: z.array(z.strictObject({name: z.string(), featureLevel: integer, release: z.string().optional()})),
      zkMigration: z.strictObject({zkMigrationState: z.string()}).nullable(),
      controllers: z.array(
        z.strictObject({
          controllerId: integer,
          incarnationId: z.string(),
          endpoints: texts,
          features: texts,
          zkMigrationReady: z.boolean().optional(),
        }),
      ),
      brokers: z.array(
        z.strictObject({
          brokerId: integer,
          brokerEpoch: int64,
          fenced: z.boolean(),
          inControlledShutdown: z.boolean(),
          rack: z.string().nullable(),
          endpoints: texts,
          incarnationId: z.string(),
          logDirs: texts,
          cordonedLogDirs: texts.nullable(),
          features: texts,
          isMigratingZkBroker: z.boolean().optional(),
        }),
      ),
      topics: z.array(z.strictObject({name: z.string(), topicId: z.string(), partitions: count})),
      partitions: z.array(
        z.strictObject({
          topic: z.string(),
          partition: integer,
          leader: integer.describe('-1: none'),
          leaderEpoch: integer,
          partitionEpoch: integer,
          replicas: ids,
          inSyncReplicas: ids,
          eligibleLeaderReplicas: ids,
          lastKnownEligibleLeaderReplicas: ids,
          addingReplicas: ids,
          removingReplicas: ids,
          leaderRecoveryState: z.string(),
          directories: texts,
          topicId: z.string(),
        }),
      ),
      configs: z.array(
        z.strictObject({
          resourceType: z.string(),
          resourceName: z.string().describe('empty: the default of all brokers'),
          name: z.string(),
          value: z.string().describe('[hidden] for what is a secret'),
        }),
      ),
      clientQuotas: z.array(z.strictObject({entity: texts, key: z.string(), value: z.number()})),
      producerIds: z.strictObject({nextProducerId: int64}).nullable(),
      acls: z.array(
        z.strictObject({
          id: z.string(),
          permissionType: z.string(),
          principal: z.string(),
          host: z.string(),
          operation: z.string(),
          resourceType: z.string(),
          patternType: z.string(),
          resourceName: z.string(),
        }),
      ),
      scramCredentials: z.array(z.strictObject({user: z.string(), mechanism: z.string(), iterations: integer})),
      delegationTokens: z.array(
        z.strictObject({
          tokenId: z.string(),
          owner: z.string(),
          requester: z.string(),
          renewers: texts,
          issueTimestamp: int64,
          maxTimestamp: int64,
          expirationTimestamp: int64,
        }),
      ),
      findings: z.array(finding),
    }),
  ),
})

const fields = z.record(z.string(), z.unknown()).nullable()

export const metadataDiffSchema = z.strictObject({
  schema: z.literal('kx/metadata-diff/1'),
  diffs: z.array(
    z.strictObject({
      from: z.strictObject(provenance),
      to: z.strictObject(provenance),
      changes: z.array(
        z.strictObject({
          kind: z.string(),
          change: z.enum(['added', 'removed', 'changed']),
          before: fields,
          after: fields,
          fields: texts.describe('which have changed; empty of a change: a secret, which is not shown'),
        }),
      ),
      findings: z.array(finding),
    }),
  ),
})

const codec = z.enum(['none', 'gzip', 'snappy', 'lz4', 'zstd'])

const sizes = {
  sizeInBytes: count.describe("of the sample's batches"),
  ratio: z.number(),
  logSizeInBytes: count.describe('of all batches, by the sample'),
  compressMsPerMiB: z.number().nullable().describe('ms of a processor for a MiB of plain bytes'),
  decompressMsPerMiB: z.number().nullable(),
}

export const whatIfSchema = z.strictObject({
  schema: z.literal('kx/what-if/1'),
  reports: z.array(
    z.strictObject({
      path: z.string(),
      sample: z.strictObject({
        every: count.describe('each so-many-th batch with records is in the sample, beginning with the first'),
        candidates: count.describe('batches with records'),
        candidateBytes: count,
        batches: count.describe('in the sample'),
        leftOut: z.array(
          z.strictObject({
            why: z.enum(['control', 'empty', 'legacy', 'damaged', 'too-large']),
            batches: count,
            sizeInBytes: count,
          }),
        ),
      }),
      plainBytes: count.describe('of the sample, uncompressed'),
      present: z.strictObject({codecs: z.array(codec), ...sizes}),
      outcomes: z.array(z.strictObject({codec, level: integer.nullable(), ...sizes})),
      findings: z.array(finding),
    }),
  ),
})
