import {expect, test} from 'vitest'
import {decoderNamed} from '../../../../src/log/decode/decoder.js'
import {writeOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {type DumpTextOptions, dumpText, kafkaKind} from '../../../../src/log/text/dump-kafka.js'
import {FinalReport} from '../../../../src/log/text/final-report.js'
import {LineWriter} from '../../../../src/log/text/line-writer.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {golden, vectors} from '../vectors.js'
import {memoryFolder} from './golden-runs.js'

const log = '00000000000000000000.log'

async function lines(
  files: Record<string, Buffer>,
  name: string,
  options: Partial<DumpTextOptions> = {},
): Promise<string[]> {
  const folder = memoryFolder(files)
  const file = await folder.open(name)
  if (!file) throw new Error(`no file ${name}`)
  const written: Buffer[] = []
  const writer = new LineWriter(bytes => void written.push(Buffer.from(bytes)))
  const out = {writer, report: new FinalReport('4.4'), complain: () => {}, absolutePath: name}
  await dumpText(kafkaKind(name), file, folder, {style: '4.4', dialect: 'kx', ...options}, out)
  await writer.drain()
  return Buffer.concat(written).toString('utf8').trimEnd().split('\n')
}

const one = (
  value: Buffer | null,
  key: Buffer | null = null,
  headers: {key: string; value: Buffer | null}[] = [],
): Buffer => writeBatch({records: [{timestamp: 1n, key, value, headers}]})
const recordOf = async (batch: Buffer, options: Partial<DumpTextOptions> = {}): Promise<string | undefined> =>
  (await lines({[log]: batch}, log, {printDataLog: true, ...options}))[2]

test('a batch whose CRC is false is told behind its line', async () => {
  const flipped = Buffer.concat([vectors.plain, vectors.transactional])
  flipped[70]! ^= 0x20
  const [, first, told, second] = await lines({[log]: flipped}, log)
  expect(first).toMatch(/^baseOffset: 0 .* isvalid: false$/)
  expect(told).toMatch(
    /^! error crc at 0, offset 0: the stored CRC of the batch is 4051016623, that of its bytes is \d+$/,
  )
  expect(second).toMatch(/^baseOffset: 2 .* isvalid: true$/)
})

test('damage between batches is told where it lies', async () => {
  const rubbish = Buffer.alloc(40, 0x55)
  const [, first, told, second, ...rest] = await lines(
    {[log]: Buffer.concat([vectors.plain, rubbish, vectors.commitMarker])},
    log,
  )
  expect(first).toMatch(/^baseOffset: 0 /)
  expect(told).toMatch(/^! error [a-z-]+ at 85: 40 bytes are no batch: /)
  expect(second).toMatch(/^baseOffset: 3 .* position: 125 /)
  expect(rest).toEqual([])
})

test('records that can not be read are told behind those that can', async () => {
  const records = [1, 2].map(n => ({timestamp: 1n, key: null, value: Buffer.from(`v${n}`)}))
  const batch = writeBatch({records})
  batch.writeInt32BE(3, 57)
  const shown = await lines({[log]: batch}, log, {printDataLog: true})
  expect(shown.slice(2, 3)).toEqual([expect.stringMatching(/^! error crc at 0, offset 0/)])
  expect(shown.slice(3, 5).map(line => line.replace(/.* payload/, ''))).toEqual([': "v1"', ': "v2"'])
  expect(shown[5]).toMatch(/^! error records at 0, offset 0: not all records of the batch can be read: /)
})

test('header values are shown with the data, and only keys without', async () => {
  const headers = [
    {key: 'plain', value: Buffer.from('x')},
    {key: 'a,b]', value: null},
    {key: '', value: Buffer.from('{"j":1}')},
  ]
  expect(await recordOf(one(null, null, headers))).toMatch(/ headers: \[plain="x","a,b\]"=null,""='\{"j":1\}'\]$/)
  const deep = {printDataLog: false, deepIteration: true}
  expect(await recordOf(one(null, null, headers), deep)).toMatch(/ headerKeys: \[plain,"a,b\]",""\]$/)
})

test('a record without headers has the label that one with headers has', async () => {
  expect(await recordOf(one(Buffer.from('x')))).toMatch(/ sequence: -1 headers: \[\] payload: "x"$/)
  const deep = {printDataLog: false, deepIteration: true}
  expect(await recordOf(one(Buffer.from('x')), deep)).toMatch(/ sequence: -1 headerKeys: \[\]$/)
  expect(await recordOf(one(Buffer.from('x')), {dialect: 'kafka'})).toMatch(/ headerKeys: \[\] payload: x$/)
})

test('raw text is the bytes as they are', async () => {
  expect(await recordOf(one(Buffer.from('"a\u{1b}[1m"')), {raw: true})).toContain(` payload: "a\u{1b}[1m"`)
  expect(await recordOf(one(Buffer.from('"a\u{1b}[1m"')))).toMatch(/ payload: '"a\\x1b\[1m"'$/)
})

test('JSON is shown without blanks, its numbers untouched', async () => {
  const json = Buffer.from('{\n  "a": 9007199254740993,\n  "b c": "x  \\" y\u202e", "d": [1.0, 2e5]\n}')
  expect(await recordOf(one(json), {valueFormat: 'json'})).toMatch(
    / payload: \{"a":9007199254740993,"b c":"x {2}\\" y\\u202e","d":\[1\.0,2e5\]\}$/,
  )
  expect(await recordOf(one(Buffer.from('{')), {valueFormat: 'json'})).toMatch(/ payload: "\{" \(no JSON\)$/)
})

test('what a decoder can not read is shown with the reason, and as it is', async () => {
  const unknown = one(Buffer.from('value'), Buffer.from([0x7f, 0xff, 0x41]))
  const line = await recordOf(unknown, {decoder: decoderNamed('offsets')})
  expect(line).toMatch(
    / key: Unknown record type 32767 at offset 0, skipping\. rawKey: "\\x7f\\xffA" rawPayload: "value" \(.*32767.*\)$/,
  )
})

test('record types that the newest Kafka does not know any more, or not yet, are shown decoded', async () => {
  const decoder = decoderNamed('offsets')
  const key = (type: number) => Buffer.from([0, type, 0, 1, 0x67])
  const ofType9 = `000000000001${'00'.repeat(16)}0001740000000500000000`
  expect(await recordOf(one(Buffer.from(ofType9, 'hex'), key(9)), {decoder})).toMatch(
    / key: \{"type":"9","data":\{"groupId":"g"\}\} /,
  )
  const ofType24 = Buffer.from('000000000003010000', 'hex').subarray(0, 8)
  expect(await recordOf(one(ofType24, key(24)), {decoder})).toMatch(
    / key: \{"type":"24","data":\{"groupId":"g"\}\} payload: \{"version":"0","data":\{"assignmentEpoch":3,"resolvedTopicIdsBySubtopology":\[\]\}\} \(a type that no released Kafka has\)$/,
  )
})

test('of a record that can be read in part, that part is shown, and the rest as it is', async () => {
  const key = Buffer.from('0001000267310003666f6f00000000', 'hex')
  expect(await recordOf(one(Buffer.from('0063ab', 'hex'), key), {decoder: decoderNamed('offsets')})).toMatch(
    / key: \{"type":"1","data":\{"group":"g1","topic":"foo","partition":0\}\} rawPayload: "\\x00c\\xab" \(.* no version 99.*\)$/,
  )
  const topic = Buffer.from('01020004666f6f000000000000000000000000000000010055', 'hex')
  expect(await recordOf(one(topic), {decoder: decoderNamed('cluster-metadata')})).toMatch(
    / payload: \{"type":"TopicRecord","version":0,"data":\{"name":"foo","topicId":"AAAAAAAAAAAAAAAAAAAAAQ"\}\} \(1 byte left over after the TopicRecord\)$/,
  )
})

test('without metadata a control record is no line', async () => {
  const shown = await lines({[log]: golden('base')}, log, {printDataLog: true, skipRecordMetadata: true})
  expect(shown.filter(line => !line.startsWith('baseOffset'))).toEqual([
    'Log starting offset: 0',
    '| key: "k1" payload: "v1"',
    '| key: "k2"',
    '| payload: "tx"',
  ])
})

test('findings about an index stand behind its entries', async () => {
  const index = writeOffsetIndex(
    [
      {offset: 1n, position: 0},
      {offset: 3n, position: 9},
    ],
    0n,
  )
  const name = '00000000000000000000.index'
  const shown = await lines({[log]: golden('base'), [name]: index}, name)
  expect(shown.slice(0, 2)).toEqual(['offset: 1 position: 0', 'offset: 3 position: 9'])
  expect(shown.slice(2)).toEqual([
    '! error index-position: the entry for offset 3 names the position 9, where no batch begins',
  ])
})
