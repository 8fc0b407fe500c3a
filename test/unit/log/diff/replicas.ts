import {readdirSync, readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {diffReplicas} from '../../../../src/log/diff/compare.js'
import type {Conclusion, DiffOptions, ReplicaDiff, ReplicaInput} from '../../../../src/log/diff/types.js'
import type {Folder} from '../../../../src/log/folder.js'
import {type WritableBatch, writeBatch} from '../../../../src/log/write-batch.js'

const goldens = fileURLToPath(new URL('../../../golden/dump-log/real/', import.meta.url))
export const first = '00000000000000000000.log'

export type Files = Readonly<Record<string, Buffer>>

export function folderOf(path: string, files: Files): Folder {
  return {
    path,
    list: async () => Object.keys(files),
    async open(name) {
      const bytes = files[name]
      return bytes && {...bufferSource(bytes), path: `${path}/${name}`, name}
    },
  }
}

/** The files of a real broker. */
export function real(folder: string): Files {
  const names = readdirSync(goldens + folder).filter(name => !name.startsWith('original'))
  return Object.fromEntries(names.map(name => [name, readFileSync(`${goldens}${folder}/${name}`)]))
}

/** Compares replicas that are called a, b, c, … */
export function compare(
  replicas: readonly Files[],
  options: DiffOptions & {leader?: number} = {},
): Promise<ReplicaDiff> {
  const inputs = replicas.map((files, index): ReplicaInput => {
    const name = String.fromCharCode(97 + index)
    const role =
      options.leader === undefined ? {} : {role: options.leader === index ? ('leader' as const) : ('follower' as const)}
    return {name, folder: folderOf(name, files), ...role}
  })
  return diffReplicas(inputs, options)
}

export function conclusion(diff: ReplicaDiff, code: Conclusion['code']): Conclusion {
  const [found, ...more] = diff.conclusions.filter(one => one.code === code)
  if (!found || more.length > 0)
    throw new Error(`not one ${code} in ${JSON.stringify(diff.conclusions.map(one => one.code))}`)
  return found
}

export const codes = (diff: ReplicaDiff): string[] => diff.conclusions.map(({code}) => code)

const t0 = 1_700_000_000_000n

/** A batch of records with keys and values that say their offset and whose they are. */
export function batch(
  from: number,
  count: number,
  {tag = 'v', ...rest}: Partial<WritableBatch> & {tag?: string} = {},
): Buffer {
  return writeBatch({
    baseOffset: BigInt(from),
    leaderEpoch: 0,
    records: Array.from({length: count}, (_, index) => ({
      timestamp: t0 + BigInt(from + index),
      key: Buffer.from(`key-${from + index}`),
      value: Buffer.from(`${tag}-${from + index}`),
    })),
    ...rest,
  })
}

export function log(...batches: readonly Buffer[]): Files {
  return {[first]: Buffer.concat(batches)}
}

export function checkpoint(...entries: readonly (readonly [epoch: number, startOffset: number])[]): Files {
  const lines = ['0', String(entries.length), ...entries.map(([epoch, start]) => `${epoch} ${start}`)]
  return {'leader-epoch-checkpoint': Buffer.from(`${lines.join('\n')}\n`)}
}

export function flipped(bytes: Buffer, index: number, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[index] = (copy[index] ?? 0) ^ (1 << bit)
  return copy
}
