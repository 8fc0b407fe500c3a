import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {down, status, up} from '../../src/cluster/lifecycle.js'
import {settlesWithinMs} from '../../src/cluster/ready.js'
import type {RuntimeName} from '../../src/cluster/spec.js'
import type {RunRecord} from '../../src/experiment/run.js'
import {experimentNames} from '../../src/lab/experiments.js'
import {rejudge} from '../../src/lab/results.js'
import {runExperiment} from '../../src/lab/run.js'

// Every experiment on real brokers. With the fast profile all of them on one standing cluster, one after another, as a
// person would; with Kafka's own time-outs the two that `kx ci` runs; the same two and `segments` on containers; and the oldest Kafka.

const before = process.env.XDG_STATE_HOME
let home: string
const signal = new AbortController().signal
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kx-experiments-'))
  process.env.XDG_STATE_HOME = join(home, 'state')
})
afterAll(() => {
  rmSync(home, {recursive: true, force: true, maxRetries: 10, retryDelay: 100})
  if (before === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = before
})

interface Rig {
  readonly runtime: RuntimeName
  readonly profile: 'default' | 'fast'
  readonly kafkaVersion?: string
}

/** Runs it on the standing cluster and demands that it did run there. */
async function run(experiment: string, {runtime, profile}: Rig): Promise<RunRecord> {
  const said: string[] = []
  const {run: record} = await runExperiment(experiment, {
    cluster: {name: 'rig', runtime, profile, fresh: false, keep: false, config: {}, timeoutMs: 120_000},
    knobs: {},
    quick: true,
    seed: 1,
    resultsDir: join(home, 'results'),
    signal,
    watch: ({text}) => void said.push(text),
  })
  expect(said).toContain('running on cluster rig')
  return record
}

/** Upheld, by every claim; told with the trials if not, so that a failure explains itself. */
function expectUpheld(record: RunRecord): void {
  const odd = {
    claims: record.verdict.claims.filter(({outcome}) => outcome !== 'upheld'),
    trials: record.trials.filter(({outcome}) => outcome !== 'ok'),
  }
  expect({outcome: record.verdict.outcome, because: record.verdict.because, ...odd}).toMatchObject({
    outcome: 'upheld',
    claims: [],
  })
}

function measured(
  record: RunRecord,
  condition: string,
  measure: string,
): {median: number | null; min: number | null; max: number | null} {
  const row = record.measures.find(each => each.condition === condition && each.measure === measure)
  if (!row) throw new Error(`no ${measure} under ${condition}`)
  return row
}

/** Where everything is installed nothing may be left out: then `segments` says something of every client. */
function clientsWereThere(name: string, record: RunRecord): void {
  if (name !== 'segments') return
  const leftOut = record.conditions.filter(({planned}) => planned === 0).map(({id}) => id)
  if (process.env.CI) expect(leftOut).toEqual([])
  for (const {id} of record.conditions.filter(({planned}) => planned > 0)) {
    expect(measured(record, id, 'batches').min).toBeGreaterThan(15)
    expect(measured(record, id, 'differences')).toMatchObject({min: 0, max: 0})
  }
  expect(measured(record, 'damaged', 'copies').min).toBeGreaterThan(15)
  expect(measured(record, 'damaged', 'missed')).toMatchObject({min: 0, max: 0})
}

function onOneCluster(
  title: string,
  rig: Rig,
  experiments: () => readonly string[],
  more?: (name: string, record: RunRecord) => void,
): void {
  describe(title, () => {
    beforeAll(async () => {
      await up({
        name: 'rig',
        runtime: rig.runtime,
        asked: {controllers: 1, profile: rig.profile, kafkaVersion: rig.kafkaVersion ?? '4.4.0'},
        timeoutMs: 120_000,
        signal,
        progress: () => undefined,
      })
    })
    afterAll(async () => {
      await down('rig', {wipe: true, signal, progress: () => undefined})
    })

    test.each(experiments())('%s is upheld, and leaves the cluster as it was', async name => {
      const record = await run(name, rig)
      expectUpheld(record)
      more?.(name, record)
      const {ready, nodes} = await status('rig', settlesWithinMs)
      expect({ready, states: nodes.map(({state}) => state)}).toEqual({ready: true, states: nodes.map(() => 'running')})
      // Judged again from what was stored: the same verdict, word for word.
      const again = await rejudge(join(home, 'results'), `${name}/${record.id}`)
      expect(again.input.run.verdict).toEqual(record.verdict)
      expect(again.changed).toEqual([])
    })
  })
}

onOneCluster(
  'all experiments on one local cluster, fast profile',
  {runtime: 'local', profile: 'fast'},
  experimentNames,
  clientsWereThere,
)

onOneCluster(
  'with Kafka’s own time-outs',
  {runtime: 'local', profile: 'default'},
  () => ['data-loss', 'failover'],
  (name, record) => {
    if (name === 'data-loss') {
      // All that the dead leader alone had acknowledged is gone, to the last record; and acks=all acknowledged none of it.
      const {min = 0, max = 0} = measured(record, 'leader-killed', 'ackedAcks1')
      expect(min).toBeGreaterThan(0)
      expect(measured(record, 'leader-killed', 'lostAcks1')).toMatchObject({min, max})
      expect(measured(record, 'leader-killed', 'ackedAcksAll')).toMatchObject({min: 0, max: 0})
      expect(measured(record, 'leader-killed', 'onlyOnOldLeaderAcksAll').min).toBeGreaterThan(0)
      expect(measured(record, 'healed', 'lostAcks1')).toMatchObject({min: 0, max: 0})
    } else {
      expect(measured(record, 'sigkill', 'leaderEpochSteps')).toMatchObject({min: 1, max: 1})
      expect(measured(record, 'sigkill', 'isrAfterFault')).toMatchObject({min: 2, max: 2})
      // The session is 9 s and a heartbeat is 0 to 2 s old, older where a busy machine delays it: no broken connection.
      expect(measured(record, 'sigkill', 'fencedMs').min).toBeGreaterThan(4_500)
    }
  },
)

onOneCluster(
  'on containers',
  {runtime: 'docker', profile: 'default'},
  () => ['data-loss', 'failover', 'segments'],
  clientsWereThere,
)

onOneCluster(
  'on Kafka 4.0, which has no eligible leader replicas',
  {runtime: 'local', profile: 'fast', kafkaVersion: '4.0.2'},
  () => ['data-loss', 'min-insync-replicas'],
)

// `npm run test:full`: the Kafka lines between, and everything on containers.
if (process.env.KX_TEST_FULL) {
  for (const kafkaVersion of ['4.1.2', '4.2.2', '4.3.1']) {
    onOneCluster(`on Kafka ${kafkaVersion}`, {runtime: 'local', profile: 'fast', kafkaVersion}, experimentNames)
  }
  onOneCluster('all experiments on containers', {runtime: 'docker', profile: 'default'}, experimentNames)
}
