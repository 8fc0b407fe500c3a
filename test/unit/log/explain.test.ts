import {readdirSync, readFileSync, statSync} from 'node:fs'
import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {explainBatch} from '../../../src/log/explain.js'
import {readLog} from '../../../src/log/read-log.js'

const golden = new URL('../../golden/dump-log/', import.meta.url).pathname
const base = readFileSync(`${golden}made/base/00000000000000000000.log`)
const logs = readdirSync(golden, {recursive: true})
  .map(path => `${golden}${path}`)
  .filter(path => path.endsWith('.log') && statSync(path).size > 61)

async function batchesIn(bytes: Buffer): Promise<Buffer[]> {
  const batches: Buffer[] = []
  await readLog(bufferSource(bytes), {
    batch({position, sizeInBytes}) {
      batches.push(bytes.subarray(position, position + sizeInBytes))
      return false
    },
    record() {},
  })
  return batches
}

describe('a batch explained', () => {
  test('names each field with its position and value', async () => {
    const {fields, problem} = await explainBatch(base.subarray(85, 155), 85)
    expect(problem).toBeUndefined()
    expect(fields.map(({position, name, value}) => `${position} ${name}${value === '' ? '' : ` = ${value}`}`)).toEqual([
      '85 baseOffset = 2',
      '93 batchLength = 58: the batch has 70 bytes',
      '97 partitionLeaderEpoch = 3',
      '101 magic = 2',
      '102 crc = 2162593019: right (CRC-32C from attributes to the end)',
      '106 attributes = 0x0010: codec none, CreateTime, transactional',
      '108 lastOffsetDelta = 0: the last offset is 2',
      '112 baseTimestamp = 1700000000010: 2023-11-14T22:13:20.010Z',
      '120 maxTimestamp = 1700000000010: 2023-11-14T22:13:20.010Z',
      '128 producerId = 1000',
      '136 producerEpoch = 1',
      '138 baseSequence = 0',
      '142 recordsCount = 1',
      '146 record 1: length = 8 bytes follow',
      '147 attributes = 0',
      '148 timestampDelta = 0',
      '149 offsetDelta = 0',
      '150 key length = -1: null',
      '151 value length = 2',
      '152 value',
      '154 headers = 0',
    ])
  })

  test.each(logs)('%s: its fields are all of its bytes, one behind the other', async path => {
    for (const batch of await batchesIn(readFileSync(path))) {
      const {fields, problem} = await explainBatch(batch, 0)
      const inFile = fields.filter(({space}) => space === 'file')
      expect(Buffer.concat(inFile.map(({bytes}) => bytes)).equals(batch.subarray(0, endOf(inFile)))).toBe(true)
      if (problem === undefined) expect(endOf(inFile)).toBe(batch.length)
      inFile.forEach((field, n) => {
        expect(field.position).toBe(n === 0 ? 0 : endOf(inFile.slice(n - 1, n)))
      })
    }
  })

  test('a false CRC is told', async () => {
    const copy = Buffer.from(base.subarray(0, 85))
    copy[70]! ^= 1
    const {fields} = await explainBatch(copy, 0)
    expect(fields.find(({name}) => name === 'crc')?.value).toContain('WRONG')
  })

  test('never throws, whatever the bytes are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...logs.slice(0, 40)),
        fc.array(fc.tuple(fc.nat(400), fc.integer({min: 0, max: 255})), {maxLength: 6}),
        fc.nat(400),
        async (path, changes, cut) => {
          const bytes = Buffer.from(readFileSync(path).subarray(0, Math.max(1, cut)))
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
          const {fields} = await explainBatch(bytes, 0)
          expect(fields.length).toBeGreaterThanOrEqual(0)
        },
      ),
      {numRuns: 500},
    )
  })
})

function endOf(fields: readonly {readonly position: number; readonly bytes: Buffer}[]): number {
  const last = fields.at(-1)
  return last ? last.position + last.bytes.length : 0
}
