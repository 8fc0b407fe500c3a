import {sameContent} from './bytes.js'
import {conclusionsOf, type Noticed} from './conclusions.js'
import {damagesOf, withBytes} from './damages.js'
import {type Evidence, Findings} from './evidence.js'
import {type Held, isSame, RangeBuilder} from './ranges.js'
import {type LogicalItem, type LogicalRecord, RecordStream, type Region, sameRecord} from './records.js'
import {type BatchHead, BatchStream, maxOf, placeOf, ReplicaFiles, trustedEnd} from './replica.js'
import type {DiffOptions, Divergence, Holding, ReplicaDiff, ReplicaInput, ReplicaSummary} from './types.js'

/** Batches that are looked at together where replicas differ, before it is tried again to compare by bytes. */
const spanBytesAtMost = 262_144

/**
 * Compares the replicas of a partition, all of them side by side and each from front to back: batches by their bytes
 * from byte 16 on (base offset and leader epoch apart), and where these differ the records in them. Memory is bounded
 * whatever the size.
 * @throws KxError (input) if a replica has no log or can't be read
 */
export async function diffReplicas(inputs: readonly ReplicaInput[], options: DiffOptions = {}): Promise<ReplicaDiff> {
  const replicas: ReplicaFiles[] = []
  for (const input of inputs) replicas.push(await ReplicaFiles.of(input))
  const starts = await Promise.all(replicas.map(replica => logStartOf(replica)))
  const from = [...starts, options.logStartOffset ?? 0n].reduce(maxOf)
  const total = replicas.reduce((sum, {sizeInBytes}) => sum + sizeInBytes, 0)
  let done = 0
  const read = (bytes: number) => {
    done += bytes
    options.progress?.(Math.min(done, total), total)
  }
  const streams = replicas.map(
    replica => new BatchStream(replica, {from, upTo: options.upTo}, {signal: options.signal, read}),
  )
  const comparison = new Comparing(replicas, streams, from, options)
  try {
    await comparison.run()
  } finally {
    for (const stream of streams) await stream.close()
  }
  return await result(comparison, replicas, starts, from, options)
}

/** Where a replica's log begins: what DeleteRecords took away still lies in the first segment, and the epochs say so. */
async function logStartOf({segments, checkpoint}: ReplicaFiles): Promise<bigint> {
  const start = segments[0]?.baseOffset ?? 0n
  const first = checkpoint?.[0]?.startOffset ?? start
  return maxOf(start, first)
}

class Comparing {
  readonly ranges = new RangeBuilder()
  readonly findings: Findings
  readonly records: number[]
  divergence: Divergence | null = null

  constructor(
    private readonly replicas: readonly ReplicaFiles[],
    readonly streams: readonly BatchStream[],
    private readonly from: bigint,
    private readonly options: DiffOptions,
  ) {
    this.findings = new Findings(replicas)
    this.records = replicas.map(() => 0)
  }

  async run(): Promise<void> {
    await Promise.all(this.streams.map(stream => stream.next()))
    for (;;) {
      this.options.signal?.throwIfAborted()
      const heads = this.streams.map(({head}) => head)
      if (heads.every(head => head === undefined)) return
      if (await this.#stepOver(heads)) continue
      if (this.#alike(heads)) await this.#pass(heads)
      else if (this.#sameBatchDamaged(heads)) await this.#passCorrupt(heads)
      else await this.#span()
    }
  }

  /** Every replica that is not at its end has the same batch at its head. */
  #alike(heads: readonly (BatchHead | undefined)[]): boolean {
    const [first, ...others] = heads.filter(head => head !== undefined)
    if (!first) return false
    if (!others.every(({batch}) => sameContent(batch, first.batch))) return false
    // Its base offset is not covered by the CRC; the batch that follows the one before it has the right one.
    if (others.every(({batch}) => batch.baseOffset === first.batch.baseOffset)) return true
    return this.#rightBase(heads) !== undefined
  }

  /**
   * A batch whose offsets its own replica had before stands for nothing that another could lack. Where others have the same
   * bytes it is not that: only its base offset is another one.
   */
  async #stepOver(heads: readonly (BatchHead | undefined)[]): Promise<boolean> {
    if (heads.filter(head => head !== undefined).length > 1 && this.#alike(heads)) return false
    for (const [index, head] of heads.entries()) {
      const stream = this.streams[index] as BatchStream
      if (!head?.batch.crcIsRight || stream.batches === 0 || trustedEnd(head.batch) > stream.nextOffset) continue
      const reason = `the log was at offset ${stream.nextOffset} already`
      this.findings.oddBatch({replica: index, what: 'repeated', batch: placeOf(head), reason})
      await stream.next()
      return true
    }
    return false
  }

  /** The base offset that a batch must have if some replicas have another: that of those whose log goes on without a gap. */
  #rightBase(heads: readonly (BatchHead | undefined)[]): bigint | undefined {
    const going = heads.flatMap((head, index) =>
      head && head.batch.baseOffset === this.streams[index]?.nextOffset ? [head.batch.baseOffset] : [],
    )
    const [base, ...more] = new Set(going)
    return more.length === 0 ? base : undefined
  }

  async #pass(heads: readonly (BatchHead | undefined)[]): Promise<void> {
    const present = heads.filter(head => head !== undefined)
    const bases = new Set(present.map(({batch}) => batch.baseOffset))
    const base = bases.size === 1 ? [...bases][0] : this.#rightBase(heads)
    const model = present.find(({batch}) => batch.baseOffset === base) ?? present[0]
    if (!model) return
    const {batch} = model
    this.findings.headerBytes(heads, base ?? batch.baseOffset)
    const count = Math.max(0, batch.recordsCount)
    const isRight = batch.crcIsRight
    for (const [index, head] of heads.entries()) if (head && !isRight) this.findings.corrupt(index, head, undefined)
    const held = heads.map((head): Held => {
      if (!head) return {holding: 'ended', records: 0, epoch: undefined}
      return {holding: isRight ? 0 : 'corrupt', records: count, epoch: head.batch.leaderEpoch}
    })
    heads.forEach((head, index) => {
      if (head) this.records[index] = (this.records[index] ?? 0) + count
    })
    this.ranges.add(maxOf(batch.baseOffset, this.from), maxOf(trustedEnd(batch), this.from + 1n), held, 'bytes')
    const end = trustedEnd(batch)
    for (const [index, head] of heads.entries()) {
      if (!head) continue
      const stream = this.streams[index] as BatchStream
      await stream.next()
      // A base offset that was false would lead astray what follows.
      stream.nextOffset = end
    }
  }

  /** The same batch everywhere, of the same size, and on some replicas its CRC is false: its header can't be trusted. */
  #sameBatchDamaged(heads: readonly (BatchHead | undefined)[]): boolean {
    const present = heads.filter(head => head !== undefined)
    const right = present.find(({batch}) => batch.crcIsRight)
    if (!right || present.every(({batch}) => batch.crcIsRight)) return false
    return present.every(
      ({batch}) =>
        batch.baseOffset === right.batch.baseOffset &&
        batch.sizeInBytes === right.batch.sizeInBytes &&
        (!batch.crcIsRight || sameContent(batch, right.batch)),
    )
  }

  async #passCorrupt(heads: readonly (BatchHead | undefined)[]): Promise<void> {
    const against = heads.findIndex(head => head?.batch.crcIsRight)
    const right = heads[against]
    if (!right) return
    const end = trustedEnd(right.batch)
    const count = Math.max(0, right.batch.recordsCount)
    const held = heads.map((head, index): Held => {
      if (!head) return {holding: 'ended', records: 0, epoch: undefined}
      const isRight = head.batch.crcIsRight
      if (!isRight) this.findings.corrupt(index, head, {index: against, head: right})
      this.records[index] = (this.records[index] ?? 0) + count
      return {holding: isRight ? 0 : 'corrupt', records: count, epoch: isRight ? head.batch.leaderEpoch : undefined}
    })
    this.ranges.add(maxOf(right.batch.baseOffset, this.from), end, held, 'bytes')
    for (const [index, head] of heads.entries()) {
      if (!head) continue
      const stream = this.streams[index] as BatchStream
      await stream.next()
      stream.nextOffset = maxOf(stream.nextOffset, end)
    }
  }

  /**
   * Here the batches differ. Takes batches of every replica until none lies on both sides of the end, and compares the
   * records in them.
   */
  async #span(): Promise<void> {
    const regions: Region[][] = this.streams.map(() => [])
    const evidence: Evidence[] = this.streams.map(() => ({batches: 0, codecs: new Set(), emptyBatches: 0, horizons: 0}))
    let end: bigint | undefined
    let taken = 0
    for (;;) {
      const lowest = this.streams
        .flatMap(({head}) => (head ? [head.batch.baseOffset] : []))
        .reduce((least: bigint | undefined, base) => (least === undefined || base < least ? base : least), undefined)
      if (lowest === undefined) break
      if (end === undefined || lowest < end) {
        const before: bigint = end ?? lowest + 1n
        for (const [index, stream] of this.streams.entries()) {
          while (stream.head && stream.head.batch.baseOffset < before) {
            const {batch} = stream.head
            end = maxOf(end ?? before, trustedEnd(batch))
            taken += batch.sizeInBytes
            take(regions[index] as Region[], stream.head)
            this.findings.see(evidence[index] as Evidence, index, stream.head)
            await stream.next()
          }
        }
      } else if (taken >= spanBytesAtMost || this.#isWhole()) break
      else end = lowest + 1n
    }
    await this.#records(regions, evidence, end ?? this.from)
  }

  #isWhole(): boolean {
    const heads = this.streams.map(({head}) => head)
    return this.#alike(heads) || this.#sameBatchDamaged(heads)
  }

  async #records(regions: readonly Region[][], evidence: readonly Evidence[], end: bigint): Promise<void> {
    const streams = this.replicas.map(
      (replica, index) =>
        new RecordStream(replica, regions[index] ?? [], end, this.options.signal, (batch, reason) =>
          this.findings.oddBatch({replica: index, what: 'unreadable', batch, reason}),
        ),
    )
    const merge = new RecordMerge(this, streams)
    try {
      await merge.run(this.from, this.options.upTo)
    } finally {
      for (const stream of streams) await stream.close()
    }
    this.findings.differentBatches(evidence, merge.differs)
  }

  /** A replica without a record: it has a hole, its log is over, or bytes that can't be read are in the way. */
  missingAt(index: number, offset: bigint): Holding {
    const stream = this.streams[index] as BatchStream
    const isDamaged = stream.damages.some(({from, to}) => from <= offset && to !== null && offset < to)
    if (isDamaged) return 'unreadable'
    return stream.head === undefined && offset >= stream.nextOffset ? 'ended' : 'absent'
  }
}

/** Puts a batch to the last region if it lies right behind it. */
function take(regions: Region[], {batch, segment}: BatchHead): void {
  const last = regions.at(-1)
  const end = batch.position + batch.sizeInBytes
  if (last && last.segment === segment && last.to === batch.position) last.to = end
  else regions.push({segment, from: batch.position, to: end})
}

/** The records of one span, offset by offset. */
class RecordMerge {
  differs = false
  #items: (LogicalItem | undefined)[] = []

  constructor(
    private readonly comparing: Comparing,
    private readonly streams: readonly RecordStream[],
  ) {}

  async run(from: bigint, upTo: bigint | undefined): Promise<void> {
    for (const stream of this.streams) this.#items.push(await stream.next())
    for (;;) {
      const offset = this.#lowest()
      if (offset === undefined) return
      const here = this.#items.map(item => (item && item.offset <= offset ? item : undefined))
      if (offset >= from && (upTo === undefined || offset < upTo)) this.#compare(offset, here)
      for (const [index, item] of here.entries()) {
        if (!item) continue
        if (item.kind === 'record' || item.to <= offset + 1n) this.#items[index] = await this.streams[index]?.next()
      }
    }
  }

  /** The next offset at which a replica has something. Offsets that only can't be read are stepped over at once. */
  #lowest(): bigint | undefined {
    let least: bigint | undefined
    for (const item of this.#items) {
      if (item?.kind === 'record' && (least === undefined || item.offset < least)) least = item.offset
    }
    if (least !== undefined) return least
    for (const item of this.#items) {
      if (item?.kind === 'unreadable' && (least === undefined || item.to - 1n > least)) least = item.to - 1n
    }
    return least
  }

  #compare(offset: bigint, here: readonly (LogicalItem | undefined)[]): void {
    const models: LogicalRecord[] = []
    const held = here.map((item, index): Held => {
      if (!item) return {holding: this.comparing.missingAt(index, offset), records: 0, epoch: undefined}
      const epoch = item.batch.leaderEpoch
      if (item.kind === 'unreadable')
        return {holding: item.batch.crcIsRight ? 'unreadable' : 'corrupt', records: 0, epoch: undefined}
      this.comparing.records[index] = (this.comparing.records[index] ?? 0) + 1
      const known = models.findIndex(model => sameRecord(model, item))
      if (known >= 0) return {holding: known, records: 1, epoch}
      models.push(item)
      return {holding: models.length - 1, records: 1, epoch}
    })
    this.comparing.ranges.add(offset, offset + 1n, held, 'records')
    if (!held.every(({holding}) => holding === 0 || holding === 'ended')) this.differs = true
    const records = here.filter(item => item?.kind === 'record')
    if (models.length < 2) {
      this.comparing.findings.missingKeys(held, records)
      return
    }
    this.comparing.divergence ??= {offset, batches: here.map(item => item?.batch ?? null)}
  }
}

async function result(
  comparing: Comparing,
  replicas: readonly ReplicaFiles[],
  starts: readonly bigint[],
  from: bigint,
  options: DiffOptions,
): Promise<ReplicaDiff> {
  const {ranges, leftOut} = comparing.ranges
  const summaries = replicas.map((replica, index): ReplicaSummary => {
    const stream = comparing.streams[index] as BatchStream
    return {
      name: replica.input.name,
      path: replica.input.folder.path,
      role: replica.input.role ?? null,
      segments: replica.segments.flatMap(({baseOffset}) => (baseOffset === undefined ? [] : [baseOffset])),
      sizeInBytes: replica.sizeInBytes,
      logStartOffset: starts[index] as bigint,
      logEndOffset: stream.nextOffset,
      batches: stream.batches,
      records: comparing.records[index] as number,
      checkpoint: replica.checkpoint ?? null,
      epochs: stream.epochs,
    }
  })
  const ends = summaries.map(({logEndOffset}) => logEndOffset)
  const longest = ends.reduce(maxOf)
  const to = options.upTo !== undefined && options.upTo < longest ? options.upTo : longest
  const firstOther = ranges.find(range => !isSame(range))
  const {corruptions, corruptionsLeftOut} = comparing.findings
  const facts = {
    replicas: summaries,
    from,
    to,
    equalUpTo: firstOther?.from ?? maxOf(from, to),
    comparedBy: ranges.some(range => range.comparedBy === 'records' && isSame(range))
      ? ('records' as const)
      : ('bytes' as const),
    divergence: comparing.divergence,
    ranges,
    rangesLeftOut: leftOut,
    corruptions: await withBytes(replicas, corruptions),
    corruptionsLeftOut,
    damages: await damagesOf(replicas, comparing.streams),
  }
  const conclusions = conclusionsOf(facts, {...noticedIn(comparing), upTo: options.upTo})
  return {...facts, equal: conclusions.every(({severity}) => severity === 'info'), conclusions}
}

function noticedIn({findings, streams}: Comparing): Omit<Noticed, 'upTo'> {
  const {headers, odd, oddLeftOut, reasons, lostWithoutKey, totals} = findings
  return {headers, odd, oddLeftOut, reasons, lostWithoutKey, totals, cleaned: streams.map(({cleaned}) => cleaned)}
}
