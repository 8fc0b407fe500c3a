/** Bits 0-2 of a batch's attributes (org.apache.kafka.common.record.CompressionType). */
export const codecNames = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type CodecName = (typeof codecNames)[number] | 'unknown'

export function codecName(attributes: number): CodecName {
  return codecNames[attributes & 0x07] ?? 'unknown'
}

/** Records as they lie in memory once they are uncompressed, or why they can't be had. */
export type Uncompressed = {readonly bytes: Buffer} | {readonly unreadable: string}

/**
 * The one place where codecs come in: the records of a compressed batch are one blob in that codec's own stream format.
 * Only `none` is read so far, and it is not copied.
 */
export function uncompressed(codec: CodecName, bytes: Buffer): Uncompressed {
  if (codec === 'none') return {bytes}
  return {unreadable: `codec not read yet: ${codec}`}
}
