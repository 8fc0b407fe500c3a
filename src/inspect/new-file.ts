import {constants} from 'node:fs'
import {type FileHandle, link, open, stat, unlink} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {KxError, messageOf, systemCode} from '../util/errors.js'

/**
 * Writes a file that is either there whole or not at all, and never in the place of another: under a temporary name beside
 * it, given its own name only at the end.
 * @throws KxError KX_FILE_EXISTS (usage), KX_DISK_FULL, KX_NOT_WRITTEN (environment); then nothing is left behind
 */
export async function writeNewFile<Result>(
  path: string,
  fill: (write: (bytes: Buffer) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  if (await isThere(path)) throw exists(path)
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  let handle: FileHandle | undefined
  try {
    const file = await created(temporary, path)
    handle = file
    const result = await fill(async bytes => {
      try {
        await writeAll(file, bytes)
      } catch (error) {
        throw notWritten(path, error)
      }
    })
    await file.sync().catch(error => {
      throw notWritten(path, error)
    })
    // A link, unlike a rename, refuses to replace what has come there meanwhile.
    await link(temporary, path).catch(error => {
      throw systemCode(error) === 'EEXIST' ? exists(path) : notWritten(path, error)
    })
    return result
  } finally {
    await handle?.close()
    if (handle) await unlink(temporary)
  }
}

async function created(temporary: string, path: string): Promise<FileHandle> {
  try {
    return await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644)
  } catch (error) {
    throw notWritten(path, error)
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    error => systemCode(error) !== 'ENOENT',
  )
}

function exists(path: string): KxError {
  return new KxError('usage', 'KX_FILE_EXISTS', `${path} is there already, and nothing is written over.`, {
    suggestions: ['Name a file that does not exist.'],
  })
}

function notWritten(path: string, error: unknown): KxError {
  const code = systemCode(error)
  const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
  const why = full ? 'there is no room for it' : messageOf(error)
  return new KxError('environment', full ? 'KX_DISK_FULL' : 'KX_NOT_WRITTEN', `${path} can't be written: ${why}.`, {
    suggestions: [
      full ? 'Free some space, or name a file on another disk.' : 'Name a file in a folder that you may write to.',
    ],
    cause: error,
  })
}
