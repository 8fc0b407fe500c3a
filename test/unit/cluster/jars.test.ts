import {execFileSync} from 'node:child_process'
import {chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {cacheFolder, kafkaCacheFolder} from '../../../src/cluster/cache.js'
import {diskError} from '../../../src/cluster/disk.js'
import {hasMaven, jarsObstacle, kafkaLibs, versionOfHome} from '../../../src/cluster/local/jars.js'
import {copyWithMaven, FetchedSize, failureIn, pom} from '../../../src/cluster/local/maven.js'
import {bypasses, proxyFor} from '../../../src/cluster/local/proxy.js'
import {KxError} from '../../../src/util/errors.js'
import {until} from '../../../src/util/until.js'

const version = '4.4.0'
const never = new AbortController().signal
let base: string
let env: NodeJS.ProcessEnv
let phases: string[]

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'kx-jars-'))
  phases = []
  // Nothing can be fetched: no Maven, and an archive at a port where nobody listens.
  env = {XDG_CACHE_HOME: join(base, 'cache'), PATH: join(base, 'bin'), KX_KAFKA_MIRROR: 'http://127.0.0.1:1/kafka'}
})

afterEach(() => rmSync(base, {recursive: true, force: true}))

const progress = (phase: string) => void phases.push(phase)

function distribution(of: string, ...more: string[]): string {
  const home = join(base, `kafka_2.13-${of}`)
  mkdirSync(join(home, 'libs'), {recursive: true})
  for (const name of [`kafka-clients-${of}.jar`, ...more]) writeFileSync(join(home, 'libs', name), 'jar')
  return home
}

/** A program called mvn on this test's PATH. */
function maven(script: string): void {
  mkdirSync(join(base, 'bin'), {recursive: true})
  writeFileSync(join(base, 'bin', 'mvn'), `#!/bin/bash\nPATH=/usr/bin:/bin\n${script}`)
  chmodSync(join(base, 'bin', 'mvn'), 0o755)
}

describe('an unpacked distribution', () => {
  it('given by flag or variable is used before anything else', async () => {
    const home = distribution(version)
    const expected = {libs: join(home, 'libs'), origin: home}
    expect(await kafkaLibs({version, kafkaHome: home, signal: never, progress, env})).toEqual(expected)
    expect(await kafkaLibs({version, signal: never, progress, env: {...env, KX_KAFKA_HOME: home}})).toEqual(expected)
    expect(await jarsObstacle({version, kafkaHome: home, env})).toBeUndefined()
  })

  it('of another version is an error if the flag names it, with the flag that fits', async () => {
    const home = distribution('4.2.0')
    await expect(kafkaLibs({version, kafkaHome: home, signal: never, progress, env})).rejects.toMatchObject({
      kind: 'usage',
      code: 'KX_KAFKA_HOME',
      message: `--kafka-home is ${home}, which holds Kafka 4.2.0, but Kafka 4.4.0 was asked for.`,
      suggestions: ['Add --kafka-version 4.2.0, or leave out --kafka-home.'],
    })
  })

  it('of another version is passed over, aloud, if only the variable names it', async () => {
    const env2 = {...env, KX_KAFKA_HOME: distribution('4.2.0')}
    await expect(kafkaLibs({version, signal: never, progress, env: env2})).rejects.toMatchObject({
      code: 'KX_KAFKA_JARS',
    })
    expect(phases[0]).toBe('KX_KAFKA_HOME holds Kafka 4.2.0, not 4.4.0: not used')
  })

  it('that is none is an error, and never passed over', async () => {
    mkdirSync(join(base, 'other', 'libs'), {recursive: true})
    for (const kafkaHome of [join(base, 'other'), join(base, 'nowhere'), '/dev/null']) {
      await expect(kafkaLibs({version, kafkaHome, signal: never, progress, env})).rejects.toMatchObject({
        kind: 'usage',
        code: 'KX_KAFKA_HOME',
        message: `--kafka-home is ${kafkaHome}, which is no unpacked Kafka distribution: it has no libs/kafka-clients-<version>.jar.`,
      })
    }
  })

  it('says its version in the name of the clients, not in that of their tests', async () => {
    expect(await versionOfHome(distribution('4.4.1', 'kafka-clients-4.3.0-test.jar'))).toBe('4.4.1')
    expect(await versionOfHome(distribution('4.5.0-SNAPSHOT'))).toBe('4.5.0-SNAPSHOT')
    expect(await versionOfHome(base)).toBeUndefined()
  })
})

describe('the obstacle', () => {
  it('is none where something could be tried', async () => {
    expect(await jarsObstacle({version, env})).toBeUndefined()
  })

  it('is a cache that cannot be made', async () => {
    writeFileSync(join(base, 'file'), '')
    expect(await jarsObstacle({version, env: {...env, XDG_CACHE_HOME: join(base, 'file')}})).toContain(
      "can't be written: a file is in the way.",
    )
  })

  it('is a distribution that is none', async () => {
    expect(await jarsObstacle({version, env: {...env, KX_KAFKA_HOME: base}})).toContain('KX_KAFKA_HOME is')
  })

  it('is a mirror that is no URL, unless Maven is there', async () => {
    const wrong = {...env, KX_KAFKA_MIRROR: 'kafka.example'}
    expect(await jarsObstacle({version, env: wrong})).toContain('no http:// or https:// URL')
    maven('exit 1')
    expect(await jarsObstacle({version, env: wrong})).toBeUndefined()
  })
})

describe('a version', () => {
  it.each(['../4.4.0', '4.4.0/..', '', 'latest', '4.4', '4.4.0-'])('such as "%s" never becomes a path', async odd => {
    await expect(kafkaLibs({version: odd, signal: never, progress, env})).rejects.toMatchObject({
      kind: 'usage',
      code: 'KX_KAFKA_VERSION',
    })
    expect(await jarsObstacle({version: odd, env})).toContain('a version looks like 4.4.0')
    expect(existsSync(join(base, 'cache'))).toBe(false)
  })
})

describe('Maven', () => {
  it('that fails is named with its reason, and the archive is tried next', async () => {
    maven(
      `echo "[ERROR] Failed to execute goal on project kafka-libs: Could not transfer artifact x: Connection refused -> [Help 1]"; exit 1`,
    )
    await expect(kafkaLibs({version, signal: never, progress, env, pauseMs: 1})).rejects.toMatchObject({
      kind: 'environment',
      code: 'KX_KAFKA_JARS',
      message: expect.stringMatching(
        /^The jars of Kafka 4\.4\.0 can't be had: Maven failed: .*Connection refused, and http:.* can't be used: nothing listens at 127\.0\.0\.1:1\.$/,
      ),
    })
    expect(phases[0]).toBe('fetching Kafka 4.4.0 with Maven, about 54 MB')
    expect(phases[1]).toMatch(/^Maven failed: .*; trying the release archive$/)
    expect(readdirSync(join(base, 'cache', 'kx', 'kafka'))).toEqual([])
  })

  it('that does not know the version decides it, if the archive cannot be asked', async () => {
    maven(`echo "${unknownArtifact.replaceAll('4.9.9', version)}"; exit 1`)
    await expect(kafkaLibs({version, signal: never, progress, env})).rejects.toMatchObject({
      kind: 'usage',
      code: 'KX_KAFKA_VERSION',
      message: expect.stringContaining("Maven's repositories do not have it, and http://127.0.0.1:1/"),
    })
  })

  it('that ends well but brought no Kafka is no success', async () => {
    maven('exit 0')
    await expect(kafkaLibs({version, signal: never, progress, env})).rejects.toThrow(
      /Maven brought no kafka_2\.13-4\.4\.0\.jar/,
    )
  })

  it('that falls silent is stopped', async () => {
    maven('echo $$ > "$0.pid"; sleep 600')
    const outcome = await copyWithMaven({
      version,
      folder: join(base, 'staging'),
      signal: never,
      progress,
      env,
      silenceMs: 300,
    })
    expect(outcome).toEqual({outcome: 'failed', why: 'Maven said nothing for 300 ms and was stopped'})
    const pid = read(join(base, 'bin', 'mvn.pid')) as number
    await until('all that it had started to be gone', () => (isGone(-pid) ? true : undefined), {timeoutMs: 5_000})
  })

  it('ends with kx', async () => {
    maven('echo $$ > "$0.pid"; exec sleep 600')
    const stop = new AbortController()
    const outcome = kafkaLibs({version, signal: stop.signal, progress, env}).catch((error: unknown) => error)
    const pid = await until('Maven to start', () => read(join(base, 'bin', 'mvn.pid')), {timeoutMs: 10_000})
    stop.abort()
    expect(await outcome).toMatchObject({kind: 'interrupted', code: 'KX_INTERRUPTED'})
    expect(isGone(pid)).toBe(true)
    expect(readdirSync(join(base, 'cache', 'kx', 'kafka'))).toEqual([])
  })

  it('is looked for on the PATH of the environment that was given', async () => {
    expect(await hasMaven(env)).toBe(false)
    maven('')
    expect(await hasMaven(env)).toBe(true)
    chmodSync(join(base, 'bin', 'mvn'), 0o644)
    expect(await hasMaven(env)).toBe(false)
  })

  it('gets a pom with the server, the tools and one logger', () => {
    const artifacts = [...pom('4.1.2').matchAll(/<artifactId>([^<]*)<\/artifactId><version>([^<]*)</g)].map(
      ([, name, of]) => `${name} ${of}`,
    )
    expect(artifacts).toEqual([
      'kafka-libs 1',
      'kafka_2.13 4.1.2',
      'kafka-tools 4.1.2',
      'log4j-api 2.25.3',
      'log4j-core 2.25.3',
      'log4j-slf4j-impl 2.25.3',
    ])
  })
})

const unknownArtifact =
  '[ERROR] Failed to execute goal on project kafka-libs: Could not resolve dependencies for project kx:kafka-libs:pom:1: The following artifacts could not be resolved: org.apache.kafka:kafka_2.13:jar:4.9.9, org.apache.kafka:kafka-tools:jar:4.9.9: Could not find artifact org.apache.kafka:kafka_2.13:jar:4.9.9 in central (https://repo.example/maven2) -> [Help 1]'

describe("Maven's words", () => {
  it('tell an unknown version, also when Maven remembers it from an earlier try', () => {
    const remembered = unknownArtifact
      .replace('Could not find artifact ', '')
      .replace(
        ' in central (https://repo.example/maven2)',
        ' was not found in https://repo.example/maven2 during a previous attempt',
      )
    expect(failureIn(`[INFO] Scanning\n${unknownArtifact}\n[ERROR]\n`, '4.9.9')).toEqual({outcome: 'unknown-version'})
    expect(failureIn(remembered, '4.9.9')).toEqual({outcome: 'unknown-version'})
  })

  it('of a logger that a mirror lacks are no unknown Kafka', () => {
    const words =
      '[ERROR] Could not find artifact org.apache.logging.log4j:log4j-core:jar:2.25.3 in central -> [Help 1]'
    expect(failureIn(words, version)).toMatchObject({outcome: 'failed', why: expect.stringContaining('log4j-core')})
  })

  it('of a network that is down end in the cause', () => {
    const words =
      '[ERROR] Plugin org.apache.maven.plugins:maven-dependency-plugin:3.8.1 or one of its dependencies could not be resolved: Failed to read artifact descriptor for org.apache.maven.plugins:maven-dependency-plugin:jar:3.8.1: Could not transfer artifact org.apache.maven.plugins:maven-dependency-plugin:pom:3.8.1 from/to m (http://127.0.0.1:9/maven2): transfer failed for http://127.0.0.1:9/maven2/x.pom: Connect to 127.0.0.1:9 [/127.0.0.1] failed: Connection refused -> [Help 1]'
    expect(failureIn(`\u001b[31m${words}\u001b[0m`, version)).toEqual({
      outcome: 'failed',
      why: 'Maven failed: Connect to 127.0.0.1:9 [/127.0.0.1] failed: Connection refused',
    })
  })

  it('without Java are the last lines, and there may be none at all', () => {
    const words =
      'The JAVA_HOME environment variable is not defined correctly,\nthis environment variable is needed to run this program.\n'
    expect(failureIn(words, version)).toEqual({
      outcome: 'failed',
      why: 'Maven failed: The JAVA_HOME environment variable is not defined correctly, this environment variable is needed to run this program',
    })
    expect(failureIn('', version)).toEqual({outcome: 'failed', why: 'Maven failed: it said nothing'})
  })

  it('of progress are added up, however the lines are cut', () => {
    const told: string[] = []
    const size = new FetchedSize(phase => told.push(phase))
    const text = ['7.1 MB', '6 MB', '900 kB', '12 B', '8.5 MB']
      .map(
        of =>
          `Downloading from central: https://r/a.jar\nDownloaded from central: https://r/a.jar (${of} at 3.4 MB/s)\nDownloaded from central: https://r/a.pom (50 MB at 1 MB/s)\n`,
      )
      .join('')
    for (let i = 0; i < text.length; i += 7) size.read(text.slice(i, i + 7))
    expect(told).toEqual(['Maven has fetched 13 MB', 'Maven has fetched 22 MB'])
  })
})

describe('a disk', () => {
  it.each([
    ['ENOSPC', 'KX_DISK_FULL', 'No space is left: the disk that holds /c is full.'],
    ['EDQUOT', 'KX_DISK_FULL', 'No space is left: your quota on the disk of /c is full.'],
    ['EROFS', 'KX_NOT_WRITABLE', "The folder /c can't be written: its file system is read-only."],
    ['EACCES', 'KX_NOT_WRITABLE', "The folder /c can't be written: you may not write there."],
    ['ENOTDIR', 'KX_NOT_WRITABLE', "The folder /c can't be written: a file is in the way."],
  ])('that fails with %s is %s', (code, expected, message) => {
    const error = diskError(Object.assign(new Error(code), {code}), '/c', 'Go elsewhere.')
    expect(error).toMatchObject({kind: 'environment', code: expected, message})
    expect((error as KxError).suggestions.at(-1)).toBe('Go elsewhere.')
  })

  it('has nothing to do with other errors', () => {
    const other = new KxError('usage', 'KX_KAFKA_VERSION', 'x')
    expect(diskError(other, '/c', '')).toBe(other)
    const cut = Object.assign(new Error('cut'), {code: 'ECONNRESET'})
    expect(diskError(cut, '/c', '')).toBe(cut)
  })

  it('that is really full ends the download with that error, and gets the half back', async () => {
    // Linux: whatever is written to /dev/full, the disk is full.
    const {download} = await import('../../../src/cluster/local/download.js')
    const {Mirror, archivePath} = await import('./archive/server.js')
    await using mirror = await Mirror.start()
    const to = join(base, 'file.tgz')
    execFileSync('ln', ['-s', '/dev/full', `${to}.part`])
    const url = new URL(`http://127.0.0.1:${mirror.port}${archivePath}`)
    await expect(download({url, to, signal: never, env: {}, progress})).rejects.toMatchObject({code: 'ENOSPC'})
    expect(mirror.asked).toHaveLength(1)
    expect(readdirSync(base)).toEqual([])
  })
})

describe('the cache', () => {
  it('is where XDG says, else where the system keeps caches', () => {
    expect(cacheFolder({XDG_CACHE_HOME: '/c', HOME: '/h'}, 'linux')).toBe('/c/kx')
    expect(cacheFolder({XDG_CACHE_HOME: 'relative', HOME: '/h'}, 'linux')).toBe('/h/.cache/kx')
    expect(cacheFolder({HOME: '/h'}, 'darwin')).toBe('/h/Library/Caches/kx')
    expect(kafkaCacheFolder('4.4.0', {XDG_CACHE_HOME: '/c'})).toBe('/c/kx/kafka/4.4.0')
  })
})

describe('the proxy', () => {
  const url = new URL('https://archive.example:8443/x')

  it('is chosen by the scheme, lower case first, all_proxy last', () => {
    expect(proxyFor(url, {})).toBeUndefined()
    expect(proxyFor(url, {http_proxy: 'http://p:1'})).toBeUndefined()
    expect(proxyFor(url, {HTTPS_PROXY: 'http://p:1'})?.href).toBe('http://p:1/')
    expect(proxyFor(url, {HTTPS_PROXY: 'http://p:1', https_proxy: 'p:2'})?.href).toBe('http://p:2/')
    expect(proxyFor(url, {ALL_PROXY: 'http://p:3', https_proxy: ''})?.href).toBe('http://p:3/')
    expect(proxyFor(url, {HTTPS_PROXY: 'http://p:1', no_proxy: 'example'})).toBeUndefined()
  })

  it.each([
    ['*', true],
    ['archive.example', true],
    ['example', true],
    ['.example', true],
    ['*.example', true],
    ['EXAMPLE', true],
    ['archive.example:8443', true],
    ['archive.example:443', false],
    ['xample', false],
    ['other.archive.example', false],
    ['one, two archive.example', true],
    ['10.0.0.0/8', false],
    ['', false],
  ])('with no_proxy "%s": bypassed is %s', (noProxy, expected) => {
    expect(bypasses(noProxy, url)).toBe(expected)
  })

  it.each([
    ['http://10.1.2.3/', '10.0.0.0/8', true],
    ['http://10.1.2.3/', '10.1.2.3', true],
    ['http://10.1.2.3/', '2.3', false],
    ['http://11.1.2.3/', '10.0.0.0/8', false],
    ['http://10.1.2.3/', '10.0.0.0/99', false],
    ['http://[::1]:81/', '::1', true],
    ['http://[::1]:81/', '[::1]:81', true],
    ['http://[::1]:81/', '[::1]:82', false],
    ['http://[fd00::7]/', 'fd00::/8', true],
    ['http://localhost/', 'localhost:80', true],
  ])('for %s with no_proxy "%s": bypassed is %s', (address, noProxy, expected) => {
    expect(bypasses(noProxy, new URL(address))).toBe(expected)
  })
})

function read(path: string): number | undefined {
  if (!existsSync(path)) return undefined
  const pid = Number(execFileSync('cat', [path], {encoding: 'utf8'}))
  return pid > 0 ? pid : undefined
}

function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}
