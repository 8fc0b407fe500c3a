import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {bytesJson, formattedJson, recordFields, valueJson} from '../../../src/log/json.js'
import {readLog} from '../../../src/log/read-log.js'
import {writeBatch} from '../../../src/log/write-batch.js'

const bytes = fc.oneof(
  fc.uint8Array({maxLength: 40}),
  fc.string({unit: 'grapheme'}).map(text => Buffer.from(text)),
)
const nullable = fc.option(bytes.map(each => Buffer.from(each)))

type Written =
  | null
  | {text: string}
  | {base64: string}
  | {hex: string}
  | {int32: number}
  | {int64: string}
  | {uuid: string}

function undone(written: Written): Buffer | null {
  if (written === null) return null
  if ('text' in written) return Buffer.from(written.text)
  if ('base64' in written) return Buffer.from(written.base64, 'base64')
  if ('hex' in written) return Buffer.from(written.hex, 'hex')
  const number = Buffer.alloc('int32' in written ? 4 : 8)
  if ('int32' in written) number.writeInt32BE(written.int32)
  else if ('int64' in written) number.writeBigInt64BE(BigInt(written.int64))
  else throw new Error('a uuid is not reversible: it may have been text')
  return number
}

describe('records as JSON', () => {
  test('any bytes come back from what is written of them', () => {
    fc.assert(
      fc.property(
        nullable,
        fc.constantFrom(undefined, 'string', 'hex', 'base64', 'int32', 'int64'),
        (value, format) => {
          const back = undone(JSON.parse(formattedJson(format)(value)))
          expect(back === null ? null : [...back]).toEqual(value === null ? null : [...value])
        },
      ),
      {numRuns: 1_000},
    )
  })

  test('any record comes back, with its 64-bit numbers and header keys that are no UTF-8', async () => {
    const headers = fc.array(fc.record({key: fc.string({unit: 'grapheme'}), value: nullable}), {maxLength: 4})
    const int64 = fc.bigInt({min: -(2n ** 62n), max: 2n ** 62n})
    await fc.assert(
      fc.asyncProperty(int64, nullable, nullable, headers, async (timestamp, key, value, given) => {
        const batch = writeBatch({records: [{timestamp, key, value, headers: given}], baseOffset: 2n ** 53n + 1n})
        let json = ''
        await readLog(bufferSource(batch), {
          batch: () => true,
          record(record) {
            json = `{${recordFields(record, bytesJson, bytesJson, bytesJson)}}`
          },
        })
        const read = JSON.parse(json)
        expect(read).toMatchObject({offset: String(2n ** 53n + 1n), timestamp: String(timestamp), sequence: -1})
        expect([undone(read.key), undone(read.value)]).toEqual([key, value])
        expect(read.headers.map((each: {key: string; value: Written}) => [each.key, undone(each.value)])).toEqual(
          given.map(each => [each.key, each.value]),
        )
      }),
    )
  })

  test('any value with bigints and Buffers in it is one line of JSON', () => {
    fc.assert(
      fc.property(fc.anything({withBigInt: true}), value => {
        const json = valueJson({value, at: 5n, bytes: Buffer.from([0xff])}, bytesJson)
        expect(json).not.toMatch(/[\n\r]/)
        expect(JSON.parse(json)).toMatchObject({at: '5', bytes: {base64: '/w=='}})
      }),
    )
  })
})
