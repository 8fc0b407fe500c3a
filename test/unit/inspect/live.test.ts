import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import type {ClusterState} from '../../../src/cluster/cluster.js'
import {defaultSpec} from '../../../src/cluster/spec.js'
import {saveState} from '../../../src/cluster/state.js'
import {openLive} from '../../../src/inspect/live.js'
import {partitionFor} from '../../../src/inspect/live-key.js'
import {inWorld} from '../../cli-harness.js'

let home = ''
let restore = () => {}
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kx-live-'))
  restore = inWorld({XDG_STATE_HOME: home})
})
afterEach(() => {
  restore()
  rmSync(home, {recursive: true})
})

function known(name: string, change: Partial<ClusterState> = {}): void {
  saveState({
    schema: 'kx/cluster/1',
    name,
    runtime: 'local',
    spec: defaultSpec,
    clusterId: 'AAAAAAAAAAAAAAAAAAAAAA',
    ephemeral: false,
    owner: {pid: 1, startTime: '0', user: 'nobody', host: 'nowhere'},
    createdAt: '2026-01-01T00:00:00.000Z',
    phase: 'up',
    nodes: [{nodeId: 1, roles: ['broker'], address: '127.0.0.1:1', logDir: join(home, 'data')}],
    detail: {java: '/no/java', libs: '/no/libs', folder: join(home, name)},
    ...change,
  })
}

async function failure(request: Parameters<typeof openLive>[0]): Promise<unknown> {
  return openLive(request).then(
    () => undefined,
    (error: unknown) => error,
  )
}

test('without a cluster there is no topic: files can be read all the same', async () => {
  known('begun', {phase: 'starting'})
  expect(await failure({topic: 'orders'})).toMatchObject({code: 'KX_NO_CLUSTER', kind: 'usage'})
})

test('a cluster that is down is meant if none runs: its files are there, and the cure is to start it', async () => {
  known('down', {phase: 'down'})
  expect(await failure({topic: 'orders'})).toMatchObject({
    code: 'KX_NO_ANSWER',
    suggestions: ['Name the replica whose files are wanted: --broker 1', 'kx up --name down'],
  })
  expect(await failure({topic: 'orders', broker: 1})).toMatchObject({
    code: 'KX_NO_REPLICA',
    suggestions: ['kx up --name down'],
  })
  known('down-too', {phase: 'down'})
  expect(await failure({topic: 'orders'})).toMatchObject({
    code: 'KX_SEVERAL_CLUSTERS',
    message: 'Several clusters are down here: down and down-too.',
  })
  known('one')
  expect(await failure({topic: 'orders'})).toMatchObject({
    message: expect.stringContaining('cluster "one"'),
    suggestions: expect.arrayContaining(['kx heal --name one']),
  })
})

test('a group without a broker that answers: the message says what nobody told', async () => {
  known('one')
  const error = await partitionFor({group: 'billing'}, {broker: 1}).catch((caught: unknown) => caught)
  expect(error).toMatchObject({
    code: 'KX_NO_ANSWER',
    message: expect.stringContaining('says how many partitions __consumer_offsets has: broker 1 is killed'),
    suggestions: ['kx heal --name one', '--topic __consumer_offsets --partition 0 --broker 1 reads files all the same'],
  })
})

test('with several clusters one is to be named', async () => {
  known('one')
  known('two')
  expect(await failure({topic: 'orders'})).toMatchObject({
    code: 'KX_SEVERAL_CLUSTERS',
    suggestions: ['--cluster one', '--cluster two'],
  })
})

test('a standing cluster is meant, not the one of an experiment that runs beside it', async () => {
  known('one')
  known('x-7f3a', {ephemeral: true})
  expect(await failure({topic: 'orders'})).toMatchObject({code: 'KX_NO_ANSWER'})
})

test('where no broker answers, nobody says who leads: the replica is to be named', async () => {
  known('one')
  const error = await failure({topic: 'orders'})
  expect(error).toMatchObject({code: 'KX_NO_ANSWER', kind: 'environment'})
  expect(String(error)).toContain('broker 1 is killed')
  expect((error as {suggestions: string[]}).suggestions).toContain(
    'Name the replica whose files are wanted: --broker 1',
  )
  expect(await failure({topic: 'orders', broker: 1})).toMatchObject({code: 'KX_NO_REPLICA'})
  expect(await failure({topic: 'orders', broker: 4})).toMatchObject({code: 'KX_NO_REPLICA'})
})
