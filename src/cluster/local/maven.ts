import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {stripVTControlCharacters} from 'node:util'
import {execa} from 'execa'
import {duration} from '../../util/format.js'
import {interrupted} from '../../util/until.js'
import {endedBy} from './group.js'

/** One log4j for all Kafka versions: Kafka's poms name slf4j-api only, and let the release add a binding to it. */
const log4jVersion = '2.25.3'
const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

const atMostMs = 15 * 60_000

export type MavenOutcome =
  | {readonly outcome: 'copied'}
  /** The repositories answered, and have no such version. */
  | {readonly outcome: 'unknown-version'}
  | {readonly outcome: 'failed'; readonly why: string}

export interface MavenRequest {
  readonly version: string
  /** An empty folder for the pom; the jars come into its `libs`. */
  readonly folder: string
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
  readonly env: NodeJS.ProcessEnv
  /** Maven prints a line for each file it fetches: without any for this long it hangs. Two minutes if not said. */
  readonly silenceMs?: number
}

/** Kafka's server, its tools, and a logger, with all that they need at run time. */
export function pom(version: string): string {
  const dependencies = [
    ['org.apache.kafka', 'kafka_2.13', version],
    ['org.apache.kafka', 'kafka-tools', version],
    ['org.apache.logging.log4j', 'log4j-api', log4jVersion],
    ['org.apache.logging.log4j', 'log4j-core', log4jVersion],
    ['org.apache.logging.log4j', 'log4j-slf4j-impl', log4jVersion],
  ].map(
    ([group, artifact, of]) =>
      `    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${of}</version></dependency>`,
  )
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kx</groupId><artifactId>kafka-libs</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
${dependencies.join('\n')}
  </dependencies>
</project>
`
}

/** Lets `mvn` of the PATH copy the jars of a Kafka version into `folder/libs`, with the user's own Maven settings. */
export async function copyWithMaven(request: MavenRequest): Promise<MavenOutcome> {
  const {version, folder, signal, progress, env, silenceMs = 120_000} = request
  const file = join(folder, 'pom.xml')
  await mkdir(folder, {recursive: true})
  await writeFile(file, pom(version))
  const silence = new AbortController()
  const late = AbortSignal.timeout(atMostMs)
  const hung = () => silence.abort()
  let timer = setTimeout(hung, silenceMs)
  const told = new FetchedSize(progress)
  const to = ['-DincludeScope=runtime', `-DoutputDirectory=${join(folder, 'libs')}`]
  const run = execa('mvn', ['-B', '-Dstyle.color=never', '-f', file, plugin, ...to], {
    cwd: folder,
    env,
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    reject: false,
    // A group of its own: mvn is a script, and what it starts has to end with it.
    detached: true,
  })
  run.all.on('data', (chunk: Buffer) => {
    clearTimeout(timer)
    timer = setTimeout(hung, silenceMs)
    told.read(chunk.toString())
  })
  try {
    using _group = endedBy(AbortSignal.any([signal, silence.signal, late]), run.pid)
    const {exitCode, all, code} = await run
    if (signal.aborted) throw interrupted(`Maven to fetch Kafka ${version}`)
    if (silence.signal.aborted)
      return {outcome: 'failed', why: `Maven said nothing for ${duration(silenceMs)} and was stopped`}
    if (late.aborted) return {outcome: 'failed', why: `Maven did not end within ${duration(atMostMs)} and was stopped`}
    if (code === 'ENOENT') return {outcome: 'failed', why: 'there is no mvn on the PATH'}
    return exitCode === 0 ? {outcome: 'copied'} : failureIn(all ?? '', version)
  } finally {
    clearTimeout(timer)
  }
}

/** What Maven's output says about a failure: an unknown version is something else than a network that is down. */
export function failureIn(output: string, version: string): Exclude<MavenOutcome, {outcome: 'copied'}> {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  const errors = lines.flatMap(line => /^\[(?:ERROR|FATAL)\] (\S.*)$/.exec(line)?.[1] ?? [])
  const told = errors[0] ?? (lines.slice(-2).join(' ') || 'it said nothing')
  const artifact = `org\\.apache\\.kafka:(kafka_2\\.13|kafka-tools):jar:${version.replaceAll('.', '\\.')}`
  const missing = new RegExp(`Could not find artifact ${artifact} |${artifact} was not found in `)
  return missing.test(told)
    ? {outcome: 'unknown-version'}
    : {outcome: 'failed', why: `Maven failed: ${shortened(told)}`}
}

/** Maven says everything in one line, from the goal down to the cause, the address of its wiki included. */
function shortened(line: string): string {
  const plain = line.replace(/\s*-> \[Help \d+\]$/, '').replace(/\.$/, '')
  return plain.length <= 160 ? plain : plain.split(': ').slice(-2).join(': ').slice(-300)
}

/** Adds up the sizes in `Downloaded from central: https://… (1.2 MB at 3.4 MB/s)`, and tells each 10 MB. */
export class FetchedSize {
  #megabytes = 0
  #rest = ''

  constructor(readonly tell: (phase: string) => void) {}

  read(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const [, size, unit] = /Downloaded from \S+ \S+\.jar \(([\d.]+) (B|kB|MB) /.exec(line) ?? []
      if (size === undefined) continue
      const before = this.#megabytes
      this.#megabytes += Number(size) / {B: 1e6, kB: 1e3, MB: 1}[unit as 'B' | 'kB' | 'MB']
      if (Math.floor(this.#megabytes / 10) > Math.floor(before / 10))
        this.tell(`Maven has fetched ${Math.floor(this.#megabytes)} MB`)
    }
  }
}
