import {grouped, list, plural} from '../../util/format.js'
import {bytesConclusions} from './conclusions-bytes.js'
import {epochAt, epochsOf, lastEpochOf, startOf, truncationPoint} from './epochs.js'
import type {Evidence, OddBatch, OtherHeader, Reasons} from './evidence.js'
import {contentsOf, epochText, isSame, offsets} from './ranges.js'
import type {Conclusion, DiffRange, EpochSpan, ReplicaDiff} from './types.js'

/** What was noticed beside the ranges. */
export interface Noticed {
  readonly headers: readonly OtherHeader[]
  readonly odd: readonly OddBatch[]
  readonly oddLeftOut: number
  readonly reasons: Reasons
  readonly lostWithoutKey: readonly number[]
  readonly totals: readonly Evidence[]
  /** Batches of each replica that only a cleaner makes. */
  readonly cleaned: readonly number[]
  readonly upTo: bigint | undefined
}

export type Facts = Omit<ReplicaDiff, 'conclusions' | 'equal'>

/** What follows from a comparison, the gravest first. */
export function conclusionsOf(facts: Facts, noticed: Noticed): Conclusion[] {
  if (facts.from >= facts.to) return [...bytesConclusions(facts, noticed), nothingShared(facts)]
  const leader = leaderOf(facts)
  const diverged = divergences(facts, leader)
  const found = [
    ...bytesConclusions(facts, noticed),
    ...diverged.conclusions,
    ...holes(facts, noticed),
    ...tails(facts, diverged.replicas),
    ...legal(facts, noticed),
  ]
  if (found.some(({severity}) => severity !== 'info')) return found
  const missed = notCompared(facts)
  return missed ? [missed, ...found] : [allEqual(facts), ...found]
}

/** Whose log is the measure: the leader's where it is known, else that of the newest epoch; then the longest. */
function leaderOf({replicas}: Facts): number {
  const said = replicas.findIndex(({role}) => role === 'leader')
  if (said >= 0) return said
  let best = 0
  for (const [index, replica] of replicas.entries()) {
    const model = replicas[best]
    if (!model) continue
    const [epoch, bestEpoch] = [lastEpochOf(replica), lastEpochOf(model)]
    if (epoch > bestEpoch || (epoch === bestEpoch && replica.logEndOffset > model.logEndOffset)) best = index
  }
  return best
}

interface Own {
  readonly replica: number
  readonly from: bigint
  readonly to: bigint
  readonly records: number
  readonly epochs: EpochSpan | null
  /** Of the leader's records there. */
  readonly leaderEpochs: EpochSpan | null
  /** The ranges, by which two replicas with the same tail are known. */
  readonly ranges: readonly DiffRange[]
}

/** Replicas whose records at the same offsets are other ones than the leader's, those with the same ones together. */
function divergences(facts: Facts, leader: number): {conclusions: Conclusion[]; replicas: Set<number>} {
  const owns = facts.replicas.flatMap((_, replica) => (replica === leader ? [] : (ownOf(facts, replica, leader) ?? [])))
  const conclusions: Conclusion[] = []
  const told = new Set<number>()
  for (const own of owns) {
    if (told.has(own.replica)) continue
    const alike = owns.filter(
      other =>
        other.from === own.from && own.ranges.every(({holdings}) => holdings[other.replica] === holdings[own.replica]),
    )
    for (const {replica} of alike) told.add(replica)
    conclusions.push(
      divergence(
        facts,
        own,
        alike.map(({replica}) => replica),
        leader,
      ),
    )
  }
  return {conclusions, replicas: told}
}

/**
 * What a replica has and the leader has not, from the first record on that is another one there, or that lies behind the
 * leader's end in an epoch that was over when the leader's began: a tail that Kafka cuts, not one that is fetched.
 */
function ownOf({ranges, replicas}: Facts, replica: number, leader: number): Own | undefined {
  const [follower, model] = [replicas[replica], replicas[leader]]
  if (!follower || !model) return undefined
  const cut = truncationPoint(follower, model)
  const first = ranges.find(({from, holdings}) => {
    const [own, other] = [holdings[replica], holdings[leader]]
    if (typeof own !== 'number') return false
    return typeof other === 'number' ? own !== other : other === 'ended' && from >= cut && cut < follower.logEndOffset
  })
  if (!first) return undefined
  const own = ranges.filter(
    ({from, holdings}) =>
      from >= first.from && typeof holdings[replica] === 'number' && holdings[replica] !== holdings[leader],
  )
  return {
    replica,
    from: first.from,
    to: own.at(-1)?.to ?? first.to,
    records: own.reduce((sum, {records}) => sum + (records[replica] ?? 0), 0),
    epochs: joined(own.map(({epochs}) => epochs[replica] ?? null)),
    leaderEpochs: joined(own.map(({epochs}) => epochs[leader] ?? null)),
    ranges: own,
  }
}

function joined(spans: readonly (EpochSpan | null)[]): EpochSpan | null {
  const known = spans.filter(span => span !== null)
  const [first] = known
  return first ? {first: first.first, last: known.at(-1)?.last ?? first.last} : null
}

function divergence(facts: Facts, own: Own, indexes: readonly number[], leader: number): Conclusion {
  const names = indexes.map(index => facts.replicas[index]?.name ?? '')
  const model = facts.replicas[leader]
  const replica = facts.replicas[own.replica]
  const {from, to, records} = own
  const base = {replicas: names, from, to, records}
  const nobody = indexes.length + 1 === facts.replicas.length || facts.replicas.length > 2
  const what = `${list(names)} ${names.length === 1 ? 'has' : 'have'} ${plural(records, 'record')} of ${epochText(own.epochs)} at ${offsets(from, to)} that ${nobody ? 'nobody else has' : `${model?.name} does not have`}`
  const older = own.epochs?.first ?? -1
  const newer = own.leaderEpochs?.first ?? (model ? lastEpochOf(model) : -1)
  if (!model || !replica || older >= newer) {
    return {
      code: 'conflict',
      severity: 'error',
      ...base,
      text: `${what}, and ${model?.name} has other ones there of ${epochText(own.leaderEpochs)}. No change of leader makes that, and Kafka does not see it: where the epochs agree a follower cuts nothing. One of the two was written to by something else, or lost what it had flushed.`,
    }
  }
  const cut = truncationPoint(replica, model)
  const ended = epochAt(model, from) ?? newer
  const begins = startOf(model, ended) ?? from
  const led =
    names.length === 1 ? `it was the leader of epoch ${older}` : `one of them was the leader of epoch ${older}`
  const why = `${led}, and on ${model.name} epoch ${ended} begins at ${begins}`
  const consequence =
    cut <= from
      ? `Kafka truncates ${list(names)} to ${cut} when it rejoins, and these records are gone for good.`
      : `By the epochs Kafka would truncate ${list(names)} only to ${cut}: what differs below stays different.`
  return {
    code: cut <= from ? 'divergence' : 'conflict',
    severity: 'error',
    ...base,
    truncatesTo: cut,
    text: `${what}: ${why}. ${consequence}`,
  }
}

/** Offsets that a replica does not have in the middle of its log, and others do. */
function holes({replicas, ranges}: Facts, {lostWithoutKey, cleaned}: Noticed): Conclusion[] {
  return replicas.flatMap(({name}, index): Conclusion[] => {
    const lacking = ranges.filter(({holdings}) => holdings[index] === 'absent')
    const [first, last] = [lacking[0], lacking.at(-1)]
    if (!first || !last) return []
    const records = lacking.reduce((sum, range) => sum + Math.max(...range.records), 0)
    const base = {replicas: [name], from: first.from, to: last.to, records}
    const what = `${name} lacks ${plural(records, 'record')} in the middle of its log (${offsets(first.from, last.to)}) that others have`
    const without = lostWithoutKey[index] ?? 0
    if (without > 0) {
      const which = without === records ? 'without a key' : `${grouped(without)} of them without a key`
      return [
        {
          code: 'hole',
          severity: 'error',
          ...base,
          text: `${what}, ${which}: compaction takes no record without a key, so these are lost there. Kafka does not notice.`,
        },
      ]
    }
    if (cleaned[index] === 0) {
      return [
        {
          code: 'hole',
          severity: 'warning',
          ...base,
          text: `${what}, and nothing in its batches says that a cleaner was there. If the topic is not compacted they are lost.`,
        },
      ]
    }
    return [
      {
        code: 'compaction',
        severity: 'info',
        ...base,
        text: `${what}: its log cleaner has been further. Compaction is each replica's own business; all of these have keys, or are markers.`,
      },
    ]
  })
}

/** Replicas that end before others. A replica that has diverged is cut first: its end says nothing. */
function tails(facts: Facts, diverged: ReadonlySet<number>): Conclusion[] {
  const {replicas, ranges, damages} = facts
  const byEnd = new Map<bigint, number[]>()
  for (const [index, {logEndOffset}] of replicas.entries()) {
    if (!diverged.has(index)) byEnd.set(logEndOffset, [...(byEnd.get(logEndOffset) ?? []), index])
  }
  return [...byEnd].flatMap(([end, indexes]): Conclusion[] => {
    const behind = ranges.filter(({holdings}) => holdings[indexes[0] ?? 0] === 'ended')
    const longer = replicas.flatMap((_, index) =>
      !diverged.has(index) && behind.some(({holdings}) => typeof holdings[index] === 'number') ? [index] : [],
    )
    const own = behind.filter(({holdings}) => longer.some(index => typeof holdings[index] === 'number'))
    const last = own.at(-1)
    if (!last) return []
    if (end < facts.from) return [beforeTheOthers(facts, indexes, end)]
    const records = own.reduce((sum, range) => sum + Math.max(...longer.map(index => range.records[index] ?? 0)), 0)
    const epochs = joined(own.map(range => longer.map(index => range.epochs[index]).find(span => span) ?? null))
    const names = indexes.map(index => replicas[index]?.name ?? '')
    const cut = damages.some(({replica, to}) => indexes.includes(replica) && to === null)
    const verb = names.length === 1 ? 'ends' : 'end'
    const owners = longer.map(index => replicas[index]?.name ?? '')
    const behindOf = `${list(owners)} ${owners.length === 1 ? 'goes' : 'go'} on to ${last.to} with ${plural(records, 'record')} of ${epochText(epochs)}`
    return [
      {
        code: 'tail',
        severity: 'warning',
        replicas: names,
        from: end,
        to: last.to,
        records,
        text: `${list(names)} ${verb} at ${end}${cut ? ' (with damaged bytes)' : ''}; ${behindOf}. A missing tail is no divergence: a follower fetches it.`,
      },
    ]
  })
}

/** A replica that ends before the others begin: Kafka's follower then starts anew at the leader's log start. */
function beforeTheOthers({replicas, from, to}: Facts, indexes: readonly number[], end: bigint): Conclusion {
  const names = indexes.map(index => replicas[index]?.name ?? '')
  const verb = names.length === 1 ? 'ends' : 'end'
  const starts = list(replicas.filter(({logStartOffset}) => logStartOffset === from).map(({name}) => name))
  return {
    code: 'nothing-shared',
    severity: 'warning',
    replicas: names,
    from,
    to,
    text: `${list(names)} ${verb} at ${end}, and ${starts} begins only at ${from}: they share no offset. A follower that is so far behind drops its log and starts anew there.`,
  }
}

/** Differences that are as they should be, but worth knowing. */
function legal(facts: Facts, {reasons, upTo, totals}: Noticed): Conclusion[] {
  const {replicas, ranges, from} = facts
  const names = replicas.map(({name}) => name)
  const all: Conclusion[] = []
  const byRecords = ranges.filter(range => range.comparedBy === 'records' && contentsOf(range) === 1)
  const [first, last] = [byRecords[0], byRecords.at(-1)]
  const causes = first ? causesOf(reasons, totals, names) : []
  if (first && last && causes.length > 0) {
    all.push({
      code: reasons.compacted ? 'compaction' : 'equal-by-records',
      severity: 'info',
      replicas: names,
      from: first.from,
      to: last.to,
      text: `At ${offsets(first.from, last.to)} batches differ in bytes, so records were compared (offset, key, value, headers, timestamp, producer): ${causes.join('; ')}.`,
    })
  }
  if (new Set(replicas.map(({logStartOffset}) => logStartOffset)).size > 1) {
    const starts = replicas.map(({name, logStartOffset}) => `${name} at ${logStartOffset}`)
    all.push({
      code: 'log-start',
      severity: 'info',
      replicas: names,
      text: `The logs begin at different offsets (${list(starts)}), as retention and DeleteRecords leave them: compared from ${from}.`,
    })
  }
  all.push(...segmentsOf(facts), ...checkpointsOf(facts))
  if (upTo !== undefined) {
    all.push({
      code: 'above-high-watermark',
      severity: 'info',
      replicas: names,
      from: upTo,
      text: `Compared below the high watermark, ${upTo}. What lies above it may legally be on the leader alone; --all compares it too.`,
    })
  }
  return all
}

function causesOf(reasons: Reasons, totals: readonly Evidence[], names: readonly string[]): string[] {
  const causes: string[] = []
  if (reasons.compacted) {
    const empty = totals.flatMap(({emptyBatches}, index) =>
      emptyBatches > 0 ? [`${names[index]} keeps ${plural(emptyBatches, 'empty batch', 'empty batches')}`] : [],
    )
    const some = empty.length > 0 && empty.length < names.length ? `, and ${list(empty)}` : ''
    causes.push(
      `the replicas were compacted each at its own time, which shows in delete horizons and what is left of batches${some}`,
    )
  }
  if (reasons.codecs.size > 0)
    causes.push(`the batches are compressed differently (${list([...reasons.codecs], 'or')})`)
  if (reasons.cut) causes.push('the batches are cut differently')
  if (reasons.other) causes.push('the headers or encodings of the batches differ')
  return causes
}

function segmentsOf({replicas, from, to}: Facts): Conclusion[] {
  const inside = replicas.map(({segments}) => segments.filter(base => base > from && base < to).join(', '))
  if (new Set(inside).size < 2) return []
  const told = replicas.map(({name}, index) => `${name} at ${inside[index] || 'none'}`)
  return [
    {
      code: 'segments',
      severity: 'info',
      replicas: replicas.map(({name}) => name),
      text: `Segments are rolled differently: ${told.join('; ')}. Each broker rolls by its own clock and restarts.`,
    },
  ]
}

function checkpointsOf({replicas}: Facts): Conclusion[] {
  return replicas.flatMap(replica => {
    const last = replica.checkpoint?.at(-1)
    if (!last || last.startOffset < replica.logEndOffset || (replica.checkpoint?.length ?? 0) < 2) return []
    if (replicas.every(other => epochsOf(other).some(({epoch}) => epoch === last.epoch))) return []
    return [
      {
        code: 'epoch-checkpoint' as const,
        severity: 'info' as const,
        replicas: [replica.name],
        text: `${replica.name} knows epoch ${last.epoch} from ${last.startOffset} on, without a record of it: it was elected (or heard of it) and nothing was written.`,
      },
    ]
  })
}

function allEqual({replicas, ranges, from, to, comparedBy}: Facts): Conclusion {
  const records = Math.max(0, ...replicas.map(one => one.records))
  const names = replicas.map(({name}) => name)
  const how = comparedBy === 'bytes' ? 'the same bytes' : 'the same records, though not everywhere in the same bytes'
  const holes = ranges.some(range => !isSame(range)) ? ' but for what compaction took' : ''
  return {
    code: comparedBy === 'bytes' ? 'equal' : 'equal-by-records',
    severity: 'info',
    replicas: names,
    from,
    to,
    records,
    text: `${allOf(names)} are equal at ${offsets(from, to)}: ${plural(records, 'record')}, ${how}${holes}.`,
  }
}

/** What nobody has compared is not equal. */
function notCompared({replicas, ranges, rangesLeftOut, from, to}: Facts): Conclusion | undefined {
  const unread = ranges.filter(({holdings}) => holdings.includes('unreadable'))
  const [first, last] = [unread[0], unread.at(-1)]
  if (!first && rangesLeftOut === 0) return undefined
  const names = replicas.map(({name}) => name)
  const where = first && last ? {from: first.from, to: last.to} : {from, to}
  const what = first
    ? `At ${offsets(where.from, where.to)} batches can't be read, and were not compared; kx dump-log --verify tells why.`
    : `${plural(rangesLeftOut, 'range')} in which the replicas differ were not looked into.`
  return {code: 'damage', severity: 'warning', replicas: names, ...where, text: what}
}

function allOf(names: readonly string[]): string {
  return names.length === 2 ? 'Both replicas' : `All ${names.length} replicas`
}

function nothingShared({replicas, from, to, damages}: Facts): Conclusion {
  const isEmpty = replicas.every(({logStartOffset, logEndOffset}) => logStartOffset === logEndOffset)
  const same = new Set(replicas.map(({logEndOffset}) => logEndOffset)).size === 1
  const names = replicas.map(({name}) => name)
  if (isEmpty && same && damages.length === 0) {
    const text = `${allOf(names)} are empty; their logs begin at ${from}.`
    return {code: 'equal', severity: 'info', replicas: names, from, to: from, records: 0, text}
  }
  const spans = replicas.map(
    ({name, logStartOffset, logEndOffset}) => `${name} has ${logStartOffset} to ${logEndOffset}`,
  )
  return {
    code: 'nothing-shared',
    severity: 'warning',
    replicas: names,
    from,
    to,
    text: `The replicas share no offsets that could be compared: ${spans.join('; ')}.`,
  }
}
