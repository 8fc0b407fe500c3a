import {cpSync, mkdirSync, readdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {metadataDiffSchema, metadataStateSchema, whatIfSchema} from '../src/cli/metadata-schemas.js'
import {writeBatch} from '../src/log/write-batch.js'
import {inOwnFolder, kx, root} from './cli-harness.js'

inOwnFolder()

const real = join(root, 'test/golden/dump-log/real')
const broker = join(real, 'metadata-broker')
const snapshot = '00000000000000000036-0000000001.checkpoint'
const state = (...flags: string[]) => kx('dump-log', '--state', ...flags)

describe('kx dump-log --state', () => {
  test('-o json is of its schema, and complete', async () => {
    const folders = readdirSync(real).filter(name => name.includes('metadata'))
    expect(folders.length).toBeGreaterThan(3)
    for (const name of folders) {
      const {stdout, stderr, exit} = await state(join(real, name), '-o', 'json')
      expect([stderr, exit]).toEqual(['', 0])
      expect(metadataStateSchema.parse(JSON.parse(stdout)).states).toHaveLength(1)
    }
    const [one] = metadataStateSchema.parse(JSON.parse((await state(broker, '-o', 'json')).stdout)).states
    expect(one).toMatchObject({
      offset: '58',
      epoch: 2,
      snapshot,
      quorum: {leaderId: 102, leaderEpoch: 2, kraftVersion: 1},
    })
    expect(one?.topics.map(({name, partitions}) => [name, partitions])).toEqual([
      ['alpha', 2],
      ['beta', 2],
    ])
    expect(one?.partitions[1]).toMatchObject({topic: 'alpha', partition: 1, leader: -1, replicas: [1, 2, 3]})
    expect(one?.scramCredentials).toEqual([{user: 'alice', mechanism: 'SCRAM-SHA-256', iterations: 4096}])
  })

  test('-o ndjson and csv say the same, thing by thing', async () => {
    const [whole] = JSON.parse((await state(broker, '-o', 'json')).stdout).states
    const lines = (await state(broker, '-o', 'ndjson')).stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines[0]).toMatchObject({kind: 'state', offset: '58'})
    for (const [kind, list] of [
      ['broker', 'brokers'],
      ['partition', 'partitions'],
      ['config', 'configs'],
      ['voter', 'voters'],
    ] as const) {
      expect(lines.filter(line => line.kind === kind)).toEqual(whole[list].map((each: object) => ({kind, ...each})))
    }
    const rows = (await state(broker, '-o', 'csv')).stdout.split('\n')
    expect(rows[0]).toBe('path,kind,thing,field,value')
    expect(rows).toContain(`${broker},config,setting of topic beta: cleanup.policy,value,compact`)
    expect(rows).toContain(`${broker},partition,partition alpha-0,replicas,3 1 2`)
  })

  test('the log dir, the partition’s folder, a segment and a snapshot', async () => {
    cpSync(broker, 'data/__cluster_metadata-0', {recursive: true})
    const ofDir = JSON.parse((await state('data', '-o', 'json')).stdout).states[0]
    const ofFolder = JSON.parse((await state('data/__cluster_metadata-0', '-o', 'json')).stdout).states[0]
    const ofLog = JSON.parse((await state('data/__cluster_metadata-0/00000000000000000000.log', '-o', 'json')).stdout)
      .states[0]
    const {path, ...rest} = ofFolder
    expect(ofDir).toEqual({path, ...rest})
    expect(ofLog).toEqual({...ofFolder, path: 'data/__cluster_metadata-0/00000000000000000000.log'})
    const [alone] = JSON.parse((await state(join(broker, snapshot), '-o', 'json')).stdout).states
    expect(alone).toMatchObject({offset: '35', epoch: 1, logs: [], snapshot})
  })

  test('--at-offset, and --against another offset, snapshot or folder', async () => {
    const diff = async (...flags: string[]) => {
      const {stdout, stderr, exit} = await state(...flags, '-o', 'json')
      expect([stderr, exit]).toEqual(['', 0])
      return metadataDiffSchema.parse(JSON.parse(stdout)).diffs[0]
    }
    const offsets = await diff(broker, '--at-offset', '35', '--against', '35')
    expect(offsets?.changes).toEqual([])
    const more = await diff(broker, '--at-offset', '36', '--against', '39')
    expect(more?.changes.map(({kind, change}) => `${change} ${kind}`)).toEqual([
      'added config',
      'added client-quota',
      'added client-quota',
    ])
    const snapshots = await diff(join(broker, snapshot), '--against', join(real, 'metadata-controller', snapshot))
    expect(snapshots).toMatchObject({from: {offset: '35'}, to: {offset: '35'}, changes: []})
    const folder = await diff(join(broker, snapshot), '--against', broker)
    expect(folder).toMatchObject({from: {offset: '35'}, to: {offset: '58', logs: ['00000000000000000000.log']}})
    expect(folder?.changes.length).toBeGreaterThan(5)
    const lines = (await state(broker, '--at-offset', '36', '--against', '39', '-o', 'ndjson')).stdout.split('\n')
    expect(lines[1]).toMatch(/^{"kind":"change","of":"config","change":"added","before":null,"after":{/)
    const csv = (await state(broker, '--at-offset', '50', '--against', '58', '-o', 'csv')).stdout
    expect(csv).toContain(`${broker},${broker},changed,partition,partition alpha-0,leader,`)
    const same = await state(broker, '--against', '58')
    expect(same.stdout).toContain('nothing has changed.')
  })

  test('--redact tells no name and no value, in any format', async () => {
    for (const flags of [
      [],
      ['-o', 'json'],
      ['-o', 'ndjson'],
      ['-o', 'csv'],
      ['--at-offset', '30', '--against', '58'],
      ['--at-offset', '30', '--against', '58', '-o', 'json'],
    ]) {
      const {stdout, exit} = await state(broker, '--redact', ...flags)
      expect(exit).toBe(0)
      expect(stdout, flags.join(' ')).not.toMatch(/alpha|beta|alice|localhost|compact/)
      expect(stdout, flags.join(' ')).toContain('<redacted, 5 bytes>')
    }
  })

  test('no secret is in any format', async () => {
    for (const flags of [[], ['-o', 'json'], ['-o', 'ndjson'], ['-o', 'csv'], ['-o', 'wide']]) {
      // Salt and stored key of alice.
      expect((await state(broker, ...flags)).stdout).not.toMatch(/uaj7w|dWF6ajd3|JRs2bsvwJ/)
    }
  })

  test('what does not add up is told, and makes the exit code 1', async () => {
    const values = [Buffer.from([1, 99, 0]), Buffer.from('no record'), null]
    mkdirSync('__cluster_metadata-0')
    writeFileSync(
      '__cluster_metadata-0/00000000000000000000.log',
      writeBatch({leaderEpoch: 1, records: values.map(value => ({timestamp: 1n, key: null, value}))}),
    )
    const text = await state('__cluster_metadata-0')
    expect(text.exit).toBe(1)
    expect(text.stdout).toContain(
      'error state-record in __cluster_metadata-0/00000000000000000000.log at offset 0: The record is not in the state: record type 99 is not known.',
    )
    const json = await state('__cluster_metadata-0', '-o', 'json')
    expect(metadataStateSchema.parse(JSON.parse(json.stdout)).states[0]?.findings.map(({code}) => code)).toEqual(
      Array(3).fill('state-record'),
    )
    mkdirSync('empty')
    const missing = await state('empty')
    expect([missing.exit, missing.stderr]).toEqual([
      5,
      expect.stringContaining('neither a metadata log nor a snapshot'),
    ])
  })

  test.each([
    [['--offset', '3', broker], '--state looks at everything'],
    [['-o', 'kafka', broker], '--state has no -o kafka'],
    [['--at-offset', '3', join(broker, snapshot)], 'A snapshot holds one state'],
    [['--at-offset', '300', broker], 'ends at offset 58'],
    [['--at-offset', 'x', broker], 'is no offset'],
    [['--against', '5', join(broker, snapshot)], 'A snapshot holds one state'],
    [['--stats', broker], 'cannot also be provided'],
    [['--topic', 'orders'], 'they are in one topic'],
    [[join(broker, 'leader-epoch-checkpoint')], 'holds no metadata'],
  ])('%j is refused', async (flags, message) => {
    const {stdout, stderr, exit} = await state(...flags)
    expect([stdout, exit]).toEqual(['', 2])
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(message)
  })
})

describe('kx dump-log --what-if', () => {
  const whatIf = (...flags: string[]) => kx('dump-log', '--what-if', ...flags)

  test('-o json is of its schema, ndjson and csv have its rows', async () => {
    const log = join(real, 'mixed/00000000000000000000.log')
    const {stdout, exit} = await whatIf(log, '-o', 'json')
    expect(exit).toBe(0)
    const [report] = whatIfSchema.parse(JSON.parse(stdout)).reports
    expect(report?.present.codecs).toEqual(['none', 'gzip', 'snappy', 'lz4', 'zstd'])
    expect(report?.outcomes.map(({codec, level}) => `${codec} ${level ?? ''}`.trim())).toEqual([
      ...['none', 'gzip 1', 'gzip 6', 'gzip 9', 'snappy', 'lz4', 'zstd 1', 'zstd 3', 'zstd 9'],
    ])
    const sizes = report?.outcomes.map(({sizeInBytes}) => sizeInBytes)
    const lines = (await whatIf(log, '-o', 'ndjson')).stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines.filter(({kind}) => kind === 'outcome').map(({sizeInBytes}) => sizeInBytes)).toEqual(sizes)
    const rows = (await whatIf(log, '-o', 'csv')).stdout.trimEnd().split('\n')
    expect(rows.slice(2).map(row => Number(row.split(',')[4]))).toEqual(sizes)
  })

  test('a folder is one sample of all its segments, and what is left out is said', async () => {
    const folder = join(real, 'txn-clean')
    const [report] = whatIfSchema.parse(JSON.parse((await whatIf(folder, '-o', 'json')).stdout)).reports
    expect(report?.sample.leftOut).toMatchObject([{why: 'control'}])
    const {stdout, exit} = await whatIf(folder)
    expect(exit).toBe(0)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /Left out: control batches, which nobody compresses \(\d+ batches, [\d.]+ B\)\./,
    )
    expect(stdout).toMatch(/^zstd 9 .*%/m)
  })

  test.each([
    [['--codec', 'lz4', join(real, 'mixed')], '--what-if looks at everything'],
    [[join(real, 'mixed/00000000000000000000.index')], 'has no batches to compress'],
    [['--verify', join(real, 'mixed')], 'cannot also be provided'],
    [['-o', 'kafka', join(real, 'mixed')], '--what-if has no -o kafka'],
  ])('%j is refused', async (flags, message) => {
    const {stdout, stderr, exit} = await whatIf(...flags)
    expect([stdout, exit]).toEqual(['', 2])
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(message)
  })
})
