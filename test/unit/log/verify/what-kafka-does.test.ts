import {describe, expect, test} from 'vitest'
import {type WritableBatch, writeBatch} from '../../../../src/log/write-batch.js'
import {a, b, c, type Files, patched, stem, told, verified, withCrc} from './folders.js'

// What the conclusions say that Kafka does was seen on a broker: it was given such folders, after an unclean stop and
// after a clean one, and asked where the log ends and what a consumer gets.

const log = `${stem}.log`
const segment = (offset: number) => String(offset).padStart(20, '0')
const said = async (files: Files) => (await verified(files)).conclusions.join('\n')

/** Batches of one record of 1,500 bytes, so that recovery makes an index entry of each third. */
function large(offset: number, more: Partial<WritableBatch> = {}): Buffer {
  const record = {timestamp: 1_700_000_000_000n + BigInt(offset), key: null, value: Buffer.alloc(1_500, '.')}
  return writeBatch({baseOffset: BigInt(offset), leaderEpoch: 3, records: [record], ...more})
}
const row = (...offsets: number[]) => Buffer.concat(offsets.map(offset => large(offset)))

/** An entry of an offset index. */
const entry = (relative: number, position: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeInt32BE(relative, 0)
  bytes.writeInt32BE(position, 4)
  return bytes
}

describe('a batch whose length leads beyond the end of its segment', () => {
  const long = Buffer.concat([a, patched(b, 8, 0, 0x0f, 0, 0), c])

  test('hides what follows without an error, and consumers go on at the next segment', async () => {
    const text = await said({[log]: long, [`${segment(4)}.log`]: large(4)})
    expect(text).toContain('consumers and followers read up to offset 2 (byte 85 of 00000000000000000000.log)')
    expect(text).toContain('go on at the next segment, offset 4, without an error')
    expect(text).toContain('1 readable record between are passed over')
    expect(text).not.toContain('exception')
    expect(text).toContain('it cuts 00000000000000000000.log at byte 85 and deletes 1 later segment')
  })

  test('is the end for consumers in the last segment', async () => {
    const text = await said({[log]: long})
    expect(text).toContain(
      'read up to offset 2 (byte 85 of 00000000000000000000.log) and get nothing more, and no error',
    )
  })

  test('is an exception to consumers if its magic is unknown, too: they look at that first', async () => {
    const odd = patched(long, 85 + 16, 0x77)
    expect(await said({[log]: odd, [`${segment(4)}.log`]: large(4)})).toContain('stop at offset 2 (byte 85')
  })

  test('and nothing is said of consumers where it is only the log’s end that is cut', async () => {
    const text = await said({[log]: Buffer.concat([a, b, c.subarray(0, 70)])})
    expect(text).not.toContain('consumers and followers')
  })

  test('at the end of a segment with others behind it is passed over', async () => {
    const text = await said({[log]: Buffer.concat([a, b, c.subarray(0, 70)]), [`${segment(4)}.log`]: large(4)})
    expect(text).toContain('go on at the next segment, offset 4, without an error')
    expect(text).not.toContain('passed over')
  })

  test('hides damage that lies behind it, but not that of later segments', async () => {
    const files = {[log]: Buffer.concat([long.subarray(0, 155), patched(c, 70, 9)]), [`${segment(4)}.log`]: large(4)}
    expect(await said(files)).not.toContain('an exception on each poll')
    const both = {[log]: long, [`${segment(4)}.log`]: patched(large(4), 80, 9)}
    expect(await said(both)).toContain('stop at offset 4 (byte 0 of 00000000000000000004.log)')
  })
})

describe('a magic', () => {
  test.each([3, 127])('of %d passes recovery and stops consumers', async magic => {
    const text = await said({[log]: Buffer.concat([a, patched(b, 16, magic), c])})
    expect(text).not.toContain('it cuts')
    expect(text).toContain('stop at offset 2 (byte 85 of 00000000000000000000.log)')
  })

  test('below 0 is cut off by recovery', async () => {
    expect(await said({[log]: Buffer.concat([a, patched(b, 16, 0xff), c])})).toContain(
      'it cuts 00000000000000000000.log at byte 85; 1 readable record, offsets 2 to 3, would be lost',
    )
  })
})

describe('offsets that recovery trips over', () => {
  test('when index entries would fall it empties the segment', async () => {
    const files = {[log]: row(0, 1), [`${segment(2)}.log`]: row(2, 3, 4, 105, 6, 7, 8), [`${segment(9)}.log`]: row(9)}
    const text = await said(files)
    expect(text).toContain('it empties 00000000000000000002.log, as the index entries that it writes would fall')
    expect(text).toContain('and deletes 1 later segment; 8 readable records, offsets 2 to 105, would be lost')
  })

  test('and goes on where they would not', async () => {
    expect(await said({[log]: row(0, 1, 2, 3, 2, 5, 6, 7, 8)})).not.toContain('After an unclean stop')
  })

  test('below the base offset of the segment it fails', async () => {
    const text = await said({[`${segment(10)}.log`]: row(10, 1, 12)})
    expect(text).toContain(
      'After an unclean stop the broker does not start: recovery fails in 00000000000000000010.log',
    )
    expect(text).toContain('at byte 1,570')
  })

  test('too far above the base offset it fails, unless the last batch is such: then it splits the segment', async () => {
    expect(await said({[log]: row(0, 2 ** 33, 2)})).toContain('the broker does not start')
    expect(await said({[log]: row(0, 1, 2 ** 33)})).not.toContain('After an unclean stop the broker does not start')
  })
})

test('offsets that no index can hold come before damage that lies behind them', async () => {
  const size = large(0).length
  const text = await said({[log]: patched(row(0, 2 ** 33, 2, 3), 2 * size + 100, 9)})
  expect(text).toContain(`After an unclean stop the broker does not start: recovery fails in ${log} at byte 1,570`)
  const damagedFirst = await said({[log]: patched(row(0, 1, 2 ** 33, 3), size + 100, 9)})
  expect(damagedFirst).toContain('it cuts 00000000000000000000.log at byte 1,570')
})

describe('what recovery of the producers trips over', () => {
  const marker = (key: Buffer | null, value: Buffer | null) =>
    writeBatch({
      baseOffset: 3n,
      leaderEpoch: 3,
      producerId: 4000n,
      producerEpoch: 7,
      isTransactional: true,
      isControl: true,
      records: [{timestamp: 1_700_000_000_002n, key, value}],
    })
  const [commit, epoch] = [Buffer.from('00000001', 'hex'), Buffer.from('000000000005', 'hex')]

  test.each([
    ['of an unknown type', Buffer.from('00000007', 'hex'), epoch],
    ['with a key that is too short', Buffer.from('0000', 'hex'), epoch],
    ['without a key', null, epoch],
    ['with a value that is too short', commit, Buffer.alloc(4)],
    ['of KRaft', Buffer.from('00000002', 'hex'), epoch],
  ])('is a marker %s: the broker does not start', async (_what, key, value) => {
    const text = await said({[log]: Buffer.concat([a, b, marker(key, value)])})
    expect(text).toContain('After an unclean stop the broker does not start: recovery fails in')
    expect(text).toContain('at byte 155')
  })

  test.each([
    ['right', commit, epoch],
    ['of a later version', commit, Buffer.from('000100000005', 'hex')],
  ])('is no marker that is %s', async (_what, key, value) => {
    expect(await said({[log]: Buffer.concat([a, b, marker(key, value)])})).not.toContain(
      'After an unclean stop the broker does not start',
    )
  })

  test('is a batch outside the transaction that its producer has open', async () => {
    const plain = withCrc(patched(b, 22, 0))
    plain.writeBigInt64BE(3n, 0)
    plain.writeInt32BE(b.readInt32BE(53) + 1, 53)
    const text = await said({[log]: Buffer.concat([a, b, withCrc(plain)])})
    expect(text).toContain('the broker does not start')
    expect(text).toContain('InvalidTxnStateException')
  })
})

describe('after a clean stop', () => {
  const closed = (files: Files): Files => ({
    '.kafka_cleanshutdown': Buffer.from('{"version":0,"brokerEpoch":7}'),
    'orders-0': files,
  })
  const conclusions = async (files: Files) =>
    (await verified(closed(files), {}, 'data')).partitions[0]?.conclusions.join('\n') ?? ''
  const good = row(0, 1, 2, 3)

  test('the broker does not start when what is behind the last index entry has a size that no batch has', async () => {
    const index = entry(3, 3 * large(0).length)
    for (const tail of [Buffer.alloc(500), Buffer.alloc(100, 0xff)]) {
      const text = await conclusions({[log]: Buffer.concat([good, tail]), [`${stem}.index`]: index})
      expect(text).toContain('After a clean stop the broker does not start')
      expect(text).toContain(`CorruptRecordException at byte ${(4 * large(0).length).toLocaleString('en-US')}`)
    }
  })

  test('and starts when the damage lies before it, or is only a wrong CRC', async () => {
    const zeroed = Buffer.concat([large(0), Buffer.alloc(500), row(1, 2, 3)])
    const at = large(0).length * 3 + 500
    const text = await conclusions({[log]: zeroed, [`${stem}.index`]: entry(3, at)})
    expect(text).toContain('After a clean stop it checks nothing.')
    const flipped = await conclusions({
      [log]: patched(good, 3 * large(0).length + 100, 9),
      [`${stem}.index`]: Buffer.alloc(0),
    })
    expect(flipped).toContain('After a clean stop it checks nothing.')
  })

  test('a last index entry beyond the log hides its last segment', async () => {
    const text = await conclusions({[log]: good, [`${stem}.index`]: entry(6, 6 * large(0).length)})
    expect(text).toContain(
      'which the log does not reach: it takes the base offset of 00000000000000000000.log for the end',
    )
  })
})

test('a segment without its offset index is cut by itself, and those behind it stay', async () => {
  const [size, next] = [large(0).length, `${segment(4)}.log`]
  const damaged = patched(row(0, 1, 2, 3), size + 100, 9)
  const text = await said({[log]: damaged, [next]: row(4, 5), [`${segment(4)}.index`]: Buffer.alloc(0)})
  expect(text).toContain(
    'writes the missing offset index of 00000000000000000000.log anew: it cuts the segment at byte',
  )
  expect(text).toContain('and keeps later ones; 2 readable records behind that would be lost')
  expect(text).not.toContain('later segment;')
})

test('a batch that says it has no records and has some is stepped over', async () => {
  const report = await verified({[log]: Buffer.concat([withCrc(patched(a, 57, 0, 0, 0, 0)), b, c])})
  expect(told(report.findings)).toEqual(['error record-count 0 o0'])
  expect(report.findings[0]?.consequence).toContain('step over the batch without an error')
  expect(report.conclusions.join('\n')).not.toContain('consumers and followers stop')
})
