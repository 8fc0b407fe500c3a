import {appendSnappyBlock} from './block-decoder.js'
import {CodecError, type Decoding, type Inlet, type Outlet} from './stream.js'

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
  const isXerial =
    inlet.left >= xerialHeaderBytes && xerialMagic.compare(inlet.bytes, inlet.at, inlet.at + xerialMagic.length) === 0
  yield* isXerial ? xerial(inlet, outlet) : raw(inlet, outlet)
}

function* xerial(inlet: Inlet, outlet: Outlet): Decoding {
  headerRemarks(inlet, outlet, inlet.at + 8)
  inlet.at += xerialHeaderBytes
  while (yield* inlet.more()) {
    while (inlet.left < 4 && !inlet.isLast) yield 4
    if (inlet.left < 4) {
      outlet.remarks.push(`${inlet.left} bytes behind the last block of the Snappy stream`)
      return
    }
    const length = inlet.bytes.readUInt32BE(inlet.at)
    if (length === joined) {
      yield* inlet.need(xerialHeaderBytes, 'the header of a joined Snappy stream')
      headerRemarks(inlet, outlet, inlet.at + 8)
      inlet.at += xerialHeaderBytes
      continue
    }
    inlet.at += 4
    if (length > rawBytesAtMost) throw new CodecError(`a Snappy block of ${length | 0} bytes`)
    yield* block(inlet, outlet, length)
    yield 0
  }
}

function headerRemarks(inlet: Inlet, outlet: Outlet, at: number): void {
  const [version, compatible] = [inlet.bytes.readInt32BE(at), inlet.bytes.readInt32BE(at + 4)]
  if (version !== 1 || compatible !== 1) {
    outlet.remarks.push(
      `the header of the Snappy stream has version ${version}, compatible with ${compatible}; it is 1 and 1`,
    )
  }
}

function* raw(inlet: Inlet, outlet: Outlet): Decoding {
  while (!inlet.isLast) yield inlet.left + 1
  yield* block(inlet, outlet, inlet.left)
}

function* block(inlet: Inlet, outlet: Outlet, length: number): Decoding {
  yield* inlet.need(length, 'a block of the Snappy stream')
  appendSnappyBlock(inlet.bytes, inlet.at, inlet.at + length, outlet)
  inlet.at += length
}
