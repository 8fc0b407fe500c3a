import {readLog} from '../read-log.js'
import {type Comparison, differencesOf} from './bytes.js'
import type {BatchStream, PlacedDamage, ReplicaFiles} from './replica.js'
import type {Corruption, ReplicaDamage} from './types.js'

/** Damaged bytes are laid beside those of another replica up to this size and for this many damages. */
const bytesAtMost = 1_048_576
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
    if (!right || right.sizeInBytes > bytesAtMost) continue
    const wrong = await own.read(batch.position, right.sizeInBytes)
    const found = differencesOf(wrong, await right.read(right.sizeInBytes), batch.position)
    if (isTheSame(found, wrong)) return {...found, against}
  }
  return undefined
}

/** Bytes of another batch would differ nearly everywhere. */
function isTheSame({differingBytes}: Comparison, bytes: Buffer): boolean {
  return differingBytes <= Math.max(8, bytes.length / 8)
}

async function besideAnother(
  replicas: readonly ReplicaFiles[],
  damaged: number,
  {damage, segment, from}: PlacedDamage,
): Promise<(Comparison & {readonly against: number}) | undefined> {
  if (damage.sizeInBytes > bytesAtMost) return undefined
  const own = replicas[damaged]
  if (!own) return undefined
  const wrong = await (await own.open(segment)).read(damage.position, damage.sizeInBytes)
  for (const [against, other] of replicas.entries()) {
    if (against === damaged) continue
    const right = await (await batchAt(other, from))?.read(wrong.length)
    if (!right || right.length < wrong.length) continue
    const found = differencesOf(wrong, right, damage.position)
    if (isTheSame(found, wrong)) return {...found, against}
  }
  return undefined
}

interface RightBatch {
  readonly sizeInBytes: number
  /** Bytes of the file from the batch's beginning on. */
  read(length: number): Promise<Buffer>
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
        found = {sizeInBytes, read: length => file.read(position, length)}
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
