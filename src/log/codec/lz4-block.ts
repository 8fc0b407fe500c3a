import {CodecError} from './stream.js'

/**
 * Decodes one LZ4 block (LZ4 block format) from `source[at..end)` into `target` from `to` on, at most up to `limit`.
 * Matches don't reach before `to`: blocks are independent. Returns where the plain bytes end.
 * @throws CodecError
 */
export function lz4Block(source: Buffer, at: number, end: number, target: Buffer, to: number, limit: number): number {
  const base = to
  while (at < end) {
    const token = source[at++] as number
    let length = token >>> 4
    if (length === 15) {
      let more: number
      do {
        if (at >= end) throw wrong('a length passes its end')
        more = source[at++] as number
        length += more
      } while (more === 255)
    }
    if (length > end - at) throw wrong('literals pass its end')
    if (length > limit - to) throw wrong('it is larger than the frame allows')
    if (length <= 32) for (const stop = at + length; at < stop; ) target[to++] = source[at++] as number
    else {
      source.copy(target, to, at, at + length)
      to += length
      at += length
    }
    if (at === end) return to

    if (end - at < 2) throw wrong('a match passes its end')
    const distance = (source[at] as number) | ((source[at + 1] as number) << 8)
    at += 2
    if (distance === 0 || distance > to - base) throw wrong('a match reaches before its begin')
    length = token & 15
    if (length === 15) {
      let more: number
      do {
        if (at >= end) throw wrong('a length passes its end')
        more = source[at++] as number
        length += more
      } while (more === 255)
    }
    length += 4
    if (length > limit - to) throw wrong('it is larger than the frame allows')
    let from = to - distance
    if (length > 64 && distance >= length) {
      target.copyWithin(to, from, from + length)
      to += length
    } else for (const stop = to + length; to < stop; ) target[to++] = target[from++] as number
  }
  throw wrong('it has no last literals')
}

function wrong(why: string): CodecError {
  return new CodecError(`a damaged LZ4 block: ${why}`)
}
