import {compareVersions} from '../../kafka/versions.js'
import type {RuntimeName} from '../spec.js'

/** What `kx doctor` has to say about one thing. */
export interface Finding {
  /** Stable, for scripts: `java`, `docker-engine`, `disk-state`. */
  readonly id: string
  /** `ok`; `warning`: something is slower, impossible or inconclusive; `problem`: no cluster can be started. */
  readonly level: 'ok' | 'warning' | 'problem'
  /** One sentence. */
  readonly what: string
  /** The command, or where none does it the step, that cures it. */
  readonly cure?: string
  /** What will not work, or will be inconclusive. */
  readonly affects?: string
  /** This runtime can't be used at all (`all`: neither). Only where none is left does that become a problem. */
  readonly blocks?: RuntimeName | 'all'
}

export function ok(id: string, what: string, more: Pick<Finding, 'cure' | 'affects'> = {}): Finding {
  return {id, level: 'ok', what, ...more}
}

export function warning(id: string, what: string, more: Pick<Finding, 'cure' | 'affects' | 'blocks'> = {}): Finding {
  return {id, level: 'warning', what, ...more}
}

export function problem(id: string, what: string, more: Pick<Finding, 'cure' | 'affects' | 'blocks'> = {}): Finding {
  return {id, level: 'problem', what, ...more}
}

/** Says at last which runtime `auto` takes, and makes problems of what blocks where nothing else is left. */
export function settled(findings: readonly Finding[]): Finding[] {
  const usable = (['docker', 'local'] as const).filter(
    runtime => !findings.some(({blocks}) => blocks === runtime || blocks === 'all'),
  )
  const [first, second] = usable
  if (first === undefined) {
    const graver = findings.map(finding => (finding.blocks ? {...finding, level: 'problem' as const} : finding))
    return [
      ...graver,
      problem('runtime', 'No cluster can be started here, neither in Docker nor as JVMs.', {
        cure: 'Cure what blocks one of them: either is enough.',
      }),
    ]
  }
  const also = second
    ? ', and --runtime local works too'
    : `; ${first === 'docker' ? 'local' : 'docker'} does not work here`
  return [...findings, ok('runtime', `Clusters start with --runtime ${first}${also}.`)]
}

/** Node's own: what package.json asks for. */
export function nodeFinding(version: string): Finding {
  if (compareVersions(version, '20.20.0') >= 0) return ok('node', `Node is ${version}.`)
  return problem('node', `Node is ${version}, and kx needs 20.20 or later.`, {
    cure: 'Install a newer Node, e.g.: nvm install 24',
  })
}
