import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {decoderNamed} from '../../../../src/log/decode/decoder.js'
import {kafkaStyles} from '../../../../src/log/decode/style.js'
import {type CoordinatorTopic, coordinatorRecord, decodeAs} from '../../../../src/protocol/messages.js'
import {includes} from '../../../../src/protocol/schema.js'
import {type MadeRecord, newestTypes, olderTypes, type RecordType, recordsOf} from './records.js'

// Every record type of every internal topic, in every version that Kafka has or had.

const runs = {numRuns: 12}

function expectSame(type: RecordType, made: MadeRecord, schemaOf: string | undefined): void {
  const decoded = decoderNamed(type.decoder).decode({offset: 0n, key: made.key, value: made.value})
  const line = schemaOf === undefined ? {} : {schemaOf}
  const named = {type: type.value.name, apiKey: type.type}
  expect(decoded.problems).toEqual([])
  if (type.key) expect(decoded.key).toMatchObject({apiKey: type.type, data: made.keyData})
  expect(decoded.value).toEqual({...(type.key ? line : named), version: type.version, data: made.valueData})
  expect(decoded.rawKey ?? decoded.rawValue).toBeUndefined()
}

describe('what was encoded is decoded to the same', () => {
  test('all types are there', () => {
    const of = (decoder: string) => new Set(newestTypes.filter(type => type.decoder === decoder).map(({type}) => type))
    expect(of('offsets').size).toBe(22)
    expect(of('transaction-log').size).toBe(1)
    expect(of('share-group-state').size).toBe(2)
    expect(of('cluster-metadata').size).toBe(27)
    expect(of('remote-log-metadata').size).toBe(4)
    const older = new Set(olderTypes.filter(({decoder}) => decoder === 'offsets').map(({type}) => type))
    expect([9, 18, 24].every(type => older.has(type))).toBe(true)
  })

  test.each(newestTypes.map(type => [type.title, type] as const))('%s', (_, type) => {
    fc.assert(
      fc.property(recordsOf(type), made => expectSame(type, made, undefined)),
      runs,
    )
  })

  test.each(newestTypes.map(type => [type.title, type] as const))('%s, printed by all styles', (_, type) => {
    fc.assert(
      fc.property(recordsOf(type), ({key, value}) => {
        for (const style of kafkaStyles) {
          const {key: keyText, payload} = decoderNamed(type.decoder).kafkaText({offset: 7n, key, value}, style)
          expect(keyText ?? payload).toBeTypeOf('string')
        }
        const {payload = '', key: keyText} = decoderNamed(type.decoder).kafkaText({offset: 7n, key, value}, '4.4')
        if (type.decoder === 'remote-log-metadata') expect(payload).toMatch(/^Remote|^Error at offset 7, /)
        else expect(JSON.parse(payload)).toHaveProperty('data')
        if (type.key) expect(JSON.parse(keyText as string)).toMatchObject({type: String(type.type)})
      }),
      runs,
    )
  })
})

describe('a value that only an older line’s schema fits is read by that', () => {
  const only = ['ShareSnapshotValue', 'ShareUpdateValue', 'ShareGroupMetadataValue', 'LegacyOffsetCommitValue']
  const types = olderTypes.filter(
    ({value, version, line}) =>
      line === 'unreleased' ||
      value.name.startsWith('ShareGroupPartitionMetadata') ||
      (only.includes(value.name) && (value.name !== 'LegacyOffsetCommitValue' || version > 0)),
  )

  test.each(types.map(type => [type.title, type] as const))('%s', (_, type) => {
    fc.assert(
      fc.property(recordsOf(type), made => {
        fc.pre(!fitsNewest(type, made.value))
        expectSame(type, made, type.line)
      }),
      runs,
    )
  })
})

/** Bytes may happen to fit the newest schema too, which is tried first. */
function fitsNewest({value, version, type}: RecordType, bytes: Buffer): boolean {
  const topic = value.topic as CoordinatorTopic
  const newest = coordinatorRecord(topic, type)?.value
  if (!newest || !includes(newest.validVersions, version)) return false
  try {
    return decodeAs(newest, version, bytes, 2).end === bytes.length
  } catch {
    return false
  }
}
