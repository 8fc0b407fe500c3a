import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs'
import {fileURLToPath} from 'node:url'

/** A file of a broker, or one that was made up or damaged on purpose, from `test/golden`. */
export interface GoldenFile {
  /** Below `test/golden`. */
  readonly path: string
  readonly folder: string
  readonly name: string
  readonly bytes: Buffer
}

export const goldenRoot = fileURLToPath(new URL('../../golden/', import.meta.url))

/** What the tools printed, and what describes the cases. */
const isInput = (name: string): boolean => !/^original\d|\.(txt|md|json)$/.test(name)

/** All input files below `test/golden/dump-log` and `test/golden/log`. */
export function goldenFiles(): readonly GoldenFile[] {
  return ['dump-log', 'log']
    .filter(root => existsSync(`${goldenRoot}${root}`))
    .flatMap(root =>
      readdirSync(`${goldenRoot}${root}`, {recursive: true})
        .map(path => `${root}/${path}`)
        .filter(path => isInput(path.slice(path.lastIndexOf('/') + 1)) && statSync(`${goldenRoot}${path}`).isFile())
        .sort()
        .map(path => ({
          path,
          folder: path.slice(0, path.lastIndexOf('/')),
          name: path.slice(path.lastIndexOf('/') + 1),
          bytes: readFileSync(`${goldenRoot}${path}`),
        })),
    )
}
