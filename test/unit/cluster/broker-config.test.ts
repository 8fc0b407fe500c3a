import {describe, expect, it} from 'vitest'
import {brokerConfig, nodeIds, type Place, rolesOf, toProperties} from '../../../src/cluster/broker-config.js'
import {defaultSpec} from '../../../src/cluster/spec.js'
import {KxError} from '../../../src/util/errors.js'

const host = '127.0.0.1'
const place: Place = {
  listeners: {CLIENT: {host, port: 19000}, REPL: {host, port: 19001}, CTRL: {host, port: 19002}},
  advertised: {CLIENT: {host, port: 19000}, REPL: {host, port: 19001}},
  voters: [
    {nodeId: 101, host, port: 19009},
    {nodeId: 102, host, port: 19010},
    {nodeId: 103, host, port: 19011},
  ],
  logDir: '/data/1',
}

describe('brokerConfig', () => {
  it('gives an isolated broker a client and a replication listener, and no controller listener', () => {
    const config = brokerConfig(defaultSpec, 1, place)
    expect(config['process.roles']).toBe('broker')
    expect(config.listeners).toBe('CLIENT://127.0.0.1:19000,REPL://127.0.0.1:19001')
    expect(config['advertised.listeners']).toBe('CLIENT://127.0.0.1:19000,REPL://127.0.0.1:19001')
    expect(config['inter.broker.listener.name']).toBe('REPL')
    expect(config['controller.quorum.voters']).toBe('101@127.0.0.1:19009,102@127.0.0.1:19010,103@127.0.0.1:19011')
    expect(config['log.dirs']).toBe('/data/1')
  })

  it('gives an isolated controller only the controller listener', () => {
    const config = brokerConfig(defaultSpec, 102, place)
    expect(config['process.roles']).toBe('controller')
    expect(config.listeners).toBe('CTRL://127.0.0.1:19002')
    expect(config).not.toHaveProperty('advertised.listeners')
    expect(config).not.toHaveProperty('inter.broker.listener.name')
  })

  it('gives a combined node both roles and all three listeners', () => {
    const config = brokerConfig({...defaultSpec, controllers: 0}, 2, place)
    expect(config['process.roles']).toBe('broker,controller')
    expect(config.listeners).toBe('CLIENT://127.0.0.1:19000,REPL://127.0.0.1:19001,CTRL://127.0.0.1:19002')
  })

  it('binds every interface where the host is empty', () => {
    const all = {...place, listeners: {CLIENT: {host: '', port: 9092}, REPL: {host: '', port: 19092}}}
    expect(brokerConfig(defaultSpec, 1, all).listeners).toBe('CLIENT://:9092,REPL://:19092')
  })

  it("writes Kafka's own time-outs down in the default profile and short ones in the fast one", () => {
    expect(brokerConfig(defaultSpec, 1, place)).toMatchObject({
      'broker.session.timeout.ms': '9000',
      'broker.heartbeat.interval.ms': '2000',
      'replica.lag.time.max.ms': '30000',
    })
    expect(brokerConfig({...defaultSpec, profile: 'fast'}, 101, place)).toMatchObject({
      'broker.session.timeout.ms': '3000',
      'broker.heartbeat.interval.ms': '500',
      'replica.lag.time.max.ms': '5000',
    })
  })

  it('never sets min.insync.replicas per broker, which eligible leader replicas forbid', () => {
    for (const nodeId of nodeIds(defaultSpec)) {
      expect(brokerConfig(defaultSpec, nodeId, place)).not.toHaveProperty('min.insync.replicas')
    }
  })

  it('asks for no more replicas than there are brokers', () => {
    const one = brokerConfig({...defaultSpec, brokers: 1, controllers: 1}, 1, place)
    expect(one['offsets.topic.replication.factor']).toBe('1')
    expect(one['transaction.state.log.min.isr']).toBe('1')
    expect(brokerConfig({...defaultSpec, brokers: 5}, 1, place)['default.replication.factor']).toBe('3')
  })

  it("lets the user's setting win over the rig's and the profile's", () => {
    const config = {'num.io.threads': '9', 'broker.session.timeout.ms': '60000', 'log.segment.bytes': '1048576'}
    expect(brokerConfig({...defaultSpec, profile: 'fast', config}, 1, place)).toMatchObject(config)
  })

  it.each(['node.id', 'listeners', 'log.dirs', 'controller.quorum.voters', 'listener.name.client.ssl.keystore.type'])(
    'refuses a user setting of %s, which would make the node another node',
    name => {
      const spec = {...defaultSpec, config: {[name]: 'x'}}
      expect(() => brokerConfig(spec, 1, place)).toThrow(expect.objectContaining({code: 'KX_CONFIG_RESERVED', exit: 2}))
      expect(() => brokerConfig(spec, 1, place)).toThrow(KxError)
    },
  )
})

describe('the nodes of a spec', () => {
  it('are brokers 1, 2, … and isolated controllers 101, 102, …', () => {
    expect(nodeIds({...defaultSpec, brokers: 3, controllers: 1})).toEqual([1, 2, 3, 101])
    expect(rolesOf(defaultSpec, 1)).toEqual(['broker'])
    expect(rolesOf(defaultSpec, 101)).toEqual(['controller'])
  })

  it('stand once each when roles are combined', () => {
    expect(nodeIds({...defaultSpec, controllers: 0})).toEqual([1, 2, 3])
  })
})

describe('toProperties', () => {
  it('writes one name=value line each', () => {
    expect(toProperties({'node.id': '1', 'log.dirs': '/data/1'})).toBe('node.id=1\nlog.dirs=/data/1\n')
  })

  it('escapes what java.util.Properties would read as something else', () => {
    expect(toProperties({path: 'C:\\kx', text: ' lead', 'a=b': 'c', lines: 'x\ny', mark: 'ü'})).toBe(
      'path=C:\\\\kx\ntext=\\ lead\na\\=b=c\nlines=x\\ny\nmark=\\u00fc\n',
    )
  })
})
