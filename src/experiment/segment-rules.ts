import type {Told, ToldRecord} from '../history/told.js'
import {type BatchSeen, type DamagedCopy, differences, type RecordSeen, type ReplicaReading} from './segment-reading.js'

// What a verdict about segment files rests on. Each rule gives sentences, one for each thing that is not as it should be:
// none is agreement, and the sentences are what a person needs who looks for the fault.

/** All batches of a replica, over its segments. */
export function chainOf(replica: ReplicaReading | undefined): readonly BatchSeen[] {
  return replica?.segments.flatMap(({kx}) => kx.batches) ?? []
}

/** The codecs of its batches of records. */
export function codecsIn(log: readonly BatchSeen[]): readonly string[] {
  return [...new Set(log.filter(({isControl}) => !isControl).map(({codec}) => codec))]
}

/** How its transactions ended. */
export function endsIn(log: readonly BatchSeen[]): readonly string[] {
  const data = log.filter(({isControl, isTransactional}) => isTransactional && !isControl)
  return [...new Set(data.map(batch => endOf(batch, log)))]
}

/** Where kx and Kafka's own tool read the same bytes otherwise. A replica without a batch is a sentence too: nothing was compared. */
export function disagreements(replicas: readonly ReplicaReading[]): string[] {
  return replicas.flatMap(replica => {
    const where = `broker ${replica.nodeId}`
    if (chainOf(replica).length === 0) return [`${where} has no batch`]
    return replica.segments.flatMap(({file, kx, kafka}) =>
      differences(kx, kafka).map(difference => `${where}, ${file}: ${difference}`),
    )
  })
}

/** Where replicas hold other bytes below the high watermark; segment boundaries may differ, the chain may not. */
export function unequalReplicas(replicas: readonly ReplicaReading[]): string[] {
  const [first, ...others] = replicas
  if (!first || others.length === 0) return ['there is only one replica']
  if (first.chainedBytes === 0) return [`broker ${first.nodeId} has no bytes below its high watermark`]
  return others
    .filter(({sha256, chainedBytes}) => sha256 !== first.sha256 || chainedBytes !== first.chainedBytes)
    .map(({nodeId}) => `broker ${nodeId} has other bytes than broker ${first.nodeId}`)
}

/** Where a log is not what an append-only log without compaction is: dense offsets, positions that only grow, right CRCs. */
export function disorder(replicas: readonly ReplicaReading[]): string[] {
  return replicas.flatMap(replica => {
    const told: string[] = []
    let next = 0
    let epoch = 0
    told.push(...withoutIndexes(replica))
    for (const {file, kx, sizeInBytes} of replica.segments) {
      const where = `broker ${replica.nodeId}, ${file}`
      if (Number(file.replace('.log', '')) !== next) told.push(`${where} is not named by its base offset ${next}`)
      let position = 0
      for (const batch of kx.batches) {
        const what = `${where}, offset ${batch.baseOffset}`
        if (batch.baseOffset !== next) told.push(`${what}: offset ${next} was due`)
        if (batch.lastOffset - batch.baseOffset + 1 !== batch.count) told.push(`${what}: offsets are missing inside`)
        if (batch.position !== position) told.push(`${what}: begins at ${batch.position}, not ${position}`)
        if (!batch.isValid) told.push(`${what}: its CRC is wrong`)
        if (batch.leaderEpoch < epoch) told.push(`${what}: the leader epoch falls`)
        next = batch.lastOffset + 1
        epoch = Math.max(epoch, batch.leaderEpoch)
        position += batch.sizeInBytes
      }
      if (position + kx.trailingBytes !== sizeInBytes) told.push(`${where}: sizes do not add up to ${sizeInBytes}`)
    }
    return told
  })
}

/** Each segment has an offset index and a time index of its own name. */
function withoutIndexes({nodeId, files, segments}: ReplicaReading): string[] {
  return segments.flatMap(({file}) =>
    ['.index', '.timeindex']
      .map(kind => file.replace('.log', kind))
      .filter(name => !files.includes(name))
      .map(name => `broker ${nodeId} has no ${name}`),
  )
}

interface LogRecord {
  readonly batch: BatchSeen
  readonly record: RecordSeen
}

/**
 * Where the bytes are not what clients were told: every acknowledged record at its offset with its key and value, in a
 * batch of the codec, producer id, epoch and sequence that the client has, transactional if it was, and decided by the marker
 * that the client asked for; and nothing else in the log. `compression` is the topic's `compression.type`.
 */
export function unlikeTold(
  told: readonly Told[],
  log: readonly BatchSeen[],
  compression: string | undefined,
): string[] {
  const records = new Map<number, LogRecord>()
  for (const batch of log)
    if (!batch.isControl) for (const record of batch.records) records.set(record.offset, {batch, record})
  const claimed = new Set<number>()
  const sentences: string[] = []
  for (const series of told) {
    const found = placesOf(series, records)
    const mine: LogRecord[] = []
    for (const {record, place} of found) {
      if (!place) {
        if (!mayBeAbsent(record)) sentences.push(`${nameOf(series)}: ${record.value} is not where it was told to be`)
        continue
      }
      if (claimed.has(place.record.offset)) sentences.push(`offset ${place.record.offset} was told twice`)
      claimed.add(place.record.offset)
      mine.push(place)
      sentences.push(...unlikeRecord(series, record, place, log))
    }
    sentences.push(...unlikeSeries(series, [...new Set(mine.map(({batch}) => batch))], compression))
  }
  for (const {record} of records.values())
    if (!claimed.has(record.offset))
      sentences.push(`offset ${record.offset} holds ${record.value}, of which no client was told`)
  return sentences
}

/** A record of an aborted transaction may never have been sent, where the client does not tell. */
function mayBeAbsent({outcome, offset}: ToldRecord): boolean {
  return outcome === 'failed' || (outcome === 'aborted' && offset === null)
}

interface Placed {
  readonly record: ToldRecord
  readonly place: LogRecord | undefined
}

/** By its offset; where the client tells none, the producer's records are met in the order in which they were sent. */
function placesOf(series: Told, records: ReadonlyMap<number, LogRecord>): readonly Placed[] {
  const inOrder = [...records.values()].filter(({batch}) => batch.producerId === series.records[0]?.producerId)
  let next = 0
  return series.records.map(record => {
    if (record.offset !== null) return {record, place: records.get(record.offset)}
    const candidate = inOrder[next]
    const fits = candidate?.record.value === record.value && candidate.batch.producerEpoch === record.producerEpoch
    if (fits) next++
    return {record, place: fits ? candidate : undefined}
  })
}

function unlikeRecord(series: Told, told: ToldRecord, {batch, record}: LogRecord, log: readonly BatchSeen[]): string[] {
  const what = `${nameOf(series)}, offset ${record.offset}`
  const sentences: string[] = []
  if (record.key !== told.key || record.value !== told.value)
    sentences.push(`${what}: holds ${record.key}=${record.value}, and ${told.key}=${told.value} was acknowledged`)
  const {producerId, producerEpoch} = told
  if (producerId !== null && (batch.producerId !== producerId || batch.producerEpoch !== producerEpoch))
    sentences.push(
      `${what}: producer ${batch.producerId} epoch ${batch.producerEpoch}, and the client is ${producerId} epoch ${producerEpoch}`,
    )
  if (series.producer !== 'transactional') return sentences
  const ended = endOf(batch, log)
  if (ended !== told.outcome) sentences.push(`${what}: its transaction ended as ${ended}, and ${told.outcome} was told`)
  return sentences
}

/**
 * How the transaction of a batch ended: the producer's next marker. Its epoch is that of the batch or, from the second
 * version of the protocol on, one more (KIP-890).
 */
export function endOf(batch: BatchSeen, log: readonly BatchSeen[]): 'committed' | 'aborted' | 'open' {
  const marker = log.find(
    ({isControl, baseOffset, producerId}) =>
      isControl && baseOffset > batch.baseOffset && producerId === batch.producerId,
  )
  const steps = (marker?.producerEpoch ?? -1) - batch.producerEpoch
  const text = marker?.records[0]?.marker
  if (text === undefined || (steps !== 0 && steps !== 1)) return 'open'
  return text.startsWith('COMMIT') ? 'committed' : 'aborted'
}

function unlikeSeries(series: Told, batches: readonly BatchSeen[], compression: string | undefined): string[] {
  const sentences: string[] = []
  const next = new Map<string, number>()
  for (const batch of batches) {
    const what = `${nameOf(series)}, offset ${batch.baseOffset}`
    if (!codecFits(series, batch, compression)) sentences.push(`${what}: codec ${batch.codec}`)
    if (batch.isTransactional !== (series.producer === 'transactional'))
      sentences.push(`${what}: ${batch.isTransactional ? 'transactional' : 'not transactional'}`)
    if (series.producer === 'plain') {
      if (batch.producerId !== -1) sentences.push(`${what}: producer id ${batch.producerId}`)
      continue
    }
    if (batch.producerId < 0) sentences.push(`${what}: no producer id`)
    // A producer counts from 0 in each of its epochs, over all batches of a partition.
    const producer = `${batch.producerId}/${batch.producerEpoch}`
    const due = next.get(producer) ?? 0
    if (batch.baseSequence !== due) sentences.push(`${what}: sequence ${batch.baseSequence}, and ${due} was due`)
    next.set(producer, batch.baseSequence + batch.count)
  }
  return sentences
}

/** librdkafka sends a batch as it is if its codec would not make it smaller: seen with batches of one small record. */
function isAsItWas({client, codec}: Told, batch: BatchSeen): boolean {
  return client === 'librdkafka' && codec !== 'none' && batch.codec === 'none' && batch.count === 1
}

/** The batches that a client sent without the codec that it was set to. */
export function sentAsTheyWere(told: readonly Told[], log: readonly BatchSeen[]): readonly BatchSeen[] {
  return told.flatMap(series => {
    const values = new Set(series.records.map(({value}) => value))
    return log.filter(batch => isAsItWas(series, batch) && values.has(batch.records[0]?.value ?? ''))
  })
}

function codecFits(series: Told, batch: BatchSeen, compression: string | undefined): boolean {
  if (compression !== 'producer') return batch.codec === compression
  return batch.codec === series.codec || isAsItWas(series, batch)
}

function nameOf({client, codec, producer}: Told): string {
  return `${client}, ${codec}, ${producer}`
}

/** Where a reader did not say of a damaged copy what is true of it: that batch is invalid, all others are as they were. */
export function missedDamage(copy: DamagedCopy): string[] {
  const what = `bit ${copy.bit} of byte ${copy.position}`
  const judged = (['kx', 'kafka'] as const).flatMap(reader => {
    const invalid = copy[reader].batches.flatMap(({isValid}, index) => (isValid ? [] : [index]))
    return invalid.length === 1 && invalid[0] === copy.batch
      ? []
      : [
          `${what}: ${reader} calls ${invalid.length === 0 ? 'no batch' : `batch ${invalid.join(', ')}`} invalid, and it is ${copy.batch}`,
        ]
  })
  return [...judged, ...differences(copy.kx, copy.kafka, 'batches').map(difference => `${what}: ${difference}`)]
}
