import {mkdirSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {gunzipSync, gzipSync} from 'node:zlib'
import {beforeEach, describe, expect, it} from 'vitest'
import {kafkaLibs} from '../../../src/cluster/local/jars.js'
import {until} from '../../../src/util/until.js'
import {
  aMachineWithoutMaven,
  cache,
  content,
  environment,
  expectComplete,
  failure,
  fetchLibs,
  folder,
  giveUpAfter,
  mirror,
  part,
  phases,
  sizeOf,
} from './archive/machine.js'
import * as at from './archive/server.js'
import {archiveName, archivePath, gpgChecksum, jars, only, ranged, status, version, whole} from './archive/server.js'

aMachineWithoutMaven()

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
    expect(mirror.asked[1]?.headers['if-range']).toMatch(/^"[0-9a-f]{12}"$/)
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
  beforeEach(() => giveUpAfter(400))

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
