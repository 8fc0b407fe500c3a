import {createServer} from 'node:net'
import {execa} from 'execa'
import {Kafka, logLevel} from 'kafkajs'
import type {ClusterSpec} from '../../src/cluster/spec.js'
import {loadState} from '../../src/cluster/state.js'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {
  bytesOf,
  docker,
  imageHere,
  leftBehind,
  node,
  ready,
  Rig,
  segment,
  small,
  spec,
  start,
  topic,
  values,
  writeValues,
} from './docker-rig.js'

let rig: Rig

beforeAll(async () => {
  rig = await Rig.open()
})

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]()
})

describe('a start', () => {
  it.each([0, 400, 900, 1_500, 2_500])('that is broken off after %i ms leaves nothing', async delayMs => {
    const interrupt = new AbortController()
    const timer = setTimeout(() => interrupt.abort(), delayMs)
    const starting = start('broken-off', {signal: interrupt.signal}).then(async cluster => {
      // The machine was faster than the interruption: the caller takes the cluster down, as for any later one.
      await cluster.down({wipe: true})
      return 'started'
    })
    const outcome = await starting.catch(error => error.code)
    clearTimeout(timer)
    expect(['KX_INTERRUPTED', 'started']).toContain(outcome)
    expect(await leftBehind()).toEqual([])
    expect(loadState('broken-off')).toBeUndefined()
  })

  it('of an image that is nowhere says every way that failed, and leaves nothing', async () => {
    const starting = start('no-image', {image: '127.0.0.1:9/nobody/kafka:none'})
    await expect(starting).rejects.toMatchObject({
      code: 'KX_NO_IMAGE',
      message: expect.stringMatching(
        /none is not here; 127\.0\.0\.1:9\/nobody\/kafka:none can't be pulled \(.*refused/,
      ),
    })
    expect(await leftBehind()).toEqual([])
    expect(loadState('no-image')).toBeUndefined()
  })

  it('of a broker with a setting that kills it shows its last lines', async () => {
    const broken: ClusterSpec = {...spec, brokers: 1, config: {'log.segment.bytes': 'many'}}
    const starting = start('dies', {spec: broken}).then(async cluster => {
      try {
        await ready(cluster)
      } finally {
        await cluster.down({wipe: true})
      }
    })
    await expect(starting).rejects.toMatchObject({
      code: 'KX_NODE_DIED',
      message: expect.stringContaining('log.segment.bytes'),
    })
    expect(await leftBehind()).toEqual([])
  })

  it('with feature levels formats with them', async () => {
    const single: ClusterSpec = {...spec, brokers: 1, controllers: 0, features: {'eligible.leader.replicas.version': 0}}
    const cluster = await start('features', {spec: single})
    try {
      await ready(cluster)
      const log = segment(await node(cluster, 1).files({topic: '__cluster_metadata', partition: 0}))
      const copies = [{name: '00000000000000000000.log', bytes: await bytesOf(log)}]
      const text = await cluster.dumpLog(copies, ['--cluster-metadata-decoder'])
      expect(text).not.toMatch(/"name":"eligible\.leader\.replicas\.version","featureLevel":[1-9]/)
      expect(text).toContain('"name":"transaction.version"')
      await node(cluster, 1).kill()
      await node(cluster, 1).start()
      await ready(cluster)
    } finally {
      await cluster.down({wipe: true})
    }
    expect(await leftBehind()).toEqual([])
  })
})

describe('a cluster of the same name that belongs to somebody else', () => {
  it('is left alone: ours gets a project of its own', async () => {
    const theirs = `kx-test-${process.pid}_broker-1`
    const labels = ['com.docker.compose.project=kx-shared', 'kx.cluster=shared', 'kx.owner=eve@here:/home/eve']
    await docker('volume', 'create', ...labels.flatMap(label => ['--label', label]), theirs)
    try {
      const cluster = await start('shared', {spec: small})
      expect(node(cluster, 1).place.container).toMatch(/^kx-shared-[a-z0-9]+-broker-1$/)
      await cluster.down({wipe: true})
      expect(await leftBehind()).toEqual([])
      expect(await docker('volume', 'ls', '--quiet', '--filter', `name=${theirs}`)).toBe(theirs)
    } finally {
      await docker('volume', 'rm', theirs)
    }
  })
})

describe('compose/kafka.yml', () => {
  it('starts by hand, holds records, and leaves nothing when it goes down', async () => {
    const image = await imageHere()
    const compose = (...args: string[]) =>
      execa('docker', ['compose', '--file', 'compose/kafka.yml', ...args], {env: {KX_IMAGE: image}, timeout: 200_000})
    try {
      await compose('up', '--wait', '--quiet-pull')
      const brokers = ['127.0.0.1:19092', '127.0.0.1:19093', '127.0.0.1:19094']
      const kafka = new Kafka({brokers, logLevel: logLevel.NOTHING})
      await writeValues(kafka)
      const admin = kafka.admin()
      await admin.connect()
      const [end] = await admin.fetchTopicOffsets(topic)
      await admin.disconnect()
      expect(end?.high).toBe(String(values.length))
    } finally {
      await compose('down', '--volumes')
    }
    const filter = ['--filter', 'label=com.docker.compose.project=kx-by-hand']
    expect(await docker('ps', '--all', '--quiet', ...filter)).toBe('')
    expect(await docker('volume', 'ls', '--quiet', ...filter)).toBe('')
  })
})

describe('a port that is taken between the choice and the start', () => {
  it('is named, and nothing is left', async () => {
    const taken = createServer()
    const broken = start('port', {
      spec: small,
      portBase: 20_500,
      progress: phase => {
        // The last phase before Compose runs: the choice has found the port free.
        if (phase.startsWith('starting')) taken.listen(20_500, '127.0.0.1')
      },
    })
    await expect(broken).rejects.toMatchObject({
      code: 'KX_PORT_TAKEN',
      message: 'Port 20500 was free a moment ago and is taken now.',
    })
    taken.close()
    expect(await leftBehind()).toEqual([])
    expect(loadState('port')).toBeUndefined()
  })
})
