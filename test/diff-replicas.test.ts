import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, relative} from 'node:path'
import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {z} from 'zod'
import {diffReplicasSchema} from '../src/cli/schemas-diff.js'
import {inWorld, kx, root} from './cli-harness.js'

const real = (name: string) => relative(process.cwd(), join(root, 'test/golden/dump-log/real', name))
const first = '00000000000000000000.log'

describe('kx diff-replicas', () => {
  let folder = ''
  let restore = () => {}
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kx-diff-'))
    restore = inWorld({XDG_STATE_HOME: folder, COLUMNS: '80', LANG: 'C.UTF-8'})
  })
  afterAll(() => {
    restore()
    rmSync(folder, {recursive: true})
  })

  const diverged = ['epochs-diverged-leader', 'epochs-replica2', 'epochs-replica3'].map(real)

  async function json(
    ...argv: string[]
  ): Promise<{data: z.infer<typeof diffReplicasSchema>; exit: number | undefined}> {
    const {stdout, exit} = await kx('diff-replicas', ...argv, '-o', 'json')
    return {data: diffReplicasSchema.parse(JSON.parse(stdout)), exit}
  }

  test('a diverged leader: the screen at 80 columns', async () => {
    const {stdout, stderr, exit} = await kx('diff-replicas', ...diverged)
    expect(exit).toBe(1)
    expect(stderr).toBe('')
    await expect(stdout).toMatchFileSnapshot(join(root, 'test/golden/cli/diff-replicas-diverged.txt'))
  })

  test('equal replicas end with 0, and there is nothing to draw', async () => {
    const {stdout, exit} = await kx('diff-replicas', ...[1, 2, 3].map(n => real(`epochs-replica${n}`)))
    expect(exit).toBe(0)
    await expect(stdout).toMatchFileSnapshot(join(root, 'test/golden/cli/diff-replicas-equal.txt'))
  })

  test('compacted replicas end with 0: they were compared by records, and that is said', async () => {
    const {stdout, exit} = await kx('diff-replicas', real('compacted-replica1'), real('compacted-replica2'))
    expect(exit).toBe(0)
    await expect(stdout).toMatchFileSnapshot(join(root, 'test/golden/cli/diff-replicas-compacted.txt'))
  })

  test('as JSON it is what its schema says, with offsets as strings', async () => {
    const {data, exit} = await json(...diverged)
    expect(exit).toBe(1)
    expect(data).toMatchObject({
      schema: 'kx/diff-replicas/1',
      equal: false,
      partitions: [{partition: null, equalUpTo: '15', divergence: {offset: '15'}, from: '0', to: '28'}],
    })
    const found = data.partitions[0]?.conclusions.find(({code}) => code === 'divergence')
    expect(found).toMatchObject({
      replicas: ['epochs-diverged-leader'],
      records: 8,
      from: '15',
      to: '23',
      truncatesTo: '15',
    })
  })

  test('a flipped bit in a copy: byte and bit, in JSON too', async () => {
    const copy = join(folder, 'copy')
    cpSync(real('epochs-replica1'), copy, {recursive: true})
    const bytes = readFileSync(join(copy, first))
    bytes[700] = (bytes[700] ?? 0) ^ 0x10
    rmSync(join(copy, first))
    writeFileSync(join(copy, first), bytes)
    const {data, exit} = await json(real('epochs-replica1'), copy)
    expect(exit).toBe(1)
    expect(data.partitions[0]?.corruptions).toMatchObject([
      {replica: 1, differingBytes: 1, against: 0, bytes: [{position: 700, bits: [4]}]},
    ])
  })

  test('evidence of a run: one folder, in which the partitions of the same name are found and compressed files read', async () => {
    const {data} = await json(real('../../../../results/reference/data-loss/f2c9/evidence/trial-2'))
    expect(data.partitions.map(({partition}) => partition).sort()).toEqual([
      'kx-data-loss-f2c9-2-acks1-0',
      'kx-data-loss-f2c9-2-acksAll-0',
    ])
    for (const {replicas, to} of data.partitions) {
      expect(replicas.length).toBeGreaterThanOrEqual(3)
      expect(new Set(replicas.map(({name}) => name)).size).toBe(replicas.length)
      expect(Number(to)).toBeGreaterThan(10)
    }
    const acks1 = data.partitions.find(({partition}) => partition?.includes('acks1'))
    const dead = acks1?.conclusions.find(({code}) => code === 'divergence')
    expect(dead).toMatchObject({
      replicas: ['broker-2-killed'],
      from: '100',
      to: '600',
      records: 500,
      truncatesTo: '100',
    })
  })

  test('a compressed copy is equal to its original', async () => {
    const copy = join(folder, 'zipped')
    cpSync(real('epochs-replica2'), copy, {recursive: true})
    writeFileSync(join(copy, `${first}.gz`), gzipSync(readFileSync(join(copy, first))))
    rmSync(join(copy, first))
    expect((await kx('diff-replicas', real('epochs-replica2'), copy)).exit).toBe(0)
  })

  test.each([
    ['nothing named', [], 2, 'KX_USAGE', 'Nothing is named to compare.'],
    ['one folder', [real('epochs-replica1')], 2, 'KX_USAGE', 'There is nothing to compare'],
    ['a file', [join(real('epochs-replica1'), first), real('epochs-replica2')], 2, 'KX_USAGE', 'is a file'],
    ['folders and a topic', [real('epochs-replica1'), '--topic', 'orders'], 2, 'KX_USAGE', 'exclude each other'],
    ['a topic without a cluster', ['--topic', 'orders'], 2, 'KX_NO_CLUSTER', 'No cluster runs here'],
    [
      'a folder that is not there',
      [real('epochs-replica1'), '/no/such/folder'],
      5,
      'KX_FILE_MISSING',
      '/no/such/folder',
    ],
    ['a folder without a log', [real('epochs-replica1'), real('logdir-clean')], 5, 'KX_NO_SEGMENT', 'logdir-clean'],
  ])('%s: told with the cure', async (_, argv, exit, code, words) => {
    const said = await kx('diff-replicas', ...argv, '-o', 'json')
    expect(said.exit).toBe(exit)
    const {error} = JSON.parse(said.stdout) as {error: {code: string; message: string; suggestions: string[]}}
    expect(error.code).toBe(code)
    expect(error.message).toContain(words)
    expect(error.suggestions.length).toBeGreaterThan(0)
  })
})
