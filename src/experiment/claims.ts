import type {Sample} from './experiment.js'

export type VerdictOutcome = 'upheld' | 'refuted' | 'inconclusive'
export type Quantifier = 'always' | 'sometimes' | 'ordered' | 'control'

export interface Claim {
  readonly claim: string
  readonly quantifier: Quantifier
  readonly outcome: VerdictOutcome
  /** e.g. `in 3 of 3 trials`, `not in trial 4`, `only 1 of 3 planned trials could tell`. */
  readonly because: string
  /** How many trials could have shown the opposite. */
  readonly telling: number
}

export interface Verdict {
  readonly outcome: VerdictOutcome
  readonly claims: readonly Claim[]
  /** Why the outcome is not what the claims alone would give (no control, too few trials). */
  readonly because?: string
}

type Says<O> = (observation: O) => boolean
export type {Sample, Says}
