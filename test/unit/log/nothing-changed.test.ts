import {createHash} from 'node:crypto'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {inWorld, kx} from '../../cli-harness.js'
import {goldenRoot} from './golden-files.js'

// Whatever is asked of it, `kx dump-log` leaves the files and folders as they are: on a copy of all goldens that is
// read-only, as a user who may only read. (Kafka's own tool creates an `.index` beside a `.timeindex` and opens a
// `.txnindex` for writing.)

let world: string
let copy: string
let cure: () => void
const isRoot = process.getuid?.() === 0
const nobody = 65_534

/** From the deepest to the root, so that a folder is closed after what lies in it. */
function everything(folder: string): string[] {
  return readdirSync(folder, {recursive: true})
    .map(path => join(folder, String(path)))
    .sort((a, b) => b.length - a.length)
    .concat(folder)
}

/** Names, modes, owners, sizes, contents and times to the nanosecond: `ctime` tells even what was put back. */
function stateOf(folder: string): string[] {
  return everything(folder).map(path => {
    const stat = lstatSync(path, {bigint: true})
    const hash = stat.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'
    return [path, stat.ino, stat.mode, stat.uid, stat.size, stat.mtimeNs, stat.ctimeNs, hash].join(' ')
  })
}

/** Folders of the copy that hold files, and the paths of those files. */
function folders(): {readonly folder: string; readonly files: readonly string[]}[] {
  return everything(copy)
    .filter(path => statSync(path).isDirectory())
    .map(folder => ({
      folder,
      files: readdirSync(folder)
        .filter(name => !/^original|\.(txt|json|md)$/.test(name))
        .map(name => join(folder, name))
        .filter(path => statSync(path).isFile()),
    }))
    .filter(({files}) => files.length > 0)
}

beforeAll(() => {
  world = mkdtempSync(join(tmpdir(), 'kx-read-only-'))
  cure = inWorld({HOME: world, XDG_STATE_HOME: join(world, 'state'), XDG_CACHE_HOME: join(world, 'cache')})
  copy = join(world, 'goldens')
  cpSync(join(goldenRoot, 'dump-log'), copy, {recursive: true})
  // Indexes without their log and without each other: where Kafka's tool would put an `.index`.
  cpSync(join(goldenRoot, 'dump-log/made/base'), join(copy, 'alone'), {recursive: true})
  for (const name of ['00000000000000000000.log', '00000000000000000000.index']) rmSync(join(copy, 'alone', name))
  writeFileSync(join(copy, 'alone/00000000000000000007.timeindex'), Buffer.alloc(13))
  writeFileSync(join(copy, 'alone/00000000000000000007.index'), Buffer.alloc(19, 1))
  for (const path of everything(copy)) chmodSync(path, statSync(path).isDirectory() ? 0o555 : 0o444)
  chmodSync(world, 0o755)
})
afterAll(() => {
  for (const path of everything(copy).reverse()) chmodSync(path, 0o755)
  rmSync(world, {recursive: true, force: true})
  cure()
})

/** As somebody who may read and nothing else. Root may write whatever the modes say. */
async function asReader(run: () => Promise<void>): Promise<void> {
  if (isRoot) process.seteuid?.(nobody)
  try {
    expect(() => writeFileSync(join(copy, 'written'), '')).toThrow(/EACCES|EROFS/)
    await run()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

const questions: readonly (readonly string[])[] = [
  [],
  ['-o', 'kafka', '--print-data-log'],
  ['-o', 'kafka', '--index-sanity-check'],
  ['--deep-iteration', '-o', 'ndjson'],
  ['--stats', '-o', 'json'],
  ['--verify'],
]

describe('nothing on disk is changed', {timeout: 240_000}, () => {
  test.each(questions.map(flags => ({flags, title: ['kx dump-log', ...flags].join(' ')})))(
    'by $title on every file and folder, read by somebody who may only read',
    async ({flags}) => {
      const before = stateOf(copy)
      const all = folders()
      const asked = (files: readonly string[]) =>
        flags[0] === '--stats' ? files.filter(file => file.endsWith('.log')) : files
      expect(all.length).toBeGreaterThan(50)
      // Loads what is loaded only when it is used: the code may be where only root can read.
      await kx('dump-log', ...flags, ...asked(all.find(({folder}) => folder.endsWith('/base'))?.files ?? []))
      const refused: string[] = []
      await asReader(async () => {
        for (const {folder, files} of all) {
          // Statistics are of logs only.
          if (flags[0] === '--stats' && !files.some(file => file.endsWith('.log'))) continue
          for (const said of [
            await kx('dump-log', ...flags, ...asked(files)),
            await kx('dump-log', ...flags, folder),
          ]) {
            if (![0, 1, undefined].includes(said.exit))
              refused.push(`${folder}: exit ${said.exit}: ${said.stderr.split('\n')[0]}`)
          }
        }
      })
      expect(refused).toEqual([])
      expect(stateOf(copy)).toEqual(before)
    },
  )
})
