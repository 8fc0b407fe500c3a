import {CodecError} from './stream.js'

/** The plain size that a raw Snappy block begins with, and how many bytes that varint has. @throws CodecError */
export function snappyPlainSize(
  source: Buffer,
  at: number,
  end: number,
): {readonly size: number; readonly bytes: number} {
  let size = 0
  for (let n = 0; n < 5; n++) {
    if (at + n >= end) throw wrong('its size is cut')
    const byte = source[at + n] as number
    size += (byte & 0x7f) * 2 ** (7 * n)
    if (byte < 0x80) {
      if (size > 0xffff_ffff) break
      return {size, bytes: n + 1}
    }
  }
  throw wrong('its size has more than 32 bits')
}

/**
 * Decodes the elements of a raw Snappy block (google/snappy, format_description.txt) that lie in `source[at..end)` into
 * `target` from `to` on; they must give `size` bytes.
 * @throws CodecError
 */
export function snappyBlock(source: Buffer, at: number, end: number, target: Buffer, to: number, size: number): void {
  const base = to
  const limit = to + size
  while (at < end) {
    const tag = source[at++] as number
    let length = (tag >>> 2) + 1
    let distance: number
    switch (tag & 3) {
      case 0: {
        const extra = length - 60
        if (extra > 0) {
          if (extra > end - at) throw wrong('a length passes its end')
          length = 1
          for (let n = 0; n < extra; n++) length += (source[at++] as number) * 2 ** (8 * n)
        }
        if (length > end - at) throw wrong('literals pass its end')
        if (length > limit - to) throw wrong('it is larger than it says')
        if (length <= 32) for (const stop = to + length; to < stop; ) target[to++] = source[at++] as number
        else {
          source.copy(target, to, at, at + length)
          to += length
          at += length
        }
        continue
      }
      case 1:
        if (at >= end) throw wrong('a copy passes its end')
        length = ((tag >>> 2) & 7) + 4
        distance = ((tag >>> 5) << 8) | (source[at++] as number)
        break
      case 2:
        if (end - at < 2) throw wrong('a copy passes its end')
        distance = (source[at] as number) | ((source[at + 1] as number) << 8)
        at += 2
        break
      default:
        if (end - at < 4) throw wrong('a copy passes its end')
        distance = source.readUInt32LE(at)
        at += 4
    }
    if (distance === 0 || distance > to - base) throw wrong('a copy reaches before its begin')
    if (length > limit - to) throw wrong('it is larger than it says')
    let from = to - distance
    for (const stop = to + length; to < stop; ) target[to++] = target[from++] as number
  }
  if (to !== limit) throw wrong(`it says ${size} plain bytes, and has ${to - base}`)
}

function wrong(why: string): CodecError {
  return new CodecError(`a damaged Snappy block: ${why}`)
}
