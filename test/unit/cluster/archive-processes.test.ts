import {spawn} from 'node:child_process'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {until} from '../../../src/util/until.js'
import {
  aMachineWithoutMaven,
  environment,
  expectComplete,
  failure,
  fetchLibs,
  folder,
  mirror,
  part,
  sizeOf,
} from './archive/machine.js'
import * as at from './archive/server.js'
import {archiveName, Mirror, only, ranged, startProxy, version} from './archive/server.js'

aMachineWithoutMaven()

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
