import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect} from 'vitest'
import {kafkaLibs} from '../../../../src/cluster/local/jars.js'
import {KxError} from '../../../../src/util/errors.js'
import {archiveName, archivePath, jars, Mirror, version} from './server.js'

export let cache: string
export let mirror: Mirror
export let phases: string[]
let stallMs: number

/** Before each test: a machine without Maven, whose cache is a new folder, and whose archive is a server on loopback. */
export function aMachineWithoutMaven(): void {
  beforeEach(async () => {
    cache = mkdtempSync(join(tmpdir(), 'kx-archive-'))
    mirror = await Mirror.start()
    phases = []
    // Long, or a machine under load would look like a line that stalls.
    stallMs = 20_000
  })
  afterEach(async () => {
    await mirror[Symbol.asyncDispose]()
    rmSync(cache, {recursive: true, force: true})
  })
}

export function giveUpAfter(ms: number): void {
  stallMs = ms
}

export const folder = () => join(cache, 'kx', 'kafka', version)
export const part = () => join(folder(), `${archiveName}.part`)
export const content = () => mirror.files.get(archivePath) as Buffer

export const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  XDG_CACHE_HOME: cache,
  KX_KAFKA_MIRROR: mirror.base,
  PATH: '',
  ...more,
})

export const fetchLibs = (env: NodeJS.ProcessEnv = environment(), signal = new AbortController().signal) =>
  kafkaLibs({version, signal, progress: phase => phases.push(phase), env, stallMs, pauseMs: 1})

export async function failure(env = environment(), signal?: AbortSignal): Promise<KxError> {
  const error = await fetchLibs(env, signal).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof KxError) return error
  throw new Error(`expected a KxError, got ${error}`)
}

/** All jars are there as they were packed, and nothing else is left in the folder of the version. */
export function expectComplete(libs: string): void {
  expect(libs).toBe(join(folder(), 'libs'))
  expect(readdirSync(folder())).toEqual(['libs'])
  expect(readdirSync(libs).sort()).toEqual(['.contents.json', ...Object.keys(jars)].sort())
  for (const [name, text] of Object.entries(jars))
    expect(readFileSync(join(libs, name), 'utf8') === text, name).toBe(true)
}

export function sizeOf(path: string): number {
  return statSync(path, {throwIfNoEntry: false})?.size ?? 0
}
