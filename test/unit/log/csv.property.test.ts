import {isUtf8} from 'node:buffer'
import {stringify} from 'csv-stringify/sync'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {crc32c} from '../../../src/log/crc32c.js'
import {csvColumns, csvHead, CsvRows} from '../../../src/log/csv.js'
import {bytesJson} from '../../../src/log/json.js'
import {readLog} from '../../../src/log/read-log.js'
import {LineWriter} from '../../../src/log/text/line-writer.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {written} from './written.js'

const odd = [
  '"',
  ',',
  '\n',
  '\r',
  '\t',
  "'",
  '=',
  '+',
  '-',
  '@',
  '\uff1d',
  '\uff20',
  'a',
  'ä',
  '😀',
  ' ',
  '\u0000',
  '\u001b',
]
const parts = [...odd, '\u007f', '\u0085', '\u2028', '\u202e', '\u200f', '0123456789'].map(text => Buffer.from(text))
const bytes = fc
  .array(fc.oneof(fc.constantFrom(...parts), fc.uint8Array({maxLength: 3}).map(Buffer.from)), {maxLength: 8})
  .map(all => Buffer.concat(all))
const large = fc
  .tuple(bytes, fc.integer({min: 60_000, max: 140_000}))
  .map(([piece, size]) => Buffer.alloc(size, piece.length === 0 ? 'x' : piece))
const field = fc.option(fc.oneof({weight: 20, arbitrary: bytes}, {weight: 1, arbitrary: large}))
const driving = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}|[\p{Zl}\p{Zp}]/u

/** The slow way: size, encoding and text. */
function columns(value: Buffer | null, raw: boolean): readonly (string | number)[] {
  if (value === null) return [-1, '', '']
  const isText = isUtf8(value) && (raw || !driving.test(value.toString()))
  return [value.length, isText ? 'utf8' : 'base64', value.toString(isText ? 'utf8' : 'base64')]
}

test('rows are those of a CSV library, whatever is in the fields', async () => {
  const headers = fc.array(fc.record({key: fc.string({unit: 'grapheme'}), value: field}), {maxLength: 2})
  const record = fc.record({timestamp: fc.bigInt({min: -1n, max: 2n ** 62n}), key: field, value: field, headers})
  const path = fc.constantFrom('00.log', '=a,"b".log', 'ä b.log')
  await fc.assert(
    fc.asyncProperty(fc.array(record, {minLength: 1, maxLength: 4}), path, fc.boolean(), async (records, file, raw) => {
      const log = writeBatch({records, baseOffset: 2n ** 53n - 2n})
      const expected: unknown[][] = []
      const rows = new CsvRows({file, redact: false, raw})
      let position = 0
      const pieces: Buffer[] = []
      const out = new LineWriter(piece => void pieces.push(Buffer.from(piece)))
      await readLog(bufferSource(log), {
        batch(batch) {
          rows.batch(batch)
          position = batch.position
          return true
        },
        record(read) {
          const written = records[expected.length] as (typeof records)[number]
          const list = written.headers.map(
            ({key, value}) => `{"key":${JSON.stringify(key)},"value":${bytesJson(value)}}`,
          )
          expected.push([
            ...[file, position, 2n ** 53n - 2n, read.offset, written.timestamp, 'CreateTime', -1, -1, -1, -1],
            ...['false', 'false', 'none', 'true', ...columns(written.key, raw), ...columns(written.value, raw)],
            list.length === 0 ? '' : `[${list.join(',')}]`,
          ])
          rows.record(out, read)
        },
        get full() {
          return out.full
        },
        drain: () => out.drain(),
      })
      await out.drain()
      expect(Buffer.concat(pieces).toString()).toBe(
        stringify(expected, {record_delimiter: '\n', quoted_match: /\r/, escape_formulas: !raw}),
      )
      expect(expected.every(row => row.length === csvColumns.length)).toBe(true)
    }),
    {numRuns: 300},
  )
})

test('a header key that is no UTF-8 is there as base64, and what is redacted only as its size', async () => {
  const log = writeBatch({
    records: [{timestamp: 1n, key: null, value: null, headers: [{key: 'ab', value: Buffer.from('"')}]}],
  })
  log[log.length - 3] = 0xff
  log.writeUInt32BE(crc32c(log.subarray(21)), 17)
  const cell = async (redact: boolean): Promise<string> => {
    let row = ''
    const rows = new CsvRows({file: '', redact, raw: false})
    await readLog(bufferSource(log), {
      batch(batch) {
        rows.batch(batch)
        return true
      },
      record(record) {
        row = written(out => rows.record(out, record))
      },
    })
    return row.slice(row.indexOf('"['), -1)
  }
  const quoted = (json: string): string => `"${json.replaceAll('"', '""')}"`
  const key = '"key":"a\ufffd","keyBase64":"Yf8="'
  expect(await cell(false)).toBe(quoted(`[{${key},"value":{"text":"\\""}}]`))
  expect(await cell(true)).toBe(quoted(`[{${key},"value":{"redacted":true,"sizeInBytes":1}}]`))
})

test('the first line names the columns', () => {
  expect(csvHead).toBe(`${csvColumns.join(',')}\n`)
})
