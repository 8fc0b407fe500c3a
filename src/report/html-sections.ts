import type {ReportInput, RunRecord, TrialRecord} from '../experiment/run.js'
import {bytes, duration, plural} from '../util/format.js'
import {byHand} from './by-hand.js'
import {scrolling, unitHtml} from './html-figures.js'
import {commandBlock, Html, html, relativeLink} from './html-text.js'
import {evidenceCommands, evidenceFolders, repeatCommand, shellWord} from './repeat.js'
import {instant} from './scale.js'
import {cell, type Column, headUnit, labelOf, measureOf, quantity, range} from './values.js'

const signs = {upheld: '✔', refuted: '✘', inconclusive: '?', ok: '✔', failed: '✘'} as const
const quantifiers = {
  always: 'One counter-example refutes it.',
  sometimes: 'One witness upholds it.',
  ordered: 'All blocks must agree on the order.',
  control: 'Shows that the method alone does not make the effect.',
} as const

export function claims({verdict}: RunRecord): Html {
  const items = verdict.claims.map(
    ({claim, quantifier, outcome, because, telling}) =>
      html`<li class="${outcome}"><span class="sign" aria-hidden="true">${signs[outcome]}</span><div><p class="claim">${claim} <abbr title="${`${quantifiers[quantifier]} ${plural(telling, 'trial')} could tell.`}">${quantifier}</abbr></p></div><p class="because"><strong>${outcome}</strong> ${because}</p></li>`,
  )
  return html`<ol class="claims">${items}</ol>`
}

export function measures(run: RunRecord): Html {
  const head = run.columns.map(({label, unit}) => html`<th scope="col" class="number">${label}${unitHtml(unit)}</th>`)
  const rows = run.conditions.map(
    ({id, label}) =>
      html`<tr><th scope="row">${label}</th>${run.columns.map(column => measureCell(run, id, column))}</tr>`,
  )
  return html`${scrolling(html`<table class="measures"><thead><tr><th scope="col">condition</th>${head}</tr></thead><tbody>${rows}</tbody></table>`, 'Measures by condition')}
<p class="soft small">A number on which all trials agree stands alone. Otherwise: from the least to the greatest where fewer than six values were seen, else the median. Raw values per trial: <a href="measures.csv">measures.csv</a>.</p>`
}

function measureCell(run: RunRecord, condition: string, {measure, unit}: Column): Html {
  const found = measureOf(run, condition, measure)
  const spread =
    found &&
    found.n >= 6 &&
    found.min !== found.max &&
    html`<small>${range(found.min ?? 0, found.max ?? 0, unit)}</small>`
  return html`<td class="number">${cell(found)}${spread || undefined}</td>`
}

export function trials(run: RunRecord): Html {
  const head = run.columns.map(
    ({short, label, unit}) =>
      html`<th scope="col" class="number" title="${label}">${short}${unitHtml(headUnit(unit))}</th>`,
  )
  const row = (trial: TrialRecord) =>
    html`<tr class="${trial.outcome}"><th scope="row" class="number">${trial.number}</th><td class="condition">${labelOf(run, trial.condition)}</td><td class="outcome"><span class="sign" aria-hidden="true">${signs[trial.outcome]}</span> ${trial.outcome}</td><td class="number">${duration(trial.durationMs)}</td>${run.columns.map(({measure, unit}) => html`<td class="number">${quantity(trial.measures[measure] ?? null, unit)}</td>`)}</tr>${trial.reason !== undefined && html`<tr class="reason"><td></td><td colspan="${3 + run.columns.length}">${trial.reason}</td></tr>`}`
  return scrolling(
    html`<table><thead><tr><th scope="col" class="number">trial</th><th scope="col">condition</th><th scope="col">outcome</th><th scope="col" class="number">took</th>${head}</tr></thead><tbody>${run.trials.map(row)}</tbody></table>`,
    'Trials',
  )
}

export function faults({faults}: ReportInput): Html {
  const rows = faults.map(({trial, fault, nodeId, mechanism, evidence, startMs}, index) => {
    const first = faults[index - 1]?.trial !== trial
    return html`<tr class="${first ? 'first' : ''}"><td class="number">${first && trial}</td><td class="number">${instant(startMs)}</td><td><strong>${fault}</strong> node ${nodeId}</td><td>${mechanism}</td><td>${evidence}</td></tr>`
  })
  return scrolling(
    html`<table class="faults"><thead><tr><th scope="col" class="number">trial</th><th scope="col" class="number">at</th><th scope="col">fault</th><th scope="col">how</th><th scope="col">proof that it took hold</th></tr></thead><tbody>${rows}</tbody></table>`,
    'Faults',
  )
}

export function evidence(input: ReportInput, dir: string): Html {
  const at = (path: string) => shellWord(dir === '.' ? path : `${dir}/${path}`)
  const folders = evidenceFolders(input)
  const groups = folders.map(folder => ({
    folder,
    files: input.evidence.filter(({path}) => path.startsWith(`${folder}/`)),
  }))
  const loose = input.evidence.filter(({path}) => !folders.some(folder => path.startsWith(`${folder}/`)))
  if (loose.length > 0) groups.push({folder: 'evidence', files: loose})
  const parts = groups.map(({folder, files}, index) => {
    const dumps = files.flatMap(({path}) =>
      /\.log(\.gz)?$/.test(path) ? `kafka-dump-log.sh --print-data-log --files ${at(path.replace(/\.gz$/, ''))}` : [],
    )
    const zipped = files.some(({path}) => path.endsWith('.gz'))
    const kafkas =
      dumps.length === 0
        ? []
        : ['# with Kafka’s own tool:', ...(zipped ? [`gunzip --keep --recursive ${at(folder)}`] : []), ...dumps]
    const lines = [...evidenceCommands(input, folder, dir), ...kafkas]
    const size = bytes(files.reduce((sum, {sizeInBytes}) => sum + sizeInBytes, 0))
    return html`<details${index === 0 && new Html(' open')}><summary>${folder} <span class="soft">${plural(files.length, 'file')}, ${size}</span></summary>${lines.length > 0 && commandBlock(lines)}${fileTable(files)}</details>`
  })
  const zipped = input.evidence.some(({path}) => path.endsWith('.gz'))
  return html`<p>The files on which the verdict rests, of all replicas.${dir === '.' && ' The commands are for the folder of this report.'}${zipped && ' They are stored compressed; size and digest are those of the file as it lay on the broker’s disk. kx reads them as they are, Kafka’s own tool after gunzip.'}</p>${parts}`
}

function fileTable(files: ReportInput['evidence']): Html {
  const rows = files.map(
    ({path, sizeInBytes, sha256}) =>
      html`<tr><td class="path"><a href="${relativeLink(path)}">${path}</a></td><td class="number">${bytes(sizeInBytes)}</td><td class="hash">${sha256}</td></tr>`,
  )
  return scrolling(
    html`<table><thead><tr><th scope="col">file</th><th scope="col" class="number">size</th><th scope="col">SHA-256</th></tr></thead><tbody>${rows}</tbody></table>`,
    'Evidence files',
  )
}

export function repeating(input: ReportInput): Html {
  const steps = byHand(input).map(({text, commands}) => html`<li><p>${text}</p>${commandBlock(commands)}</li>`)
  return html`<p>The same plan again, with the same seed:</p>${commandBlock([repeatCommand(input.run)])}
<h3>By hand, with Kafka’s own tools</h3><ol class="steps">${steps}</ol>`
}

export function environment({environment: env, cluster, notes, ...run}: RunRecord): Html {
  const {spec} = cluster
  const facts: readonly (readonly [string, string])[] = [
    ['Kafka', `${env.kafka}, ${env.runtime}`],
    [
      'Cluster',
      `${plural(spec.brokers, 'broker')}, ${spec.controllers === 0 ? 'combined roles' : plural(spec.controllers, 'isolated controller')}, profile ${spec.profile}; “${cluster.name}”, ${cluster.ephemeral ? 'made for this run' : 'standing'}`,
    ],
    ['JVM', `heap ${spec.heapMiB} MiB${spec.compiler === 'c1' ? ', C1 only' : ''}`],
    [
      'Features',
      Object.entries(env.features)
        .map(([name, level]) => `${name} ${level}`)
        .join(', ') || 'none',
    ],
    ['Machine', `${env.platform}, ${env.cpu}, ${plural(env.cpus, 'CPU')}, ${bytes(env.memoryMiB * 1_048_576)}`],
    ['Tools', `kx ${env.kx}, Node ${env.node}`],
    ['Seed', String(run.seed)],
    [
      'Knobs',
      Object.entries(run.knobs)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ') || 'none',
    ],
    ['Experiment', `SHA-256 ${env.experimentHash}`],
  ]
  const config = Object.entries({...env.brokerConfig, ...spec.config}).sort(([a], [b]) => (a < b ? -1 : 1))
  const settings = config.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${settings.length > 0 && html`<h3>Effective broker settings</h3>${scrolling(html`<table class="settings"><tbody>${settings}</tbody></table>`, 'Broker settings')}`}
${notes.length > 0 && html`<h3>Notes</h3><ul>${notes.map(note => html`<li>${note}</li>`)}</ul>`}`
}
