import {spawn} from 'node:child_process'
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gunzipSync, gzipSync} from 'node:zlib'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {kafkaLibs} from '../../../src/cluster/local/jars.js'
import {KxError} from '../../../src/util/errors.js'
import {until} from '../../../src/util/until.js'
import * as at from './archive/server.js'
import {
  archiveName,
  archivePath,
  gpgChecksum,
  jars,
  Mirror,
  only,
  ranged,
  startProxy,
  status,
  version,
  whole,
} from './archive/server.js'

let cache: string
let mirror: Mirror
let phases: string[]
/** Long, or a machine under load would look like a line that stalls. */
let stallMs: number

beforeEach(async () => {
  cache = mkdtempSync(join(tmpdir(), 'kx-archive-'))
  mirror = await Mirror.start()
  phases = []
  stallMs = 20_000
})

afterEach(async () => {
  await mirror[Symbol.asyncDispose]()
  rmSync(cache, {recursive: true, force: true})
})

const folder = () => join(cache, 'kx', 'kafka', version)
const part = () => join(folder(), `${archiveName}.part`)
const content = () => mirror.files.get(archivePath) as Buffer

/** A machine without Maven, whose cache is a new folder, and whose archive is the server of this test. */
const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  XDG_CACHE_HOME: cache,
  KX_KAFKA_MIRROR: mirror.base,
  PATH: '',
  ...more,
})

const fetchLibs = (env: NodeJS.ProcessEnv = environment(), signal = new AbortController().signal) =>
  kafkaLibs({version, signal, progress: phase => phases.push(phase), env, stallMs, pauseMs: 1})

async function failure(env = environment(), signal?: AbortSignal): Promise<KxError> {
  const error = await fetchLibs(env, signal).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof KxError) return error
  throw new Error(`expected a KxError, got ${error}`)
}

/** All jars are there as they were packed, and nothing else is left in the folder of the version. */
function expectComplete(libs: string): void {
  expect(libs).toBe(join(folder(), 'libs'))
  expect(readdirSync(folder())).toEqual(['libs'])
  expect(readdirSync(libs).sort()).toEqual(['.contents.json', ...Object.keys(jars)].sort())
  for (const [name, text] of Object.entries(jars))
    expect(readFileSync(join(libs, name), 'utf8') === text, name).toBe(true)
}

describe('the release archive', () => {
  it('is fetched, verified and unpacked, and only its jars are kept', async () => {
    const {libs, origin} = await fetchLibs()
    expectComplete(libs)
    expect(origin).toBe(`archive of 127.0.0.1:${mirror.port}`)
    expect(phases[0]).toBe('there is no mvn on the PATH; trying the release archive')
    expect(phases[1]).toBe(`fetching ${mirror.base}/${version}/${archiveName}`)
    expect(phases.at(-1)).toMatch(new RegExp(`^${archiveName}: .* KiB of .* KiB$`))
  })

  it('is asked for once: the second call is answered from the cache', async () => {
    await fetchLibs()
    const second = await fetchLibs()
    expect(second.origin).toBe(`kx's cache (archive of 127.0.0.1:${mirror.port})`)
    expect(mirror.asked).toHaveLength(1)
  })

  it('is fetched again when a jar in the cache is gone or shorter than it was', async () => {
    const {libs} = await fetchLibs()
    rmSync(join(libs, 'slf4j-api-1.7.36.jar'))
    expectComplete((await fetchLibs()).libs)
    writeFileSync(join(libs, `kafka-clients-${version}.jar`), 'short')
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked).toHaveLength(3)
  })

  it('follows redirects', async () => {
    mirror.answers.push(status(302, {location: `${mirror.base}/elsewhere/${archiveName}`}), ranged)
    mirror.files.set(`/dist/kafka/elsewhere/${archiveName}`, content())
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked.map(({url}) => url)).toEqual([archivePath, `/dist/kafka/elsewhere/${archiveName}`])
  })

  it('gives up after five redirects', async () => {
    mirror.answers.push(status(302, {location: archivePath}))
    expect((await failure()).message).toContain('redirects more than 5 times')
    expect(mirror.asked).toHaveLength(6)
  })
})

describe('a cut connection', () => {
  it('is gone on from at the byte where it was cut', async () => {
    mirror.answers.push(only(50_000, 'cut'), only(60_000, 'cut'), ranged)
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked.map(({headers}) => headers.range)).toEqual([undefined, 'bytes=50000-', 'bytes=110000-'])
    expect(mirror.asked[1]?.headers['if-range']).toBe(`"${at.sha512(content()).slice(0, 12)}"`)
    expect(phases.filter(phase => phase.includes('going on at 48.8 KiB'))).toHaveLength(1)
  })

  it('is given up after three tries that brought nothing, and what had come is used by the next run', async () => {
    mirror.answers.push(only(50_000, 'cut'), only(0, 'cut'))
    const error = await failure()
    expect(error).toMatchObject({kind: 'environment', code: 'KX_KAFKA_JARS'})
    expect(error.message).toContain('at the last of 4 tries; 48.8 KiB are kept')
    expect(error.suggestions.join('\n')).toMatch(/Maven[\s\S]*HTTPS_PROXY[\s\S]*KX_KAFKA_MIRROR[\s\S]*--kafka-home/)
    expect(statSync(part()).size).toBe(50_000)

    mirror.answers.splice(0, 2, ranged)
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked).toHaveLength(5)
    expect(mirror.asked.at(-1)?.headers.range).toBe('bytes=50000-')
  })

  it('is given up after 20 tries even if each brings a little', async () => {
    mirror.answers.push(only(100, 'cut'))
    expect((await failure()).message).toContain('at the last of 20 tries')
    expect(mirror.asked).toHaveLength(20)
    expect(statSync(part()).size).toBe(2_000)
  })

  it('starts over when the file has changed on the server meanwhile', async () => {
    mirror.answers.push(only(50_000, 'cut'), (request, response) => {
      const newer = gunzipSync(content())
      mirror.serve(gzipSync(newer, {level: 1}))
      return ranged(request, response, content())
    })
    expect((await failure()).code).toBe('KX_KAFKA_CHECKSUM')
    expect(mirror.asked[1]?.headers['if-range']).toBeDefined()
    expectComplete((await fetchLibs()).libs)
  })

  it('starts over when the server ignores Range', async () => {
    mirror.answers.push((_request, response, file) => {
      response.writeHead(200, {'content-length': file?.length})
      response.write(file?.subarray(0, 50_000), () => response.destroy())
    }, whole)
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked[1]?.headers.range).toBe('bytes=50000-')
    expect(mirror.asked[1]?.headers['if-range']).toBeUndefined()
  })

  it('starts over when the server goes on at another byte than it was asked for', async () => {
    mirror.answers.push(
      only(50_000, 'cut'),
      (_request, response, file) => {
        const rest = file?.subarray(40_000) as Buffer
        response.writeHead(206, {'content-range': `bytes 40000-${(file?.length ?? 0) - 1}/${file?.length}`}).end(rest)
      },
      ranged,
    )
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked[2]?.headers.range).toBeUndefined()
  })

  it('needs nothing more when only the rename was missing', async () => {
    mirror.answers.push(only(50_000, 'cut'), only(0, 'cut'))
    await failure()
    writeFileSync(part(), content())
    mirror.answers.splice(0, 2, ranged)
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked.at(-1)?.headers.range).toBe(`bytes=${content().length}-`)
  })
})

describe('a stalled transfer', () => {
  beforeEach(() => {
    stallMs = 400
  })

  it('is cut by kx, gone on from, and in the end given up with what it waited for', async () => {
    mirror.answers.push(only(50_000, 'silence'), only(10_000, 'silence'), only(0, 'silence'))
    const error = await failure()
    expect(error.code).toBe('KX_KAFKA_JARS')
    expect(error.message).toContain(
      `127.0.0.1:${mirror.port} sent nothing for 400 ms, at the last of 5 tries; 58.6 KiB are kept`,
    )
    expect(mirror.asked).toHaveLength(5)
  })

  it('is noticed before the first byte too', async () => {
    mirror.answers.push(() => undefined)
    expect((await failure()).message).toContain('sent nothing for 400 ms, at the last of 3 tries')
  })

  it('ends at once when the signal fires, and keeps what had come', async () => {
    mirror.answers.push(only(50_000, 'silence'))
    const stop = new AbortController()
    const running = kafkaLibs({
      version,
      signal: stop.signal,
      progress: () => undefined,
      env: environment(),
      stallMs: 60_000,
    })
    const outcome = running.then(
      () => undefined,
      (error: unknown) => error,
    )
    await until('the first 50 kB', () => (sizeOf(part()) === 50_000 ? true : undefined), {timeoutMs: 10_000})
    const before = performance.now()
    stop.abort()
    expect(await outcome).toMatchObject({kind: 'interrupted', code: 'KX_INTERRUPTED'})
    expect(performance.now() - before).toBeLessThan(2_000)
    expect(readdirSync(folder()).sort()).toEqual([`${archiveName}.part`, `${archiveName}.part.json`])
  })
})

describe('what the server sends', () => {
  it('is deleted when it is not what the checksum says', async () => {
    mirror.serve(content(), gpgChecksum(Buffer.from('something else')))
    const error = await failure()
    expect(error).toMatchObject({kind: 'environment', code: 'KX_KAFKA_CHECKSUM'})
    expect(error.message).toMatch(
      /is not what its checksum file says: its SHA-512 is [0-9a-f]{16}…, expected [0-9a-f]{16}…\. It was deleted\./,
    )
    expect(error.suggestions).toHaveLength(2)
    expect(readdirSync(join(cache, 'kx', 'kafka'))).toEqual([])
    expect(mirror.asked).toHaveLength(1)
  })

  it('gets one chance as a whole when the half of an earlier run was at fault', async () => {
    mirror.answers.push(only(50_000, 'cut'), only(0, 'cut'))
    await failure()
    writeFileSync(part(), Buffer.alloc(50_000, 7))
    mirror.answers.splice(0, 2, ranged)
    expectComplete((await fetchLibs()).libs)
    expect(phases).toContain('what an earlier run had fetched does not fit: fetching all of it again')
  })

  it('is refused when the checksum file holds none', async () => {
    mirror.serve(content(), '<html>Sign in to the hotel network</html>')
    expect((await failure()).message).toContain(`${archiveName}.sha512 holds no SHA-512`)
    expect(mirror.asked).toHaveLength(0)
  })

  it('is an unknown version when the server has no such file, and nothing is left behind', async () => {
    mirror.files.clear()
    const error = await failure()
    expect(error).toMatchObject({kind: 'usage', code: 'KX_KAFKA_VERSION'})
    expect(error.message).toContain(`There is no Kafka ${version} that kx could start`)
    expect(error.message).toContain('(404)')
    expect(error.suggestions).toEqual(['Take one of 4.0.2, 4.1.2, 4.2.2, 4.3.1, 4.4.0.'])
    expect(readdirSync(join(cache, 'kx', 'kafka'))).toEqual([])
  })

  it('may fail at the checksum too, which is tried again', async () => {
    mirror.checksumAnswers.push(status(503), (_request, response) => void response.destroy())
    expectComplete((await fetchLibs()).libs)
    mirror.checksumAnswers.push(status(503), status(503), status(503))
    rmSync(folder(), {recursive: true})
    expect((await failure()).message).toContain('answered with status 503, at the last of 3 tries')
  })

  it.each([
    [500, 3],
    [503, 3],
    [403, 1],
  ])('may be status %i, which is tried %i times', async (code, times) => {
    mirror.answers.push(status(code))
    expect((await failure()).message).toContain(`answered with status ${code}`)
    expect(mirror.asked).toHaveLength(times)
  })

  it('can put no file outside of the folder, nor links into it', async () => {
    const root = `kafka_2.13-${version}`
    mirror.serve(
      await at.archive(
        {name: '../../../../escaped.jar', content: 'x'},
        {name: `${root}/libs/../../escaped.jar`, content: 'x'},
        {name: `${root}/libs/sub/escaped.jar`, content: 'x'},
        {name: `/${root}/libs/escaped.jar`, content: 'x'},
        {name: `${root}/libs/link.jar`, type: 'symlink', linkname: '/etc/passwd'},
      ),
    )
    expectComplete((await fetchLibs()).libs)
    expect(readdirSync(cache)).toEqual(['kx'])
  })

  it('may be an archive that ends in the middle', async () => {
    mirror.serve(content().subarray(0, 100_000))
    const error = await failure()
    expect(error.code).toBe('KX_KAFKA_JARS')
    expect(error.message).toContain("can't be unpacked (unexpected end of file)")
    expect(readdirSync(join(cache, 'kx', 'kafka'))).toEqual([])
  })

  it('may be an archive of something else', async () => {
    mirror.serve(await at.tgz([{name: `kafka_2.13-${version}/libs/other.jar`, content: 'x'}]))
    expect((await failure()).message).toContain(`holds no kafka_2.13-${version}.jar, kafka-clients-${version}.jar`)
  })
})

describe('a proxy', () => {
  it('is asked in absolute form for http, with the credentials of its URL', async () => {
    await using proxy = await startProxy(() => mirror.port)
    const base = 'http://mirror.invalid/dist/kafka'
    const {libs} = await fetchLibs(
      environment({KX_KAFKA_MIRROR: base, http_proxy: `http://us%40er:pass@${proxy.host}`}),
    )
    expectComplete(libs)
    expect(proxy.asked.map(({url}) => url)).toEqual([
      `${base}/${version}/${archiveName}.sha512`,
      `${base}/${version}/${archiveName}`,
    ])
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from('us@er:pass').toString('base64')}`)
    expect(mirror.asked[0]?.headers.host).toBe('mirror.invalid')
  })

  it('that wants a password says so, without the tries of a broken line', async () => {
    await using proxy = await startProxy(() => mirror.port, 'Basic other')
    const error = await failure(
      environment({http_proxy: `http://user:secret@${proxy.host}`, KX_KAFKA_MIRROR: 'http://mirror.invalid'}),
    )
    expect(error.message).toContain('asks for a user name and a password (407)')
    expect(error.message).not.toContain('secret')
    expect(proxy.asked).toHaveLength(1)
  })

  it('is not asked for what NO_PROXY names', async () => {
    await using proxy = await startProxy(() => mirror.port)
    await fetchLibs(environment({HTTP_PROXY: `http://${proxy.host}`, NO_PROXY: 'localhost, 127.0.0.0/8'}))
    expect(proxy.asked).toHaveLength(0)
  })

  it('is named when nothing listens there', async () => {
    const closed = await startProxy(() => 0)
    await closed[Symbol.asyncDispose]()
    const error = await failure(environment({http_proxy: `http://${closed.host}`}))
    expect(error.message).toContain(`nothing listens at the proxy ${closed.host}`)
  })

  it('of a kind that kx does not know is refused by name', async () => {
    const error = await failure(environment({http_proxy: 'socks5://127.0.0.1:1080'}))
    expect(error.message).toContain('the proxy socks5://127.0.0.1:1080 is none that kx can use')
  })

  it('is asked to CONNECT for https, and the certificate behind it is checked', async () => {
    await using secure = await Mirror.start('https')
    await using proxy = await startProxy(() => secure.port)
    const env = environment({
      KX_KAFKA_MIRROR: 'https://localhost/dist/kafka',
      https_proxy: `http://user:pass@${proxy.host}`,
    })
    const error = await failure(env)
    expect(error.message).toContain('the certificate of localhost is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(secure.asked).toHaveLength(0)

    const told = await run({...env, NODE_EXTRA_CA_CERTS: at.certificate})
    expect(told.at(-1)).toMatchObject({origin: 'archive of localhost'})
    expectComplete(join(folder(), 'libs'))
    expect(secure.asked).toHaveLength(1)
    expect(proxy.asked.at(-1)).toEqual({
      method: 'CONNECT',
      url: 'localhost:443',
      authorization: `Basic ${btoa('user:pass')}`,
    })
  })
})

describe('several kx processes', () => {
  it('fetch once: the others wait for the first', async () => {
    const others: string[] = []
    mirror.answers.push(async (request, response, file) => {
      // Answers only when a process waits for the one that asks.
      await until('a process that waits', () => (others.join('').includes('waiting: pid') ? true : undefined), {
        timeoutMs: 20_000,
      })
      await ranged(request, response, file)
    })
    const answers = await Promise.all([run(environment(), others), run(environment(), others)])
    expect(answers.map(lines => (lines.at(-1) as {libs?: string}).libs)).toEqual(Array(2).fill(join(folder(), 'libs')))
    expect(mirror.asked).toHaveLength(1)
    expectComplete(join(folder(), 'libs'))
  })

  it('that was killed in the middle leaves its half to the next, and holds up nobody', async () => {
    mirror.answers.push(only(50_000, 'silence'), ranged)
    const child = spawn(process.execPath, childArguments, {env: environment(), stdio: 'ignore'})
    const gone = new Promise(resolve => child.once('exit', resolve))
    await until('the first 50 kB', () => (sizeOf(part()) === 50_000 ? true : undefined), {timeoutMs: 20_000})
    child.kill('SIGKILL')
    await gone
    expectComplete((await fetchLibs()).libs)
    expect(mirror.asked.at(-1)?.headers.range).toBe('bytes=50000-')
  })
})

describe('the cache', () => {
  it('that is a file and no folder is named, with the variable that moves it', async () => {
    writeFileSync(join(cache, 'kx'), '')
    const error = await failure()
    expect(error).toMatchObject({kind: 'environment', code: 'KX_NOT_WRITABLE'})
    expect(error.message).toBe(`The folder ${folder()} can't be written: a file is in the way.`)
    expect(error.suggestions[0]).toContain('XDG_CACHE_HOME')
  })

  it('that somebody else filled is used as it is', async () => {
    mkdirSync(join(folder(), 'libs'), {recursive: true})
    for (const [name, text] of Object.entries(jars)) writeFileSync(join(folder(), 'libs', name), text)
    expect(await fetchLibs()).toEqual({libs: join(folder(), 'libs'), origin: "kx's cache"})
  })
})

const childArguments = ['--import', 'tsx', join(import.meta.dirname, 'archive', 'fetch.ts')]

/** The same in a process of its own; the lines that it printed. What it prints is also put into `heard` as it comes. */
async function run(env: NodeJS.ProcessEnv, heard: string[] = []): Promise<unknown[]> {
  const own: string[] = []
  const child = spawn(process.execPath, childArguments, {env, stdio: ['ignore', 'pipe', 'inherit'], timeout: 25_000})
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    own.push(text)
    heard.push(text)
  })
  await new Promise(resolve => child.once('close', resolve))
  return own
    .join('')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as unknown)
}

function sizeOf(path: string): number {
  return statSync(path, {throwIfNoEntry: false})?.size ?? 0
}
