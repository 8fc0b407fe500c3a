import {grouped} from '../../util/format.js'
import {type FileName, parseFileName} from '../files/names.js'
import {isTextFileKind, readTextFile, textFindings} from '../files/text-files.js'
import type {Folder, OpenFile} from '../folder.js'
import type {RunMark} from './epochs.js'
import type {FindingList} from './finding-list.js'
import {KraftSnapshotCheck} from './kraft-check.js'
import {PartitionCheck} from './partition-check.js'
import {
  besideNames,
  type FolderNames,
  folderNames,
  openBeside,
  openIn,
  readEpochs,
  type SegmentName,
  snapshotAt,
} from './partition-folder.js'
import {release} from './release.js'
import type {BesideState, LogSummary, OtherFile, SegmentSummary, VerifyOptions} from './report.js'
import type {SegmentCheck} from './segment-check.js'
import {SnapshotCheck} from './snapshot-check.js'

/** What is known of a partition from outside its folder. */
export interface PartitionContext {
  readonly topic?: string | undefined
  /** `.kafka_cleanshutdown` lies in the log dir. */
  readonly wasClosed?: boolean
}

export interface PartitionResult {
  readonly check: PartitionCheck
  readonly segments: readonly SegmentSummary[]
  readonly log: LogSummary
  readonly otherFiles: readonly OtherFile[]
  readonly topicId?: string
}

/** All files of a partition's folder, each log read once from its beginning to its end. */
export async function verifyPartition(
  folder: Folder,
  options: VerifyOptions,
  context: PartitionContext,
  list: FindingList,
): Promise<PartitionResult> {
  const names = await folderNames(folder)
  const first = names.segments[0]
  const seed = first && first.offset > 0n ? await snapshotAt(folder, first.offset, list) : undefined
  const check = new PartitionCheck(list, {
    ...options,
    topic: context.topic,
    isComplete: first === undefined || first.offset === 0n,
    epochs: await readEpochs(folder, names, list),
    wasClosed: context.wasClosed ?? false,
  })
  if (seed) await check.seed(seed)
  const segments = await verifySegments(folder, names, check, options)
  check.finish()
  tellNames(folder, names, list)
  const others = await otherFiles(folder, names, check, options)
  return {check, segments, log: check.summary(), ...others}
}

async function verifySegments(
  folder: Folder,
  names: FolderNames,
  check: PartitionCheck,
  options: VerifyOptions,
): Promise<SegmentSummary[]> {
  const {list} = check
  const hasIndexes = names.segments.some(({name}) => names.has(besideNames(parseFileName(name)).index))
  const summaries: SegmentSummary[] = []
  const total = options.progress ? await totalSize(folder, names, list) : 0
  let done = 0
  for (const [n, segment] of names.segments.entries()) {
    options.signal?.throwIfAborted()
    const file = await openIn(folder, segment.name, list)
    if (!file) continue
    const next = names.segments[n + 1]
    const name = parseFileName(segment.name)
    const beside = await openBeside(folder, name, segment.offset, list)
    const before = marks(check)
    const progress = options.progress
    const pass = await check.segment(
      {
        file,
        place: {file: file.path, baseOffset: segment.offset, nextBaseOffset: next?.offset},
        isActive: next === undefined,
        ...beside,
        snapshots: await snapshotsIn(folder, names, segment, next, n === 0, list),
      },
      undefined,
      progress && (bytes => progress(done + bytes, total)),
    )
    done += file.size
    await release(file)
    if (hasIndexes) tellMissing(folder, names, name, list)
    summaries.push(summaryOf(folder, names, segment, next === undefined, check, pass, {before, hasIndexes}))
  }
  if (!hasIndexes && summaries.length > 0) {
    list.add('not-checked', {
      file: folder.path,
      explanation:
        'no segment has an offset index: the folder is a copy without them, and nothing was compared with them',
    })
  }
  return summaries
}

async function totalSize(folder: Folder, names: FolderNames, list: FindingList): Promise<number> {
  let total = 0
  for (const {name} of names.segments) {
    const file = await openIn(folder, name, list)
    total += file?.size ?? 0
    await release(file)
  }
  return total
}

/** Snapshots whose offset lies behind the segment's base offset, up to the next one's. */
async function snapshotsIn(
  folder: Folder,
  names: FolderNames,
  segment: SegmentName,
  next: SegmentName | undefined,
  isFirst: boolean,
  list: FindingList,
): Promise<SnapshotCheck[]> {
  const checks: SnapshotCheck[] = []
  for (const {name, offset} of names.snapshots) {
    const isHere = offset > segment.offset && (next === undefined || offset <= next.offset)
    const isBefore = isFirst && offset < segment.offset
    if (!isHere && !isBefore) continue
    const file = await openIn(folder, name, list)
    const check = file && (await SnapshotCheck.open(file, offset, list, true))
    if (check && isHere) checks.push(check)
    else await check?.release()
  }
  return checks
}

function tellMissing(folder: Folder, names: FolderNames, log: FileName, list: FindingList): void {
  const {index, timeIndex} = besideNames(log)
  if (!names.has(index)) {
    list.add('index-missing', {file: `${folder.path}/${log.name}`, explanation: `there is no ${index} beside it`})
  }
  if (!names.has(timeIndex)) {
    list.add('timeindex-missing', {
      file: `${folder.path}/${log.name}`,
      explanation: `there is no ${timeIndex} beside it`,
    })
  }
}

interface Marks {
  readonly runs: number
  readonly run: RunMark | undefined
  readonly committed: number
  readonly aborted: number
  readonly withoutData: number
  readonly missing: bigint
  readonly findings: number
}

function marks({epochs, transactions, order, list}: PartitionCheck): Marks {
  const {committed, aborted, withoutData} = transactions
  const findings = list.count('error', 'warning')
  return {
    runs: epochs.runs.length,
    run: epochs.mark(),
    committed,
    aborted,
    withoutData,
    missing: order.missing,
    findings,
  }
}

function summaryOf(
  folder: Folder,
  names: FolderNames,
  {name, offset}: SegmentName,
  isActive: boolean,
  check: PartitionCheck,
  pass: SegmentCheck,
  {before, hasIndexes}: {readonly before: Marks; readonly hasIndexes: boolean},
): SegmentSummary {
  const {transactions, epochs, list} = check
  const beside = besideNames(parseFileName(name))
  const state = (file: string, isNeeded: boolean): BesideState => {
    if (!names.has(file)) return isNeeded && hasIndexes ? 'missing' : 'absent'
    return list.countOf(`${folder.path}/${file}`) > 0 ? 'findings' : 'ok'
  }
  return {
    name,
    baseOffset: offset,
    isActive,
    ...pass.tally.summary({
      producers: [],
      producerCount: pass.producerIds.size,
      leaderEpochs: epochs.since(before.run, before.runs),
      transactions: {
        committed: transactions.committed - before.committed,
        aborted: transactions.aborted - before.aborted,
        withoutData: transactions.withoutData - before.withoutData,
        open: [],
        abortedRanges: [],
      },
      isCompacted: check.isCompacted,
      missingOffsets: check.order.missing - before.missing,
    }),
    offsetIndex: state(beside.index, true),
    timeIndex: state(beside.timeIndex, true),
    transactionIndex: state(beside.transactionIndex, false),
    findings: list.count('error', 'warning') - before.findings,
  }
}

/** What the names alone say: index files without a log, files that wait for their deletion. */
function tellNames(folder: Folder, names: FolderNames, list: FindingList): void {
  const logs = new Set(names.segments.map(({offset}) => offset))
  let unfinished = 0
  for (const {name, role, offset, states} of names.all) {
    const path = `${folder.path}/${name}`
    if (states.some(state => state !== 'gz')) {
      unfinished++
      continue
    }
    const isIndex = role === 'offset-index' || role === 'time-index' || role === 'transaction-index'
    if (isIndex && offset !== undefined && !logs.has(offset)) {
      list.add('orphan-file', {file: path, explanation: 'no log of this base offset is beside it'})
    }
    if (role === 'log' && offset === undefined) {
      list.add('file-name', {file: path, explanation: 'the name does not begin with the base offset'})
    }
  }
  if (unfinished === 0) return
  const explanation = `${grouped(unfinished)} ${unfinished === 1 ? 'file waits for its' : 'files wait for their'} deletion or for being put in place (.deleted, .cleaned, .swap, .part, .tmp)`
  list.add('unfinished', {file: folder.path, explanation})
}

async function otherFiles(
  folder: Folder,
  names: FolderNames,
  check: PartitionCheck,
  options: VerifyOptions,
): Promise<{otherFiles: OtherFile[]; topicId?: string}> {
  const {list} = check
  const files: OtherFile[] = []
  const logs = new Set(names.segments.map(({name}) => name))
  let topicId: string | undefined
  for (const name of names.all) {
    if (logs.has(name.name) || name.role === undefined) continue
    const file = await openIn(folder, name.name, list)
    if (!file) continue
    files.push({name: name.name, role: name.role, sizeInBytes: file.size})
    if (name.role === 'snapshot-log') await verifySnapshotOf(file, name, names, check, options)
    else if (isTextFileKind(name.role) && name.role !== 'leader-epoch-checkpoint') {
      const parsed = await readTextFile(name.role, file)
      for (const finding of textFindings(parsed, file.path)) list.take(finding)
      if (parsed.kind === 'partition-metadata') topicId = parsed.topicId
      if (parsed.kind === 'quorum-state') checkQuorum(parsed.leaderEpoch, file.path, check)
    }
    await release(file)
  }
  return topicId === undefined ? {otherFiles: files} : {otherFiles: files, topicId}
}

async function verifySnapshotOf(
  file: OpenFile,
  name: FileName,
  names: FolderNames,
  check: PartitionCheck,
  options: VerifyOptions,
): Promise<void> {
  const kraft = new KraftSnapshotCheck(check.list, file.path, name)
  await verifyKraftSnapshot(file, kraft, options, check.list)
  if (check.tally.firstOffset === undefined) return
  const [first, end] = [names.segments[0]?.offset ?? 0n, check.order.next ?? 0n]
  kraft.fits({first, end, epochs: check.epochs.runs})
}

function checkQuorum(leaderEpoch: number | undefined, file: string, {epochs, list}: PartitionCheck): void {
  if (leaderEpoch === undefined || leaderEpoch >= epochs.newest) return
  list.add('quorum-epoch', {file, explanation: `it says epoch ${leaderEpoch}, and the log has epoch ${epochs.newest}`})
}

/** A `.checkpoint`: batches and records as in a log, and what only a snapshot must be. */
export async function verifyKraftSnapshot(
  file: OpenFile,
  kraft: KraftSnapshotCheck,
  options: VerifyOptions,
  list: FindingList,
): Promise<PartitionCheck> {
  const check = new PartitionCheck(list, {...options, topic: '__cluster_metadata', isComplete: true})
  await check.segment({file, place: {file: file.path, baseOffset: 0n}, isActive: false, snapshots: []}, kraft)
  check.finish()
  kraft.finish(file.size)
  return check
}
