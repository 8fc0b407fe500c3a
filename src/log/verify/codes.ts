import type {Finding, Severity} from '../finding.js'
import {textFileCodes} from './text-file-codes.js'

export interface FindingKind {
  readonly severity: Severity
  /** What it says, without numbers: for the documentation. */
  readonly meaning: string
  /** What Kafka 4.x does with it, where that does not depend on the case. */
  readonly kafka?: string
}

const recovery =
  'After an unclean stop, recovery cuts the segment here and deletes all later segments, if the segment is not wholly ' +
  'below the recovery point; after a clean stop only the end of the last segment is read.'
const consumersStop = 'Consumers stop here with a CorruptRecordException, and followers cannot copy beyond it.'
const served = 'The broker does not look: recovery keeps the batch and it is served as it is.'
const deleteIndex =
  'Kafka checks no entry at its start. With the broker stopped the file can be deleted: a missing offset index is rebuilt.'

/** Only a missing offset index makes the broker rebuild; a missing time index is begun anew, and stays without entries. */
const rebuildTimeIndex =
  'Kafka checks no entry at its start. With the broker stopped delete this file and the offset index beside it: a missing offset index makes the broker rebuild both.'

function error(meaning: string, kafka?: string): FindingKind {
  return kafka === undefined ? {severity: 'error', meaning} : {severity: 'error', meaning, kafka}
}
function warning(meaning: string, kafka?: string): FindingKind {
  return kafka === undefined ? {severity: 'warning', meaning} : {severity: 'warning', meaning, kafka}
}
function info(meaning: string, kafka?: string): FindingKind {
  return kafka === undefined ? {severity: 'info', meaning} : {severity: 'info', meaning, kafka}
}

/**
 * All codes that a check or an output of any kind can give, each for one thing: stable, for scripts. The severity is that of the usual case; a check may lower it
 * where the circumstances explain what it saw.
 */
export const findingCodes = {
  // Bytes that are no batch.
  'cut-batch': error('The last batch is not whole: the file ends inside it.', recovery),
  'cut-header': error('Too few bytes for the header of a batch are left.', recovery),
  'zero-fill': error('Zeros up to the end of a log that is not the active one, or that was closed.', recovery),
  preallocated: info(
    'Zeros up to the end of the active segment: space that was preallocated (log.preallocate).',
    'A running broker knows where its log ends; after an unclean stop recovery cuts the zeros off.',
  ),
  'impossible-size': error('A batch length that no batch can have.', `${recovery} ${consumersStop}`),
  magic: error(
    'A magic that is not known.',
    'The magic lies outside the CRC. One above 2 passes recovery and makes consumers stop with a CorruptRecordException; any other is cut off by recovery.',
  ),
  garbage: error('Bytes that are no batch.', `${recovery} ${consumersStop}`),
  'too-large': error('A batch that is larger than what kx reads.', served),
  'short-read': error('The source gave fewer bytes than its size promises.'),

  // A batch and its records.
  crc: error('The stored CRC of a batch is not that of its bytes.', `${recovery} ${consumersStop}`),
  records: error(
    'The CRC is right, and yet not all records of the batch can be read.',
    `${served} Consumers fail at this batch.`,
  ),
  'record-count': error(
    'The number of records in the header is not the number that is there.',
    `${served} Consumers fail at this batch.`,
  ),
  leftover: error('Bytes are left over behind the last record of a batch.', `${served} Consumers fail at this batch.`),
  'offset-delta': error("A record's offset lies outside its batch, or not above the one before.", served),
  'max-timestamp': warning(
    "The header's largest timestamp is not that of its records.",
    'It is used as it is: retention by time and lookups by timestamp go by it.',
  ),
  'unknown-attributes': warning(
    'Attribute bits are set that mean nothing.',
    'They are ignored; a codec above 4 makes consumers fail.',
  ),
  codec: warning('The compressed stream is odd, and readable all the same.', 'It is served as it is.'),
  'not-uncompressed': warning('The records were not checked: uncompressed they are larger than allowed.'),
  'compression-ratio': info('A batch is more than 1,000 times as large when it is uncompressed.'),
  'batch-size': info('A batch is larger than `--max-message-size`.'),
  'old-magic': info('Batches of magic 0 or 1, as Kafka wrote them before 0.11.', 'Kafka 4 still reads them.'),

  // Offsets and segments.
  'offset-regress': error(
    'A base offset is not above the last offset of the batch before.',
    'Recovery goes on, unless an index entry would have to fall: then it empties the whole segment. Consumers skip what is below their position.',
  ),
  'offset-overlap': error(
    'A batch repeats offsets that were there already.',
    'Recovery goes on, unless an index entry would have to fall: then it empties the whole segment. Consumers skip what is below their position.',
  ),
  'offset-gap': warning(
    'Offsets are missing, and nothing shows that the topic is compacted.',
    'Kafka does not look: consumers step over the gap.',
  ),
  'offset-overflow': error(
    'The last offset of a batch is beyond 2^63 − 1, or too far from the base offset of the segment.',
    'Recovery splits a segment whose offsets are more than 2^31 − 1 from its base offset, if those of its last batch are; else it fails, and the broker does not start.',
  ),
  'offset-negative': error('A base offset is negative.', served),
  'offset-before-name': error(
    "The first offset is below the number in the file's name.",
    'The index cannot hold such offsets: recovery takes the segment for an overflowing one, cannot split it, and the broker does not start.',
  ),
  'segment-overlap': error(
    "A segment reaches beyond the next segment's base offset.",
    'Offsets of the overlap are read from the later segment.',
  ),
  'segment-gap': warning(
    'Offsets are missing between two segments, and nothing shows that the topic is compacted.',
    'Kafka does not look: consumers go on at the next segment.',
  ),
  'file-name': info('The name of the file does not say its base offset.', 'Kafka ignores the file.'),
  unfinished: info(
    'A file that waits for its deletion or was being written.',
    'It is removed or put in place at the next start.',
  ),

  // Leader epochs and time.
  'epoch-falls': error(
    'The leader epoch falls from one batch to the next.',
    'Kafka does not look (the epoch lies outside the CRC), but followers find out by epochs where logs divide, and may be cut at a wrong place.',
  ),
  'epoch-negative': error('A leader epoch is below −1.', served),
  'epoch-checkpoint': warning(
    'A leader epoch in the log is not that of `leader-epoch-checkpoint`, or starts elsewhere.',
    'Followers and consumers are told by the checkpoint where epochs end; recovery only adds epochs that are newer.',
  ),
  'no-timestamp': info('Batches without a timestamp (−1).'),
  'future-timestamp': info(
    'Timestamps that lie in the future.',
    'Retention by time keeps such segments until that time has passed.',
  ),
  'horizon-passed': info(
    'Batches whose delete horizon has passed are still there.',
    'The cleaner drops tombstones and markers in them when it next cleans this part of the log; if it never does, it is stuck.',
  ),

  // Producers and transactions.
  'sequence-gap': warning(
    'Sequence numbers of a producer are missing.',
    'A leader refuses such a batch (OutOfOrderSequenceException); replication and recovery do not look.',
  ),
  'sequence-duplicate': warning(
    'The same sequence numbers of a producer are there twice.',
    'A leader that remembers the batch does not append it again; here consumers read its records twice.',
  ),
  'sequence-regress': warning(
    'Sequence numbers of a producer go back.',
    'A leader refuses such a batch (OutOfOrderSequenceException); replication and recovery do not look.',
  ),
  'producer-epoch-falls': warning(
    'The epoch of a producer falls.',
    'A leader refuses such a batch (InvalidProducerEpochException); replication and recovery only write a warning to the log.',
  ),
  'not-transactional': warning(
    'A batch that is not transactional lies inside an open transaction of its producer.',
    'Recovery fails with an InvalidTxnStateException, and the broker does not start.',
  ),
  'control-record': warning(
    'A control record cannot be understood, or has more in it than it should.',
    'Consumers skip control records; recovery reads markers, and where it cannot understand one the broker does not start.',
  ),
  'marker-without-data': info(
    'A transaction marker has no data of its producer before it.',
    'Normal: the partition was part of the transaction.',
  ),
  'coordinator-epoch-falls': warning(
    "The coordinator epoch of a producer's markers falls.",
    'A leader refuses such a marker (TransactionCoordinatorFencedException); replication and recovery do not.',
  ),
  'transaction-open': info(
    'A transaction is open at the end of the log.',
    'Consumers of read_committed do not read beyond its first offset until it ends.',
  ),
  'transaction-hanging': warning(
    'A transaction has been open for longer than transaction.max.timeout.ms.',
    'Consumers of read_committed are stuck at its first offset, and compaction stops there, until `kafka-transactions.sh abort` ends it.',
  ),

  // Files beside a log.
  'index-size': warning(
    "The size of an index file is no multiple of an entry's.",
    'Kafka ignores the bytes behind the last whole entry and writes over them.',
  ),
  'index-order': error(
    'Entries of an offset index do not ascend.',
    `Lookups may begin too late and miss records. ${deleteIndex}`,
  ),
  'index-position': error(
    'An entry of an offset index does not point at the beginning of a batch.',
    `A read that begins there fails or finds nothing. ${deleteIndex}`,
  ),
  'index-offset': error(
    'An entry of an offset index names another offset than the batch it points at.',
    `Reads may begin too late and miss records. ${deleteIndex}`,
  ),
  'index-sparse': warning(
    'A long stretch of log has no entry in its offset index.',
    'Reads work and take longer: the broker goes through the stretch batch by batch.',
  ),
  'index-missing': warning(
    'A segment has no offset index.',
    'At its next start the broker recovers the segment: it rebuilds the index files, and cuts the segment at the first bad batch.',
  ),
  'timeindex-size': warning(
    "The size of a time index is no multiple of an entry's.",
    'Kafka ignores the bytes behind the last whole entry and writes over them.',
  ),
  'timeindex-order': error(
    'Timestamps or offsets of a time index fall.',
    `Lookups by timestamp may give a wrong offset. ${rebuildTimeIndex}`,
  ),
  'timeindex-offset': error(
    'A time index names an offset that is not in the log.',
    `Lookups by timestamp may give a wrong offset. ${rebuildTimeIndex}`,
  ),
  'timeindex-timestamp': error(
    'A time index names another timestamp than the batch of that offset has.',
    `Lookups by timestamp may give a wrong offset. ${rebuildTimeIndex}`,
  ),
  'timeindex-last': warning(
    'The last entry of the time index of a closed segment is not its largest timestamp.',
    'The broker takes the last entry for the largest timestamp of the segment: retention by time and lookups go by it.',
  ),
  'timeindex-missing': warning(
    'A segment has no time index.',
    'A new, empty one is made: lookups by timestamp read the segment from its beginning, and retention by time goes by the time at which the file was changed.',
  ),
  'txnindex-size': warning(
    'The size of a transaction index is no multiple of an entry.',
    'The rest is ignored, and what is appended behind it cannot be read.',
  ),
  'txnindex-version': error(
    'A transaction index has an entry of an unknown version.',
    'The broker fails to load the partition.',
  ),
  'txnindex-order': error(
    'Entries of a transaction index do not ascend, or end before they begin.',
    'An entry that ends below the base offset makes the broker recover the segment and rebuild the file at its next start; any other is not checked.',
  ),
  'txnindex-missing': error(
    'An aborted transaction is missing in the transaction index.',
    'Consumers of read_committed are given its records as if they had been committed. Recovery rebuilds the file.',
  ),
  'txnindex-extra': error(
    'A transaction index names a transaction that was not aborted here.',
    'Consumers of read_committed leave out records that were committed. Recovery rebuilds the file.',
  ),
  'txnindex-mismatch': error(
    'A transaction index gives other offsets than the log.',
    'Consumers of read_committed may be given aborted records or miss committed ones. Recovery rebuilds the file.',
  ),
  'snapshot-corrupt': error(
    'A producer snapshot is damaged.',
    'At its next start the broker deletes it, takes the one before it and rebuilds the producer state from the log.',
  ),
  'snapshot-mismatch': warning(
    'A producer snapshot says something else of a producer than the log.',
    'The broker believes the snapshot: it may refuse batches of that producer or take duplicates of it.',
  ),
  'snapshot-extra': warning(
    'A producer snapshot has a producer that is not in the log.',
    'It is loaded, and expires after producer.id.expiration.ms.',
  ),
  'snapshot-absent-producer': info(
    'A producer of the log is not in a later producer snapshot.',
    'Normal once it has expired (producer.id.expiration.ms).',
  ),
  'snapshot-beyond-log': warning(
    'A producer snapshot lies beyond the end of the log.',
    'It is deleted when the partition is loaded.',
  ),
  'orphan-file': warning('An index file has no log.', 'It is deleted when the partition is loaded.'),

  // Checkpoints and the like.
  ...textFileCodes,
  'checkpoint-range': warning("An offset in a checkpoint of the log dir lies outside the partition's log."),
  'checkpoint-partition': info('A checkpoint of the log dir names a partition that is not there.', 'It is ignored.'),
  'topic-id': error(
    'The topic id in `partition.metadata` is not the one in the cluster metadata.',
    'The broker takes the partition for a stray one, renames its folder and does not serve it.',
  ),
  'kraft-header': error(
    'A KRaft snapshot does not begin with its header.',
    'Whoever loads the snapshot fails at its first batch (IllegalStateException).',
  ),
  'kraft-footer': error(
    'A KRaft snapshot has no footer at its end: it is not finished.',
    'Kafka does not look for the footer: it loads the snapshot as if it were complete.',
  ),
  'kraft-after-footer': error(
    'A KRaft snapshot goes on behind its footer.',
    'Kafka does not look for the footer: it loads what is behind it too.',
  ),
  'kraft-epoch': warning('Batches of a KRaft snapshot have another epoch than its name.', 'Kafka goes by the name.'),
  'kraft-not-in-log': warning(
    'The end of a KRaft snapshot does not fit the metadata log beside it.',
    'A snapshot that begins beyond the log makes the node drop the log and begin from the snapshot.',
  ),
  'quorum-epoch': warning(
    'The epoch in `quorum-state` is below the newest one in the metadata log.',
    'The node takes the epoch of the log and writes a warning.',
  ),

  // Records of internal topics, and what was not looked at.
  decoder: warning(
    'A record of an internal topic cannot be decoded, or something is left over.',
    'Coordinators skip types that they do not know; a value that cannot be read makes the load of the partition fail.',
  ),
  'not-checked': info('Something could not be checked.'),
  unreadable: error('A file cannot be read.'),

  // `--state`: what keeps records of `__cluster_metadata` from adding up.
  'state-record': error(
    'A record of the metadata log cannot be read, or its type is not known: it is not in the state.',
    'Whoever loads it reports a fault; controllers, and brokers that are starting, end at it.',
  ),
  'state-conflict': error(
    'A record of the metadata log does not fit the state before it: it changes what is not there.',
    'Whoever loads it reports a fault; controllers, and brokers that are starting, end at it.',
  ),
  'state-gap': error('Records of the metadata log are missing: the state lacks what they said.'),
  'state-snapshot': error(
    'A KRaft snapshot is not whole: its footer is missing, or bytes of it are damaged.',
    'Kafka does not look for the footer: it loads what is there, and fails at damaged batches.',
  ),
} as const satisfies Readonly<Record<string, FindingKind>>

export type FindingCode = keyof typeof findingCodes

/** A finding with what the table says of its code, where the case does not say otherwise. */
export function findingOf<Rest extends NewFinding>(
  code: FindingCode,
  finding: Rest,
): Rest & Pick<Finding, 'code' | 'severity'> {
  const kind: FindingKind = findingCodes[code]
  const consequence = finding.consequence ?? kind.kafka
  const severity = finding.severity ?? kind.severity
  return {...finding, code, severity, ...(consequence === undefined ? {} : {consequence})}
}

type NewFinding = Partial<Finding> & Pick<Finding, 'explanation'>
