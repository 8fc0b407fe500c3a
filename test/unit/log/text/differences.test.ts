import {expect, test} from 'vitest'
import {crc32c} from '../../../../src/log/crc32c.js'
import {writeOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {writeTimeIndex} from '../../../../src/log/files/time-index.js'
import {writeTransactionIndex} from '../../../../src/log/files/transaction-index.js'
import {decoderNamed} from '../../../../src/log/decode/decoder.js'
import type {OpenFile} from '../../../../src/log/folder.js'
import {type DifferenceId, differences} from '../../../../src/log/text/differences.js'
import {dumpText} from '../../../../src/log/text/dump-kafka.js'
import {FinalReport} from '../../../../src/log/text/final-report.js'
import {LineWriter} from '../../../../src/log/text/line-writer.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {shownByGoldenRuns} from './golden-differences.js'
import {memoryFolder, type Printed, print} from './golden-runs.js'

// What no recorded run shows: each deliberate difference has a test here or a golden case.

const stem = '00000000000000000000'
const own = new Set<DifferenceId>()
const time = 1_700_000_000_000n

function differs(id: DifferenceId, title: string, body: () => Promise<void>): void {
  own.add(id)
  test(`${id}: ${title}`, body)
}

/** Batches of so many records each. */
function batches(...counts: number[]): Buffer[] {
  let offset = 0n
  return counts.map(count => {
    const records = Array.from({length: count}, (_, n) => ({
      offset: offset + BigInt(n),
      timestamp: time + offset + BigInt(n),
      key: null,
      value: Buffer.from(`v${n}`),
    }))
    offset += BigInt(count)
    return writeBatch({records})
  })
}

/** A batch that kept its header when compaction removed its records. */
function emptyBatch(baseOffset: bigint, lastOffsetDelta: number, maxTimestamp: bigint): Buffer {
  return writeBatch({records: [], baseOffset, lastOffsetDelta, maxTimestamp})
}

const dumpLog = (log: Buffer, options = {}): Promise<Printed> =>
  print(memoryFolder({[`${stem}.log`]: log}), `${stem}.log`, {style: '4.4', ...options})
const errors = ({findings}: Printed): string[] =>
  findings.filter(({severity}) => severity !== 'info').map(({code}) => code)

differs('follower-entries', 'an entry for an append of several batches is right', async () => {
  const log = batches(2, 3, 1, 4)
  const [a, b, c] = log.map(({length}) => length) as [number, number, number]
  const files = {
    [`${stem}.log`]: Buffer.concat(log),
    [`${stem}.index`]: writeOffsetIndex(
      [
        {offset: 4n, position: 0},
        {offset: 9n, position: a + b},
      ],
      0n,
    ),
  }
  const right = await print(memoryFolder(files), `${stem}.index`, {style: '4.4'})
  expect([right.report, errors(right)]).toEqual(['', []])
  const bugs = await print(memoryFolder(files), `${stem}.index`, {style: '4.4', bugCompatible: true})
  expect(bugs.report).toContain('  Index offset: 9, log offset: 5\n  Index offset: 4, log offset: 1\n')

  // Its neighbours that are wrong: an offset that no batch ends with, an append that reaches beyond the next entry.
  const index = (...entries: {offset: bigint; position: number}[]) =>
    print(memoryFolder({...files, [`${stem}.index`]: writeOffsetIndex(entries, 0n)}), `${stem}.index`, {style: '4.4'})
  expect((await index({offset: 3n, position: 0})).report).toContain('Index offset: 3, log offset: 1')
  const reaching = await index({offset: 5n, position: 0}, {offset: 9n, position: a + b})
  expect(reaching.report).toContain('Index offset: 5, log offset: 1')
  expect((await index({offset: 1n, position: a}, {offset: 4n, position: a + b + c})).report).toContain(
    'Index offset: 1',
  )
})

differs('empty-batch-in-time-index', 'its timestamp is not compared', async () => {
  const log = Buffer.concat([
    emptyBatch(0n, 4, time + 4n),
    writeBatch({records: [{offset: 5n, timestamp: time + 5n, key: null, value: null}]}),
  ])
  const timeindex = writeTimeIndex(
    [
      {timestamp: time + 4n, offset: 4n},
      {timestamp: time + 5n, offset: 5n},
    ],
    0n,
  )
  const folder = memoryFolder({[`${stem}.log`]: log, [`${stem}.timeindex`]: timeindex})
  const right = await print(folder, `${stem}.timeindex`, {style: '4.4'})
  expect([right.report, errors(right)]).toEqual(['', []])
  const bugs = await print(folder, `${stem}.timeindex`, {style: '4.4', bugCompatible: true})
  expect(bugs.report).toContain(`  Index timestamp: ${time + 4n}, log timestamp: -1\n`)
})

differs('large-batch', 'an entry for a batch of 6 MiB is checked', async () => {
  const large = writeBatch({records: [{timestamp: time, key: null, value: Buffer.alloc(6 * 1_048_576)}]})
  const index = writeOffsetIndex([{offset: 0n, position: 0}], 0n)
  const folder = memoryFolder({[`${stem}.log`]: large, [`${stem}.index`]: index})
  const printed = await print(folder, `${stem}.index`, {style: '4.4', maxMessageSize: 5_242_880})
  expect(printed.stdout.toString()).toBe(`Dumping ${stem}.index\noffset: 0 position: 0\n`)
  expect([printed.report, errors(printed)]).toEqual(['', []])
  expect(printed.findings.map(({code}) => code)).toEqual(['batch-size'])
})

differs('missing-log', 'the entries of both indexes are printed', async () => {
  const folder = memoryFolder({
    [`${stem}.index`]: writeOffsetIndex([{offset: 7n, position: 90}], 0n),
    [`${stem}.timeindex`]: writeTimeIndex([{timestamp: time, offset: 7n}], 0n),
  })
  const index = await print(folder, `${stem}.index`, {style: '4.4'})
  expect(index.stdout.toString()).toBe(`Dumping ${stem}.index\noffset: 7 position: 90\n`)
  const timeindex = await print(folder, `${stem}.timeindex`, {style: '4.4'})
  expect(timeindex.stdout.toString()).toBe(`Dumping ${stem}.timeindex\ntimestamp: ${time} offset: 7\n`)
  for (const {report, findings} of [index, timeindex]) {
    expect([report, findings.map(({code, severity}) => `${code} ${severity}`)]).toEqual(['', ['not-checked info']])
  }
})

differs('missing-index', 'a time index is checked without the offset index', async () => {
  const log = Buffer.concat(batches(2, 2))
  const timeindex = writeTimeIndex(
    [
      {timestamp: time + 1n, offset: 1n},
      {timestamp: time + 9n, offset: 3n},
    ],
    0n,
  )
  const folder = memoryFolder({[`${stem}.log`]: log, [`${stem}.timeindex`]: timeindex})
  const {report} = await print(folder, `${stem}.timeindex`, {style: '4.4'})
  expect(report).toBe(
    `Found timestamp mismatch in :<DIR>/${stem}.timeindex\n  Index timestamp: ${time + 9n}, log timestamp: ${time + 3n}\n`,
  )
  expect(await folder.list()).toEqual([`${stem}.log`, `${stem}.timeindex`])
})

test('an index that was not trimmed passes the sanity check of Kafka, whose last entry is then zeros; the finding stands', async () => {
  const entries = [
    {offset: 3n, position: 85},
    {offset: -4n, position: 155},
  ]
  const index = writeOffsetIndex(entries, 0n)
  const sanity = (bytes: Buffer) =>
    print(memoryFolder({[`${stem}.index`]: bytes}), `${stem}.index`, {style: '4.4', indexSanityCheck: true})
  const trimmed = await sanity(index)
  expect([trimmed.stdout.toString(), errors(trimmed)]).toEqual([`Dumping ${stem}.index\n`, ['index-offset']])
  const preallocated = await sanity(Buffer.concat([index, Buffer.alloc(80)]))
  expect(preallocated.stdout.toString()).toBe(`Dumping ${stem}.index\n${stem}.index passed sanity check.\n`)
  expect(errors(preallocated)).toEqual(['index-offset'])
})

test('behind a record of the offset -1 only the tool of 4.4 looks for a gap', async () => {
  const log = Buffer.concat([
    batches(1)[0] as Buffer,
    writeBatch({records: [{offset: 7n, timestamp: 0n, key: null, value: null}]}),
  ])
  log.writeBigInt64BE(-1n, 0)
  const report = async (style: '4.0' | '4.4') =>
    (await print(memoryFolder({[`${stem}.log`]: log}), `${stem}.log`, {style, deepIteration: true})).report
  expect(await report('4.4')).toContain('  -1 is followed by 7\n')
  expect(await report('4.0')).toBe('')
})

differs('failed-sanity-check', 'it is told, and nothing is thrown', async () => {
  const descending = writeTimeIndex(
    [
      {timestamp: time, offset: 1n},
      {timestamp: time - 1n, offset: 3n},
    ],
    0n,
  )
  const below = writeOffsetIndex([{offset: 6n, position: 0}], 7n)
  const cases = {
    [`${stem}.timeindex`]: descending,
    '00000000000000000007.index': below,
    [`${stem}.index`]: Buffer.alloc(12, 1),
  }
  for (const name of Object.keys(cases)) {
    const printed = await print(memoryFolder(cases), name, {style: '4.4', indexSanityCheck: true})
    expect(printed.stdout.toString()).toBe(`Dumping ${name}\n`)
    expect(errors(printed)).toHaveLength(1)
  }
})

/** Sets the low byte of a batch's attributes, and the CRC right. */
function withAttributes(batch: Buffer, low: number): Buffer {
  const changed = Buffer.from(batch)
  changed[22] = low
  changed.writeUInt32BE(crc32c(changed.subarray(21)), 17)
  return changed
}

differs('unknown-codec', 'the batch is a finding, and the next one is printed', async () => {
  const [first, second] = batches(1, 1) as [Buffer, Buffer]
  const printed = await dumpLog(Buffer.concat([withAttributes(first, 5), second]), {printDataLog: true})
  const lines = printed.stdout.toString().split('\n')
  expect(lines[2]).toMatch(/ compresscodec: unknown crc: \d+ isvalid: true$/)
  expect(lines[3]).toMatch(/^baseOffset: 1 /)
  expect(lines[4]).toMatch(/^\| offset: 1 /)
  expect(errors(printed)).toEqual(['records'])
})

differs('name-without-dot', 'it is ignored in every style', async () => {
  for (const style of ['4.0', '4.2', '4.4'] as const) {
    const printed = await print(memoryFolder({'quorum-state': Buffer.from('{}')}), 'quorum-state', {style})
    expect(printed.stdout.toString()).toBe('Dumping quorum-state\n')
    expect(printed.complaints).toEqual(['Ignoring unknown file quorum-state'])
  }
})

differs('index-version', 'the entry is printed with its version', async () => {
  const entry = {producerId: 1n, firstOffset: 2n, lastOffset: 3n, lastStableOffset: 4n}
  const folder = memoryFolder({[`${stem}.txnindex`]: writeTransactionIndex([{...entry, version: 1}, entry])})
  const printed = await print(folder, `${stem}.txnindex`, {style: '4.4'})
  const rest = 'producerId: 1 firstOffset: 2 lastOffset: 3 lastStableOffset: 4\n'
  expect(printed.stdout.toString()).toBe(`Dumping ${stem}.txnindex\nversion: 1 ${rest}version: 0 ${rest}`)
  expect(errors(printed)).toEqual(['txnindex-version'])
  const before = await print(folder, `${stem}.txnindex`, {style: '4.2'})
  expect(before.stdout.toString()).toContain(`version: 0 ${rest}version: 0 ${rest}`)
})

/** So many times the same batch; only as much of it is in memory as is asked for. */
function repeated(name: string, batch: Buffer, times: number): OpenFile {
  const size = batch.length * times
  const twice = Buffer.concat([batch, batch])
  return {
    path: name,
    name,
    size,
    async read(position, length) {
      const from = position % batch.length
      const end = Math.min(length, size - position)
      if (end <= twice.length - from) return twice.subarray(from, from + end)
      const bytes = Buffer.alloc(end)
      for (let at = 0; at < end; ) at += twice.copy(bytes, at, (from + at) % batch.length)
      return bytes
    },
  }
}

differs('large-files', 'positions beyond 2 GiB are exact', async () => {
  const batch = writeBatch({records: [{timestamp: time, key: null, value: Buffer.alloc(1_048_576 - 80)}]})
  const times = 2_060
  const file = repeated(`${stem}.log`, batch, times)
  expect(file.size).toBeGreaterThan(2 ** 31)
  let tail = ''
  const writer = new LineWriter(bytes => {
    tail = bytes.toString('latin1').slice(-400)
  })
  const out = {writer, report: new FinalReport('4.4'), complain: () => {}, absolutePath: file.path}
  const {findings} = await dumpText('log', file, memoryFolder({}), {style: '4.4'}, out)
  await writer.drain()
  expect(tail).toContain(` position: ${batch.length * (times - 1)} CreateTime: ${time} size: ${batch.length} `)
  expect(findings).toEqual([])
})

differs('linear-check', 'as many entries as batches, in any order, take one pass', async () => {
  const count = 20_000
  const log = Buffer.concat(batches(...Array.from({length: count}, () => 1)))
  let bytesRead = 0
  const entries = Array.from({length: count}, (_, n) => ({timestamp: time + BigInt(n), offset: BigInt(n)})).slice(1)
  const swapped = [...entries.slice(count / 2), ...entries.slice(0, count / 2)]
  const folder = memoryFolder({[`${stem}.log`]: log, [`${stem}.timeindex`]: writeTimeIndex(swapped, 0n)})
  const counting = {
    ...folder,
    open: async (name: string): Promise<OpenFile | undefined> => {
      const file = await folder.open(name)
      if (!file || !name.endsWith('.log')) return file
      const read: OpenFile['read'] = (position, length) => {
        bytesRead += length
        return file.read(position, length)
      }
      return {...file, read}
    },
  }
  const {report} = await print(counting, `${stem}.timeindex`, {style: '4.0'})
  expect(report.split('\n').filter(line => line.startsWith('  Index timestamp'))).toEqual([
    `  Index timestamp: ${time + 1n}, Previously indexed timestamp: ${time + BigInt(count - 1)}`,
  ])
  expect(bytesRead).toBeLessThan(2 * log.length)
})

differs('exit-status', 'what is wrong is a finding', async () => {
  const [first, second] = batches(1, 1) as [Buffer, Buffer]
  const flipped = Buffer.from(first)
  flipped[flipped.length - 2]! ^= 1
  expect(errors(await dumpLog(flipped))).toEqual(['crc'])
  expect(errors(await dumpLog(Buffer.concat([first, second.subarray(0, second.length - 1)])))).toEqual(['cut-batch'])
  expect(errors(await dumpLog(Buffer.concat([first, second.subarray(0, 20)])))).toEqual(['cut-header'])
  expect(errors(await dumpLog(Buffer.concat([first, Buffer.from('rubbish')])))).toHaveLength(1)
  expect(errors(await dumpLog(Buffer.concat([first, second])))).toEqual([])
})

differs('double-text', 'a number has the shortest text that is the same number', async () => {
  const quota = (value: number): Buffer => {
    const bytes = Buffer.from('010e0001026b00000000000000000000', 'hex')
    bytes.writeDoubleBE(value, 6)
    return bytes
  }
  const values = [8.41e21, 2e-3, 1_048_576, 1e7]
  const records = values.map(value => ({timestamp: time, key: null, value: quota(value)}))
  const {stdout} = await dumpLog(writeBatch({records}), {decoder: decoderNamed('cluster-metadata')})
  const texts = [...stdout.toString('latin1').matchAll(/"value":([^,]+),/g)].map(([, text]) => text)
  expect(texts).toEqual(['8.41E21', '0.002', '1048576.0', '1.0E7'])
})

differs('field-formats', 'what does not fit is shown as text, with the reason', async () => {
  const int64 = Buffer.alloc(8)
  int64.writeBigInt64BE(-(2n ** 63n))
  const uuid = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
  const values = [
    int64,
    Buffer.from([0, 0, 1, 0]),
    uuid,
    Buffer.from('{"a": 12345678901234567890}'),
    Buffer.from('abc'),
  ]
  const records = values.map(value => ({timestamp: time, key: value, value}))
  const log = writeBatch({records})
  const payloads = async (valueFormat: WritableFormat): Promise<string[]> => {
    const {stdout} = await dumpLog(log, {printDataLog: true, valueFormat, keyFormat: 'hex'})
    return [...stdout.toString('latin1').matchAll(/ key: [0-9a-f]+ payload: ([^\n]*)/g)].map(
      ([, text]) => text as string,
    )
  }
  expect((await payloads('int64')).map(text => text.replace(/^[^ ]*/, ''))).toContainEqual('')
  expect((await payloads('int64'))[0]).toBe('-9223372036854775808')
  expect((await payloads('int64'))[4]).toBe('abc (no int64: it has 3 bytes)')
  expect((await payloads('int32'))[1]).toBe('256')
  expect((await payloads('int32'))[4]).toBe('abc (no int32: it has 3 bytes)')
  expect((await payloads('uuid'))[2]).toBe('00112233-4455-6677-8899-aabbccddeeff')
  expect((await payloads('uuid'))[4]).toBe('abc (no uuid: it has 3 bytes)')
  expect((await payloads('json'))[3]).toBe('{"a": 12345678901234567890}')
  expect((await payloads('json'))[4]).toBe('abc (no JSON)')
  expect(await payloads('hex')).toEqual(values.map(value => value.toString('hex')))
  expect(await payloads('base64')).toEqual(values.map(value => value.toString('base64')))
})

type WritableFormat = 'int32' | 'int64' | 'uuid' | 'hex' | 'base64' | 'json'

test('each difference has a golden case or a test of its own', () => {
  expect(Object.keys(differences).sort()).toEqual([...new Set([...own, ...shownByGoldenRuns])].sort())
})
