import {appendSnappyBlock} from './block-decoder.js'
import {CodecError, type Decoding, type Inlet, type Outlet, rescue} from './stream.js'

// Two forms occur: one raw Snappy block (librdkafka, kafkajs), and the stream of xerial's snappy-java: a header, then blocks
// that each have their length before them; several such streams may be joined. Kafka's reader takes what begins with
// xerial's magic as the second, and all else as the first.

/** `82 SNAPPY 00` */
export const xerialMagic = Buffer.from('82534e4150505900', 'hex')
const xerialHeaderBytes = 16
/** The begin of the magic where a block's length should be: another stream is joined. */
const joined = 0x8253_4e41
/** What no honest writer comes near: producers and brokers limit a batch to far less. */
const rawBytesAtMost = 0x7fff_ffff

/** @throws CodecError */
export function* decodeSnappy(inlet: Inlet, outlet: Outlet): Decoding {
  while (inlet.left < xerialHeaderBytes && !inlet.isLast) yield xerialHeaderBytes
  yield* isXerial(inlet) ? xerial(inlet, outlet) : raw(inlet, outlet)
}

function isXerial({left, bytes, at}: Inlet): boolean {
  return left >= xerialHeaderBytes && xerialMagic.compare(bytes, at, at + xerialMagic.length) === 0
}

function* xerial(inlet: Inlet, outlet: Outlet): Decoding {
  let refused = header(inlet, outlet)
  while (yield* inlet.more()) {
    while (inlet.left < 4 && !inlet.isLast) yield 4
    if (inlet.left < 4) {
      outlet.remarks.push(`${inlet.left} bytes behind the last block of the Snappy stream`)
      break
    }
    const length = inlet.bytes.readUInt32BE(inlet.at)
    if (length === joined) {
      yield* inlet.need(xerialHeaderBytes, 'the header of a joined Snappy stream')
      const refusal = header(inlet, outlet)
      refused ??= refusal
      continue
    }
    inlet.at += 4
    if (length > rawBytesAtMost) throw new CodecError(`a Snappy block of ${length | 0} bytes`)
    yield* block(inlet, outlet, length)
    yield 0
  }
  if (refused !== undefined) throw new CodecError(refused)
}

/** Steps over a header. Why xerial's reader refuses the stream, if so; what comes can be read all the same. */
function header(inlet: Inlet, outlet: Outlet): string | undefined {
  const isWhole = isXerial(inlet)
  const at = inlet.at + xerialMagic.length
  const [version, compatible] = [inlet.bytes.readInt32BE(at), inlet.bytes.readInt32BE(at + 4)]
  inlet.at += xerialHeaderBytes
  // Of a joined stream only the begin of the magic is looked for.
  if (!isWhole) outlet.remarks.push('a joined Snappy stream whose magic is damaged')
  else if (version < 1) return `a Snappy stream of version ${version}: Kafka reads those from 1 on`
  if (version !== 1 || compatible !== 1) {
    outlet.remarks.push(
      `the header of the Snappy stream has version ${version}, compatible with ${compatible}; it is 1 and 1`,
    )
  }
  return undefined
}

function* raw(inlet: Inlet, outlet: Outlet): Decoding {
  while (!inlet.isLast) yield inlet.left + 1
  yield* block(inlet, outlet, inlet.left)
}

function* block(inlet: Inlet, outlet: Outlet, length: number): Decoding {
  const cut = yield* inlet.upTo(length, 'a block of the Snappy stream')
  if (cut !== undefined) {
    rescue(() => appendSnappyBlock(inlet.bytes, inlet.at, inlet.at + inlet.left, outlet))
    throw new CodecError(cut)
  }
  appendSnappyBlock(inlet.bytes, inlet.at, inlet.at + length, outlet)
  inlet.at += length
}
