import {createHash} from 'node:crypto'
import {readdirSync, readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import type {AnyExperiment} from '../experiment/experiment.js'
import {KxError} from '../util/errors.js'

const folder = new URL('../../experiments/', import.meta.url)

/** The names of all experiments: the files of `experiments/`. Imports none of them. */
export function experimentNames(): string[] {
  return readdirSync(folder)
    .filter(file => /^[a-z0-9-]+\.(js|ts)$/.test(file))
    .map(file => file.replace(/\.(js|ts)$/, ''))
    .sort()
}

/** @throws KxError KX_NO_EXPERIMENT (usage) */
export async function loadExperiment(name: string): Promise<AnyExperiment> {
  if (!experimentNames().includes(name)) {
    throw new KxError('usage', 'KX_NO_EXPERIMENT', `There is no experiment "${name}".`, {
      suggestions: [`Take one of ${experimentNames().join(', ')} (kx experiment list).`],
    })
  }
  const module = (await import(fileOf(name).href)) as {default: AnyExperiment}
  return module.default
}

/** SHA-256 of the experiment's file as it runs, so that a later judgement can say that it has changed since. */
export function experimentHash(name: string): string {
  return createHash('sha256')
    .update(readFileSync(fileURLToPath(fileOf(name))))
    .digest('hex')
}

function fileOf(name: string): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`${name}.${extension}`, folder)
}
