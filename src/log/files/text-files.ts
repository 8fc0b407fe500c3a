import type {ByteSource} from '../byte-source.js'
import type {Finding} from '../finding.js'
import {
  type LeaderEpochCheckpoint,
  type OffsetCheckpoint,
  parseLeaderEpochCheckpoint,
  parseOffsetCheckpoint,
} from './checkpoints.js'
import type {FileKind} from './kinds.js'
import {
  type MetaProperties,
  type PartitionMetadata,
  parseMetaProperties,
  parsePartitionMetadata,
} from './metadata-files.js'
import {type CleanShutdown, parseCleanShutdown, parseQuorumState, type QuorumState} from './state-files.js'
import type {TextProblem} from './text-lines.js'

/** `.lock` of a log dir: what keeps a second broker away. Kafka writes nothing into it. */
export interface LockFile {
  readonly kind: 'lock'
  readonly problems: readonly TextProblem[]
}

/** A file that Kafka's own dump tool can't print. */
export type TextFile =
  | LeaderEpochCheckpoint
  | OffsetCheckpoint
  | PartitionMetadata
  | MetaProperties
  | QuorumState
  | CleanShutdown
  | LockFile

const parsers = {
  'leader-epoch-checkpoint': parseLeaderEpochCheckpoint,
  'offset-checkpoint': parseOffsetCheckpoint,
  'partition-metadata': parsePartitionMetadata,
  'meta-properties': parseMetaProperties,
  'quorum-state': parseQuorumState,
  'clean-shutdown': parseCleanShutdown,
  lock: parseLock,
} as const satisfies Partial<Record<FileKind, (bytes: Buffer) => TextFile>>

export type TextFileKind = keyof typeof parsers

export function isTextFileKind(kind: FileKind): kind is TextFileKind {
  return Object.hasOwn(parsers, kind)
}

/** Whatever has more bytes than any file of its kind can need is read up to here. */
const bytesAtMost = {checkpoint: 16_777_216, other: 65_536}

/** Reads a text file of any size in bounded memory. Never throws on any bytes. */
export async function readTextFile(kind: TextFileKind, source: ByteSource): Promise<TextFile> {
  const limit = kind.endsWith('-checkpoint') ? bytesAtMost.checkpoint : bytesAtMost.other
  const bytes = await source.read(0, Math.min(source.size, limit))
  const file = parseTextFile(kind, bytes)
  if (source.size <= limit) return file
  const tooLong: TextProblem = {
    code: 'too-long',
    severity: 'error',
    position: limit,
    explanation: `the file has ${source.size} bytes, more than its kind can need: only the first ${limit} were read`,
  }
  return {...file, problems: [tooLong, ...file.problems]}
}

/** {@link readTextFile} of bytes that are all there. */
export function parseTextFile(kind: TextFileKind, bytes: Buffer): TextFile {
  return parsers[kind](bytes)
}

function parseLock(bytes: Buffer): LockFile {
  if (bytes.length === 0) return {kind: 'lock', problems: []}
  const explanation = `the file has ${bytes.length} bytes; Kafka writes none`
  return {kind: 'lock', problems: [{code: 'lock-not-empty', severity: 'info', explanation}]}
}

/** What is wrong with the file, under the name that it was given to kx. */
export function textFindings(file: TextFile, path: string): Finding[] {
  return file.problems.map(problem => ({...problem, file: path}))
}
