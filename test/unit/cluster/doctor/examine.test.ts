import {chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {engineFacts} from '../../../../src/cluster/doctor/engine-probe.js'
import {folderFacts} from '../../../../src/cluster/doctor/machine-probe.js'
import {examine, type Finding, fixes} from '../../../../src/cluster/doctor.js'
import {KxError} from '../../../../src/util/errors.js'

const never = new AbortController().signal
let base: string
let env: NodeJS.ProcessEnv

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'kx-doctor-'))
  mkdirSync(join(base, 'bin'))
  // A machine that has nothing but what a test puts there.
  env = {HOME: base, PATH: join(base, 'bin')}
})

afterEach(() => rmSync(base, {recursive: true, force: true}))

function program(name: string, script: string): void {
  writeFileSync(join(base, 'bin', name), `#!/bin/bash\n${script}\n`)
  chmodSync(join(base, 'bin', name), 0o755)
}

async function found(id: string): Promise<Finding | undefined> {
  const findings = await examine({env, results: join(base, 'results')})
  expect(new Set(findings.map(finding => finding.id)).size).toBe(findings.length)
  return findings.find(finding => finding.id === id)
}

describe('a machine without Docker and Java', () => {
  it('can start nothing: both are problems with a cure each, and the last finding says so', async () => {
    const findings = await examine({env, results: join(base, 'results')})
    expect(findings.filter(({level}) => level === 'problem').map(({id}) => id)).toEqual([
      'java',
      'docker-cli',
      'runtime',
    ])
    for (const {level, cure, what} of findings) if (level === 'problem') expect(cure, what).toBeTruthy()
    expect(findings.find(({id}) => id === 'jars')).toMatchObject({
      level: 'warning',
      what: expect.stringContaining('archive.apache.org'),
    })
  })

  it('is left as it was', async () => {
    await examine({env, results: join(base, 'results')})
    expect(readdirSync(base)).toEqual(['bin'])
  })

  it('ends with an error and not with half a list when the signal fires', async () => {
    await expect(examine({env, signal: AbortSignal.abort()})).rejects.toThrow()
  })
})

describe('a machine with Java', () => {
  it('of version 11 says where it is and what is needed', async () => {
    program('java', `echo 'openjdk version "11.0.2" 2019-01-15' >&2`)
    expect(await found('java')).toMatchObject({
      level: 'problem',
      what: expect.stringMatching(/needs Java 17 or later, but .*\/bin\/java is version 11\.0\.2/),
      blocks: 'local',
    })
  })

  it('of version 21 can start local clusters', async () => {
    program('java', `echo 'openjdk version "21.0.6" 2025-01-21' >&2`)
    expect(await found('java')).toMatchObject({level: 'ok', what: expect.stringContaining('21.0.6')})
    expect(await found('runtime')).toMatchObject({
      level: 'ok',
      what: 'Clusters start with --runtime local; docker does not work here.',
    })
  })

  it('and a JAVA_HOME that points nowhere says both', async () => {
    program('java', `echo 'openjdk version "21.0.6" 2025-01-21' >&2`)
    env = {...env, JAVA_HOME: join(base, 'gone')}
    expect(await found('java-home')).toMatchObject({
      level: 'warning',
      what: expect.stringContaining(`JAVA_HOME is ${join(base, 'gone')}, where there is no bin/java`),
    })
    expect(await found('java')).toMatchObject({level: 'ok'})
  })
})

describe("a machine with Docker's CLI", () => {
  const docker = (answers: Readonly<Record<string, string>>) => {
    const cases = Object.entries(answers).map(([args, script]) => `"${args}"*) ${script};;`)
    program('docker', `case "$*" in\n${cases.join('\n')}\n*) echo "unknown: $*" >&2; exit 1;;\nesac`)
  }
  const context = (host: string, name = 'default') =>
    `echo '[{"Name":"${name}","Endpoints":{"docker":{"Host":"${host}","SkipTLSVerify":false}}}]'`

  it('and no daemon behind it says how to start it', async () => {
    docker({
      'context inspect': context('unix:///nowhere/docker.sock'),
      info: `echo '{"ServerErrors":["Cannot connect to the Docker daemon at unix:///nowhere/docker.sock. Is the docker daemon running?"]}'; exit 1`,
    })
    expect(await found('docker-engine')).toMatchObject({
      level: 'problem',
      what: 'No Docker engine answers at unix:///nowhere/docker.sock (context default).',
      blocks: 'docker',
    })
  })

  it('and a socket of somebody else says which group to join', async () => {
    docker({
      'context inspect': context('unix:///nowhere/docker.sock'),
      info: 'echo "permission denied while trying to connect to the Docker daemon socket at unix:///nowhere/docker.sock" >&2; exit 1',
    })
    expect(await found('docker-engine')).toMatchObject({cure: expect.stringContaining('usermod -aG docker')})
  })

  it('and an engine on another host names it, from DOCKER_HOST or the context', async () => {
    docker({'context inspect': context('ssh://ann@build', 'build')})
    expect(await found('docker-engine')).toMatchObject({
      what: expect.stringContaining('on another host (ssh://ann@build, from context build)'),
      blocks: 'docker',
    })
    env = {...env, DOCKER_HOST: 'tcp://10.0.0.7:2375'}
    expect(await found('docker-engine')).toMatchObject({
      what: expect.stringContaining('on another host (tcp://10.0.0.7:2375, from DOCKER_HOST)'),
    })
  })

  it("and only Docker Desktop's hint behind it says where to switch it on", async () => {
    program('docker', 'echo "The command \'docker\' could not be found in this WSL 2 distro."; exit 1')
    expect(await found('docker-cli')).toMatchObject({cure: expect.stringContaining('WSL integration')})
  })

  it('and a rootless engine of an old Compose says both, and what is inconclusive there', async () => {
    const info =
      '{"ServerVersion":"27.5.1","OSType":"linux","Architecture":"x86_64","CgroupVersion":"2","CgroupDriver":"none","SecurityOptions":["name=rootless"],"MemTotal":1073741824}'
    docker({
      'context inspect': context('unix:///nowhere/docker.sock', 'rootless'),
      info: `echo '${info}'`,
      version: `echo '{"Components":[{"Name":"Engine"}]}'`,
      'compose version': 'echo 2.5.0',
      'image inspect': 'echo arm64',
    })
    const findings = await examine({env, results: join(base, 'results')})
    expect(findings.find(({id}) => id === 'docker-engine')).toMatchObject({
      level: 'ok',
      what: expect.stringContaining('27.5.1'),
    })
    expect(findings.find(({id}) => id === 'docker-pause')).toMatchObject({
      level: 'warning',
      affects: 'data-loss would be inconclusive with --runtime docker',
    })
    expect(findings.find(({id}) => id === 'compose')).toMatchObject({
      level: 'problem',
      what: 'Docker Compose is 2.5.0, and kx needs 2.20 or later.',
    })
    expect(findings.find(({id}) => id === 'image')).toMatchObject({
      level: 'problem',
      what: expect.stringContaining('made for arm64'),
    })
    expect(findings.find(({id}) => id === 'docker-memory')).toMatchObject({
      level: 'warning',
      what: expect.stringContaining('1.0 GiB in all'),
    })
  })

  it('and an engine that never answers is given up', async () => {
    docker({
      'context inspect': context('unix:///nowhere/docker.sock'),
      info: 'exec /bin/sleep 600',
      version: 'exit 1',
      'compose version': 'echo 2.26.0',
    })
    const facts = await engineFacts({
      env,
      host: {system: 'linux', root: true},
      kafkaVersion: '4.4.0',
      signal: never,
      patienceMs: 500,
    })
    expect(facts.said).toBe('The engine did not answer.')
    expect(facts.info).toBeUndefined()
  })
})

describe('folders', () => {
  it('that are not there yet are judged by where they would be made', async () => {
    expect(await folderFacts('state', join(base, 'a', 'b', 'c'))).toMatchObject({free: expect.any(Number)})
    expect((await folderFacts('state', join(base, 'a', 'b', 'c'))).free).toBeGreaterThan(0)
  })

  it('with a file in their way, or on a file system that takes nothing, are an obstacle', async () => {
    writeFileSync(join(base, 'file'), '')
    expect(await folderFacts('state', join(base, 'file', 'kx'))).toMatchObject({obstacle: 'ENOTDIR'})
    env = {...env, XDG_STATE_HOME: join(base, 'file')}
    expect(await found('folder-state')).toMatchObject({
      level: 'problem',
      what: expect.stringContaining('a file is in the way'),
      cure: 'export XDG_STATE_HOME=/another/folder',
    })
    expect(await found('runtime')).toMatchObject({level: 'problem'})
  })
})

describe('ports', () => {
  it('that somebody has taken do not matter while a block is left', async () => {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    expect((await found('ports'))?.what).not.toContain('No block')
    await new Promise(resolve => server.close(resolve))
  })
})

describe('--fix librdkafka', () => {
  const fix = fixes.librdkafka as NonNullable<(typeof fixes)[string]>

  it('without npm says so, and what it is built with', async () => {
    const error = await fix({env, signal: never, progress: () => undefined}).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(KxError)
    expect(error).toMatchObject({
      kind: 'environment',
      code: 'KX_SECOND_CLIENT',
      message: 'The second client could not be installed: there is no npm on the PATH.',
    })
    expect(readdirSync(join(base, '.cache', 'kx', 'clients', 'kafka-javascript'))).toEqual([])
  })

  it('where npm fails repeats its last words, and removes what killed runs have left', async () => {
    const clients = join(base, '.cache', 'kx', 'clients', 'kafka-javascript')
    mkdirSync(join(clients, '.1.10.1-4194305'), {recursive: true})
    mkdirSync(join(clients, `.1.10.1-${process.ppid}`))
    program('npm', 'echo "npm error code ENOTFOUND"; echo "npm error network request failed" >&2; exit 1')
    await expect(fix({env, signal: never, progress: () => undefined})).rejects.toThrow(
      'npm install failed: npm error code ENOTFOUND npm error network request failed.',
    )
    expect(readdirSync(clients)).toEqual([`.1.10.1-${process.ppid}`])
  })

  it('where it is there already fetches nothing', async () => {
    const module = join(
      base,
      '.cache',
      'kx',
      'clients',
      'kafka-javascript',
      '1.10.1',
      'node_modules',
      '@confluentinc',
      'kafka-javascript',
    )
    mkdirSync(module, {recursive: true})
    writeFileSync(join(module, 'index.js'), 'module.exports = {}')
    expect(await fix({env, signal: never, progress: () => undefined})).toBe(
      '@confluentinc/kafka-javascript 1.10.1 is there already.',
    )
    expect(await found('second-client')).toMatchObject({level: 'ok', what: expect.stringContaining('is installed')})
  })

  it('ends with all that npm had started when the signal fires', async () => {
    symlinkSync('/bin/sleep', join(base, 'bin', 'sleep'))
    program('npm', 'sleep 600')
    const outcome = fix({env, signal: AbortSignal.timeout(500), progress: () => undefined}).catch(
      (thrown: unknown) => thrown,
    )
    expect(await outcome).toMatchObject({kind: 'interrupted'})
  })
})
