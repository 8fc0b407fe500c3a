import type {ClusterSpec, RuntimeName} from '../cluster/spec.js'
import type {Verdict} from './claims.js'
import type {Figure} from './figures.js'

/** Versions of everything that could matter, as observed. Stored in `plan.json` and `run.json`. */
export interface Environment {
  readonly kx: string
  readonly node: string
  readonly kafka: string
  readonly runtime: RuntimeName
  readonly platform: string
  readonly cpu: string
  readonly cpus: number
  readonly memoryMiB: number
  /** Finalized feature levels, as ApiVersions tells them. */
  readonly features: Readonly<Record<string, number>>
  /** Effective broker settings that kx set or that an experiment rests on, redacted. */
  readonly brokerConfig: Readonly<Record<string, string>>
  /** SHA-256 of the experiment's file, so that `rejudge` can say that it has changed since. */
  readonly experimentHash: string
}

export interface TrialRecord {
  readonly number: number
  readonly condition: string
  readonly outcome: 'ok' | 'inconclusive' | 'failed'
  /** Why it is not ok: the precondition's name, or the error. */
  readonly reason?: string
  readonly durationMs: number
  readonly measures: Readonly<Record<string, number | null>>
}

export interface MeasureRecord {
  readonly condition: string
  readonly measure: string
  readonly label: string
  readonly unit: string
  readonly n: number
  readonly median: number | null
  readonly min: number | null
  readonly max: number | null
}

/** Flags that make a plan or a cluster another one and that nothing else in a record tells; as they were given. */
export interface AskedFlags {
  readonly trials?: number
  readonly heapMiB?: number
  readonly image?: string
  readonly kafkaHome?: string
}

/** `run.json`, and what `kx experiment NAME -o json` prints. */
export interface RunRecord {
  readonly schema: 'kx/run/1'
  readonly experiment: string
  readonly id: string
  readonly startedAt: string
  /** Absolute on the screen, `.` in the file: stored paths are relative. */
  readonly dir: string
  readonly durationMs: number
  readonly seed: number
  readonly quick: boolean
  readonly environment: Environment
  readonly cluster: {readonly name: string; readonly ephemeral: boolean; readonly spec: ClusterSpec}
  readonly knobs: Readonly<Record<string, number>>
  /** Absent in the records of kx 0.1.0. */
  readonly asked?: AskedFlags
  readonly question: string
  readonly hypothesis: string
  readonly doesNotShow: string
  readonly shows: readonly string[]
  readonly conditions: readonly {readonly id: string; readonly label: string; readonly planned: number}[]
  readonly verdict: Verdict
  readonly trials: readonly TrialRecord[]
  readonly measures: readonly MeasureRecord[]
  /** A concrete example, one or two sentences. */
  readonly example?: string
  readonly notes: readonly string[]
  /** `running` until the last save; a run that was interrupted or crashed stays readable. */
  readonly state: 'running' | 'done' | 'interrupted' | 'failed'
  /** How each measure is to be shown, in order. */
  readonly columns: readonly {
    readonly measure: string
    readonly label: string
    readonly short: string
    readonly unit: string
    readonly detail: boolean
  }[]
}

/** All that a report draws from. */
export interface ReportInput {
  readonly run: RunRecord
  readonly figures: readonly Figure[]
  /** Files under `evidence/`, relative to the run's folder. */
  readonly evidence: readonly {readonly path: string; readonly sizeInBytes: number; readonly sha256: string}[]
  readonly faults: readonly {
    readonly trial: number
    readonly fault: string
    readonly nodeId: number
    readonly mechanism: string
    readonly evidence: string
    readonly startMs: number
  }[]
}
