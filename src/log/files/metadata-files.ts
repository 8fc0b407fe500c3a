import type {FindingCode} from '../verify/codes.js'
import {javaInteger, quoted, textLines, type TextProblem} from './text-lines.js'

/** `partition.metadata` of a partition's folder (PartitionMetadataFile). */
export interface PartitionMetadata {
  readonly kind: 'partition-metadata'
  /** As stored; known is 0. */
  readonly version: number | undefined
  /** 22 characters of URL-safe base64, as stored. */
  readonly topicId: string | undefined
  readonly problems: readonly TextProblem[]
}

const zeroId = 'AAAAAAAAAAAAAAAAAAAAAA'
const refused = 'Kafka refuses the file'

/** Reads any bytes. */
export function parsePartitionMetadata(bytes: Buffer): PartitionMetadata {
  const {lines, problems: textProblems} = textLines(bytes, {endsInNewline: false})
  const problems = [...textProblems]
  const add = (code: FindingCode, position: number, explanation: string) =>
    problems.push({code, severity: 'error', position, explanation, consequence: refused})
  const fieldOf = (n: number, name: string): string | undefined => {
    const line = lines[n]
    const value = line?.text.split(/:\s+/)
    if (value?.length === 2 && value[0] === name) return value[1]?.trim()
    const what = line ? `is ${quoted(line.text)}` : 'is missing'
    add(line ? 'line-unreadable' : 'line-missing', line?.position ?? bytes.length, `line ${n + 1} (${name}) ${what}`)
    return undefined
  }
  const [versionText, topicId] = [fieldOf(0, 'version'), fieldOf(1, 'topic_id')]
  const version = javaInteger(versionText ?? '', 32)
  if (versionText !== undefined && version !== 0n) {
    add('version-unknown', 0, `the version is ${quoted(versionText)}; only version 0 is known`)
  }
  if (topicId !== undefined && (!isUuid(topicId) || topicId === zeroId)) {
    const what = topicId === zeroId ? 'is the zero id' : `${quoted(topicId)} is no id of 16 bytes in base64`
    add('topic-id-unreadable', lines[1]?.position ?? 0, `the topic id ${what}`)
  }
  if (lines.length > 2) {
    problems.push({
      code: 'leftover-lines',
      severity: 'warning',
      position: lines[2]?.position ?? 0,
      explanation: `${lines.length - 2} lines follow the two that Kafka reads`,
    })
  }
  return {kind: 'partition-metadata', version: version === undefined ? undefined : Number(version), topicId, problems}
}

/** 16 bytes as Kafka writes them (org.apache.kafka.common.Uuid). */
export function isUuid(text: string): boolean {
  return /^[\w-]{22}$/.test(text) && Buffer.from(text, 'base64url').toString('base64url') === text
}

/** `meta.properties` of a log dir or metadata dir (MetaProperties). */
export interface MetaProperties {
  readonly kind: 'meta-properties'
  /** As stored, 0 if it isn't there. Known are 0 and 1. */
  readonly version: number | undefined
  readonly clusterId: string | undefined
  /** `node.id`, or `broker.id` in version 0. */
  readonly nodeId: number | undefined
  readonly directoryId: string | undefined
  /** Everything that is set, in the order of the file; of a key that is set twice the last one counts. */
  readonly properties: readonly {readonly key: string; readonly value: string}[]
  /** Without their `#` or `!`; the second one of Kafka's is the time at which it wrote the file. */
  readonly comments: readonly string[]
  readonly problems: readonly TextProblem[]
}

/** Reads any bytes. */
export function parseMetaProperties(bytes: Buffer): MetaProperties {
  const {properties, comments, problems: escapes} = parseProperties(bytes)
  const problems = [...escapes]
  const add = (code: FindingCode, explanation: string) =>
    problems.push({code, severity: 'error', explanation, consequence: 'the broker refuses the folder'})
  const values = new Map(properties.map(({key, value}) => [key, value]))
  const versionText = values.get('version')
  const version = versionText === undefined ? 0n : javaInteger(versionText.trim(), 32)
  if (version !== 0n && version !== 1n) {
    add('version-unknown', `the version is ${quoted(versionText ?? '')}; only 0 and 1 are known`)
  }
  const idName = version === 0n ? 'broker.id' : 'node.id'
  const idText = values.get(idName)
  const nodeId = javaInteger(idText ?? '', 32)
  if (idText === undefined && version === 1n) add('node-id-missing', `${idName} is missing`)
  if (idText !== undefined && nodeId === undefined)
    add('node-id-unreadable', `${idName} is ${quoted(idText)}, no number`)
  const clusterId = values.get('cluster.id')
  if (clusterId === undefined && version === 1n) add('cluster-id-missing', 'cluster.id is missing')
  const directoryId = values.get('directory.id')
  if (directoryId !== undefined && (!isUuid(directoryId) || isReserved(directoryId))) {
    const what = isUuid(directoryId) ? 'a reserved one' : 'no id of 16 bytes in base64'
    add('directory-id-unreadable', `directory.id is ${quoted(directoryId)}, ${what}`)
  }
  for (const [key, count] of countBy(properties.map(({key}) => key))) {
    if (count > 1) {
      problems.push({
        code: 'property-twice',
        severity: 'warning',
        explanation: `${quoted(key)} is set ${count} times`,
        consequence: 'the last one counts',
      })
    }
  }
  return {
    kind: 'meta-properties',
    version: version === undefined ? undefined : Number(version),
    clusterId,
    nodeId: nodeId === undefined ? undefined : Number(nodeId),
    directoryId,
    properties,
    comments,
    problems,
  }
}

/** The first hundred ids stand for no folder: unassigned, lost, migrating (DirectoryId). */
function isReserved(id: string): boolean {
  const bytes = Buffer.from(id, 'base64url')
  return bytes.subarray(0, 8).every(byte => byte === 0) && bytes.readBigUInt64BE(8) < 100n
}

function countBy(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

interface Properties {
  readonly properties: readonly {readonly key: string; readonly value: string}[]
  readonly comments: readonly string[]
  readonly problems: readonly TextProblem[]
}

/** Java's format (java.util.Properties.load): ISO 8859-1, comments, continued lines, `=`, `:` or blanks, escapes. */
export function parseProperties(bytes: Buffer): Properties {
  const {lines, problems: textProblems} = textLines(Buffer.from(bytes.toString('latin1'), 'utf8'), {
    endsInNewline: true,
  })
  const problems = [...textProblems]
  const properties: {key: string; value: string}[] = []
  const comments: string[] = []
  for (let n = 0; n < lines.length; n++) {
    const first = lines[n]
    let line = (first?.text ?? '').replace(/^[ \t\f]+/, '')
    if (line === '') continue
    if (line.startsWith('#') || line.startsWith('!')) {
      comments.push(line.slice(1))
      continue
    }
    for (let last = line; /(?<!\\)(\\\\)*\\$/.test(last) && n + 1 < lines.length; ) {
      n++
      last = (lines[n]?.text ?? '').replace(/^[ \t\f]+/, '')
      line = line.slice(0, -1) + last
    }
    const [, rawKey = '', rawValue = ''] = /^((?:\\.|[^\\=: \t\f])*)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+|$)(.*)$/.exec(
      line,
    ) ?? ['', line]
    const [key, value] = [unescaped(rawKey), unescaped(rawValue)]
    if (key === undefined || value === undefined) {
      problems.push({
        code: 'property-escape',
        severity: 'error',
        explanation: `line ${first?.number}: a \\u is not followed by four hexadecimal digits: ${quoted(line)}`,
        consequence: refused,
      })
    }
    properties.push({key: key ?? rawKey, value: value ?? rawValue})
  }
  return {properties, comments, problems}
}

const escapes: Readonly<Record<string, string>> = {t: '\t', n: '\n', r: '\r', f: '\f'}

/** Undefined for a `\u` without its digits, which Java refuses. */
function unescaped(text: string): string | undefined {
  if (/(?<!\\)(\\\\)*\\u(?![0-9a-fA-F]{4})/.test(text)) return undefined
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.)|$)/gs, (_, hex: string | undefined, other: string | undefined) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : other ? (escapes[other] ?? other) : '',
  )
}
