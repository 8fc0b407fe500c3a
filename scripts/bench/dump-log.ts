import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import {loadavg, tmpdir} from 'node:os'
import {join} from 'node:path'
import {parseArgs} from 'node:util'
import {gzipSync} from 'node:zlib'
import {classPathOf, dumpLogClass} from '../../src/cluster/local/jvm.js'
import {defaultSpec} from '../../src/cluster/spec.js'
import {crc32c} from '../../src/log/crc32c.js'
import {writeBatch} from '../../src/log/write-batch.js'
import {summary} from '../../src/util/statistics.js'
import {type Corpus, corpus, logName} from './dump-log-corpus.js'
import {type Measured, measure} from './measure.js'

interface Case {
  readonly label: string
  readonly file: (corpus: Corpus) => string
  readonly flags: readonly string[]
  /** At least so many times faster than Kafka's own tool. */
  readonly atLeast: number
  /** The tool is run this often; kx always `--rounds` times. */
  readonly toolRounds?: number
}

const root = new URL('../..', import.meta.url).pathname
const deep = ['--deep-iteration']
const print = ['--print-data-log']
const log = (codec: 'none' | 'lz4' | 'zstd') => (found: Corpus) => join(found[codec], logName)
const index = (kind: string) => (found: Corpus) => join(found.none, logName.replace('.log', kind))

const cases: readonly Case[] = [
  {label: 'plain, no flag', file: log('none'), flags: [], atLeast: 2.5},
  {label: 'plain, --deep-iteration', file: log('none'), flags: deep, atLeast: 4},
  {label: 'plain, --print-data-log', file: log('none'), flags: print, atLeast: 4},
  {label: 'lz4, --deep-iteration', file: log('lz4'), flags: deep, atLeast: 3},
  {label: 'zstd, --deep-iteration', file: log('zstd'), flags: deep, atLeast: 3},
  {label: '.index', file: index('.index'), flags: [], atLeast: 2},
  {label: '.timeindex', file: index('.timeindex'), flags: [], atLeast: 100, toolRounds: 1},
]

/**
 * `kx dump-log` beside Kafka's own tool of the same version, started as its launcher does, on the same files in the same
 * run, turn by turn, output to the null device. `--rounds` (5); `--only TEXT`; `--output kafka,text`; The segments are kept in kx's
 * cache. Then what must be bounded: memory and time on files without a reference.
 */
export async function dumpLogBench(flags: readonly string[]): Promise<void> {
  const {values} = parseArgs({
    args: [...flags],
    options: {
      rounds: {type: 'string', default: '5'},
      only: {type: 'string', default: ''},
      output: {type: 'string', default: 'kafka'},
      'no-tool': {type: 'boolean', default: false},
    },
  })
  if (!existsSync(join(root, 'dist', 'src', 'cli', 'main.js'))) {
    process.stderr.write('kx is measured as users run it: build it first, with npm run build.\n')
    process.exitCode = 2
    return
  }
  const found = await corpus(defaultSpec.kafkaVersion, say)
  say(`load average ${loadavg()[0]?.toFixed(1)}; Kafka ${found.version}, Node ${process.version}`)
  const rounds = Number(values.rounds)
  let missed = 0
  for (const one of cases.filter(({label}) => label.includes(values.only))) {
    for (const output of values.output.split(','))
      missed += await compare(one, found, output, rounds, values['no-tool'])
  }
  if (values.only === '') missed += await bounds(found, rounds)
  if (missed > 0) process.exitCode = 1
}

async function compare(one: Case, found: Corpus, output: string, rounds: number, noTool: boolean): Promise<number> {
  const file = one.file(found)
  const [kx, tool]: [Measured[], Measured[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    kx.push(await runKx(['-o', output, ...one.flags, file]))
    if (!noTool && round < (one.toolRounds ?? rounds)) tool.push(await runTool(found, [...one.flags, '--files', file]))
  }
  const [mine, theirs] = [median(kx), median(tool)]
  const ratio = theirs.wallMs / mine.wallMs
  const misses = !noTool && ratio < one.atLeast
  print1(`${one.label.padEnd(26)} -o ${output.padEnd(6)} kx ${told(mine)}   tool ${noTool ? '-' : told(theirs)}`)
  if (!noTool) print1(`  ratio ${ratio.toFixed(1)} (at least ${one.atLeast})${misses ? '  MISSED' : ''}`)
  return misses ? 1 : 0
}

/** As bin/kafka-dump-log.sh and kafka-run-class.sh start it. */
function runTool(found: Corpus, args: readonly string[]): Promise<Measured> {
  const libs = found.libs
  const jvm = [
    '-Xmx256M',
    '-server',
    '-XX:+UseG1GC',
    '-XX:MaxGCPauseMillis=20',
    '-XX:InitiatingHeapOccupancyPercent=35',
  ]
  const env = {...process.env, CLASSPATH: classPathOf(libs)}
  const more = ['-XX:+ExplicitGCInvokesConcurrent', '-Djava.awt.headless=true']
  return measure(found.java, [...jvm, ...more, dumpLogClass(found.version), ...args], {env})
}

function runKx(args: readonly string[]): Promise<Measured> {
  return measure(process.execPath, [join(root, 'bin', 'kx.js'), 'dump-log', ...args])
}

/** What has no reference: bounds that are kx's own. */
async function bounds(found: Corpus, rounds: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'kx-bench-'))
  try {
    const tiny = join(folder, logName)
    writeFileSync(tiny, readFileSync(join(found.none, logName)).subarray(0, 16_000))
    const sparse = join(folder, '00000000000000000001.log')
    writeFileSync(sparse, readFileSync(join(found.none, logName)).subarray(0, 4_000_000))
    truncateSync(sparse, 5 * 1024 ** 3)
    appendFileSync(sparse, readFileSync(join(found.none, logName)).subarray(4_000_000, 8_000_000))
    const million = join(folder, '00000000000000000002.log')
    writeFileSync(million, manyRecords(1_000_000))
    const bomb = join(folder, '00000000000000000003.log')
    writeFileSync(bomb, bombOf(1024 ** 3))
    const large = join(found.large, logName)
    const runs: [string, string[], number, number][] = [
      ['tiny file', [tiny], 300, 150],
      [`--verify of ${(statSync(large).size / 1e9).toFixed(2)} GB`, ['--verify', large], 15_000, 150],
      ['1 GB, no flag', [large], Number.POSITIVE_INFINITY, 150],
      ['1 GB, --print-data-log', ['--print-data-log', large], Number.POSITIVE_INFINITY, 150],
      ['1 GB, -o ndjson deep', ['-o', 'ndjson', '--deep-iteration', large], Number.POSITIVE_INFINITY, 150],
      ['5 GiB with a hole', [sparse], Number.POSITIVE_INFINITY, 150],
      ['5 GiB with a hole, --verify', ['--verify', sparse], Number.POSITIVE_INFINITY, 150],
      ['1 M records in one batch', ['--print-data-log', million], Number.POSITIVE_INFINITY, 150],
      ['1 M records in one batch, --verify', ['--verify', million], Number.POSITIVE_INFINITY, 150],
      ['1 GiB of zeros in 1 MB of gzip', ['--print-data-log', bomb], Number.POSITIVE_INFINITY, 150],
    ]
    let missed = 0
    for (const [label, args, atMostMs, atMostMiB] of runs) {
      const measured: Measured[] = []
      for (let round = 0; round < (atMostMs < 1000 ? rounds : 1); round++) measured.push(await runKx(args))
      const one = median(measured)
      const misses = one.wallMs > atMostMs || one.peakMiB > atMostMiB
      print1(`${label.padEnd(36)} kx ${told(one)}${misses ? '  MISSED' : ''}`)
      missed += misses ? 1 : 0
    }
    return missed
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

function manyRecords(count: number): Buffer {
  const value = Buffer.from(
    'a value of the usual length, which is some ninety bytes in the records of this benchmark ....',
  )
  const one = (n: number) => ({timestamp: 1_700_000_000_000n + BigInt(n), key: null, value})
  return writeBatch({baseOffset: 0n, records: Array.from({length: count}, (_, n) => one(n))})
}

/** A batch whose records are nothing but zeros, very well compressed. */
function bombOf(plainBytes: number): Buffer {
  const stored = gzipSync(Buffer.alloc(plainBytes))
  const header = writeBatch({codec: 'gzip', records: [{timestamp: 0n, key: null, value: null}]}).subarray(0, 61)
  const batch = Buffer.concat([header, stored])
  batch.writeInt32BE(batch.length - 12, 8)
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17)
  return batch
}

function median(runs: readonly Measured[]): Measured {
  const of = (pick: (run: Measured) => number): number => summary(runs.map(pick))?.median ?? Number.NaN
  return {
    wallMs: of(({wallMs}) => wallMs),
    cpuMs: of(({cpuMs}) => cpuMs),
    peakMiB: of(({peakMiB}) => peakMiB),
    exit: runs[0]?.exit ?? null,
  }
}

function told({wallMs, cpuMs, peakMiB, exit}: Measured): string {
  return `${(wallMs / 1000).toFixed(2)} s, CPU ${(cpuMs / 1000).toFixed(2)} s, peak ${peakMiB.toFixed(0)} MiB, exit ${exit}`
}

function print1(text: string): void {
  process.stdout.write(`${text}\n`)
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
