import {basename, resolve} from 'node:path'
import type {DecoderName} from '../log/decode/decoder.js'
import {classify, headBytes} from '../log/files/kinds.js'
import {type FolderName, parseFolderName} from '../log/files/names.js'
import {exitCode, KxError} from '../util/errors.js'
import {DiskFolder, inspected, openFile} from './files.js'
import type {DumpInput, DumpOptions, DumpWriter} from './job.js'

/** Shows all inputs, in their order; one that can't be read does not stop the others. Gives the exit code. */
export async function dumpAll(paths: readonly string[], writer: DumpWriter, options: DumpOptions): Promise<number> {
  let unreadable = false
  for (const path of paths) {
    options.signal.throwIfAborted()
    if (writer.enough) break
    try {
      await dumpOne(path, writer, options)
    } catch (error) {
      if (options.signal.aborted || !(error instanceof KxError) || error.kind !== 'input') throw error
      unreadable = true
      await writer.failed(path, error)
    }
  }
  await writer.end()
  if (unreadable) return exitCode.input
  return writer.found ? exitCode.no : exitCode.ok
}

async function dumpOne(path: string, writer: DumpWriter, options: DumpOptions): Promise<void> {
  const opening = {reuse: true, signal: options.signal, ...spoolLimit(options)}
  if (path !== '-' && (await inspected(path)).isDirectory()) {
    await using folder = new DiskFolder(path, opening)
    // An unreadable folder is told before anything is printed for it.
    await folder.list()
    return writer.folder({path, folder})
  }
  await using file = await openFile(path, opening)
  await using folder = file.folder
  const head = await file.read(0, headBytes)
  const classified = classify(file.name, head, file.size)
  const place = folder && placeOf(folder.path)
  await writer.file({file, classified, folder, place, decoder: await decoderFor(options, place)})
  const change = await file.change()
  if (change) options.warning(`${path} ${change} while it was read: what is shown is its first ${file.size} bytes.`)
}

/** Topic and partition of a folder's name; `.` has one, too. */
export function placeOf(folder: string): FolderName | undefined {
  return parseFolderName(basename(resolve(folder)))
}

async function decoderFor(options: DumpOptions, place: FolderName | undefined): Promise<DecoderName | undefined> {
  if (options.decoder === 'none') return undefined
  if (options.decoder !== 'auto') return options.decoder
  // The decoders bring all of Kafka's schemas with them.
  if (!place?.topic.startsWith('__')) return undefined
  const {decoderOfTopic} = await import('../log/decode/decoder.js')
  return decoderOfTopic(place.topic)
}

function spoolLimit({maxDecompressedBytes}: DumpOptions): {maxSpoolBytes?: number} {
  return maxDecompressedBytes === undefined ? {} : {maxSpoolBytes: maxDecompressedBytes}
}

export type {DumpInput}
