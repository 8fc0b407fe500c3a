import type {OffsetCheckpoint} from '../files/checkpoints.js'
import {readTextFile, textFindings} from '../files/text-files.js'
import {isTextFileKind} from '../files/text-files.js'
import {parseFileName} from '../files/names.js'
import type {Folder} from '../folder.js'
import {decodeMetadataRecord} from '../metadata-records.js'
import {readLog} from '../read-log.js'
import type {FindingList} from './finding-list.js'
import {folderNames, openIn} from './partition-folder.js'
import {release} from './release.js'
import type {LogSummary, OtherFile} from './report.js'

const checkpointNames = {
  recoveryPoint: 'recovery-point-offset-checkpoint',
  logStart: 'log-start-offset-checkpoint',
  highWatermark: 'replication-offset-checkpoint',
  cleaned: 'cleaner-offset-checkpoint',
} as const

type CheckpointKey = keyof typeof checkpointNames

/** What the text files of a log dir say. */
export interface LogDirFacts {
  readonly otherFiles: readonly OtherFile[]
  readonly wasClosed: boolean
  readonly isLogDir: boolean
  /** By "topic-partition". */
  readonly offsets: Readonly<Record<CheckpointKey, ReadonlyMap<string, bigint>>>
  readonly paths: Readonly<Record<CheckpointKey, string>>
}

/** Reads the text files of a log dir or metadata dir, and tells what is wrong with them. */
export async function readLogDir(folder: Folder, list: FindingList): Promise<LogDirFacts> {
  const otherFiles: OtherFile[] = []
  const offsets: Record<CheckpointKey, Map<string, bigint>> = {
    recoveryPoint: new Map(),
    logStart: new Map(),
    highWatermark: new Map(),
    cleaned: new Map(),
  }
  const [paths, keys] = [{} as Record<CheckpointKey, string>, Object.keys(checkpointNames) as CheckpointKey[]]
  for (const key of keys) paths[key] = `${folder.path}/${checkpointNames[key]}`
  let [wasClosed, isLogDir] = [false, false]
  for (const name of await folder.list()) {
    const {role, states} = parseFileName(name)
    if (!role || !isTextFileKind(role) || states.length > 0) continue
    const file = await openIn(folder, name, list)
    if (!file) continue
    if (role !== 'quorum-state' && role !== 'partition-metadata' && role !== 'leader-epoch-checkpoint') isLogDir = true
    if (role === 'clean-shutdown') wasClosed = true
    const parsed = await readTextFile(role, file)
    await release(file)
    for (const finding of textFindings(parsed, file.path)) list.take(finding)
    const isList = parsed.kind === 'offset-checkpoint'
    otherFiles.push({name, role, sizeInBytes: file.size, ...(isList ? {entries: parsed.entries.length} : {})})
    const key = keys.find(one => checkpointNames[one] === name)
    if (!key || !isList) continue
    paths[key] = file.path
    fill(offsets[key], parsed)
  }
  return {otherFiles, wasClosed, isLogDir, offsets, paths}
}

function fill(map: Map<string, bigint>, {entries}: OffsetCheckpoint): void {
  for (const {topic, partition, offset} of entries) map.set(`${topic}-${partition}`, offset)
}

/** Whether the checkpoints of the log dir lie within the log of a partition (a high watermark of 0 is normal after a crash). */
export function checkOffsets(
  {offsets, paths}: LogDirFacts,
  name: string,
  log: LogSummary,
  firstBase: bigint | undefined,
  list: FindingList,
): void {
  if (firstBase === undefined) return
  const end = log.lastOffset === undefined ? firstBase : log.lastOffset + 1n
  const tell = (key: CheckpointKey, what: string, consequence: string, severity?: 'error') => {
    const offset = offsets[key].get(name)
    if (offset === undefined || offset <= end) return
    list.add('checkpoint-range', {
      file: paths[key],
      offset,
      explanation: `the ${what} of ${name} is ${offset}, and its log ends before ${end}`,
      consequence,
      ...(severity ? {severity} : {}),
    })
  }
  tell(
    'recoveryPoint',
    'recovery point',
    'After an unclean stop only the last segment is recovered, and the recovery point is set to the log end.',
  )
  tell(
    'logStart',
    'log start offset',
    'When it loads the partition the broker deletes all its segments and begins anew at that offset.',
    'error',
  )
  tell('highWatermark', 'high watermark', 'The broker lowers it to the log end.')
  tell('cleaned', 'cleaned offset', 'The cleaner writes a warning and begins at the log start.')
}

/** Partitions that a checkpoint names and that have no folder here. */
export function tellMissingPartitions(
  {offsets, paths}: LogDirFacts,
  there: ReadonlySet<string>,
  list: FindingList,
): void {
  for (const key of Object.keys(offsets) as CheckpointKey[]) {
    const missing = [...offsets[key].keys()].filter(name => !there.has(name))
    if (missing.length === 0) continue
    const some = missing.slice(0, 3).join(', ')
    list.add('checkpoint-partition', {
      file: paths[key],
      explanation: `${missing.length} of its partitions ${missing.length === 1 ? 'has' : 'have'} no folder here: ${some}${missing.length > 3 ? ', …' : ''}`,
    })
  }
}

/** Topic ids by name, of the snapshots and the log of `__cluster_metadata`; the newest one counts. */
export async function topicIds(folder: Folder, list: FindingList): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  const names = await folderNames(folder)
  const files = [...names.kraftSnapshots.map(({name}) => name).sort(), ...names.segments.map(({name}) => name)]
  for (const name of files) {
    const file = await openIn(folder, name, list)
    if (!file) continue
    await readLog(file, {
      batch: batch => !batch.isControl && batch.crcIsRight,
      record: record => {
        const decoded = decodeMetadataRecord(record.value)
        if (!('type' in decoded) || decoded.type !== 'TopicRecord') return
        const {name: topic, topicId} = decoded.data
        if (typeof topic === 'string' && typeof topicId === 'string') ids.set(topic, topicId)
      },
    })
    await release(file)
  }
  return ids
}
