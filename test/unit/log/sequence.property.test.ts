import fc from 'fast-check'
import {expect, test} from 'vitest'
import {RecordCursor} from '../../../src/log/record-cursor.js'
import {varint} from '../../../src/log/write-batch.js'

const int32 = fc.oneof(
  fc.integer({min: -(2 ** 31), max: 2 ** 31 - 1}),
  fc.constantFrom(-(2 ** 31), -1, 0, 1, 2 ** 31 - 2, 2 ** 31 - 1),
)

/** A record that lies so far from its batch's base offset, with an empty key and value. */
function sequenceOf(baseSequence: number, offsetDelta: number): number {
  const body = Buffer.concat([Buffer.of(0, 0), varint(offsetDelta), Buffer.of(0, 0, 0)])
  const record = new RecordCursor()
  const base = {baseOffset: 0n, baseTimestamp: 0n, logAppendTime: undefined, baseSequence}
  // Room behind it: the cursor reads the common record in its own way.
  record.open(Buffer.concat([varint(body.length), body, Buffer.alloc(30)]), base)
  expect(record.next()).toBe(true)
  return record.sequence
}

test('the sequence of a record is computed in 32 bits, as Kafka does, for any delta', () => {
  fc.assert(
    fc.property(int32, int32, (base, delta) => {
      const wrap = (value: bigint) => Number(BigInt.asIntN(32, value))
      const most = 2n ** 31n - 1n
      const limit = wrap(most - BigInt(delta))
      const due =
        base > limit
          ? wrap(BigInt(wrap(BigInt(delta) - BigInt(wrap(most - BigInt(base))))) - 1n)
          : wrap(BigInt(base) + BigInt(delta))
      expect(sequenceOf(base, delta)).toBe(base < 0 ? -1 : due)
    }),
  )
})

test.each([
  [5, 3, 8],
  [2 ** 31 - 1, 1, 0],
  [2 ** 31 - 3, 5, 2],
  // Java: −1 − (2147483647 − 5) − 1.
  [5, -1, -2_147_483_644],
  [2 ** 31 - 1, 2 ** 31 - 1, 2_147_483_646],
  // Java: 2147483647 + 2147483648 is −1, and −2147483648 − 2147483647 − 1 is 0.
  [0, -(2 ** 31), 0],
  [-1, 7, -1],
])('base sequence %i and delta %i: %i', (base, delta, due) => {
  expect(sequenceOf(base, delta)).toBe(due)
})
