import {readFileSync} from 'node:fs'
import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {parse} from 'yaml'
import {
  addressOf,
  type ComposeOptions,
  containerName,
  environmentName,
  renderCompose,
  standardCompose,
} from '../../../src/cluster/compose.js'
import {type ClusterSpec, defaultSpec} from '../../../src/cluster/spec.js'

interface Service {
  readonly image: string
  readonly restart: string
  readonly container_name: string
  readonly stop_grace_period: string
  readonly mem_limit: string
  readonly ports?: readonly string[]
  readonly volumes: readonly string[]
  readonly labels?: Record<string, string>
  readonly environment: Record<string, string>
  readonly entrypoint?: readonly string[]
}

interface ComposeFile {
  readonly name: string
  readonly services: Record<string, Service>
  readonly networks: Record<string, {labels?: Record<string, string>}>
  readonly volumes: Record<string, {labels?: Record<string, string>}>
}

const options: ComposeOptions = {
  project: 'kx-lab',
  image: 'kx/kafka:4.4.0',
  clusterId: 'AAAAAAAAAAAAAAAAAAAAAA',
  clientPorts: {1: 19_000, 2: 19_001, 3: 19_002},
  labels: {'kx.cluster': 'lab', 'kx.owner': 'me@here:/home/me/$state'},
}

function rendered(spec: ClusterSpec = defaultSpec, more: Partial<ComposeOptions> = {}): ComposeFile {
  return parse(renderCompose(spec, {...options, ...more}), {merge: true}) as ComposeFile
}

function service(file: ComposeFile, name: string): Service {
  const found = file.services[name]
  if (!found) throw new Error(`no service ${name}`)
  return found
}

describe('compose/kafka.yml', () => {
  it('is what renderCompose makes of the default spec', () => {
    const path = new URL('../../../compose/kafka.yml', import.meta.url)
    expect(readFileSync(path, 'utf8')).toBe(standardCompose())
  })

  it('has no version key, no bind mount and no port that is open to other machines', () => {
    const file = parse(standardCompose(), {merge: true}) as ComposeFile & {version?: string}
    expect(file.version).toBeUndefined()
    for (const each of Object.values(file.services)) {
      for (const volume of each.volumes) expect(volume).toMatch(/^(broker|controller)-\d+:\/var\/lib\/kafka\/data$/)
      for (const port of each.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:9092$/)
    }
  })
})

describe('renderCompose', () => {
  it('gives each broker a published port, which it also advertises', () => {
    const file = rendered()
    expect(service(file, 'broker-2').ports).toEqual(['127.0.0.1:19001:9092'])
    expect(service(file, 'broker-2').environment.KAFKA_ADVERTISED_LISTENERS).toBe(
      'CLIENT://127.0.0.1:19001,REPL://broker-2:19092',
    )
    expect(addressOf(defaultSpec, 2, options.clientPorts)).toBe('127.0.0.1:19001')
  })

  it('keeps isolated controllers inside the network and without advertised listeners, which the image refuses', () => {
    const controller = service(rendered(), 'controller-101')
    expect(controller.ports).toBeUndefined()
    expect(controller.environment).not.toHaveProperty('KAFKA_ADVERTISED_LISTENERS')
    expect(controller.environment.KAFKA_LISTENERS).toBe('CTRL://:9093')
    expect(addressOf(defaultSpec, 101, options.clientPorts)).toBe('controller-101:9093')
  })

  it('makes one container a node when roles are combined', () => {
    const spec = {...defaultSpec, controllers: 0}
    const file = rendered(spec)
    expect(Object.keys(file.services)).toEqual(['broker-1', 'broker-2', 'broker-3'])
    const {environment} = service(file, 'broker-1')
    expect(environment.KAFKA_PROCESS_ROLES).toBe('broker,controller')
    expect(environment.KAFKA_CONTROLLER_QUORUM_VOTERS).toBe('1@broker-1:9093,2@broker-2:9093,3@broker-3:9093')
    expect(environment.KAFKA_LISTENERS).toBe('CLIENT://:9092,REPL://:19092,CTRL://:9093')
  })

  it('puts the log directory into a sub-directory of the volume, one volume a node', () => {
    const file = rendered()
    expect(Object.keys(file.volumes)).toEqual(Object.keys(file.services))
    for (const each of Object.values(file.services)) {
      expect(each.environment.KAFKA_LOG_DIRS).toBe('/var/lib/kafka/data/kraft')
    }
  })

  it('never restarts a container by itself, gives a controlled shutdown a minute, and limits memory', () => {
    for (const each of Object.values(rendered().services)) {
      expect(each.restart).toBe('no')
      expect(each.stop_grace_period).toBe('60s')
      expect(each.mem_limit).toBe('684m')
    }
  })

  it('labels containers, network and volumes, with dollar signs that Compose does not replace', () => {
    const file = rendered()
    const expected = {'kx.cluster': 'lab', 'kx.owner': 'me@here:/home/me/$$state'}
    expect(service(file, 'broker-3').labels).toEqual({...expected, 'kx.node': '3'})
    expect(file.networks.default?.labels).toEqual(expected)
    expect(file.volumes['controller-102']?.labels).toEqual(expected)
  })

  it('formats with feature levels before the entry point of the image, and only then', () => {
    expect(service(rendered(), 'broker-1').entrypoint).toBeUndefined()
    const file = rendered({...defaultSpec, features: {'eligible.leader.replicas.version': 0}})
    const {entrypoint, environment} = service(file, 'broker-1')
    expect(entrypoint?.[2]).toContain('--feature eligible.leader.replicas.version=0')
    expect(entrypoint?.[2]).toContain('"$$KX_FORMAT_PROPERTIES"')
    expect(environment.KX_FORMAT_PROPERTIES).toContain('node.id=1\n')
  })

  it('takes the heap and the compiler of the spec', () => {
    const {environment} = service(rendered({...defaultSpec, heapMiB: 512, compiler: 'c1'}), 'broker-1')
    expect(environment.KAFKA_HEAP_OPTS).toBe('-Xms512m -Xmx512m')
    expect(environment.KAFKA_JVM_PERFORMANCE_OPTS).toContain('-XX:TieredStopAtLevel=1')
    expect(service(rendered(), 'broker-1').environment.KAFKA_JVM_PERFORMANCE_OPTS).not.toContain('TieredStopAtLevel')
  })

  it('probes health and orders the end only for a person’s hands', () => {
    expect(service(rendered(), 'broker-1')).not.toHaveProperty('healthcheck')
    expect(service(rendered(), 'broker-1')).not.toHaveProperty('depends_on')
    const byHand = rendered(defaultSpec, {byHand: true})
    expect(service(byHand, 'broker-1')).toHaveProperty('healthcheck')
    expect(service(byHand, 'broker-1')).toHaveProperty('depends_on', [
      'controller-101',
      'controller-102',
      'controller-103',
    ])
    expect(service(byHand, 'controller-101')).not.toHaveProperty('depends_on')
    expect(service(rendered({...defaultSpec, controllers: 0}, {byHand: true}), 'broker-1')).not.toHaveProperty(
      'depends_on',
    )
  })

  it('passes settings of the user, escaped for properties and for Compose', () => {
    const config = {'log.retention.ms': '1000', 'ssl.principal.mapping.rules': 'RULE:^CN=(.*?)$/$1/\\w'}
    const {environment} = service(rendered({...defaultSpec, config}), 'controller-103')
    expect(environment.KAFKA_LOG_RETENTION_MS).toBe('1000')
    expect(environment.KAFKA_SSL_PRINCIPAL_MAPPING_RULES).toBe('RULE:^CN=(.*?)$$/$$1/\\\\w')
  })

  it('names containers after the project', () => {
    expect(containerName('kx-lab', defaultSpec, 102)).toBe('kx-lab-controller-102')
    expect(service(rendered(), 'controller-102').container_name).toBe('kx-lab-controller-102')
  })
})

describe('environmentName', () => {
  it('maps dot, underscore and hyphen to one, two and three underscores', () => {
    expect(environmentName('log.dirs')).toBe('KAFKA_LOG_DIRS')
    expect(environmentName('listener.name.sasl_ssl.plain')).toBe('KAFKA_LISTENER_NAME_SASL__SSL_PLAIN')
    expect(environmentName('a-b')).toBe('KAFKA_A___B')
  })

  it('is undone by what KafkaDockerWrapper does with the name', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,6}$/)
    const name = fc
      .array(fc.tuple(word, fc.constantFrom('.', '_', '-')), {minLength: 0, maxLength: 5})
      .chain(parts => word.map(last => parts.map(([text, sign]) => text + sign).join('') + last))
    fc.assert(
      fc.property(name, setting => {
        const undone = environmentName(setting)
          .replace('KAFKA_', '')
          .toLowerCase()
          .replaceAll('_', '.')
          .replaceAll('...', '-')
          .replaceAll('..', '_')
        expect(undone).toBe(setting)
      }),
    )
  })
})
