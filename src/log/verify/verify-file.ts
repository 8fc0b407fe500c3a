import {classify, type FileKind, headBytes} from '../files/kinds.js'
import {type FileName, parseFileName, parseFolderName, siblingName} from '../files/names.js'
import {isTextFileKind, readTextFile, type TextFile, textFindings} from '../files/text-files.js'
import {type Folder, folderName, type OpenFile} from '../folder.js'
import {damageConclusions, kafkaConclusions, partitionConclusions, verdict} from './conclusions.js'
import {FindingList} from './finding-list.js'
import {OffsetIndexCheck} from './offset-index-check.js'
import {TimeIndexCheck} from './time-index-check.js'
import {KraftSnapshotCheck} from './kraft-check.js'
import {PartitionCheck} from './partition-check.js'
import {
  type BesideWanted,
  folderNames,
  type FolderNames,
  openBeside,
  openIn,
  readEpochs,
  snapshotAt,
} from './partition-folder.js'
import type {FileReport, LogSummary, VerifyOptions} from './report.js'
import {SnapshotCheck} from './snapshot-check.js'
import {TransactionIndexCheck} from './transaction-index-check.js'
import {verifyKraftSnapshot} from './verify-partition.js'

interface Outcome {
  readonly conclusions: readonly string[]
  readonly log?: LogSummary
  readonly entries?: number
}

/** One file of any kind, with what lies beside it and belongs to it. Never throws on any bytes. */
export async function verifyFile(file: OpenFile, folder: Folder, options: VerifyOptions = {}): Promise<FileReport> {
  const list = new FindingList(options.findingsPerCode)
  const head = await file.read(0, Math.min(headBytes, file.size))
  const {kind, name, note} = classify(file.name, head, file.size)
  if (note) list.add('file-name', {file: file.path, explanation: note})
  const outcome = await verifyKind(kind, {file, folder, name, options, list})
  return {
    path: file.path,
    name: file.name,
    role: kind,
    sizeInBytes: file.size,
    ...(outcome.log ? {log: outcome.log} : {}),
    ...(outcome.entries === undefined ? {} : {entries: outcome.entries}),
    findings: list.findings,
    findingCounts: list.counts,
    conclusions: outcome.conclusions,
  }
}

interface Task {
  readonly file: OpenFile
  readonly folder: Folder
  readonly name: FileName
  readonly options: VerifyOptions
  readonly list: FindingList
}

async function verifyKind(kind: FileKind, task: Task): Promise<Outcome> {
  switch (kind) {
    case 'log':
      return verifyLog(task)
    case 'snapshot-log':
      return verifyKraft(task)
    case 'offset-index':
      return verifyIndex(task, 'index')
    case 'time-index':
      return verifyIndex(task, 'timeIndex')
    case 'transaction-index':
      return verifyIndex(task, 'transactionIndex')
    case 'producer-snapshot':
      return verifySnapshot(task)
    case 'unknown': {
      const {file, list} = task
      list.add('not-checked', {file: file.path, explanation: 'neither the name nor the bytes say what the file is'})
      return {conclusions: verdict(list)}
    }
    default:
      return isTextFileKind(kind) ? verifyText(task, kind) : {conclusions: []}
  }
}

async function verifyText({file, list}: Task, kind: Parameters<typeof readTextFile>[0]): Promise<Outcome> {
  const parsed = await readTextFile(kind, file)
  for (const finding of textFindings(parsed, file.path)) list.take(finding)
  return {conclusions: [...verdict(list), ...kafkaConclusions(list, false)], ...entriesOf(parsed)}
}

function entriesOf(parsed: TextFile): {readonly entries?: number} {
  return 'entries' in parsed ? {entries: parsed.entries.length} : {}
}

/** A log as the one segment that is looked at, with its index files, and what a snapshot says of the time before it. */
async function verifyLog(task: Task): Promise<Outcome> {
  const {file, folder, name, options, list} = task
  const names = await folderNames(folder)
  const check = await checkOf(task, names)
  const base = name.offset
  const next = base === undefined ? undefined : names.segments.find(({offset}) => offset > base)
  const beside = base === undefined ? undefined : await openBeside(folder, name, base, list)
  if (base === undefined) {
    const explanation =
      'the name does not say the base offset: index files and the offsets of the name were not compared'
    list.add('not-checked', {file: file.path, explanation})
  }
  const progress = options.progress
  await check.segment(
    {
      file,
      place: {file: file.path, baseOffset: base, nextBaseOffset: name.states.length > 0 ? undefined : next?.offset},
      isActive: next === undefined && name.states.length === 0,
      index: beside?.index,
      timeIndex: beside?.timeIndex,
      transactionIndex: beside?.transactionIndex,
      snapshots: [],
    },
    undefined,
    progress && (bytes => progress(bytes, file.size)),
  )
  check.finish()
  const log = check.summary()
  const laterSegments = base === undefined ? 0 : names.segments.filter(({offset}) => offset > base).length
  return {log, conclusions: partitionConclusions({check, segments: [], log, list, laterSegments})}
}

/** The checks of a partition, begun at this file. */
async function checkOf({folder, name, options, list}: Task, names: FolderNames, wantsRecords = true) {
  const base = name.offset
  const quiet = new FindingList(0)
  const seed = base !== undefined && base > 0n ? await snapshotAt(folder, base, quiet) : undefined
  const epochs = base === undefined || name.states.length > 0 ? undefined : await readEpochs(folder, names, quiet)
  const check = new PartitionCheck(list, {
    ...options,
    topic: parseFolderName(folderName(folder))?.topic,
    isComplete: base === 0n,
    epochs: epochs && {...epochs, entries: epochsUpTo(epochs.entries, names, base)},
    wantsRecords,
  })
  if (seed) await check.seed(seed)
  return check
}

type Epochs = NonNullable<Awaited<ReturnType<typeof readEpochs>>>['entries']

/** Without the entries of later segments, which are not read. */
function epochsUpTo(entries: Epochs, names: FolderNames, base: bigint | undefined): Epochs {
  const next = names.segments.find(({offset}) => base !== undefined && offset > base)
  return next ? entries.filter(({startOffset}) => startOffset < next.offset) : entries
}

async function verifyKraft({file, name, options, list}: Task): Promise<Outcome> {
  const kraft = new KraftSnapshotCheck(list, file.path, name)
  const check = await verifyKraftSnapshot(file, kraft, options, list)
  const log = check.summary()
  return {
    log,
    conclusions: [...verdict(list), ...damageConclusions(check, log), ...kafkaConclusions(list, false)],
  }
}

/** An index against its log; what is wrong with the log itself is not told here. */
async function verifyIndex(task: Task, which: keyof BesideWanted): Promise<Outcome> {
  const {file, folder, name, list} = task
  const base = name.offset
  const logName = siblingName(name, 'log')
  const log = logName === undefined ? undefined : await openIn(folder, logName, list)
  if (base === undefined || logName === undefined || !log) {
    const why = base === undefined ? 'its name does not say the base offset' : `${logName} is not beside it`
    const entries = await verifyAlone(file, which, base ?? 0n, list)
    list.add('not-checked', {file: file.path, explanation: `not compared with a log: ${why}`})
    return {entries, conclusions: [...verdict(list), ...kafkaConclusions(list, false)]}
  }
  const all = new FindingList(list.keptPerCode)
  const names = await folderNames(folder)
  const check = await checkOf({...task, list: all}, names, false)
  const wanted = {index: false, timeIndex: false, transactionIndex: false, [which]: true}
  const beside = await openBeside(folder, parseFileName(logName), base, all, wanted)
  const next = names.segments.find(({offset}) => offset > base)
  const place = {file: log.path, baseOffset: base}
  await check.segment({file: log, place, isActive: next === undefined, ...beside, snapshots: []})
  check.finish()
  list.absorb(all, file.path)
  const entries = beside[which]?.entries
  const damaged = check.firstDamage ? ['The log itself is damaged: --verify of the log says how.'] : []
  return {
    ...(entries === undefined ? {} : {entries}),
    conclusions: [...verdict(list), ...damaged, ...kafkaConclusions(list, false)],
  }
}

/** What can be said of an index without its log. */
async function verifyAlone(
  file: OpenFile,
  which: keyof BesideWanted,
  base: bigint,
  list: FindingList,
): Promise<number> {
  if (which === 'transactionIndex') return (await TransactionIndexCheck.open(file, base, list)).entries
  const check =
    which === 'index' ? await OffsetIndexCheck.open(file, base, list) : await TimeIndexCheck.open(file, base, list)
  check.tellOrder(base)
  return check.entries
}

async function verifySnapshot(task: Task): Promise<Outcome> {
  const {file, folder, name, options, list} = task
  const offset = name.offset
  const snapshot = await SnapshotCheck.open(file, offset ?? 0n, list)
  const notChecked = (why: string) =>
    list.add('not-checked', {file: file.path, explanation: `not compared with the log${why}`})
  if (offset === undefined) notChecked(': the name does not say its offset')
  else if (snapshot.isSound) await replay(folder, offset, snapshot, options, list, notChecked)
  return {entries: snapshot.entries, conclusions: [...verdict(list), ...kafkaConclusions(list, false)]}
}

/** Goes through the segments before the snapshot, from the newest earlier snapshot on if there is one. */
async function replay(
  folder: Folder,
  offset: bigint,
  snapshot: SnapshotCheck,
  options: VerifyOptions,
  list: FindingList,
  notChecked: (why: string) => void,
): Promise<void> {
  const names = await folderNames(folder)
  const earlier = names.segments.filter(segment => segment.offset < offset)
  if (earlier.length === 0) return notChecked(': no earlier segment is beside it')
  const quiet = new FindingList(0)
  const starts = earlier.map(segment => segment.offset).reverse()
  let from = earlier[0]?.offset ?? 0n
  let seed: SnapshotCheck | undefined
  for (const start of starts) {
    seed = start > 0n ? await snapshotAt(folder, start, quiet) : undefined
    if (!seed) continue
    from = start
    break
  }
  const check = new PartitionCheck(quiet, {
    ...options,
    topic: parseFolderName(folderName(folder))?.topic,
    isComplete: from === 0n,
    wantsRecords: false,
  })
  if (seed) await check.seed(seed)
  const segments = earlier.filter(segment => segment.offset >= from)
  for (const [n, {name, offset: base}] of segments.entries()) {
    const file = await openIn(folder, name, list)
    if (!file) continue
    const isLast = n === segments.length - 1
    await check.segment({
      file,
      place: {file: file.path, baseOffset: base},
      isActive: isLast && names.segments.at(-1)?.name === name,
      snapshots: isLast ? [snapshot] : [],
    })
  }
  if (!check.producers.isComplete) {
    const why = check.firstDamage
      ? 'the log before it is damaged'
      : `the log begins at offset ${from}, and no sound snapshot lies there`
    notChecked(` in all fields: ${why}`)
  }
  snapshot.finish(check.isCompacted)
}
