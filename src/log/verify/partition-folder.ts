import type {LeaderEpochCheckpoint} from '../files/checkpoints.js'
import {type FileName, offsetPrefix, parseFileName} from '../files/names.js'
import {readTextFile, textFindings} from '../files/text-files.js'
import type {Folder, OpenFile} from '../folder.js'
import {messageOf} from '../../util/errors.js'
import type {FindingList} from './finding-list.js'
import {OffsetIndexCheck} from './offset-index-check.js'
import {TimeIndexCheck} from './time-index-check.js'
import {release} from './release.js'
import {SnapshotCheck} from './snapshot-check.js'
import {TransactionIndexCheck} from './transaction-index-check.js'

export interface SegmentName {
  readonly name: string
  readonly offset: bigint
}

/** What the names in a folder say. */
export interface FolderNames {
  readonly all: readonly FileName[]
  /** Logs in use that are named by their base offset, ascending. */
  readonly segments: readonly SegmentName[]
  /** Producer snapshots in use, ascending. */
  readonly snapshots: readonly SegmentName[]
  readonly kraftSnapshots: readonly FileName[]
  has(name: string): boolean
}

export async function folderNames(folder: Folder): Promise<FolderNames> {
  const names = await folder.list()
  const all = names.map(parseFileName)
  const there = new Set(names)
  const inUse = (role: FileName['role']): SegmentName[] =>
    all
      .filter(file => file.role === role && file.states.length === 0 && file.remoteSegmentId === undefined)
      .flatMap(({name, offset}) => (offset === undefined ? [] : [{name, offset}]))
      .sort((a, b) => (a.offset < b.offset ? -1 : a.offset > b.offset ? 1 : a.name < b.name ? -1 : 1))
  return {
    all,
    segments: inUse('log'),
    snapshots: inUse('producer-snapshot'),
    kraftSnapshots: all.filter(({role, states}) => role === 'snapshot-log' && !states.includes('deleted')),
    has: name => there.has(name),
  }
}

/** Opens a file of a folder; one that can't be read becomes a finding, so that the others are still looked at. */
export async function openIn(folder: Folder, name: string, list: FindingList): Promise<OpenFile | undefined> {
  try {
    return await folder.open(name)
  } catch (error) {
    list.add('unreadable', {file: `${folder.path}/${name}`, explanation: messageOf(error)})
    return undefined
  }
}

/** `leader-epoch-checkpoint`, with what is wrong with the file itself told. */
export async function readEpochs(
  folder: Folder,
  names: FolderNames,
  list: FindingList,
): Promise<{file: string; entries: LeaderEpochCheckpoint['entries']} | undefined> {
  const name = 'leader-epoch-checkpoint'
  const file = names.has(name) ? await openIn(folder, name, list) : undefined
  if (!file) return undefined
  const parsed = await readTextFile(name, file)
  await release(file)
  const findings = textFindings(parsed, file.path)
  for (const finding of findings) list.take(finding)
  // Entries in disorder say nothing about the log.
  const isSound = findings.every(({severity}) => severity !== 'error')
  if (!isSound || parsed.kind !== 'leader-epoch-checkpoint') return undefined
  return {file: file.path, entries: parsed.entries}
}

export interface Beside {
  readonly index: OffsetIndexCheck | undefined
  readonly timeIndex: TimeIndexCheck | undefined
  readonly transactionIndex: TransactionIndexCheck | undefined
}

/** Which index files are to be compared with the log. */
export interface BesideWanted {
  readonly index: boolean
  readonly timeIndex: boolean
  readonly transactionIndex: boolean
}

/** The names of a segment's index files: those of `00…7.log.deleted` end in `.deleted` too. */
export function besideNames(log: FileName): Record<keyof BesideWanted, string> {
  const stem = log.proper.slice(0, log.proper.lastIndexOf('.'))
  const named = (extension: string) => [`${stem}.${extension}`, ...log.states].join('.')
  return {index: named('index'), timeIndex: named('timeindex'), transactionIndex: named('txnindex')}
}

/** The index files of a segment, read and ready to be compared with it. */
export async function openBeside(
  folder: Folder,
  log: FileName,
  baseOffset: bigint,
  list: FindingList,
  wanted: BesideWanted = {index: true, timeIndex: true, transactionIndex: true},
): Promise<Beside> {
  const names = besideNames(log)
  const open = async (name: string, isWanted: boolean) => (isWanted ? openIn(folder, name, list) : undefined)
  const index = await open(names.index, wanted.index)
  const timeIndex = await open(names.timeIndex, wanted.timeIndex)
  const transactionIndex = await open(names.transactionIndex, wanted.transactionIndex)
  const beside = {
    index: index && (await OffsetIndexCheck.open(index, baseOffset, list)),
    timeIndex: timeIndex && (await TimeIndexCheck.open(timeIndex, baseOffset, list)),
    transactionIndex: transactionIndex
      ? await TransactionIndexCheck.open(transactionIndex, baseOffset, list)
      : index && wanted.transactionIndex
        ? TransactionIndexCheck.none(`${folder.path}/${names.transactionIndex}`, list)
        : undefined,
  }
  for (const file of [index, timeIndex, transactionIndex]) await release(file)
  return beside
}

/** The snapshot that holds what came before this offset, if it is there and sound. */
export async function snapshotAt(
  folder: Folder,
  offset: bigint,
  list: FindingList,
): Promise<SnapshotCheck | undefined> {
  const file = await openIn(folder, `${offsetPrefix(offset)}.snapshot`, list)
  if (!file) return undefined
  const check = await SnapshotCheck.open(file, offset, list, true)
  if (check.isSound) return check
  await check.release()
  return undefined
}
