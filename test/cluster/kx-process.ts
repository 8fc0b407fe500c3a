import {type ChildProcess, execFileSync, spawn} from 'node:child_process'
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
import {within} from '../../src/util/until.js'

const kxJs = fileURLToPath(new URL('../../bin/kx.js', import.meta.url))

interface Ended {
  readonly stdout: string
  readonly stderr: string
  /** 130, …; `null` if a signal ended it. */
  readonly exit: number | null
}

/** A kx of its own, as a person starts it. */
class Kx {
  readonly #child: ChildProcess
  readonly #ended: Promise<Ended>
  #stderr = ''
  #look: () => void = () => undefined

  constructor(argv: readonly string[]) {
    this.#child = spawn(process.execPath, [kxJs, ...argv], {stdio: ['ignore', 'pipe', 'pipe']})
    let stdout = ''
    this.#child.stdout?.on('data', chunk => {
      stdout += chunk
    })
    this.#child.stderr?.on('data', chunk => {
      this.#stderr += chunk
      this.#look()
    })
    this.#ended = new Promise(resolve => {
      this.#child.once('close', exit => {
        this.#look()
        resolve({stdout, stderr: this.#stderr, exit})
      })
    })
  }

  /** Waits until it has said this on stderr. */
  async says(words: RegExp): Promise<void> {
    await within(
      `kx to say ${words}`,
      120_000,
      new Promise<void>((resolve, reject) => {
        this.#look = () => {
          if (words.test(this.#stderr)) resolve()
          else if (this.#child.exitCode !== null)
            reject(new Error(`it ended before it said ${words}:\n${this.#stderr}`))
        }
        this.#look()
      }),
    )
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
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
    for (const each of started) each.signal('SIGKILL')
    await kx('clean')
    await kx('down', '--name', 'life', '--wipe')
  })
  afterAll(() => {
    rmSync(home, {recursive: true, force: true, maxRetries: 10, retryDelay: 100})
    if (before === undefined) delete process.env.XDG_STATE_HOME
    else process.env.XDG_STATE_HOME = before
  })

  const begin = (...argv: string[]) => {
    const one = new Kx(argv)
    started.push(one)
    return one
  }
  const kx = (...argv: string[]) => begin(...argv).end()
  const json = async (...argv: string[]) => {
    const {stdout, stderr, exit} = await kx(...argv, '-o', 'json')
    expect(stdout, stderr).not.toBe('')
    return {value: JSON.parse(stdout) as unknown, exit}
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
    expect(schemas.up.schema.parse(up.value)).toMatchObject({
      name: 'life',
      runtime,
      ready: true,
      outcome: 'started',
      profile: 'fast',
    })
    expect(up.exit).toBe(0)

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

    const crashed = begin(...experiment('--name', 'life'))
    await crashed.says(blow)
    crashed.signal('SIGKILL')
    await crashed.end()
    const hurt = schemas.status.schema.parse((await json('status', '--name', 'life')).value)
    expect(hurt).toMatchObject({ready: false})
    const untouched = schemas.clean.schema.parse((await json('clean')).value)
    expect(untouched.removed.filter(({name}) => name === 'life')).toEqual([])
    const healed = schemas.heal.schema.parse((await json('heal')).value)
    expect(healed.map(({name, cures}) => [name, cures.length > 0])).toEqual([['life', true]])
    expect(schemas.status.schema.parse((await json('status')).value)).toMatchObject({name: 'life', ready: true})

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
      const one = begin('up', ...small)
      await one.says(phase)
      one.signal('SIGINT')
      const {stdout, stderr, exit} = await one.end()
      expect(stderr).toContain('Interrupted: cleaning up.')
      expect(stdout).toBe('')
      expect(exit, stderr).toBe(130)
      await expectNothingLeft()
    })
  })

  test('SIGTERM in the middle of a fault heals, removes the cluster, and leaves a run that can be read', async () => {
    const one = begin(...experiment('--fresh'))
    await one.says(blow)
    one.signal('SIGTERM')
    const {exit, stderr} = await one.end()
    expect(exit, stderr).toBe(130)
    expect(lastRun().state).toBe('interrupted')
    await expectNothingLeft()
  })

  test('kill -9 in the middle of a fault, and kx clean leaves nothing', async () => {
    const one = begin(...experiment('--fresh'))
    await one.says(blow)
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
