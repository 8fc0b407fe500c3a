import {describe, expect, test} from 'vitest'
import {hasFindings} from '../../../../src/log/verify/report.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {abc, type Files, folder, goldenFiles, patched, stem, told, verified, verifiedFile} from './folders.js'

const log = `${stem}.log`
const record = (offset: bigint, leaderEpoch = 3) =>
  writeBatch({records: [{offset, timestamp: 1n, key: null, value: Buffer.from('v')}], leaderEpoch})
const named = (offset: number) => `${String(offset).padStart(20, '0')}.log`
const text = (...lines: readonly string[]) => Buffer.from(lines.map(line => `${line}\n`).join(''))

describe('a chain of segments', () => {
  test('without holes is right', async () => {
    const report = await verified({[log]: abc, [named(4)]: record(4n), [named(5)]: record(5n)})
    expect(told(report.findings)).toEqual([])
    expect(report.segments.map(({isActive}) => isActive)).toEqual([false, false, true])
    expect(report.log).toMatchObject({firstOffset: 0n, lastOffset: 5n, batches: 5})
  })

  test('with a hole', async () => {
    const report = await verified({[log]: abc, [named(9)]: record(9n)})
    expect(told(report.findings)).toEqual(['warning segment-gap o4'])
    expect(report.findings[0]?.explanation).toContain('5 offsets are missing')
  })

  test('with a hole is normal in a compacted topic', async () => {
    const files = {[log]: abc, [named(9)]: record(9n)}
    expect(told((await verified(files, {compacted: true})).findings)).toEqual([])
    expect(told((await verified(files, {}, '__consumer_offsets-3')).findings)).not.toContain('warning segment-gap o4')
  })

  test('with an overlap', async () => {
    expect(told((await verified({[log]: abc, [named(3)]: record(4n)})).findings)).toEqual([
      'error segment-overlap 155 o3',
    ])
    expect(told((await verifiedFile({[log]: abc, [named(3)]: record(4n)}, log)).findings)).toEqual([
      'error segment-overlap 155 o3',
    ])
  })

  test('whose first segment is damaged says what recovery would take away', async () => {
    const report = await verified({[log]: patched(abc, 220, 0xff), [named(4)]: record(4n), [named(5)]: record(5n)})
    expect(told(report.findings)).toEqual(['error crc 155 o3'])
    const conclusions = report.conclusions.join('\n')
    expect(conclusions).toContain('cuts 00000000000000000000.log at byte 155 and deletes 2 later segments')
    expect(conclusions).toContain('2 readable records, offsets 3 to 5, would be lost on this replica')
  })
})

describe('leader-epoch-checkpoint', () => {
  const files = {[log]: Buffer.concat([record(0n, 1), record(1n, 1), record(2n, 4)])}
  const of = async (...lines: readonly string[]) =>
    told((await verified({...files, 'leader-epoch-checkpoint': text(...lines)})).findings)

  test('that is right', async () => {
    expect(await of('0', '2', '1 0', '4 2')).toEqual([])
  })

  test('with an epoch that has no record yet', async () => {
    expect(await of('0', '3', '1 0', '4 2', '5 3')).toEqual([])
  })

  test('whose first entry was moved to the log start', async () => {
    expect(await of('0', '2', '1 1', '4 2')).toEqual([])
    expect(await of('0', '1', '4 2')).toEqual([])
  })

  test('without an epoch of the log', async () => {
    expect(await of('0', '1', '1 0')).toEqual([expect.stringMatching(/^warning epoch-checkpoint \d+ o2$/)])
  })

  test('with an epoch that begins elsewhere', async () => {
    expect(await of('0', '2', '1 0', '4 1')).toEqual([expect.stringMatching(/^warning epoch-checkpoint \d+ o1$/)])
  })

  test('with an epoch beyond the end of the log', async () => {
    expect(await of('0', '3', '1 0', '4 2', '5 9')).toEqual(['warning epoch-checkpoint o9'])
  })

  test.each([
    ['a wrong count', ['0', '3', '1 0', '4 2']],
    ['epochs that fall', ['0', '2', '4 0', '1 2']],
    ['offsets that fall', ['0', '2', '1 2', '4 0']],
    ['version 1', ['1', '2', '1 0', '4 2']],
  ])('with %s', async (_, lines) => {
    const report = await verified({...files, 'leader-epoch-checkpoint': text(...lines)})
    expect(hasFindings(report)).toBe(true)
    const wrong = report.findings.filter(({severity}) => severity !== 'info')
    expect(wrong.every(({file}) => file.endsWith('leader-epoch-checkpoint'))).toBe(true)
    const alone = await verifiedFile({'leader-epoch-checkpoint': text(...lines)}, 'leader-epoch-checkpoint')
    expect(hasFindings(alone)).toBe(true)
  })

  test('that is empty has no entries', async () => {
    expect(told((await verified({...files, 'leader-epoch-checkpoint': Buffer.alloc(0)})).findings)).toEqual([])
  })
})

describe('a log dir', () => {
  const partition = {[log]: abc}
  const dir = (checkpoints: Files): Files => ({
    'meta.properties': text('version=1', 'cluster.id=abc', 'node.id=1'),
    'orders-0': partition,
    ...checkpoints,
  })
  const of = async (checkpoints: Files) => told((await verified(dir(checkpoints), {}, 'data')).findings)
  const checkpoint = (offset: number) => text('0', '1', `orders 0 ${offset}`)

  test('holds its partitions', async () => {
    const report = await verified(dir({}), {}, 'data')
    expect(report.kind).toBe('log-dir')
    expect(
      report.partitions.map(({topic, partition: number, log: summary}) => [topic, number, summary?.records]),
    ).toEqual([['orders', 0, 4]])
    expect(hasFindings(report)).toBe(false)
    expect(report.conclusions.join('\n')).toContain('No .kafka_cleanshutdown is here')
  })

  test.each(['kafka-logs-0', 'broker-12'])(
    'is none of topic-partition, although its name, %s, looks like that',
    async name => {
      const report = await verified({...dir({}), 'orders-1': {[log]: patched(abc, 70, 9)}}, {}, name)
      expect(report.kind).toBe('log-dir')
      expect(report.partitions).toHaveLength(2)
      expect(hasFindings(report)).toBe(true)
      const checkpointsOnly = {'bootstrap.checkpoint': Buffer.alloc(0), 'orders-0': partition}
      expect((await verified(checkpointsOnly, {}, name)).kind).toBe('log-dir')
    },
  )

  test('has findings if one of its partitions has', async () => {
    const report = await verified({...dir({}), 'orders-1': {[log]: patched(abc, 70, 9)}}, {}, 'data')
    expect(hasFindings(report)).toBe(true)
    expect(report.conclusions[0]).toBe('Something is wrong in 1 of 2 partitions: orders-1.')
  })

  const names = ['recovery-point', 'log-start', 'replication', 'cleaner']
  test.each(names)('with a %s checkpoint within the log is right', async name => {
    expect(await of({[`${name}-offset-checkpoint`]: checkpoint(0)})).toEqual([])
    expect(await of({[`${name}-offset-checkpoint`]: checkpoint(4)})).toEqual([])
  })

  test.each(names)('with a %s checkpoint beyond the log', async name => {
    const report = await verified(dir({[`${name}-offset-checkpoint`]: checkpoint(5)}), {}, 'data')
    const [partitionReport] = report.partitions
    const severity = name === 'log-start' ? 'error' : 'warning'
    expect(told(partitionReport?.findings ?? [])).toEqual([`${severity} checkpoint-range o5`])
    expect(hasFindings(report)).toBe(true)
  })

  test('with a checkpoint of a partition that is not there', async () => {
    const report = await verified(dir({'log-start-offset-checkpoint': text('0', '1', 'gone 0 5')}), {}, 'data')
    expect(told(report.findings, {infos: true})).toEqual(['info checkpoint-partition'])
  })

  test('that was stopped in order has no preallocated space any more', async () => {
    const files = {
      'orders-0': {[log]: Buffer.concat([abc, Buffer.alloc(512)])},
      '.kafka_cleanshutdown': Buffer.from('{"version":0,"brokerEpoch":9}'),
    }
    const report = await verified(files, {}, 'data')
    expect(told(report.partitions[0]?.findings ?? [])).toEqual(['error zero-fill 233 o4'])
    expect(report.conclusions.join('\n')).toContain('The broker was stopped in order')
  })

  test('whose cleaner knows a partition takes it for compacted', async () => {
    const gap = {[log]: Buffer.concat([record(0n), record(7n)])}
    const without = await verified({'orders-0': gap}, {}, 'data')
    expect(told(without.partitions[0]?.findings ?? [])).toEqual([expect.stringMatching(/^warning offset-gap/)])
    const withCleaner = await verified({'orders-0': gap, 'cleaner-offset-checkpoint': checkpoint(1)}, {}, 'data')
    expect(told(withCleaner.partitions[0]?.findings ?? [])).toEqual([])
  })

  test('whose recovery point lies behind the damage says that recovery does not see it', async () => {
    const files = {
      'orders-0': {[log]: patched(abc, 70, 9), [named(4)]: record(4n)},
      'recovery-point-offset-checkpoint': checkpoint(4),
    }
    const report = await verified(files, {}, 'data')
    expect(report.partitions[0]?.conclusions.join('\n')).toContain('recovery does not look at it')
  })

  test('compares topic ids with the cluster metadata', async () => {
    const value = Buffer.from('01020004666f6f0000000000000000000000000000000100', 'hex')
    const metadata = writeBatch({records: [{offset: 0n, timestamp: 1n, key: null, value}], leaderEpoch: 1})
    const idOf = (last: number) => Buffer.from([...Array<number>(15).fill(0), last]).toString('base64url')
    const files = (id: string): Files => ({
      '__cluster_metadata-0': {[log]: metadata},
      'foo-0': {[log]: abc, 'partition.metadata': Buffer.from(`version: 0\ntopic_id: ${id}`)},
    })
    expect(told((await verified(files(idOf(1)), {}, 'data')).findings)).toEqual([])
    expect(told((await verified(files(idOf(2)), {}, 'data')).findings)).toEqual(['error topic-id'])
  })

  test('checks what else lies in it, by content where the name says nothing', async () => {
    const report = await verified(
      {'notes.txt': text('hello'), 'copy-of-a-log': patched(abc, 70, 9), 'x.log': abc},
      {},
      'data',
    )
    expect(report.kind).toBe('files')
    expect(told(report.findings)).toEqual(['error crc 0 o0'])
    expect(report.otherFiles.map(({name, role}) => [name, role])).toEqual([
      ['notes.txt', 'unknown'],
      ['copy-of-a-log', 'log'],
      ['x.log', 'log'],
    ])
    const snapshot = goldenFiles('real', 'metadata-formatted')
    const [name, bytes] = Object.entries(snapshot).find(([one]) => one.endsWith('.checkpoint')) as [string, Buffer]
    expect(told((await verified({[name]: bytes}, {}, 'data')).findings)).toEqual([])
    const cut = {[name]: bytes.subarray(0, bytes.length - 20)}
    expect(told((await verified(cut, {}, 'data')).findings)).toContainEqual(
      expect.stringMatching(/^error kraft-footer/),
    )
  })

  test('opens folders only where it can', async () => {
    const own = folder({'orders-0': partition}, 'data')
    const {verifyFolder} = await import('../../../../src/log/verify/verify-folder.js')
    const flat = {path: own.path, list: own.list, open: own.open}
    expect((await verifyFolder(flat)).partitions).toEqual([])
  })
})

describe('a KRaft snapshot', () => {
  const name = '00000000000000000021-0000000005.checkpoint'
  const files = goldenFiles('made', 'kafka-metasnap')
  const whole = files[name] as Buffer
  const starts = (() => {
    const positions: number[] = []
    for (let at = 0; at < whole.length; at += 12 + whole.readInt32BE(at + 8)) positions.push(at)
    return positions
  })()
  const footerAt = starts.at(-1) as number
  const of = async (bytes: Buffer, as = name) =>
    (await verifiedFile({[as]: bytes}, as)).findings.map(({severity, code}) => `${severity} ${code}`)

  test('that is whole', async () => {
    expect(starts.length).toBeGreaterThan(2)
    expect(await of(whole)).toEqual([])
  })

  test('without its footer', async () => {
    expect(await of(whole.subarray(0, footerAt))).toEqual(['error kraft-footer'])
    expect(await of(whole.subarray(0, footerAt), `${name}.part`)).toEqual(['info kraft-footer'])
  })

  test('that is cut in its footer', async () => {
    expect((await of(whole.subarray(0, whole.length - 3))).sort()).toEqual(['error cut-batch', 'error kraft-footer'])
  })

  test('without its header', async () => {
    expect(await of(whole.subarray(starts[1]))).toContain('error kraft-header')
  })

  test('with something behind its footer', async () => {
    const last = Buffer.from(whole.subarray(starts[1] as number, starts[2] as number))
    last.writeBigInt64BE(whole.readBigInt64BE(footerAt) + 1n)
    expect(await of(Buffer.concat([whole, last]))).toEqual(['error kraft-after-footer'])
  })

  test('under another name', async () => {
    expect(await of(whole, '00000000000000000021-0000000009.checkpoint')).toEqual(['warning kraft-epoch'])
    expect(await of(whole, 'bootstrap.checkpoint')).toEqual([])
  })

  test('beside a log that it does not fit', async () => {
    const metadata = goldenFiles('real', 'metadata-controller')
    const snapshot = metadata['00000000000000000036-0000000001.checkpoint'] as Buffer
    const at = async (as: string) =>
      told((await verified({...metadata, [as]: snapshot}, {}, '__cluster_metadata-0')).findings)
    expect(await at('00000000000000000036-0000000001.checkpoint')).toEqual([])
    expect(await at('00000000000000000099-0000000001.checkpoint')).toEqual(['warning kraft-not-in-log o99'])
    expect(await at('00000000000000000055-0000000001.checkpoint')).toEqual(['warning kraft-not-in-log o55'])
  })
})

describe('records of internal topics', () => {
  test('that can not be decoded are told with the reason', async () => {
    const report = await verified(goldenFiles('made', 'kafka-offsets'), {}, '__consumer_offsets-0')
    expect(report.findingCounts.filter(({code}) => code === 'decoder')).toHaveLength(1)
    expect(report.findings.filter(({code}) => code === 'decoder').map(({offset}) => offset)).toEqual(
      Array.from({length: 10}, (_, n) => BigInt(n + 12)),
    )
  })

  test('are not decoded where it is not wanted, or where the topic is another', async () => {
    const none = await verified(goldenFiles('made', 'kafka-offsets'), {decoder: 'none'}, '__consumer_offsets-0')
    expect(none.findings.filter(({code}) => code === 'decoder')).toEqual([])
    const other = await verified(goldenFiles('made', 'kafka-offsets'))
    expect(other.findings.filter(({code}) => code === 'decoder')).toEqual([])
    const named = await verified(goldenFiles('made', 'kafka-offsets'), {decoder: 'offsets'})
    expect(named.findings.filter(({code}) => code === 'decoder').length).toBeGreaterThan(0)
  })
})
