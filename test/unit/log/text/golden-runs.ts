import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {type DecoderName, decoderNamed, decoderNames} from '../../../../src/log/decode/decoder.js'
import type {KafkaStyle} from '../../../../src/log/decode/style.js'
import type {Finding} from '../../../../src/log/finding.js'
import type {Folder, OpenFile} from '../../../../src/log/folder.js'
import {type DumpTextOptions, dumpKafka} from '../../../../src/log/text/dump-kafka.js'
import {FinalReport} from '../../../../src/log/text/final-report.js'
import {LineWriter} from '../../../../src/log/text/line-writer.js'

const root = new URL('../../../golden/dump-log/', import.meta.url).pathname

/** One run of Kafka's own tool over one file, as the manifests have it. */
export interface GoldenRun {
  readonly title: string
  readonly style: KafkaStyle
  readonly folder: string
  readonly case: string
  readonly file: string
  readonly args: readonly string[]
  readonly exit: number
  readonly stdout: Buffer
  readonly stderr: string
}

interface ManifestEntry {
  readonly case: string
  readonly file: string
  readonly args: readonly string[]
  readonly exit: number
  readonly stdout: string | null
  readonly stderr: string | null
}

/** `<DIR>` in the recorded outputs. */
export const recordedFolder = '<DIR>'

export const goldenRuns: readonly GoldenRun[] = [
  ...runsOf('made', 'manifest.json', '4.4'),
  ...runsOf('real', 'manifest.json', '4.4'),
  ...runsOf('real', 'manifest-4.0.2.json', '4.0'),
]

function runsOf(part: string, manifest: string, style: KafkaStyle): GoldenRun[] {
  const folder = join(root, part)
  const read = (path: string | null): Buffer => (path === null ? Buffer.alloc(0) : readFileSync(join(folder, path)))
  const entries = JSON.parse(readFileSync(join(folder, manifest), 'utf8')) as readonly ManifestEntry[]
  return entries.map(entry => ({
    title: [part, entry.case, style, entry.file, ...entry.args].join(' '),
    style,
    folder: join(folder, entry.case),
    case: entry.case,
    file: entry.file,
    args: entry.args,
    exit: entry.exit,
    stdout: read(entry.stdout),
    stderr: read(entry.stderr).toString('utf8'),
  }))
}

/** A folder of the disk, read whole. */
export function diskFolder(path: string): Folder {
  return {
    path,
    list: async () => readdirSync(path),
    open: async name =>
      readdirSync(path).includes(name) ? memoryFile(name, readFileSync(join(path, name))) : undefined,
  }
}

/** A folder that is only in memory. */
export function memoryFolder(files: Readonly<Record<string, Buffer>>): Folder {
  return {
    path: recordedFolder,
    list: async () => Object.keys(files),
    open: async name => (Object.hasOwn(files, name) ? memoryFile(name, files[name] as Buffer) : undefined),
  }
}

export function memoryFile(name: string, bytes: Buffer): OpenFile {
  return {...bufferSource(bytes), path: name, name}
}

export interface Printed {
  readonly stdout: Buffer
  /** What goes to stderr while files are dumped. */
  readonly complaints: readonly string[]
  /** The report at the end. */
  readonly report: string
  readonly findings: readonly Finding[]
}

/** The options that the flags of Kafka's tool stand for. */
export function optionsOf(args: readonly string[], style: KafkaStyle): DumpTextOptions {
  const has = (flag: string): boolean => args.includes(`--${flag}`)
  const number = (flag: string): number | undefined =>
    has(flag) ? Number(args[args.indexOf(`--${flag}`) + 1]) : undefined
  const decoder = decoderNames.find((name: DecoderName) => has(`${name}-decoder`))
  return {
    style,
    printDataLog: has('print-data-log'),
    deepIteration: has('deep-iteration'),
    skipRecordMetadata: has('skip-record-metadata'),
    indexSanityCheck: has('index-sanity-check'),
    verifyIndexOnly: has('verify-index-only'),
    maxBytes: number('max-bytes'),
    maxMessageSize: number('max-message-size'),
    decoder: decoder && decoderNamed(decoder),
  }
}

export async function print(folder: Folder, name: string, options: DumpTextOptions): Promise<Printed> {
  const file = await folder.open(name)
  if (!file) throw new Error(`no file ${name}`)
  const written: Buffer[] = []
  const writer = new LineWriter(bytes => void written.push(Buffer.from(bytes)))
  const report = new FinalReport(options.style, options.bugCompatible)
  const complaints: string[] = []
  const complain = (line: string) => void complaints.push(line)
  const absolutePath = `${recordedFolder}/${name}`
  const {findings} = await dumpKafka(file, folder, options, {writer, report, complain, absolutePath})
  await writer.drain()
  return {stdout: Buffer.concat(written), complaints, report: report.text(), findings}
}
