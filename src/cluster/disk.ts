import {KxError, systemCode} from '../util/errors.js'

/**
 * A failed write as an error that says which folder is full or can't be written; anything else comes back as it was.
 * `elsewhere` is the sentence that says how to use another folder.
 */
export function diskError(error: unknown, folder: string, elsewhere: string): unknown {
  const code = systemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const why = code === 'EDQUOT' ? 'your quota on the disk of' : 'the disk that holds'
    return new KxError('environment', 'KX_DISK_FULL', `No space is left: ${why} ${folder} is full.`, {
      suggestions: ['Free some space there, or see what kx itself keeps: kx clean', elsewhere],
      cause: error,
    })
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST') {
    const why =
      {EACCES: 'you may not write there', EPERM: 'you may not write there', EROFS: 'its file system is read-only'}[
        code as string
      ] ?? 'a file is in the way'
    return new KxError('environment', 'KX_NOT_WRITABLE', `The folder ${folder} can't be written: ${why}.`, {
      suggestions: [elsewhere],
      cause: error,
    })
  }
  return error
}
