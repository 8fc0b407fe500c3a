/** What a file in a log dir or metadata dir is for, as its name says. */
export type FileRole =
  | 'log'
  | 'offset-index'
  | 'time-index'
  | 'transaction-index'
  | 'producer-snapshot'
  | 'snapshot-log'
  | 'leader-epoch-checkpoint'
  | 'offset-checkpoint'
  | 'partition-metadata'
  | 'meta-properties'
  | 'quorum-state'
  | 'clean-shutdown'
  | 'lock'

/**
 * What a suffix behind the proper name says of a file: `deleted`: waits for its deletion (file.delete.delay.ms);
 * `cleaned`: the cleaner was writing it; `swap`: the cleaner's result that was to replace segments; `part`: a KRaft
 * snapshot that is not finished; `tmp`: a text file that was to replace the one without the suffix; `gz`: evidence that
 * kx has compressed.
 */
export type FileState = 'deleted' | 'cleaned' | 'swap' | 'part' | 'tmp' | 'gz'

export interface FileName {
  readonly name: string
  /** The name without the suffixes of `states`. */
  readonly proper: string
  /** Undefined: the name says nothing. */
  readonly role?: FileRole
  /** As the suffixes stand in the name; empty for a file in use. */
  readonly states: readonly FileState[]
  /**
   * Of a segment's files: the offset that the name begins with. For a `.snapshot` it is the next offset (the state is
   * that before it), for a KRaft snapshot its end offset. Undefined if the name has none: offsets are then relative.
   */
  readonly offset?: bigint
  /** Of a KRaft snapshot: the epoch in its name. */
  readonly epoch?: number
  /** Of a file of the tiered storage's cache: the remote segment's id. */
  readonly remoteSegmentId?: string
  /** True for the 20 digits that Kafka writes (and 10 for the epoch of a KRaft snapshot). */
  readonly isPadded: boolean
  /** `bootstrap.checkpoint`, or the snapshot 0-0 that the formatter of 4.4 writes in its stead. */
  readonly isBootstrap: boolean
}

const rolesByExtension: Readonly<Record<string, FileRole>> = {
  log: 'log',
  index: 'offset-index',
  timeindex: 'time-index',
  txnindex: 'transaction-index',
  snapshot: 'producer-snapshot',
  checkpoint: 'snapshot-log',
}
const rolesByName: Readonly<Record<string, FileRole>> = {
  'leader-epoch-checkpoint': 'leader-epoch-checkpoint',
  'recovery-point-offset-checkpoint': 'offset-checkpoint',
  'log-start-offset-checkpoint': 'offset-checkpoint',
  'replication-offset-checkpoint': 'offset-checkpoint',
  'cleaner-offset-checkpoint': 'offset-checkpoint',
  'partition.metadata': 'partition-metadata',
  'meta.properties': 'meta-properties',
  'quorum-state': 'quorum-state',
  '.kafka_cleanshutdown': 'clean-shutdown',
  '.lock': 'lock',
}
const stateSuffix = /\.(deleted|cleaned|swap|part|tmp|gz)$/
const maxInt64 = 2n ** 63n - 1n

/** What the last part of a path says of its file. Never throws: any text is a name. */
export function parseFileName(name: string): FileName {
  const states: FileState[] = []
  let proper = name
  for (let found = stateSuffix.exec(proper); found; found = stateSuffix.exec(proper)) {
    states.unshift(found[1] as FileState)
    proper = proper.slice(0, found.index)
  }
  const named = rolesByName[proper]
  const dot = proper.lastIndexOf('.')
  const extension = dot < 0 ? undefined : rolesByExtension[proper.slice(dot + 1)]
  const common = {name, proper, states}
  if (named && Object.hasOwn(rolesByName, proper)) return {...common, role: named, isPadded: false, isBootstrap: false}
  if (!extension || !Object.hasOwn(rolesByExtension, proper.slice(dot + 1))) {
    return {...common, isPadded: false, isBootstrap: false}
  }
  const stem = proper.slice(0, dot)
  return {...common, role: extension, ...numbersOf(stem, extension)}
}

type Numbers = Pick<FileName, 'offset' | 'epoch' | 'remoteSegmentId' | 'isPadded' | 'isBootstrap'>

function numbersOf(stem: string, role: FileRole): Numbers {
  if (role === 'snapshot-log') {
    if (stem === 'bootstrap') return {isPadded: false, isBootstrap: true}
    const [, end, epochText] = /^(\d+)-(\d+)$/.exec(stem) ?? []
    const [offset, epoch] = [int64(end), Number(epochText)]
    if (offset !== undefined && epoch <= 0x7fff_ffff) {
      const isPadded = end?.length === 20 && epochText?.length === 10
      return {offset, epoch, isPadded, isBootstrap: offset === 0n && epoch === 0}
    }
    return {isPadded: false, isBootstrap: false}
  }
  const [, digits, remoteSegmentId] = /^(\d+)(?:_([\w-]{22}))?$/.exec(stem) ?? []
  const offset = int64(digits)
  if (offset === undefined) return {isPadded: false, isBootstrap: false}
  const numbers = {offset, isPadded: digits?.length === 20 && !remoteSegmentId, isBootstrap: false}
  return remoteSegmentId ? {...numbers, remoteSegmentId} : numbers
}

function int64(digits: string | undefined): bigint | undefined {
  if (!digits || digits.length > 40) return undefined
  const value = BigInt(digits)
  return value <= maxInt64 ? value : undefined
}

/** 20 digits, as the files of a segment are named (LogFileUtils.filenamePrefixFromOffset). */
export function offsetPrefix(offset: bigint): string {
  return offset.toString().padStart(20, '0')
}

/**
 * The name of another file of the same segment: `.log` of `00…7.index`, `00…7.log.deleted` of `00…7.index.deleted`.
 * Undefined if the name is not that of a segment's file.
 */
export function siblingName(name: FileName, extension: 'log' | 'index' | 'timeindex' | 'txnindex'): string | undefined {
  if (
    !name.role ||
    name.role === 'snapshot-log' ||
    !(Object.values(rolesByExtension) as string[]).includes(name.role)
  ) {
    return undefined
  }
  const stem = name.proper.slice(0, name.proper.lastIndexOf('.'))
  return [`${stem}.${extension}`, ...name.states].join('.')
}

/** `delete`: waits for its deletion; `future`: is being moved to another log dir; `stray`: belongs to this broker no more. */
export type FolderState = 'delete' | 'future' | 'stray'

export interface FolderName {
  readonly topic: string
  readonly partition: number
  readonly state?: FolderState
  /** Of a folder that has a state. */
  readonly uniqueId?: string
}

/**
 * Topic and partition of a partition's folder (UnifiedLog.parseTopicPartitionName): `orders-0`, `my-topic-12`,
 * `orders-0.<unique id>-delete`. Undefined if the name is not one, e.g. that of a log dir.
 */
export function parseFolderName(name: string): FolderName | undefined {
  const [, plain, uniqueId, state] = /^(.*)\.([^.]*)-(delete|future|stray)$/.exec(name) ?? []
  if (plain !== undefined && uniqueId !== undefined) {
    const parsed = plainFolder(plain)
    if (parsed) return {...parsed, state: state as FolderState, uniqueId}
  }
  return plainFolder(name)
}

function plainFolder(name: string): Pick<FolderName, 'topic' | 'partition'> | undefined {
  const [, topic, digits] = /^([a-zA-Z0-9._-]{1,249})-(\d{1,10})$/.exec(name) ?? []
  const partition = Number(digits)
  return topic && topic !== '.' && topic !== '..' && partition <= 0x7fff_ffff ? {topic, partition} : undefined
}
