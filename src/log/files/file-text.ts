import type {FileName} from './names.js'
import type {TextFile} from './text-files.js'
import {quoted} from './text-lines.js'

// One look for the files that Kafka's own tool can't print: one line per thing, as `name: value` pairs with single
// blanks, like the lines of that tool; no line drives a terminal.

/** What the offsets of an offset checkpoint are, by the file's name. */
const meanings: Readonly<Record<string, string>> = {
  'recovery-point-offset-checkpoint': 'recovery points (flushed up to there; recovery begins there)',
  'log-start-offset-checkpoint': 'log start offsets (only where it is not the base offset of the first segment)',
  'replication-offset-checkpoint': 'high watermarks',
  'cleaner-offset-checkpoint': 'first offsets that the cleaner has not cleaned',
}

/** The lines of a text file, without its problems and without line ends. `name`: of the file, if it says more. */
export function textFileLines(file: TextFile, name?: FileName): string[] {
  switch (file.kind) {
    case 'leader-epoch-checkpoint':
      return [
        header(file.version, file.entries.length, 'epochs'),
        ...file.entries.map(({epoch, startOffset}) => `epoch: ${epoch} startOffset: ${startOffset}`),
        ...file.badLines.map(badLine),
      ]
    case 'offset-checkpoint':
      return [
        header(file.version, file.entries.length, 'partitions', name && meanings[name.proper]),
        ...file.entries.map(
          ({topic, partition, offset}) => `topic: ${safe(topic)} partition: ${partition} offset: ${offset}`,
        ),
        ...file.badLines.map(badLine),
      ]
    case 'partition-metadata':
      return [pairs({version: file.version, topicId: file.topicId})]
    case 'meta-properties':
      return [
        ...file.properties.map(({key, value}) => `${safe(key)}: ${safe(value)}`),
        ...file.comments.filter(comment => comment.trim() !== '').map(comment => `written: ${safe(comment)}`),
      ]
    case 'quorum-state':
      return [
        pairs({
          version: file.version,
          leaderId: file.leaderId,
          leaderEpoch: file.leaderEpoch,
          votedId: file.votedId,
          votedDirectoryId: file.votedDirectoryId,
          clusterId: file.clusterId || undefined,
          appliedOffset: file.appliedOffset,
          voterIds: file.voterIds && `[${file.voterIds.join(',')}]`,
        }),
        ...file.others.map(({name: field, json}) => `unknown field ${quoted(field)}: ${safe(json)}`),
      ]
    case 'clean-shutdown':
      return [
        `the broker stopped in order; ${pairs({version: file.version, brokerEpoch: file.brokerEpoch ?? 'not stored'})}`,
      ]
    case 'lock':
      return ['held by a running broker, or left by one that was killed: the file itself says nothing']
  }
}

function header(version: number | undefined, count: number, what: string, meaning?: string): string {
  return `${pairs({version: version ?? 'none', [what]: count})}${meaning ? ` offsets: ${meaning}` : ''}`
}

function badLine({line, raw}: {readonly line: number; readonly raw: string}): string {
  return `line ${line} is no entry: ${quoted(raw)}`
}

function pairs(values: Readonly<Record<string, string | number | bigint | null | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? safe(value) : value}`)
    .join(' ')
}

/** As it is, unless that could be misread or drive a terminal. */
function safe(text: string): string {
  const shown = quoted(text, Number.POSITIVE_INFINITY)
  return shown === `"${text}"` ? text : shown
}

/** Plain data for JSON: numbers, strings, bigints, arrays; the problems are told as findings elsewhere. */
export function textFileData(file: TextFile): Readonly<Record<string, unknown>> {
  const {problems: _, ...data} = file
  return data
}
