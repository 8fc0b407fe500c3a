import {copyFile, mkdir, readdir, stat, writeFile} from 'node:fs/promises'
import {dirname, join, relative} from 'node:path'
import {bytes, plural} from '../util/format.js'

export interface Kept {
  readonly files: number
  readonly sizeInBytes: number
  /** Left out because of the limit. */
  readonly omitted: readonly string[]
}

/** What says most comes first; evidence and logs are what a limit takes away. */
const order = ['run.json', 'report.html', 'report.md', 'measures.csv', 'plan.json', 'faults.jsonl', 'trials.jsonl']

/**
 * Copies runs into a folder of at most `limitBytes`. A file that does not fit is left out, and named in `OMITTED.txt`.
 * `runs`: the folders of the runs by their names below `target`.
 */
export async function keepArtifacts(
  runs: Readonly<Record<string, string>>,
  target: string,
  limitBytes: number,
): Promise<Kept> {
  const files: {from: string; to: string; size: number; rank: number}[] = []
  for (const [name, dir] of Object.entries(runs)) {
    for (const from of await filesBelow(dir)) {
      const path = relative(dir, from)
      const rank = order.indexOf(path)
      files.push({from, to: join(name, path), size: (await stat(from)).size, rank: rank === -1 ? order.length : rank})
    }
  }
  files.sort((a, b) => a.rank - b.rank || a.size - b.size || (a.to < b.to ? -1 : 1))
  let sizeInBytes = 0
  const omitted: string[] = []
  await mkdir(target, {recursive: true})
  for (const {from, to, size} of files) {
    if (sizeInBytes + size > limitBytes) {
      omitted.push(to)
      continue
    }
    sizeInBytes += size
    await mkdir(dirname(join(target, to)), {recursive: true})
    await copyFile(from, join(target, to))
  }
  if (omitted.length > 0) {
    const head = `${plural(omitted.length, 'file')} left out: more than ${bytes(limitBytes)} in all.`
    await writeFile(join(target, 'OMITTED.txt'), `${[head, ...omitted].join('\n')}\n`)
  }
  return {files: files.length - omitted.length, sizeInBytes, omitted}
}

async function filesBelow(dir: string): Promise<string[]> {
  const entries = await readdir(dir, {withFileTypes: true})
  const below = await Promise.all(
    entries.map(async entry => {
      const path = join(dir, entry.name)
      if (entry.isDirectory()) return filesBelow(path)
      return entry.isFile() ? [path] : []
    }),
  )
  return below.flat()
}
