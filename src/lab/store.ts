import {createHash, randomBytes} from 'node:crypto'
import {appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {basename, dirname, join} from 'node:path'
import {gzipSync} from 'node:zlib'
import type {Proof} from '../cluster/cluster.js'
import type {ReportInput, RunRecord} from '../experiment/run.js'
import type {Operation} from '../history/operation.js'
import {KxError, messageOf, systemCode} from '../util/errors.js'
import type {Redaction} from './redact.js'

/** What `plan.json` holds: written before the first blow. */
export interface StoredPlan {
  readonly schema: 'kx/plan/1'
  readonly experiment: string
  readonly id: string
  readonly startedAt: string
  readonly planned: Readonly<Record<string, number>>
  readonly order: readonly string[]
  readonly seed: number
  readonly quick: boolean
  readonly knobs: Readonly<Record<string, number>>
  readonly asked?: RunRecord['asked']
  readonly cluster: RunRecord['cluster']
  readonly environment: RunRecord['environment']
}

/** A line of `trials.jsonl`. */
export interface StoredTrial {
  readonly schema: 'kx/trial/1'
  readonly number: number
  readonly condition: string
  readonly outcome: 'ok' | 'inconclusive' | 'failed'
  readonly reason?: string
  readonly durationMs: number
  /** Plain JSON, exactly as the method returned it; absent if the method failed. */
  readonly observation?: unknown
  readonly notes: readonly string[]
}

export interface EvidenceFile {
  readonly path: string
  readonly sizeInBytes: number
  readonly sha256: string
}

/** `witness.json`: whether Kafka's own dump tool read the same from the segment files as kx did. */
export interface Agreement {
  readonly agrees: boolean
  readonly text: string
}

/** Evidence of one run at most; beyond that the first trials' evidence stays and a note says so. */
const evidenceLimitBytes = 64 * 1_048_576

/** The folder of one run. Three saves (plan, trials as they end, verdict), so that a crash at any moment leaves a readable run. */
export class Store {
  readonly #evidence: EvidenceFile[] = []
  #evidenceBytes = 0
  #evidenceFull = false

  private constructor(
    readonly dir: string,
    readonly id: string,
    readonly redaction: Redaction,
  ) {}

  /** Makes `<results>/<experiment>/<id>/`. @throws KxError KX_RESULTS (environment) */
  static create(resultsDir: string, experiment: string, redaction: Redaction): Store {
    return guarded(resultsDir, () => {
      if (!existsSync(resultsDir)) {
        mkdirSync(resultsDir, {recursive: true})
        writeFileSync(join(resultsDir, '.gitignore'), '*\n')
      }
      for (;;) {
        const id = randomBytes(2).toString('hex')
        const dir = join(resultsDir, experiment, id)
        if (existsSync(dir)) continue
        mkdirSync(join(dir, 'evidence'), {recursive: true})
        return new Store(dir, id, redaction)
      }
    })
  }

  get evidence(): readonly EvidenceFile[] {
    return this.#evidence
  }

  get evidenceIsIncomplete(): boolean {
    return this.#evidenceFull
  }

  savePlan(plan: StoredPlan): void {
    this.write('plan.json', `${JSON.stringify(this.redaction.data(plan), null, 2)}\n`)
  }

  saveTrial(trial: StoredTrial): void {
    guarded(this.dir, () =>
      appendFileSync(join(this.dir, 'trials.jsonl'), `${JSON.stringify(this.redaction.data(trial))}\n`),
    )
  }

  saveHistory(trial: number, operations: readonly Operation[]): void {
    const head = {schema: 'kx/history/1', trial}
    const lines = [head, ...operations].map(line => `${JSON.stringify(line)}\n`).join('')
    this.write(`history-${trial}.jsonl.gz`, gzipSync(this.redaction.text(lines)))
  }

  saveTimeline(trial: number, events: readonly unknown[]): void {
    const lines = [{schema: 'kx/metadata/1', trial}, ...events].map(
      event => `${JSON.stringify(this.redaction.data(event))}\n`,
    )
    this.write(`metadata-${trial}.jsonl`, lines.join(''))
  }

  appendFault(line: object): void {
    guarded(this.dir, () =>
      appendFileSync(
        join(this.dir, 'faults.jsonl'),
        `${JSON.stringify(this.redaction.data({schema: 'kx/fault/1', ...line}))}\n`,
      ),
    )
  }

  saveLog(name: string, lines: readonly string[]): void {
    this.write(join('logs', name), this.redaction.text(`${lines.join('\n')}\n`))
  }

  /** Keeps a file on which the verdict rests, compressed. The digest is that of the file as it lay on the broker's disk. */
  saveEvidence(path: string, bytes: Buffer): void {
    if (this.#evidenceBytes + bytes.length > evidenceLimitBytes) {
      this.#evidenceFull = true
      return
    }
    this.#evidenceBytes += bytes.length
    const stored = join('evidence', `${path}.gz`)
    this.write(stored, gzipSync(bytes))
    this.#evidence.push({
      path: stored,
      sizeInBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })
  }

  saveWitness(answer: Agreement): void {
    this.write('witness.json', `${JSON.stringify({schema: 'kx/witness/1', ...answer}, null, 2)}\n`)
  }

  /** `run.json`; `latest` points to it from the first save on. */
  saveRun(run: RunRecord): void {
    const stored = this.redaction.data({...run, dir: '.'})
    this.write('evidence.json', `${JSON.stringify({schema: 'kx/evidence/1', files: this.#evidence}, null, 2)}\n`)
    this.write('run.json', `${JSON.stringify(stored, null, 2)}\n`)
    guarded(this.dir, () => writeFileSync(join(dirname(this.dir), 'latest'), `${basename(this.dir)}\n`))
  }

  /** Whole or not at all: a reader never meets half a file. */
  write(path: string, content: string | Buffer): void {
    guarded(this.dir, () => {
      const target = join(this.dir, path)
      mkdirSync(dirname(target), {recursive: true})
      // The last door: whatever text comes here, from reports too, leaves without the secrets of this run.
      writeFileSync(`${target}.part`, typeof content === 'string' ? this.redaction.text(content) : content)
      renameSync(`${target}.part`, target)
    })
  }

  /** For a run that never got as far as a plan. */
  discard(): void {
    rmSync(this.dir, {recursive: true, force: true})
  }
}

function guarded<T>(dir: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof KxError) throw error
    const full = systemCode(error) === 'ENOSPC'
    throw new KxError(
      'environment',
      full ? 'KX_DISK_FULL' : 'KX_RESULTS',
      full
        ? `The disk is full: results can't be written to ${dir}.`
        : `Results can't be written to ${dir}: ${messageOf(error)}.`,
      {suggestions: ['Give another folder with --results DIR.'], cause: error},
    )
  }
}

/** The first-written files of a run. */
export function readPlan(dir: string): StoredPlan {
  return JSON.parse(readFileSync(join(dir, 'plan.json'), 'utf8')) as StoredPlan
}

/** All trials that were saved. */
export function readTrials(dir: string): StoredTrial[] {
  return linesOf<StoredTrial>(join(dir, 'trials.jsonl'))
}

/** What Kafka's own tool said; `undefined` if it was not asked, or not yet. */
export function readWitness(dir: string): Agreement | undefined {
  const path = join(dir, 'witness.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Agreement) : undefined
}

/** The faults that were proven, of all trials, as the journal's copy has them. */
export function readFaults(dir: string): ReportInput['faults'] {
  return linesOf<{trial: number; state: string; startWallMs: number; proof?: Proof}>(join(dir, 'faults.jsonl')).flatMap(
    ({trial, state, startWallMs, proof}) => {
      if (state !== 'proven' || !proof) return []
      const {fault, nodeId, mechanism, evidence, wallMs} = proof
      return [{trial, fault, nodeId, mechanism, evidence, startMs: wallMs - startWallMs}]
    },
  )
}

/** JSON lines; a torn last line (a crash in the middle of a write) is left out. @throws SyntaxError for any other damaged line */
function linesOf<T>(path: string): T[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  // Every whole line ends with a line break, so what stands behind the last one was torn.
  return lines.slice(0, -1).map(line => JSON.parse(line) as T)
}
