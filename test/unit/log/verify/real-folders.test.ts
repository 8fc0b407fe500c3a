import {readdirSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {hasFindings} from '../../../../src/log/verify/report.js'
import {verifyFile} from '../../../../src/log/verify/verify-file.js'
import {verifyFolder} from '../../../../src/log/verify/verify-folder.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {file, folder, goldenFiles, goldens, told, verified, verifiedFile} from './folders.js'

const real = readdirSync(join(goldens, 'real')).filter(name => statSync(join(goldens, 'real', name)).isDirectory())
const whole = real.filter(name => name !== 'active-cut')

/** The names of the topics that the folders' contents come from, where that chooses a decoder. */
const topics: readonly (readonly [RegExp, string])[] = [
  [/consumer-offsets/, '__consumer_offsets-0'],
  [/transaction-state/, '__transaction_state-0'],
  [/share-group-state/, '__share_group_state-0'],
  [/metadata/, '__cluster_metadata-0'],
]
const pathOf = (name: string): string => topics.find(([pattern]) => pattern.test(name))?.[1] ?? `${name}-0`

test('there are folders of real brokers', () => {
  expect(whole.length).toBeGreaterThan(20)
})

describe.each(whole)('%s, of a real broker,', name => {
  const files = goldenFiles('real', name)

  test('has nothing wrong in it as a folder', async () => {
    const report = await verified(files, {}, pathOf(name))
    expect(told(report.findings)).toEqual([])
    expect(hasFindings(report)).toBe(false)
  })

  test.each(Object.keys(files))('has nothing wrong in %s', async file => {
    const report = await verifiedFile(files, file)
    expect(told(report.findings)).toEqual([])
    expect(report.role).not.toBe('unknown')
  })
})

test('a log whose last bytes are missing has a cut batch, and an index entry for it', async () => {
  const report = await verified(goldenFiles('real', 'active-cut'))
  expect(told(report.findings)).toEqual(['error cut-batch 31167 o570', 'warning index-position 40 o599'])
  expect(report.findings[0]?.explanation).toBe('cut batch: it needs 1687 bytes and has 1650, base offset 570')
  expect(hasFindings(report)).toBe(true)
})

test('a folder of a killed broker shows what is open and what is preallocated, and nothing is wrong', async () => {
  const report = await verified(goldenFiles('real', 'txn-killed'))
  expect(told(report.findings, {infos: true})).toEqual(['info transaction-open o27'])
  const {log} = report
  expect(log?.transactions).toMatchObject({committed: 5, aborted: 5, lastStableOffset: 27n})
  expect(log?.transactions.open).toMatchObject([
    {producerId: 2008n, firstOffset: 27n, lastOffset: 28n, isHanging: false},
  ])
  expect(log?.transactions.abortedRanges).toHaveLength(5)
})

test('a compacted folder says why its holes are normal', async () => {
  const report = await verified(goldenFiles('real', 'compacted-replica1'))
  expect(report.log).toMatchObject({isCompacted: true, missingOffsets: 101n, emptyBatches: 1, firstOffset: 20n})
  expect(report.log?.deleteHorizons?.batches).toBe(1)
  expect(report.conclusions.join('\n')).toContain('101 offsets are missing between batches, which is normal')
})

test('the overview of a folder has its segments, codecs, producers and epochs', async () => {
  const {segments, log} = await verified(goldenFiles('real', 'txn-clean'))
  expect(
    segments.map(({name, firstOffset, lastOffset, offsetIndex, timeIndex, transactionIndex}) => [
      name,
      firstOffset,
      lastOffset,
      offsetIndex,
      timeIndex,
      transactionIndex,
    ]),
  ).toEqual([
    ['00000000000000000000.log', 0n, 2n, 'ok', 'ok', 'absent'],
    ['00000000000000000003.log', 3n, 32n, 'ok', 'ok', 'ok'],
  ])
  expect(log?.codecs.map(({codec}) => codec)).toEqual(['none', 'gzip', 'zstd'])
  expect(log?.producerCount).toBe(5)
  const mixed = await verified(goldenFiles('real', 'mixed'))
  expect(mixed.log?.codecs.map(({codec}) => codec).sort()).toEqual(['gzip', 'lz4', 'none', 'snappy', 'zstd'])
  for (const {codec, ratio, plainBytes, storedBytes} of mixed.log?.codecs ?? []) {
    expect(ratio).toBeCloseTo(plainBytes / storedBytes)
    if (codec === 'none') expect(ratio).toBe(1)
  }
})

test('a folder is known by its own name, whatever the path says', async () => {
  const key = Buffer.from('0063', 'hex')
  const bytes = writeBatch({records: [{timestamp: 1n, key, value: Buffer.from('000000', 'hex')}]})
  const name = '00000000000000000000.log'
  const here = {...folder({[name]: bytes}, '.'), name: '__consumer_offsets-0'}
  const report = await verifyFolder(here)
  expect(report).toMatchObject({path: '.', topic: '__consumer_offsets', partition: 0})
  expect(told(report.findings)).toEqual(['warning decoder 0 o0'])
  expect(told((await verifyFile(file(bytes, name), here)).findings)).toEqual(['warning decoder 0 o0'])
})
