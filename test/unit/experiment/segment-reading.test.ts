import {readFileSync} from 'node:fs'
import {describe, expect, test} from 'vitest'
import {differences, type FileSeen, parseDump, readSegment} from '../../../src/experiment/segment-reading.js'
import {bufferSource} from '../../../src/log/byte-source.js'

const golden = new URL('../../golden/log/', import.meta.url)
const bytesOf = (path: string) => readFileSync(new URL(path, golden))

const dump = [
  'Dumping /data/copy/00000000000000000000.log',
  'Log starting offset: 0',
  'baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 5 lastSequence: 6 producerId: 12 producerEpoch: 1 partitionLeaderEpoch: 3 isTransactional: true isControl: false deleteHorizonMs: OptionalLong[17] position: 0 CreateTime: 1700000000005 size: 85 magic: 2 compresscodec: zstd crc: 4051016623 isvalid: true',
  '| offset: 0 CreateTime: 1700000000000 keySize: 2 valueSize: 2 sequence: 5 headerKeys: [h,i] key: k1 payload: v1',
  '| offset: 1 CreateTime: 1700000000005 keySize: 2 valueSize: -1 sequence: 6 headerKeys: [] key: k2',
  'baseOffset: 2 lastOffset: 2 count: 1 baseSequence: -1 lastSequence: -1 producerId: 12 producerEpoch: 2 partitionLeaderEpoch: 3 isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: 85 CreateTime: 1 size: 78 magic: 2 compresscodec: none crc: 5 isvalid: false',
  '| offset: 2 CreateTime: 1 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 7',
  'Found 13 invalid bytes at the end of 00000000000000000000.log',
  'Dumping other/00000000000000000001.log',
  'baseOffset: 7 lastOffset: 7 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 LogAppendTime: 1 size: 73 magic: 2 compresscodec: none crc: 1 isvalid: true',
  '| offset: 7 LogAppendTime: 1 keySize: -1 valueSize: 14 sequence: -1 headerKeys: [] payload: a b payload: c',
  '',
].join('\n')

describe("Kafka's dump tool is understood", () => {
  const files = parseDump(dump)
  const first = files.get('00000000000000000000.log') as FileSeen

  test('file by file, with what lies behind the last batch', () => {
    expect([...files.keys()]).toEqual(['00000000000000000000.log', '00000000000000000001.log'])
    expect(first.trailingBytes).toBe(13)
  })

  test('with every field of a batch', () => {
    const {records, ...batch} = first.batches[0]!
    expect(records).toHaveLength(2)
    expect(batch).toEqual({
      baseOffset: 0,
      lastOffset: 1,
      count: 2,
      baseSequence: 5,
      lastSequence: 6,
      producerId: 12,
      producerEpoch: 1,
      leaderEpoch: 3,
      isTransactional: true,
      isControl: false,
      deleteHorizonMs: 17,
      position: 0,
      timestampType: 'CreateTime',
      timestamp: 1_700_000_000_005,
      sizeInBytes: 85,
      magic: 2,
      codec: 'zstd',
      crc: 4_051_016_623,
      isValid: true,
    })
    expect(first.batches[1]).toMatchObject({deleteHorizonMs: null, isValid: false, isControl: true})
  })

  test('with keys and values that are null, and values that look like the tool’s own words', () => {
    expect(first.batches[0]?.records).toEqual([
      {
        offset: 0,
        timestamp: 1_700_000_000_000,
        keySize: 2,
        valueSize: 2,
        sequence: 5,
        headerKeys: 'h,i',
        key: 'k1',
        value: 'v1',
      },
      {
        offset: 1,
        timestamp: 1_700_000_000_005,
        keySize: 2,
        valueSize: -1,
        sequence: 6,
        headerKeys: '',
        key: 'k2',
        value: null,
      },
    ])
    expect(files.get('00000000000000000001.log')?.batches[0]?.records[0]).toMatchObject({
      key: null,
      value: 'a b payload: c',
    })
  })

  test('with the markers of transactions', () => {
    expect(first.batches[1]?.records).toMatchObject([{marker: 'ABORT, coordinator epoch 7', key: null, value: null}])
  })

  test('or refused: a line that is not as expected is never skipped', () => {
    expect(() => parseDump('Dumping a.log\nbaseOffset: 0 lastOffset: 1 and so on')).toThrow(/does not know/)
    expect(() => parseDump(`${dump.split('\n').slice(0, 3).join('\n')}\n| offset: 0 something`)).toThrow(
      /does not know/,
    )
  })

  test('no text is no file, so nothing agrees with it', () => {
    expect(parseDump('').size).toBe(0)
  })
})

describe.each([
  ['idem-clean', '00000000000000000000.log', 'records.txt'],
  ['plain-clean', '00000000000000000000.log', 'records.txt'],
])('%s, written by a real broker', (folder, log, text) => {
  test('is the same to kx and to the recorded tool, in every field of every batch and record', async () => {
    const kx = await readSegment(bufferSource(bytesOf(`${folder}/${log}`)), {records: true})
    const kafka = parseDump(bytesOf(`${folder}/${text}`).toString('utf8')).get(log) as FileSeen
    expect(kx.batches.length).toBeGreaterThan(5)
    expect(kx.batches.flatMap(({records}) => records).length).toBeGreaterThan(40)
    expect(differences(kx, kafka)).toEqual([])
  })

  test('and differs, in that batch only, after one bit was flipped', async () => {
    const bytes = bytesOf(`${folder}/${log}`)
    const whole = await readSegment(bufferSource(bytes), {records: false})
    const {position, sizeInBytes} = whole.batches[3]!
    bytes.writeUInt8(bytes.readUInt8(position + sizeInBytes - 2) ^ 4, position + sizeInBytes - 2)
    const flipped = await readSegment(bufferSource(bytes), {records: false})
    expect(flipped.batches.map(({isValid}) => isValid)).toEqual(whole.batches.map((_, index) => index !== 3))
    expect(differences(flipped, whole, 'batches')).toEqual([
      expect.stringMatching(/^batch 3 .*: isValid is false to kx and true to Kafka$/),
    ])
  })
})

test('the batches of transactions and their markers are the same to kx and to the recorded tool', async () => {
  const log = '00000000000000000003.log'
  const kx = await readSegment(bufferSource(bytesOf(`txn-clean/${log}`)), {records: true})
  const kafka = parseDump(bytesOf('txn-clean/batches.txt').toString('utf8')).get(log) as FileSeen
  expect(differences(kx, kafka, 'batches')).toEqual([])
  const markers = kx.batches.filter(({isControl}) => isControl).map(({records}) => records[0]?.marker?.split(',')[0])
  expect(new Set(markers)).toEqual(new Set(['COMMIT', 'ABORT']))
})

describe('two readings differ', () => {
  const seen = parseDump(dump).get('00000000000000000000.log') as FileSeen
  const changed = (change: (copy: {batches: Record<string, unknown>[]; trailingBytes: number}) => void) => {
    const copy = JSON.parse(JSON.stringify(seen)) as FileSeen
    change(copy as unknown as {batches: Record<string, unknown>[]; trailingBytes: number})
    return differences(copy, seen)
  }

  test('not at all if nothing was changed', () => {
    expect(changed(() => undefined)).toEqual([])
  })

  test.each(Object.keys(seen.batches[0]!).filter(name => name !== 'records'))('if %s of a batch does', name => {
    expect(changed(({batches}) => void Object.assign(batches[1]!, {[name]: 'another'}))).toEqual([
      expect.stringContaining(`batch 1 (offset ${name === 'baseOffset' ? 'another' : 2}): ${name} is another to kx`),
    ])
  })

  test.each(Object.keys(seen.batches[0]!.records[0]!))('if %s of a record does', name => {
    expect(
      changed(({batches}) => void Object.assign((batches[0]!.records as object[])[1]!, {[name]: 'another'})),
    ).toEqual([expect.stringContaining(`batch 0 (offset 0), record 1: ${name} is another to kx`)])
  })

  test('if only one of them has a batch, a record or bytes behind the last batch', () => {
    expect(changed(({batches}) => void batches.pop())).toEqual(['batch 1 (offset 2): only Kafka has it'])
    expect(changed(({batches}) => void (batches[0]!.records as unknown[]).pop())).toEqual([
      'batch 0 (offset 0), record 1: only Kafka has it',
    ])
    expect(changed(copy => void copy.trailingBytes++)).toEqual(['bytes behind the last batch: kx 14, Kafka 13'])
  })
})
