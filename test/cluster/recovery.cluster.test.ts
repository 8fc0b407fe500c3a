import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Cluster, ClusterNode} from '../../src/cluster/cluster.js'
import {killLeftovers} from '../../src/cluster/local/leftovers.js'
import {LocalRuntime} from '../../src/cluster/local/runtime.js'
import {endpointOf} from '../../src/cluster/probe.js'
import {untilReady} from '../../src/cluster/ready.js'
import {defaultSpec} from '../../src/cluster/spec.js'
import {clusterFolder} from '../../src/cluster/state.js'
import {DiskFolder} from '../../src/inspect/files.js'
import {openLive} from '../../src/inspect/live.js'
import {untilHosted} from '../../src/lab/apparatus.js'
import {ClusterView} from '../../src/lab/view.js'
import {findingsOf} from '../../src/inspect/verify-writer.js'
import {verifyFolder} from '../../src/log/verify/verify-folder.js'
import {writeBatch} from '../../src/log/write-batch.js'
import {until} from '../../src/util/until.js'
import {createTopics} from '../../src/wire/admin-requests.js'
import {Connection} from '../../src/wire/connection.js'
import {produce} from '../../src/wire/requests.js'
import {inWorld} from '../cli-harness.js'

const signal = new AbortController().signal
const quietly = {timeoutMs: 120_000, signal, progress: () => {}}
const name = 'recover'
let home = ''
let restore = () => {}
let cluster: Cluster

/** What is done to a partition: its segments' bytes, by their number. */
type Damage = (segment: (n: number) => Buffer, write: (n: number, bytes: Buffer) => void) => void

/** Four small batches and a large one, of two records each; a segment takes a bit more than that. */
const batches = 5
const lengthAt = 8
const patched = (bytes: Buffer, at: number, value: number) => {
  const copy = Buffer.from(bytes)
  copy.writeInt32BE(value, at)
  return copy
}

const damages: Readonly<Record<string, Damage>> = {
  none: () => {},
  'flipped-bit': (segment, write) => write(1, patched(segment(1), 100, 0x5a5a5a5a)),
  'cut-end': (segment, write) => write(2, segment(2).subarray(0, -10)),
  'cut-middle': (segment, write) => write(1, segment(1).subarray(0, -10)),
  zeros: (segment, write) => write(0, Buffer.concat([segment(0), Buffer.alloc(5_000)])),
  'long-length': (segment, write) => write(1, patched(segment(1), lengthAt, 0x0fff_ffff)),
  'negative-length': (segment, write) => write(0, patched(segment(0), lengthAt, -7)),
  'falling-offsets': (segment, write) => {
    const bytes = Buffer.from(segment(0))
    let at = 0
    for (let n = 0; n < 2; n++) at += lengthAt + 4 + bytes.readInt32BE(at + lengthAt)
    bytes.writeBigInt64BE(bytes.readBigInt64BE(at) + 500n, at)
    write(0, bytes)
  },
}
const topics = Object.keys(damages)

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'kx-recover-'))
  restore = inWorld({XDG_STATE_HOME: home, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME})
  const spec = {...defaultSpec, brokers: 1, controllers: 0, profile: 'fast', compiler: 'c1'} as const
  cluster = await new LocalRuntime().start({name, spec, ephemeral: false, ...quietly})
  await untilReady(cluster, quietly)
})
afterAll(async () => {
  await cluster?.down({wipe: true})
  await killLeftovers(name)
  restore()
  rmSync(home, {recursive: true, force: true, maxRetries: 10, retryDelay: 100})
})

const broker = () => cluster.brokers[0] as ClusterNode
const folderOf = (topic: string) => join(clusterFolder(name), 'nodes', String(broker().nodeId), 'data', `${topic}-0`)

async function fill(): Promise<void> {
  await using connection = await Connection.open(endpointOf(broker()), {reach: 'own-topics', requestTimeoutMs: 20_000})
  await createTopics(connection, {
    topics: topics.map(topic => ({
      name: topic,
      assignments: [{partition: 0, brokerIds: [broker().nodeId]}],
      configs: {'segment.bytes': '1048576'},
    })),
  })
  await using view = new ClusterView(cluster, signal)
  await untilHosted(view, topics, [broker().nodeId])
  for (const topic of topics) {
    for (let n = 0; n < batches * 3; n++) {
      // Small ones first, so that index entries lie close: a segment is full with its last batch.
      const size = n % batches === batches - 1 ? 1_030_000 : 2_500
      const value = Buffer.alloc(size / 2, '.')
      const record = {timestamp: BigInt(Date.now()), key: null, value}
      const records = writeBatch({records: [record, record]})
      const answer = await produce(connection, {topic, partition: 0, acks: -1, timeoutMs: 15_000, records})
      expect(answer.errorCode).toBe(0)
    }
  }
}

function damage(topic: string): void {
  const folder = folderOf(topic)
  const logs = readdirSync(folder)
    .filter(file => file.endsWith('.log'))
    .sort()
  expect(logs).toHaveLength(3)
  const path = (n: number) => join(folder, logs[n] as string)
  damages[topic]?.(
    n => readFileSync(path(n)),
    (n, bytes) => writeFileSync(path(n), bytes),
  )
}

/** The end of the log after recovery, by what kx concludes. */
async function saidEnd(topic: string): Promise<bigint> {
  await using folder = new DiskFolder(folderOf(topic))
  const report = await verifyFolder(folder)
  const text = report.conclusions.join('\n')
  if (!text.includes('After an unclean stop')) return (report.log?.lastOffset ?? -1n) + 1n
  const lost = /offsets (\d+) to \d+, would be lost/.exec(text)?.[1]
  return lost === undefined ? (findingsOf(report)[0]?.offset ?? -1n) : BigInt(lost)
}

async function realEnd(topic: string): Promise<bigint> {
  return until(
    `${topic} to be led`,
    async () => {
      await using live = await openLive({topic, signal})
      return live.role === 'leader' ? live.logEndOffset : undefined
    },
    {timeoutMs: 30_000, everyMs: 100},
  )
}

test('a log ends after recovery where kx says that it will', async () => {
  await fill()
  await broker().kill()
  // Flushes are its own affair: without it every segment is recovered.
  rmSync(join(folderOf('none'), '..', 'recovery-point-offset-checkpoint'))
  const said: [string, bigint][] = []
  for (const topic of topics) {
    damage(topic)
    said.push([topic, await saidEnd(topic)])
  }
  await broker().start()
  await untilReady(cluster, quietly)
  const real: [string, bigint][] = []
  for (const topic of topics) real.push([topic, await realEnd(topic)])
  expect(said).toEqual(real)
  // So that neither side agrees with the other because nothing happened.
  expect(Object.fromEntries(real)).toEqual({
    none: 30n,
    'flipped-bit': 16n,
    'cut-end': 28n,
    'cut-middle': 26n,
    zeros: 16n,
    'long-length': 16n,
    'negative-length': 0n,
    'falling-offsets': 0n,
  })
})
