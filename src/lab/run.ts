import type {Cluster} from '../cluster/cluster.js'
import {keep} from '../cluster/lifecycle.js'
import {removeState} from '../cluster/state.js'
import {type Judgement, judge} from '../experiment/judge.js'
import type {AnyExperiment} from '../experiment/experiment.js'
import type {AskedFlags, ReportInput, RunRecord} from '../experiment/run.js'
import {isNewerThanKnown} from '../kafka/versions.js'
import {KxError, messageOf} from '../util/errors.js'
import {duration} from '../util/format.js'
import {type Acquired, acquire, type ClusterChoice} from './acquire.js'
import {observeEnvironment} from './environment.js'
import {cleanGround, sweep} from './apparatus.js'
import {experimentNames, loadExperiment} from './experiments.js'
import {knobsOf} from './knobs.js'
import {conditionsOnceMore, estimateSeconds, planTrials, plannedBlows} from './plan.js'
import {obstaclesOf} from './producing.js'
import {assemble, type RunState} from './record.js'
import {Redaction} from './redact.js'
import {readFaults, readWitness, Store, type StoredPlan, type StoredTrial} from './store.js'
import {runTrial} from './trial.js'
import {ClusterView} from './view.js'
import {agreesWithKafka} from './witness.js'

export interface LabEvent {
  readonly kind: 'plan' | 'phase' | 'trial-start' | 'note' | 'trial-end' | 'warning'
  /** For people. */
  readonly text: string
  /** Number of the trial, and how many are planned in all. */
  readonly trial?: number
  readonly of?: number
  readonly condition?: string
}

export interface RunOptions {
  readonly cluster: ClusterChoice
  readonly knobs: Readonly<Record<string, number>>
  /** Blows per condition, instead of what the note says. */
  readonly trials?: number
  readonly quick: boolean
  readonly seed?: number
  readonly resultsDir: string
  readonly signal: AbortSignal
  watch(event: LabEvent): void
  /** Called after every save with all that a report draws from; the lab itself draws nothing. */
  publish?(input: ReportInput, dir: string): Promise<void>
}

/** A trial that was inconclusive or failed is repeated at most this often; all are stored and shown. */
const repeatsAtMost = 2
const startUpSeconds = 10

/**
 * Runs an experiment from the choice of the cluster to the verdict. Whatever happens, faults are healed and a cluster made
 * for the run is removed.
 * @throws KxError usage | environment before the first trial; interrupted (after cleaning up, with a readable run).
 */
export async function runExperiment(name: string, options: RunOptions): Promise<{run: RunRecord; input: ReportInput}> {
  const note = await loadExperiment(name)
  const leftOut = await obstaclesOf(note)
  const planned = {...plannedBlows(note, options), ...Object.fromEntries(Object.keys(leftOut).map(id => [id, 0]))}
  knobsOf(note, options.knobs) // A wrong knob is told before a cluster is started for it.
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
  const about = duration(estimateSeconds(note, planned, startUpSeconds) * 1_000)
  options.watch({kind: 'plan', text: `${note.question}\n${planText(note, planned)}, seed ${seed}, about ${about}.`})
  const missing = Object.entries(leftOut).map(([id, why]) => `left out: ${labelOf(note, id)}. ${why}`)
  for (const text of missing) options.watch({kind: 'warning', text})

  const store = Store.create(options.resultsDir, name, new Redaction(options.cluster.config))
  const startedMs = performance.now()
  let acquired: Acquired | undefined
  let session: Session | undefined
  try {
    acquired = await acquire({
      note,
      experiment: name,
      runId: store.id,
      choice: options.cluster,
      signal: options.signal,
      progress: text => options.watch({kind: 'phase', text}),
    })
    options.watch({kind: 'phase', text: `running ${acquired.why}`})
    session = await Session.begin({
      name,
      note,
      planned,
      seed,
      options,
      store,
      cluster: acquired.cluster,
      startedMs,
      notes: missing,
    })
    await session.runAll()
    return await session.finish('done')
  } catch (error) {
    if (session) await session.finish(options.signal.aborted ? 'interrupted' : 'failed', messageOf(error))
    else store.discard()
    throw error
  } finally {
    if (acquired) await release(acquired, options)
  }
}

/** Gives the cluster back. Its failure is told, but takes no verdict away: there is `kx clean`. */
async function release({cluster, lock}: Acquired, {cluster: choice, watch}: RunOptions): Promise<void> {
  try {
    if (!cluster.ephemeral) return
    if (choice.keep) {
      keep(cluster.name)
      watch({kind: 'note', text: `cluster ${cluster.name} is kept; kx down --name ${cluster.name} --wipe removes it`})
      return
    }
    watch({kind: 'phase', text: `removing cluster ${cluster.name}`})
    await cluster.down({wipe: true})
    removeState(cluster.name)
  } catch (error) {
    watch({
      kind: 'warning',
      text: `cluster ${cluster.name} could not be removed (${messageOf(error)}); kx clean tries again`,
    })
  } finally {
    lock[Symbol.dispose]()
    await Promise.resolve(cluster[Symbol.asyncDispose]()).catch(() => undefined)
  }
}

function askedFlags({trials, cluster: {heapMiB, image, kafkaHome}}: RunOptions): AskedFlags {
  return {
    ...(trials === undefined ? {} : {trials}),
    ...(heapMiB === undefined ? {} : {heapMiB}),
    ...(image === undefined ? {} : {image}),
    ...(kafkaHome === undefined ? {} : {kafkaHome}),
  }
}

function planText(note: AnyExperiment, planned: Readonly<Record<string, number>>): string {
  return Object.entries(planned)
    .filter(([, blows]) => blows > 0)
    .map(([id, blows]) => `${blows} × ${labelOf(note, id)}`)
    .join(', ')
}

function labelOf(note: AnyExperiment, condition: string): string {
  return (note.conditions as Readonly<Record<string, {label: string}>>)[condition]?.label ?? condition
}

interface SessionOptions {
  readonly name: string
  readonly note: AnyExperiment
  readonly planned: Readonly<Record<string, number>>
  readonly seed: number
  readonly options: RunOptions
  readonly store: Store
  readonly cluster: Cluster
  readonly startedMs: number
  /** What is to be said of the run before it has begun. */
  readonly notes: readonly string[]
}

/** The trials of one run and what has been saved of them. */
class Session {
  readonly #trials: StoredTrial[] = []
  readonly #notes: string[]

  private constructor(
    private readonly session: SessionOptions,
    private readonly plan: StoredPlan,
  ) {
    this.#notes = [...session.notes]
  }

  static async begin(session: SessionOptions): Promise<Session> {
    const {name, note, planned, seed, options, store, cluster} = session
    await using view = new ClusterView(cluster, options.signal)
    const swept = cluster.ephemeral ? [] : await sweep(view, experimentNames())
    if (isNewerThanKnown(cluster.spec.kafkaVersion)) {
      options.watch({kind: 'warning', text: `Kafka ${cluster.spec.kafkaVersion} is newer than this kx knows`})
    }
    if (swept.length > 0)
      options.watch({kind: 'note', text: `deleted ${swept.length} topics that an earlier run had left`})
    const plan: StoredPlan = {
      schema: 'kx/plan/1',
      experiment: name,
      id: store.id,
      startedAt: new Date().toISOString(),
      planned,
      order: planTrials(planned, seed).map(({condition}) => condition),
      seed,
      quick: options.quick,
      knobs: knobsOf(note, options.knobs),
      asked: askedFlags(options),
      cluster: {name: cluster.name, ephemeral: cluster.ephemeral, spec: cluster.spec},
      environment: await observeEnvironment(view, cluster, name),
    }
    store.savePlan(plan)
    const begun = new Session(session, plan)
    await begun.#publish('running')
    return begun
  }

  async runAll(): Promise<void> {
    const repeats = new Map<string, number>()
    const queue = [...this.plan.order]
    for (let condition = queue.shift(); condition !== undefined; condition = queue.shift()) {
      const trial = await this.#runOne(condition, this.#trials.length + 1 + queue.length)
      if (trial.outcome !== 'ok') {
        const used = repeats.get(condition) ?? 0
        if (used < repeatsAtMost) queue.push(condition)
        repeats.set(condition, used + 1)
        this.#giveUpOnBrokenGround()
      }
      await this.#publish('running')
      if (queue.length === 0) queue.push(...this.#unseen())
    }
    if (this.#needsWitness) await this.#askKafka()
  }

  #unseen(): readonly string[] {
    const {note, planned, options} = this.session
    if (!options.quick || options.trials !== undefined) return []
    const done = this.#trials.map(({condition}) => condition)
    return conditionsOnceMore(this.#judge().verdict, {planned, full: plannedBlows(note, {quick: false}), done})
  }

  /** Two trials in a row that never found a clean cluster: more of them would only wait as long. */
  #giveUpOnBrokenGround(): void {
    const lastTwo = this.#trials.slice(-2)
    if (
      lastTwo.length < 2 ||
      !lastTwo.every(({outcome, reason}) => outcome === 'failed' && reason?.includes(cleanGround))
    )
      return
    const {name} = this.session.cluster
    throw new KxError('environment', 'KX_NOT_CLEAN', `Cluster "${name}" does not settle: ${lastTwo[1]?.reason}`, {
      suggestions: [
        `kx heal --name ${name}, and kx status --name ${name} for what is wrong.`,
        'Add --fresh to run on a cluster of its own.',
      ],
    })
  }

  async #runOne(condition: string, of: number): Promise<StoredTrial> {
    const {note, name, store, cluster, options, seed} = this.session
    const number = this.#trials.length + 1
    const label = labelOf(note, condition)
    const place = {trial: number, of, condition}
    options.watch({kind: 'trial-start', text: label, ...place})
    const trial = await runTrial({
      note,
      experiment: name,
      runId: store.id,
      number,
      condition,
      knobs: this.plan.knobs,
      seed,
      cluster,
      store,
      signal: options.signal,
      removedAfterwards: cluster.ephemeral && !options.cluster.keep,
      say: text => options.watch({kind: 'note', text, ...place}),
    })
    this.#trials.push(trial)
    store.saveTrial(trial)
    const judged = this.#judge().trials.find(record => record.number === number)
    options.watch({kind: 'trial-end', text: endText(label, note, trial, judged?.measures), ...place})
    return trial
  }

  /** The third witness, once per full run: Kafka's own dump tool over the files that kx kept. */
  async #askKafka(): Promise<void> {
    const {store, cluster, options} = this.session
    options.watch({kind: 'phase', text: "letting Kafka's own dump tool read the same files"})
    const counted = this.#judge()
      .trials.filter(({outcome}) => outcome === 'ok')
      .map(({number}) => number)
    const answer = await agreesWithKafka(store, cluster, counted, options.signal)
    options.signal.throwIfAborted() // An interruption ends the tool too; that is no disagreement.
    store.saveWitness(answer)
    this.#notes.push(answer.text)
  }

  /** A full run is not upheld before Kafka's own tool has read the same as kx. */
  get #needsWitness(): boolean {
    return !this.plan.quick
  }

  #judge(): Judgement {
    return judge(this.session.note, {trials: this.#trials, planned: this.plan.planned, knobs: this.plan.knobs})
  }

  async finish(state: RunState, because?: string): Promise<{run: RunRecord; input: ReportInput}> {
    const {store, cluster} = this.session
    for (const node of cluster.nodes) {
      const lines = await node.logTail(2_000).catch((error: unknown) => [messageOf(error)])
      store.saveLog(`node-${node.nodeId}.log`, lines)
    }
    if (store.evidenceIsIncomplete)
      this.#notes.push('evidence of the later trials was left out: the limit of its size was reached')
    if (because !== undefined) this.#notes.push(because)
    return this.#publish(state)
  }

  async #publish(state: RunState): Promise<{run: RunRecord; input: ReportInput}> {
    const {note, store, options, startedMs} = this.session
    const input = assemble({
      note,
      plan: this.plan,
      judgement: this.#judge(),
      dir: store.dir,
      durationMs: Math.round(performance.now() - startedMs),
      state,
      notes: this.#notes,
      evidence: store.evidence,
      faults: readFaults(store.dir),
      witness: readWitness(store.dir),
    })
    store.saveRun(input.run)
    await options.publish?.(store.redaction.data(input), store.dir)
    return {run: input.run, input}
  }
}

function endText(
  label: string,
  note: AnyExperiment,
  trial: StoredTrial,
  measures: Readonly<Record<string, number | null>> = {},
): string {
  if (trial.outcome !== 'ok') return `${label}: ${trial.outcome}: ${trial.reason}`
  const shown = Object.entries(note.measures as AnyExperiment['measures']).filter(
    ([, measure]) => !(measure as {detail?: boolean}).detail,
  )
  const parts = shown.flatMap(([id, measure]) => {
    const value = measures[id]
    if (value === null || value === undefined) return []
    const {label: name, short, unit} = measure as {label: string; short?: string; unit: string}
    return [`${short ?? name} ${unit === 'ms' ? duration(value) : value}`]
  })
  return `${label}: ${parts.join(', ')} (${duration(trial.durationMs)})`
}
