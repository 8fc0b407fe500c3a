import type {FindingCode} from './verify/codes.js'

/**
 * `error`: bytes that are wrong or can't be read; `warning`: legal bytes that no healthy log has; `info`: normal, and
 * worth knowing. Errors and warnings make the exit code 1.
 */
export type Severity = 'error' | 'warning' | 'info'

/** Something that a check has to say about a file. Positions are bytes in the file. */
export interface Finding {
  /** Stable, for scripts: one table for all checks and outputs. */
  readonly code: FindingCode
  readonly severity: Severity
  /** As the file was named to kx. */
  readonly file: string
  readonly position?: number
  readonly offset?: bigint
  /** One sentence: what is there, and what should be. */
  readonly explanation: string
  /** What Kafka itself does with it: recovery cuts here, consumers stop, the index is rebuilt, nothing. */
  readonly consequence?: string
}
