import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import type {Command} from '@oclif/core'
import {Config} from '@oclif/core/config'
import {settings} from '@oclif/core/settings'
import {afterEach, beforeEach} from 'vitest'
import commands from '../commands/index.js'

export const root = fileURLToPath(new URL('..', import.meta.url))

export interface Said {
  readonly stdout: string
  readonly stderr: string
  readonly exit: number | undefined
}

let config: Config | undefined

/** A configuration that knows no commands: the tests take them from the table, so that nothing is transpiled by oclif. */
export async function withoutCommands(): Promise<Config> {
  settings.enableAutoTranspile = false
  const pjson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  delete pjson.oclif.commands
  config ??= await Config.load({root, pjson})
  return config
}

/** Runs a command of kx in this process. */
export async function kx(...argv: string[]): Promise<Said> {
  const table: Readonly<Record<string, Command.Class>> = commands
  const words = [argv.slice(0, 2).join(':'), argv[0] ?? ''].find(id => id in table)
  const command = table[words ?? '']
  if (words === undefined || command === undefined) throw new Error(`no command in ${argv.join(' ')}`)
  command.id = words
  const loaded = await withoutCommands()
  const before = process.exitCode
  try {
    process.exitCode = undefined
    const {stdout, stderr} = await captured(() => command.run(argv.slice(words.split(':').length), loaded))
    return {stdout, stderr, exit: process.exitCode as number | undefined}
  } finally {
    process.exitCode = before
  }
}

/** What is written while `run` runs. Buffers are copied: whoever writes may use them again. */
async function captured(run: () => Promise<unknown>): Promise<{stdout: string; stderr: string}> {
  const streams = [process.stdout, process.stderr] as const
  const before = streams.map(stream => stream.write)
  const parts: Buffer[][] = [[], []]
  streams.forEach((stream, n) => {
    stream.write = (chunk: Uint8Array | string, encoding?: unknown, done?: unknown): boolean => {
      parts[n]?.push(Buffer.from(chunk as string))
      for (const callback of [encoding, done]) if (typeof callback === 'function') callback()
      return true
    }
  })
  try {
    await run()
  } finally {
    streams.forEach((stream, n) => {
      stream.write = before[n] as typeof stream.write
    })
  }
  const [stdout = '', stderr = ''] = parts.map(part => Buffer.concat(part).toString())
  return {stdout, stderr}
}

/** The tests' own world: nothing of the person's clusters, settings, or terminal. Returns a cure. */
export function inWorld(variables: Readonly<Record<string, string | undefined>>): () => void {
  const before = {...process.env}
  for (const name of Object.keys(process.env)) {
    if (/^(KX_|XDG_|NO_COLOR$|FORCE_COLOR$|CI$|COLUMNS$|LC_|LANG$|DOCKER_)/.test(name)) delete process.env[name]
  }
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/** Every test of the file runs in an empty folder of its own, which is its home too. Returns where that is. */
export function inOwnFolder(): () => string {
  let folder = ''
  let home = ''
  let cure = () => {}
  beforeEach(() => {
    home = process.cwd()
    folder = mkdtempSync(join(tmpdir(), 'kx-dump-log-'))
    cure = inWorld({HOME: folder, XDG_STATE_HOME: join(folder, 'state')})
    process.chdir(folder)
  })
  afterEach(() => {
    process.chdir(home)
    cure()
    rmSync(folder, {recursive: true, force: true})
  })
  return () => folder
}
