import {describe, expect, test} from 'vitest'
import {writeProducerSnapshot} from '../../../../src/log/files/producer-snapshot.js'
import {writeTransactionIndex} from '../../../../src/log/files/transaction-index.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {abc, type Files, patched, stem, told, verified, verifiedFile, withCrc} from './folders.js'

const log = `${stem}.log`
const txnIndex = `${stem}.txnindex`
/** A broker's clock, and that of clients. */
const [brokerTime, clientTime] = [1_790_000_000_000n, 1_700_000_000_000n]

interface DataOptions {
  readonly producerId?: bigint
  readonly epoch?: number
  readonly sequence?: number
  readonly count?: number
  readonly isTransactional?: boolean
  readonly timestamp?: bigint
}

/** Batches one after the other, as a log has them. */
class Writer {
  readonly parts: Buffer[] = []
  next: bigint

  constructor(base = 0n) {
    this.next = base
  }

  data({producerId = 7n, epoch = 0, sequence = 0, count = 1, isTransactional = false, timestamp}: DataOptions): this {
    const records = Array.from({length: count}, (_, n) => ({
      offset: this.next + BigInt(n),
      timestamp: timestamp ?? clientTime + this.next,
      key: null,
      value: Buffer.from('v'),
    }))
    this.parts.push(
      writeBatch({records, producerId, producerEpoch: epoch, baseSequence: sequence, isTransactional, leaderEpoch: 0}),
    )
    this.next += BigInt(count)
    return this
  }

  transaction(options: DataOptions): this {
    return this.data({...options, isTransactional: true})
  }

  marker(type: 'commit' | 'abort', {producerId = 7n, epoch = 0, coordinatorEpoch = 1, time = brokerTime} = {}): this {
    const key = Buffer.from([0, 0, 0, type === 'commit' ? 1 : 0])
    const value = Buffer.alloc(6)
    value.writeInt32BE(coordinatorEpoch, 2)
    this.parts.push(
      writeBatch({
        records: [{offset: this.next, timestamp: time, key, value}],
        producerId,
        producerEpoch: epoch,
        isTransactional: true,
        isControl: true,
        leaderEpoch: 0,
      }),
    )
    this.next++
    return this
  }

  get bytes(): Buffer {
    return Buffer.concat(this.parts)
  }
}

const codes = async (bytes: Buffer, infos = false): Promise<string[]> =>
  (await verifiedFile({[log]: bytes}, log)).findings
    .filter(({severity}) => infos || severity !== 'info')
    .map(({code, offset}) => `${code} o${offset}`)

describe('sequences of a producer', () => {
  test('that go on are right, also round the largest one', async () => {
    const writer = new Writer().data({sequence: 0, count: 3}).data({sequence: 3, count: 2})
    writer.data({producerId: 8n, sequence: 2_147_483_645, count: 5}).data({producerId: 8n, sequence: 2})
    expect(await codes(writer.bytes, true)).toEqual([])
  })

  test('may begin anywhere: brokers forget producers, and retention deletes their batches', async () => {
    expect(await codes(new Writer().data({sequence: 500}).data({sequence: 501}).bytes)).toEqual([])
  })

  test('that are missing', async () => {
    const report = await verifiedFile({[log]: new Writer().data({sequence: 0}).data({sequence: 5}).bytes}, log)
    expect(told(report.findings)).toEqual([expect.stringMatching(/^warning sequence-gap \d+ o1$/)])
    expect(report.findings[0]?.explanation).toBe('producer 7 (epoch 0): sequence 0 is followed by 5: 4 missing')
  })

  test('that are there twice, or go back', async () => {
    expect(await codes(new Writer().data({count: 2}).data({count: 2}).bytes)).toEqual(['sequence-duplicate o2'])
    expect(await codes(new Writer().data({count: 9}).data({sequence: 4}).bytes)).toEqual(['sequence-regress o9'])
  })

  test('begin with 0 in a new epoch', async () => {
    expect(await codes(new Writer().data({count: 2}).data({epoch: 1}).data({epoch: 1, sequence: 1}).bytes)).toEqual([])
    expect(await codes(new Writer().data({count: 2}).data({epoch: 1, sequence: 4}).bytes)).toEqual(['sequence-gap o2'])
  })

  test('with an epoch that falls', async () => {
    const bytes = new Writer().data({epoch: 5}).data({epoch: 4}).bytes
    expect(await codes(bytes)).toEqual(['producer-epoch-falls o1'])
  })

  test('with the largest epoch are right', async () => {
    expect(await codes(new Writer().data({epoch: 32_767}).data({epoch: 32_767, sequence: 1}).bytes)).toEqual([])
  })

  test('without a producer (id −1, as coordinators write them) say nothing', async () => {
    const writer = new Writer().data({producerId: -1n, epoch: -1, sequence: 0, count: 3})
    writer.data({producerId: -1n, epoch: -1, sequence: 0})
    expect(await codes(writer.bytes)).toEqual([])
  })

  test('are not followed across damage', async () => {
    const writer = new Writer().data({sequence: 0}).data({sequence: 1}).data({sequence: 2}).data({sequence: 9})
    const [first, second, third, fourth] = writer.parts as [Buffer, Buffer, Buffer, Buffer]
    const damaged = Buffer.concat([first, patched(second, 62, 0xff), third, fourth])
    expect(await codes(damaged)).toEqual(['crc o1', 'sequence-gap o3'])
  })

  test('go on from the snapshot that lies at the beginning of the log', async () => {
    const name = '00000000000000000100'
    const entry = {
      producerId: 7n,
      producerEpoch: 0,
      lastSequence: 9,
      lastOffset: 99n,
      offsetDelta: 0,
      timestamp: clientTime,
      coordinatorEpoch: -1,
      currentTxnFirstOffset: null,
    }
    const files = (sequence: number): Files => ({
      [`${name}.log`]: new Writer(100n).data({sequence}).bytes,
      [`${name}.snapshot`]: writeProducerSnapshot([entry]),
    })
    expect(told((await verified(files(10))).findings)).toEqual([])
    expect(told((await verified(files(12))).findings)).toEqual(['warning sequence-gap 0 o100'])
  })
})

describe('transactions', () => {
  test('of both kinds of markers are right: with the epoch of the data, and with the next one', async () => {
    const writer = new Writer().transaction({count: 2}).marker('commit').transaction({sequence: 2}).marker('abort')
    writer.transaction({producerId: 8n}).marker('commit', {producerId: 8n, epoch: 1})
    writer.transaction({producerId: 8n, epoch: 1}).marker('abort', {producerId: 8n, epoch: 2})
    const report = await verifiedFile({[log]: writer.bytes}, log)
    expect(told(report.findings, {infos: true})).toEqual([])
    expect(report.log?.transactions).toMatchObject({
      committed: 2,
      aborted: 2,
      open: [],
      lastStableOffset: writer.next,
      abortedRanges: [
        {producerId: 7n, firstOffset: 3n, lastOffset: 4n},
        {producerId: 8n, firstOffset: 7n, lastOffset: 8n},
      ],
    })
  })

  test('that are open are worth knowing', async () => {
    const report = await verifiedFile({[log]: new Writer().transaction({}).bytes}, log)
    expect(told(report.findings, {infos: true})).toEqual(['info transaction-open o0'])
    expect(report.log?.transactions.lastStableOffset).toBe(0n)
  })

  test('that are open for longer than allowed by the broker’s clock are hanging', async () => {
    const writer = new Writer().transaction({producerId: 9n})
    writer
      .transaction({})
      .marker('commit')
      .transaction({sequence: 1})
      .marker('commit', {time: brokerTime + 900_001n})
    const report = await verifiedFile({[log]: writer.bytes}, log)
    expect(told(report.findings)).toEqual(['warning transaction-hanging o0'])
    expect(report.log?.transactions.open).toMatchObject([{producerId: 9n, openForMs: 900_001, isHanging: true}])
    expect(told((await verifiedFile({[log]: writer.bytes}, log, {hangingAfterMs: 900_001})).findings)).toEqual([])
  })

  test('that are old by the clients’ clock only may be hanging', async () => {
    const writer = new Writer().transaction({timestamp: clientTime})
    writer.data({producerId: -1n, sequence: -1, epoch: -1, timestamp: clientTime + 1_000_000n})
    expect(told((await verifiedFile({[log]: writer.bytes}, log)).findings, {infos: true})).toEqual([
      'info transaction-hanging o0',
    ])
  })

  test('that the client stamped with an old time are not hanging: markers have another clock', async () => {
    const writer = new Writer().transaction({producerId: 9n}).transaction({}).marker('commit')
    expect(await codes(writer.bytes)).toEqual([])
  })

  test('of a marker without data are normal', async () => {
    expect(await codes(new Writer().marker('commit').bytes, true)).toEqual(['marker-without-data o0'])
  })

  test('with data that are not part of them', async () => {
    expect(await codes(new Writer().transaction({}).data({sequence: 1}).marker('commit').bytes)).toEqual([
      'not-transactional o1',
    ])
  })

  test('with a coordinator epoch that falls', async () => {
    const writer = new Writer().transaction({}).marker('commit', {coordinatorEpoch: 5})
    writer.transaction({sequence: 1}).marker('commit', {coordinatorEpoch: 4})
    expect(await codes(writer.bytes)).toEqual(['coordinator-epoch-falls o3'])
  })

  test.each([
    ['a value of 4 bytes', (value: Buffer) => value.subarray(0, 4)],
    ['version 1', (value: Buffer) => patched(value, 1, 1)],
    ['bytes behind it', (value: Buffer) => Buffer.concat([value, Buffer.of(9)])],
  ])('with a marker that has %s', async (_, change) => {
    const value = change(Buffer.from([0, 0, 0, 0, 0, 7]))
    const marker = writeBatch({
      records: [{offset: 1n, timestamp: brokerTime, key: Buffer.from([0, 0, 0, 1]), value}],
      producerId: 7n,
      producerEpoch: 0,
      isTransactional: true,
      isControl: true,
      leaderEpoch: 0,
    })
    const report = await verifiedFile({[log]: Buffer.concat([...new Writer().transaction({}).parts, marker])}, log)
    expect(told(report.findings)).toEqual([expect.stringMatching(/^warning control-record \d+ o1$/)])
    expect(report.log?.transactions.committed).toBe(1)
  })
})

describe('a transaction index', () => {
  // Producer 8 opens at 0; producer 7 aborts 1-2, then 8 aborts 0-3.
  const writer = new Writer()
    .transaction({producerId: 8n})
    .transaction({})
    .marker('abort')
    .marker('abort', {producerId: 8n})
  const entries = [
    {producerId: 7n, firstOffset: 1n, lastOffset: 2n, lastStableOffset: 0n},
    {producerId: 8n, firstOffset: 0n, lastOffset: 3n, lastStableOffset: 4n},
  ] as const
  const of = async (bytes: Buffer): Promise<string[]> => {
    const report = await verifiedFile({[log]: writer.bytes, [txnIndex]: bytes}, txnIndex)
    const withLog = await verifiedFile({[log]: writer.bytes, [txnIndex]: bytes}, log)
    expect(told(withLog.findings)).toEqual(told(report.findings))
    return told(report.findings)
  }
  const right = writeTransactionIndex(entries)

  test('that is right', async () => {
    expect(await of(right)).toEqual([])
  })

  test('that lacks an entry', async () => {
    expect(await of(right.subarray(34))).toEqual(['error txnindex-missing o2'])
  })

  test('that is missing, although the other index files are there', async () => {
    const files = {[log]: writer.bytes, [`${stem}.index`]: Buffer.alloc(0)}
    expect(told((await verified(files)).findings)).toContain('error txnindex-missing o2')
  })

  test('with an entry of no abort', async () => {
    const extra = writeTransactionIndex([
      ...entries,
      {producerId: 1n, firstOffset: 4n, lastOffset: 9n, lastStableOffset: 10n},
    ])
    expect(await of(extra)).toEqual(['error txnindex-extra 68 o9'])
  })

  test.each([
    ['producer', {producerId: 6n}],
    ['first offset', {firstOffset: 0n}],
    ['last stable offset', {lastStableOffset: 3n}],
  ])('with another %s', async (_, change) => {
    expect(await of(writeTransactionIndex([{...entries[0], ...change}, entries[1]]))).toEqual([
      'error txnindex-mismatch 0 o2',
    ])
  })

  test('of a follower that fetched batches at once takes later transactions for open', async () => {
    const follower = new Writer().transaction({}).marker('abort').transaction({producerId: 8n})
    const file = (lastStableOffset: bigint) =>
      writeTransactionIndex([{producerId: 7n, firstOffset: 0n, lastOffset: 1n, lastStableOffset}])
    const of = async (lastStableOffset: bigint) =>
      told((await verifiedFile({[log]: follower.bytes, [txnIndex]: file(lastStableOffset)}, log)).findings)
    expect(await of(2n)).toEqual([])
    const later = new Writer().transaction({}).marker('abort').data({producerId: -1n, sequence: -1, epoch: -1})
    later.transaction({producerId: 8n})
    const bytes = file(3n)
    expect(told((await verifiedFile({[log]: later.bytes, [txnIndex]: bytes}, log)).findings)).toEqual([])
    expect(await of(9n)).toEqual(['error txnindex-mismatch 0 o1'])
  })

  test('that is cut, of another version, or in disorder', async () => {
    expect(await of(right.subarray(0, 40))).toEqual(['warning txnindex-size 34', 'error txnindex-missing o3'].sort())
    expect(await of(writeTransactionIndex([{...entries[0], version: 1}, entries[1]]))).toEqual([
      'error txnindex-version 0 o2',
    ])
    expect(await of(Buffer.concat([right.subarray(34), right.subarray(0, 34)]))).toContain('error txnindex-order 34 o2')
  })

  test('of a transaction that began in an earlier segment is right in a folder', async () => {
    const first = new Writer().transaction({})
    const second = new Writer(1n).marker('abort')
    const name = '00000000000000000001'
    const index = {
      [`${name}.txnindex`]: writeTransactionIndex([
        {producerId: 7n, firstOffset: 0n, lastOffset: 1n, lastStableOffset: 2n},
      ]),
    }
    const files = {[log]: first.bytes, [`${name}.log`]: second.bytes, ...index}
    expect(told((await verified(files)).findings)).toEqual([])
    expect(told((await verifiedFile(files, `${name}.log`)).findings)).toEqual([])
    const report = await verified({
      [log]: first.bytes,
      [`${name}.log`]: second.bytes,
      [`${name}.txnindex`]: writeTransactionIndex([]),
    })
    expect(told(report.findings)).toEqual(['error txnindex-missing o1'])
  })
})

describe('a producer snapshot', () => {
  const name = '00000000000000000004.snapshot'
  const entry = {
    producerId: 1_000n,
    producerEpoch: 1,
    lastSequence: 0,
    lastOffset: 2n,
    offsetDelta: 0,
    timestamp: 1_700_000_000_020n,
    coordinatorEpoch: 7,
    currentTxnFirstOffset: null,
  }
  const of = async (bytes: Buffer, infos = false): Promise<string[]> => {
    const report = await verifiedFile({[log]: abc, [name]: bytes}, name)
    const inFolder = await verified({[log]: abc, [name]: bytes})
    const own = inFolder.findings.filter(({file}) => file.endsWith(name))
    expect(told(own, {infos})).toEqual(told(report.findings, {infos}))
    return told(report.findings, {infos})
  }

  test('that is right', async () => {
    expect(await of(writeProducerSnapshot([entry]), true)).toEqual([])
  })

  test.each([
    ['producerEpoch', {producerEpoch: 2}],
    ['lastSequence', {lastSequence: 1}],
    ['lastOffset', {lastOffset: 1n}],
    ['offsetDelta', {offsetDelta: 1}],
    ['timestamp', {timestamp: 1n}],
    ['coordinatorEpoch', {coordinatorEpoch: 8}],
    ['currentTxnFirstOffset', {currentTxnFirstOffset: 2n}],
  ])('with another %s', async (field, change) => {
    const report = await verifiedFile({[log]: abc, [name]: writeProducerSnapshot([{...entry, ...change}])}, name)
    expect(told(report.findings)).toEqual(['warning snapshot-mismatch 10 o3'])
    expect(report.findings[0]?.explanation).toContain(`${field} is`)
  })

  test('with another producer', async () => {
    expect(await of(writeProducerSnapshot([entry, {...entry, producerId: 5n}]))).toEqual(['warning snapshot-extra 56'])
  })

  test('without producers, or without one that has expired, is normal', async () => {
    expect(await of(writeProducerSnapshot([]))).toEqual([])
    expect(await of(writeProducerSnapshot([]), true)).toEqual(['info snapshot-absent-producer'])
  })

  test('that is damaged', async () => {
    const right = writeProducerSnapshot([entry])
    expect(await of(patched(right, 3, 1))).toEqual(['error snapshot-corrupt'])
    expect(await of(right.subarray(0, 51))).toContain('error snapshot-corrupt')
    expect(await of(right.subarray(0, 5))).toEqual(['error snapshot-corrupt'])
    const version = patched(right, 1, 2)
    expect(await of(version)).toEqual(['error snapshot-corrupt'])
  })

  test('beyond the end of the log', async () => {
    const report = await verified({[log]: abc, '00000000000000000009.snapshot': writeProducerSnapshot([entry])})
    expect(told(report.findings)).toEqual(['warning snapshot-beyond-log o9'])
  })

  test('without the segments before it says that nothing was compared', async () => {
    const report = await verifiedFile({[name]: writeProducerSnapshot([entry])}, name)
    expect(told(report.findings, {infos: true})).toEqual(['info not-checked'])
  })

  test('in the middle of a segment is compared with what lies before it', async () => {
    const at = '00000000000000000003.snapshot'
    const open = {...entry, timestamp: 1_700_000_000_010n, coordinatorEpoch: -1, currentTxnFirstOffset: 2n}
    const right = {[log]: abc, [at]: writeProducerSnapshot([open])}
    expect(told((await verified(right)).findings)).toEqual([])
    expect(told((await verified({...right, [at]: writeProducerSnapshot([entry])})).findings)).toEqual([
      'warning snapshot-mismatch 10 o2',
    ])
  })
})

test('a hundred thousand producers are followed', async () => {
  const one = writeBatch({
    records: [{offset: 0n, timestamp: 1n, key: null, value: null}],
    producerId: 0n,
    producerEpoch: 0,
    baseSequence: 0,
    leaderEpoch: 0,
  })
  const batches: Buffer[] = []
  for (let n = 0; n < 200_000; n++) {
    const batch = Buffer.from(one)
    batch.writeBigInt64BE(BigInt(n), 0)
    batch.writeBigInt64BE(BigInt(n % 100_000), 43)
    batch.writeInt32BE(n < 100_000 ? 0 : 1, 53)
    batches.push(withCrc(batch))
  }
  const report = await verifiedFile({[log]: Buffer.concat(batches)}, log)
  expect(told(report.findings)).toEqual([])
  expect(report.log).toMatchObject({producerCount: 100_000})
  expect(report.log?.producers).toHaveLength(1_000)
})
