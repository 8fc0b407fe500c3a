import {messageOf} from '../../util/errors.js'
import {CodecError, type Decoding, type Inlet, type Outlet} from './stream.js'

// zstd by its own library, compiled to WebAssembly: the same on each platform and with each Node (which has zstd itself
// only from 22.15 on). The package's class copies each result and bounds nothing, so that the functions of the library are
// called as they are exported (zstd.h). Memory lies in the module's own: it never shrinks, and is bounded by what is asked.

interface Library {
  readonly memory: {readonly buffer: ArrayBuffer}
  malloc(size: number): number
  free(pointer: number): void
  /** The plain size, or a negative error code. */
  ZSTD_decompress(target: number, capacity: number, source: number, size: number): number
  ZSTD_createDCtx(): number
  ZSTD_freeDCtx(context: number): number
  /** 0 at the end of a frame, else a hint above 0; or a negative error code. */
  ZSTD_decompressStream(context: number, output: number, input: number): number
}

/** ZSTD_ErrorCode (zstd_errors.h). */
const errors: Readonly<Record<number, string>> = {
  10: 'it does not begin as a frame does',
  12: 'a version that is not known',
  14: 'a frame parameter that is not known',
  16: 'a window that is too large',
  20: 'its data are corrupt',
  22: 'its checksum is wrong',
  24: 'its data are corrupt (literals)',
  30: 'it needs a dictionary',
  32: 'it needs a dictionary',
  70: 'it is larger than its frame says',
  72: 'it is cut, or something that is no frame follows',
}
const targetTooSmall = -70
const leastTarget = 262_144
const inputPiece = 131_072
const windowAtMost = 67_108_864
const outputPiece = 131_072
/** ZSTD_BLOCKSIZE_MAX, of plain bytes. */
const largestBlock = 131_072
/** WILDCOPY_OVERLENGTH of the library. */
const overcopied = 32
/** The library says how many bytes it wants next: those of a block and the header of the next one. */
const blockHeaderBytes = 3

let library: Library | undefined
let loading: Promise<void> | undefined
let obstacle = 'the zstd decoder is not loaded'

export function zstdIsLoaded(): boolean {
  return library !== undefined
}

/** Loads the decoder, once. Never fails: what can't be loaded is told by each batch that needs it. */
export function loadZstd(): Promise<void> {
  loading ??= load().catch(error => {
    obstacle = `the zstd decoder can't be loaded (${messageOf(error).split('\n')[0]})`
  })
  return loading
}

async function load(): Promise<void> {
  const {ZSTDDecoder} = await import('zstddec/stream')
  const decoder = new ZSTDDecoder()
  // The class keeps the instance to itself; it hands itself the result of the instantiation.
  const keep = decoder._init
  decoder._init = result => {
    keep(result)
    library = result.instance.exports as unknown as Library
  }
  await decoder.init()
}

/**
 * Decodes all frames at once. What only the streaming decoder takes, which Kafka uses, is taken; before an error, what
 * comes before the damage is put out.
 * @throws CodecError
 */
export function decodeZstd(inlet: Inlet, outlet: Outlet, atMost: number): void {
  const {ZSTD_decompress} = loaded()
  const stored = inlet.bytes.subarray(inlet.at)
  source.grow(stored.length)
  target.grow(Math.min(leastTarget, atMost))
  bytesOf(source.pointer, stored.length).set(stored)
  for (;;) {
    const size = ZSTD_decompress(target.pointer, target.size, source.pointer, stored.length)
    if (size >= 0) {
      outlet.append(bytesOf(target.pointer, size))
      return
    }
    if (size !== targetTooSmall) break
    if (target.size >= atMost) throw new CodecError(`more than ${atMost} plain bytes`, {tooLarge: true})
    target.grow(Math.min(target.size * 4, atMost))
  }
  rescue(inlet, outlet, stored.length)
  // The streaming decoder, too, decodes it at once then.
  if (saysContentSize(stored)) throw new CodecError('a damaged zstd stream: it is not what its frame says')
}

function saysContentSize(stored: Buffer): boolean {
  return ((stored[4] ?? 0) & 0xe0) !== 0
}

/** The stored bytes are at `source`, and are damaged. */
function rescue(inlet: Inlet, outlet: Outlet, storedBytes: number): void {
  const before = outlet.length
  try {
    const decoding = streamZstd(inlet, outlet)
    while (!decoding.next().done);
  } catch (error) {
    if (!(error instanceof CodecError) || error.tooLarge) throw error
    outlet.append(ofDamagedBlock(storedBytes, outlet.length - before))
    throw error
  }
}

/**
 * What the library has decoded of the damaged block, which begins `done` bytes after the first plain one, when it finds that
 * the source is damaged. It doesn't say: it is what does not depend on the bytes that were at `target` before.
 */
function ofDamagedBlock(storedBytes: number, done: number): Uint8Array {
  const {ZSTD_decompress} = loaded()
  const capacity = Math.min(target.size, done + largestBlock + overcopied)
  const decodedOver = (fill: number): Uint8Array => {
    bytesOf(target.pointer, capacity).fill(fill, done)
    ZSTD_decompress(target.pointer, capacity, source.pointer, storedBytes)
    return bytesOf(target.pointer, capacity).subarray(done)
  }
  const first = decodedOver(0).slice()
  const second = decodedOver(0xff)
  let end = 0
  while (end < first.length && first[end] === second[end]) end++
  // It copies more at once than it needs.
  return second.subarray(0, Math.max(0, end - overcopied))
}

/**
 * Decodes a stream in pieces, block by block: what comes before a damaged one is put out.
 * @throws CodecError
 */
export function* streamZstd(inlet: Inlet, outlet: Outlet): Decoding {
  const {malloc, free, ZSTD_createDCtx, ZSTD_freeDCtx, ZSTD_decompressStream} = loaded()
  const context = ZSTD_createDCtx()
  const input = malloc(inputPiece)
  const output = malloc(outputPiece)
  const cursors = malloc(24)
  try {
    let unfinished = 0
    while (yield* inlet.more()) {
      if (unfinished === 0) yield* checkWindow(inlet)
      const wanted = unfinished > blockHeaderBytes ? unfinished - blockHeaderBytes : Math.max(unfinished, 1)
      const taken = Math.min(inlet.left, inputPiece, wanted)
      bytesOf(input, taken).set(inlet.bytes.subarray(inlet.at, inlet.at + taken))
      words(cursors).set([input, taken, 0])
      let filled: number
      do {
        words(cursors).set([output, outputPiece, 0], 3)
        unfinished = ZSTD_decompressStream(context, cursors + 12, cursors)
        if (unfinished < 0) throw wrong(unfinished)
        filled = words(cursors)[5] as number
        outlet.append(bytesOf(output, filled))
        yield 0
      } while (unfinished !== 0 && (words(cursors)[2] !== taken || filled === outputPiece))
      inlet.at += words(cursors)[2] as number
    }
    if (unfinished !== 0) throw new CodecError('the zstd stream is cut')
  } finally {
    for (const pointer of [input, output, cursors]) free(pointer)
    ZSTD_freeDCtx(context)
  }
}

/** A frame says how much of what was decoded it looks back on: that much is held. RFC 8878, 3.1.1.1. */
function* checkWindow(inlet: Inlet): Decoding {
  while (inlet.left < 14 && !inlet.isLast) yield 14
  if (inlet.left < 14 || inlet.bytes.readUInt32LE(inlet.at) !== 0xfd2f_b528) return
  const descriptor = inlet.bytes[inlet.at + 4] as number
  const isSingleSegment = (descriptor & 0x20) !== 0
  const window = isSingleSegment ? contentSize(inlet, descriptor) : windowSize(inlet.bytes[inlet.at + 5] as number)
  if (window > windowAtMost) {
    throw new CodecError(
      `a zstd frame with a window of ${window} bytes, and ${windowAtMost} are held of one this large`,
    )
  }
}

function windowSize(descriptor: number): number {
  return 2 ** (10 + (descriptor >> 3)) * (1 + (descriptor & 7) / 8)
}

function contentSize({bytes, at}: Inlet, descriptor: number): number {
  const start = at + 5 + ([0, 1, 2, 4][descriptor & 3] as number)
  // Shorter sizes are below any limit.
  if (descriptor >> 6 === 2) return start + 4 <= bytes.length ? bytes.readUInt32LE(start) : 0
  return descriptor >> 6 === 3 && start + 8 <= bytes.length ? Number(bytes.readBigUInt64LE(start)) : 0
}

function loaded(): Library {
  if (!library) throw new CodecError(obstacle)
  return library
}

/** Bytes of the module's memory that grow when more are needed. */
class Area {
  pointer = 0
  size = 0

  grow(size: number): void {
    if (this.size >= size) return
    const {malloc, free} = loaded()
    if (this.size > 0) free(this.pointer)
    this.size = 0
    this.pointer = malloc(size)
    if (this.pointer === 0) throw new CodecError(`no memory for ${size} bytes`)
    this.size = size
  }
}

const source = new Area()
const target = new Area()

/** Views are made anew each time: growing the memory detaches them. */
function bytesOf(pointer: number, length: number): Uint8Array {
  return new Uint8Array(loaded().memory.buffer, pointer, length)
}

function words(pointer: number): Uint32Array {
  return new Uint32Array(loaded().memory.buffer, pointer, 6)
}

function wrong(code: number): CodecError {
  return new CodecError(`a damaged zstd stream: ${errors[-code] ?? `error ${-code}`}`)
}
