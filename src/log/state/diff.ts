import {entitiesOf, type Entity, type EntityKind, entityKinds, type FieldValue, plainly, type Told} from './entities.js'
import type {MetadataState} from './state.js'

export interface FieldChange {
  readonly field: string
  /** `undefined`: the thing had no such field. */
  readonly before: FieldValue | undefined
  readonly after: FieldValue | undefined
}

/** What one thing of the metadata is in a state, and not in the other. */
export interface StateChange {
  readonly kind: EntityKind
  readonly change: 'added' | 'removed' | 'changed'
  readonly label: string
  readonly before: Entity['fields'] | undefined
  readonly after: Entity['fields'] | undefined
  /** Of `changed`; empty if only a secret has changed, which is not shown. */
  readonly fields: readonly FieldChange[]
}

/** What leads from one state to another: by kind, and then in the order of the listing. */
export function stateChanges(
  before: MetadataState,
  after: MetadataState,
  told: Told = plainly,
): readonly StateChange[] {
  const old = byId(before, told)
  const now = byId(after, told)
  const ids = [...new Set([...old.keys(), ...now.keys()])]
  const changes = ids.flatMap(id => changeOf(old.get(id), now.get(id)))
  return changes.sort((a, b) => entityKinds.indexOf(a.kind) - entityKinds.indexOf(b.kind))
}

/** What is compared is not what is shown: two texts of one length look the same once they are redacted. */
interface Pair {
  readonly exact: Entity
  readonly shown: Entity
}

function byId(state: MetadataState, told: Told): ReadonlyMap<string, Pair> {
  const shown = entitiesOf(state, told)
  return new Map(entitiesOf(state).map((exact, n) => [`${exact.kind} ${exact.id}`, {exact, shown: shown[n] as Entity}]))
}

function changeOf(before: Pair | undefined, after: Pair | undefined): readonly StateChange[] {
  const {kind, label} = ((after ?? before) as Pair).shown
  const [old, now] = [before?.shown.fields, after?.shown.fields]
  const common = {kind, label, before: old, after: now}
  if (!before || !after) return [{...common, change: before ? 'removed' : 'added', fields: []}]
  const [exactOld, exactNow] = [before.exact.fields, after.exact.fields]
  const fields = [...new Set([...Object.keys(exactOld), ...Object.keys(exactNow)])]
    .filter(field => !isSame(exactOld[field], exactNow[field]))
    .map(field => ({field, before: old?.[field], after: now?.[field]}))
  const {secret} = before.exact
  const isSecretSame = secret === undefined ? after.exact.secret === undefined : secret.equals(after.exact.secret)
  return fields.length === 0 && isSecretSame ? [] : [{...common, change: 'changed', fields}]
}

function isSame(a: FieldValue | undefined, b: FieldValue | undefined): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((item, n) => item === b[n])
}
