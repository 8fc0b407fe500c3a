import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {composeObstacle, composeUp, failure} from '../../../../src/cluster/docker/compose-cli.js'

const endpoint = {host: 'unix:///nowhere.sock', source: 'DOCKER_HOST'}
const kept = {...process.env}
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-compose-'))
})

afterEach(() => {
  rmSync(folder, {recursive: true})
  for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name]
  Object.assign(process.env, kept)
})

/** Puts a `docker` first on the PATH that is this script. */
function cli(script: string): void {
  const path = join(folder, 'docker')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  process.env.PATH = `${folder}:/usr/bin:/bin`
}

describe('composeObstacle', () => {
  it.each(['2.20.0', 'v2.20.0', '2.26.1-4', '2.38.2-desktop.1', '5.0.0'])('is none for Compose %s', async version => {
    cli(`echo ${version}`)
    expect(await composeObstacle(endpoint)).toBeUndefined()
  })

  it('names a version that is too old, and the oldest that will do', async () => {
    cli('echo 2.19.1')
    expect(await composeObstacle(endpoint)).toBe('Docker Compose is 2.19.1, and kx needs 2.20.0 or later.')
  })

  it('says that the plugin is missing', async () => {
    cli('echo "docker: \'compose\' is not a docker command." >&2; exit 1')
    expect(await composeObstacle(endpoint)).toContain('Compose plugin is missing')
  })

  it('says that there is no docker command', async () => {
    process.env.PATH = folder
    expect(await composeObstacle(endpoint)).toBe('There is no "docker" command on the PATH.')
  })
})

describe('composeUp', () => {
  it('keeps settings of the user’s own projects away from Compose, and says which engine is meant', async () => {
    cli(`env > ${folder}/env; echo "$@" > ${folder}/args`)
    Object.assign(process.env, {COMPOSE_FILE: 'theirs.yml', DOCKER_CONTEXT: 'other', DOCKER_CONFIG: '/cfg'})
    const signal = new AbortController().signal
    await composeUp(endpoint, {project: 'kx-a', file: '/state/compose.yml', signal, timeoutMs: 5_000})
    const env = readFileSync(join(folder, 'env'), 'utf8')
    expect(env).toContain('DOCKER_HOST=unix:///nowhere.sock\n')
    expect(env).toContain('DOCKER_CONFIG=/cfg\n')
    expect(env).not.toMatch(/COMPOSE_FILE|DOCKER_CONTEXT/)
    expect(readFileSync(join(folder, 'args'), 'utf8')).toContain(
      'compose --project-name kx-a --file /state/compose.yml',
    )
  })

  it('ends Compose when it is interrupted', async () => {
    cli('exec sleep 30')
    const interrupt = new AbortController()
    setTimeout(() => interrupt.abort(), 100)
    const run = {project: 'kx-a', file: 'x', signal: interrupt.signal, timeoutMs: 20_000}
    await expect(composeUp(endpoint, run)).rejects.toMatchObject({code: 'KX_INTERRUPTED'})
  })

  it('ends Compose when it takes too long', async () => {
    cli('exec sleep 30')
    const run = {project: 'kx-a', file: 'x', timeoutMs: 200}
    await expect(composeUp(endpoint, run)).rejects.toThrow('"docker compose up" did not end within 200 ms.')
  })
})

describe('failure', () => {
  // Lines as Compose and engines print them.
  it.each([
    'Error response from daemon: driver failed programming external connectivity on endpoint kx-a-broker-1 (b4c1): Bind for 127.0.0.1:19000 failed: port is already allocated',
    'Error response from daemon: driver failed programming external connectivity on endpoint kx-a-broker-1 (b4c1): Error starting userland proxy: listen tcp4 127.0.0.1:19000: bind: address already in use',
  ])('names the port that was taken meanwhile', stderr => {
    expect(failure(endpoint, {stderr})).toMatchObject({
      code: 'KX_PORT_TAKEN',
      message: 'Port 19000 was free a moment ago and is taken now.',
    })
  })

  it('knows a full disk', () => {
    const stderr = 'Error response from daemon: mkdir /var/lib/docker/volumes/x: no space left on device'
    expect(failure(endpoint, {stderr}).code).toBe('KX_DISK_FULL')
  })

  it.each([
    'Cannot connect to the Docker daemon at unix:///nowhere.sock. Is the docker daemon running?',
    'error during connect: Get "http://%2Fnowhere.sock/v1.45/containers/json": EOF',
    'Error response from daemon: Post "http://%2Fnowhere.sock/v1.45/containers/create": EOF',
  ])('knows an engine that went away', stderr => {
    expect(failure(endpoint, {stderr}).code).toBe('KX_DOCKER_GONE')
  })

  it('repeats the last line of anything else', () => {
    const stderr = 'time="…" level=warning msg="x"\nno such image: kx/kafka:4.4.0\n'
    expect(failure(endpoint, {stderr}).message).toBe('"docker compose up" failed: no such image: kx/kafka:4.4.0.')
  })
})
