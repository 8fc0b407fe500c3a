import {existsSync, readdirSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Cluster, ClusterNode, Runtime, StartOptions} from '../../src/cluster/cluster.js'
import {endpointOf} from '../../src/cluster/probe.js'
import {untilReady} from '../../src/cluster/ready.js'
import {type ClusterSpec, defaultSpec} from '../../src/cluster/spec.js'
import {clusterFolder} from '../../src/cluster/state.js'
import {diffLive} from '../../src/inspect/diff.js'
import {follow} from '../../src/inspect/follow.js'
import {openLive} from '../../src/inspect/live.js'
import {untilHosted, untilInSync} from '../../src/lab/apparatus.js'
import {ClusterView} from '../../src/lab/view.js'
import {writeBatch} from '../../src/log/write-batch.js'
import {pause, until} from '../../src/util/until.js'
import {createTopics} from '../../src/wire/admin-requests.js'
import {Connection} from '../../src/wire/connection.js'
import {metadata, produce} from '../../src/wire/requests.js'
import {kx} from '../cli-harness.js'
import {coordinatorsOf, internalPartitions} from './coordinators.js'

const spec: ClusterSpec = {
  ...defaultSpec,
  controllers: 1,
  profile: 'fast',
  compiler: 'c1',
  config: {
    ...internalPartitions,
    // A test stops followers for a while: their session must not lapse meanwhile, and their waiting fetches be over soon.
    'broker.session.timeout.ms': '6000',
    'replica.fetch.wait.max.ms': '100',
  },
}
const signal = new AbortController().signal
const run = {signal, progress: () => {}}
const topic = 'orders'

/** What kx shows of the partitions of a running cluster, whatever it runs on. */
export function partitionsOf(runtime: () => Runtime): void {
  let cluster: Cluster
  beforeAll(async () => {
    const options: StartOptions = {name: 'dump', spec, ephemeral: false, timeoutMs: 150_000, ...run}
    cluster = await runtime().start(options)
    await untilReady(cluster, {timeoutMs: 150_000, ...run})
    // 1 MiB is the least that Kafka takes for a segment.
    await onBroker(1, connection =>
      createTopics(connection, {
        topics: [
          {
            name: topic,
            assignments: [{partition: 0, brokerIds: [1, 2, 3]}],
            configs: {'segment.bytes': '1048576', 'min.insync.replicas': '2'},
          },
        ],
      }),
    )
    await using view = new ClusterView(cluster, signal)
    await untilHosted(view, [topic], [1, 2, 3])
  })
  afterAll(async () => {
    await cluster?.down({wipe: true})
  })

  coordinatorsOf(() => cluster)

  const nodeOf = (id: number) => cluster.nodes.find(({nodeId}) => nodeId === id) as ClusterNode

  async function onBroker<T>(id: number, ask: (connection: Connection) => Promise<T>): Promise<T> {
    await using connection = await Connection.open(endpointOf(nodeOf(id)), {
      reach: 'own-topics',
      requestTimeoutMs: 20_000,
    })
    return await ask(connection)
  }

  async function leaderIs(wanted: (id: number) => boolean): Promise<number> {
    return until(
      'the leader',
      async () => {
        for (const {nodeId} of cluster.brokers) {
          if ((await nodeOf(nodeId).state()) !== 'running') continue
          const {topics} = await onBroker(nodeId, connection => metadata(connection, {topics: [topic]}))
          const leader = topics[0]?.partitions[0]?.leaderId ?? -1
          return leader >= 0 && wanted(leader) ? leader : undefined
        }
        return undefined
      },
      {timeoutMs: 60_000, everyMs: 100},
    )
  }

  /** Records `from` to `from + count - 1`, in one batch; returns its base offset. */
  async function write(
    leader: number,
    values: readonly string[],
    {acks = -1 as -1 | 1, size = 0} = {},
  ): Promise<bigint> {
    const records = writeBatch({
      records: values.map(value => ({
        timestamp: BigInt(Date.now()),
        key: Buffer.from(value),
        value: Buffer.concat([Buffer.from(value), Buffer.alloc(size, '.')]),
      })),
    })
    const answer = await onBroker(leader, connection =>
      produce(connection, {topic, partition: 0, acks, timeoutMs: 15_000, records}),
    )
    expect(answer.errorCode).toBe(0)
    return answer.baseOffset
  }

  /** Paths are of the machine that ran it, and a tool's last line comes without its end. */
  const withoutPaths = (text: string) => text.replace(/^Dumping .*$/gm, 'Dumping').trimEnd()

  test('a replica’s segments, in Kafka’s own words: what its own tool says of the same files', async () => {
    await write(1, ['a', 'b', 'c'])
    await write(1, ['d'])
    for (const id of [1, 2]) {
      await until(
        `the records on broker ${id}`,
        async () => {
          await using live = await openLive({topic, broker: id, signal})
          return live.logEndOffset === 4n ? true : undefined
        },
        {timeoutMs: 20_000, everyMs: 100},
      )
      const files = (await nodeOf(id).files({topic, partition: 0})).filter(({name}) => name.endsWith('.log'))
      const bytes = await Promise.all(
        files.map(async file => ({name: file.name, bytes: await file.open().read(0, file.size)})),
      )
      const said = await kx('dump-log', '--topic', topic, '--broker', String(id), '-o', 'kafka', '--print-data-log')
      expect(said.stderr).toBe('')
      expect(said.exit).toBe(0)
      expect(withoutPaths(said.stdout)).toBe(withoutPaths(await cluster.dumpLog(bytes, ['--print-data-log'])))
      expect(said.stdout).toContain('payload: d')
    }
    await using live = await openLive({topic, signal})
    expect(live).toMatchObject({brokerId: 1, role: 'leader', inSync: true, nodeState: 'running', cluster: 'dump'})
    expect(live).toMatchObject({logStartOffset: 0n, highWatermark: 4n, lastStableOffset: 4n, logEndOffset: 4n})
  })

  test('what is written while it is followed, and on into the next segment', async () => {
    const ended = new AbortController()
    const seen: string[] = []
    const notices: string[] = []
    await using live = await openLive({topic, broker: 2, signal})
    const following = follow(
      live,
      {
        batch: () => true,
        record: ({key}) => {
          seen.push(String(key))
          if (seen.length === 10) ended.abort()
        },
      },
      {
        signal: AbortSignal.any([ended.signal, AbortSignal.timeout(60_000)]),
        from: {file: '00000000000000000000.log', position: 0},
        notice: ({kind}) => notices.push(kind),
      },
    )
    for (const key of ['e', 'f', 'g', 'h', 'i', 'j']) await write(1, [key], {size: 300_000})
    await following
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])
    expect(notices.filter(kind => kind !== 'incomplete')).toEqual(['rolled'])
    const said = await kx('dump-log', '--topic', topic, '--follow', '-o', 'ndjson', '--offset', '2..', '--limit', '8')
    expect(said.exit).toBe(0)
    expect(said.stdout.match(/"key":\{"text":"[a-z]"\}/g)).toEqual(
      ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(key => `"key":{"text":"${key}"}`),
    )
  })

  test('it is named as people name it, and only the segments that can hold what is wanted are read', async () => {
    const read = async (...argv: string[]) => {
      const {stdout, stderr, exit} = await kx('dump-log', ...argv)
      expect(exit, stderr).toBe(0)
      return {segments: stdout.match(/\d{20}\.log/g) ?? [], stdout}
    }
    await using view = new ClusterView(cluster, signal)
    await untilInSync(view, [topic], {replicas: 3})
    const whole = await read('orders:0')
    const [first, ...later] = whole.segments
    expect(first).toBe('00000000000000000000.log')
    expect(later.length).toBeGreaterThan(0)
    const last = later.at(-1) ?? ''
    expect(await read('orders', '--partition', '0')).toEqual(whole)
    expect(await read('--topic', 'orders')).toEqual(whole)
    const followers = await read('orders', '--broker', '3')
    expect(followers.segments).toEqual(whole.segments)
    expect(followers.stdout).not.toBe(whole.stdout)
    expect((await read('orders:0', '--offset', '9')).segments).toEqual([last])
    expect((await read('orders:0', '--offset', '..1')).segments).toEqual([first])

    const newest = /CreateTime: (\d+) [^\n]*\n$/.exec(whole.stdout)?.[1] ?? ''
    const ofTheLast = await read('orders:0', '--time', `${newest}..`)
    expect(ofTheLast.segments).toEqual([last])
    expect(ofTheLast.stdout).toContain('lastOffset: 9')
    expect((await read('orders:0', '--broker', '2', '--time', `${newest}..`)).segments).toEqual([last])
    // Nothing is as new: only the segment that is written to could get it.
    const future = await read('orders:0', '--time', `${Number(newest) + 3_600_000}..`)
    expect(future.segments).toEqual([last])
    expect(future.stdout).not.toContain('baseOffset')
    const since = await kx('dump-log', 'orders:0', '--follow', '-o', 'ndjson', '--time', '0..', '--limit', '10')
    expect(since.stdout.match(/"key":\{"text":"[a-z]"\}/g)).toHaveLength(10)

    for (const [argv, exit, message] of [
      [['orders:1'], 2, 'orders has no partition 1. It has one, 0.'],
      [['orders', '--partition', '7'], 2, 'orders has no partition 7.'],
      [['orders:0', '--broker', '9'], 2, 'Cluster "dump" has no node 9.'],
      [['orderz:0'], 2, 'Did you mean orders?'],
    ] as const) {
      const said = await kx('dump-log', ...argv)
      expect(said).toMatchObject({stdout: '', exit})
      expect(said.stderr).toContain(message)
    }
  })

  test('its replicas are equal below the high watermark', async () => {
    // On a busy machine a follower may have left the ISR: then its end is below the high watermark, and legally so.
    await using view = new ClusterView(cluster, signal)
    await untilInSync(view, [topic], {replicas: 3})
    const said = await kx('diff-replicas', '--topic', topic)
    expect(said.exit, said.stdout + said.stderr).toBe(0)
    expect(said.stdout).toContain('All 3 replicas are equal at offsets 0..9: 10 records, the same bytes.')
    const other = await kx('diff-replicas', '--topic', 'order')
    expect(other).toMatchObject({exit: 2, stdout: ''})
    expect(other.stderr).toContain('Did you mean orders?')
    const codeOf = (request: Parameters<typeof openLive>[0]) =>
      openLive({...request, signal}).then(
        () => undefined,
        (error: {code?: string}) => error.code,
      )
    expect(await codeOf({topic, partition: 1})).toBe('KX_NO_PARTITION')
    expect(await codeOf({topic, broker: 9})).toBe('KX_NO_REPLICA')
    expect(await codeOf({topic, broker: 101})).toBe('KX_NO_REPLICA')
    expect(await codeOf({topic, cluster: 'other'})).toBe('KX_NO_CLUSTER')
    await using controller = await openLive({topic: '__cluster_metadata', broker: 101, signal})
    expect(controller).toMatchObject({role: 'leader', isBroker: false})
    expect(await diffLive({topic: '__cluster_metadata', all: false}, run)).toMatchObject({equal: true})
  })

  test('a leader that died with records nobody else has has diverged, and its files are still read', async () => {
    await Promise.all([2, 3].map(id => nodeOf(id).pause()))
    // A fetch that was under way would still bring the record when its follower goes on.
    await pause(1_000)
    await write(1, ['only', 'here'], {acks: 1})
    await nodeOf(1).kill()
    await Promise.all([2, 3].map(id => nodeOf(id).resume()))
    const leader = await leaderIs(id => id !== 1)
    await until('the new leader to write', () => write(leader, ['x', 'y', 'z']).catch(() => undefined), {
      timeoutMs: 30_000,
      everyMs: 200,
    })
    const diff = await diffLive({topic, all: false}, run)
    expect(diff).toMatchObject({equal: false, equalUpTo: 10n, divergence: {offset: 10n}})
    const found = diff.conclusions.find(({code}) => code === 'divergence')
    expect(found).toMatchObject({replicas: ['broker 1'], from: 10n, to: 12n, records: 2, truncatesTo: 10n})
    expect(found?.text).toContain('it was the leader of epoch 0')
    const said = await kx('dump-log', '--topic', topic, '--broker', '1', '-o', 'ndjson', '--offset', '10..')
    expect(said.stdout).toContain('"text":"only"')
  })

  test('the files of a node are read whatever its state, and copies of them are gone afterwards', async () => {
    const [follower] = cluster.brokers.filter(({nodeId}) => nodeId !== 1).slice(-1)
    const paused = follower?.nodeId ?? 3
    await nodeOf(paused).pause()
    try {
      for (const {nodeId} of cluster.brokers) {
        const files = await nodeOf(nodeId).files({topic, partition: 0})
        const log = files.find(({name}) => name === '00000000000000000000.log')
        const bytes = await log?.open().read(0, log.size)
        await using folder = nodeOf(nodeId).folder({topic, partition: 0})
        expect((await folder.list()).map(({name, size}) => ({name, size}))).toEqual(
          files.map(({name, size}) => ({name, size})),
        )
        expect(await folder.sizeOf('00000000000000000000.log')).toBe(log?.size)
        const source = await folder.open('00000000000000000000.log')
        expect((await source?.read(0, source.size))?.equals(bytes as Buffer)).toBe(true)
        expect(await folder.read('00000000000000000000.log', 61, 7)).toEqual(bytes?.subarray(61, 68))
        expect(await folder.read('00000000000000000000.log', (log?.size ?? 0) - 3, 100)).toEqual(bytes?.subarray(-3))
        expect(await folder.open('99999999999999999999.log')).toBeUndefined()
        expect(await folder.sizeOf('99999999999999999999.log')).toBeUndefined()
        await using none = nodeOf(nodeId).folder({topic: 'no-such-topic', partition: 0})
        expect(await none.list()).toEqual([])
      }
      await using live = await openLive({topic, broker: paused, signal})
      expect(live.nodeState).toBe('paused')
    } finally {
      await nodeOf(paused).resume()
    }
    const copies = join(clusterFolder('dump'), 'tmp')
    expect(existsSync(copies) ? readdirSync(copies) : []).toEqual([])
  })

  test('what a cluster that is down has left on its disks is still read, replica by replica', async () => {
    const before = await kx('dump-log', 'orders:0', '--broker', '2', '--offset', '..9')
    await cluster.down({wipe: false})
    const nobody = await kx('dump-log', 'orders:0')
    expect(nobody).toMatchObject({stdout: '', exit: 4})
    expect(nobody.stderr).toContain('--broker 1')
    expect(nobody.stderr).toContain('kx up --name dump')
    const after = await kx('dump-log', 'orders:0', '--broker', '2', '--offset', '..9')
    expect(after).toEqual(before)
    expect(after).toMatchObject({stderr: '', exit: 0})
    const none = await kx('dump-log', 'orders:1', '--broker', '2')
    expect(none).toMatchObject({stdout: '', exit: 2})
    expect(none.stderr).toContain('Broker 2 of cluster "dump" has no files of orders-1.')
  })
}
