import {crc32} from 'node:zlib'
import {crc32c} from '../../../../src/log/crc32c.js'

// Where things lie in a segment, known here by heart: what is tested must not say where it is to be hurt.

export interface BatchPlace {
  readonly position: number
  readonly sizeInBytes: number
  readonly magic: number
}

/** The whole batches from the beginning to the first thing that is none. */
export function batchesOf(bytes: Buffer): BatchPlace[] {
  const places: BatchPlace[] = []
  for (let position = 0; position + 26 <= bytes.length; ) {
    const sizeInBytes = 12 + bytes.readInt32BE(position + 8)
    const magic = bytes.readInt8(position + 16)
    if (sizeInBytes < 26 || position + sizeInBytes > bytes.length || magic < 0 || magic > 2) break
    places.push({position, sizeInBytes, magic})
    position += sizeInBytes
  }
  return places
}

/** Sets the CRC of every batch that has room for one, in place. */
export function fixCrcs(bytes: Buffer): void {
  for (const {position, sizeInBytes, magic} of batchesOf(bytes)) {
    const end = position + sizeInBytes
    if (magic < 2) bytes.writeUInt32BE(crc32(bytes.subarray(position + 16, end)), position + 12)
    else if (sizeInBytes >= 61) bytes.writeUInt32BE(crc32c(bytes.subarray(position + 21, end)), position + 17)
  }
}

/** Sets the CRC of a producer snapshot, in place. */
export function fixSnapshotCrc(bytes: Buffer): void {
  if (bytes.length >= 6) bytes.writeUInt32BE(crc32c(bytes.subarray(6)), 2)
}

/** Position and size of the fields of a batch of magic 2. */
export const fields: readonly (readonly [position: number, size: 1 | 2 | 4 | 8])[] = [
  [0, 8],
  [8, 4],
  [12, 4],
  [16, 1],
  [17, 4],
  [21, 2],
  [22, 1],
  [23, 4],
  [27, 8],
  [35, 8],
  [43, 8],
  [51, 2],
  [53, 4],
  [57, 4],
]

/** The same of a message of magic 0 and 1. */
export const legacyFields: readonly (readonly [position: number, size: 1 | 2 | 4 | 8])[] = [
  [0, 8],
  [8, 4],
  [12, 4],
  [16, 1],
  [17, 1],
  [18, 4],
  [18, 8],
  [22, 4],
  [26, 4],
  [30, 4],
]

export function writeInt(bytes: Buffer, position: number, size: 1 | 2 | 4 | 8, value: bigint): void {
  if (position < 0 || position + size > bytes.length) return
  for (let n = 0; n < size; n++) bytes[position + n] = Number((value >> BigInt(8 * (size - 1 - n))) & 0xffn)
}
