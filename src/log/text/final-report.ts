import type {KafkaStyle} from '../decode/style.js'

type Pair = readonly [bigint, bigint]

/** What checks of one kind of file found, by the file's absolute path, in the order in which it was found. */
type PairsOfFile = Map<string, Pair[]>

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
    add(this.#offsetIndex, path, [indexOffset, logOffset])
  }

  /** The largest timestamp of the batch that the entry names is another one. */
  timestampMismatch(path: string, indexTimestamp: bigint, logTimestamp: bigint): void {
    add(this.#timestamps, path, [indexTimestamp, logTimestamp])
  }

  timestampOutOfOrder(path: string, indexTimestamp: bigint, previous: bigint): void {
    add(this.#timestampOrder, path, [indexTimestamp, previous])
  }

  /** `logOffset` is the last offset of the batch that holds the indexed offset; −1: there is none. */
  indexedOffsetNotFound(path: string, indexOffset: bigint, logOffset: bigint): void {
    add(this.#indexedOffsets, path, [indexOffset, logOffset])
  }

  /** Two records that follow each other in the file, but not in their offsets. */
  gap(path: string, previousOffset: bigint, offset: bigint): void {
    add(this.#gaps, path, [previousOffset, offset])
  }

  /** Lines with line ends; empty if there is nothing to report. */
  text(): string {
    const {style} = this
    const notFound = (path: string): string =>
      style === '4.4'
        ? `The following indexed offsets are not found in :${path}`
        : 'The following indexed offsets are not found in the log.'
    const lines = [
      ...this.#section(
        this.#ordered(this.#offsetIndex, 'descending'),
        path => `Mismatches in :${path}`,
        ([index, log]) => `  Index offset: ${index}, log offset: ${log}`,
      ),
      ...this.#section(
        this.#timestamps,
        path => `Found timestamp mismatch in :${path}`,
        ([index, log]) => `  Index timestamp: ${index}, log timestamp: ${log}`,
      ),
      ...this.#section(
        this.#timestampOrder,
        path => `Found out of order timestamp in :${path}`,
        ([index, previous]) => `  Index timestamp: ${index}, Previously indexed timestamp: ${previous}`,
      ),
      ...this.#section(
        this.#indexedOffsets,
        notFound,
        ([index, log]) => `Indexed offset: ${index}, found log offset: ${log}`,
      ),
      ...this.#section(
        this.#ordered(this.#gaps, 'ascending'),
        path => `Non-consecutive offsets in ${path}`,
        ([previous, offset]) => `  ${previous} is followed by ${offset}`,
      ),
    ]
    return lines.map(line => `${line}\n`).join('')
  }

  /** Kafka 4.4 sorts these by the first number, and its predecessors give the newest first. */
  #ordered(found: PairsOfFile, order: 'ascending' | 'descending'): PairsOfFile {
    const sign = order === 'ascending' ? 1 : -1
    return new Map(
      [...found].map(([path, pairs]) => {
        if (this.style !== '4.4') return [path, [...pairs].reverse()]
        const kept = this.bugCompatible ? [...new Map(pairs)] : pairs
        return [path, [...kept].sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0))]
      }),
    )
  }

  *#section(found: PairsOfFile, title: (path: string) => string, line: (pair: Pair) => string): Generator<string> {
    for (const [path, pairs] of found) {
      yield title(path)
      yield* pairs.map(line)
    }
  }
}

function add(found: PairsOfFile, path: string, pair: Pair): void {
  const pairs = found.get(path)
  if (pairs) pairs.push(pair)
  else found.set(path, [pair])
}
