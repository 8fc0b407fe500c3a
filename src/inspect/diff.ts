import {basename, resolve, sep} from 'node:path'
import {nameOf} from '../kafka/topic-partition.js'
import {diffReplicas} from '../log/diff/compare.js'
import type {ReplicaDiff, ReplicaInput} from '../log/diff/types.js'
import {KxError} from '../util/errors.js'
import {bytes, list, plural} from '../util/format.js'
import {DiskFolder, inspected} from './files.js'
import {type LiveRequest, openReplicas} from './live.js'

/** The replicas of one partition, compared. */
export interface PartitionDiff extends ReplicaDiff {
  /** `orders-0`; `null` where folders were given whose names do not agree. */
  readonly partition: string | null
  readonly cluster: string | null
  /** What could not be compared, a sentence each. */
  readonly notes: readonly string[]
}

export interface DiffRun {
  readonly signal: AbortSignal
  readonly progress: (text: string) => void
}

/** How deep partitions are looked for in a folder: `evidence/trial-2/broker-1/orders-0`. */
const deepest = 4

/**
 * Compares folders. Folders with segments are the replicas of one partition; in others the partitions are looked for,
 * and those of the same name are compared with each other.
 * @throws KxError KX_USAGE (usage) if there are not two replicas of anything; KX_FILE_MISSING and others (input)
 */
export async function diffFolders(paths: readonly string[], run: DiffRun): Promise<PartitionDiff[]> {
  const found: string[] = []
  let searched = 0
  for (const path of paths) {
    const replicas = await replicasIn(path, 0)
    if (replicas.length === 1 && replicas[0] === path) found.push(path)
    else {
      if (replicas.length === 0) throw noLog(path)
      searched++
      found.push(...replicas)
    }
  }
  const groups = searched === 0 ? [found] : grouped(found)
  const lone = groups.filter(group => group.length < 2).flat()
  const compared = groups.filter(group => group.length >= 2)
  if (compared.length === 0) {
    throw new KxError(
      'usage',
      'KX_USAGE',
      `There is nothing to compare: ${lone.length === 1 ? 'one replica is' : 'no two replicas of one partition are'} named.`,
      {
        suggestions: [
          'kx diff-replicas /var/kafka-1/orders-0 /var/kafka-2/orders-0',
          'kx diff-replicas --topic orders --partition 0',
        ],
      },
    )
  }
  const diffs: PartitionDiff[] = []
  for (const group of compared) diffs.push(await diffGroup(group, run))
  const [first, ...rest] = diffs
  if (!first || lone.length === 0) return diffs
  return [
    {...first, notes: [`Only one replica of ${list(lone.map(path => basename(path)))} was found: not compared.`]},
    ...rest,
  ]
}

async function diffGroup(paths: readonly string[], {signal, progress}: DiffRun): Promise<PartitionDiff> {
  const labels = labelsOf(paths)
  const folders = paths.map(path => new DiskFolder(path, {signal}))
  try {
    const inputs = folders.map((folder, index): ReplicaInput => ({name: labels[index] ?? folder.path, folder}))
    const partition = commonName(paths)
    const diff = await diffReplicas(inputs, {signal, progress: told(partition ?? 'replicas', progress)})
    return {...diff, partition, cluster: null, notes: []}
  } finally {
    for (const folder of folders) await folder[Symbol.asyncDispose]()
  }
}

/**
 * Compares the replicas of a partition of a running cluster, below its high watermark unless all is wanted.
 * @throws KxError as `openReplicas` does; KX_ONE_REPLICA (usage)
 */
export async function diffLive(
  request: Omit<LiveRequest, 'broker'> & {readonly all: boolean},
  {signal, progress}: DiffRun,
): Promise<PartitionDiff> {
  await using live = await openReplicas({...request, signal})
  const partition = nameOf(live)
  if (live.replicas.length < 2) {
    const why = live.missing.map(one => one.why).join(' ')
    throw new KxError(
      'usage',
      'KX_ONE_REPLICA',
      `${partition} has ${plural(live.replicas.length, 'replica')} that can be read; two are compared. ${why}`.trim(),
      {
        suggestions: ['kx status shows the nodes.'],
      },
    )
  }
  const notes = live.missing.map(({why}) => why)
  const highWatermark = live.replicas.find(one => one.highWatermark !== undefined)?.highWatermark
  if (highWatermark === undefined && !request.all) {
    notes.push(
      `Nobody says what the high watermark of ${partition} is (it has no leader that answers), so all was compared.`,
    )
  }
  const logStartOffset = live.replicas.find(one => one.logStartOffset !== undefined)?.logStartOffset
  const inputs = live.replicas.map((folder): ReplicaInput => {
    const role = folder.role === 'leader' ? 'leader' : folder.role === 'unknown' ? undefined : 'follower'
    return {
      name: `${folder.isBroker ? 'broker' : 'controller'} ${folder.brokerId}`,
      folder,
      sizeOf: name => folder.sizeOf(name),
      ...(role && {role}),
    }
  })
  const diff = await diffReplicas(inputs, {
    signal,
    progress: told(partition, progress),
    ...(logStartOffset !== undefined && {logStartOffset}),
    ...(highWatermark !== undefined && !request.all && {upTo: highWatermark}),
  })
  return {...diff, partition, cluster: live.cluster, notes}
}

/** What is done in a moment needs no telling. */
const toldFrom = 64 * 1_048_576
const toldEvery = 16 * 1_048_576

function told(what: string, progress: (text: string) => void): (done: number, total: number) => void {
  let before = 0
  return (done, total) => {
    if (total < toldFrom || (done < total && done - before < toldEvery)) return
    before = done
    progress(`comparing ${what}: ${bytes(done)} of ${bytes(total)}`)
  }
}

/** The folders below a path that hold segments; the path itself, if it does. */
async function replicasIn(path: string, depth: number): Promise<string[]> {
  const found = await inspected(path)
  if (!found.isDirectory()) {
    if (depth > 0) return []
    throw new KxError('usage', 'KX_USAGE', `${path} is a file; the folders of partitions are compared.`, {
      suggestions: ['Name the folders that the files lie in.', `kx dump-log ${path}`],
    })
  }
  const names = await new DiskFolder(path).list()
  if (names.some(name => name.endsWith('.log'))) return [path]
  if (depth === deepest) return []
  const below: string[] = []
  for (const name of names) {
    const inner = `${path.replace(/\/+$/, '')}/${name}`
    const isFolder = await inspected(inner).then(
      stats => stats.isDirectory(),
      () => false,
    )
    if (isFolder) below.push(...(await replicasIn(inner, depth + 1)))
  }
  return below
}

function noLog(path: string): KxError {
  return new KxError('input', 'KX_NO_SEGMENT', `${path} has no segment (*.log), and no folder with one.`, {
    suggestions: ['Name the folders of one partition, e.g. /var/kafka-1/orders-0 /var/kafka-2/orders-0.'],
  })
}

function grouped(paths: readonly string[]): string[][] {
  const groups = new Map<string, string[]>()
  for (const path of paths) {
    const name = basename(resolve(path))
    groups.set(name, [...(groups.get(name) ?? []), path])
  }
  return [...groups.values()]
}

function commonName(paths: readonly string[]): string | null {
  const [name, ...others] = new Set(paths.map(path => basename(resolve(path))))
  return others.length === 0 ? (name ?? null) : null
}

/** The parts of the paths in which they differ: `broker-1` and `broker-2` of `a/broker-1/orders-0` and `a/broker-2/orders-0`. */
function labelsOf(paths: readonly string[]): string[] {
  const split = paths.map(path => resolve(path).split(sep))
  const longest = Math.max(...split.map(parts => parts.length))
  if (split.some(parts => parts.length !== longest)) return unique([...paths])
  const differing = Array.from({length: longest}, (_, index) => index).filter(
    index => new Set(split.map(parts => parts[index])).size > 1,
  )
  return unique(split.map(parts => differing.map(index => parts[index]).join('/')))
}

/** The same folder may be named twice. */
function unique(labels: readonly string[]): string[] {
  return labels.map((label, index) =>
    label === '' || labels.indexOf(label) !== index ? `${label === '' ? 'replica' : label} #${index + 1}` : label,
  )
}
