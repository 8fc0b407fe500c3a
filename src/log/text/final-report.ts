import type {KafkaStyle} from '../decode/style.js'

/** Pairs of int64, in little memory: a compacted log has a gap for every few records. */
class Pairs {
  length = 0
  #numbers = new BigInt64Array(64)

  add(first: bigint, second: bigint): void {
    if (2 * this.length === this.#numbers.length) {
      const larger = new BigInt64Array(2 * this.#numbers.length)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[2 * this.length] = first
    this.#numbers[2 * this.length + 1] = second
    this.length++
  }

  first(index: number): bigint {
    return this.#numbers[2 * index] as bigint
  }

  second(index: number): bigint {
    return this.#numbers[2 * index + 1] as bigint
  }
}

/** What checks of one kind of file found, by the file's absolute path, in the order in which it was found. */
type PairsOfFile = Map<string, Pairs>

type Order = 'found' | 'ascending' | 'descending'

/**
 * What Kafka's dump tool prints on stderr after the last file. It holds what is right: false positives are not put into it
 * (`bugCompatible` puts them in, and loses what Kafka 4.4 loses: of two findings with the same first number the first).
 */
export class FinalReport {
  readonly #offsetIndex: PairsOfFile = new Map()
  readonly #timestamps: PairsOfFile = new Map()
  readonly #timestampOrder: PairsOfFile = new Map()
  readonly #indexedOffsets: PairsOfFile = new Map()
  readonly #gaps: PairsOfFile = new Map()

  constructor(
    readonly style: KafkaStyle,
    readonly bugCompatible = false,
  ) {}

  /** `logOffset` is the last offset of the batch at the entry's position; −1: no batch begins there. */
  offsetIndexMismatch(path: string, indexOffset: bigint, logOffset: bigint): void {
    add(this.#offsetIndex, path, indexOffset, logOffset)
  }

  /** The largest timestamp of the batch that the entry names is another one. */
  timestampMismatch(path: string, indexTimestamp: bigint, logTimestamp: bigint): void {
    add(this.#timestamps, path, indexTimestamp, logTimestamp)
  }

  timestampOutOfOrder(path: string, indexTimestamp: bigint, previous: bigint): void {
    add(this.#timestampOrder, path, indexTimestamp, previous)
  }

  /** `logOffset` is the last offset of the batch that holds the indexed offset; −1: there is none. */
  indexedOffsetNotFound(path: string, indexOffset: bigint, logOffset: bigint): void {
    add(this.#indexedOffsets, path, indexOffset, logOffset)
  }

  /** Two records that follow each other in the file, but not in their offsets. */
  gap(path: string, previousOffset: bigint, offset: bigint): void {
    // Before 4.4 the tool takes −1 for no offset at all.
    if (previousOffset === -1n && this.style !== '4.4') return
    add(this.#gaps, path, previousOffset, offset)
  }

  /** Lines with line ends; empty if there is nothing to report. */
  text(): string {
    const notFound = (path: string): string =>
      this.style === '4.4'
        ? `The following indexed offsets are not found in :${path}`
        : 'The following indexed offsets are not found in the log.'
    return [
      this.#section(
        this.#offsetIndex,
        'descending',
        path => `Mismatches in :${path}`,
        (index, log) => `  Index offset: ${index}, log offset: ${log}`,
      ),
      this.#section(
        this.#timestamps,
        'found',
        path => `Found timestamp mismatch in :${path}`,
        (index, log) => `  Index timestamp: ${index}, log timestamp: ${log}`,
      ),
      this.#section(
        this.#timestampOrder,
        'found',
        path => `Found out of order timestamp in :${path}`,
        (index, previous) => `  Index timestamp: ${index}, Previously indexed timestamp: ${previous}`,
      ),
      this.#section(
        this.#indexedOffsets,
        'found',
        notFound,
        (index, log) => `Indexed offset: ${index}, found log offset: ${log}`,
      ),
      this.#section(
        this.#gaps,
        'ascending',
        path => `Non-consecutive offsets in ${path}`,
        (previous, offset) => `  ${previous} is followed by ${offset}`,
      ),
    ].join('')
  }

  #section(
    found: PairsOfFile,
    order: Order,
    title: (path: string) => string,
    line: (first: bigint, second: bigint) => string,
  ): string {
    let text = ''
    for (const [path, pairs] of found) {
      text += `${title(path)}\n`
      for (const index of this.#ordered(pairs, order)) text += `${line(pairs.first(index), pairs.second(index))}\n`
    }
    return text
  }

  /** What has an order Kafka 4.4 sorts by the first number, and its predecessors give the newest first. */
  #ordered(pairs: Pairs, order: Order): Uint32Array {
    const indexes = Uint32Array.from({length: pairs.length}, (_, n) => n)
    if (order === 'found') return indexes
    if (this.style !== '4.4') return indexes.reverse()
    const sign = order === 'ascending' ? 1 : -1
    indexes.sort((a, b) => {
      const [x, y] = [pairs.first(a), pairs.first(b)]
      return x < y ? -sign : x > y ? sign : a - b
    })
    if (!this.bugCompatible) return indexes
    return indexes.filter((index, n) => n + 1 === indexes.length || pairs.first(index) !== pairs.first(indexes[n + 1]!))
  }
}

function add(found: PairsOfFile, path: string, first: bigint, second: bigint): void {
  let pairs = found.get(path)
  if (!pairs) {
    pairs = new Pairs()
    found.set(path, pairs)
  }
  pairs.add(first, second)
}
