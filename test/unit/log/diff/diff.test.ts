import {describe, expect, test} from 'vitest'
import {crc32c} from '../../../../src/log/crc32c.js'
import {KxError} from '../../../../src/util/errors.js'
import {batch, checkpoint, codes, compare, conclusion, first, flipped, log, real} from './replicas.js'

describe('replicas of a real topic', () => {
  const [one, two, three] = [real('epochs-replica1'), real('epochs-replica2'), real('epochs-replica3')]

  test('after elections and truncation: equal, byte for byte, though one knows an epoch without records', async () => {
    const diff = await compare([one, two, three])
    expect(diff).toMatchObject({equal: true, comparedBy: 'bytes', from: 0n, to: 28n, equalUpTo: 28n, divergence: null})
    expect(diff.ranges).toEqual([
      {
        from: 0n,
        to: 28n,
        holdings: [0, 0, 0],
        records: [28, 28, 28],
        epochs: [
          {first: 0, last: 2},
          {first: 0, last: 2},
          {first: 0, last: 2},
        ],
        comparedBy: 'bytes',
      },
    ])
    expect(codes(diff)).toEqual(['equal', 'epoch-checkpoint'])
    expect(conclusion(diff, 'equal').text).toBe(
      'All 3 replicas are equal at offsets 0..27: 28 records, the same bytes.',
    )
    expect(conclusion(diff, 'epoch-checkpoint').replicas).toEqual(['b'])
  })

  test('a leader that was killed with records nobody else had: how many, of which epoch, and where it is cut', async () => {
    const diff = await compare([real('epochs-diverged-leader'), two, three])
    expect(diff).toMatchObject({equal: false, equalUpTo: 15n, from: 0n, to: 28n})
    expect(diff.ranges.map(({from, to, holdings, records}) => ({from, to, holdings, records}))).toEqual([
      {from: 0n, to: 15n, holdings: [0, 0, 0], records: [15, 15, 15]},
      {from: 15n, to: 23n, holdings: [0, 1, 1], records: [8, 8, 8]},
      {from: 23n, to: 28n, holdings: ['ended', 0, 0], records: [0, 5, 5]},
    ])
    expect(diff.divergence).toMatchObject({
      offset: 15n,
      batches: [
        {leaderEpoch: 0, crc: 834_109_824, baseOffset: 15n},
        {leaderEpoch: 1, crc: 1_014_454_621, baseOffset: 15n},
        {leaderEpoch: 1, crc: 1_014_454_621, baseOffset: 15n},
      ],
    })
    const found = conclusion(diff, 'divergence')
    expect(found).toMatchObject({replicas: ['a'], from: 15n, to: 23n, records: 8, truncatesTo: 15n, severity: 'error'})
    expect(found.text).toBe(
      'a has 8 records of epoch 0 at offsets 15..22 that nobody else has: it was the leader of epoch 0, and on b epoch 1 begins at 15. Kafka truncates a to 15 when it rejoins, and these records are gone for good.',
    )
    expect(codes(diff)).not.toContain('tail')
  })

  test('the same without checkpoints: the epochs of the batches say it, too', async () => {
    const bare = [real('epochs-diverged-leader'), two, three].map(files => ({[first]: files[first] as Buffer}))
    expect(conclusion(await compare(bare), 'divergence')).toMatchObject({records: 8, truncatesTo: 15n, replicas: ['a']})
  })

  test('compacted at different times: other bytes, the same records', async () => {
    const diff = await compare([real('compacted-replica1'), real('compacted-replica2')])
    expect(diff).toMatchObject({equal: true, comparedBy: 'records', equalUpTo: 163n, divergence: null})
    expect(diff.replicas.map(({records}) => records)).toEqual([52, 52])
    expect(codes(diff)).toEqual(['equal-by-records', 'compaction', 'epoch-checkpoint', 'epoch-checkpoint'])
    expect(conclusion(diff, 'compaction').text).toContain('compacted each at its own time')
    expect(conclusion(diff, 'compaction').text).toContain('a keeps 1 empty batch')
  })
})

describe('a replica that is cut', () => {
  const whole = [batch(0, 3), batch(3, 2), batch(5, 4)]

  test('at a batch: its tail is missing, and nothing diverges', async () => {
    const diff = await compare([log(...whole), log(...whole.slice(0, 2)), log(...whole)])
    expect(codes(diff)).toEqual(['tail'])
    expect(conclusion(diff, 'tail')).toMatchObject({replicas: ['b'], from: 5n, to: 9n, records: 4, severity: 'warning'})
    expect(conclusion(diff, 'tail').text).toMatch(/^b ends at 5; a and c go on to 9 with 4 records of epoch 0\./)
    expect(diff).toMatchObject({equal: false, equalUpTo: 5n, divergence: null})
  })

  test('in the middle of a batch: the torn batch is told, as what a crash leaves', async () => {
    const bytes = Buffer.concat(whole)
    const diff = await compare([log(...whole), {[first]: bytes.subarray(0, bytes.length - 37)}])
    expect(codes(diff)).toEqual(['cut-batch', 'tail'])
    expect(conclusion(diff, 'cut-batch').text).toContain('the beginning of what a has there')
    expect(conclusion(diff, 'tail')).toMatchObject({replicas: ['b'], from: 5n, to: 9n, records: 4})
    expect(diff.damages).toMatchObject([{replica: 1, kind: 'cut', from: 5n, to: null, differingBytes: 0, against: 0}])
  })

  test('is empty: all the others have is its tail', async () => {
    const diff = await compare([log(...whole), {[first]: Buffer.alloc(0)}])
    expect(conclusion(diff, 'tail')).toMatchObject({replicas: ['b'], from: 0n, to: 9n, records: 9})
  })

  test('replicas of three lengths are told one by one', async () => {
    const diff = await compare([log(...whole), log(...whole.slice(0, 2)), log(...whole.slice(0, 1))])
    expect(
      diff.conclusions.map(({code, replicas, from, to, records}) => ({code, replicas, from, to, records})),
    ).toEqual([
      {code: 'tail', replicas: ['b'], from: 5n, to: 9n, records: 4},
      {code: 'tail', replicas: ['c'], from: 3n, to: 9n, records: 6},
    ])
  })
})

describe('replicas that diverged', () => {
  const shared = [batch(0, 5)]

  test('two of three with the same other records are told together', async () => {
    const old = log(...shared, batch(5, 3, {tag: 'old'}))
    const diff = await compare([old, old, log(...shared, batch(5, 1, {tag: 'new', leaderEpoch: 1}))])
    expect(conclusion(diff, 'divergence')).toMatchObject({
      replicas: ['a', 'b'],
      from: 5n,
      to: 8n,
      records: 3,
      truncatesTo: 5n,
    })
  })

  test('three ways: two conclusions, with the epoch of each', async () => {
    const diff = await compare([
      {...log(...shared, batch(5, 3, {tag: 'x'})), ...checkpoint([0, 0])},
      {...log(...shared, batch(5, 2, {tag: 'y', leaderEpoch: 1})), ...checkpoint([0, 0], [1, 5])},
      {...log(...shared, batch(5, 4, {tag: 'z', leaderEpoch: 2})), ...checkpoint([0, 0], [2, 5])},
    ])
    expect(
      diff.conclusions.map(({code, replicas, records, truncatesTo}) => ({code, replicas, records, truncatesTo})),
    ).toEqual([
      {code: 'divergence', replicas: ['a'], records: 3, truncatesTo: 5n},
      {code: 'divergence', replicas: ['b'], records: 2, truncatesTo: 5n},
    ])
    expect(diff.ranges[1]?.holdings).toEqual([0, 1, 2])
  })

  test('the leader that the cluster names is the measure, not the longest log', async () => {
    const long = log(...shared, batch(5, 9, {tag: 'old'}))
    const short = log(...shared, batch(5, 1, {tag: 'new', leaderEpoch: 3}))
    const diff = await compare([long, short], {leader: 1})
    expect(conclusion(diff, 'divergence')).toMatchObject({
      replicas: ['a'],
      from: 5n,
      to: 14n,
      records: 9,
      truncatesTo: 5n,
    })
  })

  test('a longer tail of an epoch that is over is cut, though the new leader has written nothing yet', async () => {
    const old = {...log(...shared, batch(5, 4)), ...checkpoint([0, 0])}
    const elected = {...log(...shared), ...checkpoint([0, 0], [1, 5])}
    const diff = await compare([log(...shared), old, elected])
    expect(conclusion(diff, 'divergence')).toMatchObject({
      replicas: ['b'],
      from: 5n,
      to: 9n,
      records: 4,
      truncatesTo: 5n,
    })
    expect(conclusion(diff, 'divergence').text).toContain(
      'b has 4 records of epoch 0 at offsets 5..8 that nobody else has',
    )
    expect(codes(diff)).toEqual(['divergence', 'epoch-checkpoint'])
    // Where nobody knows a newer epoch, the longest log is the leader's, and the others will fetch its tail.
    expect(codes(await compare([log(...shared), old]))).toEqual(['tail'])
  })

  test('with the same epoch: no election makes that, and no truncation mends it', async () => {
    const diff = await compare([log(...shared, batch(5, 2, {tag: 'x'})), log(...shared, batch(5, 2, {tag: 'y'}))])
    expect(codes(diff)).toEqual(['conflict'])
    expect(conclusion(diff, 'conflict').text).toContain('where the epochs agree a follower cuts nothing')
  })

  test('below the point to which Kafka would truncate: that it stays is said', async () => {
    const diff = await compare([
      log(batch(0, 2), batch(2, 2, {tag: 'x'}), batch(4, 2)),
      log(batch(0, 2), batch(2, 2, {tag: 'y', leaderEpoch: 1}), batch(4, 2, {leaderEpoch: 1})),
    ])
    expect(conclusion(diff, 'divergence')).toMatchObject({from: 2n, to: 4n, records: 2, truncatesTo: 2n})
    const stays = await compare([
      {...log(batch(0, 2), batch(2, 2, {tag: 'x'}), batch(4, 2)), ...checkpoint([0, 0])},
      {
        ...log(batch(0, 2), batch(2, 2, {tag: 'y', leaderEpoch: 1}), batch(4, 2, {leaderEpoch: 1})),
        ...checkpoint([0, 0], [1, 4]),
      },
    ])
    expect(conclusion(stays, 'conflict')).toMatchObject({truncatesTo: 4n})
    expect(conclusion(stays, 'conflict').text).toContain('only to 4: what differs below stays different')
  })
})

describe('bytes of batches', () => {
  const batches = [batch(0, 3), batch(3, 2), batch(5, 4)]
  const bytes = Buffer.concat(batches)
  const second = (batches[0] as Buffer).length

  test('a flipped bit in a value: which byte, which bit, in which record', async () => {
    const index = bytes.indexOf('v-4')
    const diff = await compare([log(...batches), {[first]: flipped(bytes, index, 3)}, log(...batches)])
    expect(codes(diff)).toEqual(['corruption'])
    expect(diff.corruptions).toMatchObject([
      {
        replica: 1,
        batch: {baseOffset: 3n, position: second, crcIsRight: false},
        differingBytes: 1,
        against: 0,
        bytes: [
          {position: index, index: index - second, field: 'records', is: 0x7e, shouldBe: 0x76, bits: [3], offset: 4n},
        ],
      },
    ])
    expect(conclusion(diff, 'corruption').text).toContain(
      `byte ${index} is 0x7e and should be 0x76 (bit 3 of records, in the record at offset 4)`,
    )
    expect(diff).toMatchObject({equal: false, equalUpTo: 3n, divergence: null})
    expect(diff.ranges.map(({holdings}) => holdings)).toEqual([
      [0, 0, 0],
      [0, 'corrupt', 0],
      [0, 0, 0],
    ])
  })

  test('a flipped bit in a batch of 6 MiB, which is never in memory whole', async () => {
    const large = batch(3, 1, {records: [{timestamp: 1n, key: null, value: Buffer.alloc(6_291_456, 'x')}]})
    const all = Buffer.concat([batch(0, 3), large, batch(4, 1)])
    const index = batch(0, 3).length + 5_000_000
    const diff = await compare([{[first]: all}, {[first]: flipped(all, index, 6)}, {[first]: all}])
    expect(codes(diff)).toEqual(['corruption'])
    expect(diff.corruptions).toMatchObject([
      {replica: 1, differingBytes: 1, against: 0, bytes: [{position: index, bits: [6]}]},
    ])
    expect(await compare([{[first]: all}, {[first]: all}])).toMatchObject({equal: true, comparedBy: 'bytes'})
  })

  test('a false CRC on all replicas is told of all, and no byte is blamed', async () => {
    const broken = {[first]: flipped(bytes, second + 70, 0)}
    const diff = await compare([broken, broken])
    expect(diff.corruptions.map(({replica, bytes}) => ({replica, bytes}))).toEqual([
      {replica: 0, bytes: null},
      {replica: 1, bytes: null},
    ])
    expect(diff.equal).toBe(false)
  })

  test('only the leader epoch differs, which no CRC covers', async () => {
    const other = log(batch(0, 3), batch(3, 2, {leaderEpoch: 7}), batch(5, 4))
    const diff = await compare([log(...batches), log(...batches), other])
    expect(codes(diff)).toEqual(['epoch-bytes'])
    expect(conclusion(diff, 'epoch-bytes').text).toContain('has the partitionLeaderEpoch 7, on the others it is 0')
    expect(conclusion(diff, 'epoch-bytes').replicas).toEqual(['c'])
  })

  test('only the base offset differs: the log that goes on without a gap is right, and what follows is compared', async () => {
    const moved = Buffer.from(bytes)
    moved.writeBigInt64BE(1_027n, second)
    for (const order of [
      [log(...batches), {[first]: moved}],
      [{[first]: moved}, log(...batches)],
    ]) {
      const diff = await compare(order)
      expect(codes(diff)).toEqual(['base-offset-bytes'])
      expect(conclusion(diff, 'base-offset-bytes').text).toContain('has the baseOffset 1027, on the others it is 3')
      expect(diff.ranges).toMatchObject([{from: 0n, to: 9n, holdings: [0, 0]}])
    }
  })

  test('a flipped bit in a length: the bytes that are no batch are laid beside the other replica’s', async () => {
    const diff = await compare([log(...batches), {[first]: flipped(bytes, second + 10, 0)}])
    expect(codes(diff)).toEqual(['damage'])
    expect(diff.damages).toMatchObject([
      {
        replica: 1,
        position: second,
        from: 3n,
        to: 5n,
        differingBytes: 1,
        against: 0,
        bytes: [{index: 10, field: 'batchLength', bits: [0]}],
      },
    ])
    expect(diff.ranges.map(({holdings}) => holdings)).toEqual([
      [0, 0],
      [0, 'unreadable'],
      [0, 0],
    ])
  })
})

describe('the same records in other bytes', () => {
  const records = (from: number, count: number, codec: 'none' | 'gzip' | 'lz4' = 'none') => batch(from, count, {codec})

  test('cut into other batches: compared by records, and said so', async () => {
    const diff = await compare([log(records(0, 6), records(6, 2)), log(records(0, 2), records(2, 6))])
    expect(diff).toMatchObject({equal: true, comparedBy: 'records'})
    expect(codes(diff)).toEqual(['equal-by-records', 'equal-by-records'])
    expect(diff.conclusions[0]?.text).toContain('8 records, the same records, though not everywhere in the same bytes')
    expect(diff.conclusions[1]?.text).toContain('compared (offset, key, value, headers, timestamp, producer)')
  })

  test('cut differently, and one record differs: exactly that one', async () => {
    const odd = log(records(0, 2), batch(2, 1, {tag: 'odd'}), records(3, 5))
    const diff = await compare([log(records(0, 8)), odd])
    expect(diff.divergence?.offset).toBe(2n)
    expect(conclusion(diff, 'conflict')).toMatchObject({from: 2n, to: 3n, records: 1})
    expect(diff.ranges.map(({from, to, holdings}) => ({from, to, holdings}))).toEqual([
      {from: 0n, to: 2n, holdings: [0, 0]},
      {from: 2n, to: 3n, holdings: [0, 1]},
      {from: 3n, to: 8n, holdings: [0, 0]},
    ])
  })

  test('compressed differently', async () => {
    const diff = await compare([
      log(records(0, 40, 'gzip'), records(40, 5)),
      log(records(0, 40, 'lz4'), records(40, 5)),
    ])
    expect(diff).toMatchObject({equal: true, comparedBy: 'records', equalUpTo: 45n})
    expect(diff.conclusions.at(-1)?.text).toContain('compressed differently (gzip or lz4)')
  })

  test.each([
    ['timestamp', {timestamp: 5n}],
    ['key', {key: null}],
    ['value', {value: Buffer.alloc(0)}],
    ['headers', {headers: [{key: 'h', value: null}]}],
  ])('the %s of a record counts', async (_, change) => {
    const record = {timestamp: 1n, key: Buffer.from('k'), value: null, headers: [{key: 'h', value: Buffer.from('')}]}
    const other = {...record, ...change}
    const diff = await compare([log(batch(0, 1, {records: [record]})), log(batch(0, 1, {records: [other]}))])
    expect(diff.divergence?.offset).toBe(0n)
  })

  test.each([
    ['producerId', {producerId: 8n}],
    ['producerEpoch', {producerEpoch: 2}],
    ['sequence', {baseSequence: 9}],
    ['transactional', {isTransactional: false}],
  ])('the %s of a batch counts', async (_, change) => {
    const producer = {producerId: 7n, producerEpoch: 1, baseSequence: 0, isTransactional: true}
    const diff = await compare([log(batch(0, 1, producer)), log(batch(0, 1, {...producer, ...change}))])
    expect(diff.divergence?.offset).toBe(0n)
  })

  test('segments rolled at other offsets are no difference', async () => {
    const a = {[first]: Buffer.concat([records(0, 3), records(3, 3)]), '00000000000000000006.log': records(6, 2)}
    const b = {[first]: records(0, 3), '00000000000000000003.log': Buffer.concat([records(3, 3), records(6, 2)])}
    const diff = await compare([a, b])
    expect(diff).toMatchObject({equal: true, comparedBy: 'bytes', equalUpTo: 8n})
    expect(conclusion(diff, 'segments').text).toContain('a at 6; b at 3')
  })
})

describe('holes and beginnings', () => {
  const keyless = (from: number, count: number) =>
    batch(from, count, {
      records: Array.from({length: count}, (_, n) => ({
        timestamp: BigInt(n),
        key: null,
        value: Buffer.from(`${from + n}`),
      })),
    })

  test('records with keys that a cleaner took on one replica are legal', async () => {
    const cleaned = batch(0, 4, {
      records: [{offset: 3n, timestamp: 1_700_000_000_003n, key: Buffer.from('key-3'), value: Buffer.from('v-3')}],
      baseOffset: 0n,
      lastOffsetDelta: 3,
    })
    const diff = await compare([log(batch(0, 4), batch(4, 2)), log(cleaned, batch(4, 2))])
    expect(diff).toMatchObject({equal: true, comparedBy: 'records'})
    expect(diff.conclusions.find(({code, replicas}) => code === 'compaction' && replicas[0] === 'b')).toMatchObject({
      records: 3,
      from: 0n,
      to: 3n,
      severity: 'info',
    })
  })

  test('records without a key are never taken by compaction: they are lost', async () => {
    const diff = await compare([log(keyless(0, 2), keyless(2, 2), keyless(4, 2)), log(keyless(0, 2), keyless(4, 2))])
    expect(codes(diff)).toEqual(['hole'])
    expect(conclusion(diff, 'hole')).toMatchObject({replicas: ['b'], from: 2n, to: 4n, records: 2, severity: 'error'})
  })

  test('a batch that is missing where no cleaner has been is at least suspicious', async () => {
    const diff = await compare([log(batch(0, 2), batch(2, 2), batch(4, 2)), log(batch(0, 2), batch(4, 2))])
    expect(conclusion(diff, 'hole')).toMatchObject({severity: 'warning', records: 2})
    expect(diff.equal).toBe(false)
  })

  test('logs that begin at different offsets are compared from the highest', async () => {
    const a = {[first]: batch(0, 5), '00000000000000000005.log': batch(5, 5)}
    const b = {'00000000000000000005.log': batch(5, 5)}
    const diff = await compare([a, b])
    expect(diff).toMatchObject({equal: true, from: 5n, to: 10n})
    expect(conclusion(diff, 'log-start').text).toContain('a at 0 and b at 5')
    expect(diff.replicas.map(({records}) => records)).toEqual([5, 5])
  })

  test('DeleteRecords inside a segment moves the beginning, as the first epoch says', async () => {
    const a = {...log(batch(0, 3, {tag: 'x'}), batch(3, 3)), ...checkpoint([0, 3])}
    const b = {...log(batch(0, 3, {tag: 'y'}), batch(3, 3)), ...checkpoint([0, 0])}
    expect(await compare([a, b])).toMatchObject({equal: true, from: 3n, to: 6n})
  })

  test('replicas that share no offset say so', async () => {
    const diff = await compare([log(batch(0, 3)), {'00000000000000000009.log': batch(9, 1)}])
    expect(codes(diff)).toEqual(['nothing-shared', 'log-start'])
    expect(conclusion(diff, 'nothing-shared').text).toMatch(
      /^a ends at 3, and b begins only at 9: they share no offset\./,
    )
    expect(diff.equal).toBe(false)
  })

  test('empty replicas are equal', async () => {
    const empty = {[first]: Buffer.alloc(0)}
    expect(await compare([empty, empty])).toMatchObject({equal: true, from: 0n, to: 0n})
  })

  test('space that was preallocated behind the last batch is no difference', async () => {
    const padded = {[first]: Buffer.concat([batch(0, 3), Buffer.alloc(4_096)])}
    expect(await compare([log(batch(0, 3)), padded])).toMatchObject({equal: true, damages: []})
  })
})

test('above the high watermark nothing is compared, and that is said', async () => {
  const a = log(batch(0, 5), batch(5, 5, {tag: 'only the leader has it'}))
  const b = log(batch(0, 5), batch(5, 2, {tag: 'other'}))
  expect(codes(await compare([a, b], {upTo: 5n}))).toEqual(['equal', 'above-high-watermark'])
  expect((await compare([a, b])).equal).toBe(false)
})

test('a folder without a segment is an input that can’t be read', async () => {
  const error = await compare([log(batch(0, 1)), {'leader-epoch-checkpoint': Buffer.from('0\n0\n')}]).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(KxError)
  expect(error).toMatchObject({code: 'KX_NO_SEGMENT', kind: 'input'})
})

describe('batches whose CRC is right', () => {
  const [zero, one, two, three] = [batch(0, 2), batch(2, 3), batch(5, 2), batch(7, 1)]
  /** Other bytes under a CRC that is made right. */
  const rewritten = (bytes: Buffer, at: number, value: number) => {
    const copy = Buffer.from(bytes)
    copy[at] = value
    copy.writeUInt32BE(crc32c(copy.subarray(21)), 17)
    return copy
  }

  test.each([
    ['the codec', 22, 1],
    ['a record’s length', 61, 0x7f],
    ['the number of records, which is too high', 60, 9],
    ['the number of records, which is too low', 60, 1],
    ['the number of records, which is 0', 60, 0],
  ])('and whose records can’t be read, as %s is wrong, are never called equal', async (_what, at, value) => {
    const right = log(zero, one, two)
    const diff = await compare([right, log(zero, rewritten(one, at, value), two), right])
    expect(diff.equal).toBe(false)
    expect(conclusion(diff, 'damage')).toMatchObject({severity: 'error', replicas: ['b'], from: 2n, to: 5n})
    expect(conclusion(diff, 'damage').text).toContain('the batch at offset 2 (00000000000000000000.log, position')
  })

  test('and that repeat offsets are told of their own replica, and nobody else lacks them', async () => {
    const right = log(zero, one, two, three)
    for (const wrong of [log(zero, one, one, two, three), log(zero, one, two, three, three)]) {
      const diff = await compare([right, wrong, right])
      expect(codes(diff)).toEqual(['damage'])
      expect(conclusion(diff, 'damage')).toMatchObject({replicas: ['b']})
      expect(conclusion(diff, 'damage').text).toContain('the log was at offset')
    }
  })

  test('and that repeat offsets one behind the other are told together', async () => {
    const right = log(zero, one, two, three)
    const diff = await compare([right, log(zero, one, two, one, two, three), right])
    expect(codes(diff)).toEqual(['damage'])
    expect(conclusion(diff, 'damage')).toMatchObject({from: 2n, to: 7n})
    expect(conclusion(diff, 'damage').text).toContain(
      'and 1 more batch behind it have offsets 2..6, and the log was at offset 7 already',
    )
  })

  test('and that have changed places are a hole and a repetition on their own replica', async () => {
    const right = log(zero, one, two, three)
    const diff = await compare([right, log(zero, two, one, three), right])
    expect(diff.conclusions.map(({code, replicas}) => [code, replicas])).toEqual([
      ['damage', ['b']],
      ['hole', ['b']],
    ])
  })
})

test('zeros at the end of a segment that others follow are damage, in the last one they are not', async () => {
  const zeros = Buffer.alloc(500)
  const next = '00000000000000000002.log'
  const right = {[first]: batch(0, 2), [next]: batch(2, 2)}
  const diff = await compare([right, {...right, [first]: Buffer.concat([batch(0, 2), zeros])}])
  expect(conclusion(diff, 'damage')).toMatchObject({severity: 'error', replicas: ['b'], from: 2n})
  expect(conclusion(diff, 'damage').text).toContain('no offset is missing behind them, the next is 2')
  expect((await compare([right, {...right, [next]: Buffer.concat([batch(2, 2), zeros])}])).equal).toBe(true)
})

test('logs of nothing but garbage are not called empty and equal', async () => {
  const diff = await compare([{[first]: Buffer.alloc(200, 7)}, {[first]: Buffer.alloc(200, 7)}])
  expect(diff.equal).toBe(false)
  expect(codes(diff)).not.toContain('equal')
})
