import type {Claim} from '../experiment/claims.js'
import {duration} from '../util/format.js'
import {becauseOf, type CiCase, type CiResult} from './ci.js'

/**
 * JUnit XML: a suite per experiment, a test case per claim and one for the verdict. Refuted is a failure; inconclusive
 * and whatever kept it from running are errors, never skipped: dashboards show skipped as harmless.
 */
export function junit({cases, durationMs}: CiResult): string {
  const suites = cases.map(suite)
  const sum = (count: (each: Suite) => number) => suites.reduce((total, each) => total + count(each), 0)
  const counts = `tests="${sum(each => each.tests)}" failures="${sum(each => each.failures)}" errors="${sum(each => each.errors)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="kx" ${counts} time="${seconds(durationMs)}">`,
    ...suites.map(each => each.xml),
    '</testsuites>',
    '',
  ].join('\n')
}

interface Suite {
  readonly xml: string
  readonly tests: number
  readonly failures: number
  readonly errors: number
}

function suite(one: CiCase): Suite {
  const {experiment, outcome, durationMs, run, failure} = one
  const claims = run?.verdict.claims ?? []
  const outcomes = [outcome, ...claims.map(claim => claim.outcome)]
  const [tests, failures] = [outcomes.length, outcomes.filter(each => each === 'refuted').length]
  const errors = outcomes.filter(each => each === 'inconclusive' || each === 'error').length
  const reason = becauseOf(one)
  const told = failure ? [reason, ...failure.suggestions, ...(failure.stack ? [failure.stack] : [])].join('\n') : reason
  const lines = [
    `  <testsuite name="${text(experiment)}" tests="${tests}" failures="${failures}" errors="${errors}" skipped="0" time="${seconds(durationMs)}"${run ? ` timestamp="${text(run.startedAt.replace(/\.\d+Z$/, ''))}"` : ''}>`,
    ...(run
      ? [
          properties({
            kafka: run.environment.kafka,
            runtime: run.environment.runtime,
            seed: String(run.seed),
            run: `${run.experiment}/${run.id}`,
          }),
        ]
      : []),
    testCase(experiment, 'verdict', seconds(durationMs), outcome, failure?.code ?? outcome, told),
    ...claims.map(claim => claimCase(experiment, claim)),
    '  </testsuite>',
  ]
  return {xml: lines.join('\n'), tests, failures, errors}
}

function claimCase(experiment: string, {claim, outcome, because, quantifier}: Claim): string {
  return testCase(experiment, `${claim}${quantifier === 'control' ? ' (control)' : ''}`, '0', outcome, outcome, because)
}

function testCase(
  experiment: string,
  name: string,
  time: string,
  outcome: CiCase['outcome'],
  type: string,
  told: string,
): string {
  const head = `    <testcase classname="kx.${text(experiment)}" name="${text(name)}" time="${time}"`
  if (outcome === 'upheld') return `${head}/>`
  const element = outcome === 'refuted' ? 'failure' : 'error'
  const first = told.split('\n')[0] ?? ''
  return `${head}>\n      <${element} type="${text(type)}" message="${text(first)}">${text(told)}</${element}>\n    </testcase>`
}

function properties(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `      <property name="${name}" value="${text(value)}"/>`)
  return ['    <properties>', ...lines, '    </properties>'].join('\n')
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3)
}

const marks: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;'}

/** XML 1.0 has no way at all to write most control characters and lone surrogates: they become U+FFFD. */
function text(value: string): string {
  const whole = Buffer.from(value).toString()
  return whole.replace(forbidden, '\ufffd').replace(/[&<>"']/g, mark => marks[mark] ?? mark)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

const signs: Readonly<Record<CiCase['outcome'], string>> = {upheld: '✅', refuted: '❌', inconclusive: '⚠️', error: '⚠️'}

/** For `$GITHUB_STEP_SUMMARY`. */
export function summary({cases, durationMs}: CiResult): string {
  const kafka = cases.find(({run}) => run)?.run?.environment
  const rows = cases.map(
    one =>
      `| ${signs[one.outcome]} ${one.outcome} | \`${one.experiment}\` | ${duration(one.durationMs)} | ${cell(becauseOf(one))} |`,
  )
  return [
    `### kx: ${kafka ? `Kafka ${kafka.kafka} on ${kafka.runtime}` : 'no run'}, ${duration(durationMs)}`,
    '',
    '| verdict | experiment | took | because |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...cases.flatMap(claims),
  ].join('\n')
}

function claims({experiment, run}: CiCase): string[] {
  if (!run) return []
  const lines = run.verdict.claims.map(
    ({claim, outcome, because}) => `- ${signs[outcome]} ${cell(claim)}: ${cell(because)}`,
  )
  return [
    `<details><summary>${experiment}: ${run.verdict.claims.length} claims</summary>`,
    '',
    ...lines,
    '',
    '</details>',
    '',
  ]
}

/** What a broker or an experiment wrote must neither end the table nor become markup. */
function cell(value: string): string {
  return value.replace(/\s+/g, ' ').replace(/[|<>`*_[\]\\]/g, sign => `\\${sign}`)
}
