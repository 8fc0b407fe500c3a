import {describe, expect, test} from 'vitest'
import type {ClusterNode} from '../../../src/cluster/cluster.js'
import {foundIn, safeOffset} from '../../../src/lab/reading.js'
import {recordsOn} from '../../../src/lab/segments.js'
import {bufferSource} from '../../../src/log/byte-source.js'
import {crc32c} from '../../../src/log/crc32c.js'
import {writeBatch} from '../../../src/log/write-batch.js'

const batch = (baseOffset: bigint, ...values: string[]) =>
  writeBatch({
    baseOffset,
    leaderEpoch: 2,
    records: values.map(value => ({timestamp: 1n, key: null, value: Buffer.from(value)})),
  })

/** The same batch said to be compressed (lz4), with a right CRC: the header can be read, the records can't. */
function compressed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeInt16BE(3, 21)
  copy.writeUInt32BE(crc32c(copy.subarray(21)), 17)
  return copy
}

function withFalseCrc(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy[copy.length - 2]! ^= 1
  return copy
}

const nodeWith = (log: Buffer): ClusterNode =>
  ({
    nodeId: 3,
    files: async () => [{name: '00000000000000000000.log', size: log.length, open: () => bufferSource(log)}],
  }) as unknown as ClusterNode

describe('what a reader found', () => {
  test('is offset, value and leader epoch, and where to go on', async () => {
    expect(await foundIn(Buffer.concat([batch(5n, 'a', 'b'), batch(7n, 'c')]))).toEqual({
      found: [
        {offset: 5, value: 'a', leaderEpoch: 2},
        {offset: 6, value: 'b', leaderEpoch: 2},
        {offset: 7, value: 'c', leaderEpoch: 2},
      ],
      nextOffset: 8,
    })
  })

  test('leaves the last batch of an answer out where it is cut off', async () => {
    const bytes = Buffer.concat([batch(5n, 'a'), batch(6n, 'b').subarray(0, 40)])
    expect((await foundIn(bytes)).nextOffset).toBe(6)
  })

  test('is nothing, rather than an empty batch, where records can’t be read', async () => {
    await expect(foundIn(compressed(batch(0n, 'a')))).rejects.toMatchObject({
      kind: 'inconclusive',
      code: 'KX_UNREADABLE',
    })
    await expect(foundIn(withFalseCrc(batch(0n, 'a')))).rejects.toMatchObject({kind: 'inconclusive', code: 'KX_CRC'})
  })

  test('has no offset that JSON would round', () => {
    expect(safeOffset(9_007_199_254_740_991n)).toBe(9_007_199_254_740_991)
    expect(() => safeOffset(9_007_199_254_740_993n)).toThrow(expect.objectContaining({code: 'KX_OFFSET'}))
  })
})

describe('the second witness', () => {
  const keep = () => undefined

  test('is whole with right batches, and says what it read', async () => {
    const kept: string[] = []
    const records = await recordsOn(nodeWith(batch(0n, 'a', 'b')), 'orders', path => void kept.push(path))
    expect(records).toMatchObject({nodeId: 3, topic: 'orders', logEndOffset: 2, intact: true})
    expect(records.records.map(({value}) => value)).toEqual(['a', 'b'])
    expect(kept).toEqual(['orders-0/00000000000000000000.log'])
  })

  test.each([
    ['a false CRC', withFalseCrc(batch(0n, 'a'))],
    ['records that can’t be read', compressed(batch(0n, 'a'))],
    ['trailing garbage', Buffer.concat([batch(0n, 'a'), Buffer.from('x')])],
  ])('is not whole with %s', async (_, log) => {
    expect((await recordsOn(nodeWith(log), 'orders', keep)).intact).toBe(false)
  })

  test('is not whole where there is no log at all', async () => {
    const none = {nodeId: 1, files: async () => []} as unknown as ClusterNode
    expect((await recordsOn(none, 'orders', keep)).intact).toBe(false)
  })
})
