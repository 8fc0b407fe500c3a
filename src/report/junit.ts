import type {RunRecord} from '../experiment/run.js'
import {circumstances, claimText, outcomeWords} from './values.js'

/** What `kx ci` has of one experiment: its run, or the error that it ended with, or both. */
export interface CiResult {
  readonly experiment: string
  readonly run?: RunRecord
  readonly error?: {readonly code: string; readonly message: string}
  readonly durationMs: number
}

type Trouble = {readonly kind: 'failure' | 'error'; readonly type: string; readonly message: string}

interface TestCase {
  readonly name: string
  readonly seconds: number
  readonly trouble?: Trouble
}

/**
 * JUnit XML as Jenkins and GitLab read it: a suite per experiment, in it a case for the run itself and one per claim.
 * Refuted is a failure. Inconclusive, interrupted and broken runs are errors: nothing is ever "skipped", so that a run
 * that proved nothing can't look green.
 */
export function junitXml(results: readonly CiResult[]): string {
  const suites = results.map(result => ({result, cases: casesOf(result)}))
  const all = suites.flatMap(({cases}) => cases)
  const total = results.reduce((sum, {durationMs}) => sum + durationMs, 0)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="kx" ${counts(all)} time="${seconds(total)}">`,
    ...suites.flatMap(({result, cases}) => suite(result, cases)),
    '</testsuites>',
    '',
  ].join('\n')
}

function casesOf({run, error, durationMs}: CiResult): TestCase[] {
  const trouble = troubleOf(run, error)
  const whole: TestCase = {name: 'the run', seconds: durationMs / 1_000, ...(trouble && {trouble})}
  const claims = (run?.verdict.claims ?? []).map((claim): TestCase => {
    const name = claimText(claim)
    if (claim.outcome === 'upheld') return {name, seconds: 0}
    const kind = claim.outcome === 'refuted' ? 'failure' : 'error'
    return {name, seconds: 0, trouble: {kind, type: claim.outcome, message: `${claim.outcome}: ${claim.because}`}}
  })
  return [whole, ...claims]
}

/** Of the run as a whole: that it broke off, or that its verdict is worse than its claims tell. */
function troubleOf(run: RunRecord | undefined, error: CiResult['error']): Trouble | undefined {
  if (error) return {kind: 'error', type: error.code, message: error.message}
  if (!run) return {kind: 'error', type: 'KX_NO_RUN', message: 'The experiment did not leave a run.'}
  const {outcome, claims, because = 'no claim says why'} = run.verdict
  if (run.state !== 'done') return {kind: 'error', type: run.state, message: outcomeWords(run)}
  if (outcome === 'upheld' || claims.some(claim => claim.outcome === outcome)) return undefined
  return {kind: outcome === 'refuted' ? 'failure' : 'error', type: outcome, message: `${outcome}: ${because}`}
}

function suite({experiment, run, durationMs}: CiResult, cases: readonly TestCase[]): string[] {
  const when = run ? ` timestamp="${xml(run.startedAt.replace(/(\.\d+)?Z$/, ''))}"` : ''
  const properties = run
    ? Object.entries({
        run: run.id,
        verdict: run.verdict.outcome,
        seed: String(run.seed),
        kafka: run.environment.kafka,
        runtime: run.environment.runtime,
      })
    : []
  return [
    `  <testsuite name="${xml(experiment)}" ${counts(cases)} time="${seconds(durationMs)}"${when}>`,
    ...(properties.length > 0
      ? [
          '    <properties>',
          ...properties.map(([name, value]) => `      <property name="${name}" value="${xml(value)}"/>`),
          '    </properties>',
        ]
      : []),
    ...cases.flatMap(each => testCase(experiment, each)),
    ...(run
      ? [`    <system-out>${xml(`${outcomeWords(run)} ${circumstances(run)}. ${run.question}`)}</system-out>`]
      : []),
    '  </testsuite>',
  ]
}

function testCase(experiment: string, {name, seconds: took, trouble}: TestCase): string[] {
  const open = `    <testcase classname="kx.${xml(experiment)}" name="${xml(name)}" time="${took.toFixed(3)}"`
  if (!trouble) return [`${open}/>`]
  const {kind, type, message} = trouble
  return [
    `${open}>`,
    `      <${kind} type="${xml(type)}" message="${xml(message)}">${xml(message)}</${kind}>`,
    '    </testcase>',
  ]
}

function counts(cases: readonly TestCase[]): string {
  const of = (kind: Trouble['kind']) => cases.filter(({trouble}) => trouble?.kind === kind).length
  return `tests="${cases.length}" failures="${of('failure')}" errors="${of('error')}" skipped="0"`
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** For text and attributes. What XML 1.0 forbids even as a reference (C0 but tab, LF, CR; surrogates; U+FFFE, U+FFFF) becomes visible. */
export function xml(text: string): string {
  return text
    .replace(
      /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
      character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
    )
    .replace(/[&<>"']/g, character => entities[character] ?? '')
    .replace(/[\t\n\r\u0080-\u009f]/g, character => `&#${character.charCodeAt(0)};`)
}
