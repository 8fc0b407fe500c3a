import {constants, open as openDescriptor, readSync, type Stats} from 'node:fs'
import {type FileHandle, open, readdir, stat} from 'node:fs/promises'
import {Socket} from 'node:net'
import {basename, dirname, join, resolve} from 'node:path'
import {promisify} from 'node:util'
import type {Folder, OpenFile} from '../log/folder.js'
import {KxError, messageOf, systemCode} from '../util/errors.js'
import {isGzip, spooled} from './spool.js'

/** What became of a file since it was opened. */
export type Change = 'grew' | 'shrank' | 'was deleted'

/** A file of the disk, open for reading. Its size is that of the moment it was opened: a consistent prefix of one that grows. */
export interface DiskFile extends OpenFile, AsyncDisposable {
  /** The folder it lies in; `undefined` for a pipe. */
  readonly folder: DiskFolder | undefined
  /** What became of it since. */
  change(): Promise<Change | undefined>
}

export interface OpenOptions {
  /** All reads fill one buffer: what a read gave is gone with the next one. For those who read once, from front to back. */
  readonly reuse?: boolean
  /** How many bytes a pipe or a compressed file may unpack to. */
  readonly maxSpoolBytes?: number
  readonly signal?: AbortSignal
  /** Whoever named no pipe does not wait for its writer. */
  readonly refusesPipes?: boolean
}

/** Only reading, and never waiting for the other end of a pipe. No file is created, changed, or mapped. */
const readOnly = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Opens a file, a pipe (`-` is stdin) or a compressed file (`.gz`) for reading. A pipe is read to its end first, because
 * checks look back and ahead: into memory, and what is larger into a temporary file that has no name.
 * Throws a `KxError` of kind `input` that says why not.
 */
export async function openFile(path: string, options: OpenOptions = {}): Promise<DiskFile> {
  if (path === '-') return spooled({path, name: 'stdin', folder: undefined}, () => process.stdin, options)
  const found = await inspected(path)
  if (found.isDirectory()) throw unreadable(path, 'KX_IS_A_FOLDER', 'it is a folder', 'Name a file in it.')
  const folder = new DiskFolder(dirname(path), options)
  if (found.isFIFO() && !options.refusesPipes) return fromPipe(path, options)
  if (!found.isFile())
    throw unreadable(path, 'KX_NO_FILE', `it is ${kindOf(found)}, not a file`, 'Copy the bytes into a file first.')
  const handle = await opened(path)
  const file = new PlainFile(path, folder, handle, (await handle.stat()).size, options.reuse ?? false)
  if (!path.endsWith('.gz') || !isGzip(await file.read(0, 2))) return file
  const place = {path, name: file.name.replace(/\.gz$/, ''), folder}
  return spooled(place, () => handle.createReadStream({start: 0, autoClose: true}), options)
}

/** What lies at a path; symbolic links are followed. */
export async function inspected(path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (error) {
    throw readingFailed(path, error)
  }
}

export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** A file handle would wait for the writer in a thread that no signal reaches. */
async function fromPipe(path: string, options: OpenOptions): Promise<DiskFile> {
  const fd = await promisify(openDescriptor)(path, readOnly).catch(error => {
    throw readingFailed(path, error)
  })
  const stream = () => new Socket({fd, readable: true, writable: false})
  return spooled({path, name: basename(path), folder: undefined}, stream, options)
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, readOnly)
  } catch (error) {
    throw readingFailed(path, error)
  }
}

/** How many reads, of a MiB mostly, until the event loop has its turn. */
const readsBetweenTurns = 16

class PlainFile implements DiskFile {
  readonly name: string
  readonly #handle: FileHandle
  readonly #reuse: boolean
  #reads = 0
  #buffer = Buffer.alloc(0)

  constructor(
    readonly path: string,
    readonly folder: DiskFolder,
    handle: FileHandle,
    readonly size: number,
    reuse: boolean,
  ) {
    this.name = basename(path)
    this.#handle = handle
    this.#reuse = reuse
  }

  async read(position: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position))
    const buffer = this.#room(wanted)
    let filled = 0
    try {
      while (filled < wanted) {
        const bytesRead = readSync(this.#handle.fd, buffer, filled, wanted - filled, position + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
    } catch (error) {
      throw readingFailed(this.path, error)
    }
    // Reading at once is a sixth faster than by way of the thread pool; signals and writes still want their turn.
    if (++this.#reads % readsBetweenTurns === 0) await new Promise<void>(resolve => setImmediate(resolve))
    return buffer.subarray(0, filled)
  }

  readNow(position: number, into: Buffer): number {
    try {
      const wanted = Math.max(0, Math.min(into.length, this.size - position))
      return readSync(this.#handle.fd, into, 0, wanted, position)
    } catch (error) {
      throw readingFailed(this.path, error)
    }
  }

  async change(): Promise<Change | undefined> {
    const {size, nlink} = await this.#handle.stat()
    if (size < this.size) return 'shrank'
    if (nlink === 0) return 'was deleted'
    return size > this.size ? 'grew' : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  #room(bytes: number): Buffer {
    if (!this.#reuse) return Buffer.allocUnsafe(bytes)
    if (this.#buffer.length < bytes) this.#buffer = Buffer.allocUnsafeSlow(bytes)
    return this.#buffer
  }
}

/** A folder of the disk. Compressed files go by their plain names. Whatever it opened is closed with it. */
export class DiskFolder implements Folder, AsyncDisposable {
  readonly name: string
  readonly #options: OpenOptions
  readonly #opened: AsyncDisposable[] = []

  constructor(
    readonly path: string,
    options: OpenOptions = {},
  ) {
    this.name = basename(resolve(path))
    this.#options = {...options, reuse: false, refusesPipes: true}
  }

  async list(): Promise<readonly string[]> {
    try {
      const names = await readdir(this.path)
      return [...new Set(names.map(name => name.replace(/\.gz$/, '')))].sort()
    } catch (error) {
      throw readingFailed(this.path, error)
    }
  }

  async open(name: string): Promise<OpenFile | undefined> {
    const file = (await this.#try(name)) ?? (await this.#try(`${name}.gz`))
    if (file) this.#opened.push(file)
    return file
  }

  /** A folder in this one; `undefined` if there is none of that name. */
  async folder(name: string): Promise<DiskFolder | undefined> {
    const path = join(this.path, name)
    const found = await stat(path).catch(() => undefined)
    if (!found?.isDirectory()) return undefined
    const folder = new DiskFolder(path, this.#options)
    this.#opened.push(folder)
    return folder
  }

  async #try(name: string): Promise<DiskFile | undefined> {
    try {
      return await openFile(join(this.path, name), this.#options)
    } catch (error) {
      if (error instanceof KxError && (error.code === 'KX_FILE_MISSING' || error.code === 'KX_IS_A_FOLDER'))
        return undefined
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const file of this.#opened.splice(0)) await file[Symbol.asyncDispose]()
  }
}

function kindOf(found: Stats): string {
  if (found.isCharacterDevice() || found.isBlockDevice()) return 'a device'
  if (found.isFIFO()) return 'a named pipe'
  return found.isSocket() ? 'a socket' : 'something special'
}

const causes: Readonly<Record<string, readonly [code: `KX_${string}`, why: string, cure: string]>> = {
  ENOENT: ['KX_FILE_MISSING', 'there is no such file', 'Check the path; a broker deletes and renames segments.'],
  ENOTDIR: ['KX_FILE_MISSING', 'there is no such file', 'Check the path: a part of it is no folder.'],
  EACCES: ['KX_NO_PERMISSION', 'permission is denied', "Run kx as the broker's user; KRaft snapshots have mode 0400."],
  EPERM: ['KX_NO_PERMISSION', 'permission is denied', "Run kx as the broker's user; KRaft snapshots have mode 0400."],
  ELOOP: ['KX_FILE_MISSING', 'its symbolic links go round in a circle', 'Name the file itself.'],
  ENAMETOOLONG: ['KX_FILE_MISSING', 'the name is too long', 'Check the path.'],
  EISDIR: ['KX_IS_A_FOLDER', 'it is a folder', 'Name a file in it.'],
}

function readingFailed(path: string, error: unknown): KxError {
  if (error instanceof KxError) return error
  const [code, why, cure] = causes[systemCode(error) ?? ''] ?? [
    'KX_READ_FAILED' as const,
    messageOf(error),
    'Check the disk, or copy the file elsewhere first.',
  ]
  return unreadable(path, code, why, cure)
}

function unreadable(path: string, code: `KX_${string}`, why: string, cure: string): KxError {
  return new KxError('input', code, `${path === '' ? '""' : path} can't be read: ${why}.`, {suggestions: [cure]})
}
