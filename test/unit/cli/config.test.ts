import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {presets} from '../../../src/cli/config.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kx-config-'))
})
afterEach(() => rmSync(root, {recursive: true, force: true}))

function write(path: string, content: string): string {
  const whole = join(root, path)
  mkdirSync(join(whole, '..'), {recursive: true})
  writeFileSync(whole, content)
  return whole
}

const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  HOME: join(root, 'home'),
  XDG_CONFIG_HOME: join(root, 'home/.config'),
  ...more,
})
const flags = async (cwd: string, more?: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    (await presets({cwd: join(root, cwd), env: env(more)})).map(({flag, values}) => [flag, values.join('|')]),
  )

test('a variable wins over the project’s file, and that over the user’s', async () => {
  mkdirSync(join(root, 'project/.git'), {recursive: true})
  write('project/.kx.yml', 'runtime: local\nprofile: fast\n')
  write('home/.config/kx/config.yml', 'runtime: docker\nprofile: default\nheap: 512m\n')
  expect(await flags('project', {KX_RUNTIME: 'auto'})).toEqual({runtime: 'auto', profile: 'fast', heap: '512m'})
})

test('project files are looked for upward, the nearest first, and not beyond the git root', async () => {
  write('.kx.yml', 'profile: fast\n')
  mkdirSync(join(root, 'project/.git'), {recursive: true})
  write('project/.kx.yml', 'brokers: 5\nruntime: local\n')
  write('project/a/.kx.yml', 'brokers: 3\n')
  mkdirSync(join(root, 'project/a/b'), {recursive: true})
  expect(await flags('project/a/b')).toEqual({brokers: '3', runtime: 'local'})
})

test('outside a repository only the folder itself is looked at', async () => {
  write('.kx.yml', 'profile: fast\n')
  mkdirSync(join(root, 'plain'))
  expect(await flags('plain')).toEqual({})
})

test('broker settings are a mapping, or semicolons apart in a variable', async () => {
  mkdirSync(join(root, '.git'))
  write('.kx.yml', 'config:\n  log.segment.bytes: 1048576\n  min.insync.replicas: 2\n')
  expect(await flags('.')).toEqual({config: 'log.segment.bytes=1048576|min.insync.replicas=2'})
  expect(await flags('.', {KX_CONFIG: 'a=1,2;b=3'})).toEqual({config: 'a=1,2|b=3'})
})

test.each(['kafka-home: /tmp/evil', 'image: evil/kafka'])(
  'a project’s file can’t name what is executed (%s)',
  async line => {
    mkdirSync(join(root, '.git'))
    write('.kx.yml', `${line}\n`)
    await expect(flags('.')).rejects.toMatchObject({code: 'KX_CONFIG_UNTRUSTED', kind: 'usage'})
  },
)

test('the user’s own file can', async () => {
  write('home/.config/kx/config.yml', 'image: apache/kafka:4.4.0\n')
  expect(await flags('.')).toEqual({image: 'apache/kafka:4.4.0'})
})

test.each(['../out', '/tmp/out', 'a/../../out'])(
  'a project’s file can’t let results be written outside the project (%s)',
  async folder => {
    mkdirSync(join(root, '.git'))
    write('.kx.yml', `results: ${folder}\n`)
    await expect(flags('.')).rejects.toMatchObject({code: 'KX_CONFIG_UNTRUSTED'})
  },
)

test('a folder in a file is relative to that file', async () => {
  mkdirSync(join(root, 'project/.git'), {recursive: true})
  write('project/.kx.yml', 'results: lab/out\n')
  mkdirSync(join(root, 'project/a'))
  expect(await flags('project/a')).toEqual({results: join(root, 'project/lab/out')})
})

test('an unknown setting names its neighbour, a broken file itself', async () => {
  mkdirSync(join(root, '.git'))
  const path = write('.kx.yml', 'run-time: local\n')
  await expect(flags('.')).rejects.toMatchObject({code: 'KX_CONFIG', suggestions: ['Did you mean runtime?']})
  write('.kx.yml', 'runtime: [local\n')
  await expect(flags('.')).rejects.toThrow(path)
  write('.kx.yml', '- runtime\n')
  await expect(flags('.')).rejects.toThrow('must hold settings')
  write('.kx.yml', 'runtime: {a: 1}\n')
  await expect(flags('.')).rejects.toThrow('must be one value')
})

test('an empty file sets nothing, and an empty variable is none', async () => {
  mkdirSync(join(root, '.git'))
  write('.kx.yml', '')
  expect(await flags('.', {KX_RUNTIME: ''})).toEqual({})
})

test('KX_KAFKA_HOME is left to the search for jars: as a flag it would rule out Docker', async () => {
  expect(await flags('.', {KX_KAFKA_HOME: '/opt/kafka'})).toEqual({})
})
