import {expect, test} from 'vitest'
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
