import {existsSync, readFileSync} from 'node:fs'
import {homedir} from 'node:os'
import {dirname, isAbsolute, join, normalize} from 'node:path'
import {KxError, messageOf} from '../util/errors.js'
import {nearest} from './nearest.js'

/**
 * Flags that may be preset. `user`: not by a project's file, which comes with a clone and must neither name what is
 * executed nor let results be written outside the project.
 */
const settings: Readonly<Record<string, 'anywhere' | 'user' | 'inside'>> = {
  output: 'anywhere',
  'no-progress': 'anywhere',
  runtime: 'anywhere',
  name: 'anywhere',
  brokers: 'anywhere',
  controllers: 'anywhere',
  combined: 'anywhere',
  'kafka-version': 'anywhere',
  'kafka-home': 'user',
  image: 'user',
  profile: 'anywhere',
  config: 'anywhere',
  heap: 'anywhere',
  'port-base': 'anywhere',
  timeout: 'anywhere',
  results: 'inside',
}

/** A preset value as text for the parser, and where it comes from. */
export interface Preset {
  readonly flag: string
  readonly values: readonly string[]
  readonly source: string
}

export interface ConfigPlace {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** What lies below the flags: `KX_…` variables, then `.kx.yml` upward to the git root, then the user's `config.yml`. */
export async function presets({cwd, env}: ConfigPlace): Promise<Preset[]> {
  const files = [
    ...projectFiles(cwd).map(path => ({path, project: true})),
    {path: join(configFolder(env), 'config.yml'), project: false},
  ]
  const found = fromEnvironment(env)
  for (const {path, project} of files) if (existsSync(path)) found.push(...(await fromFile(path, project)))
  const seen = new Set<string>()
  return found.filter(({flag}) => !seen.has(flag) && seen.add(flag))
}

export function configFolder(env: NodeJS.ProcessEnv): string {
  const said = env.XDG_CONFIG_HOME
  return join(said && isAbsolute(said) ? said : join(env.HOME || homedir(), '.config'), 'kx')
}

function fromEnvironment(env: NodeJS.ProcessEnv): Preset[] {
  // KX_KAFKA_HOME is no flag in disguise: that would rule out Docker. The search for Kafka's jars reads it.
  const flags = Object.keys(settings).filter(flag => flag !== 'kafka-home')
  return flags.flatMap(flag => {
    const name = `KX_${flag.toUpperCase().replaceAll('-', '_')}`
    const value = env[name]
    if (value === undefined || value === '') return []
    // One variable holds several `--config`: divided by semicolons, because values of brokers contain commas.
    return [{flag, values: flag === 'config' ? value.split(';') : [value], source: name}]
  })
}

/** `.kx.yml` of the folder and of its parents, nearest first, up to the git root; outside a repository only the folder's. */
function projectFiles(cwd: string): string[] {
  const folders = [cwd]
  while (!existsSync(join(folders.at(-1)!, '.git'))) {
    const parent = dirname(folders.at(-1)!)
    if (parent === folders.at(-1)) return [join(cwd, '.kx.yml')]
    folders.push(parent)
  }
  return folders.map(folder => join(folder, '.kx.yml'))
}

async function fromFile(path: string, project: boolean): Promise<Preset[]> {
  const {parse} = await import('yaml')
  let content: unknown
  try {
    content = parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    throw new KxError('usage', 'KX_CONFIG', `${path} can't be read: ${messageOf(error).split('\n')[0]}`, {cause: error})
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new KxError('usage', 'KX_CONFIG', `${path} must hold settings, one "name: value" a line.`)
  }
  return Object.entries(content).map(([flag, value]) => preset(path, project, flag, value))
}

function preset(path: string, project: boolean, flag: string, value: unknown): Preset {
  const rule = settings[flag]
  if (rule === undefined) {
    const meant = nearest(flag, Object.keys(settings))
    throw new KxError('usage', 'KX_CONFIG', `${path} sets "${flag}", which is no setting of kx.`, {
      suggestions: [
        meant.length > 0 ? `Did you mean ${meant.join(' or ')}?` : `Settings: ${Object.keys(settings).join(', ')}.`,
      ],
    })
  }
  if (project && rule === 'user') {
    throw new KxError(
      'usage',
      'KX_CONFIG_UNTRUSTED',
      `${path} sets "${flag}": a project's file can't name what kx executes.`,
      {
        suggestions: [`Give --${flag}, or set it in config.yml under $XDG_CONFIG_HOME/kx.`],
      },
    )
  }
  const values = valuesOf(path, flag, value)
  if (rule === 'inside') return {flag, values: values.map(text => folderOf(path, project, text)), source: path}
  return {flag, values, source: path}
}

function valuesOf(path: string, flag: string, value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  if (flag === 'config' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).map(([key, inner]) => `${key}=${String(inner)}`)
  }
  if (flag === 'config' && Array.isArray(value)) return value.map(String)
  throw new KxError(
    'usage',
    'KX_CONFIG',
    `${path}: "${flag}" must be ${flag === 'config' ? 'a mapping of names to values' : 'one value'}.`,
  )
}

/** Folders in a file are relative to that file; a project's own must stay inside the project. */
function folderOf(path: string, project: boolean, text: string): string {
  if (project && (isAbsolute(text) || normalize(text).startsWith('..'))) {
    throw new KxError(
      'usage',
      'KX_CONFIG_UNTRUSTED',
      `${path} lets results be written to "${text}", outside the project.`,
      {
        suggestions: ['Give --results, or name a folder inside the project.'],
      },
    )
  }
  return isAbsolute(text) ? text : join(dirname(path), text)
}
