import {ProtocolError} from '../protocol/errors.js'

/** A frame longer than this is no Kafka answer (fetch.max.bytes is 55 MB): the length is garbage. */
export const longestFrame = 256 * 1024 * 1024

/** Cuts a stream into Kafka's frames: int32 length, then that many bytes. Memory grows with what came, not with the length said. */
export class Frames {
  #chunks: Buffer[] = []
  #have = 0
  #need: number | undefined

  /**
   * The frames that are complete with this chunk, without their lengths.
   * @throws ProtocolError malformed
   */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk)
    this.#have += chunk.length
    const frames: Buffer[] = []
    for (;;) {
      if (this.#need === undefined) {
        if (this.#have < 4) return frames
        const length = this.#take(4).readInt32BE()
        if (length < 0 || length > longestFrame)
          throw new ProtocolError('malformed', `A frame says that it is ${length} bytes long.`)
        this.#need = length
      }
      if (this.#have < this.#need) return frames
      frames.push(this.#take(this.#need))
      this.#need = undefined
    }
  }

  #take(size: number): Buffer {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    const rest = all.subarray(size)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#have = rest.length
    return all.subarray(0, size)
  }
}
