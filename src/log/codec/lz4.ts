import {appendLz4Block} from './block-decoder.js'
import {CodecError, type Decoding, type Inlet, type Outlet, rescue} from './stream.js'
import {XxHash32, xxhash32} from './xxhash32.js'

// The LZ4 frame as Kafka reads it (org.apache.kafka.common.compress.Lz4BlockInputStream; LZ4 frame format 1.5.1): one frame
// of independent blocks.

const magic = 0x184d_2204
const flags = {contentChecksum: 0x04, contentSize: 0x08, blockChecksum: 0x10, independent: 0x20} as const
const stored = 0x8000_0000

interface Frame {
  readonly blockBytes: number
  readonly blockChecksum: boolean
  readonly contentChecksum: boolean
}

/**
 * @param oddHeader The batch has magic 0: its writers computed the header's checksum wrongly, so that it says nothing
 * (KAFKA-3160).
 * @throws CodecError
 */
export function* decodeLz4(inlet: Inlet, outlet: Outlet, oddHeader: boolean): Decoding {
  const frame = yield* header(inlet, oddHeader)
  const content = frame.contentChecksum ? new XxHash32() : undefined
  for (;;) {
    yield* inlet.need(4, 'the LZ4 frame (its end mark is missing)')
    const word = inlet.bytes.readUInt32LE(inlet.at)
    inlet.at += 4
    const size = word % stored
    if (size === 0) break
    yield* block(inlet, outlet, frame, size, word >= stored, content)
    yield 0
  }
  if (content) {
    yield* inlet.need(4, 'the content checksum of the LZ4 frame')
    const said = inlet.bytes.readUInt32LE(inlet.at)
    inlet.at += 4
    if (said !== content.digest()) {
      outlet.remarks.push(`the content checksum of the LZ4 frame is wrong: ${said}, computed ${content.digest()}`)
    }
  }
  const behind = yield* inlet.drain()
  if (behind > 0) outlet.remarks.push(`${behind} bytes behind the end of the LZ4 frame`)
}

function* header(inlet: Inlet, oddHeader: boolean): Generator<number, Frame, void> {
  yield* inlet.need(7, 'the header of the LZ4 frame')
  const {bytes, at} = inlet
  if (bytes.readUInt32LE(at) !== magic) throw new CodecError(`no LZ4 frame: it begins with ${hex(bytes, at, 4)}`)
  const flg = bytes[at + 4] as number
  const bd = bytes[at + 5] as number
  if (flg >> 6 !== 1) throw new CodecError(`an LZ4 frame of version ${flg >> 6}`)
  if ((flg & flags.independent) === 0) throw new CodecError('an LZ4 frame of linked blocks, which Kafka can’t read')
  if ((flg & 0x03) !== 0)
    throw new CodecError(`an LZ4 frame with reserved flags or a dictionary id (FLG 0x${flg.toString(16)})`)
  const code = (bd >> 4) & 0x07
  if ((bd & 0x8f) !== 0 || code < 4) throw new CodecError(`an LZ4 frame with the block size code 0x${bd.toString(16)}`)
  const descriptor = (flg & flags.contentSize) === 0 ? 2 : 10
  yield* inlet.need(4 + descriptor + 1, 'the header of the LZ4 frame')
  const from = inlet.at + 4
  const said = inlet.bytes[from + descriptor] as number
  const computed = (xxhash32(inlet.bytes, from, from + descriptor) >>> 8) & 0xff
  if (!oddHeader && said !== computed) {
    throw new CodecError(`the header checksum of the LZ4 frame is wrong: ${said}, computed ${computed}`)
  }
  inlet.at = from + descriptor + 1
  return {
    blockBytes: 1 << (8 + 2 * code),
    blockChecksum: (flg & flags.blockChecksum) !== 0,
    contentChecksum: (flg & flags.contentChecksum) !== 0,
  }
}

function* block(
  inlet: Inlet,
  outlet: Outlet,
  {blockBytes, blockChecksum}: Frame,
  size: number,
  isStored: boolean,
  content: XxHash32 | undefined,
): Decoding {
  if (size > blockBytes) throw new CodecError(`an LZ4 block of ${size} bytes, and the frame allows ${blockBytes}`)
  const cut = yield* inlet.upTo(size + (blockChecksum ? 4 : 0), 'a block of the LZ4 frame')
  const {bytes, at} = inlet
  if (cut !== undefined) {
    if (isStored) outlet.append(bytes.subarray(at, at + Math.min(size, inlet.left)))
    else rescue(() => appendLz4Block(bytes, at, at + Math.min(size, inlet.left), outlet, blockBytes))
    throw new CodecError(cut)
  }
  if (blockChecksum && bytes.readUInt32LE(at + size) !== xxhash32(bytes, at, at + size)) {
    throw new CodecError('the checksum of an LZ4 block is wrong')
  }
  const before = outlet.length
  if (isStored) outlet.append(bytes.subarray(at, at + size))
  else appendLz4Block(bytes, at, at + size, outlet, blockBytes)
  content?.update(outlet.bytes, before, outlet.length)
  inlet.at = at + size + (blockChecksum ? 4 : 0)
}

function hex(bytes: Buffer, at: number, count: number): string {
  return bytes.toString('hex', at, at + count)
}
