import {describe, expect, test} from 'vitest'
import {copyWithJava, produceWithJava, type ToolHost} from '../../../src/clients/java-tools.js'
import type {KafkaTool} from '../../../src/cluster/cluster.js'

const {signal} = new AbortController()
const place = {bootstrapServers: 'here:9092', path: (name: string) => `/files/${name}`}

/** Where a tool "runs": what it was asked, and words that the real tools of 4.4.0 printed. */
function host(stdout: string, stderr: string, kafkaVersion = '4.4.0') {
  const asked: KafkaTool[] = []
  const runTool: ToolHost['runTool'] = async tool => {
    asked.push(tool)
    return {stdout, stderr}
  }
  return {asked, host: {runTool, spec: {kafkaVersion}} as unknown as ToolHost}
}

const success = (n: number, offset: number) =>
  `{"timestamp":1,"name":"producer_send_success","key":"${n % 4}","value":"7.${n}","offset":${offset},"topic":"t","partition":0}`

describe('the verifiable producer', () => {
  const out = [
    '{"timestamp":1,"name":"startup_complete"}',
    success(1, 11),
    success(0, 10),
    '{"name":"tool_data","sent":2}',
  ].join('\n')
  const log = '[Producer clientId=producer-1] ProducerId set to 42 with epoch 3\n'

  test('tells each record’s offset, in the order of sending, and its producer id in its log', async () => {
    const {host: at, asked} = host(out, log)
    const told = await produceWithJava(at, {topic: 't', codec: 'lz4', idempotent: true, count: 2, prefix: 7}, signal)
    const own = {outcome: 'acknowledged', producerId: 42, producerEpoch: 3}
    expect(told).toEqual([
      {key: '0', value: '7.0', offset: 10, ...own},
      {key: '1', value: '7.1', offset: 11, ...own},
    ])
    const [tool] = asked
    expect(tool?.arguments(place).join(' ')).toBe(
      '--bootstrap-server here:9092 --topic t --max-messages 2 --value-prefix 7 --repeating-keys 4 --command-config /files/producer.properties',
    )
    const settings = tool?.files.find(({name}) => name === 'producer.properties')?.text
    expect(settings).toContain('compression.type=lz4\nenable.idempotence=true\nretries=10\n')
  })

  test('has another flag before 4.2, and no producer id if it is not idempotent', async () => {
    const {host: at, asked} = host(out, '', '4.0.2')
    const told = await produceWithJava(at, {topic: 't', codec: 'none', idempotent: false, count: 2, prefix: 7}, signal)
    expect(told.map(({producerId}) => producerId)).toEqual([null, null])
    expect(asked[0]?.arguments(place)).toContain('--producer.config')
  })

  test('tells what was not acknowledged', async () => {
    const failed = '{"name":"producer_send_error","key":"1","value":"7.1","topic":"t","exception":"…"}'
    const {host: at} = host(`${success(0, 10)}\n${failed}\n`, '')
    const told = await produceWithJava(at, {topic: 't', codec: 'none', idempotent: false, count: 2, prefix: 7}, signal)
    expect(told[1]).toMatchObject({value: '7.1', offset: null, outcome: 'failed'})
  })
})

describe('the transactional copier', () => {
  const records = ['a', 'b'].map(value => ({key: 'k', value}))
  const copy = {from: {topic: 'in', records}, to: 'out', transactionalId: 'x'}
  const line = (text: string) => `[Producer clientId=producer-x, transactionalId=x] ${text}\n`
  const begin = line('Transition from state READY to IN_TRANSACTION')
  const ending = (end: string) => line(`Transition from state IN_TRANSACTION to ${end}_TRANSACTION`)
  const named = (epoch: number) => line(`ProducerId set to 9 with epoch ${epoch}`)
  const log = [
    named(0),
    begin,
    ending('COMMITTING'),
    named(1),
    begin,
    ending('ABORTING'),
    named(2),
    begin,
    ending('COMMITTING'),
    named(3),
  ]
  const done = (total: number) =>
    `{"stage":"ProcessLoop","totalProcessed":0}\n{"stage":"ShutdownComplete","totalProcessed":${total}}`

  test('says in its log how each transaction ended; an aborted one is done again', async () => {
    const {host: at} = host(done(2), log.join(''))
    expect(await copyWithJava(at, copy, signal)).toEqual([
      {key: 'k', value: 'a', offset: null, outcome: 'committed', producerId: 9, producerEpoch: 0},
      {key: 'k', value: 'b', offset: null, outcome: 'aborted', producerId: 9, producerEpoch: 1},
      {key: 'k', value: 'b', offset: null, outcome: 'committed', producerId: 9, producerEpoch: 2},
    ])
  })

  test('is not believed if its log and its last line disagree', async () => {
    await expect(copyWithJava(host(done(1), log.join('')).host, copy, signal)).rejects.toThrow('says 1')
    await expect(copyWithJava(host(done(2), log.slice(0, 3).join('')).host, copy, signal)).rejects.toThrow('1 commits')
  })
})
