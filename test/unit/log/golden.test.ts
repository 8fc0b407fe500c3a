import {describe, expect, test} from 'vitest'
import {decodeMetadataRecord} from '../../../src/log/metadata-records.js'
import {scanBuffer} from '../../../src/log/scan.js'
import {batchLines, recordLines} from './kafka-text.js'
import {golden, kafkaSaid} from './vectors.js'

const onlyBatches = (text: string) =>
  text
    .split('\n')
    .filter(line => line.startsWith('baseOffset: '))
    .map(line => `${line}\n`)
    .join('')

/** Java and WHATWG put different numbers of replacement characters for bytes that are not UTF-8 (`headers` has some). */
const oneForMany = (text: string) => text.replace(/\ufffd+/g, '\ufffd')

describe('what kx reads is what Kafka’s own dump tool reads', () => {
  test.each([
    'base',
    'plain-clean',
    'epochs-diverged-leader',
    'epochs-replica1',
    'epochs-replica2',
    'epochs-replica3',
    'headers',
  ])('%s: every field of every batch and record', folder => {
    expect(oneForMany(recordLines(golden(folder)))).toBe(oneForMany(kafkaSaid(folder, 'records.txt')))
  })

  test.each(['lat', 'idem-clean'])('%s, where some batches are compressed: every field of every batch', folder => {
    expect(batchLines(golden(folder))).toBe(onlyBatches(kafkaSaid(folder, 'records.txt')))
  })

  test.each(['plain-killed', 'compacted-replica1', 'active-cut'])('%s: every field of every batch', folder => {
    expect(batchLines(golden(folder))).toBe(kafkaSaid(folder, 'batches.txt'))
  })

  test('txn-clean: every field of the batches of a later segment', () => {
    expect(batchLines(golden('txn-clean', '00000000000000000003.log'))).toBe(kafkaSaid('txn-clean', 'batches.txt'))
  })
})

describe('records of __cluster_metadata are decoded as by Kafka’s own tool', () => {
  test.each([
    ['metadata-controller', '00000000000000000000.log'],
    ['metadata-broker', '00000000000000000000.log'],
    ['metadata-snapshot', '00000000000000000036-0000000001.checkpoint'],
    ['metadata-formatted', '00000000000000000000-0000000000.checkpoint'],
  ])('%s', (folder, file) => {
    const said = kafkaSaid(folder, 'metadata.txt')
      .split('\n')
      .flatMap(line => /offset: (\d+) .* payload: (\{.*)$/.exec(line)?.slice(1, 3) ?? [])
    const decoded: string[] = []
    scanBuffer(golden(folder, file), batch => {
      if (batch.isControl) return
      expect(
        batch.records(({offset, value}) => {
          decoded.push(String(offset), JSON.stringify(asPrinted(decodeMetadataRecord(value)), plainJson))
        }),
      ).toBeUndefined()
    })
    expect(decoded.length).toBe(said.length)
    expect(decoded.length).toBeGreaterThan(10)
    decoded.forEach((text, index) => {
      if (index % 2 === 0) expect(text).toBe(said[index])
      // Kafka leaves out tagged fields that have their defaults; all that it prints must be there and equal.
      else expect(JSON.parse(text)).toMatchObject(JSON.parse(said[index] as string))
    })
  })
})

/** `PartitionChangeRecord` is `PARTITION_CHANGE_RECORD` on the screen. */
function asPrinted(record: ReturnType<typeof decodeMetadataRecord>): unknown {
  if (!('type' in record)) return record
  const type = record.type.replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase()
  return {type, version: record.version, data: record.data}
}

function plainJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  const buffer = value as {type?: unknown; data?: number[]} | null
  return buffer?.type === 'Buffer' && Array.isArray(buffer.data) ? Buffer.from(buffer.data).toString('base64') : value
}
