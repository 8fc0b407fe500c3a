import {blocksInBase64} from './blocks.js'
import {CodecError, type Outlet} from './stream.js'

// The blocks of LZ4 and Snappy are decoded in WebAssembly (blocks.wat), four to eight times faster than JavaScript does it,
// on every platform and without an addon. Its memory grows to the largest block, stored and plain.

interface Blocks {
  readonly memory: {readonly buffer: ArrayBuffer; grow(pages: number): number}
  /** After damage: where the plain bytes before it end. */
  readonly reached: {readonly value: number}
  /** Matches with the distance 0 in the LZ4 block. */
  readonly hollow: {readonly value: number}
  /** Decodes [at, end) to `to`, at most up to `limit`: the end of the plain bytes, or what is damaged, below 0. */
  lz4(at: number, end: number, to: number, limit: number): number
  /** The same for the elements of a Snappy block, which must end at `limit`. */
  snappy(at: number, end: number, to: number, limit: number): number
}

/** The part of the global that is used here; Node's types leave it out. */
interface WithWebAssembly {
  readonly WebAssembly?: {
    readonly Module: new (bytes: Uint8Array) => object
    readonly Instance: new (module: object) => {readonly exports: unknown}
  }
}

const damage: Readonly<Record<number, string>> = {
  [-1]: 'it has no last literals',
  [-2]: 'a length passes its end',
  [-3]: 'literals pass its end',
  [-4]: 'it is larger than it may be',
  [-5]: 'a match passes its end',
  [-6]: 'a match reaches before its begin',
  [-7]: 'it is smaller than it says',
}
/** What is read and written beyond input and output. */
const slack = 8
const pageBytes = 65_536

let blocks: Blocks | undefined
let memory = Buffer.alloc(0)

/** Appends a decoded LZ4 block of at most `most` plain bytes; before an error, those before the damage. @throws CodecError */
export function appendLz4Block(source: Buffer, at: number, end: number, outlet: Outlet, most: number): void {
  const {lz4, hollow} = loaded()
  const to = place(source, at, end, most)
  append('LZ4', lz4(0, end - at, to, to + most), to, outlet)
  if (hollow.value > 0)
    outlet.remarks.push('an LZ4 block with a match of the distance 0, which stands for nothing: zeros')
}

/** Appends a decoded raw Snappy block; before an error, the plain bytes before the damage. @throws CodecError */
export function appendSnappyBlock(source: Buffer, at: number, end: number, outlet: Outlet): void {
  const {snappy} = loaded()
  const {size, bytes} = snappySize(source, at, end)
  outlet.check(size)
  const to = place(source, at + bytes, end, size)
  append('Snappy', snappy(0, end - at - bytes, to, to + size), to, outlet)
}

/** The plain size that a Snappy block begins with, and how many bytes it has itself. */
function snappySize(source: Buffer, at: number, end: number): {readonly size: number; readonly bytes: number} {
  let size = 0
  for (let n = 0; n < 5 && at + n < end; n++) {
    const byte = source[at + n] as number
    size += (byte & 0x7f) * 2 ** (7 * n)
    if (byte < 0x80 && size <= 0xffff_ffff) return {size, bytes: n + 1}
  }
  throw new CodecError('a damaged Snappy block: its size is cut, or has more than 32 bits')
}

/** Puts the stored bytes at 0, makes room for `most` plain ones, and returns where those begin. */
function place(source: Buffer, at: number, end: number, most: number): number {
  const to = end - at + slack
  const needed = to + most + slack
  if (memory.length < needed) {
    const {memory: own} = loaded()
    try {
      own.grow(Math.ceil((needed - own.buffer.byteLength) / pageBytes))
    } catch {
      throw new CodecError(`no memory for a block of ${most} plain bytes`)
    }
    memory = Buffer.from(own.buffer)
  }
  source.copy(memory, 0, at, end)
  return to
}

function append(codec: string, result: number, from: number, outlet: Outlet): void {
  outlet.append(memory.subarray(from, result < 0 ? loaded().reached.value : result))
  if (result < 0) throw new CodecError(`a damaged ${codec} block: ${damage[result]}`)
}

function loaded(): Blocks {
  if (!blocks) {
    const {WebAssembly} = globalThis as WithWebAssembly
    if (!WebAssembly) throw new CodecError('this Node runs without WebAssembly (--jitless?), which decodes it')
    const made = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(blocksInBase64, 'base64')))
    blocks = made.exports as Blocks
    memory = Buffer.from(blocks.memory.buffer)
  }
  return blocks
}
