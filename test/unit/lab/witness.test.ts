import {expect, test} from 'vitest'
import {parseDump} from '../../../src/lab/witness.js'

test("Kafka's dump tool is understood: batches and records, by file", () => {
  const text = [
    'Dumping /data/copy/00000000000000000000.log',
    'Log starting offset: 0',
    'baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 3 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1700000000005 size: 85 magic: 2 compresscodec: none crc: 4051016623 isvalid: true',
    '| offset: 0 CreateTime: 1700000000000 keySize: 2 valueSize: 2 sequence: -1 headerKeys: [h] key: k1 payload: v1',
    '| offset: 1 CreateTime: 1700000000005 keySize: 2 valueSize: -1 sequence: -1 headerKeys: [] key: k2',
    'Dumping other/00000000000000000001.log',
    '| offset: 7 CreateTime: 1 keySize: -1 valueSize: 5 sequence: -1 headerKeys: [] payload: a b payload: c',
    '',
  ].join('\n')
  expect([...parseDump(text)]).toEqual([
    ['00000000000000000000.log', ['batch 0-1 epoch 3 crc 4051016623 true', 'record 0 v1', 'record 1 ']],
    ['00000000000000000001.log', ['record 7 a b payload: c']],
  ])
})

test('no text is no file, so nothing agrees with it', () => {
  expect(parseDump('').size).toBe(0)
})
