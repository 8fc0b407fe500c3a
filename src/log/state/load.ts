import {KxError} from '../../util/errors.js'
import {type FileName, offsetPrefix, parseFileName} from '../files/names.js'
import type {Finding} from '../finding.js'
import type {Folder, OpenFile} from '../folder.js'
import {type LogVisitor, type ReadOptions, readLog} from '../read-log.js'
import {findingOf} from '../verify/codes.js'
import {LogReplay, type OpenTransaction, SnapshotReplay, type Tell} from './replay.js'
import {emptyState, type MetadataState} from './state.js'

export interface LoadedState {
  readonly state: MetadataState
  /** What it was made of, by name. */
  readonly snapshot: string | undefined
  readonly logs: readonly string[]
  /** Records that were applied, but for those of KRaft. */
  readonly records: number
  /** Records of it are not in the state, as on a broker. */
  readonly openTransaction: OpenTransaction | undefined
  /** The batch that was asked to be cut: no broker ever had this state, for batches are applied whole. */
  readonly withinBatch: {readonly baseOffset: bigint; readonly lastOffset: bigint} | undefined
}

export interface LoadOptions {
  readonly read: ReadOptions
  /** Looks at what is read for damage. */
  readonly watch: (visitor: LogVisitor, file: OpenFile, tell: (finding: Finding) => void) => Promise<LogVisitor>
  readonly tell: (finding: Finding) => void
}

export interface FolderOptions extends LoadOptions {
  /** The last offset that is in the state. Default: the end of the log. */
  readonly upTo?: bigint | undefined
  /** True: `upTo` was asked for, and an end before it is an error. */
  readonly mustReach?: boolean
  /** The name of the last segment that is read. Default: all. */
  readonly lastLog?: string
}

/**
 * The state of the metadata from a folder as `__cluster_metadata-0`: the newest whole snapshot that does not pass the offset,
 * and the log from there on.
 * @throws KxError KX_NO_STATE (input): neither log nor snapshot reach back far enough; KX_NO_OFFSET (usage): the log ends before
 */
export async function stateOfFolder(folder: Folder, options: FolderOptions): Promise<LoadedState> {
  const names = (await folder.list()).map(parseFileName).filter(({states}) => states.length === 0)
  const last = options.lastLog === undefined ? undefined : parseFileName(options.lastLog).offset
  const [logs, later] = partedAt(ofRole(names, 'log'), last)
  const snapshots = ofRole(names, 'snapshot-log')
  const end = options.upTo ?? (later[0] && later[0].offset - 1n)
  const base = await newest(folder, snapshots, {...options, end, hasLogs: logs.length > 0})
  const state = base?.state ?? emptyState()
  const from = state.offset + 1n
  const [first] = logs
  if (!base && (!first || first.offset > 0n)) throw noState(folder, snapshots, logs, options.upTo)
  const wanted = logs.filter(
    ({offset}, n) =>
      (logs[n + 1]?.offset ?? from + 1n) > from && (options.upTo === undefined || offset <= options.upTo),
  )
  const read = await readLogs(folder, wanted, state, options)
  checkReached(folder.path, state, options)
  return {...read, state, snapshot: base?.name, records: read.records + (base?.records ?? 0)}
}

function checkReached(
  path: string,
  {offset}: MetadataState,
  {upTo, mustReach}: Pick<FolderOptions, 'upTo' | 'mustReach'>,
): void {
  if (!mustReach || upTo === undefined || offset >= upTo) return
  const why = offset < 0n ? 'has no record up to there' : `ends at offset ${offset}`
  throw new KxError('usage', 'KX_NO_OFFSET', `${path} ${why}: there is no state at ${upTo} in it.`, {
    suggestions: [offset < 0n ? 'Name the folder, or another segment.' : `--at-offset ${offset}`],
  })
}

async function readLogs(
  folder: Folder,
  logs: readonly Numbered[],
  state: MetadataState,
  options: FolderOptions,
): Promise<Omit<LoadedState, 'state' | 'snapshot'>> {
  let current = ''
  const replay = new LogReplay(state, finding => options.tell({...finding, file: current}), options.upTo)
  const used: string[] = []
  for (const {name} of logs) {
    if (replay.enough) break
    const file = await folder.open(name)
    // Deleted meanwhile: what is missing is told as a gap.
    if (!file) continue
    current = file.path
    used.push(name)
    await readLog(file, await options.watch(replay, file, options.tell), options.read)
  }
  return {logs: used, records: replay.applied, openTransaction: replay.open, withinBatch: replay.within}
}

type Numbered = FileName & {readonly offset: bigint}

function ofRole(names: readonly FileName[], role: FileName['role']): readonly Numbered[] {
  return names
    .filter((name): name is Numbered => name.role === role && name.offset !== undefined)
    .sort((a, b) => (a.offset < b.offset ? -1 : a.offset > b.offset ? 1 : (a.epoch ?? 0) - (b.epoch ?? 0)))
}

/** Those up to the segment that begins there, and those behind it. */
function partedAt(
  logs: readonly Numbered[],
  last: bigint | undefined,
): readonly [readonly Numbered[], readonly Numbered[]] {
  if (last === undefined) return [logs, []]
  return [logs.filter(({offset}) => offset <= last), logs.filter(({offset}) => offset > last)]
}

interface Base {
  readonly name: string
  readonly state: MetadataState
  readonly records: number
}

/**
 * Of several that fit the newest that is whole. What the bootstrap snapshot 0-0 says of anything but the voters counts only once
 * the first active controller has written it to the log.
 */
async function newest(
  folder: Folder,
  snapshots: readonly Numbered[],
  options: LoadOptions & {readonly end: bigint | undefined; readonly hasLogs: boolean},
): Promise<Base | undefined> {
  const {end, hasLogs} = options
  for (const snapshot of [...snapshots].reverse()) {
    if (end !== undefined && snapshot.offset > end + 1n) continue
    const file = await folder.open(snapshot.name)
    if (!file) continue
    const found: Finding[] = []
    const controlOnly = snapshot.isBootstrap && hasLogs
    const read = await readSnapshot(file, snapshot, {...options, tell: finding => found.push(finding)}, controlOnly)
    if (read.isWhole) {
      for (const finding of found) options.tell(finding)
      return {...read, name: snapshot.name}
    }
    const explanation = 'The snapshot is not whole, so that an older one, or only the log, is taken.'
    options.tell({...findingOf('state-snapshot', {explanation}), file: file.path})
  }
  return undefined
}

/** The state that a snapshot holds; of a file that has no end, what there is of it. */
export async function stateOfSnapshot(file: OpenFile, options: LoadOptions): Promise<LoadedState> {
  const {isWhole, ...read} = await readSnapshot(file, parseFileName(file.name), options, false)
  if (!isWhole) {
    const explanation = 'The snapshot is not whole, and the state is only what can be read of it.'
    options.tell({...findingOf('state-snapshot', {explanation}), file: file.path})
  }
  return {...read, snapshot: file.name, logs: [], openTransaction: undefined, withinBatch: undefined}
}

async function readSnapshot(
  file: OpenFile,
  {offset, epoch}: Pick<FileName, 'offset' | 'epoch'>,
  options: LoadOptions,
  controlOnly: boolean,
): Promise<{readonly state: MetadataState; readonly records: number; readonly isWhole: boolean}> {
  const state = emptyState()
  const tell: Tell = finding => options.tell({...finding, file: file.path})
  const replay = new SnapshotReplay(state, tell, {controlOnly})
  await readLog(file, await options.watch(replay, file, options.tell), options.read)
  state.offset = offset === undefined ? -1n : offset - 1n
  state.epoch = epoch ?? -1
  return {state, records: replay.applied, isWhole: replay.isWhole}
}

/** Of a log alone, as it comes from a pipe: what was before it is missing, and told. */
export async function stateOfLog(
  file: OpenFile,
  options: LoadOptions & Pick<FolderOptions, 'upTo' | 'mustReach'>,
): Promise<LoadedState> {
  const alone: Folder = {path: file.path, list: async () => [], open: async () => file}
  const name = {...parseFileName(file.name), name: file.name, offset: 0n}
  const state = emptyState()
  const read = await readLogs(alone, [name], state, options)
  checkReached(file.path, state, options)
  return {...read, state, snapshot: undefined}
}

function noState(
  {path}: Folder,
  snapshots: readonly Numbered[],
  logs: readonly Numbered[],
  upTo: bigint | undefined,
): KxError {
  const [snapshot, log] = [snapshots[0], logs[0]]
  if (!snapshot && !log) {
    return new KxError('input', 'KX_NO_STATE', `${path} has neither a metadata log nor a snapshot of one.`, {
      suggestions: ['Name the folder __cluster_metadata-0 of a broker or controller, or the log dir that it lies in.'],
    })
  }
  const wanted = upTo === undefined ? 'The state' : `The state at offset ${upTo}`
  const begins = log ? `its log begins at ${log.offset}` : 'it has no log'
  const earliest = snapshot ? `its oldest snapshot is that at ${snapshot.offset - 1n}` : 'it has no snapshot'
  return new KxError('input', 'KX_NO_STATE', `${wanted} can't be had from ${path}: ${begins}, and ${earliest}.`, {
    suggestions: snapshot
      ? [`--at-offset ${snapshot.offset - 1n}`, 'Another node may have older files.']
      : [`A snapshot ${offsetPrefix(log?.offset ?? 0n)}-… of the same node, or the files of another one.`],
  })
}
