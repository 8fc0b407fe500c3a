import {createInflateRaw} from 'node:zlib'

/** Into how many parts what holds the damage is divided, again and again: each time the stream is decoded once more. */
const parts = 64

/**
 * The plain bytes of a damaged member before the damage, to the byte. The library keeps what it has decoded of the bytes
 * that it fails on: they are given to it in ever smaller pieces around the damage.
 * @param start Of the deflated bytes in the stream
 * @param skipped Plain bytes that are known already
 */
export async function* piecesBeforeDamage(
  stored: () => AsyncIterable<Buffer>,
  start: number,
  skipped: number,
): AsyncGenerator<Buffer, void, void> {
  let [from, to] = [start, Number.POSITIVE_INFINITY]
  for (let size = Number.POSITIVE_INFINITY; size > 1; ) {
    for await (const step of steps(stored(), start, {from, to, size, keptFrom: Number.POSITIVE_INFINITY})) {
      if (step.isWrong) to = step.end
      else from = step.end
    }
    if (to === Number.POSITIVE_INFINITY) break
    size = Math.max(1, Math.ceil((to - from) / parts))
  }
  for await (const {plain} of steps(stored(), start, {from, to, size: 1, keptFrom: skipped})) yield* plain
}

interface Step {
  /** Of the stored bytes that were given. */
  readonly end: number
  readonly isWrong: boolean
  readonly plain: readonly Buffer[]
}

interface Steps {
  readonly from: number
  readonly to: number
  readonly size: number
  /** Plain bytes before it are dropped: there may be any number of them. */
  readonly keptFrom: number
}

/** Gives the library the stored bytes from `start` on, those between `from` and `to` in steps of `size`. */
async function* steps(
  stored: AsyncIterable<Buffer>,
  start: number,
  {from, to, size, keptFrom}: Steps,
): AsyncGenerator<Step, void, void> {
  const inflate = createInflateRaw({chunkSize: 65_536})
  let plain: Buffer[] = []
  let isWrong = false
  let produced = 0
  inflate.on('data', (piece: Buffer) => {
    produced += piece.length
    const kept = Math.min(piece.length, produced - keptFrom)
    if (kept > 0) plain.push(piece.subarray(piece.length - kept))
  })
  inflate.on('error', () => {
    isWrong = true
  })
  const closed = new Promise<void>(resolve => inflate.once('close', resolve))
  let position = 0
  try {
    for await (const bytes of stored) {
      const origin = position
      position += bytes.length
      for (let at = Math.max(start, origin); at < position; ) {
        const end = Math.min(position, at < from ? from : at < to ? at + size : position)
        const piece = Buffer.from(bytes.subarray(at - origin, end - origin))
        await Promise.race([new Promise<void>(resolve => inflate.write(piece, () => resolve())), closed])
        yield {end, isWrong, plain}
        plain = []
        if (isWrong || inflate.destroyed) return
        at = end
      }
    }
  } finally {
    inflate.destroy()
  }
}
