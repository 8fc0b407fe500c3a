import type {Found, ReplicaRecords, Writes, Written} from '../history/operation.js'
import {KxError} from '../util/errors.js'

// Rules over what clients did and what lies in the files: pure, each with a definition. The names follow the taxonomy
// of jepsen's Kafka workload; "not read" and "not in the log" are different findings, and only segment files tell them
// apart. What can't be decided from what was handed in throws, and a claim over it is then inconclusive.

export type DeliveryRule =
  | 'lost-write'
  | 'lost-tail'
  | 'inconsistent-offset'
  | 'duplicate'
  | 'divergence'
  | 'unequal'
  | 'nonmonotonic-send'
  | 'high-watermark'
  | 'never-written'
  | 'resurrected'

export interface Lost {
  readonly rule: 'lost-write' | 'lost-tail'
  readonly value: string
  /** Where the leader said that it had appended it. */
  readonly offset?: number
}

/**
 * Acknowledged values that the reader did not find. `lost-write`: a later offset was read, so the reader passed by it;
 * `lost-tail`: nothing as late was read, so that a reader who stopped too early would look the same (the lab reads to an
 * end that was taken beforehand).
 */
export function lost(writes: Writes, found: readonly Found[]): Lost[] {
  const read = new Set(found.map(record => record.value))
  const last = found.reduce((end, record) => Math.max(end, record.offset), -1)
  return writes.ok
    .filter(write => !read.has(write.value))
    .map(({value, offset}) => {
      const rule = offset !== undefined && offset >= last ? 'lost-tail' : 'lost-write'
      return offset === undefined ? {rule, value} : {rule, value, offset}
    })
}

/** What is {@link lost} and in no replica's segment files either. @throws KxError if no file of the topic was handed in. */
export function gone(writes: Writes, found: readonly Found[], replicas: readonly ReplicaRecords[]): Lost[] {
  const onDisk = valuesOf(filesOf(replicas, writes.topic))
  return lost(writes, found).filter(({value}) => !onDisk.has(value))
}

/**
 * Records of these writes, whatever became of them, that are in the dead brokers' files and that none of the others has
 * (their files, or what a reader got from them). Files of the dead brokers among the others' are left out: a broker
 * that returned has cut off what the others lacked.
 * @throws KxError if there is no file of a dead broker, or nothing of the others to compare with.
 */
export function onlyOn(
  dead: readonly ReplicaRecords[],
  others: readonly ReplicaRecords[] | readonly Found[],
  writes: Writes,
): Found[] {
  const deadFiles = filesOf(dead, writes.topic)
  const deadNodes = new Set(deadFiles.map(replica => replica.nodeId))
  const written = new Set([...writes.ok, ...writes.info, ...writes.fail].map(write => write.value))
  const kept = areReplicas(others)
    ? valuesOf(
        filesOf(
          others.filter(replica => !deadNodes.has(replica.nodeId)),
          writes.topic,
        ),
      )
    : new Set(others.map(record => record.value))
  const seen = new Set<string>()
  return deadFiles
    .flatMap(replica => replica.records)
    .filter(({value}) => written.has(value) && !kept.has(value) && !seen.has(value) && seen.add(value))
}

export interface Duplicate {
  readonly value: string
  readonly offsets: readonly number[]
}

/** Values at more than one offset. */
export function duplicates(found: readonly Found[]): Duplicate[] {
  const offsets = new Map<string, Set<number>>()
  for (const {value, offset} of found) offsets.set(value, (offsets.get(value) ?? new Set()).add(offset))
  return [...offsets].filter(([, at]) => at.size > 1).map(([value, at]) => ({value, offsets: ascending(at)}))
}

export interface Moved {
  readonly value: string
  readonly acknowledgedAt: number
  readonly foundAt: number
}

/** Acknowledged values that were found, but at none of the offsets that the leader had told: `inconsistent-offset`. */
export function moved(writes: Writes, found: readonly Found[]): Moved[] {
  const places = new Map<string, Set<number>>()
  for (const {value, offset} of found) places.set(value, (places.get(value) ?? new Set()).add(offset))
  return writes.ok.flatMap(({value, offset}) => {
    const at = places.get(value)
    if (offset === undefined || at === undefined || at.has(offset)) return []
    return [{value, acknowledgedAt: offset, foundAt: Math.min(...at)}]
  })
}

export interface Divergence {
  readonly topic: string
  readonly offset: number
  readonly copies: readonly {readonly nodeId: number; readonly value: string; readonly leaderEpoch: number}[]
}

/** Offsets at which two replicas hold different records: another value, or the same value of another leader epoch. */
export function divergence(replicas: readonly ReplicaRecords[]): Divergence[] {
  const places = new Map<
    string,
    {topic: string; offset: number; copies: {nodeId: number; value: string; leaderEpoch: number}[]}
  >()
  for (const {nodeId, topic, records} of replicas) {
    for (const {offset, value, leaderEpoch} of records) {
      const name = `${topic} ${offset}`
      const place = places.get(name) ?? {topic, offset, copies: []}
      place.copies.push({nodeId, value, leaderEpoch})
      places.set(name, place)
    }
  }
  return [...places.values()].filter(({copies: [first, ...rest]}) =>
    rest.some(copy => copy.value !== first?.value || copy.leaderEpoch !== first.leaderEpoch),
  )
}

export interface Inequality {
  readonly nodeId: number
  readonly offset: number
  /** `missing`: the reader got it and this replica has it not. `extra`: the other way round. */
  readonly kind: 'missing' | 'extra' | 'different'
}

/**
 * Where a replica's files and what the reader got are not the same, offset by offset. Meant for replicas that have
 * caught up, with no writer left.
 * @throws KxError if no file of the topic was handed in, or files of several topics without saying which is meant.
 */
export function unequal(replicas: readonly ReplicaRecords[], found: readonly Found[], topic?: string): Inequality[] {
  const files = filesOf(replicas, topic ?? onlyTopicOf(replicas))
  const read = new Map(found.map(record => [record.offset, record]))
  return files.flatMap(({nodeId, records}) => {
    const own = new Map(records.map(record => [record.offset, record]))
    return ascending(new Set([...read.keys(), ...own.keys()])).flatMap((offset): Inequality[] => {
      const [mine, theirs] = [own.get(offset), read.get(offset)]
      if (!mine) return [{nodeId, offset, kind: 'missing'}]
      if (!theirs) return [{nodeId, offset, kind: 'extra'}]
      const same = mine.value === theirs.value && mine.leaderEpoch === theirs.leaderEpoch
      return same ? [] : [{nodeId, offset, kind: 'different'}]
    })
  })
}

export interface NonmonotonicSend {
  readonly earlier: Written
  readonly later: Written
}

/**
 * A write that began after another had been acknowledged, and got a smaller or the same offset. Stronger than the order
 * within one process: it binds all writers of a partition (Redpanda's chaos suite asserts the same).
 */
export function nonmonotonicSends(writes: Writes): NonmonotonicSend[] {
  const acknowledged = writes.ok.filter(write => write.offset !== undefined)
  const byEnd = [...acknowledged].sort((a, b) => a.endMs - b.endMs)
  const byStart = [...acknowledged].sort((a, b) => a.startMs - b.startMs)
  const result: NonmonotonicSend[] = []
  let highest: Written | undefined
  let next = 0
  for (const later of byStart) {
    for (let ended = byEnd[next]; ended && ended.endMs < later.startMs; ended = byEnd[++next]) {
      if (!highest || Number(ended.offset) > Number(highest.offset)) highest = ended
    }
    if (highest && Number(later.offset) <= Number(highest.offset)) result.push({earlier: highest, later})
  }
  return result
}

/** Samples `[atMs, highWatermark, offset]` in which a consumer got a record at or above the high watermark of that answer. */
export function highWatermarkViolations(
  watermarks: readonly (readonly [number, number, number])[],
): (readonly [atMs: number, highWatermark: number, offset: number])[] {
  return watermarks.filter(([, highWatermark, offset]) => !(offset < highWatermark))
}

export interface Gap {
  readonly fromMs: number
  readonly toMs: number
  readonly lengthMs: number
}

/** The longest span between `fromMs` and `toMs` in which nothing was acknowledged. A number, never a verdict by itself. */
export function availabilityGap(writes: Writes | readonly Writes[], fromMs: number, toMs: number): Gap {
  const all = 'ok' in writes ? [writes] : writes
  const acknowledgements = all
    .flatMap(each => each.ok.map(write => write.endMs))
    .filter(endMs => endMs > fromMs && endMs < toMs)
    .sort((a, b) => a - b)
  let longest: Gap = {fromMs, toMs: fromMs, lengthMs: 0}
  let previous = fromMs
  for (const endMs of [...acknowledgements, Math.max(fromMs, toMs)]) {
    if (endMs - previous > longest.lengthMs) longest = {fromMs: previous, toMs: endMs, lengthMs: endMs - previous}
    previous = endMs
  }
  return longest
}

export interface Foreign extends Found {
  /** `resurrected`: Kafka had said that it surely was not and never will be appended. */
  readonly rule: 'never-written' | 'resurrected'
}

/** Records that nobody wrote, or whose write had surely failed. */
export function foreign(found: readonly Found[], ...writes: readonly Writes[]): Foreign[] {
  const possible = new Set(writes.flatMap(each => [...each.ok, ...each.info].map(write => write.value)))
  const failed = new Set(writes.flatMap(each => each.fail.map(write => write.value)))
  return found
    .filter(({value}) => !possible.has(value))
    .map(record => ({...record, rule: failed.has(record.value) ? 'resurrected' : 'never-written'}))
}

type Valued = string | {readonly value: string}

/** Both hold the same values, in any order. */
export function same(a: readonly Valued[], b: readonly Valued[]): boolean {
  const [left, right] = [a, b].map(
    items => new Set(items.map(item => (typeof item === 'string' ? item : item.value))),
  ) as [Set<string>, Set<string>]
  return left.size === right.size && [...left].every(value => right.has(value))
}

/** There are files, and all are whole: without that, "it is not in them" means nothing. */
export function intact(replicas: readonly ReplicaRecords[]): boolean {
  return replicas.length > 0 && replicas.every(replica => replica.intact)
}

/** Records in the dead brokers' files that the same brokers' files no longer have: cut off on their return. */
export function truncated(dead: readonly ReplicaRecords[], after: readonly ReplicaRecords[]): Found[] {
  return dead.flatMap(before => {
    const returned = after.filter(({nodeId, topic}) => nodeId === before.nodeId && topic === before.topic)
    const kept = valuesOf(filesOf(returned, before.topic))
    return before.records.filter(({value}) => !kept.has(value))
  })
}

/** None of these values is in the files. @throws KxError if no file of a value's topic was handed in. */
export function holdsNone(replicas: readonly ReplicaRecords[], writes: Writes): boolean {
  const onDisk = valuesOf(filesOf(replicas, writes.topic))
  return [...writes.ok, ...writes.info, ...writes.fail].every(({value}) => !onDisk.has(value))
}

function filesOf(replicas: readonly ReplicaRecords[], topic: string): readonly ReplicaRecords[] {
  const files = replicas.filter(replica => replica.topic === topic)
  if (files.length > 0) return files
  throw new KxError('inconclusive', 'KX_NO_WITNESS', `There are no segment files of ${topic} to look into.`)
}

function onlyTopicOf(replicas: readonly ReplicaRecords[]): string {
  const topics = [...new Set(replicas.map(replica => replica.topic))]
  if (topics.length === 1) return topics[0] as string
  throw new KxError(
    'inconclusive',
    'KX_NO_WITNESS',
    `Segment files of one topic are needed, and there are ${topics.length}.`,
  )
}

function areReplicas(others: readonly ReplicaRecords[] | readonly Found[]): others is readonly ReplicaRecords[] {
  const [first] = others
  if (first === undefined)
    throw new KxError('inconclusive', 'KX_NO_WITNESS', 'There is nothing to compare the dead broker with.')
  return 'records' in first
}

function valuesOf(replicas: readonly ReplicaRecords[]): Set<string> {
  return new Set(replicas.flatMap(replica => replica.records.map(record => record.value)))
}

function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b)
}

/** The distinct leader epochs of the batches in which these records lie, ascending, as text: the brokers' own stamp. */
export function leaderEpochs(found: readonly Found[]): string[] {
  return ascending(new Set(found.map(({leaderEpoch}) => leaderEpoch))).map(String)
}
