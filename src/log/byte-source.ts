/** Where bytes come from: a file, a buffer, a container's file. `src/log` is pure and knows nothing else of the world. */
export interface ByteSource {
  /** Bytes in all. For a file that grows: as of when the source was opened. */
  readonly size: number
  /** Up to `length` bytes from `position`; fewer only at the end. */
  read(position: number, length: number): Promise<Buffer>
  /**
   * For small pieces, where the source can give them without waiting: fills `into` from `position`. Returns how many bytes it
   * gave; fewer only at the end.
   */
  readNow?(position: number, into: Buffer): number
}

export function bufferSource(buffer: Buffer): ByteSource {
  return {
    size: buffer.length,
    read: async (position, length) => buffer.subarray(position, Math.min(position + length, buffer.length)),
  }
}
