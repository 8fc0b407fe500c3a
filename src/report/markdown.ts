import type {Claim} from '../experiment/claims.js'
import type {ReportInput, RunRecord} from '../experiment/run.js'
import {bytes, duration, plural, safe} from '../util/format.js'
import {byHand} from './by-hand.js'
import {oneLine} from './pen.js'
import {evidenceCommands, evidenceFolders, repeatCommand} from './repeat.js'
import {instant} from './scale.js'
import {
  cell, circumstances, claimText, labelOf, measureOf, moment, outcomeWords, quantity, sentence, shownUnit, withUnit,
} from './values.js' // biome-ignore format: one list

export const outcomeSign = {upheld: '✅', refuted: '❌', inconclusive: '⚠️'} as const

export interface MarkdownOptions {
  /** Depth of the first heading; 1 if not said. */
  readonly level?: number
}

/** `report.md`: GitHub's Markdown, the same content as the page without its drawings. */
export function markdownReport(input: ReportInput, {level = 1}: MarkdownOptions = {}): string {
  const {run} = input
  const heading = (text: string, below = 0) => `${'#'.repeat(Math.min(6, level + below))} ${text}`
  const blocks = [
    heading(md(run.question)),
    verdictText(run),
    measuresTable(run),
    run.example === undefined ? '' : `> ${md(run.example)}`,
    heading('Claims', 1),
    run.verdict.claims.length > 0 ? claimList(run.verdict.claims) : 'No claim was judged yet.',
    `**Hypothesis.** ${md(run.hypothesis)}`,
    `**It does not show:** ${md(run.doesNotShow)}`,
    heading('Trials', 1),
    run.trials.length > 0 ? trialsTable(run) : 'No trial has ended yet.',
    ...(input.faults.length > 0 ? [heading('Faults', 1), faultsTable(input)] : []),
    ...(input.evidence.length > 0 ? [heading('Evidence', 1), evidenceTable(input), lookingCloser(input)] : []),
    heading('Environment', 1),
    environmentTable(run),
    ...(run.notes.length > 0 ? [heading('Notes', 1), run.notes.map(note => `- ${md(note)}`).join('\n')] : []),
    heading('Repeat it', 1),
    fenced([repeatCommand(run)]),
    'By hand, with Kafka’s own tools:',
    byHand(input)
      .map(({text, commands}, index) => `${index + 1}. ${md(text)}\n\n${indented(fenced(commands))}`)
      .join('\n\n'),
  ]
  return `${blocks.filter(block => block !== '').join('\n\n')}\n`
}

/** Text from a record as Markdown: on one line, nothing in it is markup, no HTML gets through. */
export function md(text: string): string {
  return oneLine(text)
    .replace(/[\\`*[\]<>|~]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/\\</g, '&lt;')
    .replace(/\\>/g, '&gt;')
    .replace(/(^|[^\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, match => match.replace('_', '\\_'))
    .replace(/^(?:[#+=-]|\d+[.)](?=\s))/, match => `\\${match}`)
    .replace(/^\\(\d+)/, '$1\\')
    .replace(/(https?|www)(:|\.)/gi, '$1&#8203;$2')
    .replace(/@(?=\w)/g, '@&#8203;')
}

/** A fence longer than any run of backticks in it. */
function fenced(lines: readonly string[]): string {
  const text = lines.map(line => safe(line.replace(/\s/g, ' '))).join('\n')
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `${fence}sh\n${text}\n${fence}`
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '   ')
}

export function verdictText(run: RunRecord): string {
  const {outcome, because} = run.verdict
  const why = because === undefined || because === '' ? '' : ` ${md(sentence(because))}`
  return `${outcomeSign[run.state === 'done' ? outcome : 'inconclusive']} **${outcomeWords(run)}** ${md(circumstances(run))}.${why}`
}

export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  right: (column: number) => boolean,
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map((_, index) => (right(index) ? '---:' : '---'))), ...rows.map(line)].join('\n')
}

export function measuresTable(run: RunRecord): string {
  if (run.columns.length === 0) return ''
  const heads = ['condition', ...run.columns.map(({label, unit}) => md(withUnit(label, shownUnit(unit))))]
  const rows = run.conditions.map(({id, label}) => [
    md(label),
    ...run.columns.map(({measure}) => cell(measureOf(run, id, measure))),
  ])
  return table(heads, rows, column => column > 0)
}

export function claimList(claims: readonly Claim[]): string {
  return claims
    .map(claim => `- ${outcomeSign[claim.outcome]} ${md(claimText(claim))}: **${claim.outcome}**, ${md(claim.because)}`)
    .join('\n')
}

function trialsTable(run: RunRecord): string {
  const heads = [
    'trial',
    'condition',
    'outcome',
    'took',
    ...run.columns.map(({short, unit}) => md(withUnit(short, shownUnit(unit)))),
  ]
  const rows = run.trials.map(trial => [
    String(trial.number),
    md(labelOf(run, trial.condition)),
    trial.reason === undefined ? trial.outcome : `${trial.outcome}: ${md(trial.reason)}`,
    duration(trial.durationMs),
    ...run.columns.map(({measure, unit}) => quantity(trial.measures[measure] ?? null, unit)),
  ])
  return table(heads, rows, column => column === 0 || column > 2)
}

function faultsTable({faults}: ReportInput): string {
  const rows = faults.map(({trial, startMs, fault, nodeId, mechanism, evidence}) => [
    String(trial), instant(startMs), `${md(fault)} node ${nodeId}`, md(mechanism), md(evidence),
  ]) // biome-ignore format: a row
  return table(['trial', 'at', 'fault', 'how', 'proof'], rows, column => column < 2)
}

function evidenceTable({evidence}: ReportInput): string {
  return table(
    ['file', 'size', 'SHA-256'],
    evidence.map(({path, sizeInBytes, sha256}) => [md(path), bytes(sizeInBytes), md(sha256)]),
    column => column === 1,
  )
}

/** The commands for the first trial's evidence; those of the others differ in their folder only. */
function lookingCloser(input: ReportInput): string {
  const [folder, ...others] = evidenceFolders(input)
  const commands = folder === undefined ? [] : evidenceCommands(input, folder, '.')
  if (commands.length === 0) return ''
  const more = others.length === 0 ? '' : ` The same for ${md(others.join(', '))}.`
  return `Looking closer, in the folder of this report:${more}\n\n${fenced(commands)}`
}

function environmentTable({environment: env, cluster: {spec}, ...run}: RunRecord): string {
  const features = Object.entries(env.features).map(([name, level]) => `${name} ${level}`)
  const config = Object.entries({...env.brokerConfig, ...spec.config}).sort(([a], [b]) => (a < b ? -1 : 1))
  const knobs = Object.entries(run.knobs).map(([name, value]) => `${name} ${value}`)
  const facts: readonly (readonly [string, string])[] = [
    ['run', `${run.experiment} ${run.id}, ${moment(run.startedAt)}, seed ${run.seed}`],
    [
      'Kafka',
      `${env.kafka}, ${env.runtime}, profile ${spec.profile}, ${plural(spec.brokers, 'broker')}, ${plural(spec.controllers, 'isolated controller')}`,
    ],
    ['features', features.join(', ')],
    ['machine', `${env.platform}, ${env.cpu}, ${plural(env.cpus, 'CPU')}, ${bytes(env.memoryMiB * 1_048_576)}`],
    ['tools', `kx ${env.kx}, Node ${env.node}`],
    ['knobs', knobs.join(', ')],
    ...config,
  ]
  return table(
    ['', ''],
    facts.map(([name, value]) => [md(name), md(value)]),
    () => false,
  )
}
