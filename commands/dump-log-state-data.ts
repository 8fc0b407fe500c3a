import type {View} from '../src/cli/answer.js'
import type {ShownState, StateReport} from '../src/inspect/state-writer.js'
import {bytesJson, findingFields, valueJson} from '../src/log/json.js'
import {type StateChange, stateChanges} from '../src/log/state/diff.js'
import {
  entitiesOf,
  type Entity,
  type EntityKind,
  entityKinds,
  type FieldValue,
  groupsOf,
  plainly,
  redacted,
} from '../src/log/state/entities.js'
import {escapedString} from '../src/log/text/encodings.js'
import {csvLines} from '../src/report/csv.js'
import {wrap} from '../src/report/text-table.js'
import {list} from '../src/util/format.js'
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
export function stateJson(reports: readonly StateReport[], redact: boolean): string {
  if (reports.some(isCompared)) {
    const diffs = reports.filter(isCompared).map(report => {
      const changes = changesOf(report, redact).map(changeData)
      return {from: provenance(report.shown), to: provenance(report.against), changes, findings: report.findings}
    })
    return `${valueJson({schema: 'kx/metadata-diff/1', diffs}, bytesJson)}\n`
  }
  const states = reports.map(({shown, findings}) => {
    const byKind = groupsOf(entitiesOf(shown.state, told(redact)), ({kind}) => kind)
    const parts = entityKinds.map(kind => {
      const fields = (byKind.get(kind) ?? []).map(entity => entity.fields)
      return [plurals[kind], single.includes(kind) ? (fields[0] ?? null) : fields] as const
    })
    return {...provenance(shown), ...Object.fromEntries(parts), findings}
  })
  return `${valueJson({schema: 'kx/metadata-state/1', states}, bytesJson)}\n`
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
export function stateLines(reports: readonly StateReport[], redact: boolean): string {
  const line = (kind: string, fields: object) => {
    const rest = valueJson(fields, bytesJson).slice(1)
    return `{"kind":"${kind}"${rest === '}' ? '' : ','}${rest}\n`
  }
  return reports
    .map(report => {
      const findings = report.findings.map(
        finding => `{"kind":"finding","path":${JSON.stringify(finding.file)},${findingFields(finding)}}\n`,
      )
      if (isCompared(report)) {
        const {shown, against} = report
        const head = line('diff', {from: provenance(shown), to: provenance(against)})
        const changes = changesOf(report, redact).map(change => {
          const {kind, ...rest} = changeData(change)
          return line('change', {of: kind, ...rest})
        })
        return [head, ...changes, ...findings].join('')
      }
      const entities = entitiesOf(report.shown.state, told(redact)).map(({kind, fields}) => line(kind, fields))
      return [line('state', provenance(report.shown)), ...entities, ...findings].join('')
    })
    .join('')
}

/** A row for each field: `path,kind,thing,field,value`, of changes `path,change,kind,thing,field,before,after`. */
export function stateCsv(reports: readonly StateReport[], {redact, safe}: {redact: boolean; safe: boolean}): string {
  const isDiff = reports.some(isCompared)
  const head = isDiff
    ? ['from', 'to', 'change', 'kind', 'thing', 'field', 'before', 'after']
    : ['path', 'kind', 'thing', 'field', 'value']
  const rows = reports.flatMap(report =>
    isCompared(report)
      ? changesOf(report, redact).flatMap(change => changeRows(report, change))
      : entitiesOf(report.shown.state, told(redact)).flatMap(entity => entityRows(report.shown.path, entity)),
  )
  return csvLines([head, ...rows], safe)
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
export function changesText(reports: readonly StateReport[], {columns, unicode}: View, redact: boolean): string {
  return reports
    .filter(isCompared)
    .map(report => {
      const changes = changesOf(report, redact)
      const counted = (['added', 'removed', 'changed'] as const).flatMap(kind => {
        const count = changes.filter(({change}) => change === kind).length
        return count === 0 ? [] : [`${count} ${kind}`]
      })
      const {shown, against, findings} = report
      return [
        `From ${escapedString(shown.path)} ${whenText(shown)}`,
        `to   ${escapedString(against.path)} ${whenText(against)}:`,
        counted.length === 0 ? 'nothing has changed.' : `${list(counted)}.`,
        '',
        ...changes.flatMap(change => wrapped(changeLine(change, unicode ? '→' : '->'), columns)),
        '',
        ...findingLines(findings),
      ].join('\n')
    })
    .join('\n')
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
