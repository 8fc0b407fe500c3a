import {spawn} from 'node:child_process'
import {cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import commands from '../commands/index.js'
import {KxCommand} from '../src/cli/base-command.js'
import {jsonSchema, schemas} from '../src/cli/schemas.js'
import type {ClusterState} from '../src/cluster/cluster.js'
import {defaultSpec} from '../src/cluster/spec.js'
import {lockCluster, saveState} from '../src/cluster/state.js'
import {experimentNames} from '../src/lab/experiments.js'
import {inWorld, kx, root} from './cli-harness.js'

let folder: string
let cure: () => void
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-cli-'))
  cure = inWorld({HOME: folder, XDG_STATE_HOME: join(folder, 'state'), XDG_CACHE_HOME: join(folder, 'cache')})
})
afterEach(() => {
  cure()
  rmSync(folder, {recursive: true, force: true})
})

/** A machine on which nothing can run: neither docker nor java is found. */
function withoutRuntimes(): void {
  mkdirSync(join(folder, 'bin'), {recursive: true})
  process.env.PATH = join(folder, 'bin')
  delete process.env.JAVA_HOME
}

/** A cluster as it stands in the state folder, none of whose processes run. */
function standing(name: string, change: Partial<ClusterState> = {}): void {
  saveState({
    schema: 'kx/cluster/1',
    name,
    runtime: 'local',
    spec: defaultSpec,
    clusterId: 'AAAAAAAAAAAAAAAAAAAAAA',
    ephemeral: false,
    owner: {pid: 1, startTime: 'long ago', user: 'somebody', host: 'elsewhere'},
    createdAt: '2026-01-01T00:00:00.000Z',
    phase: 'down',
    nodes: [{nodeId: 1, roles: ['broker'], address: '127.0.0.1:19999', logDir: join(folder, 'data'), down: 'stopped'}],
    detail: {folder: join(folder, 'state/kx/clusters', name), java: 'java', libs: '', archive: '', ports: '19999'},
    ...change,
  })
}

const clusters = () => join(folder, 'state/kx/clusters')
const errorOf = (stdout: string) => schemas.error.schema.parse(JSON.parse(stdout)).error

describe('the table of commands', () => {
  test('has one command per file of experiments/', () => {
    const files = readdirSync(`${root}experiments`).map(file => file.replace(/\.ts$/, ''))
    expect(experimentNames()).toEqual(files.sort())
    for (const name of files) expect(Object.keys(commands)).toContain(`experiment:${name}`)
  })

  test('is this, with these flags', async () => {
    const lines = Object.entries(commands).map(([id, command]) => {
      const flags = Object.entries(command.flags ?? {}).map(
        ([name, flag]) => `--${name}${flag.char ? `, -${flag.char}` : ''}`,
      )
      return [
        `kx ${id.replaceAll(':', ' ')}`,
        ...Object.keys(command.args ?? {}).map(name => `  <${name}>`),
        ...flags.sort().map(flag => `  ${flag}`),
      ]
    })
    const common = Object.keys(KxCommand.baseFlags).map(name => `  --${name}`)
    await expect(['every command', ...common, ...lines.flat(), ''].join('\n')).toMatchFileSnapshot(
      'golden/cli/commands.txt',
    )
  })

  test('each says in one line what it does, in some words more how, and never begins with its own name', () => {
    for (const [id, {summary = '', examples = []}] of Object.entries(commands)) {
      expect(summary.length, id).toBeGreaterThan(10)
      expect(summary, id).not.toMatch(/\n|\.$/)
      expect(examples.length, id).toBeGreaterThan(0)
    }
  })
})

describe('wrong use exits 2 and says what to type', () => {
  test.each([
    [
      'an unknown flag',
      ['up', '--nam', 'x'],
      'Error: Unknown flag: --nam.\nTry:   Did you mean --name?\n       kx up --help\n',
    ],
    ['a flag without its value', ['up', '--brokers'], 'Error: Flag --brokers expects a value.\nTry:   kx up --help\n'],
    [
      'too many brokers',
      ['up', '--brokers', '12'],
      'Error: --brokers: Expected an integer less than or equal to 9 but received: 12.\nTry:   kx up --help\n',
    ],
    [
      'no number',
      ['up', '--brokers', 'three'],
      'Error: --brokers: Expected an integer but received: three.\nTry:   kx up --help\n',
    ],
    ['no size', ['up', '--heap', 'big'], 'Error: --heap: "big" is no size; write 384m or 1g.\nTry:   kx up --help\n'],
    [
      'no duration',
      ['up', '--timeout', 'soon'],
      'Error: --timeout: "soon" is no duration; write 90s, 2m or 1m30s.\nTry:   kx up --help\n',
    ],
    [
      'no setting',
      ['up', '--config', 'x'],
      'Error: --config: "x" is no setting; write name=value.\nTry:   kx up --help\n',
    ],
    [
      'an unknown runtime',
      ['up', '--runtime', 'podman'],
      'Error: Expected --runtime=podman to be one of: auto, docker, local.\nTry:   kx up --help\n',
    ],
    ['an argument too many', ['status', 'default'], 'Error: Unexpected argument: default.\nTry:   kx status --help\n'],
    [
      'a knob out of range',
      ['experiment', 'data-loss', '--records', '0'],
      'Error: --records: Expected an integer greater than or equal to 1 but received:\n0.\nTry:   kx experiment data-loss --help\n',
    ],
    [
      'no cluster of that name',
      ['down', '--name', 'nobody'],
      'Error: There is no cluster nobody.\nTry:   kx up starts one.\n',
    ],
    [
      'an old Kafka',
      ['up', '--kafka-version', '3.9.0'],
      'Error: Kafka 3.9.0 is older than 4.0: kx starts KRaft clusters of Kafka 4 and\nlater only.\nTry:   Take one of 4.0.2, 4.1.2, 4.2.2, 4.3.1, 4.4.0.\n',
    ],
    [
      'an experiment on an old Kafka',
      ['experiment', 'failover', '--kafka-version', '3.9.0'],
      'Error: Kafka 3.9.0 is older than 4.0: kx starts KRaft clusters of Kafka 4 and\nlater only.\nTry:   Take one of 4.0.2, 4.1.2, 4.2.2, 4.3.1, 4.4.0.\n',
    ],
    [
      'no version',
      ['up', '--kafka-version', 'latest'],
      'Error: "latest" is no Kafka version that kx knows.\nTry:   Take one of 4.0.2, 4.1.2, 4.2.2, 4.3.1, 4.4.0, or a full version such as\n       4.4.1.\n',
    ],
  ])('%s', async (_, argv, stderr) => {
    expect(await kx(...argv)).toEqual({stdout: '', stderr, exit: 2})
  })

  test('two flags that exclude each other', async () => {
    const {stderr, exit} = await kx('up', '--combined', '--controllers', '3')
    expect(stderr).toContain('--combined cannot also be provided when using --controllers')
    expect(exit).toBe(2)
  })

  test('an experiment without a name that is left out', async () => {
    const {stdout, stderr, exit} = await kx('experiment', 'show')
    expect(stdout).toBe('')
    expect(stderr).toContain('Missing 1 required arg')
    expect(exit).toBe(2)
  })

  test('an experiment that does not exist', async () => {
    const {stderr, exit} = await kx('experiment', 'show', 'data-los')
    expect(stderr).toMatch(/^Error: There is no experiment "data-los"\.\nTry: {3}/)
    expect(exit).toBe(2)
  })

  test.each(['', ' ', '..', '../x', 'A', 'a b', 'ü', 'a/b', '-a', 'x'.repeat(64), 'a\u0000b'])(
    'the odd cluster name %j',
    async name => {
      const {stdout, exit} = await kx('up', '-o', 'json', `--name=${name}`)
      expect(errorOf(stdout)).toMatchObject({kind: 'usage', code: 'KX_CLUSTER_NAME', exit: 2})
      expect(exit).toBe(2)
      expect(existsSync(clusters())).toBe(false)
    },
  )

  test.each([
    ['a distribution in Docker', ['--runtime', 'docker', '--kafka-home', '/opt/kafka']],
    ['an image without Docker', ['--runtime', 'local', '--image', 'apache/kafka:4.4.0']],
    ['both', ['--kafka-home', '/opt/kafka', '--image', 'apache/kafka:4.4.0']],
  ])('flags of the other runtime: %s', async (_, flags) => {
    const {stdout, exit} = await kx('up', '-o', 'json', ...flags)
    expect(errorOf(stdout)).toMatchObject({kind: 'usage', exit: 2})
    expect(exit).toBe(2)
    expect(readdirSync(clusters())).toEqual([])
  })
})

describe('with -o json stdout is exactly one value, also when it goes wrong', () => {
  test.each([[['--json']], [['-o', 'json']], [['-o=json']], [['-ojson']], [['--output', 'json']], [['--output=json']]])(
    '%j before a wrong flag',
    async flags => {
      const {stdout, stderr, exit} = await kx('status', ...flags, '--foo')
      expect(errorOf(stdout)).toEqual({
        kind: 'usage',
        code: 'KX_USAGE',
        message: 'Unknown flag: --foo.',
        suggestions: ['kx status --help'],
        cause: null,
        exit: 2,
      })
      expect(stderr).toBe('')
      expect(exit).toBe(2)
    },
  )

  test('yaml too', async () => {
    const {stdout, exit} = await kx('status', '-o', 'yaml', '--name', 'nobody')
    expect(stdout).toBe(
      'error:\n  kind: usage\n  code: KX_NO_CLUSTER\n  message: There is no cluster nobody.\n  suggestions:\n    - kx up starts one.\n  cause: null\n  exit: 2\n',
    )
    expect(exit).toBe(2)
  })

  test('KX_OUTPUT asks for it too, and a flag wins over the variable', async () => {
    process.env.KX_OUTPUT = 'json'
    expect((await kx('status')).stdout).toBe('[]\n')
    expect((await kx('status', '-o', 'text')).stdout).toBe('No cluster is known here. Next  kx up\n')
  })
})

describe('what is preset', () => {
  test('goes through the same checks as a flag, and the error says where it comes from', async () => {
    process.env.KX_RUNTIME = 'podman'
    const {stdout, exit} = await kx('up', '--json')
    expect(errorOf(stdout).message).toBe(
      'Expected --runtime=podman to be one of: auto, docker, local (--runtime comes from KX_RUNTIME).',
    )
    expect(exit).toBe(2)
  })

  test('yields to a flag that excludes it', async () => {
    withoutRuntimes()
    process.env.KX_CONTROLLERS = '3'
    const {stdout} = await kx('up', '--json', '--combined')
    expect(errorOf(stdout).code).toBe('KX_NO_RUNTIME')
  })

  test('may be a switch', async () => {
    process.env.KX_NO_PROGRESS = 'false'
    expect((await kx('status')).exit).toBe(0)
    process.env.KX_NO_PROGRESS = '1'
    expect((await kx('status')).exit).toBe(0)
  })
})

describe('the machine is not as it should be: exit 4, one paragraph, nothing left', () => {
  test('neither Docker nor Java', async () => {
    withoutRuntimes()
    const {stdout, stderr, exit} = await kx('up')
    expect(stdout).toBe('')
    expect(stderr).toBe(
      'Error: No cluster can be started on this machine. Docker: There is no "docker"\ncommand on the PATH. Local: Kafka needs a Java runtime, and there is no java in\nJAVA_HOME or the PATH.\nTry:   kx doctor says what is missing and how to get it.\n',
    )
    expect(exit).toBe(4)
    expect(readdirSync(clusters())).toEqual([])
  })

  test('an experiment says the same, and leaves no run behind', async () => {
    withoutRuntimes()
    const {stdout, stderr, exit} = await kx(
      'experiment',
      'data-loss',
      '--quick',
      '-o',
      'json',
      '--results',
      join(folder, 'results'),
    )
    expect(errorOf(stdout)).toMatchObject({kind: 'environment', code: 'KX_NO_RUNTIME', exit: 4})
    expect(stderr).toContain('about')
    expect(exit).toBe(4)
    expect(
      readdirSync(join(folder, 'results'))
        .filter(name => name !== '.gitignore')
        .flatMap(name => readdirSync(join(folder, 'results', name))),
    ).toEqual([])
  })

  test('results that cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '')
    const {stdout, exit} = await kx('experiment', 'data-loss', '-o', 'json', '--results', join(folder, 'file/results'))
    expect(errorOf(stdout)).toMatchObject({
      kind: 'environment',
      code: 'KX_RESULTS',
      exit: 4,
      suggestions: ['Give another folder with --results DIR.'],
    })
    expect(exit).toBe(4)
  })

  test('a state folder that cannot be written', async () => {
    writeFileSync(join(folder, 'state'), '')
    const {stdout, exit} = await kx('up', '-o', 'json')
    expect(errorOf(stdout)).toMatchObject({kind: 'environment', code: 'KX_STATE_FOLDER', exit: 4})
    expect(exit).toBe(4)
  })

  test('two at work on one cluster', async () => {
    standing('default')
    using _lock = await lockCluster('default', 'kx experiment data-loss')
    for (const command of ['up', 'down', 'heal']) {
      const {stdout, exit} = await kx(command, '--name', 'default', '-o', 'json')
      expect(errorOf(stdout).message).toContain('kx experiment data-loss')
      expect(errorOf(stdout)).toMatchObject({code: 'KX_CLUSTER_BUSY', exit: 4})
      expect(exit).toBe(4)
    }
  })
})

describe('clusters in the state folder', () => {
  test('one is told as an object, several as a list, in the order of their names', async () => {
    standing('b')
    const one = schemas.status.schema.parse(JSON.parse((await kx('status', '-o', 'json')).stdout))
    expect(one).toEqual({
      name: 'b',
      runtime: 'local',
      kafkaVersion: '4.4.0',
      newerThanKnown: false,
      profile: 'default',
      phase: 'down',
      ephemeral: false,
      ready: false,
      missing: 'It is stopped; kx up starts it again.',
      bootstrapServers: '127.0.0.1:19999',
      nodes: [{nodeId: 1, roles: ['broker'], state: 'stopped', address: '127.0.0.1:19999'}],
      controllerId: null,
    })
    standing('a')
    const all = schemas.status.schema.parse(JSON.parse((await kx('status', '-o', 'json')).stdout))
    expect(Array.isArray(all) && all.map(({name}) => name)).toEqual(['a', 'b'])
    expect((await kx('status')).stdout).toBe(
      'name  state    kafka  runtime  nodes  bootstrap servers\na     stopped  4.4.0  local        1  127.0.0.1:19999\nb     stopped  4.4.0  local        1  127.0.0.1:19999\n',
    )
  })

  test('a version newer than all that kx was tried with is said to be', async () => {
    standing('default', {spec: {...defaultSpec, kafkaVersion: '9.1.0'}})
    expect((await kx('status')).stdout.split('\n')[0]).toBe(
      'Cluster default is stopped: Kafka 9.1.0 (newer than this kx knows), local, 1 combined node, profile default.',
    )
  })

  test('up with another spec says what differs, and touches nothing', async () => {
    standing('default')
    const {stdout, exit} = await kx('up', '--brokers', '5', '--profile', 'fast', '--runtime', 'docker', '-o', 'json')
    expect(errorOf(stdout).message).toBe(
      'Cluster default exists and is another one: runtime is local, asked for docker, brokers is 3, asked for 5 and profile is default, asked for fast.',
    )
    expect(errorOf(stdout)).toMatchObject({code: 'KX_OTHER_SPEC', exit: 2})
    expect(exit).toBe(2)
    expect(readdirSync(join(clusters(), 'default'))).toEqual(['cluster.json'])
  })

  test('down on a stopped one says so; --wipe removes it', async () => {
    standing('default')
    expect(await kx('down', '--no-progress')).toEqual({
      stdout: 'Cluster default was not running; its data are kept. kx up starts it again, kx down --wipe deletes it.\n',
      stderr: '',
      exit: 0,
    })
    expect(JSON.parse((await kx('down', '--json')).stdout)).toEqual({name: 'default', wiped: false, wasRunning: false})
    const wiped = await kx('down', '--wipe', '-o', 'json')
    expect(schemas.down.schema.parse(JSON.parse(wiped.stdout))).toEqual({
      name: 'default',
      wiped: true,
      wasRunning: false,
    })
    expect(readdirSync(clusters())).toEqual([])
  })

  test('a damaged state names its file and the cure, and the cure works', async () => {
    withoutRuntimes()
    standing('default')
    writeFileSync(join(clusters(), 'default/cluster.json'), '{"schema":')
    const {stdout, exit} = await kx('status', '--name', 'default', '-o', 'json')
    expect(errorOf(stdout)).toMatchObject({
      code: 'KX_CLUSTER_STATE',
      exit: 4,
      suggestions: ['Remove the cluster and its data: kx down --name default --wipe'],
    })
    expect(exit).toBe(4)
    expect((await kx('status', '-o', 'json')).stdout).toBe('[]\n')
    expect((await kx('status')).stderr).toMatch(/^Warning: The state of cluster "default" in .* is damaged/)
    expect((await kx('down', '--name', 'default', '--wipe')).exit).toBe(0)
    expect(readdirSync(clusters())).toEqual([])
  })

  test('clean takes only ephemeral and half-started ones whose kx is gone for certain', async () => {
    withoutRuntimes()
    const {hostname} = await import('node:os')
    const gone = {pid: 2 ** 22, startTime: 'never', user: 'me', host: hostname()}
    standing('made-by-up', {owner: gone})
    standing('never-came-up', {owner: gone, phase: 'starting'})
    standing('x-1', {owner: gone, ephemeral: true})
    standing('x-2', {ephemeral: true})
    mkdirSync(join(clusters(), 'empty'))
    const {stdout, exit} = await kx('clean', '-o', 'json', '--no-progress')
    const {removed, kept} = schemas.clean.schema.parse(JSON.parse(stdout))
    expect(removed.map(({name}) => name)).toEqual(['never-came-up', 'x-1', 'empty'])
    expect(kept).toEqual([{name: 'x-2', why: 'it was made for one run, and its kx (pid 1) on elsewhere may still run'}])
    expect(exit).toBe(0)
    expect(readdirSync(clusters())).toEqual(['made-by-up', 'x-2'])
  })

  test('one whose engine is gone does not hide the others', async () => {
    const detail = {
      host: `unix://${folder}/no.sock`,
      source: 'test',
      project: 'kx-far',
      image: 'kx/kafka:4.4.0',
      file: 'none',
      owner: 'me',
    }
    const nodes = [
      {nodeId: 1, roles: ['broker' as const], address: '127.0.0.1:19998', container: 'kx-far-1', logDir: '/data'},
    ]
    standing('far', {runtime: 'docker', detail, nodes, phase: 'up'})
    standing('near')
    const all = schemas.status.schema.parse(JSON.parse((await kx('status', '-o', 'json')).stdout))
    expect(all).toMatchObject([
      {name: 'far', ready: false, nodes: [], bootstrapServers: '127.0.0.1:19998'},
      {name: 'near', ready: false, phase: 'down'},
    ])
    expect(Array.isArray(all) && all[0]?.missing).toContain('no.sock')
    const named = await kx('status', '--name', 'far', '-o', 'json')
    expect(errorOf(named.stdout)).toMatchObject({kind: 'environment', exit: 4})
    expect(named.exit).toBe(4)
  })

  test('heal has nothing to do where nothing is meant to run', async () => {
    standing('default')
    expect(await kx('heal')).toEqual({stdout: 'No cluster is meant to be running.\n', stderr: '', exit: 0})
    expect((await kx('heal', '-o', 'json')).stdout).toBe('[]\n')
  })
})

describe('the doctor', () => {
  test('finds nothing to start a cluster with, says so, and exits 4', async () => {
    withoutRuntimes()
    const {stdout, exit} = await kx('doctor', '-o', 'json', '--results', join(folder, 'results'))
    const {healthy, findings} = schemas.doctor.schema.parse(JSON.parse(stdout))
    expect(healthy).toBe(false)
    expect(findings.filter(({level}) => level === 'problem').map(({id}) => id)).toEqual(
      expect.arrayContaining(['java', 'runtime']),
    )
    expect(exit).toBe(4)
    expect(existsSync(join(folder, 'results'))).toBe(false)
    const text = await kx('doctor')
    expect(text.stdout).toContain('✘ runtime')
    expect(text.stdout.split('\n').filter(line => line.length > 80)).toEqual([])
  })

  test('fixes only what it can', async () => {
    expect((await kx('doctor', '--fix', 'everything')).exit).toBe(2)
  })
})

describe('lab notes', () => {
  test('list, for people and for programs', async () => {
    const {stdout} = await kx('experiment', 'list', '-o', 'json')
    expect(schemas['experiment-list'].schema.parse(JSON.parse(stdout)).map(({name}) => name)).toEqual(experimentNames())
    const text = (await kx('experiment', 'list')).stdout
    expect(text.split('\n').every(line => line.length <= 80)).toBe(true)
  })

  test.each(experimentNames())('show %s fits 80 columns, and its JSON the schema', async name => {
    const {stdout} = await kx('experiment', 'show', name, '-o', 'json')
    expect(schemas.experiment.schema.parse(JSON.parse(stdout)).name).toBe(name)
    const text = (await kx('experiment', 'show', name)).stdout
    expect(text.split('\n').filter(line => line.length > 80)).toEqual([])
  })

  test('no results, no run', async () => {
    const results = join(folder, 'results')
    expect(await kx('results', 'list', '--results', results)).toEqual({
      stdout: `No runs in ${results}. Next  kx experiment data-loss\n`,
      stderr: '',
      exit: 0,
    })
    const {stdout, exit} = await kx('results', 'show', 'data-loss', '--results', results, '-o', 'json')
    expect(errorOf(stdout)).toMatchObject({code: 'KX_NO_RUN', exit: 2})
    expect(exit).toBe(2)
  })
})

describe('stored runs', () => {
  const reference = `${root}results/reference`
  const runs = readdirSync(reference, {withFileTypes: true})
    .filter(entry => entry.isDirectory())
    .map(({name}) => name)
  /** A copy that may be changed. */
  const copied = (experiment: string): string => {
    cpSync(join(reference, experiment), join(folder, 'results', experiment), {recursive: true})
    const id = readFileSync(join(folder, 'results', experiment, 'latest'), 'utf8').trim()
    return join(folder, 'results', experiment, id)
  }
  const results = () => ['--results', join(folder, 'results')]

  test('there is one of every experiment', () => {
    expect(runs.sort()).toEqual(experimentNames())
  })

  test('are listed, newest first', async () => {
    const {stdout} = await kx('results', 'list', '--results', reference, '-o', 'json')
    const listed = schemas.results.schema.parse(JSON.parse(stdout))
    expect(listed.map(({experiment}) => experiment).sort()).toEqual(runs)
    expect(listed.map(({startedAt}) => startedAt)).toEqual([...listed.map(({startedAt}) => startedAt)].sort().reverse())
    const text = (await kx('results', 'list', '--results', reference)).stdout
    expect(text.split('\n')[0]).toMatch(/^run +started +verdict +trials +kafka +runtime$/)
    expect(text.split('\n')).toHaveLength(runs.length + 2)
  })

  test.each(runs)('%s can be shown, and its JSON is what the schema says', async experiment => {
    const {stdout, exit} = await kx('results', 'show', experiment, '--results', reference, '-o', 'json')
    expect(schemas.run.schema.parse(JSON.parse(stdout))).toMatchObject({experiment, state: 'done'})
    expect(exit).toBe(0)
    const text = (await kx('results', 'show', experiment, '--results', reference)).stdout
    expect(text).toMatch(/^(UPHELD|REFUTED|INCONCLUSIVE) on Kafka /m)
    expect(text.split('\n').filter(line => line.length > 80 && !/^(Report|Next)/.test(line))).toEqual([])
  })

  test.each(runs)('%s is judged again, with the exit code of its verdict and fresh reports', async experiment => {
    const dir = copied(experiment)
    rmSync(join(dir, 'report.html'), {force: true})
    const {stdout, exit} = await kx('results', 'rejudge', experiment, ...results(), '-o', 'json')
    const {run} = schemas.rejudge.schema.parse(JSON.parse(stdout))
    expect(exit).toBe({upheld: 0, refuted: 1, inconclusive: 3}[run.verdict.outcome])
    expect(readFileSync(join(dir, 'report.html'), 'utf8')).toContain(run.question.slice(0, 20))
    expect(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8'))).toMatchObject({
      dir: '.',
      verdict: {outcome: run.verdict.outcome},
    })
  })

  test('without its control it is inconclusive, exits 3, and says what it was', async () => {
    const dir = copied('data-loss')
    const lines = readFileSync(join(dir, 'trials.jsonl'), 'utf8').split('\n')
    writeFileSync(join(dir, 'trials.jsonl'), lines.filter(line => !line.includes('"condition":"healed"')).join('\n'))
    const {stdout, exit} = await kx('results', 'rejudge', 'data-loss', ...results())
    expect(stdout).toContain('the verdict was upheld and is inconclusive now')
    expect(exit).toBe(3)
  })

  test('a damaged one is input that cannot be read: exit 5', async () => {
    writeFileSync(join(copied('data-loss'), 'run.json'), '{')
    const {stdout, exit} = await kx('results', 'show', 'data-loss', ...results(), '-o', 'json')
    expect(errorOf(stdout)).toMatchObject({kind: 'input', code: 'KX_RUN_DAMAGED', exit: 5})
    expect(exit).toBe(5)
  })
})

describe('a process of its own', () => {
  test('its help is this', async () => {
    const {stdout, exit} = await started('node', ['--import', 'tsx', 'test/print-help.ts'])
    expect(exit).toBe(0)
    await expect(stdout).toMatchFileSnapshot('golden/cli/help.txt')
  })

  test('a reader that goes away is no error', async () => {
    const {stdout, stderr} = await started('bash', [
      '-c',
      'set -o pipefail; node bin/dev.js --help | head -1; echo "exit $?"',
    ])
    expect(stdout).toBe(
      'A lab for Apache Kafka: real clusters, experiments with a verdict, and a reader of segment files\nexit 0\n',
    )
    expect(stderr).toBe('')
  })

  test.runIf(existsSync('/dev/full'))('an answer that cannot be written is an error', async () => {
    const {stderr, exit} = await started('bash', ['-c', 'node bin/dev.js status > /dev/full'])
    expect(stderr).toContain("the answer can't be written to stdout")
    expect(exit).toBe(4)
  })

  test.each([
    [
      ['experiment', 'data-los'],
      'Error: There is no command "kx experiment data-los".\nTry:   Did you mean kx experiment data-loss or kx experiment natural-loss?\n',
    ],
    [['stauts'], 'Error: There is no command "kx stauts".\nTry:   Did you mean kx status?\n'],
    [['frobnicate'], 'Error: There is no command "kx frobnicate".\nTry:   kx --help lists all commands.\n'],
  ])('an unknown command exits 2: kx %j', async (argv, stderr) => {
    expect(await started('node', ['bin/dev.js', ...argv])).toEqual({stdout: '', stderr, exit: 2})
  })

  test('an unknown command with -o json is one value on stdout', async () => {
    const {stdout, stderr, exit} = await started('node', ['bin/dev.js', 'stauts', '-o', 'json'])
    expect(errorOf(stdout)).toMatchObject({code: 'KX_NO_COMMAND', exit: 2})
    expect(stderr).toBe('')
    expect(exit).toBe(2)
  })

  test('--version says what this is', async () => {
    const {version} = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {version: string}
    const {stdout} = await started('node', ['bin/dev.js', '--version'])
    expect(stdout).toBe(`kx ${version} (${process.platform}-${process.arch}, node ${process.version})\n`)
  })
})

test.each(Object.keys(schemas) as (keyof typeof schemas)[])(
  'schemas/%s.json is what its definition says',
  async name => {
    await expect(jsonSchema(name)).toMatchFileSnapshot(`../schemas/${name}.json`)
  },
)

async function started(command: string, args: readonly string[]) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {...process.env, NODE_ENV: undefined, VITEST: undefined},
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', chunk => out.push(chunk))
  child.stderr.on('data', chunk => err.push(chunk))
  const exit = await new Promise<number | null>(resolve => child.once('close', resolve))
  return {stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), exit}
}
