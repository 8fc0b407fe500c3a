import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {readBatches} from '../../../src/log/batches.js'
import {bufferSource} from '../../../src/log/byte-source.js'
import {scanBuffer} from '../../../src/log/scan.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {type WritableMessages, writeLegacy} from '../../../src/log/write-legacy.js'

const read = async (bytes: Buffer) => readBatches(bufferSource(bytes))
const text = (value: string): Buffer => Buffer.from(value)
const three = [
  {timestamp: 10n, key: text('a'), value: text('one')},
  {timestamp: 30n, key: null, value: text('two')},
  {timestamp: 20n, key: text('c'), value: null},
]

/** Offsets and timestamps of all records, and what was wrong with them. */
async function told(bytes: Buffer) {
  const {batches, problem} = await read(bytes)
  return {
    records: batches.flatMap(batch => batch.records.map(({offset, timestamp}) => [offset, timestamp])),
    problems: batches.map(batch => batch.problem),
    scan: problem?.kind,
  }
}

describe('what a message says', () => {
  test.each([0, 1] as const)('magic %i: a negative key or value size is shown as it stands, and is null', magic => {
    const bytes = writeLegacy({magic, messages: [{timestamp: 5n, key: null, value: null}]})
    bytes.writeInt32BE(-7, bytes.length - 8)
    bytes.writeInt32BE(-(2 ** 31), bytes.length - 4)
    const seen: unknown[] = []
    scanBuffer(bytes, batch => {
      const problem = batch.records(({keySize, valueSize, key, value}) => {
        seen.push([keySize, valueSize, key, value])
      })
      seen.push(problem)
    })
    expect(seen).toEqual([[-7, -(2 ** 31), null, null], undefined])
  })

  test('a message of 2015, from a mailing list', async () => {
    const bytes = Buffer.from('000000000000000000000016e97538bc0000ffffffff000000086d65737361676531', 'hex')
    const {batches} = await read(bytes)
    expect(batches).toMatchObject([
      {
        baseOffset: 0n,
        lastOffset: 0n,
        sizeInBytes: 34,
        magic: 0,
        crc: 3_916_773_564,
        crcIsRight: true,
        codec: 'none',
        timestampType: 'NoTimestampType',
        maxTimestamp: -1n,
        leaderEpoch: -1,
        producerId: -1n,
        producerEpoch: -1,
        baseSequence: -1,
        recordsCount: -1,
        isTransactional: false,
        isControl: false,
        deleteHorizonMs: null,
        records: [{offset: 0n, timestamp: -1n, sequence: -1, key: null, value: text('message1'), headers: []}],
      },
    ])
  })

  test.each([
    [
      'lz4 of magic 0, whose header checksum is odd',
      '000000000000000100000050' +
        '31a380900003ffffffff0000004204224d1860401a33000000160001005130721b1d740f008f026b31000000206101000c012c00f007' +
        '0000010000000fc8d66b880000ffffffff000000016200000000',
      [
        [0n, -1n],
        [1n, -1n],
      ],
    ],
    [
      'gzip of magic 1',
      '000000000000000100000056df23cd3101010000018bcfe56801ffffffff000000401f8b08000000000000ff636080038b37d6d10d8c' +
        '400663f7f9a7192011a66c4320a990480040f583b48a9bd44f6d839bc1f81f08409c240086770ea267000000',
      [
        [0n, 1_700_000_000_000n],
        [1n, 1_700_000_000_001n],
      ],
    ],
  ])('%s, as Kafka’s own classes write it', async (_, hex, records) => {
    const bytes = Buffer.from(hex, 'hex')
    expect(await told(bytes)).toEqual({records, problems: [undefined], scan: undefined})
    const {batches} = await read(bytes)
    expect(batches[0]).toMatchObject({crcIsRight: true, baseOffset: 0n, lastOffset: 1n})
    expect(batches[0]?.records.map(record => record.value?.toString())).toEqual(['a'.repeat(32), 'b'])
  })

  test('each record knows its own CRC', () => {
    const bytes = writeLegacy({magic: 1, codec: 'gzip', messages: three})
    const said: unknown[] = []
    scanBuffer(bytes, batch =>
      batch.records(({isLegacy, crc, crcIsRight}) => said.push([isLegacy, crc > 0, crcIsRight])),
    )
    expect(said).toEqual(three.map(() => [true, true, true]))
  })

  test('a batch of magic 2 behind messages of magic 0 and 1 in one file', async () => {
    const bytes = Buffer.concat([
      writeLegacy({magic: 0, messages: three}),
      writeLegacy({magic: 1, codec: 'lz4', baseOffset: 3n, messages: three}),
      writeBatch({baseOffset: 6n, codec: 'gzip', records: [{timestamp: 40n, key: null, value: text('new')}]}),
      writeLegacy({magic: 0, codec: 'snappy', baseOffset: 7n, messages: three}),
    ])
    const {batches} = await read(bytes)
    expect(batches.map(batch => batch.magic)).toEqual([0, 0, 0, 1, 2, 0])
    expect((await told(bytes)).records.map(([offset]) => Number(offset))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const legacy: boolean[] = []
    scanBuffer(bytes, batch => batch.records(record => legacy.push(record.isLegacy)))
    expect(legacy).toEqual([true, true, true, true, true, true, false, true, true, true])
  })
})

describe('the offsets and timestamps of wrapped messages', () => {
  test('magic 0: absolute, whatever the wrapper’s offset', async () => {
    const bytes = writeLegacy({magic: 0, codec: 'gzip', baseOffset: 7n, wrapperOffset: 3n, messages: three})
    expect((await told(bytes)).records).toEqual([7n, 8n, 9n].map(offset => [offset, -1n]))
  })

  test('magic 1: relative to the last one, which has the wrapper’s offset', async () => {
    const messages = [
      {...three[0]!, offset: 0n},
      {...three[1]!, offset: 4n},
    ]
    const bytes = writeLegacy({magic: 1, codec: 'gzip', baseOffset: 0n, wrapperOffset: 1_004n, messages})
    expect((await told(bytes)).records).toEqual([
      [1_000n, 10n],
      [1_004n, 30n],
    ])
  })

  test('magic 1 with the wrapper’s offset 0, as old librdkafka produced it: from 0', async () => {
    const bytes = writeLegacy({magic: 1, codec: 'snappy-raw', wrapperOffset: 0n, messages: three})
    expect((await told(bytes)).records.map(([offset]) => offset)).toEqual([0n, 1n, 2n])
  })

  test('with LogAppendTime on the wrapper, all have the wrapper’s time', async () => {
    const set: WritableMessages = {
      magic: 1,
      codec: 'lz4',
      timestampType: 'LogAppendTime',
      maxTimestamp: 99n,
      messages: three,
    }
    expect((await told(writeLegacy(set))).records.map(([, timestamp]) => timestamp)).toEqual([99n, 99n, 99n])
  })

  test('beyond 2^53 they are exact', async () => {
    const baseOffset = 2n ** 62n + 1n
    const {batches} = await read(writeLegacy({magic: 1, codec: 'gzip', baseOffset, messages: three}))
    expect(batches[0]).toMatchObject({baseOffset, lastOffset: baseOffset + 2n})
    expect(batches[0]?.records.map(record => record.offset)).toEqual([baseOffset, baseOffset + 1n, baseOffset + 2n])
  })
})

describe('what can’t be is told, and the scan goes on', () => {
  const wrapped = (bytes: Buffer, magic: 0 | 1, codec: 'gzip' | 'zstd' | 'unknown' = 'gzip'): Buffer => {
    const made = writeLegacy({magic, codec: 'gzip', messages: three})
    const plainWrapper = writeLegacy({magic, messages: [{timestamp: 0n, offset: 2n, key: null, value: bytes}]})
    plainWrapper[17] = codec === 'gzip' ? made[17]! : codec === 'zstd' ? 4 : 7
    return plainWrapper
  }
  const gzipped = async (bytes: Buffer): Promise<Buffer> => {
    const {compress} = await import('../../../src/log/codecs.js')
    return compress('gzip', bytes)
  }
  const inner = writeLegacy({magic: 1, messages: three})

  test('a wrapper’s offset below the last one in it', async () => {
    const bytes = writeLegacy({magic: 1, codec: 'gzip', wrapperOffset: 1n, messages: three})
    expect(await told(bytes)).toEqual({
      records: [],
      problems: ["the wrapper's offset 1 is less than the last offset in it, 2, and not 0"],
      scan: undefined,
    })
  })

  test('a compressed message in a compressed message', async () => {
    const nested = wrapped(await gzipped(writeLegacy({magic: 1, codec: 'gzip', messages: three})), 1)
    expect((await told(nested)).problems).toEqual(['a compressed message in a compressed message'])
  })

  test('a message of another magic in a wrapper', async () => {
    expect((await told(wrapped(await gzipped(inner), 0))).problems).toEqual([
      'a message of magic 1 wrapped in one of magic 0',
    ])
  })

  test('a wrapper without a value, and one of nothing', async () => {
    const nothing = writeLegacy({magic: 1, messages: [{timestamp: 0n, key: null, value: null}]})
    nothing[17] = 1
    expect((await told(nothing)).problems).toEqual(['a compressed message without a value'])
    expect((await told(wrapped(await gzipped(Buffer.alloc(0)), 1))).problems).toEqual([
      'a compressed message without messages in it',
    ])
  })

  test('zstd, which came with magic 2, and a codec that nobody knows', async () => {
    expect((await told(wrapped(inner, 1, 'zstd'))).problems).toEqual(["a message of magic 1 can't have the codec zstd"])
    expect((await told(wrapped(inner, 1, 'unknown'))).problems).toEqual([
      "a message of magic 1 can't have the codec unknown",
    ])
  })

  test('a last message in the wrapper that is cut: those before it are given', async () => {
    const cut = wrapped(await gzipped(inner.subarray(0, inner.length - 3)), 1)
    const {records, problems} = await told(cut)
    expect([records.length, problems]).toEqual([2, ['32 bytes behind the last whole message']])
  })

  test('a key or value longer than its message', async () => {
    const bytes = writeLegacy({magic: 0, messages: [three[0]!, three[1]!]})
    bytes.writeInt32BE(100, 18)
    const {records, problems} = await told(bytes)
    expect([records.length, problems[0]]).toEqual([1, 'key length 100 in a message of 30 bytes'])
  })

  test.each([0, 1] as const)('a message of magic %i that is shorter than any', async magic => {
    const bytes = writeLegacy({magic, messages: three})
    bytes.writeInt32BE(magic === 0 ? 13 : 21, 8)
    expect((await told(bytes)).scan).toBe('size')
  })
})

const bytes = fc.option(
  fc.uint8Array({maxLength: 60}).map(array => Buffer.from(array)),
  {nil: null},
)
const messages = fc.array(fc.record({timestamp: fc.bigInt({min: -1n, max: 2n ** 62n}), key: bytes, value: bytes}), {
  minLength: 1,
  maxLength: 8,
})

test('what was written is what is read, in each magic and codec', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 1),
      fc.constantFrom('none', 'gzip', 'snappy', 'snappy-raw', 'lz4'),
      fc.bigInt({min: 0n, max: 2n ** 60n}),
      messages,
      async (magic, codec, baseOffset, written) => {
        const {batches, problem} = await read(
          writeLegacy({magic: magic as 0 | 1, codec: codec as 'none' | 'gzip', baseOffset, messages: written}),
        )
        expect(problem).toBeUndefined()
        expect(batches.every(batch => batch.crcIsRight && batch.problem === undefined)).toBe(true)
        const records = batches.flatMap(batch => batch.records)
        expect(records.map(({offset, timestamp}) => [offset, timestamp])).toEqual(
          written.map(({timestamp}, n) => [baseOffset + BigInt(n), magic === 0 ? -1n : timestamp]),
        )
        expect(records.map(record => [record.key?.toString('hex'), record.value?.toString('hex')])).toEqual(
          written.map(message => [message.key?.toString('hex'), message.value?.toString('hex')]),
        )
      },
    ),
    {numRuns: 300},
  )
})
