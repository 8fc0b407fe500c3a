import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {jacksonDouble, jacksonString, javaDouble} from '../../../../src/log/decode/jackson.js'
import {kafkaJson} from '../../../../src/log/decode/json.js'

describe('doubles as Java prints them', () => {
  test.each<[number, string]>([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [100, '100.0'],
    [0.1, '0.1'],
    [-12.5, '-12.5'],
    [1_048_576, '1048576.0'],
    [9_999_999, '9999999.0'],
    [1e7, '1.0E7'],
    [12_345_678.9, '1.23456789E7'],
    [1e21, '1.0E21'],
    [0.001, '0.001'],
    [0.00999, '0.00999'],
    [9.99e-4, '9.99E-4'],
    [1e-5, '1.0E-5'],
    [1.5e-10, '1.5E-10'],
    [Number.MAX_VALUE, '1.7976931348623157E308'],
    [2.2250738585072014e-308, '2.2250738585072014E-308'],
    [Number.MIN_VALUE, '4.9E-324'],
    [1e23, '1.0E23'],
    [2e23, '2.0E23'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
  ])('%d', (value, text) => {
    expect(javaDouble(value)).toBe(text)
  })

  test('read again they are the same double', () => {
    fc.assert(
      fc.property(fc.double({noNaN: true}), value => {
        const text = javaDouble(value)
        expect(Object.is(Number(text), value)).toBe(true)
        expect(text).toMatch(/^-?(\d+\.\d+|\d\.\d+E-?\d+|Infinity)$/)
      }),
      {numRuns: 2_000},
    )
  })

  test('what is no number in JSON is quoted', () => {
    expect(jacksonDouble(Number.NaN)).toBe('"NaN"')
    expect(jacksonDouble(Number.NEGATIVE_INFINITY)).toBe('"-Infinity"')
    expect(jacksonDouble(1e7)).toBe('1.0E7')
  })
})

test('text as Jackson prints it', () => {
  expect(jacksonString('plain é 名 😀 / \u007f \u2028')).toBe('"plain é 名 😀 / \u007f \u2028"')
  expect(jacksonString('"\\\b\t\n\f\r')).toBe('"\\"\\\\\\b\\t\\n\\f\\r"')
  expect(jacksonString('\u0000\u000b\u001f')).toBe('"\\u0000\\u000B\\u001F"')
  fc.assert(fc.property(fc.string({unit: 'binary'}), text => JSON.parse(jacksonString(text)) === text))
})

describe('messages as Kafka’s converters print them', () => {
  test('in the schema’s order, without fields that the version lacks', () => {
    const data = {commitTimestamp: 1n, metadata: '', leaderEpoch: 3, offset: -(2n ** 63n)}
    expect(kafkaJson('OffsetCommitValue', 3, data)).toBe(
      '{"offset":-9223372036854775808,"leaderEpoch":3,"metadata":"","commitTimestamp":1}',
    )
    expect(kafkaJson('OffsetCommitValue', 1, data)).toBe(
      '{"offset":-9223372036854775808,"metadata":"","commitTimestamp":1,"expireTimestamp":-1}',
    )
  })

  test('tagged fields stand where they are declared, and not at all with their default', () => {
    const partition = {leader: 1, leaderRecoveryState: 1, eligibleLeaderReplicas: [], lastKnownElr: null}
    expect(kafkaJson('PartitionRecord', 2, partition)).toBe(
      '{"partitionId":-1,"topicId":"AAAAAAAAAAAAAAAAAAAAAA","replicas":[],"isr":[],"removingReplicas":[],"addingReplicas":[],"leader":1,"leaderRecoveryState":1,"leaderEpoch":-1,"partitionEpoch":-1,"directories":[],"eligibleLeaderReplicas":[]}',
    )
  })

  test('bytes in base64, null, booleans, doubles, uint16', () => {
    const user = {name: 'u', mechanism: 1, salt: Buffer.of(1, 2, 3), storedKey: Buffer.of(255, 254), iterations: 4096}
    expect(kafkaJson('UserScramCredentialRecord', 0, user)).toBe(
      '{"name":"u","mechanism":1,"salt":"AQID","storedKey":"//4=","serverKey":"","iterations":4096}',
    )
    const quota = {entity: [{entityType: 'user', entityName: null}], key: 'k', value: 1e7, remove: true}
    expect(kafkaJson('ClientQuotaRecord', 0, quota)).toBe(
      '{"entity":[{"entityType":"user","entityName":null}],"key":"k","value":1.0E7,"remove":true}',
    )
    const controller = {endPoints: [{name: 'C', host: 'h', port: 65_535, securityProtocol: 0}]}
    expect(kafkaJson('RegisterControllerRecord', 0, controller)).toContain('"port":65535')
  })
})
