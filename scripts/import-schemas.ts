// Extracts Kafka's own message schemas from its jars into src/protocol/messages.data.json: facts only, one message a line.
//   node --import tsx scripts/import-schemas.ts FOLDER            writes the file
//   node --import tsx scripts/import-schemas.ts FOLDER --check    says whether the file is what the jars give (exit 1: not)
//   node --import tsx scripts/import-schemas.ts FOLDER OLDER…     also writes src/protocol/messages.older.data.json: what
//                                                                 older lines have of records in logs that is different
// FOLDER holds the jars of one Kafka release: a distribution's `libs`, or what `mvn dependency:copy-dependencies` gives
// for org.apache.kafka:kafka_2.13 (kafka-clients, -metadata, -raft, -storage and the coordinators are needed).
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {basename, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {inflateRawSync} from 'node:zlib'

const target = fileURLToPath(new URL('../src/protocol/messages.data.json', import.meta.url))
const olderTarget = fileURLToPath(new URL('../src/protocol/messages.older.data.json', import.meta.url))

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
  /** A number, or one in text, as it happens. */
  tag?: number | string
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
    ...(field.taggedVersions !== undefined && {taggedVersions: field.taggedVersions, tag: Number(field.tag)}),
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

interface Extracted {
  readonly version: string
  /** By name: the message as one line of JSON. */
  readonly lines: ReadonlyMap<string, string>
}

function extract(folder: string): Extracted {
  const jars = readdirSync(folder).sort()
  const version = jars.map(jar => /^kafka-clients-(\d.*)\.jar$/.exec(jar)?.[1]).find(found => found !== undefined)
  if (version === undefined) throw new Error(`no kafka-clients-<version>.jar in ${folder}`)
  const lines = new Map<string, string>()
  for (const artifact of [...Object.keys(topicOf), ...otherJars]) {
    const zip = readFileSync(join(folder, `${artifact}-${version}.jar`))
    const messages = [...entriesOf(zip, /^(common\/)?(message|metadata)\/[^/]+\.json$/)].map(
      ({text}) => JSON.parse(withoutComments(text)) as JsonMessage,
    )
    for (const message of artifact.endsWith('-coordinator') ? typed(messages) : messages) {
      if (lines.has(message.name)) throw new Error(`two schemas are called ${message.name}, one of them in ${artifact}`)
      lines.set(message.name, JSON.stringify(messageOf(message, topicOf[artifact])))
    }
  }
  return {version, lines: new Map([...lines].sort(([a], [b]) => (a < b ? -1 : 1)))}
}

/**
 * Until 4.0 a coordinator's record type was the version of its key, and the schemas did not say which value belongs to it.
 * Here as later Kafka writes it: the type is the API key, and the key's version is 0. One schema of two types becomes two.
 */
function typed(messages: readonly JsonMessage[]): JsonMessage[] {
  return messages.flatMap(message => {
    const [, stem, part] = /^(.*)(Key|Value)$/.exec(message.name) ?? []
    if (message.type !== 'data' || stem === undefined) return [message]
    const types = messages.find(({name}) => name === `${stem}Key`)?.validVersions.split('-') ?? []
    const type = part === 'Key' ? 'coordinator-key' : 'coordinator-value'
    return types.map(apiKey => {
      const name = apiKey === types.at(-1) ? message.name : `Legacy${message.name}`
      const {apiKey: _, ...rest} = part === 'Key' ? atVersion0(message) : message
      return {apiKey: Number(apiKey), ...rest, type, name}
    })
  })
}

function atVersion0(key: JsonMessage): JsonMessage {
  return {...key, validVersions: '0', fields: (key.fields ?? []).map(field => ({...field, versions: '0'}))}
}

/** Types that Kafka had only while a line was being developed, or will have; facts that no released jar holds. */
const unreleased = [
  {
    name: 'StreamsGroupPartitionMetadata',
    apiKey: 18,
    fields: [
      {
        name: 'Topics',
        type: '[]TopicMetadata',
        versions: '0+',
        fields: [
          {name: 'TopicId', type: 'uuid', versions: '0+'},
          {name: 'TopicName', type: 'string', versions: '0+'},
          {name: 'NumPartitions', type: 'int32', versions: '0+'},
          {
            name: 'PartitionMetadata',
            type: '[]PartitionMetadata',
            versions: '0+',
            fields: [
              {name: 'Partition', type: 'int32', versions: '0+'},
              {name: 'Racks', type: '[]string', versions: '0+'},
            ],
          },
        ],
      },
    ],
  },
  {
    name: 'StreamsGroupTargetAssignmentResolvedTopicIds',
    apiKey: 24,
    fields: [
      {name: 'AssignmentEpoch', type: 'int32', versions: '0+'},
      {
        name: 'ResolvedTopicIdsBySubtopology',
        type: '[]ResolvedTopicIds',
        versions: '0+',
        fields: [
          {name: 'SubtopologyId', type: 'string', versions: '0+'},
          {name: 'TopicIds', type: '[]uuid', versions: '0+'},
        ],
      },
    ],
  },
]

function unreleasedLines(): string[] {
  return unreleased.flatMap(({name, apiKey, fields}) =>
    [
      {
        name: `${name}Key`,
        apiKey,
        type: 'coordinator-key',
        validVersions: '0',
        fields: [{name: 'GroupId', type: 'string', versions: '0'}],
      },
      {name: `${name}Value`, apiKey, type: 'coordinator-value', validVersions: '0', flexibleVersions: '0+', fields},
    ].map(message => JSON.stringify(messageOf(message, '__consumer_offsets'))),
  )
}

/** Only records in logs: requests are spoken in the newest schemas, which hold all older versions. */
function inLogs(line: string): boolean {
  return (JSON.parse(line) as {topic?: string}).topic !== undefined
}

/** What the older release has differently, and what it lacks. */
function olderLine(newest: Extracted, older: Extracted): string {
  const different = [...older.lines].filter(([name, line]) => newest.lines.get(name) !== line && inLogs(line))
  const absent = [...newest.lines].filter(([name, line]) => !older.lines.has(name) && inLogs(line))
  const line = older.version.split('.').slice(0, 2).join('.')
  const names = JSON.stringify(absent.map(([name]) => name))
  const messages = different.map(([, message]) => message).join(',\n')
  return `{"line":"${line}","kafkaVersion":"${older.version}","absent":${names},"messages":[\n${messages}\n]}`
}

const given = process.argv.slice(2)
const [folder, ...olderFolders] = given.filter(argument => !argument.startsWith('--'))
if (folder === undefined) throw new Error('usage: import-schemas.ts FOLDER [OLDER…] [--check]')
const newest = extract(folder)
const files = [
  {
    path: target,
    text: `{"kafkaVersion":"${newest.version}","messages":[\n${[...newest.lines.values()].join(',\n')}\n]}\n`,
  },
]
if (olderFolders.length > 0) {
  const older = olderFolders
    .map(extract)
    .sort((a, b) => b.version.localeCompare(a.version, 'en', {numeric: true}))
    .map(release => olderLine(newest, release))
  const never = `{"line":"unreleased","kafkaVersion":"","absent":[],"messages":[\n${unreleasedLines().join(',\n')}\n]}`
  files.push({path: olderTarget, text: `[\n${[...older, never].join(',\n')}\n]\n`})
}
for (const {path, text} of files) {
  const same = existsSync(path) && readFileSync(path, 'utf8') === text
  const told = `${basename(path)}: ${text.match(/"name":"\w+","apiKey|"name":"\w+","kind/g)?.length} schemas`
  if (!given.includes('--check')) writeFileSync(path, text)
  else if (!same) process.exitCode = 1
  process.stdout.write(`${told}${given.includes('--check') && !same ? ', and the jars give others' : ''}\n`)
}
