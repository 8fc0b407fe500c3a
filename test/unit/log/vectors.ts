import {readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'

const goldens = fileURLToPath(new URL('../../golden/log/', import.meta.url))

export function golden(folder: string, file = '00000000000000000000.log'): Buffer {
  return readFileSync(`${goldens}${folder}/${file}`)
}

/** What Kafka's own tool printed, without its first two lines, which name the file. */
export function kafkaSaid(folder: string, file: string): string {
  return golden(folder, file).toString('utf8').split('\n').slice(2).join('\n')
}

/** Three batches, encoded independently of Kafka's code and dumped by it (`test/golden/log/base`). */
export const vectors = {
  /** Two records, one with a header, one with a null value. */
  plain: Buffer.from(
    '0000000000000000000000490000000302f1759baf0000000000010000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff' +
      '000000021c000000046b31047631020268027810000a02046b320100',
    'hex',
  ),
  transactional: Buffer.from(
    '00000000000000020000003a000000030280e68cfb0010000000000000018bcfe5680a0000018bcfe5680a00000000000003e8000100000000' +
      '00000001100000000104747800',
    'hex',
  ),
  commitMarker: Buffer.from(
    '00000000000000030000004200000003029671592d0030000000000000018bcfe568140000018bcfe5681400000000000003e80001ffffffff' +
      '000000012000000008000000010c00000000000700',
    'hex',
  ),
}

/** Files of real brokers for the property tests, small ones. */
export const realFiles = [
  'epochs-replica1',
  'headers',
  'lat',
  'idem-clean',
  'compacted-replica1',
  'metadata-controller',
] as const
