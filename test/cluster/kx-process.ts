import {type ChildProcess, execFileSync, spawn, spawnSync} from 'node:child_process'
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {RunRecord} from '../../src/experiment/run.js'
import {schemas} from '../../src/cli/schemas.js'
import {ownerLabel} from '../../src/cluster/docker/labels.js'
import {findProcesses} from '../../src/cluster/owner.js'
import type {RuntimeName} from '../../src/cluster/spec.js'
import {lockCluster} from '../../src/cluster/state.js'
import {until, within} from '../../src/util/until.js'

const kxJs = fileURLToPath(new URL('../../bin/kx.js', import.meta.url))

interface Ended {
  readonly stdout: string
  readonly stderr: string
  /** 130, …; `null` if a signal ended it. */
  readonly exit: number | null
}

/**
 * What makes a process stop itself (SIGSTOP) behind words on stderr. A signal that is sent then comes at that very point,
 * however fast the process and however slow the machine: without it the process has gone on, or is over.
 */
const stopping = (words: RegExp) => `
  const write = process.stderr.write.bind(process.stderr)
  let isOver = false
  process.stderr.write = (chunk, ...rest) => {
    const written = write(chunk, ...rest)
    if (!isOver && ${words}.test(String(chunk))) {
      isOver = true
      process.kill(process.pid, 'SIGSTOP')
    }
    return written
  }`

/** A kx of its own, as a person starts it; with `stopsAt` it stands still there until it gets a signal. */
class Kx {
  readonly #child: ChildProcess
  readonly #ended: Promise<Ended>
  #stderr = ''

  constructor(
    argv: readonly string[],
    private readonly stopsAt?: RegExp,
  ) {
    const before = stopsAt ? ['--import', `data:text/javascript,${encodeURIComponent(stopping(stopsAt))}`] : []
    this.#child = spawn(process.execPath, [...before, kxJs, ...argv], {stdio: ['ignore', 'pipe', 'pipe']})
    let stdout = ''
    this.#child.stdout?.on('data', chunk => {
      stdout += chunk
    })
    this.#child.stderr?.on('data', chunk => {
      this.#stderr += chunk
    })
    this.#ended = new Promise(resolve => {
      this.#child.once('close', exit => {
        resolve({stdout, stderr: this.#stderr, exit})
      })
    })
  }

  /** Waits until it stands still behind the words. */
  async stands(): Promise<void> {
    await until(
      `kx to say ${this.stopsAt}`,
      () => {
        if (this.#child.exitCode !== null) throw new Error(`it ended before it said ${this.stopsAt}:\n${this.#stderr}`)
        return this.#isStopped() || undefined
      },
      {timeoutMs: 240_000, missing: () => this.#stderr},
    )
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
    this.#child.kill('SIGCONT') // For one that stands still: only then the signal is delivered.
  }

  #isStopped(): boolean {
    const {pid} = this.#child
    return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], {encoding: 'utf8'})
      .stdout.trim()
      .startsWith('T')
  }

  end(): Promise<Ended> {
    return within('kx to end', 180_000, this.#ended)
  }
}

/** What a person does with clusters, by processes of kx: the same on each runtime. */
export function lifeOnA(
  runtime: RuntimeName,
  {phases, blow}: {readonly phases: readonly RegExp[]; readonly blow: RegExp},
): void {
  const before = process.env.XDG_STATE_HOME
  let home: string
  let started: Kx[] = []
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'kx-life-'))
    process.env.XDG_STATE_HOME = join(home, 'state')
  })
  beforeEach(() => {
    started = []
  })
  afterEach(async () => {
    for (const each of started) {
      each.signal('SIGKILL')
      await each.end() // One that still lives has its clusters, and `clean` leaves them to it.
    }
    await kx('clean')
    await kx('down', '--name', 'life', '--wipe')
  })
  afterAll(() => {
    rmSync(home, {recursive: true, force: true, maxRetries: 10, retryDelay: 100})
    if (before === undefined) delete process.env.XDG_STATE_HOME
    else process.env.XDG_STATE_HOME = before
  })

  const begin = (argv: readonly string[], stopsAt?: RegExp) => {
    const one = new Kx(argv, stopsAt)
    started.push(one)
    return one
  }
  const standing = async (stopsAt: RegExp, argv: readonly string[]) => {
    const one = begin(argv, stopsAt)
    await one.stands()
    return one
  }
  const kx = (...argv: string[]) => begin(argv).end()
  const json = async (...argv: string[]) => {
    const {stdout, stderr, exit} = await kx(...argv, '-o', 'json')
    expect(stdout, stderr).not.toBe('')
    return {value: JSON.parse(stdout) as unknown, stderr, exit}
  }
  const small = ['--runtime', runtime, '--controllers', '1', '--profile', 'fast', '--name', 'life']
  const results = () => join(home, 'results')
  const experiment = (...flags: string[]) => [
    'experiment',
    'data-loss',
    '--quick',
    '--runtime',
    runtime,
    '--profile',
    'fast',
    '--results',
    results(),
    ...flags,
  ]

  /** It is said after one look, for which a busy machine may be too slow. */
  async function untilReady(): Promise<void> {
    const look = async () => {
      const said = schemas.status.schema.parse((await json('status')).value)
      expect(said).toMatchObject({name: 'life'})
      return 'ready' in said && said.ready ? true : undefined
    }
    await until('the cluster to be ready', look, {timeoutMs: 60_000})
  }

  async function expectNothingLeft(): Promise<void> {
    const clusters = join(home, 'state/kx/clusters')
    expect(existsSync(clusters) ? readdirSync(clusters) : []).toEqual([])
    expect((await findProcesses(clusters)).map(({commandLine}) => commandLine)).toEqual([])
    if (runtime === 'docker') expect(dockerThings()).toEqual([])
  }

  function lastRun(): RunRecord {
    const id = readFileSync(join(results(), 'data-loss/latest'), 'utf8').trim()
    return schemas.run.schema.parse(JSON.parse(readFileSync(join(results(), 'data-loss', id, 'run.json'), 'utf8')))
  }

  test('up, up again, another spec, busy, kill -9 in a fault, heal, down, up again, wiped', async () => {
    const up = await json('up', ...small)
    expect(up, up.stderr).toMatchObject({exit: 0})
    expect(schemas.up.schema.parse(up.value)).toMatchObject({
      name: 'life',
      runtime,
      ready: true,
      outcome: 'started',
      profile: 'fast',
    })
    const again = await kx('up', ...small)
    expect(again.stderr).toContain('Cluster life runs already.')
    expect(again.stdout).toContain('Cluster life is ready')
    expect(again.exit).toBe(0)
    const other = await json('up', ...small, '--brokers', '5')
    expect(schemas.error.schema.parse(other.value).error).toMatchObject({code: 'KX_OTHER_SPEC', exit: 2})

    const lock = await lockCluster('life', 'another experiment')
    const busy = await json(...experiment('--name', 'life'))
    lock[Symbol.dispose]()
    expect(schemas.error.schema.parse(busy.value).error).toMatchObject({code: 'KX_CLUSTER_BUSY', exit: 4})
    expect(busy.exit).toBe(4)

    const crashed = await standing(blow, experiment('--name', 'life'))
    crashed.signal('SIGKILL')
    await crashed.end()
    const hurt = schemas.status.schema.parse((await json('status', '--name', 'life')).value)
    expect(hurt).toMatchObject({ready: false})
    const untouched = schemas.clean.schema.parse((await json('clean')).value)
    expect(untouched.removed.filter(({name}) => name === 'life')).toEqual([])
    const healed = schemas.heal.schema.parse((await json('heal')).value)
    expect(healed.map(({name, cures}) => [name, cures.length > 0])).toEqual([['life', true]])
    expect(healed.flatMap(({topics}) => topics.map(topic => topic.replace(/-[0-9a-f]{4}-/, '-x-'))).sort()).toEqual([
      'kx-data-loss-x-1-acks1',
      'kx-data-loss-x-1-acksAll',
    ])
    await untilReady()

    expect((await json('down', '--name', 'life')).value).toEqual({name: 'life', wiped: false, wasRunning: true})
    const stopped = schemas.status.schema.parse((await json('status')).value)
    expect(stopped).toMatchObject({phase: 'down', ready: false})
    expect(schemas.up.schema.parse((await json('up', '--name', 'life')).value)).toMatchObject({
      outcome: 'restarted',
      ready: true,
      profile: 'fast',
    })
    expect((await json('down', '--name', 'life', '--wipe')).value).toEqual({
      name: 'life',
      wiped: true,
      wasRunning: true,
    })
    await expectNothingLeft()
  })

  describe('a signal during the start of a cluster leaves nothing', () => {
    test.each(phases)('when it has said %s', async phase => {
      const one = await standing(phase, ['up', ...small])
      one.signal('SIGINT')
      const {stdout, stderr, exit} = await one.end()
      expect(stderr).toContain('Interrupted: cleaning up.')
      expect(stdout).toBe('')
      expect(exit, stderr).toBe(130)
      await expectNothingLeft()
    })
  })

  test('SIGTERM in the middle of a fault heals, removes the cluster, and leaves a run that can be read', async () => {
    const one = await standing(blow, experiment('--fresh'))
    one.signal('SIGTERM')
    const {exit, stderr} = await one.end()
    expect(exit, stderr).toBe(130)
    expect(lastRun().state).toBe('interrupted')
    await expectNothingLeft()
  })

  test('kill -9 in the middle of a fault, and kx clean leaves nothing', async () => {
    const one = await standing(blow, experiment('--fresh'))
    one.signal('SIGKILL')
    await one.end()
    const {removed} = schemas.clean.schema.parse((await json('clean')).value)
    expect(removed.map(({name}) => name.slice(0, 2))).toEqual(['x-'])
    expect(lastRun().state).toBe('running')
    await expectNothingLeft()
  })
}

function dockerThings(): string[] {
  const filter = ['--filter', `label=kx.owner=${ownerLabel()}`]
  const lists = [
    ['ps', '-aq'],
    ['network', 'ls', '-q'],
    ['volume', 'ls', '-q'],
  ]
  return lists.flatMap(list =>
    execFileSync('docker', [...list, ...filter])
      .toString()
      .split('\n')
      .filter(Boolean),
  )
}
