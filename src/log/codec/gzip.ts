import {constants, crc32, inflateRawSync} from 'node:zlib'
import {CodecError, type Inlet, type Outlet} from './stream.js'

const flags = {headerChecksum: 0x02, extra: 0x04, name: 0x08, comment: 0x10, reserved: 0xe0} as const
export const cutHeader = 'the header of the gzip stream is cut'
const fixedHeaderBytes = 10
export const trailerBytes = 8

/**
 * The members of a gzip stream (RFC 1952), as java.util.zip.GZIPInputStream reads them: what follows a member and is no
 * member ends the stream without an error.
 * @throws CodecError
 */
export function decodeGzip(inlet: Inlet, outlet: Outlet, atMost: number): void {
  const {bytes} = inlet
  for (let member = 1; ; member++) {
    const start = headerEnd(bytes, inlet.at, outlet.remarks)
    if (typeof start === 'string') {
      if (member === 1) throw new CodecError(start)
      outlet.remarks.push(`${bytes.length - inlet.at} bytes behind the gzip stream`)
      return
    }
    inlet.at = start
    const plain = inflated(inlet, outlet, atMost)
    outlet.append(plain)
    if (bytes.length - inlet.at < trailerBytes) throw new CodecError('the gzip stream has no trailer')
    checkTrailer(bytes, inlet.at, crc32(plain), plain.length)
    inlet.at += trailerBytes
    if (inlet.at === bytes.length) return
  }
}

/** @param size Modulo 2^32. @throws CodecError */
export function checkTrailer(bytes: Buffer, at: number, checksum: number, size: number): void {
  const [saidChecksum, saidSize] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
  if (saidChecksum !== checksum) {
    throw new CodecError(`the CRC of the gzip stream is wrong: ${saidChecksum}, computed ${checksum}`)
  }
  if (saidSize !== size) throw new CodecError(`the gzip stream says ${saidSize} plain bytes, and has ${size}`)
}

/** Before an error, what comes before the damage is put out. */
function inflated(inlet: Inlet, outlet: Outlet, limit: number): Buffer {
  const input = inlet.bytes.subarray(inlet.at)
  const atMost = Math.max(limit - outlet.length, 1)
  try {
    const options = {info: true, maxOutputLength: atMost, chunkSize: 65_536}
    const {buffer, engine} = inflateRawSync(input, options) as unknown as {
      readonly buffer: Buffer
      readonly engine: {readonly bytesWritten: number}
    }
    inlet.at += engine.bytesWritten
    return buffer
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new CodecError(`more than ${limit} plain bytes`, {tooLarge: true})
    outlet.append(beforeDamage(input, atMost))
    throw new CodecError(`a damaged gzip stream: ${message}`)
  }
}

/** What the longest beginning of the stream gives that is not damaged. */
function beforeDamage(input: Buffer, atMost: number): Buffer {
  let plain: Buffer = Buffer.alloc(0)
  // A stream that only ends too early is one of them.
  let [right, wrong] = [0, input.length + 1]
  while (wrong - right > 1) {
    const middle = wrong > input.length ? input.length : (right + wrong) >> 1
    try {
      const options = {finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: atMost, chunkSize: 65_536}
      plain = inflateRawSync(input.subarray(0, middle), options)
      right = middle
    } catch {
      wrong = middle
    }
  }
  return plain
}

/** Where the deflated bytes begin, or why this is no header of a member. */
export function headerEnd(bytes: Buffer, at: number, remarks: string[]): number | string {
  if (bytes.length - at < fixedHeaderBytes) return cutHeader
  if (bytes.readUInt16LE(at) !== 0x8b1f) return `no gzip stream: it begins with ${bytes.toString('hex', at, at + 2)}`
  const [method, flg] = [bytes[at + 2] as number, bytes[at + 3] as number]
  if (method !== 8) return `a gzip stream of the method ${method}`
  let end = at + fixedHeaderBytes
  if (flg & flags.extra) end += 2 + (end + 2 <= bytes.length ? bytes.readUInt16LE(end) : 0)
  if (flg & flags.name) end = afterZero(bytes, end)
  if (flg & flags.comment) end = afterZero(bytes, end)
  if (flg & flags.headerChecksum) {
    if (end + 2 > bytes.length) return cutHeader
    if ((crc32(bytes.subarray(at, end)) & 0xffff) !== bytes.readUInt16LE(end))
      return 'the checksum of the gzip header is wrong'
    end += 2
  }
  if (end > bytes.length) return cutHeader
  // Java's reader does not look at them.
  if ((flg & flags.reserved) !== 0) remarks.push('the gzip header has reserved flags')
  return end
}

function afterZero(bytes: Buffer, at: number): number {
  const zero = bytes.indexOf(0, at)
  return zero < 0 ? bytes.length + 1 : zero + 1
}
