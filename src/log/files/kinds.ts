import {crc32} from 'node:zlib'
import {BatchCursor} from '../batch-cursor.js'
import {crc32c} from '../crc32c.js'
import {type FileName, type FileRole, parseFileName} from './names.js'

export type FileKind = FileRole | 'unknown'

export interface Classified {
  readonly kind: FileKind
  /** What told the kind; `nothing` for an unknown one. */
  readonly by: 'name' | 'content' | 'nothing'
  readonly name: FileName
  /** True: the bytes are those of a gzip file (kx compresses evidence); what is in it must be classified again. */
  readonly isGzipped: boolean
  /** Why the kind is not what the name says, one sentence. */
  readonly note?: string
}

/** Bytes of the beginning that {@link classify} looks at; fewer are fine for a smaller file. */
export const headBytes = 65_536

/** What the kinds are called in sentences. */
export const kindNames: Readonly<Record<FileKind, string>> = {
  log: 'log',
  'snapshot-log': 'KRaft snapshot',
  'offset-index': 'offset index',
  'time-index': 'time index',
  'transaction-index': 'transaction index',
  'producer-snapshot': 'producer snapshot',
  'leader-epoch-checkpoint': 'leader epoch checkpoint',
  'offset-checkpoint': 'offset checkpoint',
  'partition-metadata': 'partition metadata',
  'meta-properties': 'meta.properties',
  'quorum-state': 'quorum state',
  'clean-shutdown': 'clean shutdown marker',
  lock: 'lock',
  unknown: 'unknown',
}

/** Whether a file has batches: a log, or a KRaft snapshot. */
export function isLogKind(kind: FileKind): kind is 'log' | 'snapshot-log' {
  return kind === 'log' || kind === 'snapshot-log'
}

/** The kind of a file; see {@link classify}. */
export function fileKind(name: string, head: Buffer, size: number): FileKind {
  return classify(name, head, size).kind
}

/**
 * What a file is: by its name, and by its bytes where the name says nothing or where they are certainly something else.
 * Damaged files keep the kind of their name. Never throws on any bytes.
 */
export function classify(name: string, head: Buffer, size: number): Classified {
  const parsed = parseFileName(name)
  const isGzipped = head.length >= 3 && head[0] === 0x1f && head[1] === 0x8b && head[2] === 8
  const common = {name: parsed, isGzipped}
  const {role} = parsed
  if (isGzipped || size === 0) return role ? {...common, kind: role, by: 'name'} : nothing(common)
  if (role && couldBe[role](head, size)) return {...common, kind: role, by: 'name'}
  const told = contents.find(({test}) => test(head, size) === 'sure') ?? (role ? undefined : likely(head, size))
  if (told) {
    const note = role
      ? `the name is that of a ${kindNames[role]}, and the bytes are those of a ${kindNames[told.kind]}`
      : undefined
    return {...common, kind: told.kind, by: 'content', ...(note ? {note} : {})}
  }
  return role ? {...common, kind: role, by: 'name'} : nothing(common)
}

function nothing(common: Pick<Classified, 'name' | 'isGzipped'>): Classified {
  return {...common, kind: 'unknown', by: 'nothing'}
}

type Certainty = 'sure' | 'likely' | undefined
type Test = (head: Buffer, size: number) => Certainty

const contents: readonly {readonly kind: FileRole; readonly test: Test}[] = [
  {kind: 'producer-snapshot', test: producerSnapshot},
  {kind: 'snapshot-log', test: snapshotLog},
  {kind: 'log', test: log},
  {kind: 'partition-metadata', test: text(/^version:\s*\d+\r?\n\s*topic_id:/)},
  {kind: 'quorum-state', test: text(/^\s*\{[\s\S]*"data_version"\s*:/)},
  {kind: 'clean-shutdown', test: text(/^\s*\{[\s\S]*"brokerEpoch"\s*:/)},
  {kind: 'meta-properties', test: text(/^[ \t]*(cluster\.id|node\.id|broker\.id|directory\.id)[ \t]*[=:]/m)},
  {kind: 'leader-epoch-checkpoint', test: text(/^\d+\r?\n\d+\r?\n-?\d+\s+-?\d+\r?(\n|$)/)},
  {kind: 'offset-checkpoint', test: text(/^\d+\r?\n\d+\r?\n(\S+\s+\d+\s+-?\d+\r?(\n|$)|$)/)},
  {kind: 'transaction-index', test: transactionIndex},
  {kind: 'time-index', test: timeIndex},
  {kind: 'offset-index', test: offsetIndex},
]

const noEntries: (head: Buffer, size: number) => boolean = (head, size) =>
  text(/^\d+\r?\n0\r?\n?$/)(head, size) !== undefined
const testOf = new Map(contents.map(({kind, test}) => [kind, test]))
const isIt =
  (kind: FileRole): ((head: Buffer, size: number) => boolean) =>
  (head, size) =>
    testOf.get(kind)?.(head, size) !== undefined

/** Whether the bytes are, as far as one can see, what the name says; a snapshot without its header is still one. */
const couldBe: Readonly<Record<FileRole, (head: Buffer, size: number) => boolean>> = {
  log: (head, size) => log(head, size) !== undefined && snapshotLog(head, size) === undefined,
  'snapshot-log': isIt('log'),
  'offset-index': isIt('offset-index'),
  'time-index': isIt('time-index'),
  'transaction-index': isIt('transaction-index'),
  'producer-snapshot': isIt('producer-snapshot'),
  'leader-epoch-checkpoint': (head, size) => isIt('leader-epoch-checkpoint')(head, size) || noEntries(head, size),
  'offset-checkpoint': isIt('offset-checkpoint'),
  'partition-metadata': isIt('partition-metadata'),
  'meta-properties': isIt('meta-properties'),
  'quorum-state': isIt('quorum-state'),
  'clean-shutdown': isIt('clean-shutdown'),
  lock: () => true,
}

function likely(head: Buffer, size: number): (typeof contents)[number] | undefined {
  return contents.find(({test}) => test(head, size) === 'likely')
}

function log(head: Buffer, size: number): Certainty {
  // The shortest message of magic 0 has 26 bytes; one of magic 2 is told by 27.
  if (head.length < 26 || (head[16] === 2 && head.length < 27)) return undefined
  const [length, magic] = [head.readInt32BE(8), head.readInt8(16)]
  const end = 12 + length
  if (head.readBigInt64BE(0) < 0n || (magic !== 0 && magic !== 1 && magic !== 2)) return undefined
  if (length < (magic === 2 ? 49 : magic === 1 ? 22 : 14)) return undefined
  if (end <= head.length) {
    const isRight =
      magic === 2
        ? crc32c(head.subarray(21, end)) === head.readUInt32BE(17)
        : crc32(head.subarray(16, end)) === head.readUInt32BE(12)
    if (isRight) return 'sure'
  }
  // A batch that passes the head or the end, or that is damaged.
  if (magic !== 2) return end <= Math.min(size, head.length) && hasFieldsOf(magic, head, end) ? 'likely' : undefined
  return head[21] === 0 && (head[22]! & 0x87) <= 4 && head.readInt32BE(23) >= 0 ? 'likely' : undefined
}

/** A damaged message of magic 0 or 1 whose key and value fill it exactly. */
function hasFieldsOf(magic: 0 | 1, head: Buffer, end: number): boolean {
  const keyAt = magic === 0 ? 18 : 26
  const keyLength = head.readInt32BE(keyAt)
  const valueAt = keyAt + 4 + Math.max(0, keyLength)
  if (keyLength < -1 || valueAt + 4 > end) return false
  return valueAt + 4 + Math.max(0, head.readInt32BE(valueAt)) === end && end > keyAt + 8
}

/** A log whose first record is SNAPSHOT_HEADER. */
function snapshotLog(head: Buffer, size: number): Certainty {
  const certainty = log(head, size)
  const end = certainty ? 12 + head.readInt32BE(8) : 0
  if (!certainty || head[16] !== 2 || end > head.length) return undefined
  const batch = new BatchCursor()
  batch.place(head, 0, end, 0)
  if (!batch.isControl || batch.codec !== 'none') return undefined
  let type: number | undefined
  batch.records(({key}) => {
    if (key && key.length >= 4) type ??= key.readInt16BE(2)
  })
  return type === 3 ? certainty : undefined
}

function producerSnapshot(head: Buffer, size: number): Certainty {
  if (head.length < 10 || head.readInt16BE(0) !== 1) return undefined
  if (size <= head.length && crc32c(head.subarray(6, size)) === head.readUInt32BE(2)) return 'sure'
  const count = head.readInt32BE(6)
  if (count < 1 || size !== 10 + 46 * count) return undefined
  return size > head.length ? 'sure' : 'likely'
}

function transactionIndex(head: Buffer, size: number): Certainty {
  const count = Math.floor(head.length / 34)
  if (count === 0 || size % 34 !== 0) return undefined
  for (let n = 0; n < count; n++) {
    const at = n * 34
    const [first, last, stable] = [10, 18, 26].map(field => head.readBigInt64BE(at + field)) as [bigint, bigint, bigint]
    if (head.readInt16BE(at) !== 0 || head.readBigInt64BE(at + 2) < 0n) return undefined
    if (first < 0n || last < first || stable < 0n) return undefined
  }
  return head.readBigInt64BE(18) > 0n ? 'likely' : undefined
}

function timeIndex(head: Buffer, size: number): Certainty {
  if (size % 12 !== 0) return undefined
  let [timestamp, offset, seen] = [-1n, -1, 0]
  for (let at = 0; at + 12 <= head.length; at += 12) {
    const [nextTimestamp, nextOffset] = [head.readBigInt64BE(at), head.readInt32BE(at + 8)]
    if (at > 0 && nextTimestamp === 0n && nextOffset === 0) break
    if (nextTimestamp < timestamp || nextOffset < offset) return undefined
    // Beyond the year 2300 in ms: no timestamp.
    if (nextTimestamp > 10_413_792_000_000n) return undefined
    ;[timestamp, offset, seen] = [nextTimestamp, nextOffset, seen + 1]
  }
  return seen > 0 && timestamp > 0n ? 'likely' : undefined
}

function offsetIndex(head: Buffer, size: number): Certainty {
  if (size % 8 !== 0) return undefined
  let [offset, position, seen] = [-1, -1, 0]
  for (let at = 0; at + 8 <= head.length; at += 8) {
    const [nextOffset, nextPosition] = [head.readInt32BE(at), head.readInt32BE(at + 4)]
    if (at > 0 && nextOffset === 0 && nextPosition === 0) break
    if (nextOffset <= offset || nextPosition <= position) return undefined
    ;[offset, position, seen] = [nextOffset, nextPosition, seen + 1]
  }
  return seen > 0 && position > 0 ? 'likely' : undefined
}

function text(pattern: RegExp): Test {
  return head => {
    const beginning = head.subarray(0, 4_096)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells bytes from text
    if (/[\0-\x08\x0e-\x1f]/.test(beginning.toString('latin1'))) return undefined
    return pattern.test(beginning.toString('utf8')) ? 'sure' : undefined
  }
}
