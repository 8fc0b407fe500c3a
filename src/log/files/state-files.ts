import type {FindingCode} from '../verify/codes.js'
import {javaInteger, quoted, type TextProblem, textLines} from './text-lines.js'

/** `quorum-state` of a metadata folder (FileQuorumStateStore, message QuorumStateData): what a voter must not forget. */
export interface QuorumState {
  readonly kind: 'quorum-state'
  /** `data_version`: 0 with static voters, 1 with kraft.version 1. */
  readonly version: number | undefined
  /** −1: not known. */
  readonly leaderId: number | undefined
  readonly leaderEpoch: number | undefined
  /** Whom this node voted for in the epoch; −1: nobody. */
  readonly votedId: number | undefined
  /** Version 1. */
  readonly votedDirectoryId: string | undefined
  /** Version 0, and always empty there. */
  readonly clusterId: string | undefined
  /** Version 0. */
  readonly appliedOffset: bigint | undefined
  /** Version 0; `null`: none are stored. */
  readonly voterIds: readonly number[] | null | undefined
  /** Fields that kx doesn't know, as JSON. */
  readonly others: readonly {readonly name: string; readonly json: string}[]
  readonly problems: readonly TextProblem[]
}

/** `.kafka_cleanshutdown` of a log dir (CleanShutdownFileHandler): the broker stopped in order; there is nothing to recover. */
export interface CleanShutdown {
  readonly kind: 'clean-shutdown'
  readonly version: number | undefined
  /** Undefined: not known, as in the empty file that brokers before 3.7 write. */
  readonly brokerEpoch: bigint | undefined
  readonly problems: readonly TextProblem[]
}

/** Reads any bytes. */
export function parseQuorumState(bytes: Buffer): QuorumState {
  const {lines, problems: textProblems} = textLines(bytes, {endsInNewline: false})
  const problems = [...textProblems]
  const refused = 'the node does not start'
  const add = (code: FindingCode, explanation: string) =>
    problems.push({code, severity: 'error', position: 0, explanation, consequence: refused})
  if (bytes.length === 0) add('file-empty', 'the file is empty')
  if (lines.length > 1) {
    problems.push({
      code: 'leftover-lines',
      severity: 'warning',
      position: lines[1]?.position ?? 0,
      explanation: `${lines.length - 1} lines follow the one that Kafka reads`,
    })
  }
  const state = bytes.length === 0 ? undefined : exactObject(lines[0]?.text ?? '')
  if (bytes.length > 0 && !state) add('json-unreadable', `the line is no JSON object: ${quoted(lines[0]?.text ?? '')}`)
  const fields = state ?? new Map<string, Exact>()
  const int32 = (name: string): number | undefined => {
    const value = fields.get(name)
    if (typeof value === 'bigint' && BigInt.asIntN(32, value) === value) return Number(value)
    if (state)
      add('field-unreadable', `"${name}" ${value === undefined ? 'is missing' : `is ${quoted(exactJson(value))}`}`)
    return undefined
  }
  const version = int32('data_version')
  if (version !== undefined && version !== 0 && version !== 1) {
    add('version-unknown', `data_version is ${version}; only 0 and 1 are known`)
  }
  const [leaderId, leaderEpoch, votedId] = [int32('leaderId'), int32('leaderEpoch'), int32('votedId')]
  const known = ['data_version', 'leaderId', 'leaderEpoch', 'votedId', ...versionFields(version)]
  return {
    kind: 'quorum-state',
    version,
    leaderId,
    leaderEpoch,
    votedId,
    ...byVersion(version, fields, add),
    others: [...fields]
      .filter(([name]) => !known.includes(name))
      .map(([name, value]) => ({name, json: exactJson(value)})),
    problems,
  }
}

const versionFields = (version: number | undefined): readonly string[] =>
  version === 0 ? ['clusterId', 'appliedOffset', 'currentVoters'] : version === 1 ? ['votedDirectoryId'] : []

type OfVersion = Pick<QuorumState, 'votedDirectoryId' | 'clusterId' | 'appliedOffset' | 'voterIds'>

function byVersion(
  version: number | undefined,
  fields: ReadonlyMap<string, Exact>,
  add: (code: FindingCode, explanation: string) => void,
): OfVersion {
  const text = (name: string): string | undefined => {
    const value = fields.get(name)
    if (typeof value === 'string') return value
    add('field-unreadable', `"${name}" ${value === undefined ? 'is missing' : `is ${quoted(exactJson(value))}`}`)
    return undefined
  }
  const none = {votedDirectoryId: undefined, clusterId: undefined, appliedOffset: undefined, voterIds: undefined}
  if (version === 1) return {...none, votedDirectoryId: text('votedDirectoryId')}
  if (version !== 0) return none
  const [applied, voters] = [fields.get('appliedOffset'), fields.get('currentVoters')]
  if (typeof applied !== 'bigint') add('field-unreadable', '"appliedOffset" is no number')
  const ids = Array.isArray(voters)
    ? voters
        .map(voter => (voter instanceof Map ? voter.get('voterId') : undefined))
        .filter(id => typeof id === 'bigint')
    : undefined
  if (voters !== null && ids?.length !== (voters as readonly Exact[] | undefined)?.length) {
    add('field-unreadable', '"currentVoters" is no list of voters')
  }
  return {
    ...none,
    clusterId: text('clusterId'),
    appliedOffset: typeof applied === 'bigint' ? applied : undefined,
    voterIds: voters === null ? null : ids?.map(Number),
  }
}

/** Reads any bytes. */
export function parseCleanShutdown(bytes: Buffer): CleanShutdown {
  const nothing = {kind: 'clean-shutdown', version: undefined, brokerEpoch: undefined} as const
  const unknownEpoch = 'the shutdown counts as clean; the broker registers without the epoch it had'
  if (bytes.length === 0) {
    const explanation = 'the file is empty, as brokers before 3.7 write it'
    return {...nothing, problems: [{code: 'file-empty', severity: 'info', explanation, consequence: unknownEpoch}]}
  }
  const {problems} = textLines(bytes, {endsInNewline: false})
  const fields = exactObject(bytes.toString('utf8'))
  const [version, epoch] = [fields?.get('version'), fields?.get('brokerEpoch')]
  const brokerEpoch = typeof epoch === 'bigint' && BigInt.asIntN(64, epoch) === epoch ? epoch : undefined
  const found = [...problems]
  if (!fields || brokerEpoch === undefined) {
    const explanation = fields ? '"brokerEpoch" is missing or no 64-bit number' : 'the file is no JSON object'
    found.push({
      code: fields ? 'field-unreadable' : 'json-unreadable',
      severity: 'warning',
      position: 0,
      explanation,
      consequence: unknownEpoch,
    })
  }
  return {
    ...nothing,
    version: typeof version === 'bigint' && javaInteger(`${version}`, 32) === version ? Number(version) : undefined,
    brokerEpoch,
    problems: found,
  }
}

/** JSON whose integers are exact. */
type Exact = string | bigint | number | boolean | null | readonly Exact[] | Map<string, Exact>

const depthAtMost = 50

/** An object of JSON with exact integers; undefined if the text is anything else. */
function exactObject(text: string): Map<string, Exact> | undefined {
  // Integers become strings that no string of the text can be, before JSON.parse makes doubles of them.
  const mark = '\u0000int:'
  if (!isJson(text)) return undefined
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, token =>
    token.startsWith('"') ? token : /^-?(0|[1-9]\d{0,40})$/.test(token) ? `"\\u0000int:${token}"` : token,
  )
  const exact = (value: unknown, depth = 0): Exact => {
    if (typeof value === 'string') return value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value
    if (typeof value !== 'object' || value === null) return value as number | boolean | null
    if (depth > depthAtMost) return null
    return Array.isArray(value)
      ? value.map(item => exact(item, depth + 1))
      : new Map(Object.entries(value).map(([name, item]) => [name, exact(item, depth + 1)]))
  }
  try {
    const made = exact(JSON.parse(marked))
    return made instanceof Map ? made : undefined
  } catch {
    return undefined
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function exactJson(value: Exact): string {
  if (typeof value === 'bigint') return `${value}`
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`
  if (value instanceof Map) {
    return `{${[...value].map(([name, item]) => `${JSON.stringify(name)}:${exactJson(item)}`).join(',')}}`
  }
  return JSON.stringify(value)
}
