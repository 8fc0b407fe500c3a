// Compares kx's decoders of internal topics with Kafka's own dump tool, record by record (needs a JDK; about 1 s a tool):
//   node --import tsx scripts/compare-decoders.ts STYLE=LIBS… [--values N] [--seed N]
// LIBS is the `libs` folder of a distribution, STYLE the line as which kx prints: 4.4=…/kafka_2.13-4.4.0/libs. Records of every
// type and version of all lines, whole and damaged, are written to a log and printed by both.
import {spawnSync} from 'node:child_process'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parseArgs} from 'node:util'
import fc from 'fast-check'
import {type DecoderName, decoderNamed, decoderNames} from '../src/log/decode/decoder.js'
import {type KafkaStyle, kafkaStyles} from '../src/log/decode/style.js'
import {writeBatch} from '../src/log/write-batch.js'
import {int16, newestTypes, olderTypes, type RecordType, recordsOf} from '../test/unit/log/decode/records.js'

interface Parts {
  readonly key: Buffer | null
  readonly value: Buffer | null
}

const {positionals, values: options} = parseArgs({
  allowPositionals: true,
  options: {values: {type: 'string', default: '3'}, seed: {type: 'string', default: String(Date.now() % 1_000_000)}},
})
const seed = Number(options.seed)

/** One thing wrong with some bytes: cut, lengthened, a bit or byte changed, inserted or removed. */
const damage = fc.record({kind: fc.nat(5), at: fc.nat(), byte: fc.constantFrom(0, 1, 2, 0x7f, 0x80, 0xff, 0x2e, 9)})

function damaged(bytes: Buffer, {kind, at: anywhere, byte}: {kind: number; at: number; byte: number}): Buffer {
  const at = anywhere % Math.max(bytes.length, 1)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  if (kind === 0) return before
  if (kind === 1) return Buffer.concat([bytes, Buffer.of(byte, byte)])
  if (kind === 2) return Buffer.concat([before, Buffer.of((after[0] ?? 0) ^ 1), after.subarray(1)])
  if (kind === 3) return Buffer.concat([before, Buffer.of(byte), after.subarray(1)])
  return kind === 4 ? Buffer.concat([before, Buffer.of(byte), after]) : Buffer.concat([before, after.subarray(1)])
}

const strangeVersions = [-1, 5, 9, 99, 32_767]

function* variantsOf(type: RecordType): Generator<Parts> {
  const made = fc.sample(recordsOf(type, true), {numRuns: Number(options.values), seed})
  for (const [index, {key, value}] of made.entries()) {
    const [first, second, third] = fc.sample(damage, {numRuns: 3, seed: seed + index})
    yield {key, value}
    if (first) yield {key, value: damaged(value, first)}
    if (first && second) yield {key, value: damaged(damaged(value, first), second)}
    if (key && third) yield {key: damaged(key, third), value}
    const version = strangeVersions[index % strangeVersions.length] as number
    if (key) yield {key, value: Buffer.concat([int16(version), value.subarray(2)])}
    yield {key, value: null}
  }
}

/** A transaction's record that ends the run of the tool of 4.0: only whole ones with values that it knows do not. */
function endsIn40(record: Parts): boolean {
  const {value, problems} = decoderNamed('transaction-log').decode({offset: 0n, ...record})
  if (problems.length > 0) return true
  if (!value) return false
  const {transactionStatus: status, transactionPartitions: partitions, clientTransactionVersion: version} = value.data
  const [state, level] = [Number(status), Number(version ?? 0)]
  return state < 0 || state > 7 || level < 0 || level > 2 || (partitions === null && state !== 0)
}

function kafkaSays(libs: string, file: string, name: DecoderName): string[] {
  const tool = libs.includes('4.4') ? 'org.apache.kafka.tools.DumpLogSegments' : 'kafka.tools.DumpLogSegments'
  const flags = ['-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8', '-Dsun.stdout.encoding=UTF-8', '-cp', `${libs}/*`]
  const java = spawnSync('java', [...flags, tool, '--files', file, `--${name}-decoder`], {maxBuffer: 1 << 30})
  if (java.status !== 0) throw new Error(`the tool ended with ${java.status}: ${java.stderr}`)
  const records = java.stdout.toString('utf8').split(/\n\| offset: (?=\d+ CreateTime)/)
  return records.slice(1).map(text =>
    text
      .replace(/^.*?headerKeys: \[\]/s, '')
      .replace(/\nbaseOffset: \d+ lastOffset[\s\S]*$/, '')
      .replace(/\n$/, ''),
  )
}

function compare(name: DecoderName, style: KafkaStyle, libs: string, folder: string): number {
  const types = [...newestTypes, ...olderTypes].filter(type => type.decoder === name)
  const all = types.flatMap(type => [...variantsOf(type)])
  const records = all.filter(record => style !== '4.0' || name !== 'transaction-log' || !endsIn40(record))
  const file = join(folder, '00000000000000000000.log')
  const batches: Buffer[] = []
  for (let from = 0; from < records.length; from += 200) {
    const some = records.slice(from, from + 200).map(record => ({...record, timestamp: 0n}))
    batches.push(writeBatch({baseOffset: BigInt(from), records: some}))
  }
  writeFileSync(file, Buffer.concat(batches))
  const theirs = kafkaSays(libs, file, name)
  let different = 0
  for (const [index, record] of records.entries()) {
    const {key, payload} = decoderNamed(name).kafkaText({offset: BigInt(index), ...record}, style)
    const ours = (key === undefined ? '' : ` key: ${key}`) + (payload === undefined ? '' : ` payload: ${payload}`)
    if (ours === theirs[index]) continue
    if (different++ < 3) {
      const [keyHex, valueHex] = [record.key, record.value].map(bytes => bytes?.toString('hex') ?? 'null')
      process.stdout.write(`key ${keyHex} value ${valueHex}\n  kx   ${ours}\n  tool ${theirs[index]}\n`)
    }
  }
  process.stdout.write(`${name} as ${style}: ${records.length} records, ${different} different\n`)
  return different
}

const folder = mkdtempSync(join(tmpdir(), 'kx-compare-decoders-'))
try {
  process.stdout.write(`seed ${seed}\n`)
  for (const given of positionals) {
    const [style, libs] = given.split('=') as [KafkaStyle, string | undefined]
    if (!kafkaStyles.includes(style) || libs === undefined) throw new Error(`${given}: expected STYLE=LIBS`)
    for (const name of decoderNames) if (compare(name, style, libs, folder) > 0) process.exitCode = 1
  }
} finally {
  rmSync(folder, {recursive: true})
}
