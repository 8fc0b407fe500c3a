import type {Readable} from 'node:stream'
import tar from 'tar-stream'
import {bufferSource} from '../../log/byte-source.js'
import {KxError} from '../../util/errors.js'
import {bytes} from '../../util/format.js'
import type {LogFile} from '../cluster.js'

/** Experiments write kilobytes; an active segment's two preallocated indexes are 10 MiB each. */
const mostBytes = 1_073_741_824

/**
 * The files directly in the one folder that a tar stream of the archive API holds, in the order of their names.
 * Everything is in memory: nobody needs a container, or its engine, to read them later.
 * @throws KxError KX_TOO_LARGE (environment) if they are over 1 GiB; an Error if the stream is damaged or cut off
 */
export async function filesInArchive(archive: Readable, limit = mostBytes): Promise<LogFile[]> {
  const files: LogFile[] = []
  const extract = tar.extract()
  let total = 0
  // An error of the source must reach the loop below, and an early end of the loop must end the source.
  archive.on('error', error => extract.destroy(error))
  archive.pipe(extract)
  try {
    for await (const entry of extract) {
      const [, name, ...deeper] = entry.header.name.split('/')
      if (entry.header.type !== 'file' || !name || deeper.length > 0) {
        entry.resume()
        continue
      }
      const size = entry.header.size ?? 0
      total += size
      if (total > limit) throw tooLarge(entry.header.name, limit)
      const chunks: Buffer[] = []
      for await (const chunk of entry) chunks.push(chunk as Buffer)
      files.push(logFile(name, Buffer.concat(chunks)))
    }
  } finally {
    archive.destroy()
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A tar archive of one folder with these files, readable by everybody. */
export async function archiveOf(
  files: readonly {readonly name: string; readonly bytes: Buffer}[],
  folder: string,
): Promise<Buffer> {
  const pack = tar.pack()
  pack.entry({name: `${folder}/`, type: 'directory', mode: 0o755})
  for (const {name, bytes: content} of files) pack.entry({name: `${folder}/${name}`, mode: 0o644}, content)
  pack.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of pack) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function logFile(name: string, content: Buffer): LogFile {
  return {name, size: content.length, open: () => bufferSource(content)}
}

function tooLarge(path: string, limit: number): KxError {
  const folder = path.split('/')[0]
  return new KxError(
    'environment',
    'KX_TOO_LARGE',
    `The files of ${folder} are over ${bytes(limit)}, more than kx copies.`,
  )
}
