import {localFolder} from '../cluster/local/log-files.js'
import {at, type BatchCursor} from '../log/batch-cursor.js'
import type {ByteSource} from '../log/byte-source.js'
import {type Damage, type LogEnd, type LogVisitor, type ReadOptions, readLog} from '../log/read-log.js'
import {KxError} from '../util/errors.js'
import {grouped, plural} from '../util/format.js'
import {until} from '../util/until.js'

/** A folder whose files may grow, shrink, come and go while they are looked at. `list` gives names. */
export interface GrowingFolder {
  readonly path: string
  /** How often looking costs little; default 250 ms. */
  readonly lookEveryMs?: number
  list(): Promise<readonly string[]>
  /** Bytes now; `undefined` if the file is not there. */
  sizeOf(name: string): Promise<number | undefined>
  /** Up to `length` bytes of the file as it is now. */
  read(name: string, position: number, length: number): Promise<Buffer>
}

/** Something that happened to the log while it was followed; one sentence for people. */
export interface FollowNotice {
  /**
   * `rolled`: a next segment was begun; `incomplete`: the last batch is not whole yet; `truncated`: batches that were
   * there are gone, as after a change of leader; `deleted`: the file is gone; `damaged`: bytes that are no batch.
   */
  readonly kind: 'rolled' | 'incomplete' | 'truncated' | 'deleted' | 'damaged'
  readonly file: string
  readonly position: number
  readonly text: string
}

export interface FollowOptions {
  /** The file and position to begin at: the end of what was read already. Default: the end of the newest segment. */
  readonly from?: {readonly file: string; readonly position: number}
  readonly signal: AbortSignal
  /** Pause between two looks; default as the folder says. */
  readonly everyMs?: number
  /** Batches of this file come next: said before the first of them, for every file. */
  readonly segment?: (name: string) => void
  readonly notice?: (notice: FollowNotice) => void
  readonly read?: Pick<ReadOptions, 'maxDecompressedBytes'>
}

/** A folder of this machine's disk. */
export function growingFolder(path: string): GrowingFolder {
  const folder = localFolder(path)
  return {
    path,
    list: async () => (await folder.list()).map(({name}) => name),
    sizeOf: folder.sizeOf,
    read: folder.read,
  }
}

/**
 * Gives the visitor the batches that are appended to a log, until the signal fires: waits at an incomplete batch, goes
 * on with the next segment when the log is rolled, and notices when a leader change cuts what was there.
 * Ends (without an error) on the signal, or when the visitor has `enough`.
 * @throws KxError KX_NO_SEGMENT (input) if there is no segment to begin with; what the folder or the visitor throws
 */
export async function follow(folder: GrowingFolder, visitor: LogVisitor, options: FollowOptions): Promise<LogEnd> {
  const {from, signal, everyMs = folder.lookEveryMs ?? 250} = options
  const file = from?.file ?? newestOf(await folder.list())
  if (file === undefined) {
    throw new KxError('input', 'KX_NO_SEGMENT', `${folder.path} has no segment to follow.`, {
      suggestions: ['Name a folder with *.log files, or a topic of a running cluster.'],
    })
  }
  const following = new Following(folder, visitor, options, file)
  await following.begin(from?.position)
  try {
    await until(`new batches in ${folder.path}`, () => following.look(), {
      timeoutMs: Number.POSITIVE_INFINITY,
      everyMs,
      signal,
    })
  } catch (error) {
    if (!(signal.aborted && error instanceof KxError && error.kind === 'interrupted')) throw error
  }
  return following.end
}

/** Where a batch lay, and the first bytes of it, by which it is known again. */
interface Mark {
  readonly file: string
  readonly position: number
  readonly sizeInBytes: number
  readonly nextOffset: bigint
  readonly header: Buffer
}

/** So many batches back it is known where a truncation cut; before that the segment's headers are read again. */
const marksKept = 4_096
/** Looking for the next segment, and at the last batch again, costs more than asking for a size: each so many looks. */
const looksBetween = 4

class Following {
  readonly #marks: Mark[] = []
  #position = 0
  #looks = 0
  /** Size and position at which the tail was not whole, or not a batch: told once. */
  #toldAt = -1
  #batches = 0
  #validBytes = 0
  #skippedBytes = 0
  #tail = 0
  #announced: string | undefined

  constructor(
    private readonly folder: GrowingFolder,
    private readonly visitor: LogVisitor,
    private readonly options: FollowOptions,
    private file: string,
  ) {}

  get end(): LogEnd {
    return {
      batches: this.#batches,
      validBytes: this.#validBytes,
      trailingBytes: this.#tail,
      skippedBytes: this.#skippedBytes,
    }
  }

  async begin(position: number | undefined): Promise<void> {
    this.#position = position ?? (await this.#wholeBytes(this.file, Number.POSITIVE_INFINITY))
  }

  /** One look; true when the visitor has enough. */
  async look(): Promise<true | undefined> {
    const size = await this.folder.sizeOf(this.file)
    const due = this.#looks++ % looksBetween === 0
    if (size === undefined) await this.#gone()
    else if (size < this.#position || ((due || size > this.#position) && !(await this.#lastIsThere())))
      await this.#cut(size)
    else if (size > this.#position && (await this.#readTo(size))) {
      // Something was read: whether there is more is seen at once.
    } else if (due) await this.#rolled()
    return this.visitor.enough ? true : undefined
  }

  /** Reads what is new; false if no batch of it is whole. */
  async #readTo(size: number): Promise<boolean> {
    const before = this.#position
    const seen: {damage?: Damage} = {}
    await this.#read(size, false, seen)
    const {damage} = seen
    this.#tail = size - this.#position
    if (damage === undefined || damage.kind === 'short-read') return this.#position > before
    if (damage.kind === 'cut' || damage.kind === 'cut-header' || damage.kind === 'zero-fill') this.#incomplete(damage)
    else await this.#damaged(size, damage)
    return this.#position > before
  }

  async #read(size: number, resynchronise: boolean, seen: {damage?: Damage}): Promise<void> {
    const {visitor, file} = this
    const from = this.#position
    const give: LogVisitor = {
      batch: batch => {
        this.#announce()
        this.#skippedBytes += batch.position - this.#position
        this.#mark(batch)
        return visitor.batch(batch)
      },
      record: record => visitor.record(record),
      recordsDone: problem => visitor.recordsDone?.(problem),
      damage: damage => {
        seen.damage ??= damage
      },
      get full() {
        return visitor.full ?? false
      },
      drain: async () => visitor.drain?.(),
      get enough() {
        return visitor.enough ?? false
      },
    }
    const {signal, read} = this.options
    try {
      await readLog(this.#source(file, size), give, {...read, from, resynchronise, signal})
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #source(file: string, size: number): ByteSource {
    return {size, read: (position, length) => this.folder.read(file, position, Math.min(length, size - position))}
  }

  #announce(): void {
    if (this.#announced === this.file) return
    this.#announced = this.file
    this.options.segment?.(this.file)
  }

  #mark(batch: BatchCursor): void {
    const {position, sizeInBytes} = batch
    this.#batches++
    this.#validBytes += sizeInBytes
    this.#position = position + sizeInBytes
    const header = Buffer.from(batch.bytes.subarray(0, at.records))
    this.#marks.push({file: this.file, position, sizeInBytes, nextOffset: batch.lastOffset + 1n, header})
    if (this.#marks.length > marksKept) this.#marks.splice(0, marksKept / 2)
  }

  /** A batch is written in parts: it is waited for, and told once, because it may be all that a crash has left. */
  #incomplete({position, reason}: Damage): void {
    if (this.#toldAt === position) return
    this.#toldAt = position
    this.#notice(
      'incomplete',
      position,
      `${this.file}: the batch at ${grouped(position)} is not whole yet (${reason}).`,
    )
  }

  /** Looks behind the damage for the next batch, now and whenever there is more. */
  async #damaged(size: number, damage: Damage): Promise<void> {
    if (this.#toldAt !== damage.position) {
      this.#toldAt = damage.position
      this.visitor.damage?.(damage)
      this.#notice(
        'damaged',
        damage.position,
        `${this.file}: no batch begins at ${grouped(damage.position)}: ${damage.reason}.`,
      )
    }
    await this.#read(size, true, {})
    this.#tail = size - this.#position
  }

  async #lastIsThere(): Promise<boolean> {
    const last = this.#marks.at(-1)
    return !last || last.file !== this.file || (await this.#isThere(last))
  }

  async #isThere({file, position, header}: Mark): Promise<boolean> {
    return (await this.folder.read(file, position, header.length)).equals(header)
  }

  /** What was there is not there any more: as far as the marks go, to the last batch that is as it was. */
  async #cut(size: number): Promise<void> {
    const was = this.#marks.at(-1)
    const own = this.#marks.filter(({file}) => file === this.file)
    let [low, high] = [0, own.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (await this.#isThere(own[middle] as Mark)) low = middle + 1
      else high = middle
    }
    const last = own[low - 1]
    const known = own[0]?.position ?? this.#position
    // A truncation cuts at the end of a batch. Before the marks the headers tell where the log ends now.
    this.#position = last ? last.position + last.sizeInBytes : await this.#wholeBytes(this.file, Math.min(known, size))
    this.#forget(({file, position}) => file > this.file || (file === this.file && position >= this.#position))
    this.#toldAt = -1
    const to = last?.nextOffset ?? own[0]?.header.readBigInt64BE(at.baseOffset)
    const offsets =
      was && to !== undefined
        ? `: offsets ${to} to ${was.nextOffset - 1n} are gone`
        : ` to ${plural(this.#position, 'byte')}`
    this.#notice(
      'truncated',
      this.#position,
      `The log was truncated${offsets}. A follower does that when a new leader has other records there.`,
    )
  }

  /** The next segment, if there is one and nothing more came into this one meanwhile. */
  async #rolled(): Promise<void> {
    const next = segmentsOf(await this.folder.list()).find(name => name > this.file)
    if (next === undefined || !isSegment(this.file)) return
    const size = await this.folder.sizeOf(this.file)
    if (size !== undefined && size > this.#position && (await this.#readTo(size))) return
    const left = (size ?? this.#position) - this.#position
    if (left > 0) {
      this.#skippedBytes += left
      this.#notice('damaged', this.#position, `${this.file} ends with ${plural(left, 'byte')} that are no batch.`)
    }
    this.#goTo(next, 0)
    this.#notice('rolled', 0, `The log was rolled: ${next} is the active segment now.`)
  }

  async #gone(): Promise<void> {
    if (!isSegment(this.file)) return this.#tellGone()
    const names = segmentsOf(await this.folder.list())
    if (names.includes(this.file)) return
    const next = names.find(name => name > this.file)
    if (next !== undefined) {
      this.#notice('deleted', this.#position, `${this.file} was deleted; ${next} follows it.`)
      this.#goTo(next, 0)
      return
    }
    const before = names.at(-1)
    if (before === undefined) return this.#tellGone()
    const size = (await this.folder.sizeOf(before)) ?? 0
    this.#goTo(before, size)
    await this.#cut(size)
  }

  #tellGone(): void {
    if (this.#toldAt === -2) return
    this.#toldAt = -2
    this.#notice('deleted', this.#position, `${this.file} is gone, and nothing followed it yet.`)
  }

  #goTo(file: string, position: number): void {
    this.file = file
    this.#position = position
    this.#toldAt = -1
    this.#looks = 0
    this.#tail = 0
  }

  #forget(isGone: (mark: Mark) => boolean): void {
    const kept = this.#marks.filter(mark => !isGone(mark))
    this.#marks.splice(0, this.#marks.length, ...kept)
  }

  /** Up to the end of the last whole batch that ends at or before `limit`. */
  async #wholeBytes(file: string, limit: number): Promise<number> {
    const size = Math.min((await this.folder.sizeOf(file)) ?? 0, limit)
    let end = 0
    const see: LogVisitor = {
      batch: batch => {
        end = batch.position + batch.sizeInBytes
        return false
      },
      record: () => {},
    }
    await readLog(this.#source(file, size), see, {signal: this.options.signal})
    return end
  }

  #notice(kind: FollowNotice['kind'], position: number, text: string): void {
    this.options.notice?.({kind, file: this.file, position, text})
  }
}

function isSegment(name: string): boolean {
  return /^\d{20}\.log$/.test(name)
}

function segmentsOf(names: readonly string[]): string[] {
  return names.filter(isSegment).sort()
}

function newestOf(names: readonly string[]): string | undefined {
  return segmentsOf(names).at(-1)
}
