// XXH32 (xxHash specification 0.1.1), little-endian: the checksum of LZ4 frames.

const [p1, p2, p3, p4, p5] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f, 0x1656_67b1]

/** XXH32 of `bytes[start..end)` as an unsigned number. */
export function xxhash32(bytes: Buffer, start = 0, end = bytes.length, seed = 0): number {
  const hash = new XxHash32(seed)
  hash.update(bytes, start, end)
  return hash.digest()
}

/** The same over bytes that come in pieces. */
export class XxHash32 {
  readonly #lanes: Int32Array
  readonly #rest = Buffer.alloc(16)
  readonly #seed: number
  #restLength = 0
  #total = 0

  constructor(seed = 0) {
    this.#seed = seed | 0
    this.#lanes = Int32Array.of(seed + p1 + p2, seed + p2, seed, seed - p1)
  }

  update(bytes: Buffer, start = 0, end = bytes.length): void {
    this.#total += end - start
    let at = start
    if (this.#restLength > 0) {
      const taken = Math.min(16 - this.#restLength, end - at)
      bytes.copy(this.#rest, this.#restLength, at, at + taken)
      this.#restLength += taken
      at += taken
      if (this.#restLength < 16) return
      this.#stripes(this.#rest, 0, 16)
      this.#restLength = 0
    }
    const whole = at + ((end - at) & ~15)
    this.#stripes(bytes, at, whole)
    if (whole < end) this.#restLength = bytes.copy(this.#rest, 0, whole, end)
  }

  digest(): number {
    const [a, b, c, d] = this.#lanes as unknown as [number, number, number, number]
    let hash =
      this.#total >= 16 ? (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0 : (this.#seed + p5) | 0
    hash = (hash + this.#total) | 0
    let at = 0
    for (; at + 4 <= this.#restLength; at += 4) {
      hash = Math.imul(rotate((hash + Math.imul(this.#rest.readInt32LE(at), p3)) | 0, 17), p4)
    }
    for (; at < this.#restLength; at++) {
      hash = Math.imul(rotate((hash + Math.imul(this.#rest[at] as number, p5)) | 0, 11), p1)
    }
    hash = Math.imul(hash ^ (hash >>> 15), p2)
    hash = Math.imul(hash ^ (hash >>> 13), p3)
    return (hash ^ (hash >>> 16)) >>> 0
  }

  #stripes(bytes: Buffer, start: number, end: number): void {
    const lanes = this.#lanes
    let [a, b, c, d] = lanes as unknown as [number, number, number, number]
    for (let at = start; at < end; at += 16) {
      a = round(a, little(bytes, at))
      b = round(b, little(bytes, at + 4))
      c = round(c, little(bytes, at + 8))
      d = round(d, little(bytes, at + 12))
    }
    lanes[0] = a
    lanes[1] = b
    lanes[2] = c
    lanes[3] = d
  }
}

function round(lane: number, input: number): number {
  return Math.imul(rotate((lane + Math.imul(input, p2)) | 0, 13), p1)
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

function little(bytes: Buffer, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
