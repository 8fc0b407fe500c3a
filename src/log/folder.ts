import type {ByteSource} from './byte-source.js'

/** A file that was opened for reading. */
export interface OpenFile extends ByteSource {
  /** As it was named by whoever asked, for messages. */
  readonly path: string
  /** The last part of the path. */
  readonly name: string
}

/**
 * A folder as `src/log` sees it: of a disk, of a broker's container, of a test. Nothing in it can be changed.
 * `list` gives names, not paths; `open` gives `undefined` for a file that is not there and throws a `KxError` of kind
 * `input` for one that can't be read.
 */
export interface Folder {
  readonly path: string
  /** Its own name, which a path such as `.` does not end in; without it the last part of the path. */
  readonly name?: string
  list(): Promise<readonly string[]>
  open(name: string): Promise<OpenFile | undefined>
}

/** The name of a folder itself: for a partition's its topic and number. */
export function folderName({path, name}: Folder): string {
  if (name !== undefined) return name
  const trimmed = path.replace(/\/+$/, '')
  return trimmed.slice(trimmed.lastIndexOf('/') + 1)
}
