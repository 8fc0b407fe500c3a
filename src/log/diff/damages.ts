import type {ByteSource} from '../byte-source.js'
import {readLog} from '../read-log.js'
import {bytesTold, type Comparison, differencesOf} from './bytes.js'
import type {BatchStream, PlacedDamage, ReplicaFiles} from './replica.js'
import type {ByteDifference, Corruption, ReplicaDamage} from './types.js'

/** Damaged bytes are laid beside those of another replica up to this size, in pieces, and for this many damages. */
const bytesAtMost = 268_435_456
const pieceBytes = 1_048_576
const damagesCompared = 20

/**
 * The bytes of each replica that are no batch. Where another replica has the batch that should be there, its bytes tell
 * a flipped bit (in a length, a magic byte) from a batch that was never written whole.
 */
export async function damagesOf(
  replicas: readonly ReplicaFiles[],
  streams: readonly BatchStream[],
): Promise<ReplicaDamage[]> {
  const all: ReplicaDamage[] = []
  for (const [replica, {damages}] of streams.entries()) {
    for (const placed of damages) {
      const {damage, segment, from, to} = placed
      const beside = all.length < damagesCompared ? await besideAnother(replicas, replica, placed) : undefined
      all.push({
        replica,
        segment,
        position: damage.position,
        sizeInBytes: damage.sizeInBytes,
        kind: damage.kind,
        reason: damage.reason,
        from,
        to,
        bytes: beside?.bytes ?? null,
        differingBytes: beside?.differingBytes ?? 0,
        ...(beside && {against: beside.against}),
      })
    }
  }
  return all
}

/**
 * Batches whose CRC is false and that no replica had beside them, because their length or what came before is false too:
 * where a replica has a right batch of the same base offset, the bytes of that one are compared.
 */
export async function withBytes(
  replicas: readonly ReplicaFiles[],
  corruptions: readonly Corruption[],
): Promise<Corruption[]> {
  const all: Corruption[] = []
  let compared = 0
  for (const one of corruptions) {
    const beside =
      one.bytes === null && compared++ < damagesCompared ? await rightBatchBeside(replicas, one) : undefined
    all.push(beside ? {...one, ...beside} : one)
  }
  return all
}

async function rightBatchBeside(
  replicas: readonly ReplicaFiles[],
  {replica, batch}: Corruption,
): Promise<(Comparison & {readonly against: number}) | undefined> {
  const own = await replicas[replica]?.open(batch.segment)
  if (!own) return undefined
  for (const [against, other] of replicas.entries()) {
    const right = against === replica ? undefined : await batchAt(other, batch.baseOffset)
    const found = right && (await beside(own, batch.position, right, right.sizeInBytes))
    if (found) return {...found, against}
  }
  return undefined
}

/** Where the two differ; `undefined` if they are not the same batch, but for some bytes, or are too large. */
async function beside(
  own: ByteSource,
  position: number,
  right: RightBatch,
  length: number,
): Promise<Comparison | undefined> {
  if (length > bytesAtMost) return undefined
  const bytes: ByteDifference[] = []
  let differingBytes = 0
  for (let from = 0; from < length; from += pieceBytes) {
    const wanted = Math.min(pieceBytes, length - from)
    const [wrong, model] = [await own.read(position + from, wanted), await right.read(from, wanted)]
    const found = differencesOf(wrong, model, position, undefined, from)
    bytes.push(...found.bytes)
    differingBytes += found.differingBytes
    if (model.length < wrong.length || !isTheSame(differingBytes, from + wrong.length)) return undefined
  }
  return {bytes: bytes.slice(0, bytesTold), differingBytes}
}

/** Bytes of another batch would differ nearly everywhere. */
function isTheSame(differingBytes: number, length: number): boolean {
  return differingBytes <= Math.max(8, length / 8)
}

async function besideAnother(
  replicas: readonly ReplicaFiles[],
  damaged: number,
  {damage, segment, from}: PlacedDamage,
): Promise<(Comparison & {readonly against: number}) | undefined> {
  const own = await replicas[damaged]?.open(segment)
  if (!own) return undefined
  for (const [against, other] of replicas.entries()) {
    const right = against === damaged ? undefined : await batchAt(other, from)
    const found = right && (await beside(own, damage.position, right, damage.sizeInBytes))
    if (found) return {...found, against}
  }
  return undefined
}

interface RightBatch {
  readonly sizeInBytes: number
  /** Bytes of the file, counted from the batch's beginning. */
  read(from: number, length: number): Promise<Buffer>
}

/** The batch of a replica that begins with this offset, if its CRC is right. */
async function batchAt(replica: ReplicaFiles, offset: bigint): Promise<RightBatch | undefined> {
  const segment = replica.segments.findLast(({baseOffset}) => baseOffset === undefined || baseOffset <= offset)
  if (!segment) return undefined
  const file = await replica.open(segment.name)
  let found: RightBatch | undefined
  let done = false
  await readLog(file, {
    batch: batch => {
      const {position, sizeInBytes} = batch
      if (batch.baseOffset === offset && batch.crcIsRight) {
        found = {sizeInBytes, read: (from, length) => file.read(position + from, length)}
      }
      done = batch.baseOffset >= offset
      return false
    },
    record: () => {},
    get enough() {
      return done
    },
  })
  return found
}
