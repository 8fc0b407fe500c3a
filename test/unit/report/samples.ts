import type {Figure} from '../../../src/experiment/figures.js'
import type {MeasureRecord, ReportInput, RunRecord, TrialRecord} from '../../../src/experiment/run.js'
import {summary} from '../../../src/util/statistics.js'

/** What a real run on a 2-core machine looked like (spec of the screens): three blows with a kill, three without. */
export function dataLoss(change: Partial<RunRecord> = {}): ReportInput {
  const columns = [
    column('ackedAcks1', 'acked with acks=1', 'acked acks=1', 'records'),
    column('lostAcks1', 'of these lost', 'lost', 'records'),
    column('ackedAcksAll', 'acked with acks=all', 'acked acks=all', 'records'),
    column('lostAcksAll', 'of these lost', 'lost', 'records'),
    column('newLeaderMs', 'new leader after', 'new leader', 'ms'),
    column(
      'onlyOnOldLeaderAcksAll',
      'acks=all records that only the dead leader has',
      'only on old leader',
      'records',
      true,
    ),
  ]
  const killed = (number: number, newLeaderMs: number) =>
    trial(number, 'leader-killed', {
      ackedAcks1: 500,
      lostAcks1: 500,
      ackedAcksAll: 0,
      lostAcksAll: 0,
      newLeaderMs,
      onlyOnOldLeaderAcksAll: 20,
    })
  const healed = (number: number) =>
    trial(number, 'healed', {
      ackedAcks1: 500,
      lostAcks1: 0,
      ackedAcksAll: 0,
      lostAcksAll: 0,
      newLeaderMs: null,
      onlyOnOldLeaderAcksAll: null,
    })
  const trials = [killed(1, 8_560), healed(2), killed(3, 8_610), healed(4), healed(5), killed(6, 8_640)]
  const conditions = [
    {id: 'leader-killed', label: 'leader killed', planned: 3},
    {id: 'healed', label: 'healed instead (control)', planned: 3},
  ]
  const run: RunRecord = {
    ...base('data-loss', '7f3a'),
    question: 'Does an acknowledged record survive the death of the leader that acknowledged it?',
    hypothesis:
      'With acks=1 it may not: the leader answers alone, and can die before a follower has fetched. With acks=all it does: what only the leader has is never acknowledged.',
    doesNotShow: 'What a power cut does: the page cache survives a killed process.',
    shows: ['R4', 'R5', 'R8'],
    durationMs: 112_000,
    knobs: {records: 500, unacked: 20},
    conditions,
    columns,
    trials,
    measures: measures(columns, conditions, trials),
    verdict: {
      outcome: 'upheld',
      claims: [
        {
          claim: 'acks=1 loses acknowledged records',
          quantifier: 'sometimes',
          outcome: 'upheld',
          because: 'in 3 of 3 trials',
          telling: 3,
        },
        {
          claim: 'what was lost is exactly what only the dead leader had',
          quantifier: 'always',
          outcome: 'upheld',
          because: 'in 3 of 3 trials',
          telling: 3,
        },
        {
          claim: 'acks=all acknowledges nothing that only the leader has',
          quantifier: 'always',
          outcome: 'upheld',
          because: 'in 3 of 3 trials',
          telling: 3,
        },
        {
          claim: 'no acknowledged record of the baseline is lost',
          quantifier: 'always',
          outcome: 'upheld',
          because: 'in 6 of 6 trials',
          telling: 6,
        },
        {
          claim: 'the cut alone loses nothing',
          quantifier: 'control',
          outcome: 'upheld',
          because: 'in 3 of 3 trials',
          telling: 3,
        },
      ],
    },
    example:
      "lost, for example: kx-data-loss-7f3a-2-acks1-0 offset 101 (leader epoch 0): only in the dead leader's file (broker 1); brokers 2 and 3 have another record there, of epoch 1.",
    ...change,
  }
  const evidence = [1, 2, 3].flatMap(node =>
    ['acks1-0', 'acksAll-0'].map((partition, index) => ({
      path: `evidence/trial-1/broker-${node}/kx-data-loss-7f3a-1-${partition}/00000000000000000000.log`,
      sizeInBytes: 41_230 + node * 17 + index,
      sha256: `${node}${index}`.padEnd(64, '9c0ffee'),
    })),
  )
  return {run, figures: [blocksFigure, tableFigure, lanesFigure], evidence, faults: faults()}
}

/** The same run, had a baseline record been missing in trial 4. */
export function refuted(): ReportInput {
  const input = dataLoss()
  const claims = input.run.verdict.claims.map((claim, index) =>
    index === 3 ? {...claim, outcome: 'refuted' as const, because: 'not in trial 4'} : claim,
  )
  return {...input, run: {...input.run, verdict: {outcome: 'refuted', claims}}}
}

/** Two of three blows could not tell, and a third broke. */
export function inconclusive(): ReportInput {
  const input = dataLoss()
  const spoilt = {
    1: {outcome: 'inconclusive' as const, reason: 'the followers had the baseline and no more'},
    3: {
      outcome: 'failed' as const,
      reason: 'Waited 30 s for a new leader of every topic, in vain. Broker 2 says: leader -1.\n  at line 2',
    },
  }
  const trials = input.run.trials.map(trial => ({...trial, ...spoilt[trial.number as 1 | 3]}))
  const claims = input.run.verdict.claims.map((claim, index) =>
    index < 3
      ? {...claim, outcome: 'inconclusive' as const, because: 'only 1 of 3 planned trials could tell', telling: 1}
      : claim,
  )
  const {columns, conditions} = input.run
  const run = {
    ...input.run,
    trials,
    measures: measures(columns, conditions, trials),
    verdict: {outcome: 'inconclusive' as const, claims},
  }
  return {...input, run}
}

/** Ctrl-C after the second trial. */
export function interrupted(): ReportInput {
  const input = dataLoss()
  const trials = input.run.trials.slice(0, 2)
  const {columns, conditions} = input.run
  const {example, ...rest} = input.run
  const verdict = {outcome: 'inconclusive' as const, because: 'the run was interrupted', claims: []}
  return {
    figures: [],
    evidence: [],
    faults: input.faults.filter(({trial: number}) => number === 1),
    run: {
      ...rest,
      state: 'interrupted',
      durationMs: 41_300,
      trials,
      measures: measures(columns, conditions, trials),
      verdict,
    },
  }
}

/** A longer input with every kind of figure. */
export function failover(change: Partial<RunRecord> = {}): ReportInput {
  const columns = [
    column('fencedMs', 'fenced after', 'fenced', 'ms'),
    column('newLeaderMs', 'new leader after', 'new leader', 'ms'),
    column('noAckMs', 'no acknowledgement for', 'no ack for', 'ms'),
    column('isrBefore', 'ISR before', 'ISR before', 'replicas', true),
    column('isrAfterFault', 'ISR after the fault', 'ISR after', 'replicas'),
    column('acked', 'acknowledged', 'acked', 'records'),
    column('lost', 'of these lost', 'lost', 'records'),
    column('ratePerS', 'acknowledged per second', 'rate', 'records/s'),
  ]
  const conditions = ['sigkill', 'sigterm', 'follower-killed', 'no-fault'].map(id => ({
    id,
    label:
      {
        sigkill: 'leader killed (SIGKILL)',
        sigterm: 'leader stopped (SIGTERM)',
        'follower-killed': 'a follower killed',
        'no-fault': 'no fault (control)',
      }[id] ?? id,
    planned: 3,
  }))
  const trials = conditions.flatMap(({id}, c) =>
    [0, 1, 2].map(n => {
      const fault = id !== 'no-fault'
      return trial(c * 3 + n + 1, id, {
        fencedMs: fault ? [8_700, 2_100, 8_900][c]! + n * 190 : null,
        newLeaderMs: id === 'sigkill' ? 8_760 + n * 200 : id === 'sigterm' ? 38 + n * 3 : null,
        noAckMs: [8_900, 160, 8_950, 40][c]! + n * 111,
        isrBefore: 3,
        isrAfterFault: fault ? 2 : 3,
        acked: 4_210 + c * 1_031 + n * 77,
        lost: 0,
        ratePerS: 231.4 + c * 12 + n,
      })
    }),
  )
  const run: RunRecord = {
    ...base('failover', 'b21c'),
    question:
      'How long is a partition without a leader when its leader dies, and does anything that was acknowledged get lost?',
    hypothesis:
      'A killed leader is replaced when its session lapses (9 s by default), a stopped one at once; the new leader comes from the old ISR and nothing acknowledged with acks=all is lost.',
    doesNotShow: 'How long a client of another kind needs to find the new leader.',
    shows: ['R2', 'R8'],
    durationMs: 231_400,
    knobs: {connections: 10},
    conditions,
    columns,
    trials,
    measures: measures(columns, conditions, trials),
    verdict: {
      outcome: 'upheld',
      claims: [
        {
          claim: 'the new leader comes from the old ISR',
          quantifier: 'always',
          outcome: 'upheld',
          because: 'in 6 of 6 trials',
          telling: 6,
        },
        {
          claim: 'the leader epoch grows by one',
          quantifier: 'always',
          outcome: 'upheld',
          because: 'in 6 of 6 trials',
          telling: 6,
        },
        {
          claim: 'no acknowledged record is lost',
          quantifier: 'always',
          outcome: 'upheld',
          because: 'in 9 of 9 trials',
          telling: 9,
        },
        {
          claim: 'SIGKILL takes at least 5 times as long as SIGTERM',
          quantifier: 'ordered',
          outcome: 'upheld',
          because: 'in all of 3 pairs, median ratio 230',
          telling: 3,
        },
        {
          claim: 'without a fault nothing moves',
          quantifier: 'control',
          outcome: 'upheld',
          because: 'in 3 of 3 trials',
          telling: 3,
        },
      ],
    },
    ...change,
  }
  return {
    run,
    figures: [lanesFigure, linesFigure, barsFigure, blocksFigure, tableFigure],
    evidence: dataLoss().evidence,
    faults: faults(),
  }
}

const windows = [{fromMs: 4_000, toMs: 16_200, label: 'broker 1 killed'}]

export const lanesFigure: Figure = {
  kind: 'lanes',
  title: 'Who led, who was in the ISR (trial 1)',
  windows,
  lanes: [
    {
      name: 'leader',
      spans: [
        {fromMs: 0, toMs: 4_000, label: 'broker 1', tone: 'good'},
        {fromMs: 4_000, toMs: 12_760, label: 'none that answers', tone: 'bad'},
        {fromMs: 12_760, toMs: 20_000, label: 'broker 2, epoch 1', tone: 'good'},
      ],
      marks: [{atMs: 12_700, label: 'broker 1 fenced by the controller'}],
    },
    {
      name: 'in-sync replicas',
      spans: [
        {fromMs: 0, toMs: 12_700, label: '1, 2, 3', tone: 'good'},
        {fromMs: 12_700, toMs: 17_900, label: '2, 3', tone: 'warn'},
        {fromMs: 17_900, toMs: 20_000, label: '2, 3, 1', tone: 'good'},
      ],
    },
    {
      name: 'acks=all writer',
      spans: [
        {fromMs: 100, toMs: 4_010, label: 'acknowledged', tone: 'accent'},
        {fromMs: 4_010, toMs: 12_910, label: 'no acknowledgement', tone: 'bad'},
        {fromMs: 12_910, toMs: 20_000, label: 'acknowledged', tone: 'accent'},
      ],
      marks: [
        {atMs: 4_010, label: 'last acknowledgement of the old leader'},
        {atMs: 12_910, label: 'first acknowledgement of the new leader'},
      ],
    },
    {
      name: 'broker 1',
      spans: [
        {fromMs: 0, toMs: 4_000, label: 'runs', tone: 'neutral'},
        {fromMs: 16_200, toMs: 20_000, label: 'runs', tone: 'neutral'},
      ],
    },
  ],
}

export const linesFigure: Figure = {
  kind: 'lines',
  title: 'Acknowledged records per second (trial 1)',
  x: {label: 'time of the trial', unit: 'ms'},
  y: {label: 'acknowledged', unit: 'records/s'},
  windows,
  series: [
    {
      name: 'acks=all',
      points: Array.from(
        {length: 81},
        (_, i) => [i * 250, i > 16 && i < 52 ? 0 : 236 + 14 * Math.sin(i * 1.7) + (i % 7)] as const,
      ),
    },
    {
      name: 'acks=1',
      points: Array.from(
        {length: 81},
        (_, i) => [i * 250, i > 16 && i < 52 ? 0 : 411 + 31 * Math.cos(i * 1.3) - (i % 5)] as const,
      ),
    },
  ],
}

export const barsFigure: Figure = {
  kind: 'bars',
  title: 'Longest time without an acknowledgement',
  y: {label: 'no acknowledgement for', unit: 'ms'},
  bars: [
    {label: 'trial 1', group: 'SIGKILL', value: 8_900},
    {label: 'trial 2', group: 'SIGKILL', value: 9_011},
    {label: 'trial 3', group: 'SIGKILL', value: 9_122},
    {label: 'trial 1', group: 'SIGTERM', value: 160},
    {label: 'trial 2', group: 'SIGTERM', value: 271},
    {label: 'trial 3', group: 'SIGTERM', value: 382},
  ],
}

export const blocksFigure: Figure = {
  kind: 'blocks',
  title: 'The partition in three files, before the dead leader came back (trial 1)',
  unit: 'records',
  rows: [
    {
      name: 'broker 1 (dead)',
      blocks: [
        {size: 100, label: 'baseline', tone: 'good'},
        {size: 500, label: 'acknowledged with acks=1, epoch 0', tone: 'bad'},
      ],
    },
    ...[2, 3].map(node => ({
      name: `broker ${node}`,
      blocks: [
        {size: 100, label: 'baseline', tone: 'good' as const},
        {size: 100, label: 'epoch 1', tone: 'accent' as const},
      ],
    })),
  ],
}

/** The small kind: with a line that long rows fill, notes, short labels, headers and a legend. */
export const stripFigure: Figure = {
  kind: 'blocks',
  title: 'What a client left in the log',
  unit: 'bytes',
  line: 600,
  caption: 'In each block: its records and its bytes, of which the first 61, the header, are darker.',
  legend: [
    {tone: 'neutral', text: 'batch, not compressed'},
    {tone: 'accent', text: 'batch, compressed'},
    {tone: 'good', text: 'C: commit marker'},
  ],
  rows: [
    {
      name: 'none',
      note: '600 bytes, 2 batches',
      blocks: [
        {size: 400, label: '10', tone: 'neutral', head: 61, detail: '10 records, none: offsets 0–9'},
        {size: 200, label: '5', tone: 'neutral', head: 61},
      ],
    },
    {
      name: 'gzip → zstd by the broker',
      note: '161 bytes, 1 batch',
      blocks: [{size: 161, label: '15', tone: 'accent', head: 61}],
    },
    {
      name: 'gzip, transactional',
      blocks: Array.from({length: 24}, (_, index) =>
        index % 2 === 0
          ? {size: 81, label: 'one record', short: '1', tone: 'accent' as const, head: 61}
          : {size: 20, label: 'commit', short: 'C', tone: 'good' as const},
      ),
    },
  ],
}

export const tableFigure: Figure = {
  kind: 'table',
  title: 'Log end offsets before and after',
  columns: [
    {label: 'broker'},
    {label: 'before the kill', unit: 'offset', align: 'right'},
    {label: 'after', unit: 'offset', align: 'right'},
  ],
  rows: [
    ['1 (dead leader)', 600, 200],
    ['2', 100, 200],
    ['3', 100, null],
  ],
}

function faults(): ReportInput['faults'] {
  return [1, 3, 6].flatMap(number => [
    {
      trial: number,
      fault: 'pause',
      nodeId: 2,
      mechanism: 'SIGSTOP to pid 4712',
      evidence: 'all 83 threads in state T after 11 ms',
      startMs: 1_204,
    },
    {
      trial: number,
      fault: 'pause',
      nodeId: 3,
      mechanism: 'SIGSTOP to pid 4713',
      evidence: 'all 81 threads in state T after 7 ms',
      startMs: 1_218,
    },
    {
      trial: number,
      fault: 'kill',
      nodeId: 1,
      mechanism: 'SIGKILL to pid 4711',
      evidence: 'the process was gone after 14 ms',
      startMs: 4_001,
    },
    {
      trial: number,
      fault: 'resume',
      nodeId: 2,
      mechanism: 'SIGCONT to pid 4712',
      evidence: 'no thread in state T after 2 ms',
      startMs: 4_032,
    },
    {
      trial: number,
      fault: 'resume',
      nodeId: 3,
      mechanism: 'SIGCONT to pid 4713',
      evidence: 'no thread in state T after 2 ms',
      startMs: 4_037,
    },
    {
      trial: number,
      fault: 'start',
      nodeId: 1,
      mechanism: 'java, pid 5120',
      evidence: 'the process runs',
      startMs: 16_200,
    },
  ])
}

export function column(
  measure: string,
  label: string,
  short: string,
  unit: string,
  detail = false,
): RunRecord['columns'][number] {
  return {measure, label, short, unit, detail}
}

export function trial(
  number: number,
  condition: string,
  values: TrialRecord['measures'],
  change: Partial<TrialRecord> = {},
): TrialRecord {
  return {number, condition, outcome: 'ok', durationMs: 17_000 + number * 311, measures: values, ...change}
}

export function measures(
  columns: RunRecord['columns'],
  conditions: RunRecord['conditions'],
  trials: readonly TrialRecord[],
): MeasureRecord[] {
  return conditions.flatMap(({id}) =>
    columns.map(({measure, label, unit}) => {
      const counted = trials.filter(({condition, outcome}) => condition === id && outcome === 'ok')
      const values = counted.flatMap(({measures: of}) => of[measure] ?? [])
      const {n, median, min, max} = summary(values) ?? {n: 0, median: null, min: null, max: null}
      return {condition: id, measure, label, unit, n, median, min, max}
    }),
  )
}

function base(experiment: string, id: string) {
  return {
    schema: 'kx/run/1' as const,
    experiment,
    id,
    startedAt: '2026-11-29T19:36:54.120Z',
    dir: `results/${experiment}/${id}`,
    seed: 1_234,
    quick: false,
    state: 'done' as const,
    notes: [],
    environment: {
      kx: '0.1.0',
      node: '20.20.2',
      kafka: '4.4.0',
      runtime: 'local' as const,
      platform: 'linux x64',
      cpu: 'Intel Xeon',
      cpus: 2,
      memoryMiB: 24_576,
      features: {'metadata.version': 33, 'eligible.leader.replicas.version': 1, 'transaction.version': 2},
      brokerConfig: {
        'broker.session.timeout.ms': '9000',
        'replica.fetch.wait.max.ms': '500',
        'ssl.keystore.password': '[redacted]',
      },
      experimentHash: 'd41d8cd98f00b204e9800998ecf8427e'.repeat(2),
    },
    cluster: {
      name: 'x-7f3a',
      ephemeral: true,
      spec: {
        brokers: 3,
        controllers: 1,
        kafkaVersion: '4.4.0',
        profile: 'default' as const,
        features: {},
        config: {},
        heapMiB: 384,
        compiler: 'full' as const,
      },
    },
  }
}
