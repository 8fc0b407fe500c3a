import type {Finding} from '../finding.js'
import {bytes as sizeText, grouped, list as listText, plural} from '../../util/format.js'
import type {FindingList} from './finding-list.js'
import type {DamagedPlace, PartitionCheck} from './partition-check.js'
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
        ? 'The broker was stopped in order (.kafka_cleanshutdown is there): at its next start it checks no log, and damage is only met by whoever reads it.'
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
  const {recoveryCuts: cut, consumersStop: stop} = check
  const told: string[] = []
  if (cut) told.push(...recoverySentences(cut, facts))
  if (stop) {
    const offset = stop.offset === undefined ? '' : `offset ${stop.offset} (`
    told.push(
      `As long as it is not cut and this replica leads, consumers and followers stop at ${offset}byte ${grouped(stop.position)} of ${fileName(stop.file)}${offset ? ')' : ''}: ` +
        'a consumer gets an exception on each poll until it seeks beyond it, a follower cannot copy further and leaves the in-sync replicas.',
    )
  }
  return told
}

function recoverySentences(
  cut: DamagedPlace,
  {segments, log, recoveryPoint, laterSegments = 0}: PartitionFacts,
): string[] {
  const index = segments.findIndex(({name}) => name === fileName(cut.file))
  const later = index < 0 ? laterSegments : segments.length - index - 1
  const records = log.records - cut.recordsBefore
  const where = `${fileName(cut.file)} at byte ${grouped(cut.position)}`
  const offsets =
    cut.offset !== undefined && log.lastOffset !== undefined && log.lastOffset >= cut.offset && records > 0
      ? `, offsets ${cut.offset} to ${log.lastOffset}`
      : ''
  const deleted = later > 0 ? ` and deletes ${plural(later, 'later segment')}` : ''
  const lost =
    records > 0
      ? `${plural(records, 'readable record')}${index < 0 && later > 0 ? ' of this segment' : ''}${offsets}, would be lost on this replica`
      : 'no readable record would be lost'
  const told = [
    `After an unclean stop the broker recovers: it cuts ${where}${deleted}; ${lost}. After a clean stop it checks nothing.`,
  ]
  const next = segments[index + 1]?.baseOffset
  if (recoveryPoint !== undefined && next !== undefined && next <= recoveryPoint) {
    told.push(
      `The recovery point is ${recoveryPoint}, behind that segment: recovery does not look at it, and the damage stays.`,
    )
  }
  return told
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
