import {cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterEach, describe, expect, test} from 'vitest'
import type {ReplicaRecords, Writes} from '../../../src/history/operation.js'
import {experimentNames} from '../../../src/lab/experiments.js'
import {rejudge} from '../../../src/lab/results.js'
import type {StoredTrial} from '../../../src/lab/store.js'

// The stored reference run of every experiment is judged again, and so are copies of it in which one thing was changed:
// each must come out as refuted or inconclusive, for the reason that was put in.

const reference = fileURLToPath(new URL('../../../results/reference', import.meta.url))
const copies: string[] = []
afterEach(() => {
  for (const copy of copies.splice(0)) rmSync(copy, {recursive: true, force: true})
})

/** What the methods of the experiments on faults return, as far as the doctor's knife goes. */
interface Observation {
  readonly [name: string]: unknown
  acks1: Writes
  acksAll: Writes
  baseline: Record<string, Writes>
  found: Record<string, {value: string; offset: number; leaderEpoch: number}[]>
  survivors: {logEndOffset: number}[]
  dead: ReplicaRecords[]
  replicas: ReplicaRecords[]
  timeline: {
    kind: string
    topic?: string
    inSyncReplicas?: number[]
    leader?: number
    leaderEpoch?: number
    batch: number
    wallMs: number
    atMs: number
  }[]
  blow: {startMs: number; provenMs: number; wallMs: number}
  writes: Writes
  refused: Writes
  alone: Writes
  wire: Writes
  reading: {watermarks: [number, number, number][]}
}
type Doctored = Omit<StoredTrial, 'observation'> & {observation: Observation}

async function judged(
  experiment: string,
  change: (trials: Doctored[]) => Doctored[] | undefined,
  files: Readonly<Record<string, (text: string) => string>> = {},
) {
  const copy = mkdtempSync(join(tmpdir(), 'kx-doctored-'))
  copies.push(copy)
  cpSync(join(reference, experiment), join(copy, experiment), {recursive: true})
  const id = readFileSync(join(copy, experiment, 'latest'), 'utf8').trim()
  const path = join(copy, experiment, id, 'trials.jsonl')
  const trials = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Doctored)
  const changed = change(trials) ?? trials
  writeFileSync(path, changed.map(trial => `${JSON.stringify(trial)}\n`).join(''))
  for (const [name, rewrite] of Object.entries(files)) {
    const file = join(copy, experiment, id, name)
    writeFileSync(file, rewrite(existsSync(file) ? readFileSync(file, 'utf8') : ''))
  }
  const {input} = await rejudge(copy, experiment)
  const {verdict, trials: rows, example} = input.run
  return {
    outcome: verdict.outcome,
    verdict,
    rows,
    example,
    claim: (part: string) => verdict.claims.find(({claim}) => claim.includes(part)),
  }
}

/** The observation of the first trial under a condition. */
function under(trials: Doctored[], condition: string): Observation {
  const trial = trials.find(each => each.condition === condition)
  if (!trial) throw new Error(`the reference run has no trial under ${condition}`)
  return trial.observation
}

const asIs = () => undefined
const without = <T extends {value: string}>(items: T[], value: string | undefined) =>
  items.filter(item => item.value !== value)
const shorn = (replicas: ReplicaRecords[], writes: Writes): ReplicaRecords[] => {
  const values = new Set([...writes.ok, ...writes.info, ...writes.fail].map(({value}) => value))
  return replicas.map(replica => ({...replica, records: replica.records.filter(({value}) => !values.has(value))}))
}
const okFromInfo = (writes: Writes): Writes => ({
  ...writes,
  ok: [...writes.ok, ...writes.info.slice(0, 1)],
  info: writes.info.slice(1),
})

test('there is a reference run of every experiment', () => {
  expect(
    readdirSync(reference)
      .filter(name => existsSync(join(reference, name, 'latest')))
      .sort(),
  ).toEqual(experimentNames())
})

describe.each(experimentNames())('%s as it was stored', name => {
  test('is upheld again', async () => {
    const {outcome, verdict, rows} = await judged(name, asIs)
    expect(verdict.claims.filter(claim => claim.outcome !== 'upheld')).toEqual([])
    expect(rows.filter(row => row.outcome !== 'ok' && row.outcome !== 'inconclusive')).toEqual([])
    expect(outcome).toBe('upheld')
  })

  test('is inconclusive with no trials, and without its control', async () => {
    expect((await judged(name, () => [])).outcome).toBe('inconclusive')
    const control = {
      'data-loss': 'healed',
      failover: 'no-fault',
      'min-insync-replicas': 'all-alive',
      'natural-loss': 'not-killed',
      segments: 'damaged',
    }[name]
    expect(control).toBeTypeOf('string')
    const {outcome, verdict} = await judged(name, trials => trials.filter(({condition}) => condition !== control))
    expect(outcome).toBe('inconclusive')
    expect(verdict.claims.find(({quantifier}) => quantifier === 'control')?.outcome).toBe('inconclusive')
  })

  test('is inconclusive with too few trials that count', async () => {
    const {outcome} = await judged(name, trials => trials.slice(1))
    expect(outcome).toBe('inconclusive')
  })

  test('does not change with the order of its trials', async () => {
    const [a, b] = [await judged(name, asIs), await judged(name, trials => [...trials].reverse())]
    expect(b.verdict).toEqual(a.verdict)
  })
})

describe('data-loss is refuted', () => {
  test('by a baseline value that the final read lacks', async () => {
    const {outcome, claim} = await judged('data-loss', trials => {
      const trial = under(trials, 'leader-killed')
      trial.found.acks1 = without(trial.found.acks1 ?? [], trial.baseline.acks1?.ok[3]?.value)
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('of the baseline is lost')?.outcome).toBe('refuted')
  })

  test('by an acks=all value that only the leader had and that was acknowledged', async () => {
    const {outcome, claim} = await judged('data-loss', trials => {
      const trial = under(trials, 'leader-killed')
      trial.acksAll = okFromInfo(trial.acksAll)
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('acknowledges nothing that only the leader has')?.outcome).toBe('refuted')
  })

  test('by a value of the control that is lost', async () => {
    const {outcome, claim} = await judged('data-loss', trials => {
      const trial = under(trials, 'healed')
      const {value} = trial.acks1.ok[7]!
      trial.found.acks1 = without(trial.found.acks1 ?? [], value)
      trial.replicas = trial.replicas.map(replica => ({...replica, records: without([...replica.records], value)}))
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('the cut alone')?.outcome).toBe('refuted')
  })

  test('by a lost value that was not in the dead leader’s file', async () => {
    const {outcome, claim} = await judged('data-loss', trials => {
      const trial = under(trials, 'leader-killed')
      trial.dead = trial.dead.map(replica => ({
        ...replica,
        records: without([...replica.records], trial.acks1.ok[0]?.value),
      }))
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('exactly what only the dead leader had')?.outcome).toBe('refuted')
  })

  test('by a replica whose file holds another record than the reader got', async () => {
    const {outcome, claim} = await judged('data-loss', trials => {
      const trial = under(trials, 'leader-killed')
      const [first, ...rest] = trial.replicas
      const [record, ...records] = first!.records
      trial.replicas = [{...first!, records: [{...record!, value: 'another'}, ...records]}, ...rest]
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('what every replica’s files hold')?.outcome).toBe('refuted')
  })
})

describe('data-loss is inconclusive', () => {
  test.each<[string, string, (trial: Observation) => void]>([
    [
      'if a follower’s end moved',
      'the followers had the baseline and no more',
      trial => {
        trial.survivors[1]!.logEndOffset++
      },
    ],
    [
      'if a follower was not asked',
      'the followers had the baseline and no more',
      trial => {
        trial.survivors.pop()
      },
    ],
    [
      'if the ISR changed before the fence',
      'the ISR was complete until the fence',
      trial => {
        const first = trial.timeline.findIndex(event => event.kind === 'partition' && event.topic === 'acks1')
        const event = trial.timeline[first]!
        trial.timeline.splice(first + 1, 0, {
          ...event,
          inSyncReplicas: [1, 2],
          batch: event.batch + 1,
          wallMs: event.wallMs + 1,
          atMs: event.atMs + 1,
        })
      },
    ],
    [
      'if a segment file had a false CRC',
      'every segment file could be read whole',
      trial => {
        trial.dead = trial.dead.map(replica => ({...replica, intact: false}))
      },
    ],
    [
      'if the baseline was not acknowledged whole',
      'the baseline was acknowledged',
      trial => {
        trial.baseline.acksAll = {...trial.baseline.acksAll!, ok: trial.baseline.acksAll!.ok.slice(1)}
      },
    ],
    [
      'if the timeline is missing',
      'the ISR was complete until the fence',
      trial => {
        trial.timeline = []
      },
    ],
  ])('%s', async (_, reason, change) => {
    const {outcome, rows} = await judged('data-loss', trials => {
      change(under(trials, 'leader-killed'))
      return undefined
    })
    expect(outcome).toBe('inconclusive')
    expect(rows.filter(row => row.condition === 'leader-killed').some(row => row.reason?.startsWith(reason))).toBe(true)
  })

  test('if the dead leader’s file has no acks=all records: then acks=all was not put to the test', async () => {
    const {outcome, claim} = await judged('data-loss', trials => {
      const trial = under(trials, 'leader-killed')
      trial.dead = shorn(trial.dead, trial.acksAll)
      return undefined
    })
    expect(outcome).toBe('inconclusive')
    expect(claim('acknowledges nothing that only the leader has')).toMatchObject({outcome: 'inconclusive', telling: 0})
  })

  test('if no segment file of the dead leader was kept', async () => {
    const {outcome} = await judged('data-loss', trials => {
      under(trials, 'leader-killed').dead = []
      return undefined
    })
    expect(outcome).toBe('inconclusive')
  })
})

describe('a full run', () => {
  const full = {'plan.json': (text: string) => JSON.stringify({...JSON.parse(text), quick: false})}
  const witness = (agrees: boolean) => ({'witness.json': () => JSON.stringify({agrees, text: 'what the tool said'})})

  test('is upheld when Kafka’s own dump tool agreed', async () => {
    expect((await judged('data-loss', asIs, {...full, ...witness(true)})).outcome).toBe('upheld')
  })

  test('is inconclusive when the tool read something else, or was never asked', async () => {
    expect((await judged('data-loss', asIs, {...full, ...witness(false)})).verdict).toMatchObject({
      outcome: 'inconclusive',
      because: 'what the tool said',
    })
    expect((await judged('data-loss', asIs, full)).outcome).toBe('inconclusive')
  })

  test('whose trials are damaged in the middle is not judged at all', async () => {
    const damage = {'trials.jsonl': (text: string) => `{"torn": ${text}`}
    await expect(judged('data-loss', asIs, damage)).rejects.toMatchObject({code: 'KX_RUN_DAMAGED', exit: 5})
  })
})

describe('failover is refuted', () => {
  test('by an acknowledged value that the final read lacks', async () => {
    const {outcome, claim} = await judged('failover', trials => {
      const trial = under(trials, 'sigkill')
      trial.found.orders = without(trial.found.orders ?? [], trial.writes.ok[20]?.value)
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('no acknowledged record is lost')?.outcome).toBe('refuted')
  })

  test('by an acknowledgement between the follower’s death and its fence', async () => {
    const {outcome, claim} = await judged('failover', trials => {
      const trial = under(trials, 'follower-killed')
      const {provenMs} = trial.blow
      const [first, ...rest] = trial.writes.ok
      trial.writes = {...trial.writes, ok: [{...first!, startMs: provenMs + 500, endMs: provenMs + 600}, ...rest]}
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('stalls acks=all until its fence')?.outcome).toBe('refuted')
  })

  test('by a reader that was ahead of the high watermark', async () => {
    const {outcome, claim} = await judged('failover', trials => {
      under(trials, 'no-fault').reading.watermarks.push([1, 5, 5])
      return undefined
    })
    expect(outcome).toBe('refuted')
    expect(claim('high watermark')?.outcome).toBe('refuted')
  })

  test('by a value that is in the log twice', async () => {
    const {claim} = await judged('failover', trials => {
      const found = under(trials, 'sigterm').found.orders!
      found.push({...found[0]!, offset: found.length + 5})
      return undefined
    })
    expect(claim('twice or from nowhere')?.outcome).toBe('refuted')
  })
})

describe('failover is inconclusive', () => {
  test('if the ISR was not complete before the blow', async () => {
    const {outcome} = await judged('failover', trials => {
      const trial = under(trials, 'sigkill')
      const first = trial.timeline.find(event => event.kind === 'partition')!
      first.inSyncReplicas = [1, 2]
      return undefined
    })
    expect(outcome).toBe('inconclusive')
  })
})

describe('min-insync-replicas is refuted', () => {
  test('by a refused value that the leader had appended all the same', async () => {
    const {claim} = await judged('min-insync-replicas', trials => {
      const trial = under(trials, 'followers-killed')
      const {value} = trial.refused.fail[0]!
      trial.dead = trial.dead.map(replica =>
        replica.topic === trial.refused.topic
          ? {...replica, records: [...replica.records, {value, offset: 999, leaderEpoch: 0}]}
          : replica,
      )
      return undefined
    })
    expect(claim('appends nothing')?.outcome).toBe('refuted')
  })

  test('by an acks=all value that min ISR 2 acknowledged', async () => {
    const {outcome} = await judged('min-insync-replicas', trials => {
      const trial = under(trials, 'followers-killed')
      trial.refused = {...trial.refused, ok: trial.refused.fail.slice(0, 1), fail: trial.refused.fail.slice(1)}
      return undefined
    })
    expect(outcome).toBe('refuted')
  })
})

describe('natural-loss is refuted', () => {
  test('by an acks=all value that is lost', async () => {
    const {outcome} = await judged('natural-loss', trials => {
      const trial = under(trials, 'killed-at-random')
      trial.found.acksAll = without(trial.found.acksAll ?? [], trial.acksAll.ok[2]?.value)
      return undefined
    })
    expect(outcome).toBe('refuted')
  })

  test('but not by an acks=1 value: how much of those is lost is a finding', async () => {
    const {outcome} = await judged('natural-loss', trials => {
      const trial = under(trials, 'killed-at-random')
      const value = trial.wire.ok[0]?.value
      trial.found.wire = without(trial.found.wire ?? [], value)
      trial.replicas = trial.replicas.map(replica => ({...replica, records: without([...replica.records], value)}))
      return undefined
    })
    expect(outcome).toBe('upheld')
  })
})

/** What the method of `segments` returns, as far as the knife goes. */
interface Files {
  told: Record<
    string,
    {codec: string; records: {value: string; offset: number | null; outcome: string; producerId: number}[]}[]
  >
  compression: Record<string, string>
  replicas: Record<string, Replica[]>
  damaged: {batch: number; kx: Reading; kafka: Reading}[]
}
interface Replica {
  highWatermark: number
  logEndOffset: number
  sha256: string
  files: string[]
  segments: {kx: Reading; kafka: Reading}[]
}
interface Reading {
  batches: Batch[]
}
interface Batch {
  isValid: boolean
  isControl: boolean
  codec: string
  crc: number
  producerId: number
  producerEpoch: number
  baseSequence: number
  count: number
  records: {value: string | null; marker?: string}[]
}

const files = (trials: Doctored[], condition: string) => under(trials, condition) as unknown as Files
/** Both readings of all replicas of a topic, so that only what was told contradicts. */
const everywhere = (trial: Files, topic: string, change: (batch: Batch, index: number) => void) => {
  for (const {segments} of trial.replicas[topic]!)
    for (const {kx, kafka} of segments) for (const {batches} of [kx, kafka]) batches.forEach(change)
}

describe('segments is refuted', () => {
  test.each<[string, string, string, (trial: Files) => void]>([
    [
      'by a CRC that Kafka’s tool reads otherwise on one replica',
      'kafkajs',
      'kafkajs: kx and kafka-dump-log read the same',
      trial => void trial.replicas.asSent![2]!.segments[0]!.kafka.batches[4]!.crc++,
    ],
    [
      'by a record that only kx reads',
      'java',
      'Java: kx and kafka-dump-log read the same',
      trial => void trial.replicas.transactions![0]!.segments[0]!.kafka.batches[0]!.records.pop(),
    ],
    [
      'by an acknowledged value that is another in the files',
      'librdkafka',
      'librdkafka: the bytes are what it was told',
      trial =>
        everywhere(
          trial,
          'asSent',
          ({records}, index) => void (index === 2 && Object.assign(records[0]!, {value: 'x'})),
        ),
    ],
    [
      'by a record of which no client was told',
      'kafkajs',
      'kafkajs: the bytes are what it was told',
      trial => void trial.told.asSent![0]!.records.pop(),
    ],
    [
      'by another producer id than the client has',
      'java',
      'Java: the bytes are what it was told',
      trial =>
        everywhere(
          trial,
          'asSent',
          batch => void (batch.producerId >= 0 && Object.assign(batch, {producerId: 999_999})),
        ),
    ],
    [
      'by a sequence that is missing',
      'librdkafka',
      'librdkafka: the bytes are what it was told',
      trial => everywhere(trial, 'asSent', batch => void (batch.baseSequence > 0 && batch.baseSequence++)),
    ],
    [
      'by a batch of two records without the codec that was set',
      'librdkafka',
      'librdkafka: the bytes are what it was told',
      trial =>
        everywhere(trial, 'asSent', batch => void (batch.codec === 'gzip' && Object.assign(batch, {codec: 'none'}))),
    ],
    [
      'by a marker that says the opposite',
      'kafkajs',
      'kafkajs: the bytes are what it was told',
      trial =>
        everywhere(trial, 'transactions', ({isControl, records}, index) => {
          if (isControl && index === 1) records[0]!.marker = 'ABORT, coordinator epoch 0'
        }),
    ],
    [
      'by a batch that kept the producer’s codec where the topic has its own',
      'java',
      'compression.type wins',
      trial =>
        everywhere(
          trial,
          'recompressed',
          (batch, index) => void (index === 0 && Object.assign(batch, {codec: 'gzip'})),
        ),
    ],
    [
      'by a replica with other bytes',
      'kafkajs',
      'every replica holds the same bytes',
      trial => Object.assign(trial.replicas.asSent![1]!, {sha256: '00'}),
    ],
    [
      'by a segment without its time index',
      'librdkafka',
      'has its indexes beside it',
      trial => {
        const [replica] = trial.replicas.asSent!
        replica!.files = replica!.files.filter(name => !name.endsWith('.timeindex'))
      },
    ],
    [
      'by a flipped bit that Kafka’s tool does not see',
      'damaged',
      'one flipped bit',
      trial => {
        const [copy] = trial.damaged
        copy!.kafka.batches[copy!.batch]!.isValid = true
      },
    ],
    [
      'by a flipped bit for which another batch is blamed',
      'damaged',
      'one flipped bit',
      trial => {
        const [copy] = trial.damaged
        for (const {batches} of [copy!.kx, copy!.kafka])
          for (const [index, batch] of batches.entries()) batch.isValid = index !== 1
      },
    ],
  ])('%s', async (_, condition, part, change) => {
    const {outcome, claim, verdict} = await judged('segments', trials => void change(files(trials, condition)))
    expect(claim(part)?.outcome).toBe('refuted')
    expect(verdict.claims.filter(each => each.outcome === 'refuted').length).toBeLessThanOrEqual(2)
    expect(outcome).toBe('refuted')
  })
})

describe('segments is inconclusive', () => {
  test.each<[string, string, (trial: Files) => void]>([
    [
      'if a replica was behind when it was read',
      'all three replicas had everything when they were read',
      trial => void trial.replicas.asSent![1]!.logEndOffset--,
    ],
    [
      'if a replica was not read',
      'all three replicas had everything when they were read',
      trial => void trial.replicas.recompressed!.pop(),
    ],
    [
      'if a record was not acknowledged',
      'every record was acknowledged',
      trial => Object.assign(trial.told.asSent![1]!.records[0]!, {outcome: 'failed'}),
    ],
    [
      'if no transaction was aborted',
      'transactions were committed and aborted',
      trial =>
        everywhere(trial, 'transactions', ({isControl, records}) => {
          if (isControl) records[0]!.marker = 'COMMIT, coordinator epoch 0'
        }),
    ],
    [
      'if the topic does not have its own compression',
      'the topics have the compression that they were made with',
      trial => Object.assign(trial.compression, {recompressed: 'producer'}),
    ],
  ])('%s', async (_, reason, change) => {
    const {outcome, rows} = await judged('segments', trials => void change(files(trials, 'kafkajs')))
    expect(outcome).toBe('inconclusive')
    expect(rows.find(row => row.condition === 'kafkajs')?.reason).toBe(reason)
  })

  test('if a codec never came to the log, whatever both read', async () => {
    const {claim} = await judged('segments', trials => {
      const trial = files(trials, 'kafkajs')
      everywhere(trial, 'asSent', batch => void (batch.codec === 'lz4' && Object.assign(batch, {codec: 'zstd'})))
    })
    expect(claim('kafkajs: kx and kafka-dump-log')).toMatchObject({outcome: 'inconclusive', telling: 0})
  })

  test('if no copy was damaged', async () => {
    const {claim} = await judged('segments', trials => void files(trials, 'damaged').damaged.splice(0))
    expect(claim('one flipped bit')).toMatchObject({outcome: 'inconclusive', telling: 0})
  })
})

describe('segments without librdkafka', () => {
  const gone = (trials: Doctored[]) => trials.filter(({condition}) => condition !== 'librdkafka')
  const planned = (count: number) => ({
    'plan.json': (text: string) => {
      const plan = JSON.parse(text) as {planned: Record<string, number>}
      return JSON.stringify({...plan, planned: {...plan.planned, librdkafka: count}})
    },
  })

  test('is upheld for the clients that were there, claims nothing of it, and says so', async () => {
    const {outcome, verdict, example} = await judged('segments', gone, planned(0))
    expect(outcome).toBe('upheld')
    expect(verdict.claims.filter(({claim}) => claim.includes('librdkafka'))).toEqual([])
    expect(example).toContain('Not there, so nothing is said of it: librdkafka.')
  })

  test('is inconclusive if it was planned', async () => {
    expect((await judged('segments', gone, planned(1))).outcome).toBe('inconclusive')
  })
})
