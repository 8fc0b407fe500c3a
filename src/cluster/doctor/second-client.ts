import {access, mkdir, readdir, rename, rm, writeFile} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {execa} from 'execa'
import {KxError} from '../../util/errors.js'
import {interrupted} from '../../util/until.js'
import {cacheFolder} from '../cache.js'
import {diskError} from '../disk.js'
import {endedBy} from '../local/group.js'
import {identify} from '../owner.js'
import {type Finding, ok} from './finding.js'
import type {Host} from './host.js'

export const secondClientVersion = '1.10.1'
const packageName = '@confluentinc/kafka-javascript'

/** What it is built with where no binary of its makers can be had. */
const headers: Readonly<Partial<Record<NonNullable<Host['manager']>, string>>> = {
  'apt-get': 'g++ make python3 libssl-dev zlib1g-dev libzstd-dev liblz4-dev libcurl4-openssl-dev libsasl2-dev',
  dnf: 'gcc-c++ make python3 openssl-devel zlib-devel libzstd-devel lz4-devel libcurl-devel cyrus-sasl-devel',
  apk: 'g++ make python3 openssl-dev zlib-dev zstd-dev lz4-dev curl-dev cyrus-sasl-dev',
  brew: 'openssl zstd lz4 curl',
}

/** `<cache>/clients/kafka-javascript/<version>`; `./setup --for-tests` puts it there too. */
export function secondClientFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(cacheFolder(env), 'clients', 'kafka-javascript', secondClientVersion)
}

/** The path to give to `require`. */
export function secondClientModule(folder: string): string {
  return join(folder, 'node_modules', packageName)
}

export async function secondClientFinding(env: NodeJS.ProcessEnv): Promise<Finding> {
  if (await loads(secondClientFolder(env), env))
    return ok('second-client', `The second client, librdkafka (${packageName} ${secondClientVersion}), is installed.`)
  return ok(
    'second-client',
    'The second client, librdkafka, is not installed; only experiments that ask for it need it.',
    {cure: 'kx doctor --fix librdkafka'},
  )
}

export interface FixOptions {
  readonly env: NodeJS.ProcessEnv
  readonly host: Host
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
}

/**
 * Installs the second client: with the binary of its makers where that can be had, else compiled here against the
 * system's libraries. It appears whole or not at all.
 * @returns one sentence that says what was done
 * @throws KxError KX_SECOND_CLIENT, KX_DISK_FULL, KX_NOT_WRITABLE (environment); KX_INTERRUPTED
 */
export async function installSecondClient({env, host, signal, progress}: FixOptions): Promise<string> {
  const folder = secondClientFolder(env)
  if (await loads(folder, env)) return `${packageName} ${secondClientVersion} is there already.`
  const work = join(dirname(folder), `.${secondClientVersion}-${process.pid}`)
  try {
    await removeLeftovers(dirname(folder))
    await mkdir(work, {recursive: true})
    await writeFile(join(work, 'package.json'), '{"private": true}\n')
    progress(`fetching ${packageName} ${secondClientVersion} with npm`)
    const npm = ['install', '--prefix', work, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await must('npm', [...npm, `${packageName}@${secondClientVersion}`], {env, signal, host, timeoutMs: 5 * 60_000})
    progress('looking for the binary of its makers')
    const module = secondClientModule(work)
    const binary = await run(join(work, 'node_modules', '.bin', 'node-pre-gyp'), ['install'], {
      env,
      signal,
      cwd: module,
      timeoutMs: 2 * 60_000,
    })
    const prebuilt = binary.ok && (await loads(work, env))
    if (!prebuilt) await build(work, {env, host, signal, progress})
    await rm(folder, {recursive: true, force: true})
    await rename(work, folder)
    return `${packageName} ${secondClientVersion} was ${prebuilt ? 'installed with the binary of its makers' : 'compiled here'}, in ${folder}.`
  } catch (error) {
    throw diskError(error, dirname(folder), "Name another folder for kx's cache in XDG_CACHE_HOME.")
  } finally {
    await rm(work, {recursive: true, force: true})
  }
}

async function build(work: string, {env, host, signal, progress}: FixOptions): Promise<void> {
  progress('none for this machine: compiling it, which takes one to three minutes')
  const module = secondClientModule(work)
  const prefix = resolve(process.execPath, '../..')
  // The headers that came with this Node, where they did; else node-gyp fetches them.
  const own = await access(join(prefix, 'include', 'node', 'node.h')).then(
    () => ({npm_config_nodedir: prefix}),
    () => ({}),
  )
  const npm = ['rebuild', '--prefix', work, '--ignore-scripts=false', '--foreground-scripts', packageName]
  const building = {...env, ...own, CKJS_LINKING: 'dynamic'}
  await must('npm', npm, {env: building, signal, host, timeoutMs: 20 * 60_000})
  // 300 MB of sources and objects; the addon finds its libraries beside itself.
  const libraries = join(module, 'build', 'deps')
  const archives = (await readdir(libraries).catch(() => [])).filter(name => name.endsWith('.a'))
  const spent = ['deps/librdkafka', 'build/Release/obj.target', 'build/deps/librdkafka'].map(path => join(module, path))
  for (const path of [...spent, ...archives.map(name => join(libraries, name))])
    await rm(path, {recursive: true, force: true})
  if (!(await loads(work, env))) throw failed('it was built, but does not load in this Node', host)
}

/** What runs that were killed have left. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = new RegExp(`^\\.${secondClientVersion.replaceAll('.', '\\.')}-(\\d+)$`).exec(name)?.[1]
    if (pid !== undefined && !(await identify(Number(pid))))
      await rm(join(folder, name), {recursive: true, force: true})
  }
}

interface Running {
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly cwd?: string
}

async function must(command: string, args: readonly string[], options: Running & {readonly host: Host}): Promise<void> {
  const {ok: worked, why} = await run(command, args, options)
  if (!worked) throw failed(why, options.host)
}

/** Runs it in a group of its own, so that compilers end with it. */
async function run(
  command: string,
  args: readonly string[],
  {env, signal, timeoutMs, cwd}: Running,
): Promise<{readonly ok: boolean; readonly why: string}> {
  const late = AbortSignal.timeout(timeoutMs)
  const child = execa(command, args, {
    env,
    extendEnv: false,
    reject: false,
    all: true,
    stdin: 'ignore',
    detached: true,
    ...(cwd ? {cwd} : {}),
  })
  using _group = endedBy(AbortSignal.any([signal, late]), child.pid)
  const {exitCode, all = '', code} = await child
  if (signal.aborted) throw interrupted('the installation of the second client')
  if (late.aborted) return {ok: false, why: `${command} did not end within ${timeoutMs / 60_000} minutes`}
  if (code === 'ENOENT') return {ok: false, why: `there is no ${command} on the PATH`}
  const said = all.trim().split('\n').slice(-3).join(' ').slice(-400)
  return {ok: exitCode === 0, why: `${command} ${args[0]} failed: ${said || 'it said nothing'}`}
}

function failed(why: string, {manager, root}: Host): KxError {
  const needed = manager && headers[manager]
  const sudo = root || manager === 'brew' ? '' : 'sudo '
  const verb = manager === 'apk' ? 'add' : 'install'
  const cure = needed
    ? `${sudo}${manager} ${verb} ${needed}`
    : 'It needs a C++ compiler, make, Python 3 and the headers of OpenSSL, zlib, zstd, lz4, curl and Cyrus SASL.'
  return new KxError(
    'environment',
    'KX_SECOND_CLIENT',
    `The second client could not be installed: ${why.replace(/\.$/, '')}.`,
    {
      suggestions: [
        `What it is built with: ${cure}`,
        'Then again: kx doctor --fix librdkafka',
        'Experiments that do not ask for it run without.',
      ],
    },
  )
}

/** In a process of its own: an addon that does not fit can end the process that loads it. */
async function loads(folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const {exitCode} = await execa(process.execPath, ['-e', `require(${JSON.stringify(secondClientModule(folder))})`], {
    env,
    extendEnv: false,
    reject: false,
    timeout: 20_000,
    stdin: 'ignore',
  })
  return exitCode === 0
}
