import type {ByteSource} from '../../../../src/log/byte-source.js'
import type {Folder, OpenFile} from '../../../../src/log/folder.js'

/** Counts what a reader does with one input. */
export class Meter {
  bytesRead = 0
  outputBytes = 0

  /** A source that counts what is read, and gives nothing beyond its end. */
  source(bytes: Buffer): ByteSource {
    return {
      size: bytes.length,
      read: async (position, length) => {
        if (!(position >= 0 && length >= 0)) throw new Error(`asked for ${length} bytes at ${position}`)
        const there = bytes.subarray(position, position + length)
        this.bytesRead += there.length
        return there
      },
    }
  }

  file(name: string, bytes: Buffer): OpenFile {
    return {...this.source(bytes), name, path: name}
  }

  folder(files: ReadonlyMap<string, Buffer>, path = 'folder'): Folder {
    return {
      path,
      list: async () => [...files.keys()],
      open: async name => {
        const bytes = files.get(name)
        return bytes && this.file(name, bytes)
      },
    }
  }

  write = (bytes: Buffer): void => {
    this.outputBytes += bytes.length
  }
}

type Alloc = (size: number, ...rest: never[]) => Buffer

/** Runs something while every explicit allocation of a Buffer is watched; gives the largest one. */
export async function watchAllocations(run: () => Promise<void>): Promise<number> {
  const originals = {alloc: Buffer.alloc, allocUnsafe: Buffer.allocUnsafe, allocUnsafeSlow: Buffer.allocUnsafeSlow}
  let largest = 0
  for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow'] as const) {
    const original = originals[name] as Alloc
    const watched: Alloc = (size, ...rest) => {
      largest = Math.max(largest, size)
      return original(size, ...rest)
    }
    Object.assign(Buffer, {[name]: watched})
  }
  try {
    await run()
  } finally {
    Object.assign(Buffer, originals)
  }
  return largest
}

export function cpuMs(): number {
  const {user, system} = process.cpuUsage()
  return (user + system) / 1000
}
