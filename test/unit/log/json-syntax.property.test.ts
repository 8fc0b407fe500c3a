import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {compactJson, isJson} from '../../../src/log/json-syntax.js'
import {formattedBytes} from '../../../src/log/json-text.js'
import {drained, written} from './written.js'

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const taken = (text: string): boolean => {
  // Among other bytes: it must not look beyond its end.
  const bytes = Buffer.from(`[${text}]1`)
  return isJson(bytes, 1, bytes.length - 2)
}

const tokens = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '"a"',
  '""',
  ' ',
  '\n',
  '\t',
  '\r',
  '\f',
  '\u00a0',
  '\ufeff',
  '0',
  '1',
  '-',
  '.',
  'e',
  '+',
]
const more = [
  'true',
  'false',
  'null',
  'tru',
  '\\u00e4',
  '\\n',
  '\\x',
  '"\\u12',
  '1.5e-7',
  '-0',
  '01',
  '"\u0001"',
  '"ä😀"',
  '[1,2]',
  '{"a":null}',
]

describe('what is JSON', () => {
  test('is decided as JSON.parse does, whatever the text', () => {
    const text = fc.array(fc.constantFrom(...tokens, ...more), {maxLength: 12}).map(all => all.join(''))
    fc.assert(
      fc.property(text, one => {
        expect(taken(one)).toBe(parses(one))
      }),
      {numRuns: 20_000},
    )
  })

  test('is taken as JSON.stringify writes it, and with one character less or changed as JSON.parse takes that', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', ' ', '"', '0', '\\', ',', 'e', '\n'), (json, at, other) => {
        expect(taken(json)).toBe(true)
        const place = at % json.length
        const changed = `${json.slice(0, place)}${other}${json.slice(place + 1)}`
        expect(taken(changed)).toBe(parses(changed))
      }),
      {numRuns: 5_000},
    )
  })

  test('may be nested deeper than any stack', () => {
    const depth = 200_000
    expect(taken('['.repeat(depth) + ']'.repeat(depth))).toBe(true)
    expect(taken('['.repeat(depth) + ']'.repeat(depth - 1))).toBe(false)
  })

  test('is written on one line, in pieces as at once, and says what it said', async () => {
    const blanks = fc.constantFrom('', ' ', '\n', '\t  \r\n')
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), blanks, fc.nat(2), async (value, blank, size) => {
        const many = Array.from({length: 40 ** size}, () => value)
        const text = `${blank}${JSON.stringify(many, undefined, blank)}${blank}`
        const bytes = Buffer.from(text)
        const line = written(out => formattedBytes('json')(out, bytes, 0, bytes.length))
        expect(line).toBe(`{"json":${JSON.stringify(many)}}`)
        expect(await drained(out => formattedBytes('json')(out, bytes, 0, bytes.length))).toBe(line)
      }),
      {numRuns: 60},
    )
  })

  test('blanks within strings stay, behind escaped quotes, too', () => {
    const text = Buffer.from('{ "a \\" b" : [ 1 , "c\\\\" , " d " ] }')
    expect(written(out => compactJson().write(out, text, 0, text.length))).toBe('{"a \\" b":[1,"c\\\\"," d "]}')
  })
})
