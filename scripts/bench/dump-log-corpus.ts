import {createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync} from 'node:fs'
import {copyFile, readdir} from 'node:fs/promises'
import {once} from 'node:events'
import {join} from 'node:path'
import {execa} from 'execa'
import {kafkaCacheFolder} from '../../src/cluster/cache.js'
import {findJava} from '../../src/cluster/local/java.js'
import {classPathOf} from '../../src/cluster/local/jvm.js'
import {loadState} from '../../src/cluster/state.js'
import {crc32c} from '../../src/log/crc32c.js'
import {scanBuffer} from '../../src/log/scan.js'

export const logName = '00000000000000000000.log'
const root = new URL('../..', import.meta.url).pathname
export const records = 2_500_000
const codecs = ['none', 'lz4', 'zstd'] as const

export interface Corpus {
  /** A folder each, with one segment and its indexes: written by a broker, records by Apache's Java producer. */
  readonly none: string
  readonly lz4: string
  readonly zstd: string
  /** `none` four times over, with offsets and sequences that go on: 1 GB of valid log. */
  readonly large: string
  readonly version: string
  readonly libs: string
  readonly java: string
}

/** Kept in the cache folder, because making it takes a minute. */
export async function corpus(version: string, say: (text: string) => void): Promise<Corpus> {
  const folder = join(kafkaCacheFolder(version), 'bench-dump-log')
  const libs = join(kafkaCacheFolder(version), 'libs')
  const java = (await findJava()).executable
  const place = (name: string): string => join(folder, name)
  if (!codecs.every(codec => existsSync(join(place(codec), logName)))) {
    say('making the segments: a broker, and 2,500,000 records of the Java producer for each codec')
    await produce({folder, libs: '', java, version, say})
  }
  if (!existsSync(join(place('large'), logName))) {
    say('making 1 GB of log from four times the plain one')
    await repeat(join(place('none'), logName), place('large'), 4)
  }
  return {none: place('none'), lz4: place('lz4'), zstd: place('zstd'), large: place('large'), version, libs, java}
}

async function produce(at: {folder: string; libs: string; java: string; version: string; say: (text: string) => void}) {
  const name = `bench-log-${process.pid}`
  const kx = (...args: string[]) => execa(process.execPath, [join(root, 'bin', 'kx.js'), ...args, '--name', name])
  const config = ['--config', 'log.segment.bytes=1073741824']
  await kx('up', '--runtime', 'local', '--brokers', '1', '--controllers', '1', '--kafka-version', at.version, ...config)
  try {
    const state = loadState(name)
    const {libs = '', folder: clusterFolder = ''} = state?.detail ?? {}
    const broker = state?.nodes.find(node => node.roles.includes('broker'))
    const tool = (main: string, args: readonly string[]) =>
      execa(at.java, ['-Xmx512m', main, ...args], {env: {CLASSPATH: classPathOf(libs)}})
    const payloads = join(clusterFolder, 'payloads.txt')
    writeFileSync(payloads, payloadLines())
    for (const codec of codecs) {
      at.say(`  ${codec}`)
      const server = ['--bootstrap-server', String(broker?.address)]
      const one = ['--partitions', '1', '--replication-factor', '1']
      await tool('org.apache.kafka.tools.TopicCommand', [...server, '--create', '--topic', codec, ...one])
      const props = [`bootstrap.servers=${broker?.address}`, 'batch.size=16384', `compression.type=${codec}`, 'acks=1']
      const much = ['--num-records', String(records), '--throughput', '250000', '--payload-file', payloads]
      await tool('org.apache.kafka.tools.ProducerPerformance', [
        ...['--topic', codec, ...much, '--producer-props'],
        ...props,
      ])
    }
    await kx('down')
    for (const codec of codecs) {
      const from = await partitionFolder(clusterFolder, `${codec}-0`)
      const to = join(at.folder, codec)
      mkdirSync(to, {recursive: true})
      for (const file of await readdir(from)) {
        if (file.startsWith('00000000000000000000.') && !file.endsWith('.log'))
          await copyFile(join(from, file), join(to, file))
      }
      await copyFile(join(from, logName), join(to, `${logName}.part`))
      renameSync(join(to, `${logName}.part`), join(to, logName))
    }
  } finally {
    await kx('down', '--wipe')
  }
}

async function partitionFolder(folder: string, name: string): Promise<string> {
  const found = (await readdir(folder, {recursive: true, withFileTypes: true})).find(
    entry => entry.isDirectory() && entry.name === name,
  )
  if (!found) throw new Error(`There is no ${name} in ${folder}.`)
  return join(found.parentPath, name)
}

/** Lines of about 95 bytes, as an access log has them: some of it repeats, some does not. */
function payloadLines(): string {
  let state = 42
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % below
  }
  const verbs = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE']
  const lines: string[] = []
  for (let n = 0; n < 50_000; n++) {
    const path = `/department/${next(40)}/item/${next(100_000)}`
    const session = next(0x7fff_ff).toString(36) + next(0x7fff_ff).toString(36)
    lines.push(
      `{"method":"${verbs[next(6)]}","path":"${path}","status":${next(20) === 0 ? 500 : 200},"ms":${next(900)},"session":"${session}"}`,
    )
  }
  return lines.join('\n')
}

/** A longer log of the same batches: offsets (outside the CRC) and sequences (inside) go on. */
async function repeat(log: string, folder: string, times: number): Promise<void> {
  const bytes = readFileSync(log)
  mkdirSync(folder, {recursive: true})
  const out = createWriteStream(join(folder, `${logName}.part`))
  for (let n = 0; n < times; n++) {
    const copy = Buffer.from(bytes)
    scanBuffer(copy, batch => {
      const at = batch.position
      copy.writeBigInt64BE(batch.baseOffset + BigInt(n * records), at)
      if (batch.baseSequence >= 0) copy.writeInt32BE(batch.baseSequence + n * records, at + 53)
      copy.writeUInt32BE(crc32c(copy.subarray(at + 21, at + batch.sizeInBytes)), at + 17)
    })
    if (!out.write(copy)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  if (statSync(out.path).size !== bytes.length * times) throw new Error('The large log is not whole.')
  renameSync(join(folder, `${logName}.part`), join(folder, logName))
}
