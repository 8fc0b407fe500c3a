import {type Dirent, statSync} from 'node:fs'
import {open, readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import type {ByteSource} from '../../log/byte-source.js'
import {systemCode} from '../../util/errors.js'
import type {LogFile, PartitionFolder} from '../cluster.js'

/** The files of a folder as they lie there now, by name; none if there is no such folder. */
export async function filesIn(folder: string): Promise<LogFile[]> {
  const found = await Promise.all(
    (await list(folder)).filter(entry => entry.isFile()).map(({name}) => logFile(folder, name)),
  )
  return found.filter(file => file !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The file as a source of bytes. Each read opens and closes it, so that nothing stays open that nobody closes. */
export function fileSource(path: string, size: number): ByteSource {
  return {
    size,
    async read(position, length) {
      const wanted = Math.max(0, Math.min(length, size - position))
      const buffer = Buffer.allocUnsafe(wanted)
      await using file = await open(path)
      let filled = 0
      while (filled < wanted) {
        const {bytesRead} = await file.read(buffer, filled, wanted - filled, position + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return buffer.subarray(0, filled)
    },
  }
}

/** A folder of this machine. Nothing stays open, so there is nothing to dispose of. */
export function localFolder(path: string): PartitionFolder {
  const sizeOf = (name: string) => sizeIfThere(join(path, name))
  return {
    path,
    list: () => filesIn(path),
    sizeOf,
    async open(name) {
      const size = await sizeOf(name)
      return size === undefined ? undefined : fileSource(join(path, name), size)
    },
    async read(name, position, length) {
      const size = (await sizeOf(name)) ?? 0
      return position >= size ? Buffer.alloc(0) : fileSource(join(path, name), size).read(position, length)
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** The last lines of a text file, without reading all of it; none if it is not there. */
export async function tail(path: string, lines: number): Promise<string[]> {
  const size = await stat(path).then(
    found => found.size,
    () => 0,
  )
  const wanted = Math.min(size, 256 * 1_024)
  if (wanted === 0) return []
  const text = (await fileSource(path, size).read(size - wanted, wanted)).toString('utf8')
  const all = text.split('\n').filter(line => line !== '')
  return (wanted < size ? all.slice(1) : all).slice(-lines)
}

async function list(folder: string): Promise<Dirent[]> {
  return readdir(folder, {withFileTypes: true}).catch(error => {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  })
}

/** A running broker may delete a file between the listing and the look at it. */
async function logFile(folder: string, name: string): Promise<LogFile | undefined> {
  const path = join(folder, name)
  const size = await sizeIfThere(path)
  return size === undefined ? undefined : {name, size, open: () => fileSource(path, statSync(path).size)}
}

async function sizeIfThere(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
