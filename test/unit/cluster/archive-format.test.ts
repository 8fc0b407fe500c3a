import {describe, expect, it} from 'vitest'
import {archiveUrl, jarName, sha512In} from '../../../src/cluster/local/archive.js'
import {archiveName, gpgChecksum, sha512} from './archive/server.js'

describe('the checksum', () => {
  const hex = sha512(Buffer.from('content'))

  it.each([
    ['of gpg, in groups over several lines', gpgChecksum(Buffer.from('content'))],
    ['of sha512sum', `${hex}  ${archiveName}\n`],
    ['of sha512sum in binary mode', `${hex} *${archiveName}\n`],
    ['of BSD', `SHA512 (${archiveName}) = ${hex}\n`],
    ['alone', hex],
    ['alone and in capitals, with a carriage return', `${hex.toUpperCase()}\r\n`],
  ])('is read in the form %s', (_form, text) => {
    expect(sha512In(text, archiveName)).toBe(hex)
  })

  it.each([
    ['nothing', ''],
    ['a page', '<html>not found</html>'],
    ['too few digits', hex.slice(1)],
    ['too many digits', `${hex}0`],
    ['a SHA-256', hex.slice(0, 64)],
  ])('is not found in %s', (_what, text) => {
    expect(sha512In(text, archiveName)).toBeUndefined()
  })
})

describe('names and addresses', () => {
  it('takes only jars that lie directly in libs', () => {
    expect(jarName('kafka_2.13-4.4.0/libs/kafka-clients-4.4.0.jar')).toBe('kafka-clients-4.4.0.jar')
    expect(jarName('./kafka_2.13-4.4.0/libs/a.jar')).toBe('a.jar')
    for (const name of [
      'libs/a.jar',
      'k/libs/x/a.jar',
      'k/libs/..jar',
      'k/libs/../a.jar',
      'k/libs/a.tgz',
      '/k/libs/a.jar',
      'k/libs/a\\b.jar',
    ]) {
      expect(jarName(name), name).toBeUndefined()
    }
  })

  it("is Apache's archive unless a mirror is named", () => {
    expect(archiveUrl('4.4.0', {}).href).toBe('https://archive.apache.org/dist/kafka/4.4.0/kafka_2.13-4.4.0.tgz')
    expect(archiveUrl('4.4.0', {KX_KAFKA_MIRROR: 'http://m/k//'}).href).toBe('http://m/k/4.4.0/kafka_2.13-4.4.0.tgz')
    expect(() => archiveUrl('4.4.0', {KX_KAFKA_MIRROR: 'file:///etc'})).toThrow(/no http:\/\/ or https:\/\/ URL/)
  })
})
