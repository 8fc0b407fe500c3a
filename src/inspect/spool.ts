import {constants} from 'node:fs'
import {type FileHandle, open, unlink} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {addAbortSignal, pipeline, Readable} from 'node:stream'
import {createGunzip} from 'node:zlib'
import {KxError, messageOf, systemCode} from '../util/errors.js'
import {bytes} from '../util/format.js'
import type {Change, DiskFile, DiskFolder, OpenOptions} from './files.js'

/** Up to this many bytes stay in memory. */
const inMemoryBytes = 8 * 1_048_576
const defaultMaxSpoolBytes = 64 * 1_073_741_824

interface Place {
  readonly path: string
  readonly name: string
  readonly folder: DiskFolder | undefined
}

/** Reads a stream to its end, unpacks it if it is gzip, and gives it as a file. */
export async function spooled(place: Place, stream: () => Readable, options: OpenOptions): Promise<DiskFile> {
  const limit = options.maxSpoolBytes ?? defaultMaxSpoolBytes
  const spool = new Spool(place)
  try {
    for await (const chunk of unpacked(stream(), options.signal)) {
      await spool.add(chunk)
      if (spool.size > limit) {
        throw new KxError('input', 'KX_TOO_LARGE', `${place.path} unpacks to more than ${bytes(limit)}.`, {
          suggestions: ['Allow more with --max-decompressed, or unpack it to a file.'],
        })
      }
    }
    return spool
  } catch (error) {
    await spool[Symbol.asyncDispose]()
    if (options.signal?.aborted) throw options.signal.reason
    throw error instanceof KxError ? error : spoolFailed(place.path, error)
  }
}

/** The bytes of a stream, unpacked if they are gzip. */
async function* unpacked(stream: Readable, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  if (signal) addAbortSignal(signal, stream)
  const rest: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < 2) {
    const {done, value} = await rest.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  const all = async function* (): AsyncGenerator<Buffer> {
    yield head
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  }
  if (!isGzip(head)) yield* all()
  // Errors reach whoever reads the last stream of a pipeline.
  else for await (const chunk of pipeline(Readable.from(all()), createGunzip(), () => {})) yield chunk as Buffer
}

/** The two bytes that every gzip member begins with (RFC 1952). */
export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

function spoolFailed(path: string, error: unknown): KxError {
  const code = systemCode(error) ?? ''
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new KxError('environment', 'KX_DISK_FULL', `There is no room for ${path} in ${tmpdir()}.`, {
      suggestions: ['Free some space, or name another folder with TMPDIR.'],
      cause: error,
    })
  }
  const damaged = code.startsWith('Z_')
  const why = damaged ? `its compression is damaged (${messageOf(error)})` : messageOf(error)
  return new KxError('input', 'KX_READ_FAILED', `${path} can't be read: ${why}.`, {
    suggestions: [damaged ? 'See how far it goes: gzip -dc FILE > PLAIN' : 'Copy the bytes into a file first.'],
    cause: error,
  })
}

/** Bytes in memory, and from 8 MiB on in a temporary file that has no name any more: nothing is left behind. */
class Spool implements DiskFile {
  readonly path: string
  readonly name: string
  readonly folder: DiskFolder | undefined
  size = 0
  #chunks: Buffer[] = []
  #whole: Buffer | undefined
  #file: FileHandle | undefined

  constructor({path, name, folder}: Place) {
    this.path = path
    this.name = name
    this.folder = folder
  }

  async add(chunk: Buffer): Promise<void> {
    this.#chunks.push(chunk)
    this.size += chunk.length
    if (this.#file === undefined && this.size <= inMemoryBytes) return
    this.#file ??= await namelessFile()
    for (const part of this.#chunks.splice(0)) await this.#file.appendFile(part)
  }

  async read(position: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position))
    if (this.#file === undefined) {
      this.#whole ??= Buffer.concat(this.#chunks.splice(0))
      return this.#whole.subarray(position, position + wanted)
    }
    const buffer = Buffer.allocUnsafe(wanted)
    let filled = 0
    while (filled < wanted) {
      const {bytesRead} = await this.#file.read(buffer, filled, wanted - filled, position + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.subarray(0, filled)
  }

  async change(): Promise<Change | undefined> {
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }
}

async function namelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `kx-spool-${process.pid}-${Math.random().toString(36).slice(2)}`)
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  await unlink(path)
  return handle
}
