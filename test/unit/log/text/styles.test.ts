import {expect, test} from 'vitest'
import type {KafkaStyle} from '../../../../src/log/decode/style.js'
import {writeOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {writeProducerSnapshot} from '../../../../src/log/files/producer-snapshot.js'
import {FinalReport} from '../../../../src/log/text/final-report.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {golden} from '../vectors.js'
import {memoryFolder, print} from './golden-runs.js'

// Where the tools of the lines of Kafka print differently, seen with the released 4.0.2, 4.2.1 and 4.4.0.

const stem = '00000000000000000000'
const path = '/data/a'

const gaps = (style: KafkaStyle, bugCompatible = false): string => {
  const report = new FinalReport(style, bugCompatible)
  for (const [previous, offset] of [
    [5n, 9n],
    [1n, 3n],
    [5n, 7n],
  ] as const)
    report.gap(path, previous, offset)
  return report.text()
}

test('gaps: Kafka 4.4 sorts them, its predecessors give the newest first', () => {
  const line = (pair: string) => `  ${pair}\n`
  const title = `Non-consecutive offsets in ${path}\n`
  expect(gaps('4.4')).toBe(
    title + ['1 is followed by 3', '5 is followed by 9', '5 is followed by 7'].map(line).join(''),
  )
  expect(gaps('4.0')).toBe(
    title + ['5 is followed by 7', '1 is followed by 3', '5 is followed by 9'].map(line).join(''),
  )
  expect(gaps('4.4', true)).toBe(title + ['1 is followed by 3', '5 is followed by 7'].map(line).join(''))
  expect(gaps('4.2', true)).toBe(gaps('4.2'))
})

test('the parts of the report come in one order, each with its file', () => {
  const report = new FinalReport('4.2')
  report.gap('/c', 1n, 3n)
  report.indexedOffsetNotFound('/t', 7n, -1n)
  report.timestampOutOfOrder('/t', 5n, 6n)
  report.timestampMismatch('/t', 5n, 4n)
  report.offsetIndexMismatch('/i', 1n, 2n)
  report.offsetIndexMismatch('/j', 2n, 3n)
  expect(report.text().split('\n')).toEqual([
    'Mismatches in :/i',
    '  Index offset: 1, log offset: 2',
    'Mismatches in :/j',
    '  Index offset: 2, log offset: 3',
    'Found timestamp mismatch in :/t',
    '  Index timestamp: 5, log timestamp: 4',
    'Found out of order timestamp in :/t',
    '  Index timestamp: 5, Previously indexed timestamp: 6',
    'The following indexed offsets are not found in the log.',
    'Indexed offset: 7, found log offset: -1',
    'Non-consecutive offsets in /c',
    '  1 is followed by 3',
    '',
  ])
  expect(new FinalReport('4.4').text()).toBe('')
})

test.each([
  ['4.0', '}'],
  ['4.2', '}'],
  ['4.4', ''],
] as const)('%s: a message of magic 0 ends with "%s"', async (style, end) => {
  const message = Buffer.from('000000000000000000000016e97538bc0000ffffffff000000086d65737361676531', 'hex')
  const folder = memoryFolder({[`${stem}.log`]: message})
  const {stdout} = await print(folder, `${stem}.log`, {style, printDataLog: true})
  expect(stdout.toString().split('\n').slice(2)).toEqual([
    'offset: 0 position: 0 NoTimestampType: -1 size: 34 magic: 0 compresscodec: none crc: 3916773564 isvalid: true',
    `| offset: 0 NoTimestampType: -1 keySize: -1 valueSize: 8 isValid: true crc: 3916773564${end} payload: message1`,
    '',
  ])
})

test.each([
  ['4.0', ' payload: v'],
  ['4.2', ' payload: v'],
  ['4.4', '| payload: v'],
] as const)('%s: without metadata a payload without a key is "%s"', async (style, line) => {
  const value = Buffer.from('v')
  const records = [
    {timestamp: 1n, key: null, value},
    {timestamp: 1n, key: value, value: null},
    {timestamp: 1n, key: null, value: null},
  ]
  const folder = memoryFolder({[`${stem}.log`]: writeBatch({records})})
  const {stdout} = await print(folder, `${stem}.log`, {style, printDataLog: true, skipRecordMetadata: true})
  expect(stdout.toString().split('\n').slice(3)).toEqual([line, '| key: v', '', ''])
})

test.each([
  ['4.0', ' '],
  ['4.2', ' '],
  ['4.4', ''],
] as const)('%s: a producer without data ends with "%s"', async (style, end) => {
  const entry = {producerId: 9n, producerEpoch: 1, lastSequence: -1, offsetDelta: 0, timestamp: 5n, coordinatorEpoch: 2}
  const snapshot = writeProducerSnapshot([
    {...entry, lastOffset: -1n, currentTxnFirstOffset: 7n},
    {...entry, lastSequence: 1, lastOffset: 9n, offsetDelta: 2, currentTxnFirstOffset: null},
  ])
  const {stdout} = await print(memoryFolder({'1.snapshot': snapshot}), '1.snapshot', {style})
  const begin = 'producerId: 9 producerEpoch: 1 coordinatorEpoch: 2 currentTxnFirstOffset: '
  expect(stdout.toString().split('\n').slice(1)).toEqual([
    `${begin}OptionalLong[7] lastTimestamp: 5${end}`,
    `${begin}OptionalLong.empty lastTimestamp: 5 firstSequence: 2147483647 lastSequence: 1 lastOffset: 9 offsetDelta: 2 timestamp: 5`,
    '',
  ])
})

test('control records without metadata are empty lines, and none in the dialect of kx', async () => {
  const folder = memoryFolder({[`${stem}.log`]: golden('base')})
  const options = {style: '4.4', printDataLog: true, skipRecordMetadata: true} as const
  const {stdout} = await print(folder, `${stem}.log`, options)
  expect(stdout.toString()).toMatch(/isControl: true [^\n]*\n\n$/)
})

test('--max-bytes shows whole batches only, and what it cuts is no finding', async () => {
  const folder = memoryFolder({[`${stem}.log`]: golden('base')})
  for (const [maxBytes, batches] of [
    [84, 0],
    [85, 1],
    [100, 1],
    [232, 2],
    [233, 3],
    [1000, 3],
  ] as const) {
    const {stdout, findings} = await print(folder, `${stem}.log`, {style: '4.4', maxBytes})
    expect([stdout.toString().split('\n').length - 3, findings]).toEqual([batches, []])
  }
})

test('names: what begins with a number gives the base offset, however it is written', async () => {
  const index = writeOffsetIndex([{offset: 1n, position: 0}], 0n)
  const names = {
    '7.index': '8',
    '007.x.index': '8',
    '+7.index': '8',
    '7_0123456789012345678901.index': '8',
    'a b.index': '1',
  }
  for (const [name, offset] of Object.entries(names)) {
    const {stdout} = await print(memoryFolder({[name]: index}), name, {style: '4.4'})
    expect(stdout.toString()).toBe(`Dumping ${name}\noffset: ${offset} position: 0\n`)
  }
  const headers = {
    '5.log': 'Log starting offset: 5',
    '-5.log': 'Log starting offset: -5',
    'x.log': 'Log starting offset: unknown',
    'bootstrap.checkpoint': 'KRaft bootstrap snapshot',
    '00000000000000000021-0000000005.checkpoint': 'Snapshot end offset: 21, epoch: 5',
    'x.checkpoint': 'Snapshot end offset: unknown, epoch: unknown',
  }
  for (const [name, header] of Object.entries(headers)) {
    const {stdout} = await print(memoryFolder({[name]: Buffer.alloc(0)}), name, {style: '4.4'})
    expect(stdout.toString()).toBe(`Dumping ${name}\n${header}\n`)
  }
})
