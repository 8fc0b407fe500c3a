import type {BatchCursor} from '../batch-cursor.js'
import {type EpochEntry, parseLeaderEpochCheckpoint} from '../files/checkpoints.js'
import type {OpenFile} from '../folder.js'
import {type Damage, readLog} from '../read-log.js'
import {KxError} from '../../util/errors.js'
import {Turns} from './turns.js'
import type {BatchPlace, ReplicaInput} from './types.js'

export interface Segment {
  readonly name: string
  /** From the name; `undefined` where it says nothing. */
  readonly baseOffset: bigint | undefined
}

/** Files that are open at a time, per replica: the one being walked and that whose records are looked at. */
const openAtMost = 2

/** Read at once; there are several logs at a time. */
export const pieceBytes = 262_144

/** The files of a replica. */
export class ReplicaFiles {
  readonly #open = new Map<string, OpenFile>()
  #sizeInBytes = 0

  private constructor(
    readonly input: ReplicaInput,
    readonly segments: readonly Segment[],
    readonly checkpoint: readonly EpochEntry[] | undefined,
  ) {}

  /** @throws KxError KX_NO_SEGMENT (input) if the folder has no log; and what opening its files throws */
  static async of(input: ReplicaInput): Promise<ReplicaFiles> {
    const names = await input.folder.list()
    const segments = names
      .filter(name => name.endsWith('.log'))
      .map(name => ({name, baseOffset: /^\d{20}\.log$/.test(name) ? BigInt(name.slice(0, 20)) : undefined}))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    if (segments.length === 0) {
      throw new KxError('input', 'KX_NO_SEGMENT', `${input.folder.path} has no segment (*.log) to compare.`, {
        suggestions: ['Name the folders of one partition, e.g. /var/kafka-1/orders-0 /var/kafka-2/orders-0.'],
      })
    }
    const files = new ReplicaFiles(input, segments, await checkpointIn(input))
    for (const {name} of segments) {
      files.#sizeInBytes += (await input.sizeOf?.(name)) ?? (await files.open(name)).size
    }
    return files
  }

  get sizeInBytes(): number {
    return this.#sizeInBytes
  }

  /** @throws KxError KX_FILE_MISSING (input) if it was deleted meanwhile */
  async open(name: string): Promise<OpenFile> {
    const known = this.#open.get(name)
    if (known) return known
    const file = await this.input.folder.open(name)
    if (!file) {
      const path = `${this.input.folder.path}/${name}`
      throw new KxError('input', 'KX_FILE_MISSING', `${path} was deleted while it was compared.`, {
        suggestions: ['Compare again: a broker deletes segments by retention and compaction.'],
      })
    }
    this.#open.set(name, file)
    for (const [other, opened] of this.#open) {
      if (this.#open.size <= openAtMost) break
      this.#open.delete(other)
      await (opened as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.()
    }
    return file
  }
}

async function checkpointIn({folder}: ReplicaInput): Promise<readonly EpochEntry[] | undefined> {
  const file = await folder.open('leader-epoch-checkpoint')
  if (!file) return undefined
  return parseLeaderEpochCheckpoint(await file.read(0, Math.min(file.size, 1_048_576))).entries
}

export interface BatchHead {
  /** Valid until the next one is asked for. */
  readonly batch: BatchCursor
  readonly segment: string
}

/** A damage with the place it has in the order of offsets. */
export interface PlacedDamage {
  readonly segment: string
  readonly damage: Damage
  readonly from: bigint
  /** `null` as long as no batch was found behind it. */
  to: bigint | null
}

/** The batches of a replica, one after another, as they are asked for. */
export class BatchStream {
  head: BatchHead | undefined
  /** One above the last offset of the batches so far. */
  nextOffset: bigint
  batches = 0
  readonly damages: PlacedDamage[] = []
  readonly epochs: EpochEntry[] = []
  /** Batches that lost records, or have a delete horizon: only a cleaner makes those. */
  cleaned = 0
  readonly #turns: Turns
  #bytesDone = 0
  /** A batch of what is compared was reached. */
  #begun = false
  #openDamage: PlacedDamage | undefined

  constructor(
    private readonly files: ReplicaFiles,
    private readonly bounds: {readonly from: bigint; readonly upTo: bigint | undefined},
    private readonly options: {readonly signal?: AbortSignal | undefined; readonly read: (bytes: number) => void},
  ) {
    this.nextOffset = files.segments[0]?.baseOffset ?? 0n
    this.#turns = new Turns(turns => this.#run(turns))
  }

  /** Takes the batch that is at the head, and shows the next one. */
  async next(): Promise<void> {
    if (this.head) this.#pass(this.head.batch)
    this.head = undefined
    if (!(await this.#turns.next())) this.head = undefined
  }

  async close(): Promise<void> {
    await this.#turns.close()
  }

  #pass(batch: BatchCursor): void {
    const end = trustedEnd(batch)
    if (end > this.nextOffset) this.nextOffset = end
    this.batches++
    if (batch.magic >= 2 && batch.crcIsRight) {
      if (batch.recordsCount <= batch.lastOffsetDelta || batch.deleteHorizonMs !== null) this.cleaned++
    }
    const last = this.epochs.at(-1)
    if (batch.crcIsRight && (!last || last.epoch !== batch.leaderEpoch)) {
      if (this.epochs.length < 10_000) this.epochs.push({epoch: batch.leaderEpoch, startOffset: batch.baseOffset})
    }
  }

  async #run(turns: Turns): Promise<void> {
    const {segments} = this.files
    const {from, upTo} = this.bounds
    for (const [index, {name, baseOffset}] of segments.entries()) {
      const next = segments[index + 1]?.baseOffset
      // All of it lies below what is compared; its successor begins no later.
      if (next !== undefined && next <= from) continue
      if (turns.closing || (upTo !== undefined && baseOffset !== undefined && baseOffset >= upTo)) return
      if (baseOffset !== undefined && baseOffset > this.nextOffset) this.nextOffset = baseOffset
      await this.#walk(turns, name)
    }
  }

  async #walk(turns: Turns, segment: string): Promise<void> {
    const file = await this.files.open(segment)
    const {from, upTo} = this.bounds
    const {segments} = this.files
    let beyond = false
    let shown = false
    await readLog(
      file,
      {
        batch: batch => {
          this.#tell(batch.position + batch.sizeInBytes)
          if (upTo !== undefined && batch.crcIsRight && batch.baseOffset >= upTo) {
            beyond = true
            return false
          }
          if (this.#openDamage) this.#openDamage.to = batch.baseOffset
          this.#openDamage = undefined
          if (this.#isBefore(batch, from)) {
            this.nextOffset = trustedEnd(batch)
            return false
          }
          this.head = {batch, segment}
          this.#begun = true
          shown = true
          return false
        },
        record: () => {},
        damage: damage => {
          // Space that was preallocated: only the last segment has it.
          if (damage.kind === 'zero-fill' && segment === segments.at(-1)?.name) return
          const before = this.head ? maxOf(this.nextOffset, trustedEnd(this.head.batch)) : this.nextOffset
          this.#openDamage = {segment, damage, from: before, to: null}
          this.damages.push(this.#openDamage)
        },
        get full() {
          return shown
        },
        drain: async () => {
          shown = false
          await turns.handOver()
        },
        get enough() {
          return turns.closing || beyond
        },
      },
      {chunkBytes: pieceBytes, ...(this.options.signal && {signal: this.options.signal})},
    )
    this.#tell(0)
  }

  /** Below what is compared, by its offset and by its place: a base offset alone may be false. */
  #isBefore(batch: BatchCursor, from: bigint): boolean {
    return !this.#begun && trustedEnd(batch) <= from && batch.baseOffset >= this.nextOffset
  }

  /** Positions of one file rise; 0 begins the next. */
  #tell(position: number): void {
    if (position > this.#bytesDone) this.options.read(position - this.#bytesDone)
    this.#bytesDone = position
  }
}

export function placeOf({batch, segment}: BatchHead): BatchPlace {
  return {
    segment,
    position: batch.position,
    sizeInBytes: batch.sizeInBytes,
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    leaderEpoch: batch.leaderEpoch,
    crc: batch.crc,
    crcIsRight: batch.crcIsRight,
  }
}

/** One above the last offset; of a batch whose CRC is false the header may say anything, so only its first offset counts. */
export function trustedEnd(batch: BatchCursor): bigint {
  return batch.crcIsRight && batch.lastOffset >= batch.baseOffset ? batch.lastOffset + 1n : batch.baseOffset + 1n
}

export function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
