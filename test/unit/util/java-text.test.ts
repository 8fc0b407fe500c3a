import fc from 'fast-check'
import {expect, test} from 'vitest'
import {javaText as streamed} from '../../../src/log/text/encodings.js'
import {LineWriter} from '../../../src/log/text/line-writer.js'
import {javaText} from '../../../src/util/java-text.js'

test.each<[string, string, string]>([
  ['plain text', '61c3a9f09f9880', 'aé😀'],
  ['an encoded surrogate', '61eda0bd62', 'a\ufffdb'],
  ['a pair of encoded surrogates', 'eda0bdedb880', '\ufffd\ufffd'],
  ['the first two bytes of one', 'eda041', '\ufffdA'],
  ['the first two bytes of one at the end', '41eda0', 'A\ufffd'],
  ['a surrogate and one byte more', 'edbfbf80', '\ufffd\ufffd'],
  ['a character that begins as a surrogate does', 'ed9fbfed80', '\ud7ff\ufffd'],
  ['a surrogate within a cut character', 'e1eda080', '\ufffd\ufffd'],
  ['a first byte alone', 'eded', '\ufffd\ufffd'],
  ['bytes that begin nothing', '80ff41', '\ufffd\ufffdA'],
  ['a byte order mark', 'efbbbf41', '\ufeffA'],
  ['nothing', '', ''],
])('%s', (_, hex, text) => {
  expect(javaText(Buffer.from(hex, 'hex'))).toBe(text)
})

test('what is streamed is the same text', async () => {
  const some = fc.uint8Array({maxLength: 12})
  const surrogates = fc.array(fc.constantFrom(0xed, 0xa0, 0x9f, 0x80, 0xbf, 0xe2, 0xf0, 0x90, 0x41), {maxLength: 12})
  await fc.assert(
    fc.asyncProperty(fc.oneof(some, surrogates), async array => {
      const bytes = Buffer.from(array)
      const written: Buffer[] = []
      const writer = new LineWriter(piece => void written.push(Buffer.from(piece)))
      writer.field(bytes, 0, bytes.length, streamed)
      await writer.drain()
      expect(Buffer.concat(written).toString('utf8')).toBe(javaText(bytes))
    }),
    {numRuns: 2_000},
  )
})
