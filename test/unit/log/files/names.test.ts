import {describe, expect, test} from 'vitest'
import {parseFileName, parseFolderName, siblingName} from '../../../../src/log/files/names.js'

describe('the name of a file', () => {
  test.each([
    ['00000000000000000042.log', {role: 'log', offset: 42n, isPadded: true, states: []}],
    ['00000000000000000042.index', {role: 'offset-index', offset: 42n}],
    ['00000000000000000042.timeindex', {role: 'time-index', offset: 42n}],
    ['00000000000000000042.txnindex', {role: 'transaction-index', offset: 42n}],
    ['00000000000000000042.snapshot', {role: 'producer-snapshot', offset: 42n}],
    [
      '00000000000000000042.log.deleted',
      {role: 'log', offset: 42n, states: ['deleted'], proper: '00000000000000000042.log'},
    ],
    ['00000000000000000042.index.cleaned', {role: 'offset-index', states: ['cleaned']}],
    ['00000000000000000042.log.swap', {role: 'log', states: ['swap']}],
    ['00000000000000000042.log.swap.deleted', {role: 'log', states: ['swap', 'deleted'], offset: 42n}],
    ['00000000000000000000.log.gz', {role: 'log', states: ['gz'], offset: 0n}],
    [
      '00000000000000000036-0000000001.checkpoint',
      {role: 'snapshot-log', offset: 36n, epoch: 1, isPadded: true, isBootstrap: false},
    ],
    ['00000000000000000036-0000000001.checkpoint.part', {role: 'snapshot-log', states: ['part'], offset: 36n}],
    ['00000000000000000036-0000000001.checkpoint.deleted', {role: 'snapshot-log', states: ['deleted']}],
    ['00000000000000000000-0000000000.checkpoint', {role: 'snapshot-log', offset: 0n, epoch: 0, isBootstrap: true}],
    ['bootstrap.checkpoint', {role: 'snapshot-log', isBootstrap: true, offset: undefined}],
    ['x.checkpoint', {role: 'snapshot-log', isBootstrap: false, offset: undefined}],
    [
      '7_9dkzKvBSQEqYOVkhjKr-jA.index',
      {role: 'offset-index', offset: 7n, remoteSegmentId: '9dkzKvBSQEqYOVkhjKr-jA', isPadded: false},
    ],
    [
      '0__-AAAAAAAAAAAAAAAAAAAA.txnindex.deleted',
      {role: 'transaction-index', remoteSegmentId: '_-AAAAAAAAAAAAAAAAAAAA'},
    ],
    ['leader-epoch-checkpoint', {role: 'leader-epoch-checkpoint', states: []}],
    ['leader-epoch-checkpoint.tmp', {role: 'leader-epoch-checkpoint', states: ['tmp']}],
    ['recovery-point-offset-checkpoint', {role: 'offset-checkpoint'}],
    ['log-start-offset-checkpoint', {role: 'offset-checkpoint'}],
    ['replication-offset-checkpoint', {role: 'offset-checkpoint'}],
    ['cleaner-offset-checkpoint', {role: 'offset-checkpoint'}],
    ['partition.metadata', {role: 'partition-metadata'}],
    ['meta.properties', {role: 'meta-properties'}],
    ['quorum-state', {role: 'quorum-state'}],
    ['.kafka_cleanshutdown', {role: 'clean-shutdown'}],
    ['.lock', {role: 'lock'}],
    ['1.log', {role: 'log', offset: 1n, isPadded: false}],
    ['9223372036854775807.log', {role: 'log', offset: 2n ** 63n - 1n}],
    ['99999999999999999999.log', {role: 'log', offset: undefined}],
    ['abc.log', {role: 'log', offset: undefined}],
    ['a b,c.log', {role: 'log', offset: undefined}],
    ['-1.log', {role: 'log', offset: undefined}],
    ['日本.index', {role: 'offset-index', offset: undefined}],
    ['00000000000000000000.LOG', {role: undefined}],
    ['noext', {role: undefined}],
    ['.log', {role: 'log', offset: undefined}],
    ['x.constructor', {role: undefined}],
    ['constructor', {role: undefined}],
    ['.deleted', {role: undefined}],
    ['', {role: undefined}],
  ])('%j says what its file is', (name, expected) => {
    const parsed: Readonly<Record<string, unknown>> = {...parseFileName(name)}
    expect(parsed.name).toBe(name)
    for (const [field, value] of Object.entries(expected)) expect(parsed[field], field).toEqual(value)
  })

  test('leads to those of the other files of its segment', () => {
    expect(siblingName(parseFileName('00000000000000000042.index'), 'log')).toBe('00000000000000000042.log')
    expect(siblingName(parseFileName('00000000000000000042.timeindex.deleted'), 'index')).toBe(
      '00000000000000000042.index.deleted',
    )
    expect(siblingName(parseFileName('abc.index'), 'log')).toBe('abc.log')
    expect(siblingName(parseFileName('quorum-state'), 'log')).toBeUndefined()
    expect(siblingName(parseFileName('00000000000000000036-0000000001.checkpoint'), 'index')).toBeUndefined()
  })
})

describe('the name of a folder', () => {
  test.each([
    ['orders-0', {topic: 'orders', partition: 0}],
    ['my-topic-with-dashes-12', {topic: 'my-topic-with-dashes', partition: 12}],
    ['my.topic-1', {topic: 'my.topic', partition: 1}],
    ['__consumer_offsets-49', {topic: '__consumer_offsets', partition: 49}],
    ['__cluster_metadata-0', {topic: '__cluster_metadata', partition: 0}],
    [
      'orders-0.8f3b1c2d4e5f60718293a4b5c6d7e8f9-delete',
      {topic: 'orders', partition: 0, state: 'delete', uniqueId: '8f3b1c2d4e5f60718293a4b5c6d7e8f9'},
    ],
    ['my.topic-3.abc-future', {topic: 'my.topic', partition: 3, state: 'future', uniqueId: 'abc'}],
    ['a-b-3.abc-stray', {topic: 'a-b', partition: 3, state: 'stray', uniqueId: 'abc'}],
    ['x-delete-4', {topic: 'x-delete', partition: 4}],
    ['x-2147483647', {topic: 'x', partition: 2_147_483_647}],
  ])('%j says topic and partition', (name, expected) => {
    expect(parseFolderName(name)).toEqual(expected)
  })

  test.each([
    'data',
    'orders-',
    '-0',
    'orders-x',
    'orders-0-delete',
    'x-2147483648',
    '',
    '..-0',
    'a b-0',
    'remote-log-index-cache',
  ])('%j is not that of a partition', name => {
    expect(parseFolderName(name)).toBeUndefined()
  })
})
