import {classify, type FileKind, headBytes} from '../../../../src/log/files/kinds.js'
import {type GoldenFile, goldenFiles} from '../golden-files.js'
import {batchesOf} from './layout.js'

/** A real file, or a piece of one that is a file in itself, before anything is done to it. */
export interface Seed {
  readonly path: string
  readonly name: string
  readonly folder: string
  readonly kind: FileKind
  readonly bytes: Buffer
}

/** Segments above this are taken in pieces of whole batches, so that many can be read in little time. */
const pieceBytes = 6_000

function seedsOf({path, name, folder, bytes}: GoldenFile): Seed[] {
  const {kind} = classify(name, bytes.subarray(0, headBytes), bytes.length)
  const seed = (piece: Buffer) => ({path, name, folder, kind, bytes: piece})
  if (bytes.length <= pieceBytes) return [seed(bytes)]
  if (kind !== 'log' && kind !== 'snapshot-log') return [seed(bytes.subarray(0, pieceBytes))]
  const pieces: Seed[] = []
  let start = 0
  for (const {position, sizeInBytes} of batchesOf(bytes)) {
    const end = position + sizeInBytes
    if (end - start < pieceBytes && end < bytes.length) continue
    pieces.push(seed(bytes.subarray(start, end)))
    start = end
  }
  if (start < bytes.length) pieces.push(seed(bytes.subarray(start)))
  // The first pieces of a file are much like the rest.
  return pieces.slice(0, 6)
}

const all = goldenFiles().flatMap(seedsOf)
const isLog = ({kind}: Seed): boolean => kind === 'log' || kind === 'snapshot-log'

/** Logs and snapshots of every codec, magic and internal topic. */
export const logSeeds: readonly Seed[] = all.filter(isLog)
/** Every other kind of file. */
export const fileSeeds: readonly Seed[] = all.filter(seed => !isLog(seed) && seed.bytes.length > 0)
