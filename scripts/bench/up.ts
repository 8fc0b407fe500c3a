import {existsSync, mkdirSync, rmSync} from 'node:fs'
import {loadavg} from 'node:os'
import {join} from 'node:path'
import {parseArgs} from 'node:util'
import {execa} from 'execa'
import {findJava} from '../../src/cluster/local/java.js'
import {kafkaJvm} from '../../src/cluster/local/jvm.js'
import {LocalRuntime} from '../../src/cluster/local/runtime.js'
import {choosePorts} from '../../src/cluster/ports.js'
import {untilReady} from '../../src/cluster/ready.js'
import {type ClusterSpec, defaultSpec} from '../../src/cluster/spec.js'
import {clusterFolder, loadState} from '../../src/cluster/state.js'
import {duration} from '../../src/util/format.js'
import {summary} from '../../src/util/statistics.js'
import {bareCluster, cpuSecondsOf} from './bare.js'

interface Measured {
  readonly ms: number
  readonly cpuSeconds: number
}

const timeoutMs = 120_000
const signal = new AbortController().signal
const root = new URL('../..', import.meta.url).pathname
const name = `bench-${process.pid}`

/**
 * How long `kx up --runtime local` takes, beside the same JVMs started by a bare script: 3 brokers and 1 controller,
 * alternating, then 3 and 3. `--rounds` (3).
 */
export async function upBench(flags: readonly string[]): Promise<void> {
  const {values} = parseArgs({args: [...flags], options: {rounds: {type: 'string', default: '3'}}})
  const rounds = Number(values.rounds)
  if (!existsSync(join(root, 'dist', 'src', 'cli', 'main.js'))) {
    process.stderr.write('kx is measured as users run it: build it first, with npm run build.\n')
    process.exitCode = 2
    return
  }
  const small: ClusterSpec = {...defaultSpec, controllers: 1}
  say(`load average ${loadavg()[0]?.toFixed(1)}; warming the caches (jars, class archive, formatted folders)`)
  const {libs, archive} = await warm(small)
  const [bare, kx, large]: [Measured[], Measured[], Measured[]] = [[], [], []]
  for (let round = 1; round <= rounds; round++) {
    bare.push(note('bare script, 3 + 1', await measureBare(small, libs, archive)))
    kx.push(note('kx up, 3 + 1', await measureKx(small)))
  }
  for (let round = 1; round <= rounds; round++) large.push(note('kx up, 3 + 3', await measureKx(defaultSpec)))
  const [bareMs, kxMs, largeMs] = [bare, kx, large].map(runs => summary(runs.map(({ms}) => ms))?.median ?? 0) as [
    number,
    number,
    number,
  ]
  process.stdout.write(
    [
      `bare script, 3 brokers + 1 controller   median ${duration(bareMs)}   CPU ${cpu(bare)} s`,
      `kx up, 3 brokers + 1 controller         median ${duration(kxMs)}   CPU ${cpu(kx)} s`,
      `ratio ${(kxMs / bareMs).toFixed(2)} (at most 1.50)`,
      `kx up, 3 brokers + 3 controllers        median ${duration(largeMs)}   CPU ${cpu(large)} s (at most 20 s on an idle machine)`,
      '',
    ].join('\n'),
  )
  if (kxMs / bareMs > 1.5) process.exitCode = 1
}

/** One start that is not measured; says what the bare script needs. */
async function warm(spec: ClusterSpec): Promise<{readonly libs: string; readonly archive: string}> {
  const cluster = await new LocalRuntime().start({name, spec, ephemeral: true, signal, timeoutMs, progress: say})
  try {
    await untilReady(cluster, {timeoutMs, signal, progress: say})
    const {libs = '', archive = ''} = loadState(name)?.detail ?? {}
    return {libs, archive}
  } finally {
    await cluster.down({wipe: true})
  }
}

async function measureBare(spec: ClusterSpec, libs: string, archive: string): Promise<Measured> {
  const folder = clusterFolder(`${name}-bare`)
  mkdirSync(folder, {recursive: true})
  const jvm = kafkaJvm(await findJava(), spec.kafkaVersion, libs)
  const ports = await choosePorts({count: 9, name}, found => found)
  const bare = bareCluster({jvm, spec, ports, folder, archive})
  try {
    const begun = performance.now()
    const cluster = await bare.start()
    await untilReady(cluster, {timeoutMs, signal, progress: () => {}})
    return {ms: performance.now() - begun, cpuSeconds: bare.cpuSeconds()}
  } finally {
    await bare.kill()
    rmSync(folder, {recursive: true, force: true, maxRetries: 20, retryDelay: 100})
  }
}

async function measureKx(spec: ClusterSpec): Promise<Measured> {
  const kx = (...args: string[]) =>
    execa(process.execPath, [join(root, 'bin', 'kx.js'), ...args, '--name', name], {stdin: 'ignore'})
  try {
    const begun = performance.now()
    await kx('up', '--runtime', 'local', '--controllers', String(spec.controllers))
    const ms = performance.now() - begun
    const pids = loadState(name)?.nodes.map(({pid}) => pid ?? 0) ?? []
    return {ms, cpuSeconds: pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)}
  } finally {
    await kx('down', '--wipe')
  }
}

function note(what: string, measured: Measured): Measured {
  say(`${what}: ${duration(measured.ms)}, CPU of the nodes ${measured.cpuSeconds.toFixed(1)} s`)
  return measured
}

function cpu(runs: readonly Measured[]): string {
  return (summary(runs.map(({cpuSeconds}) => cpuSeconds))?.median ?? 0).toFixed(1)
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
