import {spoolLimit} from './reading.js'
import {basename, resolve} from 'node:path'
import type {DecoderName} from '../log/decode/decoder.js'
import {type Classified, classify, headBytes} from '../log/files/kinds.js'
import {type FolderName, parseFolderName} from '../log/files/names.js'
import {exitCode, KxError} from '../util/errors.js'
import type {Finding} from '../log/finding.js'
import type {OpenFile} from '../log/folder.js'
import type {FindingCode} from '../log/verify/codes.js'
import {DiskFolder, inspected, openFile} from './files.js'
import type {DumpInput, DumpOptions, DumpWriter} from './job.js'

/** Shows all inputs, in their order; one that can't be read does not stop the others. Gives the exit code. */
export async function dumpAll(paths: readonly string[], writer: DumpWriter, options: DumpOptions): Promise<number> {
  const exits = new Set<number>()
  for (const path of paths) {
    options.signal.throwIfAborted()
    if (writer.enough) break
    try {
      exits.add(exitOf(await dumpOne(path, writer, options)))
    } catch (error) {
      if (options.signal.aborted || !(error instanceof KxError) || error.kind !== 'input') throw error
      exits.add(exitCode.input)
      await writer.failed(path, error)
    }
  }
  await writer.end()
  return Math.max(exitCode.ok, ...exits)
}

/** A file of a folder that can't be read counts as if it had been named itself. */
function exitOf(findings: readonly Finding[]): number {
  if (findings.some(({code}) => code === 'unreadable')) return exitCode.input
  return isWrong(findings) ? exitCode.no : exitCode.ok
}

/** What was found that is wrong. */
async function dumpOne(path: string, writer: DumpWriter, options: DumpOptions): Promise<readonly Finding[]> {
  const opening = {reuse: writer.readsOnce, signal: options.signal, ...spoolLimit(options)}
  if (path !== '-' && (await inspected(path)).isDirectory()) {
    await using folder = new DiskFolder(path, opening)
    // A folder that can't be read is told before anything is printed for it.
    await folder.list()
    return await writer.folder({path, folder})
  }
  await using file = await openFile(path, opening)
  await using folder = file.folder
  const findings = await dumpFile({file, folder, place: folder && placeOf(folder.path)}, writer, options)
  const change = await file.change()
  if (change) options.warning(`${path} ${change} while it was read: what is shown is its first ${file.size} bytes.`)
  // What was being written is no damage.
  return change === 'grew' ? findings.filter(({code}) => !tails.has(code)) : findings
}

/** One file of whatever folder. */
export async function dumpFile(
  {file, folder, place}: Pick<DumpInput, 'file' | 'folder' | 'place'>,
  writer: DumpWriter,
  options: DumpOptions,
): Promise<readonly Finding[]> {
  const classified = classifiedOf(file, folder, await file.read(0, headBytes))
  if (classified.kind === 'unknown' && !writer.ignoresUnknown) {
    throw new KxError(
      'input',
      'KX_UNKNOWN_KIND',
      `${file.path} is no file of Kafka's that kx knows, by name or content.`,
      {
        suggestions: ['A log that is damaged from its first byte is read if its name ends in .log.'],
      },
    )
  }
  const decoder = await decoderFor(options, place)
  return writer.file({file: watched(file, options), classified, folder, place, decoder})
}

/** A pipe has no name that would say what it is: where its bytes don't, it is a log, maybe a damaged one. */
function classifiedOf(file: OpenFile, folder: DumpInput['folder'], head: Buffer): Classified {
  const classified = classify(file.name, head, file.size)
  return classified.kind === 'unknown' && !folder ? {...classified, kind: 'log'} : classified
}

/** Tells how far the reading has come. */
function watched(file: OpenFile, {progress}: DumpOptions): OpenFile {
  if (!progress) return file
  const {path, name, size} = file
  const readNow = file.readNow?.bind(file)
  return {
    path,
    name,
    size,
    read(position, length) {
      progress(path, position, size)
      return file.read(position, length)
    },
    ...(readNow ? {readNow} : {}),
  }
}

const tails: ReadonlySet<FindingCode> = new Set<FindingCode>(['cut-batch', 'cut-header', 'zero-fill'])

export function isWrong(findings: readonly Finding[]): boolean {
  return findings.some(({severity}) => severity !== 'info')
}

/** Topic and partition of a folder's name; `.` has one, too. */
export function placeOf(folder: string): FolderName | undefined {
  return parseFolderName(basename(resolve(folder)))
}

export async function decoderFor(
  options: DumpOptions,
  place: FolderName | undefined,
): Promise<DecoderName | undefined> {
  if (options.decoder === 'none') return undefined
  if (options.decoder !== 'auto') return options.decoder
  // The decoders bring all of Kafka's schemas with them.
  if (!place?.topic.startsWith('__')) return undefined
  const {decoderOfTopic} = await import('../log/decode/decoder.js')
  return decoderOfTopic(place.topic)
}
