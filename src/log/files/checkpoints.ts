import type {FindingCode} from '../verify/codes.js'
import {javaFields, javaInteger, ProblemList, quoted, type TextLine, textLines, type TextProblem} from './text-lines.js'

// Checkpoints of org.apache.kafka.server.common.CheckpointFile: a line with the version, one with the number of
// entries, one per entry. Kafka refuses the whole file for one bad line or a wrong number; here every line is read.

const refused = 'Kafka refuses the file'

/** A line that is no entry, as it stands in the file. */
export interface BadLine {
  readonly line: number
  readonly raw: string
}

interface Checkpoint<Entry> {
  /** As stored; undefined if the file is empty or its first line is no number. Known is 0. */
  readonly version: number | undefined
  /** The number of entries that the second line promises. */
  readonly statedCount: number | undefined
  readonly entries: readonly Entry[]
  readonly badLines: readonly BadLine[]
  readonly problems: readonly TextProblem[]
}

export interface EpochEntry {
  readonly epoch: number
  /** Of the epoch's first record, or where it will be. */
  readonly startOffset: bigint
}

/** `leader-epoch-checkpoint` (LeaderEpochCheckpointFile). */
export interface LeaderEpochCheckpoint extends Checkpoint<EpochEntry> {
  readonly kind: 'leader-epoch-checkpoint'
}

export interface PartitionOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: bigint
}

/**
 * `recovery-point-`, `log-start-`, `replication-` (high watermarks) and `cleaner-offset-checkpoint`
 * (OffsetCheckpointFile).
 */
export interface OffsetCheckpoint extends Checkpoint<PartitionOffset> {
  readonly kind: 'offset-checkpoint'
}

/** Reads any bytes. An empty file has no entries, and so has one of one line (the version): Kafka says the same. */
export function parseLeaderEpochCheckpoint(bytes: Buffer): LeaderEpochCheckpoint {
  const checkpoint = parseCheckpoint(bytes, ([epoch, startOffset], count) => {
    const [number, offset] = [javaInteger(epoch ?? '', 32), javaInteger(startOffset ?? '', 64)]
    if (count !== 2 || number === undefined || offset === undefined) return undefined
    return {epoch: Number(number), startOffset: offset}
  })
  const {entries, lines, ...rest} = checkpoint
  const problems = [...rest.problems, ...falls(entries, lines)]
  return {kind: 'leader-epoch-checkpoint', ...rest, entries, problems}
}

/** Reads any bytes. */
export function parseOffsetCheckpoint(bytes: Buffer): OffsetCheckpoint {
  const checkpoint = parseCheckpoint(bytes, ([topic, partition, offset], count) => {
    const [number, at] = [javaInteger(partition ?? '', 32), javaInteger(offset ?? '', 64)]
    if (count !== 3 || !topic || number === undefined || at === undefined) return undefined
    return {topic, partition: Number(number), offset: at}
  })
  const {entries, lines, ...rest} = checkpoint
  const problems = new ProblemList()
  const seen = new Map<string, number>()
  entries.forEach(({topic, partition, offset}, n) => {
    const {number, position} = lines[n] as TextLine
    const warning = {severity: 'warning', position} as const
    const name = `${topic} ${partition}`
    const earlier = seen.get(name)
    if (earlier !== undefined) {
      problems.add(
        {code: 'partition-twice', ...warning, consequence: 'Kafka takes the later line'},
        () => `line ${number}: partition ${partition} of ${quoted(topic)} stands in line ${earlier} already`,
      )
    }
    seen.set(name, number)
    if (offset < 0n || partition < 0) {
      problems.add(
        {code: offset < 0n ? 'checkpoint-offset-negative' : 'partition-negative', ...warning},
        () => `line ${number}: ${quoted(topic)} ${partition} has the offset ${offset}`,
      )
    }
  })
  return {kind: 'offset-checkpoint', ...rest, entries, problems: [...rest.problems, ...problems.all()]}
}

type Parsed<Entry> = Checkpoint<Entry> & {readonly lines: readonly TextLine[]}

function parseCheckpoint<Entry>(
  bytes: Buffer,
  entryOf: (fields: readonly string[], count: number) => Entry | undefined,
): Parsed<Entry> {
  const text = textLines(bytes, {endsInNewline: true})
  const problems = [...text.problems]
  const [versionLine, countLine, ...entryLines] = text.lines
  const version = javaInteger(versionLine?.text ?? '', 32)
  const statedCount = javaInteger(countLine?.text ?? '', 32)
  const entries: Entry[] = []
  const lines: TextLine[] = []
  const badLines: BadLine[] = []
  const unreadable = new ProblemList()
  for (const line of entryLines) {
    const fields = javaFields(line.text)
    const entry = entryOf(fields, fields.length)
    if (entry) {
      entries.push(entry)
      lines.push(line)
    } else {
      badLines.push({line: line.number, raw: line.text})
      unreadable.add(
        {code: 'line-unreadable', severity: 'error', position: line.position, consequence: refused},
        () => `line ${line.number} is no entry: ${quoted(line.text)}`,
      )
    }
  }
  if (versionLine && version !== 0n) problems.push(versionProblem(versionLine.text, version))
  if (countLine && (statedCount === undefined || statedCount < 0n)) {
    problems.push({
      code: 'count-unreadable',
      severity: 'error',
      position: countLine.position,
      explanation: `line 2 should be the number of entries, and is ${quoted(countLine.text)}`,
      consequence: refused,
    })
  }
  problems.push(...unreadable.all())
  if (statedCount !== undefined && statedCount >= 0n && statedCount !== BigInt(text.lineCount - 2)) {
    problems.push({
      code: 'count-wrong',
      severity: 'error',
      position: countLine?.position ?? 0,
      explanation: `line 2 says ${statedCount} entries, and there ${text.lineCount === 3 ? 'is 1 line' : `are ${text.lineCount - 2} lines`} of them`,
      consequence: refused,
    })
  }
  const numbers = {
    version: version === undefined ? undefined : Number(version),
    statedCount: statedCount === undefined ? undefined : Number(statedCount),
  }
  return {...numbers, entries, badLines, problems, lines}
}

function versionProblem(text: string, version: bigint | undefined): TextProblem {
  const what = version === undefined ? `should be the version, and is ${quoted(text)}` : `says version ${version}`
  return {
    code: version === undefined ? 'version-unreadable' : 'version-unknown',
    severity: 'error',
    position: 0,
    explanation: `line 1 ${what}; only version 0 is known`,
    consequence: refused,
  }
}

/** Epochs and their start offsets must rise; Kafka drops what stands before an entry and is not below it. */
function falls(entries: readonly EpochEntry[], lines: readonly TextLine[]): readonly TextProblem[] {
  const problems = new ProblemList()
  const onLoad = 'the broker refuses the file when it loads the partition'
  const dropped = 'Kafka drops the entries before it that are not below it in epoch and offset'
  entries.forEach(({epoch, startOffset}, n) => {
    const {number, position} = lines[n] as TextLine
    const before = entries[n - 1]
    const add = (
      code: FindingCode,
      explain: () => string,
      consequence = dropped,
      severity: 'error' | 'warning' = 'error',
    ) => problems.add({code, severity, position, consequence}, () => `line ${number}: ${explain()}`)
    if (epoch < 0) add('checkpoint-epoch-negative', () => `the epoch is ${epoch}`, onLoad)
    if (startOffset < 0n) add('checkpoint-offset-negative', () => `the start offset is ${startOffset}`, onLoad)
    if (!before) return
    if (epoch === before.epoch) add('checkpoint-epoch-repeats', () => `epoch ${epoch} is there twice`)
    if (epoch < before.epoch) add('checkpoint-epoch-falls', () => `the epoch falls from ${before.epoch} to ${epoch}`)
    if (startOffset < before.startOffset) {
      add('checkpoint-offset-falls', () => `the start offset falls from ${before.startOffset} to ${startOffset}`)
    } else if (startOffset === before.startOffset && epoch > before.epoch) {
      const both = () => `epoch ${epoch} begins at ${startOffset}, as epoch ${before.epoch} does`
      add('checkpoint-offset-repeats', both, dropped, 'warning')
    }
  })
  return problems.all()
}

/** The text of a checkpoint as Kafka writes it. */
export function writeCheckpoint(entries: readonly EpochEntry[] | readonly PartitionOffset[]): string {
  const lines = entries.map(entry =>
    'epoch' in entry ? `${entry.epoch} ${entry.startOffset}` : `${entry.topic} ${entry.partition} ${entry.offset}`,
  )
  return [`0`, `${entries.length}`, ...lines].map(line => `${line}\n`).join('')
}
