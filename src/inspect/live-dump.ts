import {exitCode, KxError} from '../util/errors.js'
import type {KafkaStyle} from '../log/decode/style.js'
import type {FilterOptions} from '../log/filter.js'
import type {Folder} from '../log/folder.js'
import {type FolderName, parseFileName} from '../log/files/names.js'
import type {FolderTree} from '../log/verify/report.js'
import {decoderFor, dumpFile, isWrong, placeOf} from './dump.js'
import {inspected} from './files.js'
import {follow, type GrowingFolder, growingFolder} from './follow.js'
import type {DumpOptions, DumpWriter} from './job.js'
import {type LiveFolder, type LiveRequest, openLive} from './live.js'

/** Shows a partition of a running cluster, with a writer made for its version: its segments, oldest first, or with `goOn` all that comes until the signal. */
export async function dumpLive(
  request: LiveRequest & {readonly goOn: boolean; readonly asFolder: boolean},
  make: (kafkaVersion: string) => Promise<DumpWriter>,
  options: DumpOptions,
): Promise<number> {
  const {signal} = options
  await using live = await openLive({...request, signal})
  const writer = await make(live.kafkaVersion)
  const place = {topic: live.topic, partition: live.partition}
  if (request.goOn) return await followed(live, place, writer, {...options, filter: await beginning(live, options)})
  const tree = asTree(live)
  let found = false
  if (request.asFolder) {
    found = isWrong(await writer.folder({path: live.path, folder: tree, highWatermark: live.highWatermark}))
  } else {
    for (const name of withinOffsets(await live.list(), {filter: await beginning(live, options)})) {
      signal.throwIfAborted()
      if (writer.enough) break
      const file = await live.open(name)
      // Deleted by retention meanwhile.
      if (!file) continue
      found = isWrong(await dumpFile({file, folder: tree, place}, writer, options)) || found
    }
  }
  await writer.end()
  return found ? exitCode.no : exitCode.ok
}

const maxOffset = 2n ** 63n - 1n

/**
 * Which offsets can have what is wanted: of a time its broker knows where it begins, so that older segments need not be
 * read (nor copied out of a container). Where a time ends nobody knows: timestamps need not rise.
 */
async function beginning(live: LiveFolder, {filter}: DumpOptions): Promise<FilterOptions> {
  const {fromTime, fromOffset} = filter
  const found = fromTime === undefined ? undefined : await live.offsetAtTime(fromTime)
  if (found === undefined) return filter
  // None is there yet: only the active segment may get one.
  const atTime = found < 0n ? maxOffset : found
  return {...filter, fromOffset: fromOffset === undefined || fromOffset < atTime ? atTime : fromOffset}
}

/** The line of Kafka whose dump tool prints what that of a version prints. */
export function styleOf(kafkaVersion: string): KafkaStyle {
  const minor = Number(/^4\.(\d+)/.exec(kafkaVersion)?.[1] ?? 4)
  return minor === 0 ? '4.0' : minor <= 2 ? '4.2' : '4.4'
}

/** `--follow` of a folder or a segment of this machine's disk, until the signal; of a folder the active segment and on. */
export async function followPath(path: string, writer: DumpWriter, options: DumpOptions): Promise<number> {
  if ((await inspected(path)).isDirectory()) return followed(growingFolder(path), placeOf(path), writer, options)
  const {dirname, basename} = await import('node:path')
  const folder = dirname(path)
  return await followed(growingFolder(folder), placeOf(folder), writer, options, basename(path))
}

async function followed(
  folder: GrowingFolder,
  place: FolderName | undefined,
  writer: DumpWriter,
  options: DumpOptions,
  first?: string,
): Promise<number> {
  if (!writer.follow) {
    throw new KxError('usage', 'KX_USAGE', 'This format needs the end of a log, and --follow has none.', {
      suggestions: ['--follow -o text', '--follow -o ndjson'],
    })
  }
  const {signal, maxDecompressedBytes} = options
  const following = await writer.follow({path: folder.path, decoder: await decoderFor(options, place)})
  const segments = withinOffsets(await folder.list(), options)
  const {fromOffset, fromTime} = options.filter
  const file = first ?? (fromOffset === undefined && fromTime === undefined ? segments.at(-1) : segments[0])
  await follow(folder, following.visitor, {
    signal,
    ...(file === undefined ? {} : {from: {file, position: 0}}),
    segment: name => following.segment(name),
    notice: ({text}) => options.warning(text),
    read: maxDecompressedBytes === undefined ? {} : {maxDecompressedBytes},
  })
  await following.visitor.drain?.()
  await writer.end()
  return isWrong(following.findings()) ? exitCode.no : exitCode.ok
}

/** Segments that may hold the wanted offsets: their names say where they begin. */
export function withinOffsets(names: readonly string[], {filter}: Pick<DumpOptions, 'filter'>): string[] {
  const {fromOffset, toOffset} = filter
  const segments = names
    .map(name => ({name, parsed: parseFileName(name)}))
    .filter(({parsed: {role, states, offset}}) => role === 'log' && states.length === 0 && offset !== undefined)
    .map(({name, parsed}) => ({name, base: parsed.offset ?? 0n}))
    .sort((a, b) => (a.base < b.base ? -1 : 1))
  return segments
    .filter(({base}, n) => {
      const next = segments[n + 1]?.base
      if (toOffset !== undefined && base > toOffset) return false
      return fromOffset === undefined || next === undefined || next > fromOffset
    })
    .map(({name}) => name)
}

function asTree(folder: Folder): FolderTree {
  return {path: folder.path, list: () => folder.list(), open: name => folder.open(name), folder: async () => undefined}
}
