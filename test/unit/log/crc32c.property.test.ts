import fc from 'fast-check'
import {expect, test} from 'vitest'
import {choose, crc32c, crc32cInJavaScript} from '../../../src/log/crc32c.js'

test('the check value of CRC-32C', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe306_9283)
  expect(crc32cInJavaScript(Buffer.from('123456789'))).toBe(0xe306_9283)
})

test('the JavaScript implementation gives what the one in use gives, in one piece and in two', () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 300}), fc.nat(300), (bytes, cut) => {
      const whole = crc32cInJavaScript(bytes)
      expect(whole).toBe(crc32c(bytes))
      expect(crc32cInJavaScript(bytes.subarray(cut), crc32c(bytes.subarray(0, cut)))).toBe(whole)
    }),
  )
})

test('without the addon, or with one that computes something else, JavaScript does it and says why', () => {
  const missing = choose(() => {
    throw new Error("Cannot find module '@node-rs/crc32-sunos-sparc'\nRequire stack: …")
  })
  expect(missing).toMatchObject({name: 'javascript', compute: crc32cInJavaScript})
  expect(missing.obstacle).toBe(
    "The native CRC-32C of @node-rs/crc32 can't be used (Cannot find module '@node-rs/crc32-sunos-sparc'): checksums are " +
      'computed in JavaScript, seven times slower. `npm install` without `--omit=optional` brings it.',
  )
  expect(choose(() => ({crc32c: () => 1})).obstacle).toContain('it gives false results')
  expect(choose(() => ({crc32c: crc32cInJavaScript}))).toMatchObject({name: 'native'})
})
