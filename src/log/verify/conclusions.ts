import type {Finding} from '../finding.js'
import {bytes as sizeText, grouped, list as listText, plural} from '../../util/format.js'
import type {FindingList} from './finding-list.js'
import type {DamagedPlace, PartitionCheck, RecoveryEnd, StartTrouble} from './partition-check.js'
import type {FolderReport, LogSummary, SegmentSummary} from './report.js'

export interface PartitionFacts {
  readonly check: PartitionCheck
  readonly segments: readonly SegmentSummary[]
  readonly log: LogSummary
  readonly list: FindingList
  readonly recoveryPoint?: bigint | undefined
  /** Segments behind the one that was read, where only that one was. */
  readonly laterSegments?: number
}

/** What a partition's files come to, for people: each a sentence or two. */
export function partitionConclusions(facts: PartitionFacts): string[] {
  const {check, log, list} = facts
  return [
    ...verdict(list),
    ...damageConclusions(check, log),
    ...recoveryConclusions(facts),
    ...kafkaConclusions(list, check.isAtEnd),
    ...transactionConclusions(log),
    ...compactionConclusions(check, log),
  ]
}

export function logDirConclusions(facts: {
  readonly wasClosed: boolean
  readonly isLogDir: boolean
  readonly partitions: readonly FolderReport[]
  readonly list: FindingList
}): string[] {
  const {wasClosed, isLogDir, partitions, list} = facts
  const bad = partitions.filter(({findingCounts}) => findingCounts.some(({severity}) => severity !== 'info'))
  const told = partitions.length > 0 && list.count('error', 'warning') === 0 ? [] : verdict(list)
  if (partitions.length > 0) {
    const names = bad.slice(0, 5).map(({topic, partition}) => `${topic}-${partition}`)
    const more = bad.length > names.length ? `, and ${bad.length - names.length} more` : ''
    told.unshift(
      bad.length === 0
        ? `Nothing is wrong in ${plural(partitions.length, 'partition')}.`
        : `Something is wrong in ${bad.length} of ${plural(partitions.length, 'partition')}: ${listText(names)}${more}.`,
    )
  }
  if (isLogDir) {
    told.push(
      wasClosed
        ? 'The broker was stopped in order (.kafka_cleanshutdown is there): at its next start it reads no more of a log than its end, and damage elsewhere is only met by whoever reads it.'
        : 'No .kafka_cleanshutdown is here: the broker runs, or it was not stopped in order. At its next start it recovers every segment from the recovery points on.',
    )
  }
  return [...told, ...kafkaConclusions(list, false)]
}

/** How much of what was found. */
export function verdict(list: FindingList): string[] {
  const [errors, warnings, infos] = [list.count('error'), list.count('warning'), list.count('info')]
  const worth = infos === 0 ? '' : ` ${plural(infos, 'thing is', 'things are')} worth knowing.`
  if (errors + warnings === 0) return [`Nothing is wrong.${worth}`]
  const counts = [
    ...(errors > 0 ? [plural(errors, 'error')] : []),
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
  ]
  return [`${listText(counts)}.${worth}`]
}

/** The first damage, and what can be read behind it. */
export function damageConclusions(check: PartitionCheck, log: LogSummary): string[] {
  const first = check.firstDamage
  if (!first) return []
  const at = first.offset === undefined ? '' : ` (offset ${first.offset})`
  const whole = log.batches - log.damagedBatches - first.batchesBefore
  const records = log.records - first.recordsBefore
  const skipped = [
    ...(log.damagedBytes > 0 ? [`${sizeText(log.damagedBytes)} belong to no whole batch`] : []),
    ...(log.damagedBatches > 0 ? [`${plural(log.damagedBatches, 'batch', 'batches')} cannot be trusted`] : []),
  ]
  const readable =
    records === 0
      ? check.isAtEnd
        ? 'It is the end of the log: nothing lies behind it.'
        : 'Nothing behind it can be read.'
      : `Behind it ${plural(records, 'record')} in ${plural(whole, 'batch', 'batches')} can be read; --salvage copies the readable batches to a new file.`
  return [
    `The first damage is at byte ${grouped(first.position)} of ${fileName(first.file)}${at}. In all, ${listText(skipped)}.`,
    readable,
  ]
}

/** What the broker's recovery would take away, and where consumers would stop. */
function recoveryConclusions(facts: PartitionFacts): string[] {
  const {check} = facts
  const {recoveryEnd: end, consumersStop: stop, consumersSkip: skip} = check
  const told: string[] = []
  const start = startSentence(check.startTrouble)
  const alone = end && rebuiltSentence(end, facts)
  if (alone) told.push(alone)
  else if (end) {
    const [first, ...rest] = recoverySentences(end, facts)
    told.push(`${first}${start ? '' : ' After a clean stop it checks nothing.'}`, ...rest)
  }
  if (start) told.push(start)
  if (skip) told.push(...skipSentences(skip, facts))
  if (stop) {
    told.push(
      `As long as it is not cut and this replica leads, consumers and followers stop at ${placeText(stop)}: ` +
        'a consumer gets an exception on each poll until it seeks beyond it, a follower cannot copy further and leaves the in-sync replicas.',
    )
  }
  return told
}

function placeText({offset, position, file}: DamagedPlace): string {
  const where = `byte ${grouped(position)} of ${fileName(file)}`
  return offset === undefined ? where : `offset ${offset} (${where})`
}

/** Its length field leads beyond the end of the segment: the broker takes that for the end of what there is to read. */
function skipSentences(skip: DamagedPlace, {segments, laterSegments = 0}: PartitionFacts): string[] {
  const index = segments.findIndex(({name}) => name === fileName(skip.file))
  const later = index < 0 ? laterSegments : segments.length - index - 1
  if (later === 0 && skip.isEnd) return []
  const read = `As long as it is not cut and this replica leads, consumers and followers read up to ${placeText(skip)}`
  if (later === 0)
    return [`${read} and get nothing more, and no error: the broker takes it for the end of the segment.`]
  const passed = index < 0 ? 0 : recordsUpTo(segments, index) - skip.recordsBefore
  const next = segments[index + 1]?.baseOffset
  const loss = passed > 0 ? `; ${plural(passed, 'readable record')} between are passed over` : ''
  return [
    `${read} and go on at the next segment${index < 0 || next === undefined ? '' : `, offset ${next}`}, without an error: the broker takes it for the end of the segment${loss}.`,
  ]
}

/** A segment whose offset index is missing is recovered by itself when it is loaded, whatever the stop was like. */
function rebuiltSentence(end: RecoveryEnd, {segments}: PartitionFacts): string | undefined {
  const index = segments.findIndex(({name}) => name === fileName(end.file))
  const segment = segments[index]
  if (end.how !== 'cuts' || segment?.offsetIndex !== 'missing') return undefined
  const records = recordsUpTo(segments, index) - end.recordsBefore
  const lost = records > 0 ? `${plural(records, 'readable record')} behind that` : 'no readable record'
  return `At its next start, after a clean stop too, the broker writes the missing offset index of ${segment.name} anew: it cuts the segment at byte ${grouped(end.position)} and keeps later ones; ${lost} would be lost on this replica.`
}

function recordsUpTo(segments: readonly SegmentSummary[], index: number): number {
  return segments.slice(0, index + 1).reduce((sum, {records}) => sum + records, 0)
}

function recoverySentences(
  end: RecoveryEnd,
  {segments, log, recoveryPoint, laterSegments = 0}: PartitionFacts,
): string[] {
  const index = segments.findIndex(({name}) => name === fileName(end.file))
  const later = index < 0 ? laterSegments : segments.length - index - 1
  const told = [recoverySentence(end, {index, later, log})]
  const next = segments[index + 1]?.baseOffset
  if (recoveryPoint !== undefined && next !== undefined && next <= recoveryPoint) {
    told.push(
      `The recovery point is ${recoveryPoint}, behind that segment: recovery does not look at it, and the damage stays.`,
    )
  }
  return told
}

/** After a clean stop only the end of the last segment is read, from the last entry of its offset index on. */
function startSentence(trouble: StartTrouble | undefined): string | undefined {
  if (!trouble) return undefined
  const {how, from, offset, position} = trouble
  const file = fileName(trouble.file)
  return how === 'fails'
    ? `After a clean stop the broker does not start: it looks for the log's end from byte ${grouped(from)} of ${file} on, and ends with a CorruptRecordException at byte ${grouped(position)}.`
    : `After a clean stop the broker looks for the log's end where the last index entry points, at offset ${offset}, which the log does not reach: it takes the base offset of ${file} for the end, shows no record of that segment, and appends new ones with the same offsets behind them.`
}

function recoverySentence(
  end: RecoveryEnd,
  {index, later, log}: {readonly index: number; readonly later: number; readonly log: LogSummary},
): string {
  const file = fileName(end.file)
  if (end.how === 'fails') {
    return (
      `After an unclean stop the broker does not start: recovery fails in ${file} at byte ${grouped(end.position)}, as ${end.why}. ` +
      'Nothing but this folder moved away lets it start; another replica has the records, if there is one.'
    )
  }
  const records = log.records - end.recordsBefore
  const offsets =
    end.offset !== undefined && log.lastOffset !== undefined && log.lastOffset >= end.offset && records > 0
      ? `, offsets ${end.offset} to ${log.lastOffset}`
      : ''
  const deleted = later > 0 ? ` and deletes ${plural(later, 'later segment')}` : ''
  const lost =
    records > 0
      ? `${plural(records, 'readable record')}${index < 0 && later > 0 ? ' of this segment' : ''}${offsets}, would be lost on this replica`
      : 'no readable record would be lost'
  const does =
    end.how === 'emptied'
      ? `it empties ${file}, as ${end.why} (by the default index.interval.bytes)`
      : `it cuts ${file} at byte ${grouped(end.position)}`
  return `After an unclean stop the broker recovers: ${does}${deleted}; ${lost}.`
}

/** Of each kind of finding one sentence on what Kafka does, the gravest first. `endIsCut`: the damage is the end of the log. */
export function kafkaConclusions(list: FindingList, endIsCut: boolean): string[] {
  const told = new Map<string, Finding>()
  for (const finding of list.findings) {
    const isTail = finding.code === 'cut-batch' || finding.code === 'cut-header'
    if (finding.severity === 'info' || finding.consequence === undefined) continue
    if (!told.has(finding.code) && !isTail) told.set(finding.code, finding)
  }
  const sentences = [...told.values()]
    .filter(({code}) => code !== 'crc' && code !== 'garbage' && code !== 'impossible-size')
    .map(({code, consequence}) => `${code}: ${consequence}`)
  return [...(endIsCut ? tailConclusions(list) : []), ...sentences]
}

/** A last batch that is not whole is what a crash leaves behind; what it means for its producer is easily overstated. */
function tailConclusions(list: FindingList): string[] {
  if (!list.counts.some(({code}) => code === 'cut-batch' || code === 'cut-header')) return []
  return [
    'The batch at the end is not whole, as after a power failure, a full disk or a copy that was made while it was written. Recovery removes it; ' +
      'without recovery, what is appended behind it could not be read. If its producer was answered with acks=all and more than one replica ' +
      'was in sync (min.insync.replicas of 2 or more makes sure of that), another replica has it; with acks=1 or a single replica it may have been ' +
      'acknowledged and is lost.',
  ]
}

function transactionConclusions({transactions}: LogSummary): string[] {
  const {open, lastStableOffset} = transactions
  const [first] = open
  if (!first || lastStableOffset === undefined) return []
  const hanging = open.filter(({isHanging}) => isHanging).length
  const what = `${plural(open.length, 'transaction is', 'transactions are')} open at the end${hanging > 0 ? `, ${hanging} of them hanging` : ''}`
  return [`${what}: consumers of read_committed read up to offset ${lastStableOffset} and no further until it ends.`]
}

function compactionConclusions(check: PartitionCheck, log: LogSummary): string[] {
  if (!log.isCompacted || log.missingOffsets === 0n) return []
  const signs = check.compactionSigns
  const why =
    signs > 0
      ? `${plural(signs, 'batch shows', 'batches show')} that the topic is compacted (fewer records than offsets, or a delete horizon)`
      : 'the topic is a compacted one'
  return [`${grouped(log.missingOffsets)} offsets are missing between batches, which is normal: ${why}.`]
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
