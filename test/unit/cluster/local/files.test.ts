import {appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {metaProperties, randomUuid} from '../../../../src/cluster/local/format.js'
import {dumpLogClass, nodeArguments, nodeMark} from '../../../../src/cluster/local/jvm.js'
import {filesIn, tail} from '../../../../src/cluster/local/log-files.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-files-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('the files of a partition', () => {
  it('are those of its folder, by name, with their sizes', async () => {
    writeFileSync(join(folder, '00000000000000000000.log'), 'abcdef')
    writeFileSync(join(folder, '00000000000000000000.index'), '')
    mkdirSync(join(folder, 'a-folder'))
    expect((await filesIn(folder)).map(({name, size}) => [name, size])).toEqual([
      ['00000000000000000000.index', 0],
      ['00000000000000000000.log', 6],
    ])
  })

  it('are none where the node has no such partition', async () => {
    expect(await filesIn(join(folder, 'orders-7'))).toEqual([])
  })

  it('are read at any position, and end where they ended when opened', async () => {
    const path = join(folder, 'a.log')
    writeFileSync(path, 'abcdef')
    const source = (await filesIn(folder))[0]!.open()
    appendFileSync(path, 'ghi')
    expect(source.size).toBe(6)
    expect(String(await source.read(2, 3))).toBe('cde')
    expect(String(await source.read(4, 100))).toBe('ef')
    expect((await source.read(6, 10)).length).toBe(0)
    expect((await source.read(99, 10)).length).toBe(0)
  })

  it('are as long as they are when opened, not when listed', async () => {
    const path = join(folder, 'a.log')
    writeFileSync(path, 'abc')
    const [file] = await filesIn(folder)
    appendFileSync(path, 'def')
    expect(file!.size).toBe(3)
    expect(file!.open().size).toBe(6)
  })
})

describe('the end of a log', () => {
  it('is its last lines', async () => {
    const path = join(folder, 'node.log')
    writeFileSync(path, 'one\ntwo\nthree\n')
    expect(await tail(path, 2)).toEqual(['two', 'three'])
    expect(await tail(path, 9)).toEqual(['one', 'two', 'three'])
  })

  it('is whole lines even of a log that is longer than what is read', async () => {
    const path = join(folder, 'node.log')
    writeFileSync(path, Array.from({length: 40_000}, (_, index) => `line ${index} ${'x'.repeat(20)}\n`).join(''))
    const lines = await tail(path, 100_000)
    expect(lines.length).toBeGreaterThan(1_000)
    expect(lines.every(line => /^line \d+ x{20}$/.test(line))).toBe(true)
    expect(lines.at(-1)).toMatch(/^line 39999 /)
  })

  it('is empty where there is no log', async () => {
    expect(await tail(join(folder, 'none.log'), 5)).toEqual([])
  })
})

describe('a formatted folder', () => {
  it('says whose it is, with a directory id of its own', () => {
    const lines = metaProperties('R29sZEZpeHR1cmVDNDAyeA', 101).trimEnd().split('\n')
    expect(lines.slice(0, 3)).toEqual(['version=1', 'cluster.id=R29sZEZpeHR1cmVDNDAyeA', 'node.id=101'])
    expect(lines[3]).toMatch(/^directory\.id=[A-Za-z0-9_][A-Za-z0-9_-]{21}$/)
    expect(metaProperties('x', 1)).not.toBe(metaProperties('x', 1))
  })

  it("has ids that Kafka's Uuid reads: 16 bytes, and no dash that would look like a flag", () => {
    for (let i = 0; i < 500; i++) {
      const id = randomUuid()
      expect(id).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/)
      expect(Buffer.from(id, 'base64url').length).toBe(16)
    }
  })
})

describe('the command line of a node', () => {
  const options = {
    heapMiB: 384,
    compiler: 'full',
    tmp: '/c/nodes/1/tmp',
    log4j: '/c/l',
    archive: [] as string[],
  } as const
  const line = nodeArguments({...options, properties: '/c/nodes/1/server.properties'}).join(' ')

  it('holds the mark by which the node is found, and that of its cluster', () => {
    expect(line).toContain(nodeMark('/c/nodes/1/server.properties'))
    expect(line).toContain(nodeMark('/c/nodes/'))
    expect(line).not.toContain(nodeMark('/c/nodes/11/server.properties'))
    expect('vim /c/nodes/1/server.properties').not.toContain(nodeMark('/c/nodes/'))
  })

  it('has the heap of the spec, and C1 only where it is asked for', () => {
    expect(line).toMatch(/-Xms384m -Xmx384m -XX:\+UseSerialGC/)
    expect(line).not.toContain('TieredStopAtLevel')
    expect(nodeArguments({...options, compiler: 'c1', properties: '/p'})).toContain('-XX:TieredStopAtLevel=1')
  })

  it('names the dump tool where that version has it', () => {
    expect(dumpLogClass('4.0.2')).toBe('kafka.tools.DumpLogSegments')
    expect(dumpLogClass('4.2.2')).toBe('kafka.tools.DumpLogSegments')
    expect(dumpLogClass('4.3.1')).toBe('org.apache.kafka.tools.DumpLogSegments')
    expect(dumpLogClass('4.10.0')).toBe('org.apache.kafka.tools.DumpLogSegments')
  })
})
