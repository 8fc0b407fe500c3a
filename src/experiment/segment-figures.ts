import type {Told} from '../history/told.js'
import {list} from '../util/format.js'
import type {Block, BlocksFigure, Figure} from './figures.js'
import type {BatchSeen, ReplicaReading} from './segment-reading.js'
import {chainOf, endOf} from './segment-rules.js'

interface Written {
  readonly told: Readonly<Record<string, readonly Told[]>>
  readonly replicas: Readonly<Record<string, readonly ReplicaReading[]>>
}

type Row = BlocksFigure['rows'][number]

/** Of a record batch of magic 2. */
const headerBytes = 61

const legend: BlocksFigure['legend'] = [
  {tone: 'neutral', text: 'batch, not compressed'},
  {tone: 'accent', text: 'batch, compressed'},
  {tone: 'warn', text: 'batch of an aborted transaction'},
  {tone: 'good', text: 'C: commit marker'},
  {tone: 'bad', text: 'A: abort marker'},
]

const caption = `In each block: its records and its bytes, of which the first ${headerBytes}, the header, are darker.`

/**
 * The log as a picture: a row for each series, a block for each batch in it, as wide as it is long; its 61 bytes of header
 * are darker. In a block: how many records it has, and its bytes. Rows are in the order of the log, and read like a page.
 */
export function logBlocks(title: string, observation: Written | undefined): Figure[] {
  if (!observation) return []
  const rows = Object.entries(observation.told).flatMap(([topic, series]) =>
    series.map(told => ({told, row: rowOf(topic, told, chainOf(observation.replicas[topic]?.[0]))})),
  )
  const sizeOf = (row: Row) => row.blocks.reduce((sum, {size}) => sum + size, 0)
  // Transactions of one record each would make everything else narrow: they may take three lines.
  const longest = (some: typeof rows) => Math.max(1, ...some.map(({row}) => sizeOf(row)))
  const line = Math.max(longest(rows.filter(({told}) => told.producer !== 'transactional')), longest(rows) / 3)
  return [{kind: 'blocks', title, unit: 'bytes', rows: rows.map(({row}) => row), legend, caption, line}]
}

interface Writer {
  readonly name: string
  readonly observation: Written | undefined
  /** It was left out, because it is not installed. */
  readonly missing: boolean
}

/** Who wrote, in which version, who was not there, and one batch of a transaction as an example. */
export function whoWrote(writers: readonly Writer[]): string | undefined {
  const there = writers.flatMap(({name, observation}) => {
    const told = Object.values(observation?.told ?? {}).flat()
    return told[0] ? [`${name} ${told[0].version}`] : []
  })
  if (there.length === 0) return undefined
  const missing = writers.filter(each => each.missing).map(({name}) => name)
  const absent = missing.length > 0 ? ` Not there, so nothing is said of it: ${missing.join(', ')}.` : ''
  const samples = writers.flatMap(({name, observation}) => {
    const log = chainOf(observation?.replicas.transactions?.[0])
    const batch = log.find(each => each.isTransactional && !each.isControl && endOf(each, log) === 'aborted')
    if (!batch) return []
    const {baseOffset, producerId} = batch
    const marker = log.find(each => each.isControl && each.baseOffset > baseOffset && each.producerId === producerId)
    return [
      `offset ${batch.baseOffset}, which ${name} aborted: producer ${batch.producerId} epoch ${batch.producerEpoch}, ` +
        `sequence ${batch.baseSequence}; its marker is at offset ${marker?.baseOffset}, with epoch ${marker?.producerEpoch}`,
    ]
  })
  const last = samples.at(-1)
  return `Written by ${list(there)}.${absent}${last === undefined ? '' : ` For example ${last}.`}`
}

function rowOf(topic: string, told: Told, log: readonly BatchSeen[]): Row {
  const values = new Set(told.records.map(({value}) => value))
  const own = log.filter(({records}) => records.some(({value}) => value !== null && values.has(value)))
  const ids = new Set(own.map(({producerId}) => producerId))
  const markers =
    told.producer === 'transactional' ? log.filter(batch => batch.isControl && ids.has(batch.producerId)) : []
  const batches = [...own, ...markers].sort((a, b) => a.baseOffset - b.baseOffset)
  const bytes = batches.reduce((sum, {sizeInBytes}) => sum + sizeInBytes, 0)
  const kind = told.producer === 'plain' ? '' : `, ${told.producer}`
  const codecs = [...new Set(own.map(({codec}) => codec))]
  const name = topic === 'recompressed' ? `${told.codec} → ${codecs.join(', ')} by the broker` : `${told.codec}${kind}`
  return {name, note: `${bytes} bytes, ${batches.length} batches`, blocks: batches.map(batch => blockOf(batch, log))}
}

function blockOf(batch: BatchSeen, log: readonly BatchSeen[]): Block {
  const {sizeInBytes: size, count, codec, isControl, isTransactional, records, baseOffset, lastOffset} = batch
  const where = `offsets ${baseOffset}–${lastOffset}, position ${batch.position}, ${size} bytes`
  const producer = batch.producerId < 0 ? '' : `, producer ${batch.producerId} epoch ${batch.producerEpoch}`
  if (isControl) {
    const commit = records[0]?.marker?.startsWith('COMMIT') === true
    const [label, tone] = commit ? (['C', 'good'] as const) : (['A', 'bad'] as const)
    return {size, label, tone, detail: `${commit ? 'commit' : 'abort'} marker: ${where}${producer}`}
  }
  const sequences = batch.baseSequence < 0 ? '' : `, sequences ${batch.baseSequence}–${batch.lastSequence}`
  const aborted = isTransactional && endOf(batch, log) === 'aborted'
  return {
    size,
    label: String(count),
    tone: aborted ? 'warn' : codec === 'none' ? 'neutral' : 'accent',
    head: headerBytes,
    detail: `${count} ${count === 1 ? 'record' : 'records'}, ${codec}: ${where}${producer}${sequences}`,
  }
}
