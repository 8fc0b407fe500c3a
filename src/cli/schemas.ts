import {z} from 'zod'
import type {ClusterStatus} from '../cluster/lifecycle.js'
import type {RunRecord} from '../experiment/run.js'
import {
  dumpLogLineSchema,
  dumpLogSchema,
  dumpLogStatsSchema,
  explainSchema,
  salvageSchema,
  verifySchema,
} from './dump-log-schemas.js'
import type {Failure} from './failure.js'
import {metadataDiffSchema, metadataStateSchema, whatIfSchema} from './metadata-schemas.js'
import {diffReplicasSchema} from './schemas-diff.js'

/**
 * What `-o json` and `-o yaml` print, one schema per kind of answer. `schemas/*.json` are made from these, and the
 * tests hold every command's answer against them.
 */
const claim = z.strictObject({
  claim: z.string(),
  quantifier: z.enum(['always', 'sometimes', 'ordered', 'control']),
  outcome: z.enum(['upheld', 'refuted', 'inconclusive']),
  because: z.string(),
  telling: z.number().int().describe('trials that could have shown the opposite'),
})

const verdict = z.strictObject({
  outcome: z.enum(['upheld', 'refuted', 'inconclusive']),
  claims: z.array(claim),
  because: z.string().optional(),
})

const spec = z.strictObject({
  brokers: z.number().int(),
  controllers: z.number().int().describe('isolated controllers; 0: the brokers are controllers too'),
  kafkaVersion: z.string(),
  profile: z.enum(['default', 'fast']),
  features: z.record(z.string(), z.number().int()),
  config: z.record(z.string(), z.string()),
  heapMiB: z.number(),
  compiler: z.enum(['full', 'c1']),
})

const environment = z.strictObject({
  kx: z.string(),
  node: z.string(),
  kafka: z.string(),
  runtime: z.enum(['docker', 'local']),
  platform: z.string(),
  cpu: z.string(),
  cpus: z.number().int(),
  memoryMiB: z.number(),
  features: z.record(z.string(), z.number()),
  brokerConfig: z.record(z.string(), z.string()),
  experimentHash: z.string().describe("SHA-256 of the experiment's file"),
})

const measure = z.strictObject({
  condition: z.string(),
  measure: z.string(),
  label: z.string(),
  unit: z.string(),
  n: z.number().int(),
  median: z.number().nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
})

const trial = z.strictObject({
  number: z.number().int(),
  condition: z.string(),
  outcome: z.enum(['ok', 'inconclusive', 'failed']),
  reason: z.string().optional(),
  durationMs: z.number(),
  measures: z.record(z.string(), z.number().nullable()),
})

export const runSchema = z.strictObject({
  schema: z.literal('kx/run/1'),
  experiment: z.string(),
  id: z.string(),
  startedAt: z.iso.datetime(),
  dir: z.string().describe("the run's folder; in run.json itself `.`"),
  durationMs: z.number(),
  seed: z.number().int(),
  quick: z.boolean(),
  environment,
  cluster: z.strictObject({name: z.string(), ephemeral: z.boolean(), spec}),
  knobs: z.record(z.string(), z.number()),
  asked: z
    .strictObject({
      trials: z.number().int().optional(),
      heapMiB: z.number().int().optional(),
      image: z.string().optional(),
      kafkaHome: z.string().optional(),
    })
    .optional()
    .describe('flags as they were given'),
  question: z.string(),
  hypothesis: z.string(),
  doesNotShow: z.string(),
  shows: z.array(z.string()),
  conditions: z.array(z.strictObject({id: z.string(), label: z.string(), planned: z.number().int()})),
  verdict,
  trials: z.array(trial),
  measures: z.array(measure),
  example: z.string().optional(),
  notes: z.array(z.string()),
  state: z.enum(['running', 'done', 'interrupted', 'failed']),
  columns: z.array(
    z.strictObject({measure: z.string(), label: z.string(), short: z.string(), unit: z.string(), detail: z.boolean()}),
  ),
}) satisfies z.ZodType<RunRecord>

const node = z.strictObject({
  nodeId: z.number().int(),
  roles: z.array(z.enum(['broker', 'controller'])),
  state: z.enum(['running', 'paused', 'stopped', 'killed']),
  address: z.string(),
  pid: z.number().int().optional().describe('local, while the node is up'),
  container: z.string().optional().describe('docker'),
})

const clusterShape = {
  name: z.string(),
  runtime: z.enum(['docker', 'local']),
  kafkaVersion: z.string(),
  newerThanKnown: z.boolean(),
  profile: z.enum(['default', 'fast']),
  phase: z.enum(['starting', 'up', 'down']),
  ephemeral: z.boolean(),
  ready: z.boolean(),
  missing: z.string().optional().describe('what is missing, if it is not ready'),
  bootstrapServers: z.string(),
  nodes: z.array(node),
  controllerId: z.number().int().nullable().describe('the active controller; null if no broker could say'),
}

export const clusterSchema = z.strictObject(clusterShape) satisfies z.ZodType<ClusterStatus>

export const statusSchema = z.union([clusterSchema, z.array(clusterSchema)])

export const upSchema = z.strictObject({...clusterShape, outcome: z.enum(['started', 'restarted', 'running'])})

export const downSchema = z.strictObject({name: z.string(), wiped: z.boolean(), wasRunning: z.boolean()})

const cleaned = z.array(z.strictObject({name: z.string(), why: z.string()}))
export const cleanSchema = z.strictObject({removed: cleaned, kept: cleaned})

export const healSchema = z.array(
  z.strictObject({
    name: z.string(),
    cures: z.array(
      z.strictObject({
        nodeId: z.number().int(),
        cure: z.enum(['resume', 'start']),
        was: z.enum(['running', 'paused', 'stopped', 'killed']),
        because: z.string().optional(),
      }),
    ),
    busy: z.string().optional().describe('why it was left alone'),
    topics: z.array(z.string()).describe('deleted: an experiment of a killed kx had left them'),
  }),
)

export const doctorSchema = z.strictObject({
  healthy: z.boolean().describe('a cluster can be started here'),
  findings: z.array(
    z.strictObject({
      id: z.string(),
      level: z.enum(['ok', 'warning', 'problem']),
      what: z.string(),
      cure: z.string().optional(),
      affects: z.string().optional(),
      blocks: z.enum(['docker', 'local', 'all']).optional(),
    }),
  ),
  fixed: z.string().optional(),
})

export const experimentListSchema = z.array(
  z.strictObject({
    name: z.string(),
    question: z.string(),
    shows: z.array(z.string()),
    seconds: z.number(),
    quickSeconds: z.number(),
  }),
)

export const experimentSchema = z.strictObject({
  name: z.string(),
  question: z.string(),
  hypothesis: z.string(),
  doesNotShow: z.string(),
  shows: z.array(z.string()),
  reach: z.enum(['reads', 'own-topics', 'cluster', 'brokers']),
  apparatus: z.strictObject({
    controllers: z.number().int(),
    topics: z.record(
      z.string(),
      z.strictObject({replicationFactor: z.number().int(), config: z.record(z.string(), z.string())}),
    ),
    profile: z.enum(['default', 'fast']).optional(),
  }),
  conditions: z.array(
    z.strictObject({id: z.string(), label: z.string(), blows: z.number().int(), quickBlows: z.number().int()}),
  ),
  given: z.array(z.string()),
  knobs: z.record(
    z.string(),
    z.strictObject({
      kind: z.literal('integer'),
      default: z.number(),
      summary: z.string(),
      min: z.number(),
      max: z.number(),
    }),
  ),
  measures: z.array(z.strictObject({id: z.string(), label: z.string(), unit: z.string()})),
})

export const resultsSchema = z.array(
  z.strictObject({
    experiment: z.string(),
    id: z.string(),
    startedAt: z.iso.datetime(),
    state: z.enum(['running', 'done', 'interrupted', 'failed']),
    outcome: z.enum(['upheld', 'refuted', 'inconclusive']),
    kafka: z.string(),
    runtime: z.string(),
    durationMs: z.number(),
    trials: z.number().int(),
    seed: z.number().int(),
    dir: z.string(),
  }),
)

export const rejudgeSchema = z.strictObject({run: runSchema, changed: z.array(z.string())})

const failure = z.strictObject({
  kind: z.enum(['usage', 'environment', 'input', 'inconclusive', 'interrupted', 'internal']),
  code: z.string().regex(/^KX_[A-Z0-9_]+$/),
  message: z.string(),
  suggestions: z.array(z.string()),
  cause: z.string().nullable(),
  exit: z.number().int(),
  stack: z.string().optional().describe('only of a bug'),
}) satisfies z.ZodType<Failure>

export const errorSchema = z.strictObject({error: failure})

export const ciSchema = z.strictObject({
  schema: z.literal('kx/ci/1'),
  set: z.string(),
  cases: z.array(
    z.strictObject({
      experiment: z.string(),
      outcome: z.enum(['upheld', 'refuted', 'inconclusive', 'error']),
      durationMs: z.number(),
      run: runSchema.optional(),
      failure: failure.optional(),
    }),
  ),
  durationMs: z.number(),
  exit: z.number().int(),
  artifacts: z
    .strictObject({folder: z.string(), files: z.number(), sizeInBytes: z.number(), omitted: z.array(z.string())})
    .optional(),
})

/** Every file of `schemas/`, and which commands print it. */
export const schemas = {
  run: {title: 'kx experiment NAME, kx results show, run.json', schema: runSchema},
  status: {title: 'kx status', schema: statusSchema},
  up: {title: 'kx up', schema: upSchema},
  down: {title: 'kx down', schema: downSchema},
  clean: {title: 'kx clean', schema: cleanSchema},
  heal: {title: 'kx heal', schema: healSchema},
  doctor: {title: 'kx doctor', schema: doctorSchema},
  'experiment-list': {title: 'kx experiment list', schema: experimentListSchema},
  experiment: {title: 'kx experiment show', schema: experimentSchema},
  results: {title: 'kx results list', schema: resultsSchema},
  rejudge: {title: 'kx results rejudge', schema: rejudgeSchema},
  ci: {title: 'kx ci', schema: ciSchema},
  'diff-replicas': {title: 'kx diff-replicas', schema: diffReplicasSchema},
  'dump-log': {title: 'kx dump-log -o json', schema: dumpLogSchema},
  'dump-log-line': {title: 'a line of kx dump-log -o ndjson', schema: dumpLogLineSchema},
  'dump-log-stats': {title: 'kx dump-log --stats -o json', schema: dumpLogStatsSchema},
  'metadata-state': {title: 'kx dump-log --state -o json', schema: metadataStateSchema},
  'metadata-diff': {title: 'kx dump-log --state --against … -o json', schema: metadataDiffSchema},
  'what-if': {title: 'kx dump-log --what-if -o json', schema: whatIfSchema},
  verify: {title: 'kx dump-log --verify -o json', schema: verifySchema},
  explain: {title: 'kx dump-log --explain -o json', schema: explainSchema},
  salvage: {title: 'kx dump-log --salvage -o json', schema: salvageSchema},
  error: {title: 'every command, when it fails', schema: errorSchema},
} as const

export function jsonSchema(name: keyof typeof schemas): string {
  const {title, schema} = schemas[name]
  return `${JSON.stringify({title, ...z.toJSONSchema(schema)}, null, 2)}\n`
}
