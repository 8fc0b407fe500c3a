import {createHash, randomBytes} from 'node:crypto'
import {cp, mkdir, mkdtemp, rename, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {KxError} from '../../util/errors.js'
import {brokerConfig, type Place, toProperties} from '../broker-config.js'
import type {Role} from '../cluster.js'
import type {ClusterSpec} from '../spec.js'
import {jvmEnvironment, type KafkaJvm, toolOptions} from './jvm.js'
import {runTool} from './process.js'

export interface NodeToFormat {
  readonly nodeId: number
  readonly roles: readonly Role[]
  readonly place: Place
}

export interface FormatRequest {
  readonly jvm: KafkaJvm
  readonly spec: ClusterSpec
  readonly clusterId: string
  readonly nodes: readonly NodeToFormat[]
  /** Where formatted folders are kept for the next cluster. */
  readonly cache: string
  /** For what is written on the way. */
  readonly work: string
  readonly signal: AbortSignal
}

/**
 * Formats the log directories of all nodes. What `kafka-storage format` writes depends on the Kafka version, the
 * features and the node's roles, and apart from `meta.properties` on nothing else: so Kafka's own tool runs once per
 * kind of node, and every further node gets a copy with its own `meta.properties`. That spares a JVM (0.8 to 2 s of
 * CPU) per node and start.
 * @throws KxError KX_FORMAT (usage) with the tool's own words, e.g. for a feature that this version does not have
 */
export async function formatNodes(request: FormatRequest): Promise<void> {
  const kinds = new Map(request.nodes.map(node => [kindOf(node), node]))
  const templates = new Map<string, string>()
  await Promise.all(
    [...kinds].map(async ([kind, node]) => {
      templates.set(kind, await template(request, node))
    }),
  )
  for (const node of request.nodes) {
    const {logDir} = node.place
    await mkdir(logDir, {recursive: true})
    await cp(templates.get(kindOf(node)) as string, logDir, {recursive: true})
    await writeFile(join(logDir, 'meta.properties'), metaProperties(request.clusterId, node.nodeId))
  }
}

/** As Kafka's `Uuid.randomUuid().toString()`: 16 random bytes in URL-safe base64, never with a dash in front. */
export function randomUuid(): string {
  for (;;) {
    const text = randomBytes(16).toString('base64url')
    if (!text.startsWith('-')) return text
  }
}

/** Version 1 of the file (org.apache.kafka.metadata.properties.MetaProperties), with a new directory id. */
export function metaProperties(clusterId: string, nodeId: number): string {
  return toProperties({
    version: '1',
    'cluster.id': clusterId,
    'node.id': String(nodeId),
    'directory.id': randomUuid(),
  })
}

function kindOf({roles}: NodeToFormat): string {
  return roles.join('-')
}

/** Snapshots carry the time of their making: an old one would meet `metadata.max.retention.ms` (7 days) at once. */
const templateLivesMs = 24 * 3_600_000

async function template(request: FormatRequest, node: NodeToFormat): Promise<string> {
  const features = JSON.stringify(Object.entries(request.spec.features).sort())
  const hash = createHash('sha256').update(`${request.jvm.fingerprint}\n${features}\n${kindOf(node)}`)
  const kept = join(request.cache, 'format', hash.digest('hex').slice(0, 16))
  const made = await stat(kept).catch(() => undefined)
  if (made && Date.now() - made.mtimeMs < templateLivesMs) return kept
  const folder = join(request.work, `format-${kindOf(node)}`)
  await runFormatter(request, node, folder)
  await rm(join(folder, 'meta.properties'))
  // Keeping it is a convenience: a cache that can't be written must not keep a cluster from starting.
  await keep(folder, kept, request.cache).catch(() => undefined)
  return folder
}

async function keep(folder: string, kept: string, cache: string): Promise<void> {
  await mkdir(join(cache, 'format'), {recursive: true})
  const draft = await mkdtemp(join(cache, 'format', '.new-'))
  try {
    await cp(folder, draft, {recursive: true})
    await rm(kept, {recursive: true, force: true})
    await rename(draft, kept)
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

async function runFormatter(request: FormatRequest, node: NodeToFormat, folder: string): Promise<void> {
  const {jvm, spec, clusterId, signal} = request
  const properties = `${folder}.properties`
  await mkdir(folder, {recursive: true})
  // Without the user's settings: they don't change what is written, and a wrong one is the broker's to name.
  await writeFile(
    properties,
    toProperties(brokerConfig({...spec, config: {}}, node.nodeId, {...node.place, logDir: folder})),
  )
  const features = Object.entries(spec.features).flatMap(([name, level]) => ['--feature', `${name}=${level}`])
  const {exitCode, stdout, stderr} = await runTool({
    executable: jvm.java.executable,
    args: [...toolOptions, 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', properties, ...features],
    env: jvmEnvironment(jvm),
    what: `kafka-storage format for node ${node.nodeId}`,
    timeoutMs: 120_000,
    signal,
  })
  if (exitCode === 0) return
  const words = `${stderr}\n${stdout}`
    .split('\n')
    .filter(line => line.trim() !== '' && !/SLF4J|StatusLogger|^\s+at |Picked up/.test(line))
  throw new KxError(
    Object.keys(spec.features).length > 0 ? 'usage' : 'environment',
    'KX_FORMAT',
    `kafka-storage format of Kafka ${jvm.kafkaVersion} refused node ${node.nodeId}: ${words.slice(0, 3).join(' ') || `exit code ${exitCode}`}`,
    {suggestions: ['Give only features and levels that this version of Kafka has, or none: then it takes its own.']},
  )
}
