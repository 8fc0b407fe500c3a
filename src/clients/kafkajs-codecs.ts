import {writeLz4, writeRawSnappy} from '../log/codec/writers.js'

// kafkajs brings gzip only; it takes the other codecs from whoever registers them. Brokers unpack what they are sent, and
// refuse what they can't.

/** Raw snappy, as kafkajs users know it: without the frame of Java's xerial library. */
export const snappy = writeRawSnappy

export const lz4 = (bytes: Buffer): Buffer => writeLz4(bytes, 2)

const zstdBlockBytes = 131_072

/** A zstd frame whose blocks hold the plain bytes (RFC 8878, raw blocks): legal, and no byte smaller. kx has no zstd encoder. */
export function zstdStored(bytes: Buffer): Buffer {
  // Single segment, with the size of the content in four bytes.
  const parts: Buffer[] = [Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0), uint32(bytes.length)]
  for (let at = 0; at === 0 || at < bytes.length; at += zstdBlockBytes) {
    const block = bytes.subarray(at, at + zstdBlockBytes)
    const last = at + zstdBlockBytes >= bytes.length
    parts.push(uint32((block.length << 3) | (last ? 1 : 0)).subarray(0, 3), block)
  }
  return Buffer.concat(parts)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
