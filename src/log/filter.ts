import {PassingVisitor} from './passing-visitor.js'
import type {BatchCursor} from './batch-cursor.js'
import type {CodecName} from './codecs.js'
import type {LogVisitor} from './read-log.js'
import type {RecordCursor} from './record-cursor.js'
import type {RecordsProblem} from './records-problem.js'

/** What is to be shown: a batch whose header is refused is not shown, nor are its records. */
export interface LogFilter {
  batch(batch: BatchCursor): boolean
  record(record: RecordCursor): boolean
  /** Nothing behind this batch can be wanted, as offsets ascend. */
  isPast?(batch: BatchCursor): boolean
}

/** Kinds of batches and records. `invalid`: a wrong CRC, or records that can't be read. */
export const onlyKinds = ['control', 'data', 'transactional', 'idempotent', 'tombstones', 'invalid'] as const
export type OnlyKind = (typeof onlyKinds)[number]

/** All that is given must hold; ranges include both ends. */
export interface FilterOptions {
  readonly fromOffset?: bigint | undefined
  readonly toOffset?: bigint | undefined
  /** Milliseconds since 1970. */
  readonly fromTime?: bigint | undefined
  readonly toTime?: bigint | undefined
  readonly producerIds?: readonly bigint[] | undefined
  readonly producerEpoch?: number | undefined
  readonly leaderEpoch?: number | undefined
  readonly codecs?: readonly CodecName[] | undefined
  /** Of a record's key; a null key never matches. */
  readonly key?: ((key: Buffer) => boolean) | undefined
  readonly only?: readonly OnlyKind[] | undefined
}

/** `undefined`: everything is shown. */
export function logFilter(options: FilterOptions): LogFilter | undefined {
  if (Object.values(options).every(value => value === undefined)) return undefined
  const {fromOffset, toOffset, fromTime, toTime, key} = options
  const tombstones = options.only?.includes('tombstones') ?? false
  return {
    batch: batch => batchMatches(batch, options),
    isPast: batch => toOffset !== undefined && batch.baseOffset > toOffset,
    record(record) {
      if (fromOffset !== undefined && record.offset < fromOffset) return false
      if (toOffset !== undefined && record.offset > toOffset) return false
      if (fromTime !== undefined && record.timestamp < fromTime) return false
      if (toTime !== undefined && record.timestamp > toTime) return false
      if (key !== undefined && !(record.key && key(record.key))) return false
      return !tombstones || record.valueSize < 0
    },
  }
}

/** Whether the filter looks into records, so that a batch is known to match only when one of its records does. */
export function looksIntoRecords({key, only, fromTime, toTime}: FilterOptions): boolean {
  const time = fromTime !== undefined || toTime !== undefined
  return key !== undefined || time || (only?.includes('tombstones') ?? false)
}

function batchMatches(batch: BatchCursor, options: FilterOptions): boolean {
  const {fromOffset, toOffset, fromTime, producerIds, producerEpoch, leaderEpoch, codecs, only} = options
  if (fromOffset !== undefined && batch.lastOffset < fromOffset) return false
  if (toOffset !== undefined && batch.baseOffset > toOffset) return false
  // The header knows the largest timestamp only: the smallest may be any record's.
  if (fromTime !== undefined && batch.magic > 0 && batch.maxTimestamp < fromTime) return false
  if (producerIds && !producerIds.includes(batch.producerId)) return false
  if (producerEpoch !== undefined && batch.producerEpoch !== producerEpoch) return false
  if (leaderEpoch !== undefined && batch.leaderEpoch !== leaderEpoch) return false
  if (codecs && !codecs.includes(batch.codec)) return false
  return only === undefined || only.every(kind => isOfKind(batch, kind))
}

function isOfKind(batch: BatchCursor, kind: OnlyKind): boolean {
  switch (kind) {
    case 'control':
      return batch.isControl
    case 'data':
    case 'tombstones':
      return !batch.isControl
    case 'transactional':
      return batch.isTransactional
    case 'idempotent':
      return batch.producerId >= 0n
    case 'invalid':
      return !batch.crcIsRight
  }
}

/** Shows `visitor` only what the filter lets through: a batch is shown with the first of its records that matches. */
export class FilteredVisitor extends PassingVisitor {
  readonly #filter: LogFilter
  readonly #deep: boolean
  #pending: BatchCursor | undefined
  #wanted = false
  /** Batches in a row that are past what is wanted: a single one may be damaged, as its offset lies outside the CRC. */
  #past = 0

  /** `deep`: the filter looks into records, even if the visitor does not want them. */
  constructor(visitor: LogVisitor, filter: LogFilter, deep: boolean) {
    super(visitor)
    this.#filter = filter
    this.#deep = deep
  }

  override batch(batch: BatchCursor): boolean {
    this.#pending = undefined
    this.#wanted = false
    this.#past = this.#filter.isPast?.(batch) ? this.#past + 1 : 0
    if (!this.#filter.batch(batch)) return false
    if (this.#deep) {
      this.#pending = batch
      return true
    }
    this.#wanted = this.visitor.batch(batch)
    return this.#wanted
  }

  override record(record: RecordCursor): void {
    if (!this.#filter.record(record)) return
    this.#show()
    if (this.#wanted) this.visitor.record(record)
  }

  override recordsDone(problem: RecordsProblem | undefined): void {
    // Records that can't be read might have matched.
    if (problem !== undefined) this.#show()
    if (this.#pending === undefined && this.#wanted) this.visitor.recordsDone?.(problem)
  }

  override get enough(): boolean {
    return this.#past > 1 || (this.visitor.enough ?? false)
  }

  #show(): void {
    if (this.#pending === undefined) return
    this.#wanted = this.visitor.batch(this.#pending)
    this.#pending = undefined
  }
}
