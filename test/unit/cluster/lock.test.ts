import {spawn} from 'node:child_process'
import {existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Lock, tryLock} from '../../../src/cluster/lock.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-lock-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

const isLock = (found: object): found is Lock => !('heldBy' in found)

describe('a lock', () => {
  it('is given once, and again after it was released', async () => {
    const path = join(folder, 'a.lock')
    const first = await tryLock(path, 'first')
    if (!isLock(first)) throw new Error('not given')
    expect(await tryLock(path, 'second')).toMatchObject({heldBy: {pid: process.pid, purpose: 'first'}})
    first[Symbol.dispose]()
    expect(existsSync(path)).toBe(false)
    expect(isLock(await tryLock(path, 'third'))).toBe(true)
  })

  it('goes to exactly one of many that ask at once, and leaves no drafts behind', async () => {
    const path = join(folder, 'b.lock')
    const found = await Promise.all(Array.from({length: 20}, (_, index) => tryLock(path, `number ${index}`)))
    expect(found.filter(isLock)).toHaveLength(1)
    expect(readdirSync(folder)).toEqual(['b.lock'])
  })

  it('is taken over from a process that is gone', async () => {
    const path = join(folder, 'c.lock')
    writeFileSync(path, JSON.stringify({pid: process.pid, startTime: '1@00000000', purpose: 'crashed', since: 'then'}))
    expect(isLock(await tryLock(path, 'next'))).toBe(true)
  })

  it('is taken over by exactly one of many', async () => {
    const path = join(folder, 'd.lock')
    writeFileSync(path, JSON.stringify({pid: process.pid, startTime: '1@00000000', purpose: 'crashed', since: 'then'}))
    const found = await Promise.all(Array.from({length: 20}, (_, index) => tryLock(path, `number ${index}`)))
    expect(found.filter(isLock)).toHaveLength(1)
    expect(readdirSync(folder)).toEqual(['d.lock'])
  })

  it('is taken over when its file says nothing', async () => {
    const path = join(folder, 'e.lock')
    writeFileSync(path, '')
    expect(isLock(await tryLock(path, 'next'))).toBe(true)
  })

  it('is not released by one that lost it', async () => {
    const path = join(folder, 'f.lock')
    const mine = await tryLock(path, 'mine')
    if (!isLock(mine)) throw new Error('not given')
    writeFileSync(path, JSON.stringify({pid: 1, startTime: 'x', purpose: "somebody else's", since: 'now'}))
    mine[Symbol.dispose]()
    expect(existsSync(path)).toBe(true)
  })

  it('is held by one of two processes that ask at the same moment', async () => {
    const path = join(folder, 'g.lock')
    const source = new URL('../../../src/cluster/lock.ts', import.meta.url).pathname
    const script = `import {tryLock} from ${JSON.stringify(source)}
      const found = await tryLock(${JSON.stringify(path)}, 'child')
      process.stdout.write('heldBy' in found ? 'refused' : 'given')
      process.stdin.resume() // keeps the lock until both have asked`
    const file = join(folder, 'child.mts')
    writeFileSync(file, script)
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, ['--import', 'tsx', file], {stdio: ['pipe', 'pipe', 'inherit'], cwd: process.cwd()}),
    )
    const answers = await Promise.all(
      children.map(child => new Promise<string>(resolve => child.stdout.once('data', data => resolve(String(data))))),
    )
    for (const child of children) child.stdin.end()
    expect(answers.sort()).toEqual(['given', 'refused', 'refused'])
  })
})
