// Extracts Kafka's own message schemas from its jars into src/protocol/messages.data.json: facts only, one message a line.
//   node --import tsx scripts/import-schemas.ts FOLDER            writes the file
//   node --import tsx scripts/import-schemas.ts FOLDER --check    says whether the file is what the jars give (exit 1: not)
// FOLDER holds the jars of one Kafka release: a distribution's `libs`, or what `mvn dependency:copy-dependencies` gives
// for org.apache.kafka:kafka_2.13 (kafka-clients, -metadata, -raft, -storage and the coordinators are needed).
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {inflateRawSync} from 'node:zlib'

const target = fileURLToPath(new URL('../src/protocol/messages.data.json', import.meta.url))

/** The topic whose records a jar's schemas describe; the others describe requests, or things on disk. */
const topicOf: Readonly<Record<string, string>> = {
  'kafka-metadata': '__cluster_metadata',
  'kafka-group-coordinator': '__consumer_offsets',
  'kafka-transaction-coordinator': '__transaction_state',
  'kafka-share-coordinator': '__share_group_state',
  'kafka-storage': '__remote_log_metadata',
}
const otherJars = ['kafka-clients', 'kafka-raft']

interface JsonField {
  name: string
  type: string
  versions?: string
  nullableVersions?: string
  taggedVersions?: string
  flexibleVersions?: string
  tag?: number
  default?: string | number | boolean | null
  ignorable?: boolean
  fields?: JsonField[]
}

interface JsonMessage {
  name: string
  apiKey?: number
  type: string
  validVersions: string
  flexibleVersions?: string
  latestVersionUnstable?: boolean
  fields?: JsonField[]
  commonStructs?: {name: string; versions: string; fields: JsonField[]}[]
}

/** The entries of a zip file whose names match: read through its central directory, as every zip reader does. */
function* entriesOf(zip: Buffer, wanted: RegExp): Generator<{name: string; text: string}> {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (end < 0) throw new Error('not a zip file')
  let position = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, size] = [zip.readUInt16LE(position + 10), zip.readUInt32LE(position + 20)]
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map(at => zip.readUInt16LE(position + at)) as [
      number,
      number,
      number,
    ]
    const name = zip.toString('utf8', position + 46, position + 46 + nameLength)
    const local = zip.readUInt32LE(position + 42)
    position += 46 + nameLength + extraLength + commentLength
    if (!wanted.test(name)) continue
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const data = zip.subarray(start, start + size)
    yield {name, text: (method === 0 ? data : inflateRawSync(data)).toString('utf8')}
  }
}

function withoutComments(json: string): string {
  return json.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*/g, token => (token.startsWith('"') ? token : ''))
}

/** Kafka's JSON converters print the names of fields with the first letter lowered, and so does kx. */
function lowered(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/**
 * Kafka writes defaults as text or as JSON, as it happens. Here: JSON, but decimal text for int64. The text "null" is
 * null; JSON's null says nothing, because Kafka's generator takes it for a default that is not there (FieldSpec).
 */
function defaultOf({type, default: given}: JsonField): JsonField['default'] {
  if (given === null || given === undefined) return undefined
  if (given === 'null') return null
  if (type === 'string') return String(given)
  if (type === 'int64') return String(BigInt(String(given)))
  if (type === 'bool') return String(given) === 'true'
  return Number(given)
}

function fieldOf(field: JsonField): object {
  // A field without `versions` exists where it is tagged (FieldSpec of Kafka's generator).
  return {
    name: lowered(field.name),
    type: field.type,
    versions: field.versions ?? field.taggedVersions,
    ...(field.nullableVersions !== undefined && {nullableVersions: field.nullableVersions}),
    ...(field.taggedVersions !== undefined && {taggedVersions: field.taggedVersions, tag: field.tag}),
    ...(field.flexibleVersions !== undefined && {flexibleVersions: field.flexibleVersions}),
    ...(defaultOf(field) !== undefined && {default: defaultOf(field)}),
    ...(field.ignorable && {ignorable: true}),
    ...(field.fields && {fields: field.fields.map(fieldOf)}),
  }
}

function messageOf(message: JsonMessage, topic: string | undefined): object {
  const inTopic = topic !== undefined && ['metadata', 'coordinator-key', 'coordinator-value'].includes(message.type)
  return {
    name: message.name,
    ...(message.apiKey !== undefined && {apiKey: message.apiKey}),
    kind: message.type,
    ...(inTopic && {topic}),
    validVersions: message.validVersions,
    flexibleVersions: message.flexibleVersions ?? 'none',
    ...(message.latestVersionUnstable && {latestVersionUnstable: true}),
    fields: (message.fields ?? []).map(fieldOf),
    ...(message.commonStructs && {
      commonStructs: message.commonStructs.map(struct => ({name: struct.name, fields: struct.fields.map(fieldOf)})),
    }),
  }
}

function extract(folder: string): string {
  const jars = readdirSync(folder).sort()
  const version = jars.map(jar => /^kafka-clients-(\d.*)\.jar$/.exec(jar)?.[1]).find(found => found !== undefined)
  if (version === undefined) throw new Error(`no kafka-clients-<version>.jar in ${folder}`)
  const lines = new Map<string, string>()
  for (const artifact of [...Object.keys(topicOf), ...otherJars]) {
    const zip = readFileSync(join(folder, `${artifact}-${version}.jar`))
    for (const {name, text} of entriesOf(zip, /^(common\/)?(message|metadata)\/[^/]+\.json$/)) {
      const message = JSON.parse(withoutComments(text)) as JsonMessage
      if (lines.has(message.name))
        throw new Error(`two schemas are called ${message.name}, one of them in ${artifact}: ${name}`)
      lines.set(message.name, JSON.stringify(messageOf(message, topicOf[artifact])))
    }
  }
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
  return `{"kafkaVersion":"${version}","messages":[\n${sorted.join(',\n')}\n]}\n`
}

const [folder, ...flags] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: import-schemas.ts FOLDER [--check]')
const extracted = extract(folder)
const count = extracted.split('\n').length - 3
if (flags.includes('--check')) {
  const same = existsSync(target) && readFileSync(target, 'utf8') === extracted
  process.stdout.write(same ? `${count} schemas, all as in the jars\n` : 'messages.data.json differs from the jars\n')
  process.exitCode = same ? 0 : 1
} else {
  writeFileSync(target, extracted)
  process.stdout.write(`${count} schemas written\n`)
}
