import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {controlRecord, controlText} from '../../../../src/log/decode/control.js'
import {type DecodedRecord, decoderNamed, decoderNames} from '../../../../src/log/decode/decoder.js'
import {kafkaStyles} from '../../../../src/log/decode/style.js'
import {encodeAs} from '../../../../src/protocol/messages.js'
import {includes} from '../../../../src/protocol/schema.js'
import {unknownTaggedFields} from '../../../../src/protocol/struct.js'
import {int16, newestTypes, type RecordType, recordsOf, valueBytes} from './records.js'

type Bytes = Buffer | null

function decoded(type: RecordType, key: Bytes, value: Bytes): DecodedRecord {
  const decoder = decoderNamed(type.decoder)
  for (const style of kafkaStyles) decoder.kafkaText({offset: 3n, key, value}, style)
  return decoder.decode({offset: 3n, key, value})
}

describe('a damaged record is never an exception, and the damage is named', () => {
  test.each(newestTypes.map(type => [type.title, type] as const))('%s', (_, type) => {
    const [made] = fc.sample(recordsOf(type), {numRuns: 1, seed: 17})
    if (!made) throw new Error('no sample')
    const {key, value} = made
    for (let end = 0; end < value.length; end++) {
      const {problems, rawValue, value: read} = decoded(type, key, value.subarray(0, end))
      expect(problems, `cut to ${end} of ${value.length} bytes`).not.toEqual([])
      if (!read) expect(rawValue).toEqual(value.subarray(0, end))
    }
    for (let end = 0; end < (key?.length ?? 0); end++) {
      const {problems, rawKey} = decoded(type, (key as Buffer).subarray(0, end), value)
      expect(problems, `key cut to ${end}`).not.toEqual([])
      expect(rawKey).toEqual((key as Buffer).subarray(0, end))
    }
    const longer = decoded(type, key, Buffer.concat([value, Buffer.of(0, 0, 0)]))
    expect(longer.problems.join()).toContain('3 bytes left over after the ')
    expect(longer.value?.data).toEqual(made.valueData)
  })

  test.each(
    newestTypes
      .filter(({value, version}) => includes(value.flexibleVersions, version))
      .map(type => [type.title, type] as const),
  )('%s with a tagged field that nobody knows', (_, type) => {
    const [made] = fc.sample(recordsOf(type), {numRuns: 1, seed: 5})
    if (!made) throw new Error('no sample')
    const valueData = {...made.valueData, [unknownTaggedFields]: [{tag: 77, bytes: Buffer.from('later')}]}
    const message = encodeAs(type.value, type.version, valueData)
    const {problems, value} = decoded(type, made.key, valueBytes(type, message))
    expect(problems).toEqual(['unknown tagged field 77 (5 bytes)'])
    expect(value?.data).toEqual(valueData)
  })

  test.each(newestTypes.map(type => [type.title, type] as const))('%s in a version that nobody knows', (_, type) => {
    const [made] = fc.sample(recordsOf(type), {numRuns: 1, seed: 6})
    if (!made) throw new Error('no sample')
    const version = type.value.validVersions.highest + 9
    const message = encodeAs(type.value, type.version, made.valueData)
    const {problems, value, rawValue} = decoded(type, made.key, valueBytes({...type, version}, message))
    expect(problems.join()).toContain(`has no version ${version}`)
    // Read by the newest known rules, or kept to the last byte.
    const isNewest = type.version === type.value.validVersions.highest
    if (value) expect(value).toMatchObject(isNewest ? {version, data: made.valueData} : {version})
    else expect(rawValue).toEqual(valueBytes({...type, version}, message))
  })
})

describe('arbitrary bytes', () => {
  const bytes = fc.uint8Array({maxLength: 48}).map(value => Buffer.from(value))
  /** Begins like a record of some type and version, so that the reading goes further. */
  const likely = fc
    .tuple(fc.integer({min: -1, max: 31}), fc.integer({min: -1, max: 6}), bytes, fc.boolean())
    .map(([type, version, rest, framed]) =>
      framed
        ? {key: null, value: Buffer.concat([Buffer.of(1, type & 0xff, version & 0xff), rest])}
        : {key: Buffer.concat([int16(type), rest]), value: Buffer.concat([int16(version), rest])},
    )
  const any = fc.record({key: fc.option(bytes), value: fc.option(bytes)})

  test('never make a decoder throw, and what is not decoded is kept', () => {
    fc.assert(
      fc.property(fc.constantFrom(...decoderNames), fc.oneof(likely, any), (name, {key, value}) => {
        const decoder = decoderNamed(name)
        for (const style of kafkaStyles) {
          const text = decoder.kafkaText({offset: -1n, key, value}, style)
          expect(text.key ?? text.payload).toBeTypeOf('string')
        }
        const read = decoder.decode({offset: -1n, key, value})
        if (value === null) expect(read.value).toBeNull()
        else if (read.value) expect(read.value.version).toBeTypeOf('number')
        else expect(read.rawValue).toEqual(value)
        if (read.rawKey ?? read.rawValue) expect(read.problems).not.toEqual([])
      }),
      {numRuns: 4_000},
    )
  })

  test('never make the reading of a control record throw, and damage is named in both', () => {
    const control = fc.oneof(
      any,
      fc
        .tuple(fc.integer({min: -1, max: 8}), fc.integer({min: -1, max: 2}), bytes)
        .map(([type, version, value]) => ({key: Buffer.concat([int16(version), int16(type)]), value})),
    )
    fc.assert(
      fc.property(control, ({key, value}) => {
        const {problems, data, type} = controlRecord(key, value)
        if (type === undefined || !data) expect(problems).not.toEqual([])
        for (const style of kafkaStyles) expect(controlText(key, value, style)).toMatch(/^ \S/)
      }),
      {numRuns: 3_000},
    )
  })
})
