import {Kafka, logLevel} from 'kafkajs'
import type {Cluster, KafkaTool} from '../../src/cluster/cluster.js'
import {findOwned} from '../../src/cluster/docker/leftovers.js'
import {ownerLabel} from '../../src/cluster/docker/labels.js'
import {loadState} from '../../src/cluster/state.js'
import {until} from '../../src/util/until.js'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {
  bytesOf,
  docker,
  foreignContainer,
  forever,
  leftBehind,
  node,
  ready,
  Rig,
  runtime,
  segment,
  start,
  topic,
  values,
  volumesOf,
  writeValues,
} from './docker-rig.js'

let rig: Rig

beforeAll(async () => {
  rig = await Rig.open()
})

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]()
})

describe('a cluster of containers', () => {
  let cluster: Cluster

  beforeAll(async () => {
    cluster = await start('life', {ephemeral: false})
    await ready(cluster)
    await writeValues(new Kafka({brokers: cluster.bootstrapServers.split(','), logLevel: logLevel.NOTHING}))
  }, 300_000)

  afterAll(async () => {
    await cluster?.down({wipe: true})
  })

  it('runs its nodes under labels that tell whose they are', async () => {
    expect(cluster.nodes.map(({nodeId, roles}) => [nodeId, roles])).toEqual([
      [1, ['broker']],
      [2, ['broker']],
      [3, ['broker']],
      [101, ['controller']],
    ])
    expect(await Promise.all(cluster.nodes.map(one => one.state()))).toEqual([
      'running',
      'running',
      'running',
      'running',
    ])
    const [found, ...more] = await findOwned(rig.endpoint)
    expect(more).toEqual([])
    expect(found).toMatchObject({cluster: 'life', pid: process.pid, ephemeral: false, owner: ownerLabel()})
    expect([found?.containers.length, found?.networks.length, found?.volumes.length]).toEqual([4, 1, 4])
  })

  it('mounts one named volume a node, and leaves no anonymous one beside it', async () => {
    const names = cluster.nodes.map(({place}) => place.container ?? '')
    const mounts = await docker('inspect', '--format', '{{range .Mounts}}{{.Type}} {{.Name}};{{end}}', ...names)
    expect(mounts.split('\n').filter(Boolean)).toEqual(volumesOf(cluster).map(name => `volume ${name};`))
  })

  it('listens on loopback only', async () => {
    const published = await docker('ps', '--format', '{{.Ports}}', '--filter', `label=kx.owner=${ownerLabel()}`)
    const addresses = published.match(/[\d.]+:\d+->/g)
    expect(addresses).toHaveLength(3)
    for (const address of addresses ?? []) expect(address).toMatch(/^127\.0\.0\.1:/)
  })

  it('pauses a broker, reads its files meanwhile, and resumes it', async () => {
    const broker = node(cluster, 2)
    const paused = await broker.pause()
    const container = broker.place.container ?? ''
    expect(container).toMatch(/^kx-life.*-broker-2$/)
    expect(paused.mechanism).toBe(`docker pause ${container}`)
    expect(paused.evidence).toMatch(/^docker pause returned after [\d.]+ m?s; inspect: Status=paused, Paused=true$/)
    expect(paused.provenMs).toBeGreaterThan(paused.startedMs)
    expect(await docker('inspect', '--format', '{{.State.Paused}}', container)).toBe('true')
    expect(await broker.state()).toBe('paused')
    const log = await bytesOf(segment(await broker.files({topic, partition: 0})))
    for (const value of values) expect(log.includes(value)).toBe(true)
    const resumed = await broker.resume()
    expect(resumed.evidence).toContain('Status=running, Paused=false')
    expect(await broker.state()).toBe('running')
  })

  it('kills a paused broker, reads what it had, and starts it again', async () => {
    const broker = node(cluster, 3)
    await broker.pause()
    const killed = await broker.kill()
    expect(killed.evidence).toMatch(/^inspect: exited, exit code 137, [\d.]+ m?s after SIGKILL$/)
    expect(await broker.state()).toBe('killed')
    const files = await broker.files({topic, partition: 0})
    expect(files.map(({name}) => name)).toEqual(
      expect.arrayContaining(['00000000000000000000.index', 'partition.metadata']),
    )
    const own = await bytesOf(segment(files))
    const others = await bytesOf(segment(await node(cluster, 1).files({topic, partition: 0})))
    expect(own.equals(others)).toBe(true)
    const started = await broker.start()
    expect(started.evidence).toMatch(/^inspect: running as the engine's pid \d+/)
    await ready(cluster)
  })

  it('stops a broker politely: the controlled shutdown completes', async () => {
    const broker = node(cluster, 1)
    const stopped = await broker.stop()
    expect(stopped.evidence).toMatch(/^inspect: exited, exit code 143, .+ after SIGTERM$/)
    expect(await broker.state()).toBe('stopped')
    expect((await broker.logTail(5)).join('\n')).toContain('shut down completed')
    await broker.start()
    await ready(cluster)
  })

  it('refuses a fault that does not fit the state of the node', async () => {
    const broker = node(cluster, 1)
    await expect(broker.resume()).rejects.toMatchObject({code: 'KX_NODE_STATE'})
    await expect(broker.start()).rejects.toThrow("Node 1 is running, so it can't be told to start.")
  })

  it('has no files of a partition that a node does not hold', async () => {
    expect(await node(cluster, 1).files({topic: 'nowhere', partition: 7})).toEqual([])
    expect(await node(cluster, 101).files({topic, partition: 0})).toEqual([])
    expect(segment(await node(cluster, 101).files({topic: '__cluster_metadata', partition: 0}))?.size).toBeGreaterThan(
      0,
    )
  })

  it('reads files again and again while the broker writes to them', async () => {
    for (let round = 0; round < 20; round++) {
      const files = await node(cluster, 101).files({topic: '__cluster_metadata', partition: 0})
      expect(segment(files)?.size).toBeGreaterThan(0)
    }
  })

  it("runs Kafka's own dump tool over copies of the files, and leaves no container of it", async () => {
    const log = segment(await node(cluster, 1).files({topic, partition: 0}))
    const copies = [{name: log?.name ?? '', bytes: await bytesOf(log)}]
    const text = await cluster.dumpLog(copies, ['--print-data-log'])
    expect(text).toMatch(/^Dumping 00000000000000000000\.log\nLog starting offset: 0\n/)
    expect(text.match(/payload: .*/g)).toEqual(values.map(value => `payload: ${value}`))
    expect(await findOwned(rig.endpoint)).toHaveLength(1)
  })

  it('says what the dump tool said if it fails', async () => {
    const dumping = cluster.dumpLog([{name: '00000000000000000000.log', bytes: Buffer.alloc(0)}], ['--no-such-flag'])
    await expect(dumping).rejects.toMatchObject({code: 'KX_DUMP_LOG', message: expect.stringContaining('no-such-flag')})
    expect(await findOwned(rig.endpoint)).toHaveLength(1)
  })

  it('ends the dump tool when the user interrupts, and leaves no container of it', async () => {
    const copies = [{name: '00000000000000000000.log', bytes: Buffer.alloc(0)}]
    for (const ms of [0, 50, 300]) {
      const dumping = cluster.dumpLog(copies, [], AbortSignal.timeout(ms))
      await expect(dumping).rejects.toMatchObject({code: 'KX_INTERRUPTED', kind: 'interrupted'})
    }
    expect(await findOwned(rig.endpoint)).toHaveLength(1)
  })

  const verifiableProducer = (messages: number, signal = forever): KafkaTool => ({
    what: 'the verifiable producer',
    mainClass: 'org.apache.kafka.tools.VerifiableProducer',
    files: [{name: 'log4j2.properties', text: 'status=error\nrootLogger.level=error\n'}],
    arguments: ({bootstrapServers}) => [
      ...['--bootstrap-server', bootstrapServers, '--topic', topic, '--max-messages', String(messages)],
      ...['--throughput', '100'],
    ],
    timeoutMs: 60_000,
    signal,
  })

  it("runs another of Kafka's tools beside the brokers, and leaves no container of it", async () => {
    const {stdout} = await cluster.runTool(verifiableProducer(3))
    expect(stdout.match(/"producer_send_success"/g)).toHaveLength(3)
    expect(await findOwned(rig.endpoint)).toHaveLength(1)
  })

  it('says what a tool said if it fails', async () => {
    const wrong = {...verifiableProducer(3), arguments: () => ['--no-such-flag']}
    await expect(cluster.runTool(wrong)).rejects.toMatchObject({
      code: 'KX_KAFKA_TOOL',
      message: expect.stringContaining('the verifiable producer failed with exit code 1'),
    })
  })

  it('ends a tool that goes on for ever when its trial is over', async () => {
    const trial = new AbortController()
    const size = async () => segment(await node(cluster, 1).files({topic, partition: 0}))?.size ?? 0
    const before = await size()
    const running = cluster.runTool(verifiableProducer(-1, trial.signal))
    const ended = expect(running).rejects.toThrow()
    await until('the tool to write', async () => ((await size()) > before ? true : undefined), {timeoutMs: 60_000})
    trial.abort()
    await ended
    expect(await findOwned(rig.endpoint)).toHaveLength(1)
  })

  it('is found again by its state', async () => {
    const known = loadState('life')
    expect(known?.phase).toBe('up')
    if (!known) throw new Error('no state')
    await using again = await runtime.attach(known)
    expect(again.bootstrapServers).toBe(cluster.bootstrapServers)
    expect(await node(again, 101).state()).toBe('running')
  })

  it('does not touch a container of somebody else that took a name of its own', async () => {
    const known = loadState('life')
    if (!known) throw new Error('no state')
    const foreign = await foreignContainer({'kx.cluster': 'life', 'kx.owner': 'eve@here:/home/eve'})
    try {
      const [first, ...rest] = known.nodes
      if (!first) throw new Error('no node')
      await using confused = await runtime.attach({...known, nodes: [{...first, container: foreign}, ...rest]})
      await expect(node(confused, 1).kill()).rejects.toMatchObject({code: 'KX_FOREIGN_CONTAINER'})
      expect(await docker('inspect', '--format', '{{.State.Running}}', foreign)).toBe('true')
    } finally {
      await docker('rm', '--force', '--volumes', foreign)
    }
  })

  it('keeps its data when it goes down, and runs on them again', async () => {
    await node(cluster, 2).pause()
    await cluster.down({wipe: false})
    expect(loadState('life')?.phase).toBe('down')
    expect((await leftBehind()).sort()).toEqual(volumesOf(cluster))
    expect(await Promise.all(cluster.nodes.map(one => one.state()))).toEqual([
      'stopped',
      'stopped',
      'stopped',
      'stopped',
    ])
    await Promise.all(cluster.nodes.map(one => one.start()))
    await ready(cluster)
    const log = await bytesOf(segment(await node(cluster, 2).files({topic, partition: 0})))
    for (const value of values) expect(log.includes(value)).toBe(true)
  })

  it('is wiped without a trace, and what belongs to others survives', async () => {
    const foreign = await foreignContainer({'kx.cluster': 'life', 'kx.owner': 'eve@here:/home/eve'})
    const plain = await foreignContainer({})
    try {
      await node(cluster, 1).pause()
      await node(cluster, 3).kill()
      await cluster.down({wipe: true})
      expect(await leftBehind()).toEqual([])
      expect(loadState('life')).toBeUndefined()
      for (const name of [foreign, plain]) {
        expect(await docker('inspect', '--format', '{{.State.Running}}', name)).toBe('true')
      }
    } finally {
      await docker('rm', '--force', '--volumes', foreign, plain)
    }
  })
})
