import fc from 'fast-check'
import {expect, test} from 'vitest'
import {crc32c, crc32cInJavaScript, implementation} from '../../../src/log/crc32c.js'

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

test('the native addon is in use here, or the reason and the cure are told', () => {
  if (implementation.name === 'native') expect(implementation.obstacle).toBeUndefined()
  else expect(implementation.obstacle).toMatch(/@node-rs\/crc32 can't be used .*npm install/)
})
