import {describe, expect, test} from 'vitest'
import {compress} from '../../../../src/log/codecs.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {hasFindings} from '../../../../src/log/verify/report.js'
import {a, abc, b, c, file, folder, goldenFiles, patched, stem, told, verifiedFile, withCrc} from './folders.js'

const log = `${stem}.log`

async function findings(bytes: Buffer, name = log): Promise<string[]> {
  return told((await verifiedFile({[name]: bytes}, name)).findings)
}

describe('a log that is whole', () => {
  test.each([
    ['without a batch', Buffer.alloc(0)],
    ['of three batches', abc],
    ['that ends with preallocated space', Buffer.concat([abc, Buffer.alloc(4096)])],
    ['of preallocated space alone', Buffer.alloc(1_048_576)],
  ])('%s has nothing wrong in it', async (_, bytes) => {
    const report = await verifiedFile({[log]: bytes}, log)
    expect(told(report.findings)).toEqual([])
    expect(hasFindings(report)).toBe(false)
  })

  test('says where its preallocated space begins', async () => {
    const report = await verifiedFile({[log]: Buffer.concat([abc, Buffer.alloc(4096)])}, log)
    expect(told(report.findings, {infos: true})).toEqual(['info preallocated 233'])
    expect(report.findings[0]?.explanation).toBe('zero fill from byte 233 to the end, 4,096 bytes')
  })

  test('that is followed by another segment may not end with zeros', async () => {
    const next = writeBatch({records: [{offset: 4n, timestamp: 1n, key: null, value: null}]})
    const files = {[log]: Buffer.concat([abc, Buffer.alloc(4096)]), '00000000000000000004.log': next}
    expect(told((await verifiedFile(files, log)).findings)).toEqual(['error zero-fill 233 o4'])
  })
})

describe('bytes that are no batch', () => {
  test.each([1, 11, 12, 16, 17])('%i bytes are a cut header', async size => {
    const report = await verifiedFile({[log]: a.subarray(0, size)}, log)
    expect(told(report.findings)).toEqual(['error cut-header 0 o0'])
    expect(report.findings[0]?.explanation).toContain(`${size} byte`)
  })

  test('a last batch that is cut says what it needs and has, and what that means', async () => {
    const report = await verifiedFile({[log]: abc.subarray(0, 223)}, log)
    expect(told(report.findings)).toEqual(['error cut-batch 155 o3'])
    expect(report.findings[0]?.explanation).toBe('cut batch: it needs 78 bytes and has 68, base offset 3')
    expect(report.log).toMatchObject({batches: 2, records: 3, damagedBytes: 68})
    const conclusions = report.conclusions.join('\n')
    expect(conclusions).toContain('It is the end of the log')
    expect(conclusions).toContain('no readable record would be lost')
    expect(conclusions).toContain('acks=1 or a single replica')
    expect(conclusions).not.toContain('consumers and followers stop')
  })

  test('garbage at the end', async () => {
    const garbage = Buffer.from(Array.from({length: 100}, (_, n) => (n * 37 + 11) % 256))
    expect(await findings(Buffer.concat([abc, garbage]))).toEqual(['error garbage 233 o4'])
  })

  test.each([
    ['huge', 0x7f, 0xff, 0xff, 0xff],
    ['negative', 0xff, 0xff, 0xff, 0xff],
    ['13', 0, 0, 0, 13],
    ['14', 0, 0, 0, 14],
    ['48', 0, 0, 0, 48],
  ])('a length that is %s hides only its own batch', async (_, ...length) => {
    const report = await verifiedFile({[log]: patched(abc, 8, ...length)}, log)
    expect(report.findings).toHaveLength(1)
    expect(report.findings[0]).toMatchObject({severity: 'error', position: 0, offset: 0n})
    expect(report.findings[0]?.explanation).toContain('offsets 0 to 1 are in it')
    expect(report.log).toMatchObject({batches: 2, records: 2, firstOffset: 2n, lastOffset: 3n, damagedBytes: 85})
    expect(report.conclusions.join('\n')).toContain('Behind it 2 records in 2 batches can be read')
  })

  test.each([3, 127, 255])('magic %i is not interpreted', async magic => {
    expect(await findings(patched(abc, 16, magic))).toEqual(['error magic 0 o0'])
  })
})

describe('a batch that is wrong', () => {
  test('by a bit in a record has a false CRC, and the others are read', async () => {
    const report = await verifiedFile({[log]: patched(abc, 70, (abc[70] as number) ^ 4)}, log)
    expect(told(report.findings)).toEqual(['error crc 0 o0'])
    expect(report.log).toMatchObject({batches: 3, records: 2, damagedBatches: 1})
    const conclusions = report.conclusions.join('\n')
    expect(conclusions).toContain('it cuts 00000000000000000000.log at byte 0')
    expect(conclusions).toContain('2 readable records, offsets 0 to 3, would be lost')
    expect(conclusions).toContain('this replica leads, consumers and followers stop at offset 0 (byte 0')
  })

  test('by a bit in the attributes', async () => {
    expect(await findings(patched(abc, 22, 1))).toEqual(['error crc 0 o0'])
  })

  test('by a bit in the last batch loses only that one', async () => {
    const report = await verifiedFile({[log]: patched(abc, 230, 99)}, log)
    expect(told(report.findings)).toEqual(['error crc 155 o3'])
    expect(report.conclusions.join('\n')).toContain('no readable record would be lost')
  })

  test('in its leader epoch, which the CRC does not cover', async () => {
    expect(await findings(patched(abc, 15, 9))).toEqual(['error epoch-falls 85 o2'])
  })

  test('in its base offset, which the CRC does not cover', async () => {
    expect(await findings(patched(abc, 85 + 7, 0))).toEqual(['error offset-regress 85 o0'])
  })

  test('by attribute bits that mean nothing', async () => {
    expect(await findings(Buffer.concat([withCrc(patched(a, 21, 0x80)), b, c]))).toEqual([
      'warning unknown-attributes 0 o0',
    ])
  })

  test.each([
    ['-1', [0xff, 0xff, 0xff, 0xff], 'record-count', 2],
    ['0, with records', [0, 0, 0, 0], 'record-count', 2],
    ['3, and 2 are there', [0, 0, 0, 3], 'records', 2],
    ['1, and 2 are there', [0, 0, 0, 1], 'record-count', 2],
  ])('in its record count: %s', async (_, count, code, readable) => {
    const report = await verifiedFile({[log]: Buffer.concat([withCrc(patched(a, 57, ...count)), b, c])}, log)
    expect(told(report.findings)).toEqual([`error ${code} 0 o0`])
    expect(report.log?.records).toBe(readable + 2)
    expect(report.log?.isCompacted).toBe(false)
  })

  test('by three bytes behind its last record', async () => {
    const grown = Buffer.concat([a, Buffer.alloc(3)])
    grown.writeInt32BE(grown.length - 12, 8)
    const report = await verifiedFile({[log]: Buffer.concat([withCrc(grown), b, c])}, log)
    expect(told(report.findings)).toEqual(['error leftover 0 o0'])
    expect(report.findings[0]?.explanation).toBe('3 bytes behind the last of 2 records')
  })

  test('in offset deltas that do not ascend', async () => {
    const batch = writeBatch({
      records: [
        {offset: 0n, timestamp: 5n, key: null, value: null},
        {offset: 2n, timestamp: 5n, key: null, value: null},
        {offset: 1n, timestamp: 5n, key: null, value: null},
      ],
      lastOffsetDelta: 2,
    })
    expect(await findings(batch)).toEqual(['error offset-delta 0 o0'])
  })

  test('in a record beyond its last offset', async () => {
    const batch = writeBatch({records: [{offset: 0n, timestamp: 5n, key: null, value: null}], lastOffsetDelta: 0})
    const beyond = writeBatch({
      records: [
        {offset: 1n, timestamp: 5n, key: null, value: null},
        {offset: 2n, timestamp: 5n, key: null, value: null},
      ],
      lastOffsetDelta: 0,
    })
    expect(await findings(Buffer.concat([batch, beyond]))).toEqual(
      ['error offset-delta 64 o1'].map(() => expect.stringMatching(/^error offset-delta \d+ o1$/)),
    )
  })

  test('in its largest timestamp', async () => {
    const batch = writeBatch({records: [{timestamp: 5n, key: null, value: null}], maxTimestamp: 9n})
    expect(await findings(batch)).toEqual(['warning max-timestamp 0 o0'])
    const lower = writeBatch({records: [{timestamp: 5n, key: null, value: null}], maxTimestamp: 3n})
    expect(await findings(lower)).toEqual(['warning max-timestamp 0 o0'])
  })
})

describe('offsets', () => {
  test('that are missing between batches', async () => {
    const report = await verifiedFile({[log]: Buffer.concat([a, patched(b, 7, 10), patched(c, 7, 11)])}, log)
    expect(told(report.findings)).toEqual(['warning offset-gap 85 o10'])
    expect(report.findings[0]?.explanation).toBe('offset 1 is followed by 10: 8 offsets are missing')
    expect(report.log?.missingOffsets).toBe(8n)
  })

  test('that are missing are normal where compaction shows, and the reason is given', async () => {
    // Record 1 of A is gone, as compaction leaves it.
    const compacted = writeBatch({
      records: [{offset: 0n, timestamp: 1_700_000_000_000n, key: Buffer.from('k1'), value: null}],
      lastOffsetDelta: 1,
      maxTimestamp: 1_700_000_000_005n,
      leaderEpoch: 3,
    })
    const report = await verifiedFile({[log]: Buffer.concat([compacted, patched(b, 7, 10), patched(c, 7, 11)])}, log)
    expect(told(report.findings)).toEqual([])
    expect(report.log).toMatchObject({isCompacted: true, missingOffsets: 8n})
  })

  test('of an empty batch that compaction kept are not missing', async () => {
    const empty = writeBatch({
      records: [],
      baseOffset: 0n,
      lastOffsetDelta: 4,
      baseTimestamp: -1n,
      maxTimestamp: 1_700_000_000_000n,
      producerId: 7n,
      producerEpoch: 0,
      baseSequence: 0,
      leaderEpoch: 3,
    })
    const report = await verifiedFile({[log]: Buffer.concat([empty, patched(b, 7, 5), patched(c, 7, 6)])}, log)
    expect(told(report.findings, {infos: true})).toEqual([])
    expect(report.log).toMatchObject({emptyBatches: 1, missingOffsets: 0n, firstOffset: 0n, lastOffset: 6n})
  })

  test('that are there twice', async () => {
    expect(await findings(Buffer.concat([a, a, b, c]))).toEqual(['error offset-overlap 85 o0'])
  })

  test('that overlap in part', async () => {
    const two = writeBatch({
      records: [1n, 2n, 3n].map(offset => ({offset, timestamp: 5n, key: null, value: null})),
      leaderEpoch: 3,
    })
    expect(await findings(Buffer.concat([a, two]))).toEqual(['error offset-overlap 85 o1'])
  })

  test('near the largest one', async () => {
    const highest = 2n ** 63n - 1n
    const name = `${(highest - 3n).toString().padStart(20, '0')}.log`
    const last = Buffer.from(a)
    last.writeBigInt64BE(highest - 1n)
    expect(await findings(last, name)).toEqual(['warning offset-gap 0 o9223372036854775806'])
    const beyond = Buffer.from(a)
    beyond.writeBigInt64BE(highest)
    expect((await findings(beyond, name))[0]).toBe('error offset-overflow 0 o9223372036854775807')
  })

  test('that are negative', async () => {
    expect(await findings(patched(a, 0, 0xff))).toContainEqual(expect.stringMatching(/^error offset-negative 0/))
  })

  test('below the number in the name', async () => {
    const report = await verifiedFile({'00000000000000000001.log': abc}, '00000000000000000001.log')
    expect(told(report.findings)).toEqual(['error offset-before-name 0 o0'])
  })

  test('more than 2^31 − 1 beyond the number in the name', async () => {
    expect(await findings(patched(a, 3, 1))).toContainEqual(expect.stringMatching(/^error offset-overflow/))
  })

  test('are not compared with a name that says none, and no index is', async () => {
    const files = {'abc.log': abc, 'abc.index': Buffer.alloc(8)}
    const report = await verifiedFile(files, 'abc.log')
    expect(told(report.findings, {infos: true})).toEqual(['info not-checked'])
  })
})

describe('a delete horizon', () => {
  const horizon = 1_800_000_000_000n
  const batch = writeBatch({
    records: [{offset: 0n, timestamp: 1_700_000_000_000n, key: Buffer.from('k'), value: null}],
    deleteHorizonMs: horizon,
    leaderEpoch: 3,
  })

  test('is normal', async () => {
    const report = await verifiedFile({[log]: batch}, log)
    expect(told(report.findings, {infos: true})).toEqual([])
    expect(report.log?.deleteHorizons).toEqual({batches: 1, first: horizon, last: horizon})
  })

  test('that has passed is worth knowing', async () => {
    const report = await verifiedFile({[log]: batch}, log, {now: horizon + 1n})
    expect(told(report.findings, {infos: true})).toEqual([expect.stringMatching(/^info horizon-passed/)])
    expect((await verifiedFile({[log]: batch}, log, {now: horizon})).findings).toEqual([])
  })
})

describe('timestamps', () => {
  test.each([-1n, 0n, 2n ** 63n - 1n])('of %i are exact', async timestamp => {
    const report = await verifiedFile({[log]: writeBatch({records: [{timestamp, key: null, value: null}]})}, log)
    expect(told(report.findings)).toEqual([])
    expect(report.log?.lastTimestamp).toBe(timestamp < 0n ? undefined : timestamp)
  })

  test('that lie in the future, and batches without one, are worth knowing', async () => {
    const records = (offset: bigint, timestamp: bigint) =>
      writeBatch({records: [{offset, timestamp, key: null, value: null}]})
    const bytes = Buffer.concat([records(0n, 5_000n), records(1n, -1n), records(2n, 10n ** 15n)])
    const report = await verifiedFile({[log]: bytes}, log, {now: 10_000n})
    expect(told(report.findings, {infos: true}).sort()).toEqual(['info future-timestamp o2', 'info no-timestamp o1'])
  })

  test('of LogAppendTime are those of the batch', async () => {
    const batch = writeBatch({
      records: [{timestamp: 5n, key: null, value: null}],
      timestampType: 'LogAppendTime',
      maxTimestamp: 99n,
    })
    expect(await findings(batch)).toEqual([])
  })
})

test('messages of magic 0 and 1 are worth knowing', async () => {
  for (const magic of [0, 1]) {
    const report = await verifiedFile(goldenFiles('made', `kafka-codec_none_${magic}`), log)
    expect(told(report.findings, {infos: true})).toEqual(['info old-magic o0'])
    expect(report.log).toMatchObject({magics: [magic], records: 40})
  }
  expect((await verifiedFile({[log]: abc}, log)).findings).toEqual([])
})

describe('the recorded odd files', () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    'codec-gz_badcrc': ['error records 0 o0'],
    'codec-gz_notail': ['error records 0 o0'],
    'codec-gz_cut': ['error records 0 o0'],
    'codec-sn_len': ['error records 0 o0'],
    'codec-sn_empty': ['error records 0 o0'],
    'codec-lz4_noend': ['error records 0 o0'],
    'codec-lz4_linked': ['error records 0 o0'],
    'codec-lz4_bd30': ['error records 0 o0'],
    'codec-lz4_bsum_bad': ['error records 0 o0'],
    'codec-lz4_csum_bad': ['warning codec 0 o0'],
    'codec-lz4_trail': ['warning codec 0 o0'],
    'odd-c41': ['error records 155 o3'],
    'odd-c45n': ['error records 0 o1'],
    'odd-d33a': ['error records 0 o0'],
    'odd-d34a': ['error records 0 o0'],
    'odd-d41': ['warning control-record 155 o3'],
    'odd-d41n': ['warning control-record 155 o3'],
  }

  test.each(Object.entries(expected))('%s', async (name, codes) => {
    const files = goldenFiles('made', name)
    expect(told((await verifiedFile(files, log)).findings)).toEqual(codes)
  })

  test.each([
    'codec-gz_2',
    'codec-gz_ok',
    'codec-lz4_bsum',
    'codec-lz4_bd70',
    'codec-sn_raw',
    'codec-sn_cat',
    'codec-sn_ver9',
    'codec-zs_ok',
    'kafka-codec_gzip_1',
    'kafka-codec_lz4_0',
    'kafka-codec_none_0',
    'odd-c26',
    'odd-c45',
    'odd-c45z',
  ])('%s has nothing wrong in it', async name => {
    expect(told((await verifiedFile(goldenFiles('made', name), log)).findings)).toEqual([])
  })

  test.each(['odd-d42_k0', 'odd-d42_k2', 'odd-d42_k3', 'odd-d42_kver1'])(
    '%s has a control record that is odd',
    async name => {
      expect(told((await verifiedFile(goldenFiles('made', name), log)).findings)).toContain(
        'warning control-record 0 o0',
      )
    },
  )
})

describe('a compressed batch', () => {
  const bomb = (size: number) => {
    const plain = writeBatch({records: [{timestamp: 1n, key: null, value: Buffer.alloc(size)}]})
    const batch = Buffer.concat([plain.subarray(0, 61), compress('gzip', plain.subarray(61))])
    batch.writeInt32BE(batch.length - 12, 8)
    return withCrc(patched(batch, 22, 1))
  }

  test.each([100_000, 10_000_000])(
    'of %i plain bytes is not uncompressed beyond the limit, and says so',
    async size => {
      const bytes = Buffer.concat([bomb(size), patched(b, 7, 1)])
      const report = await verifiedFile({[log]: bytes}, log, {maxDecompressedBytes: 50_000})
      expect(told(report.findings)).toEqual(['warning not-uncompressed 0 o0'])
      expect(report.log).toMatchObject({batches: 2, records: 1})
    },
  )

  test('that becomes a thousand times as large is worth knowing', async () => {
    const report = await verifiedFile({[log]: bomb(5_000_000)}, log)
    expect(told(report.findings, {infos: true})).toEqual(['info compression-ratio 0 o0'])
    expect(report.log?.codecs[0]?.ratio).toBeGreaterThan(900)
  })
})

test('a large file of small batches and one batch of many records are checked in bounded time', async () => {
  const one = writeBatch({records: [{timestamp: 1n, key: null, value: Buffer.from('v')}]})
  const many = Buffer.alloc(one.length * 100_000)
  for (let n = 0; n < 100_000; n++) {
    one.copy(many, n * one.length)
    many.writeBigInt64BE(BigInt(n), n * one.length)
  }
  const report = await verifiedFile({[log]: many}, log)
  expect(told(report.findings)).toEqual([])
  expect(report.log).toMatchObject({batches: 100_000, records: 100_000, lastOffset: 99_999n})
})

test('a damaged batch of each hundred is told a hundred times and counted', async () => {
  const one = writeBatch({records: [{timestamp: 1n, key: null, value: Buffer.from('v')}]})
  const batches = Array.from({length: 300}, (_, n) => {
    const batch = patched(one, one.length - 2, 0x41)
    batch.writeBigInt64BE(BigInt(n))
    return batch
  })
  const report = await verifiedFile({[log]: Buffer.concat(batches)}, log)
  expect(report.findingCounts).toEqual([{code: 'crc', severity: 'error', count: 300}])
  expect(report.findings).toHaveLength(100)
})

test('a source that shrinks while it is read is told, not thrown', async () => {
  const shrunk = {...file(abc, log), size: 10_000}
  const {verifyFile} = await import('../../../../src/log/verify/verify-file.js')
  const report = await verifyFile(shrunk, folder({}))
  expect(report.findings.map(({code}) => code)).toContain('short-read')
})
