import type {ReportInput, RunRecord} from '../experiment/run.js'
import {duration, plural} from '../util/format.js'
import {loadCharts} from './html-charts.js'
import {figureHtml} from './html-figures.js'
import {claims, environment, evidence, faults, measures, repeating, trials} from './html-sections.js'
import {style} from './html-style.js'
import {Html, html} from './html-text.js'
import {moment, plannedTrials, sentence} from './values.js'

export interface HtmlOptions {
  /** The run's folder as the commands of the page name it; `run.dir` if not said. `.`: the folder of the page itself. */
  readonly dir?: string
}

interface Section {
  readonly id: string
  readonly title: string
  readonly body: Html
}

/**
 * One page with all that is known of a run. It asks for nothing from anywhere (its policy forbids it), runs no script,
 * follows the reader's light or dark scheme, and prints. While the run goes on it loads itself again.
 */
export async function htmlReport(input: ReportInput, {dir = input.run.dir}: HtmlOptions = {}): Promise<string> {
  const {run} = input
  const charts = await loadCharts()
  const figures = input.figures.map((figure, index) => figureHtml(figure, index, charts))
  const candidates: readonly (Section | false)[] = [
    {
      id: 'claims',
      title: 'Claims',
      body: run.verdict.claims.length > 0 ? claims(run) : html`<p class="soft">No claim was judged yet.</p>`,
    },
    run.columns.length > 0 && {
      id: 'measures',
      title: 'Measures',
      body: html`${measures(run)}${run.example !== undefined && html`<blockquote>${run.example}</blockquote>`}`,
    },
    figures.length > 0 && {id: 'figures', title: 'Figures', body: html`${figures}`},
    {
      id: 'trials',
      title: 'Trials',
      body: run.trials.length > 0 ? trials(run) : html`<p class="soft">No trial has ended yet.</p>`,
    },
    input.faults.length > 0 && {id: 'faults', title: 'Faults', body: faults(input)},
    input.evidence.length > 0 && {id: 'evidence', title: 'Evidence', body: evidence(input, dir)},
    {id: 'repeat', title: 'Repeat it', body: repeating(input)},
    {id: 'environment', title: 'Environment', body: environment(run)},
  ]
  return page(
    run,
    candidates.filter(section => section !== false),
  )
}

function page(run: RunRecord, sections: readonly Section[]): string {
  const links = sections.map(({id, title}) => html`<a href="#${id}">${title}</a>`)
  const parts = sections.map(
    ({id, title, body}) =>
      html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2><div class="body">${body}</div></section>`,
  )
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
${run.state === 'running' && html`<meta http-equiv="refresh" content="5">`}
<meta name="color-scheme" content="light dark">
<meta name="generator" content="kx ${run.environment.kx}">
<link rel="icon" href="data:,">
<title>${run.experiment} ${run.id}: ${run.verdict.outcome}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<header>
<p class="eyebrow"><span>kx experiment</span> <b>${run.experiment}</b> <span>run ${run.id}</span> <time datetime="${run.startedAt}">${moment(run.startedAt)}</time></p>
<h1>${run.question}</h1>
<p class="hypothesis"><span>Hypothesis</span> ${run.hypothesis}</p>
</header>
${verdictCard(run)}
<nav aria-label="Parts of this report">${links}</nav>
${parts}
<footer>Made by kx ${run.environment.kx} from the stored trials. Judge them again: <code>kx results rejudge ${run.experiment}/${run.id}</code></footer>
</main>
</body>
</html>
`
  return document.markup
}

function verdictCard(run: RunRecord): Html {
  const {outcome, because} = run.verdict
  const sign = {upheld: '✔', refuted: '✘', inconclusive: '?'}[outcome]
  const states = {
    done: undefined,
    running: `Still running: ${run.trials.length} of ${plannedTrials(run)} trials have ended.`,
    interrupted: `Interrupted after ${run.trials.length} of ${plannedTrials(run)} trials.`,
    failed: `Failed after ${run.trials.length} of ${plannedTrials(run)} trials.`,
  }
  const facts: readonly (readonly [string, string])[] = [
    [
      'claims upheld',
      `${run.verdict.claims.filter(claim => claim.outcome === 'upheld').length} of ${run.verdict.claims.length}`,
    ],
    ['trials', `${run.trials.length}${run.quick ? ', quick' : ''}`],
    ['Kafka', `${run.environment.kafka}, ${run.environment.runtime}`],
    ['profile', run.cluster.spec.profile],
    ['took', duration(run.durationMs)],
  ]
  return html`<section class="verdict ${outcome}" aria-label="Verdict">
<p class="word"><span class="sign" aria-hidden="true">${sign}</span> ${outcome}</p>
<div class="why">${states[run.state] !== undefined && html`<p><strong>${states[run.state]}</strong></p>`}${because !== undefined && html`<p>${sentence(because)}</p>`}<p>${summaryOf(run)}</p></div>
<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="limit"><strong>It does not show:</strong> ${run.doesNotShow}</p>
</section>`
}

function summaryOf({verdict, trials}: RunRecord): string {
  const wrong = verdict.claims.filter(({outcome}) => outcome === verdict.outcome && outcome !== 'upheld')
  const spoilt = trials.filter(({outcome}) => outcome !== 'ok').length
  const rest = spoilt === 0 ? '' : ` ${plural(spoilt, 'trial')} did not count.`
  if (wrong.length === 0)
    return verdict.outcome === 'upheld'
      ? `Every claim held in the trials that could have refuted it.${rest}`
      : rest.trim()
  return `${wrong.map(({claim, because}) => `${claim}: ${because}`).join('; ')}.${rest}`
}
