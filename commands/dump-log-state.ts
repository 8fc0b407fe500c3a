import type {View} from '../src/cli/answer.js'
import type {Figure, TableFigure} from '../src/experiment/figures.js'
import type {Finding} from '../src/log/finding.js'
import type {ShownState, StateReport} from '../src/inspect/state-writer.js'
import {
  entitiesOf,
  type Entity,
  type EntityKind,
  type FieldValue,
  groupsOf,
  plainly,
  redacted,
} from '../src/log/state/entities.js'
import {escapedString} from '../src/log/text/encodings.js'
import {figureText} from '../src/report/chart.js'
import {grouped, list, plural} from '../src/util/format.js'

/** Beyond so many only those partitions are listed that are not as they should be. */
const partitionsAtMost = 40

/** `--state` for people: who is in the cluster, and what is in it. */
export function stateText(reports: readonly StateReport[], view: View, redact: boolean): string {
  return reports
    .map(({shown, findings}) => [...lines(shown, view, redact), ...findingLines(findings)].join('\n'))
    .join('\n')
}

function lines(shown: ShownState, view: View, redact: boolean): string[] {
  const byKind = groupsOf(entitiesOf(shown.state, redact ? redacted : plainly), ({kind}) => kind)
  const of = (kind: EntityKind) => byKind.get(kind) ?? []
  const partitions = of('partition')
  const areAll = view.wide || partitions.length <= partitionsAtMost
  const listed = areAll ? partitions : partitions.filter(isOdd)
  const {columns: width, colour, unicode} = view
  const figures: Figure[] = [
    controllerTable(of('controller')),
    brokerTable(of('broker')),
    topicTable(of('topic'), partitions),
    partitionTable(
      areAll ? 'Partitions' : `Partitions that are not as they should be (-o wide: all ${partitions.length})`,
      listed,
    ),
    table('Settings', of('config'), [
      [
        'resource',
        ({resourceType, resourceName}) => `${resourceType} ${resourceName === '' ? 'default' : resourceName}`,
      ],
      ['name', ({name}) => name],
      ['value', ({value}) => value],
    ]),
    table('Client quotas', of('client-quota'), [
      ['of', ({entity}) => (entity as readonly string[]).join(', ')],
      ['quota', ({key}) => key],
      ['value', ({value}) => value],
    ]),
    table('Access control', of('acl'), [
      ['permission', ({permissionType}) => permissionType],
      ['principal', ({principal}) => principal],
      ['host', ({host}) => host],
      ['operation', ({operation}) => operation],
      ['resource', ({resourceType, patternType, resourceName}) => `${patternType} ${resourceType} ${resourceName}`],
    ]),
    table('SCRAM credentials', of('scram-credential'), [
      ['user', ({user}) => user],
      ['mechanism', ({mechanism}) => mechanism],
      ['iterations', ({iterations}) => iterations],
    ]),
    table('Delegation tokens', of('delegation-token'), [
      ['token id', ({tokenId}) => tokenId],
      ['owner', ({owner}) => owner],
      ['expires', ({expirationTimestamp}) => timeText(expirationTimestamp as bigint)],
    ]),
  ].filter(({rows}) => rows.length > 0)
  return [
    ...head(shown),
    '',
    ...summary(byKind),
    ...figures.flatMap(figure => ['', ...figureText(figure, {width, colour, unicode})]),
    '',
  ]
}

/** What state it is, and of what it was made. */
function head(shown: ShownState): string[] {
  const {path, snapshot, logs, records, openTransaction, withinBatch} = shown
  const sources = [
    ...(snapshot === undefined ? [] : [`the snapshot ${snapshot}`]),
    ...(logs.length === 0 ? [] : [logs.length === 1 ? `the log ${logs[0]}` : `${logs.length} segments of the log`]),
  ]
  return [
    `${escapedString(path)}: the state of the metadata ${whenText(shown)}`,
    `Made of ${escapedString(list(sources))}: ${plural(records, 'record')}.`,
    ...(openTransaction === undefined
      ? []
      : [
          `A transaction${openTransaction.name === null ? '' : ` ("${escapedString(openTransaction.name)}")`} is open since offset ${openTransaction.offset}: ${plural(openTransaction.records, 'record')} of it ${openTransaction.records === 1 ? 'is' : 'are'} not in the state.`,
        ]),
    ...(withinBatch === undefined
      ? []
      : [
          `No broker ever had this state: the batch of the offsets ${withinBatch.baseOffset} to ${withinBatch.lastOffset} is applied as a whole.`,
        ]),
  ]
}

export function whenText({state: {offset, epoch, timestamp}}: ShownState): string {
  const details = [...(epoch < 0 ? [] : [`epoch ${epoch}`]), ...(timestamp < 0n ? [] : [timeText(timestamp)])]
  const at = offset < 0n ? 'before the first record' : `at offset ${offset}`
  return details.length === 0 ? at : `${at} (${details.join(', ')})`
}

const linesPerCode = 5

/** What is wrong in the files, a line each; of each kind the first few. */
export function findingLines(findings: readonly Finding[]): string[] {
  const lines = [...groupsOf(findings, ({code}) => code)].flatMap(([code, all]) => [
    ...all.slice(0, linesPerCode).map(findingLine),
    ...(all.length > linesPerCode
      ? [`and ${grouped(all.length - linesPerCode)} more of ${code} (-o json has them)`]
      : []),
  ])
  return lines.length === 0 ? [] : [...lines, '']
}

function findingLine({severity, code, file, offset, position, explanation}: Finding): string {
  const place = offset !== undefined ? ` at offset ${offset}` : position !== undefined ? ` at byte ${position}` : ''
  return escapedString(`${severity} ${code} in ${file}${place}: ${explanation}`)
}

function summary(byKind: ReadonlyMap<EntityKind, readonly Entity[]>): string[] {
  const [quorum] = byKind.get('quorum') ?? []
  const {leaderId = null, leaderEpoch = null, kraftVersion = null} = quorum?.fields ?? {}
  const voters = (byKind.get('voter') ?? []).map(({fields}) => text(fields.voterId))
  const leader = leaderId === null ? 'No leader is told' : `Leader ${leaderId} of epoch ${leaderEpoch}`
  const features = (byKind.get('feature') ?? []).map(({fields: {name, featureLevel, release}}) =>
    release === undefined ? `${name} ${featureLevel}` : `${name} ${featureLevel} (${release})`,
  )
  const [producers] = byKind.get('producer-ids') ?? []
  const [zk] = byKind.get('zk-migration') ?? []
  return [
    `${leader}; kraft.version ${kraftVersion}; ${voters.length === 0 ? 'no voters are told' : `voters ${voters.join(', ')}`}.`,
    ...(features.length === 0 ? [] : [`Features: ${features.map(escapedString).join(', ')}.`]),
    ...(producers === undefined ? [] : [`The next producer id is ${text(producers.fields.nextProducerId)}.`]),
    ...(zk === undefined ? [] : [`Migration from ZooKeeper: ${text(zk.fields.zkMigrationState)}.`]),
  ]
}

type Column = readonly [label: string, cell: (fields: Entity['fields']) => FieldValue | undefined]

function table(title: string, entities: readonly Entity[], columns: readonly Column[]): TableFigure {
  const rows = entities.map(({fields}) => columns.map(([, cell]) => text(cell(fields))))
  const numeric = (column: number) => rows.length > 0 && rows.every(row => /^-?[\d.]+$/.test(row[column] ?? ''))
  return {
    kind: 'table',
    title,
    columns: columns.map(([label], n) => ({label, align: numeric(n) ? 'right' : 'left'})),
    rows,
  }
}

function controllerTable(controllers: readonly Entity[]): TableFigure {
  return table('Controllers', controllers, [
    ['id', ({controllerId}) => controllerId],
    ['endpoints', ({endpoints}) => endpoints],
    ['incarnation', ({incarnationId}) => incarnationId],
  ])
}

function brokerTable(brokers: readonly Entity[]): TableFigure {
  const racks: readonly Column[] = brokers.some(({fields}) => text(fields.rack) !== '')
    ? [['rack', ({rack}) => rack]]
    : []
  return table('Brokers', brokers, [
    ['id', ({brokerId}) => brokerId],
    ['state', brokerState],
    ['epoch', ({brokerEpoch}) => brokerEpoch],
    ...racks,
    ['endpoints', ({endpoints}) => endpoints],
    ['log dirs', dirsText],
  ])
}

function brokerState({fenced, inControlledShutdown}: Entity['fields']): string {
  if (inControlledShutdown) return fenced ? 'fenced, shutting down' : 'shutting down'
  return fenced ? 'fenced' : 'unfenced'
}

function dirsText({logDirs, cordonedLogDirs}: Entity['fields']): string {
  const cordoned = lengthOf(cordonedLogDirs)
  return `${lengthOf(logDirs)}${cordoned === 0 ? '' : `, ${cordoned} cordoned`}`
}

function topicTable(topics: readonly Entity[], partitions: readonly Entity[]): TableFigure {
  const byTopic = groupsOf(partitions, ({fields}) => fields.topicId)
  const counting = (label: string, which: (fields: Entity['fields']) => boolean): readonly Column[] => {
    if (!partitions.some(({fields}) => which(fields))) return []
    return [[label, ({topicId}) => (byTopic.get(topicId) ?? []).filter(({fields}) => which(fields)).length]]
  }
  return table('Topics', topics, [
    ['topic', ({name}) => name],
    ['id', ({topicId}) => topicId],
    ['partitions', fields => fields.partitions],
    ...counting('no leader', ({leader}) => leader === -1),
    ...counting('ISR not full', isShort),
  ])
}

function isShort({inSyncReplicas, replicas}: Entity['fields']): boolean {
  return lengthOf(inSyncReplicas) < lengthOf(replicas)
}

function partitionTable(title: string, partitions: readonly Entity[]): TableFigure {
  return table(title, partitions, [
    ['partition', ({topic, partition}) => `${topic}-${partition}`],
    ['leader', ({leader}) => (leader === -1 ? 'none' : leader)],
    ['epoch', ({leaderEpoch}) => leaderEpoch],
    ['replicas', ({replicas}) => replicas],
    ['ISR', ({inSyncReplicas}) => inSyncReplicas],
    ['', remarks],
  ])
}

function remarks(fields: Entity['fields']): string {
  const told = (label: string, value: FieldValue | undefined) =>
    lengthOf(value) === 0 ? [] : [`${label} ${text(value)}`]
  return [
    ...told('adding', fields.addingReplicas),
    ...told('removing', fields.removingReplicas),
    ...told('ELR', fields.eligibleLeaderReplicas),
    ...told('last known ELR', fields.lastKnownEligibleLeaderReplicas),
    ...(fields.leaderRecoveryState === 'RECOVERED' ? [] : [text(fields.leaderRecoveryState).toLowerCase()]),
  ].join('; ')
}

function isOdd({fields}: Entity): boolean {
  return fields.leader === -1 || isShort(fields) || remarks(fields) !== ''
}

function lengthOf(value: FieldValue | undefined): number {
  return Array.isArray(value) ? value.length : 0
}

export function text(value: FieldValue | undefined): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.join(' ') : String(value)
}

function timeText(ms: bigint): string {
  const number = Number(ms)
  return number < 0 || number > 8.64e15 ? `${ms} ms` : new Date(number).toISOString()
}
