import {DiskFolder, inspected, openFile} from './files.js'
import {classify, headBytes} from '../log/files/kinds.js'
import {metadataTopic} from '../kafka/topic-partition.js'
import type {Finding} from '../log/finding.js'
import type {Folder} from '../log/folder.js'
import {
  type FolderOptions,
  type LoadedState,
  type LoadOptions,
  stateOfFolder,
  stateOfLog,
  stateOfSnapshot,
} from '../log/state/load.js'
import {FindingLists} from '../log/text/finding-list.js'
import type {Write} from '../log/text/line-writer.js'
import {KxError} from '../util/errors.js'
import type {DumpFolder, DumpInput, DumpOptions, DumpWriter} from './job.js'
import {isPreallocated, readOptions, spoolLimit} from './reading.js'
import {WatchingVisitor} from './watch.js'

/** A state of the metadata, and where it is from. */
export interface ShownState extends LoadedState {
  readonly path: string
}

/** What `--state` says of one input; with `--against` the state that it is compared with. */
export interface StateReport {
  readonly shown: ShownState
  readonly against: ShownState | undefined
  readonly findings: readonly Finding[]
}

export interface StateRequest {
  readonly atOffset: bigint | undefined
  /** An offset of the same log, or a path. */
  readonly against: string | undefined
}

/** Gives the state of an input, at an offset if there is one. */
type Load = (upTo: bigint | undefined, found: FindingLists) => Promise<ShownState>

/** In pieces: of a large cluster it may be a lot. */
export type RenderStates = (reports: readonly StateReport[]) => Promise<Iterable<string>>

const pieceLength = 262_144
const partitionFolder = `${metadataTopic}-0`
const offsetText = /^\d{1,19}$/

/** `--state`: what the records of the metadata log add up to. */
export class StateWriter implements DumpWriter {
  readonly readsOnce = false
  readonly enough = false
  readonly #render: RenderStates
  readonly #write: Write
  readonly #options: DumpOptions
  readonly #request: StateRequest
  readonly #reports: StateReport[] = []

  constructor(render: RenderStates, write: Write, options: DumpOptions, request: StateRequest) {
    this.#render = render
    this.#write = write
    this.#options = options
    this.#request = request
  }

  async file(input: DumpInput): Promise<readonly Finding[]> {
    return this.#report(this.#loadFile(input), input.classified.kind === 'log')
  }

  async folder({path, folder, highWatermark}: DumpFolder): Promise<readonly Finding[]> {
    const own = await folder.folder(partitionFolder)
    const place = own ? {path: `${path}/${partitionFolder}`, folder: own} : {path, folder}
    // What is above the high watermark may yet be taken back, and no broker acts on it.
    const end = highWatermark === undefined ? undefined : highWatermark - 1n
    return this.#report(
      (upTo, found) => this.#loadFolder(place, {upTo: upTo ?? end, mustReach: upTo !== undefined}, found),
      true,
    )
  }

  async failed(_path: string, error: KxError): Promise<void> {
    this.#options.failed(error)
  }

  async end(): Promise<void> {
    let held = ''
    for (const piece of await this.#render(this.#reports)) {
      held += piece
      if (held.length < pieceLength) continue
      await this.#write(Buffer.from(held))
      held = ''
    }
    if (held !== '') await this.#write(Buffer.from(held))
  }

  async #report(load: Load, hasOffsets: boolean): Promise<readonly Finding[]> {
    const {atOffset, against} = this.#request
    if (!hasOffsets && atOffset !== undefined) throw oneState('--at-offset')
    const [first, second] = [new FindingLists(), new FindingLists()]
    const shown = await load(atOffset, first)
    const other = against === undefined ? undefined : await this.#other(against, load, second, hasOffsets)
    // What lies in both is read twice.
    const findings = [...new Map([...first.all(), ...second.all()].map(finding => [keyOf(finding), finding])).values()]
    this.#reports.push({shown, against: other, findings})
    return findings
  }

  async #other(against: string, load: Load, found: FindingLists, hasOffsets: boolean): Promise<ShownState> {
    if (offsetText.test(against)) {
      if (!hasOffsets) throw oneState('--against with an offset')
      return await load(BigInt(against), found)
    }
    const opening = {signal: this.#options.signal, ...spoolLimit(this.#options)}
    if ((await inspected(against)).isDirectory()) {
      await using folder = new DiskFolder(against, opening)
      await using own = await folder.folder(partitionFolder)
      const place = own ?? folder
      return await this.#loadFolder({path: place.path, folder: place}, {}, found)
    }
    await using file = await openFile(against, opening)
    await using folder = file.folder
    const classified = classify(file.name, await file.read(0, headBytes), file.size)
    return await this.#loadFile({file, classified, folder})(undefined, found)
  }

  #loadFile({file, folder, classified}: Pick<DumpInput, 'file' | 'folder' | 'classified'>): Load {
    const {path} = file
    const {kind, name} = classified
    if (kind === 'snapshot-log') {
      return async (_upTo, found) => ({...(await stateOfSnapshot(file, this.#reading(folder, found))), path})
    }
    if (kind !== 'log') {
      throw new KxError('usage', 'KX_USAGE', `${path} holds no metadata: it is a file of another kind.`, {
        suggestions: [`Name a folder ${partitionFolder}, a snapshot (.checkpoint) or a segment (.log) in it.`],
      })
    }
    return async (upTo, found) => {
      const options = {...this.#reading(folder, found), upTo, mustReach: upTo !== undefined}
      return folder && name.offset !== undefined
        ? {...(await stateOfFolder(folder, {...options, lastLog: file.name})), path}
        : {...(await stateOfLog(file, options)), path}
    }
  }

  async #loadFolder(
    {path, folder}: {readonly path: string; readonly folder: Folder},
    end: Pick<FolderOptions, 'upTo' | 'mustReach'>,
    found: FindingLists,
  ): Promise<ShownState> {
    return {...(await stateOfFolder(folder, {...this.#reading(folder, found), ...end})), path}
  }

  #reading(folder: Folder | undefined, found: FindingLists): LoadOptions {
    return {
      // What a header does not count is no record to Kafka.
      read: {...readOptions(this.#options), asKafka: true},
      tell: finding => found.add(finding),
      async watch(visitor, file, tell) {
        const classified = classify(file.name, await file.read(0, headBytes), file.size)
        const preallocated = await isPreallocated({file, folder, classified})
        return new WatchingVisitor(visitor, {path: file.path, preallocated, maxBytes: undefined}, tell)
      },
    }
  }
}

function keyOf({code, file, position, offset, explanation}: Finding): string {
  return [code, file, position, offset, explanation].join(' ')
}

function oneState(flag: string): KxError {
  return new KxError('usage', 'KX_USAGE', `A snapshot holds one state, and ${flag} asks for that at an offset.`, {
    suggestions: ['Name the folder that the snapshot lies in.', '--against OTHER.checkpoint compares two snapshots.'],
  })
}
