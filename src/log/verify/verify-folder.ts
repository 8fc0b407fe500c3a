import {type FileRole, parseFolderName} from '../files/names.js'
import {type Folder, folderName} from '../folder.js'
import {logDirConclusions, partitionConclusions} from './conclusions.js'
import {FindingList} from './finding-list.js'
import {checkOffsets, type LogDirFacts, readLogDir, tellMissingPartitions, topicIds} from './log-dir.js'
import {folderNames, type FolderNames, openIn} from './partition-folder.js'
import {release} from './release.js'
import type {FolderReport, FolderTree, OtherFile, VerifyOptions} from './report.js'
import {verifyFile} from './verify-file.js'
import {type PartitionContext, type PartitionResult, verifyPartition} from './verify-partition.js'

const metadataFolder = '__cluster_metadata-0'
const logDirRoles: ReadonlySet<FileRole> = new Set(['meta-properties', 'offset-checkpoint', 'clean-shutdown', 'lock'])

/**
 * Overview and checks of a folder, each log read once: a partition's folder, or (if subfolders can be opened) a log dir or
 * metadata dir with the partitions in it. Files that can't be read become findings.
 */
export async function verifyFolder(folder: Folder | FolderTree, options: VerifyOptions = {}): Promise<FolderReport> {
  const list = new FindingList(options.findingsPerCode)
  const named = parseFolderName(folderName(folder))
  const names = await folderNames(folder)
  if (isPartitionFolder(names, named !== undefined)) {
    const result = await verifyPartition(folder, options, {topic: named?.topic}, list)
    return partitionReport(folder, named, result, list)
  }
  return verifyLogDir(
    folder,
    names.all.map(({name}) => name),
    options,
    list,
  )
}

/** A log dir may be called `kafka-logs-0`: its name alone makes it no partition, and what only a log dir has, none. */
function isPartitionFolder({segments, all}: FolderNames, isNamedSo: boolean): boolean {
  if (segments.length > 0) return true
  if (all.some(({role}) => role === 'leader-epoch-checkpoint' || role === 'partition-metadata')) return true
  if (all.some(({role}) => role !== undefined && logDirRoles.has(role))) return false
  return isNamedSo && all.some(({role, isBootstrap}) => role !== undefined && !isBootstrap)
}

function partitionReport(
  folder: Folder,
  named: ReturnType<typeof parseFolderName>,
  {check, segments, log, otherFiles}: PartitionResult,
  list: FindingList,
  recoveryPoint?: bigint,
): FolderReport {
  return {
    path: folder.path,
    kind: 'partition',
    ...(named ? {topic: named.topic, partition: named.partition} : {}),
    segments,
    log,
    otherFiles,
    partitions: [],
    findings: list.findings,
    findingCounts: list.counts,
    conclusions: partitionConclusions({check, segments, log, list, recoveryPoint}),
  }
}

async function verifyLogDir(
  folder: Folder | FolderTree,
  names: readonly string[],
  options: VerifyOptions,
  list: FindingList,
): Promise<FolderReport> {
  const facts = await readLogDir(folder, list)
  const partitions: FolderReport[] = []
  const there = new Set<string>()
  const ids = new Map<string, {report: FolderReport; topicId: string}>()
  let known: ReadonlyMap<string, string> | undefined
  for (const name of names) {
    const named = parseFolderName(name)
    const sub = named && 'folder' in folder ? await folder.folder(name) : undefined
    if (!named || !sub) continue
    options.signal?.throwIfAborted()
    there.add(`${named.topic}-${named.partition}`)
    const isMetadata = name === metadataFolder
    const {report, topicId} = await verifySub(sub, name, facts, options, isMetadata)
    if (isMetadata) known = await topicIds(sub, list)
    await release(sub)
    partitions.push(report)
    if (topicId !== undefined) ids.set(name, {report, topicId})
  }
  if (partitions.length > 0) tellMissingPartitions(facts, there, list)
  if (known) tellTopicIds(known, ids, list)
  const otherFiles = [...facts.otherFiles]
  for (const name of names) {
    if (otherFiles.some(file => file.name === name)) continue
    const other = await verifyOther(folder, name, options, list)
    if (other) otherFiles.push(other)
  }
  const isLogDir = facts.isLogDir || partitions.length > 0
  return {
    path: folder.path,
    kind: isLogDir ? 'log-dir' : 'files',
    segments: [],
    otherFiles,
    partitions,
    findings: list.findings,
    findingCounts: list.counts,
    conclusions: logDirConclusions({wasClosed: facts.wasClosed, isLogDir, partitions, list}),
  }
}

async function verifySub(
  sub: Folder,
  name: string,
  facts: LogDirFacts,
  options: VerifyOptions,
  isMetadata: boolean,
): Promise<{readonly report: FolderReport; readonly topicId: string | undefined}> {
  const list = new FindingList(options.findingsPerCode)
  const named = parseFolderName(name)
  const key = named ? `${named.topic}-${named.partition}` : name
  const isCleaned = facts.offsets.cleaned.has(key)
  const context: PartitionContext = {topic: named?.topic, wasClosed: facts.wasClosed && !isMetadata}
  const own = isCleaned && options.compacted === undefined ? {...options, compacted: true} : options
  const result = await verifyPartition(sub, own, context, list)
  if (!named?.state) checkOffsets(facts, key, result.log, result.segments[0]?.baseOffset, list)
  const report = partitionReport(sub, named, result, list, facts.offsets.recoveryPoint.get(key))
  return {report, topicId: result.topicId}
}

/** A file that is neither a text file of a log dir nor in a partition's folder: a KRaft snapshot, or a file of any kind. */
async function verifyOther(
  folder: Folder,
  name: string,
  options: VerifyOptions,
  list: FindingList,
): Promise<OtherFile | undefined> {
  const file = await openIn(folder, name, list)
  if (!file) return undefined
  const report = await verifyFile(file, folder, options)
  await release(file)
  const {role, sizeInBytes, entries} = report
  if (role !== 'unknown') list.takeReport(report)
  return {name, role, sizeInBytes, ...(entries === undefined ? {} : {entries})}
}

function tellTopicIds(
  known: ReadonlyMap<string, string>,
  ids: ReadonlyMap<string, {readonly report: FolderReport; readonly topicId: string}>,
  list: FindingList,
): void {
  for (const {report, topicId} of ids.values()) {
    const expected = report.topic === undefined ? undefined : known.get(report.topic)
    if (expected === undefined || expected === topicId) continue
    list.add('topic-id', {
      file: `${report.path}/partition.metadata`,
      explanation: `it says ${topicId}, and ${report.topic} has the id ${expected} in the cluster metadata`,
    })
  }
}
