import {bytes, grouped, plural} from '../../util/format.js'
import {epochsOf} from './epochs.js'
import {isSame} from './ranges.js'
import type {DiffRange, Holding, ReplicaDiff} from './types.js'

export interface DiffTextOptions {
  readonly columns: number
  readonly unicode: boolean
  /** The partition, e.g. `orders-0`; left out where folders were given. */
  readonly title: string | undefined
  /** Wraps a paragraph; what follows its first line is indented. */
  readonly wrap: (text: string, columns: number, indent: string) => string
  readonly paint: (text: string, tone: 'red' | 'green' | 'yellow' | 'dim' | 'bold') => string
}

/** Columns of the picture that are left out in the middle if it has more ranges than fit. */
const rangesDrawn = 12

/** A comparison for people: one line that says it, a picture, the replicas, and what follows. */
export function diffText(diff: ReplicaDiff, options: DiffTextOptions): string {
  const {columns, paint} = options
  const width = Math.min(columns, 110)
  const blocks = [
    options.wrap(headline(diff, options), width, ''),
    picture(diff, width, options.unicode),
    replicaLines(diff, width, options.wrap),
    diff.conclusions
      .map(({severity, text}) => {
        const sign = {error: 'x', warning: '!', info: '-'}[severity]
        const shown = options.unicode ? {error: '✘', warning: '!', info: '–'}[severity] : sign
        const [first = '', ...rest] = options.wrap(`${shown} ${text}`, width, '  ').split('\n')
        const tone = {error: 'red', warning: 'yellow', info: 'dim'} as const
        return [first.replace(shown, sign => paint(sign, tone[severity])), ...rest].join('\n')
      })
      .join('\n'),
  ]
  return blocks.filter(block => block !== '').join('\n\n')
}

function headline(diff: ReplicaDiff, {title, paint}: DiffTextOptions): string {
  const {replicas, from, to, equalUpTo, equal, comparedBy, divergence} = diff
  const what = title === undefined ? `${replicas.length} replicas` : `${title}, ${replicas.length} replicas`
  if (equal) {
    const how = comparedBy === 'bytes' ? '' : ' (compared by records)'
    return `${what}: ${paint('equal', 'green')} from ${from} to ${to}${how}.`
  }
  const upTo = equalUpTo <= from ? 'no offset is the same on all' : `equal up to ${equalUpTo} of ${to}`
  const words = `${what}: ${paint('they differ', 'red')}; ${upTo}`
  if (!divergence) return `${words}.`
  const batches = divergence.batches.flatMap((batch, index) =>
    batch === null ? [] : [`${replicas[index]?.name} epoch ${batch.leaderEpoch} (CRC ${batch.crc})`],
  )
  return `${words}. First divergence at offset ${divergence.offset}: ${batches.join(', ')}.`
}

/** Offsets to the right, a replica a line; the same sign in a column is the same record. */
function picture({ranges: all, replicas, to}: ReplicaDiff, columns: number, unicode: boolean): string {
  const ranges = joined(all)
  // Where all is the same there is nothing to see.
  if (ranges.every(isSame)) return ''
  const drawn = drawnRanges(ranges)
  const nameWidth = Math.max(6, ...replicas.map(({name}) => name.length)) + 2
  const labels = drawn.map(range => (range === 'more' ? '…' : String(range.from)))
  const least = labels.map(label => Math.max(3, label.length + 1))
  const free = Math.max(0, columns - nameWidth - String(to).length - 1 - least.reduce((sum, width) => sum + width, 0))
  const widths = share(drawn, least, free)
  const line = (cells: readonly string[]) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('')
  const rows = replicas.map(({name}, index) => {
    const cells = drawn.map((range, column) => {
      if (range === 'more') return '·'.repeat((widths[column] ?? 1) - 1)
      return sign(range, range.holdings[index] ?? 'absent', unicode).repeat(Math.max(1, (widths[column] ?? 1) - 1))
    })
    return `${name.padEnd(nameWidth)}${line(cells)}`.trimEnd()
  })
  return [
    `${'offset'.padEnd(nameWidth)}${line(labels)}${to}`,
    ...rows,
    '',
    legend(
      drawn.filter(range => range !== 'more'),
      unicode,
    ),
  ].join('\n')
}

/** How they were compared makes no difference to the eye. */
function joined(ranges: readonly DiffRange[]): DiffRange[] {
  const all: DiffRange[] = []
  for (const range of ranges) {
    const last = all.at(-1)
    if (last?.holdings.every((holding, index) => holding === range.holdings[index])) {
      all[all.length - 1] = {...last, to: range.to}
    } else all.push(range)
  }
  return all
}

/** All of them, or the first and last ones around the place where they are left out. */
function drawnRanges(ranges: readonly DiffRange[]): (DiffRange | 'more')[] {
  if (ranges.length <= rangesDrawn) return [...ranges]
  const half = rangesDrawn / 2
  return [...ranges.slice(0, half), 'more', ...ranges.slice(-half)]
}

/** Wide ranges get more room, but not in proportion: a difference of one record must be seen beside a million. */
function share(drawn: readonly (DiffRange | 'more')[], least: readonly number[], free: number): number[] {
  const weights = drawn.map(range => (range === 'more' ? 0 : Math.log2(Number(range.to - range.from) + 1)))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return least.map((width, index) => width + Math.floor(sum === 0 ? 0 : (free * (weights[index] ?? 0)) / sum))
}

const letters = 'ABCDEFGHIJ'

function sign(range: DiffRange, holding: Holding, unicode: boolean): string {
  if (typeof holding === 'number') {
    const alike = range.holdings.every(one => typeof one !== 'number' || one === 0)
    return alike ? (unicode ? '━' : '=') : (letters[holding] ?? '?')
  }
  return {absent: '.', ended: ' ', unreadable: '?', corrupt: '!'}[holding]
}

function legend(ranges: readonly DiffRange[], unicode: boolean): string {
  const has = (holding: Holding) => ranges.some(({holdings}) => holdings.includes(holding))
  const parts = [
    `${unicode ? '━' : '='} the same`,
    ...(has(1) ? ['A B … different records'] : []),
    ...(has('absent') ? ['. not there'] : []),
    ...(has('corrupt') ? ['! false CRC'] : []),
    ...(has('unreadable') ? ['? unreadable'] : []),
    ...(has('ended') ? ['blank: behind the log end'] : []),
  ]
  return parts.join('   ')
}

/** As many columns as fit; the epochs go below the table if they don't. */
function replicaLines({replicas}: ReplicaDiff, columns: number, wrap: DiffTextOptions['wrap']): string {
  const rows = replicas.map(replica => [
    replica.role === null ? replica.name : `${replica.name} (${replica.role})`,
    String(replica.logStartOffset),
    String(replica.logEndOffset),
    grouped(replica.records),
    bytes(replica.sizeInBytes),
    grouped(replica.batches),
    String(replica.segments.length),
    epochList(replica),
  ])
  const head = ['replica', 'log start', 'log end', 'records', 'size', 'batches', 'segments', 'epochs (from offset)']
  for (let count = head.length; count > 4; count--) {
    const lines = aligned(
      [head, ...rows].map(row => row.slice(0, count)),
      count === head.length,
    )
    if (count > 5 && lines.some(line => line.length > columns)) continue
    if (count === head.length) return lines.join('\n')
    const same = new Set(rows.map(row => row.at(-1))).size === 1
    const epochs = same ? `${rows[0]?.at(-1)} on all` : rows.map(row => `${row[0]} ${row.at(-1)}`).join('; ')
    return [...lines, '', wrap(`Epochs (from offset): ${epochs}.`, columns, '  ')].join('\n')
  }
  return ''
}

/** Numbers to the right; the first column and, if it is text, the last to the left. */
function aligned(rows: readonly (readonly string[])[], lastIsText: boolean): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  return rows.map(row =>
    row
      .map((cell, column) => {
        const isText = column === 0 || (lastIsText && column === row.length - 1)
        return isText ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
      })
      .join('  ')
      .trimEnd(),
  )
}

function epochList(replica: ReplicaDiff['replicas'][number]): string {
  const epochs = epochsOf(replica).map(({epoch, startOffset}) => `${epoch} (${startOffset})`)
  if (epochs.length <= 5) return epochs.join(' ')
  return `${epochs.slice(0, 2).join(' ')} … ${epochs.slice(-2).join(' ')}, ${plural(epochs.length, 'epoch')}`
}
