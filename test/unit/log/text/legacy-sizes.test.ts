import {describe, expect, test} from 'vitest'
import {compress} from '../../../../src/log/codecs.js'
import {decoderNamed, decoderNames} from '../../../../src/log/decode/decoder.js'
import type {DumpTextOptions} from '../../../../src/log/text/dump-kafka.js'
import {writeLegacy} from '../../../../src/log/write-legacy.js'
import {memoryFolder, print} from './golden-runs.js'

// Messages of magic 0 and 1 whose sizes are wrong: Kafka's tool checks none of them, and catches what its decoders throw.
// The expected lines are those of the tools of 4.4.0 and 4.0.2.

const name = '00000000000000000000.log'
const keyAt = [22, 30] as const

/** Three messages; of the second one a field is changed. `at` counts from its key's size. */
function threeMessages(magic: 0 | 1, at: number, value: number): Buffer {
  const messages = ['aa', 'bb', 'cc'].map(text => ({key: Buffer.from('k'), value: Buffer.from(text), timestamp: 7n}))
  const bytes = writeLegacy({magic, messages, baseOffset: 5n})
  bytes.writeInt32BE(value, bytes.length / 3 + keyAt[magic] - 4 + at)
  return bytes
}

async function lines(bytes: Buffer, options: Partial<DumpTextOptions>): Promise<string[]> {
  const {stdout} = await print(memoryFolder({[name]: bytes}), name, {style: '4.4', ...options})
  return stdout.toString('latin1').split('\n').slice(2, -1)
}

/** Of the second message, behind its batch line. */
const second = async (bytes: Buffer, options: Partial<DumpTextOptions>): Promise<string | undefined> =>
  (await lines(bytes, options))[3]

const valueTooLong = threeMessages(1, 5, 1_000)
const keyTooLong = threeMessages(1, 0, 1_000)
const keyOverValueSize = threeMessages(1, 0, 5)

describe('a value that is longer than its message', () => {
  test('its stated size is shown, and the next message', async () => {
    const shown = await lines(valueTooLong, {deepIteration: true})
    expect(shown[3]).toMatch(/^\| offset: 6 CreateTime: 7 keySize: 1 valueSize: 1000 isValid: false crc: \d+$/)
    expect(shown[5]).toMatch(/^\| offset: 7 CreateTime: 7 keySize: 1 valueSize: 2 isValid: true crc: \d+$/)
    expect(await second(valueTooLong, {deepIteration: true, style: '4.0'})).toMatch(/isValid: false crc: \d+}$/)
    expect(await second(threeMessages(0, 5, 1_000), {deepIteration: true})).toMatch(
      /^\| offset: 6 NoTimestampType: -1 keySize: 1 valueSize: 1000 isValid: false crc: \d+$/,
    )
  })

  test.each([
    ['offsets', ' key: Error at offset 6, skipping. newLimit > capacity: (1000 > 2)'],
    ['transaction-log', ' key: Error at offset 6, skipping. newLimit > capacity: (1000 > 2)'],
    ['cluster-metadata', ' payload: Error at 6, skipping. newLimit > capacity: (1000 > 2)'],
    ['remote-log-metadata', ' payload: Error at offset 6, skipping. newLimit > capacity: (1000 > 2)'],
    ['share-group-state', ' key: Error at offset 6, skipping. newLimit > capacity: (1000 > 2)'],
  ] as const)('the decoder %s says what Java says', async (decoder, text) => {
    const shown = await second(valueTooLong, {decoder: decoderNamed(decoder)})
    expect(shown?.replace(/.*crc: \d+/, '')).toBe(text)
  })

  test('nothing that belongs to another message is ever shown', async () => {
    const shown = await second(valueTooLong, {printDataLog: true})
    expect(shown?.replace(/.*crc: \d+/, '')).toBe(' key: k')
  })
})

describe('a key that leaves no room for the value', () => {
  test.each([
    ['longer than the message', keyTooLong, 'newLimit > capacity: (1000 > 7)'],
    ['over the size of the value', keyOverValueSize, 'null'],
  ])('%s: without record metadata the decoders say so', async (_, bytes, says) => {
    for (const name of decoderNames) {
      const shown = await second(bytes, {decoder: decoderNamed(name), skipRecordMetadata: true})
      const ofValue = {'cluster-metadata': 'at 6', 'remote-log-metadata': 'at offset 6'}[name as string]
      const text = ofValue
        ? `| payload: Error ${ofValue}, skipping. null`
        : `| key: Error at offset 6, skipping. ${says}`
      expect(shown).toBe(text)
    }
  })

  test('without record metadata and data there is an empty line, as for each record', async () => {
    expect(await second(keyTooLong, {deepIteration: true, skipRecordMetadata: true})).toBe('')
  })

  test('with metadata the tool ends; the other messages are shown', async () => {
    const shown = await lines(keyTooLong, {deepIteration: true})
    expect(shown.filter(line => line.startsWith('|')).map(line => line.slice(0, 11))).toEqual([
      '| offset: 5',
      '| offset: 7',
    ])
  })
})

test('in a wrapper the messages around it keep their offsets', async () => {
  const value = compress('gzip', threeMessages(1, 5, 1_000))
  const wrapper = writeLegacy({magic: 1, messages: [{key: null, value, timestamp: 7n}], baseOffset: 9n})
  wrapper[17] = 1
  const shown = (await lines(wrapper, {deepIteration: true})).slice(1)
  expect(shown.map(line => line.replace(/ CreateTime.*valueSize/, '').replace(/ isValid.*/, ''))).toEqual([
    '| offset: 7: 2',
    '| offset: 8: 1000',
    '| offset: 9: 2',
  ])
})

test('messages of another magic in a wrapper are shown, one that is compressed ends it', async () => {
  const message = (magic: 0 | 1, offset: bigint) =>
    writeLegacy({magic, messages: [{key: null, value: Buffer.from('v'), timestamp: 3n}], baseOffset: offset})
  const compressed = message(1, 2n)
  compressed[17] = 1
  const value = compress('gzip', Buffer.concat([message(1, 0n), message(0, 1n), compressed]))
  const wrapper = writeLegacy({magic: 1, messages: [{key: null, value, timestamp: 7n}], baseOffset: 12n})
  wrapper[17] = 1
  const shown = (await lines(wrapper, {deepIteration: true})).slice(1)
  expect(shown.map(line => line.replace(/ keySize.*/, ''))).toEqual([
    '| offset: 10 CreateTime: 3',
    '| offset: 11 CreateTime: -1',
  ])
})
