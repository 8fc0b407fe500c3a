import type {KafkaStyle} from '../decode/style.js'
import {openProducerSnapshot, type ProducerEntry} from '../files/producer-snapshot.js'
import {openTransactionIndex} from '../files/transaction-index.js'
import type {OpenFile} from '../folder.js'
import type {Dialect} from './field-text.js'
import type {FindingList} from './finding-list.js'
import type {LineWriter} from './line-writer.js'

export interface EntriesContext {
  readonly file: OpenFile
  readonly dialect: Dialect
  readonly style: KafkaStyle
  readonly out: LineWriter
  readonly findings: FindingList
  /** Takes a line for stderr, without its end. */
  readonly complain: (line: string) => void
}

/** Prints a `.snapshot` file. Of one that Kafka refuses the dialect `kafka` prints no entry, and complains as Kafka does. */
export async function writeProducerSnapshot(context: EntriesContext): Promise<void> {
  const {file, dialect, style, out, findings, complain} = context
  const snapshot = await openProducerSnapshot(file)
  for (const {reason} of snapshot.problems) {
    findings.add({code: 'snapshot-corrupt', severity: 'error', explanation: reason})
  }
  if (dialect === 'kafka' && snapshot.kafkaRefuses !== undefined) {
    complain(snapshot.kafkaRefuses)
    return
  }
  const noData = dialect === 'kafka' && style !== '4.4' ? ' ' : ''
  for await (const entries of snapshot.entries()) {
    for (const entry of entries) out.text(producerLine(entry, noData))
    if (out.full) await out.drain()
  }
}

function producerLine(entry: ProducerEntry, noData: string): string {
  const {producerId, producerEpoch, coordinatorEpoch, currentTxnFirstOffset: open, timestamp, lastOffset} = entry
  const transaction = open === null ? 'OptionalLong.empty' : `OptionalLong[${open}]`
  const data =
    lastOffset < 0n
      ? noData
      : ` firstSequence: ${entry.firstSequence} lastSequence: ${entry.lastSequence} lastOffset: ${lastOffset}` +
        ` offsetDelta: ${entry.offsetDelta} timestamp: ${timestamp}`
  return (
    `producerId: ${producerId} producerEpoch: ${producerEpoch} coordinatorEpoch: ${coordinatorEpoch} ` +
    `currentTxnFirstOffset: ${transaction} lastTimestamp: ${timestamp}${data}\n`
  )
}

const knownVersion = 0

/** Prints a `.txnindex` file. */
export async function writeTransactionIndex({file, dialect, style, out, findings}: EntriesContext): Promise<void> {
  const index = await openTransactionIndex(file)
  for await (const entries of index.entries(dialect === 'kafka' ? 'kafka' : 'right')) {
    for (const {version, producerId, firstOffset, lastOffset, lastStableOffset} of entries) {
      // Before Kafka 4.4 the tool takes the first byte of the version for all of it.
      const shown = dialect === 'kafka' && style !== '4.4' ? version >> 8 : version
      out.text(
        `version: ${shown} producerId: ${producerId} firstOffset: ${firstOffset} lastOffset: ${lastOffset} ` +
          `lastStableOffset: ${lastStableOffset}\n`,
      )
      if (version === knownVersion) continue
      const explanation = `an entry has the version ${version}, and only ${knownVersion} is known`
      findings.add({code: 'txnindex-version', severity: 'error', offset: lastOffset, explanation})
    }
    if (out.full) await out.drain()
  }
  if (index.leftoverBytes === 0) return
  findings.add({
    code: 'txnindex-size',
    severity: 'warning',
    position: file.size - index.leftoverBytes,
    explanation: `the size ${file.size} is not a multiple of 34: ${index.leftoverBytes} bytes at the end are no entry`,
  })
}
