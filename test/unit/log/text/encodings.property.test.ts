import fc from 'fast-check'
import {expect, test} from 'vitest'
import {base64Text, escapedText, hexText, javaText, quoteFor, rawBytes} from '../../../../src/log/text/encodings.js'
import {type Encoding, LineWriter} from '../../../../src/log/text/line-writer.js'
import {unescaped} from './escapes.js'
import {javaUtf8} from './naive-text.js'

/** Bytes in which beginnings of characters, encoded surrogates and overlong forms are frequent. */
const telling = [
  0x0a, 0x1b, 0x22, 0x41, 0x5c, 0x7f, 0x80, 0x8f, 0x9f, 0xa0, 0xae, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe2, 0xed, 0xef,
]
const oddBytes = fc
  .array(fc.oneof(fc.constantFrom(...telling, 0xf0, 0xf1, 0xf4, 0xf5), fc.nat(255)), {maxLength: 60})
  .map(list => Buffer.from(list))
const text = fc.string({unit: 'binary', maxLength: 60}).map(string => Buffer.from(string))
const bytes = fc.oneof(oddBytes, text)

function encoded(encoding: Encoding, input: Buffer): Buffer {
  const writer = new LineWriter(() => {}, 8)
  encoding.write(writer, input, 0, input.length)
  return Buffer.from(writer.bytes.subarray(0, writer.at))
}

/** As a large field is: in pieces of about three bytes. */
function inPieces(encoding: Encoding, input: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let from = 0; from < input.length; ) {
    const to = from + 6 >= input.length ? input.length : encoding.cut(input, from, from + 6)
    expect(to).toBeGreaterThan(from)
    pieces.push(encoded(encoding, input.subarray(from, to)))
    from = to
  }
  return Buffer.concat(pieces)
}

test('text in the dialect of Kafka has the replacement characters that Java puts in', () => {
  fc.assert(
    fc.property(bytes, input => {
      expect(encoded(javaText, input).equals(javaUtf8(input))).toBe(true)
    }),
    {numRuns: 5000},
  )
})

test("Java's replacement, where it differs from that of others", () => {
  const cases = {
    ed: 1,
    eda0: 1,
    eda080: 1,
    edb0: 1,
    eda041: 2,
    edbfbfbf: 2,
    eda0eda0: 2,
    ed80: 1,
    ed9fbf: 1,
    e08080: 3,
    f08080: 3,
    f4908080: 4,
  }
  for (const [hex, characters] of Object.entries(cases)) {
    expect(encoded(javaText, Buffer.from(hex, 'hex')).toString('utf8'), hex).toHaveLength(characters)
  }
})

test('escaped text can be read back, and drives no terminal', () => {
  fc.assert(
    fc.property(bytes, input => {
      const quote = quoteFor(input, 0, input.length)
      const shown = encoded(escapedText(quote), input)
      expect(unescaped(shown.toString('latin1')).equals(input)).toBe(true)
      expect(Buffer.from(shown.toString('utf8')).equals(shown)).toBe(true)
      expect(shown.toString('utf8')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
      // No quote like the one around it that is not escaped.
      const inner = shown.toString('latin1').replace(/\\./gs, '')
      expect(inner).not.toContain(String.fromCharCode(quote))
      expect(String.fromCharCode(quote)).toBe(/["']/.exec(input.toString('latin1'))?.[0] === '"' ? "'" : '"')
    }),
    {numRuns: 5000},
  )
})

test('text that is seen stays as it is', () => {
  for (const seen of ['plain', 'Grüße', '日本語', '😀', 'שלום', "{}[]:;'"]) {
    expect(encoded(escapedText(0x22), Buffer.from(seen)).toString('utf8')).toBe(seen)
  }
  expect(encoded(escapedText(0x22), Buffer.from('a\u202eb\x9b\u200d\ufeff\x1b[2J')).toString('utf8')).toBe(
    'a\\xe2\\x80\\xaeb\\xc2\\x9b\\xe2\\x80\\x8d\\xef\\xbb\\xbf\\x1b[2J',
  )
})

test('a field in pieces has the text of the whole', () => {
  fc.assert(
    fc.property(bytes, input => {
      for (const encoding of [javaText, escapedText(0x22), escapedText(0x27), rawBytes, hexText, base64Text]) {
        expect(inPieces(encoding, input).equals(encoded(encoding, input))).toBe(true)
      }
    }),
    {numRuns: 1000},
  )
})

test('numbers are written exactly', () => {
  const limits = [
    9,
    10,
    99,
    100,
    999_999_999,
    1_000_000_000,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32,
    999_999_999_999_999,
    Number.MAX_SAFE_INTEGER,
  ]
  const number = fc.oneof(
    fc.maxSafeInteger(),
    fc.integer(),
    fc.constantFrom(0, ...limits, ...limits.map(limit => -limit)),
  )
  fc.assert(
    fc.property(number, value => {
      const writer = new LineWriter(() => {}, 8)
      writer.number(value)
      expect(writer.bytes.toString('latin1', 0, writer.at)).toBe(String(value === 0 ? 0 : value))
    }),
    {numRuns: 10_000},
  )
  fc.assert(
    fc.property(fc.bigInt({min: -(2n ** 63n), max: 2n ** 63n - 1n}), value => {
      const writer = new LineWriter(() => {}, 8)
      writer.integer(value)
      expect(writer.bytes.toString('latin1', 0, writer.at)).toBe(value.toString())
    }),
  )
})
