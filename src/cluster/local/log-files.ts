import {type Dirent, statSync} from 'node:fs'
import {open, readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import type {ByteSource} from '../../log/byte-source.js'
import {systemCode} from '../../util/errors.js'
import type {LogFile} from '../cluster.js'

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
  try {
    const {size} = await stat(path)
    return {name, size, open: () => fileSource(path, statSync(path).size)}
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
