import {readLog} from '../read-log.js'
import {type Comparison, differencesOf} from './bytes.js'
import type {BatchStream, PlacedDamage, ReplicaFiles} from './replica.js'
import type {ReplicaDamage} from './types.js'

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
    const right = await bytesFrom(other, from, wrong.length)
    if (!right || right.length < wrong.length) continue
    const found = differencesOf(wrong, right, damage.position)
    // Bytes of another batch would differ nearly everywhere.
    if (found.differingBytes <= Math.max(8, wrong.length / 8)) return {...found, against}
  }
  return undefined
}

/** The bytes of a replica from the batch on that begins with this offset. */
async function bytesFrom(replica: ReplicaFiles, offset: bigint, length: number): Promise<Buffer | undefined> {
  const segment = replica.segments.findLast(({baseOffset}) => baseOffset === undefined || baseOffset <= offset)
  if (!segment) return undefined
  const file = await replica.open(segment.name)
  let position: number | undefined
  let done = false
  await readLog(file, {
    batch: batch => {
      if (batch.baseOffset === offset && batch.crcIsRight) position = batch.position
      done = batch.baseOffset >= offset
      return false
    },
    record: () => {},
    get enough() {
      return done
    },
  })
  return position === undefined ? undefined : file.read(position, length)
}
