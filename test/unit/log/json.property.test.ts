import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {bytesJson, valueJson} from '../../../src/log/json.js'
import {formattedBytes, jsonBytes} from '../../../src/log/json-text.js'
import {readLog} from '../../../src/log/read-log.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {jsonLayout, RecordWriter} from '../../../src/log/json-records.js'
import {asJson, batchFields, drained, recordFields, written} from './written.js'

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
          const text = written(out => formattedBytes(format)(out, value ?? Buffer.alloc(0), 0, value?.length ?? -1))
          const back = undone(JSON.parse(text))
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
            json = `{${recordFields(record)}}`
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

  test('bytes of any size are written in pieces as they are at once, and as JSON.stringify writes them', async () => {
    const unit = fc.constantFrom(
      '"',
      '\\\\',
      '\n',
      '\u0000',
      '\u001f',
      '\u007f',
      'ä',
      '€',
      '😀',
      '\u2028',
      'abcdefg',
      '{"a":1}',
    )
    const large = fc.tuple(fc.array(unit, {minLength: 1, maxLength: 9}), fc.nat(90_000), fc.boolean())
    await fc.assert(
      fc.asyncProperty(large, async ([units, count, isText]) => {
        const piece = Buffer.from(units.join(''))
        const value = Buffer.alloc(piece.length * Math.ceil(count / piece.length) + (isText ? 0 : 1), piece)
        if (!isText) value[value.length - 1] = 0xff
        for (const [bytes, told] of [
          [jsonBytes, bytesJson(value)],
          [formattedBytes('hex'), `{"hex":"${value.toString('hex')}"}`],
          [formattedBytes('base64'), `{"base64":"${value.toString('base64')}"}`],
        ] as const) {
          const pieces: Buffer[] = []
          const text = await drained(out => bytes(out, value, 0, value.length), pieces)
          expect(text === told).toBe(true)
          expect(Math.max(0, ...pieces.map(({length}) => length))).toBeLessThan(400_000)
        }
      }),
      {numRuns: 200},
    )
  })

  test('records in a row are told with their own numbers, whatever those before had', async () => {
    const jump = fc.oneof(fc.constant(1n), fc.bigInt({min: 1n, max: 2_000_000n}))
    const base = fc.constantFrom(0n, 7n, 99n, 999_990n, 2n ** 31n - 3n, 2n ** 52n - 9n, 2n ** 53n - 5n, 2n ** 62n)
    const rows = fc.array(fc.tuple(jump, fc.bigInt({min: -5n, max: 2n ** 40n})), {minLength: 1, maxLength: 30})
    await fc.assert(
      fc.asyncProperty(base, base, fc.integer({min: -1, max: 2 ** 31 - 1}), rows, async (from, time, sequence, all) => {
        let offset = from
        const records = all.map(([step, late]) => {
          offset += step
          return {offset, timestamp: time + late, key: null, value: null}
        })
        const log = writeBatch({records, baseSequence: sequence, producerId: sequence < 0 ? -1n : 5n})
        const writer = new RecordWriter(jsonLayout, asJson)
        const lines: string[] = []
        await readLog(bufferSource(log), {
          batch: () => true,
          record(record) {
            const before = `{"kind":"ä${lines.length % 7 === 0 ? '' : 'x'}",`
            const told = `${before}"offset":"${record.offset}","timestamp":"${record.timestamp}","sequence":${record.sequence},"key":null,"value":null,"headers":[]`
            expect(written(out => writer.write(out, before, record))).toBe(told)
            lines.push(told)
          },
        })
        expect(lines).toHaveLength(records.length)
      }),
    )
  })

  test('a batch is told with all its fields, 64-bit numbers and words as strings', async () => {
    const int64 = fc.bigInt({min: -(2n ** 62n), max: 2n ** 62n})
    await fc.assert(
      fc.asyncProperty(int64, int64, fc.boolean(), async (timestamp, producerId, isTransactional) => {
        const records = [{timestamp, key: null, value: null}]
        const log = writeBatch({records, baseOffset: 2n ** 53n + 1n, producerId, producerEpoch: 7, isTransactional})
        let told = ''
        let read = {}
        await readLog(bufferSource(log), {
          batch(batch) {
            told = batchFields(batch)
            read = {
              position: 0,
              sizeInBytes: log.length,
              magic: 2,
              baseOffset: `${2n ** 53n + 1n}`,
              lastOffset: `${2n ** 53n + 1n}`,
              recordsCount: 1,
              codec: 'none',
              timestampType: 'CreateTime',
              baseTimestamp: `${timestamp}`,
              maxTimestamp: `${batch.maxTimestamp}`,
              leaderEpoch: batch.leaderEpoch,
              producerId: `${producerId}`,
              producerEpoch: 7,
              baseSequence: batch.baseSequence,
              isTransactional,
              isControl: false,
              deleteHorizonMs: null,
              crc: batch.crc,
              crcIsRight: true,
            }
            return false
          },
          record: () => {},
        })
        expect(`{${told}}`).toBe(JSON.stringify(read))
      }),
    )
  })

  test('a last offset below a base offset beyond 2^53 is exact, too', async () => {
    const log = writeBatch({records: [{timestamp: 1n, key: null, value: null}], baseOffset: 2n ** 53n + 1n})
    log.writeInt32BE(-5, 23)
    let told = ''
    await readLog(bufferSource(log), {
      batch(batch) {
        told = batchFields(batch)
        return false
      },
      record: () => {},
    })
    expect(told).toContain(`"lastOffset":"${2n ** 53n - 4n}"`)
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

test('a JSON document that parsing would change, or that is too deep for it, is text where names must be unique', () => {
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  for (const text of ['{"id":12345678901234567890}', '[1e400]', '0.1234567890123456789', deep]) {
    const bytes = Buffer.from(text)
    const line = written(out => formattedBytes('json', {uniqueNames: true})(out, bytes, 0, bytes.length))
    expect(JSON.parse(line)).toEqual({text})
  }
  const [small, out] = [Buffer.from('{"a":1,"a":2}'), formattedBytes('json', {uniqueNames: true})]
  expect(written(line => out(line, small, 0, small.length))).toBe('{"json":{"a":2}}')
})
