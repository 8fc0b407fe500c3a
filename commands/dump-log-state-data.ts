import type {View} from '../src/cli/answer.js'
import type {ShownState, StateReport} from '../src/inspect/state-writer.js'
import {bytesJson, findingFields, valueJson} from '../src/log/json.js'
import {type StateChange, stateChanges} from '../src/log/state/diff.js'
import {
  eachEntity,
  type Entity,
  type EntityKind,
  entityKinds,
  type FieldValue,
  plainly,
  redacted,
} from '../src/log/state/entities.js'
import {escapedString} from '../src/log/text/encodings.js'
import {csvLines} from '../src/report/csv.js'
import {wrap} from '../src/report/text-table.js'
import {grouped, list} from '../src/util/format.js'
import {findingLines, text, whenText} from './dump-log-state.js'

type Compared = StateReport & {readonly against: ShownState}

function told(redact: boolean) {
  return redact ? redacted : plainly
}

function changesOf({shown, against}: Compared, redact: boolean): readonly StateChange[] {
  return stateChanges(shown.state, against.state, told(redact))
}

function isCompared(report: StateReport): report is Compared {
  return report.against !== undefined
}

const plurals: Readonly<Record<EntityKind, string>> = {
  quorum: 'quorum',
  voter: 'voters',
  feature: 'features',
  'zk-migration': 'zkMigration',
  controller: 'controllers',
  broker: 'brokers',
  topic: 'topics',
  partition: 'partitions',
  config: 'configs',
  'client-quota': 'clientQuotas',
  'producer-ids': 'producerIds',
  acl: 'acls',
  'scram-credential': 'scramCredentials',
  'delegation-token': 'delegationTokens',
}
/** There is one of each, or none. */
const single: readonly EntityKind[] = ['quorum', 'zk-migration', 'producer-ids']

/** `--state` as data (schemas/metadata-state.json, with `--against` schemas/metadata-diff.json). */
export function* stateJson(reports: readonly StateReport[], redact: boolean): Generator<string> {
  const isDiff = reports.some(isCompared)
  yield isDiff ? '{"schema":"kx/metadata-diff/1","diffs":[' : '{"schema":"kx/metadata-state/1","states":['
  for (const [n, report] of reports.entries()) {
    if (n > 0) yield ','
    yield* isCompared(report) ? diffJson(report, redact) : oneStateJson(report, redact)
    yield `,"findings":${valueJson(report.findings, bytesJson)}}`
  }
  yield ']}\n'
}

/** Without the closing brace. */
function* diffJson(report: Compared, redact: boolean): Generator<string> {
  const {shown, against} = report
  const ends = valueJson({from: provenance(shown), to: provenance(against)}, bytesJson)
  yield `${ends.slice(0, -1)},"changes":[`
  for (const [n, change] of changesOf(report, redact).entries()) {
    yield `${n > 0 ? ',' : ''}${valueJson(changeData(change), bytesJson)}`
  }
  yield ']'
}

/** Without the closing brace. Entities come in the order of their kinds. */
function* oneStateJson({shown}: StateReport, redact: boolean): Generator<string> {
  yield valueJson(provenance(shown), bytesJson).slice(0, -1)
  const entities = eachEntity(shown.state, told(redact))
  let next = entities.next()
  for (const kind of entityKinds) {
    const isList = !single.includes(kind)
    yield `,"${plurals[kind]}":${isList ? '[' : ''}`
    let count = 0
    for (; !next.done && next.value.kind === kind; next = entities.next()) {
      yield `${count++ > 0 ? ',' : ''}${valueJson(next.value.fields, bytesJson)}`
    }
    yield isList ? ']' : count === 0 ? 'null' : ''
  }
}

function provenance({path, snapshot, logs, records, openTransaction, withinBatch, state}: ShownState) {
  const {offset, epoch, timestamp} = state
  return {
    path,
    offset,
    epoch,
    timestamp,
    snapshot: snapshot ?? null,
    logs,
    records,
    openTransaction: openTransaction ?? null,
    withinBatch: withinBatch ?? null,
  }
}

function changeData({kind, change, before, after, fields}: StateChange) {
  return {kind, change, before: before ?? null, after: after ?? null, fields: fields.map(({field}) => field)}
}

/** A line for each thing that the state holds, or that has changed. */
export function* stateLines(reports: readonly StateReport[], redact: boolean): Generator<string> {
  for (const report of reports) {
    const {shown} = report
    if (isCompared(report)) {
      yield line('diff', {from: provenance(shown), to: provenance(report.against)})
      for (const change of changesOf(report, redact)) {
        const {kind, ...rest} = changeData(change)
        yield line('change', {of: kind, ...rest})
      }
    } else {
      yield line('state', provenance(shown))
      for (const {kind, fields} of eachEntity(shown.state, told(redact))) yield line(kind, fields)
    }
    for (const finding of report.findings) {
      yield `{"kind":"finding","path":${JSON.stringify(finding.file)},${findingFields(finding)}}\n`
    }
  }
}

function line(kind: string, fields: object): string {
  const rest = valueJson(fields, bytesJson).slice(1)
  return `{"kind":"${kind}"${rest === '}' ? '' : ','}${rest}\n`
}

const rowsAtOnce = 1_000

/** A row for each field: `path,kind,thing,field,value`, of changes `from,to,change,kind,thing,field,before,after`. */
export function* stateCsv(
  reports: readonly StateReport[],
  {redact, safe}: {readonly redact: boolean; readonly safe: boolean},
): Generator<string> {
  let rows: Row[] = []
  for (const row of csvRows(reports, redact)) {
    rows.push(row)
    if (rows.length < rowsAtOnce) continue
    yield csvLines(rows, safe)
    rows = []
  }
  yield csvLines(rows, safe)
}

function* csvRows(reports: readonly StateReport[], redact: boolean): Generator<Row> {
  if (reports.some(isCompared)) yield ['from', 'to', 'change', 'kind', 'thing', 'field', 'before', 'after']
  else yield ['path', 'kind', 'thing', 'field', 'value']
  for (const report of reports) {
    if (isCompared(report)) for (const change of changesOf(report, redact)) yield* changeRows(report, change)
    else for (const entity of eachEntity(report.shown.state, told(redact))) yield* entityRows(report.shown.path, entity)
  }
}

type Row = readonly (string | number | bigint | boolean | null)[]

function entityRows(path: string, {kind, label, fields}: Entity): Row[] {
  return Object.entries(fields).map(([field, value]) => [path, kind, label, field, cell(value)])
}

function changeRows({shown, against}: Compared, {change, kind, label, before, after, fields}: StateChange): Row[] {
  const names = change === 'changed' ? fields.map(({field}) => field) : Object.keys(after ?? before ?? {})
  const common = [shown.path, against.path, change, kind, label]
  if (names.length === 0) return [[...common, 'secret', '[hidden]', '[hidden]']]
  return names.map(name => [...common, name, cell(before?.[name]), cell(after?.[name])])
}

function cell(value: FieldValue | undefined): Row[number] {
  if (value === undefined || value === null) return null
  return Array.isArray(value) ? value.join(' ') : (value as Row[number])
}

const signs = {added: '+', removed: '-', changed: '~'} as const
/** What the label says already, or nobody wants to read. */
const unsaid: Readonly<Partial<Record<EntityKind, readonly string[]>>> = {
  voter: ['voterId'],
  feature: ['name'],
  controller: ['controllerId', 'incarnationId', 'features'],
  broker: ['brokerId', 'incarnationId', 'features'],
  topic: ['name'],
  partition: ['topic', 'partition', 'topicId', 'directories'],
  config: ['resourceType', 'resourceName', 'name'],
  'client-quota': ['entity', 'key'],
  acl: ['id'],
  'scram-credential': ['user', 'mechanism'],
  'delegation-token': ['tokenId'],
}

/** `--state --against` for people: a line for each thing. */
export function* changesText(
  reports: readonly StateReport[],
  {columns, unicode}: View,
  redact: boolean,
): Generator<string> {
  for (const report of reports.filter(isCompared)) {
    const changes = changesOf(report, redact)
    const counted = (['added', 'removed', 'changed'] as const).flatMap(kind => {
      const count = changes.filter(({change}) => change === kind).length
      return count === 0 ? [] : [`${grouped(count)} ${kind}`]
    })
    const {shown, against, findings} = report
    yield `From ${escapedString(shown.path)} ${whenText(shown)}\n`
    yield `to   ${escapedString(against.path)} ${whenText(against)}:\n`
    yield `${counted.length === 0 ? 'nothing has changed' : list(counted)}.\n\n`
    for (const change of changes) {
      for (const part of wrapped(changeLine(change, unicode ? '→' : '->'), columns)) yield `${part}\n`
    }
    if (findings.length > 0) yield ['', ...findingLines(findings)].join('\n')
  }
}

function wrapped(line: string, columns: number): readonly string[] {
  return wrap(line, columns - 4).map((part, n) => (n === 0 ? part : `    ${part}`))
}

function changeLine({kind, change, label, before, after, fields}: StateChange, arrow: string): string {
  const head = `${signs[change]} ${label}`
  if (change === 'changed') {
    const told = fields.map(
      ({field, before: old, after: now}) => `${field} ${shownValue(old)} ${arrow} ${shownValue(now)}`,
    )
    return escapedString(`${head}: ${told.length === 0 ? 'another secret' : told.join(', ')}`)
  }
  const told = Object.entries(after ?? before ?? {})
    .filter(([name, value]) => !unsaid[kind]?.includes(name) && text(value) !== '')
    .map(([name, value]) => `${name} ${text(value)}`)
  return escapedString(told.length === 0 ? head : `${head}: ${told.join(', ')}`)
}

function shownValue(value: FieldValue | undefined): string {
  if (value === null || value === undefined) return 'not told'
  const shown = text(value)
  return shown === '' ? 'none' : shown
}
