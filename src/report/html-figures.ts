import type {Figure, LanesFigure, TableFigure} from '../experiment/figures.js'
import {messageOf} from '../util/errors.js'
import {blocksHtml, percent} from './html-blocks.js'
import {barsHeight, type Charts} from './html-charts.js'
import {type Html, html, type Piece} from './html-text.js'
import {instant, joined, ticks, timeExtent, timeLabel} from './scale.js'
import {quantity, shownUnit} from './values.js'

type Lane = LanesFigure['lanes'][number]

/** A figure with its title; `index` tells it from the others of the page. */
export function figureHtml(figure: Figure, index: number, charts: Charts): Html {
  return html`<figure class="${figure.kind}" id="figure-${index + 1}"><figcaption>${figure.title}</figcaption>${attempt(() => body(figure, index, charts))}</figure>`
}

/** The page is written while a run goes on: a drawing that fails must not cost the run. It says so in its place. */
function attempt(draw: () => Html): Html {
  try {
    return draw()
  } catch (error) {
    return html`<p class="soft">This figure can’t be drawn: ${messageOf(error)}</p>`
  }
}

function body(figure: Figure, index: number, charts: Charts): Html {
  switch (figure.kind) {
    case 'table':
      return tableHtml(figure)
    case 'lanes':
      return figure.lanes.length === 0 ? nothing : lanesHtml(figure)
    case 'blocks':
      return blocksHtml(figure)
    case 'lines':
      if (figure.series.every(({points}) => points.length === 0)) return nothing
      return drawn(figure.title, (name, width) => charts.lines(figure, {id: `f${index}${name}`, width, height: 280}))
    case 'bars':
      if (figure.bars.length === 0) return nothing
      return drawn(figure.title, (name, width) =>
        charts.bars(figure, {id: `f${index}${name}`, width, height: barsHeight(figure)}),
      )
  }
}

const nothing = html`<p class="soft">No data.</p>`

/** Twice: scaled down to a phone, the letters of the wide drawing could not be read. The style sheet shows one. */
function drawn(title: string, draw: (name: string, width: number) => Html): Html {
  return html`<div class="chart" role="img" aria-label="${title}"><div class="on-wide">${draw('w', 840)}</div><div class="on-narrow">${draw('n', 340)}</div></div>`
}

/** A wide table scrolls in its own box, never the page. */
export function scrolling(table: Html, label: string): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">${table}</div>`
}

function tableHtml({title, columns, rows}: TableFigure): Html {
  const align = (index: number) => (columns[index]?.align === 'right' ? 'number' : 'text')
  const head = columns.map(
    ({label, unit}, index) => html`<th scope="col" class="${align(index)}">${label}${unitHtml(unit)}</th>`,
  )
  const cells = (row: TableFigure['rows'][number]) =>
    columns.map((_, index) => {
      const value = row[index] ?? null
      return html`<td class="${align(index)}">${typeof value === 'string' ? value : quantity(value, '')}</td>`
    })
  const body = rows.map(row => html`<tr>${cells(row)}</tr>`)
  return scrolling(html`<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`, title)
}

export function unitHtml(unit: string | undefined): Piece {
  return shownUnit(unit) ? html` <span class="unit">${unit}</span>` : ''
}

function lanesHtml(figure: LanesFigure): Html {
  const [from, to] = timeExtent(figure)
  const share = (ms: number) => percent((ms - from) / (to - from))
  const steps = ticks(from, to, 8)
  const windows = figure.windows ?? []
  const marks = figure.lanes
    .flatMap(lane => (lane.marks ?? []).map(mark => ({mark, lane: lane.name})))
    .sort((a, b) => a.mark.atMs - b.mark.atMs)
  const letters = new Map(marks.map(({mark}, index) => [mark, letter(index)]))
  const grid = steps.map(ms => html`<i class="tick" style="left:${share(ms)}"></i>`)
  const bands = windows.map(
    ({fromMs, toMs}) =>
      html`<i class="band" style="left:${share(fromMs)};width:${percent((toMs - fromMs) / (to - from))}"></i>`,
  )
  const row = (lane: Lane, kind = '') => {
    const spans = joined(lane.spans).map(span => spanHtml(span, lane.marks ?? [], [from, to]))
    const signs = (lane.marks ?? []).map(
      mark =>
        html`<b class="mark" style="left:${share(mark.atMs)}" title="${`${instant(mark.atMs)} ${mark.label}`}">${letters.get(mark)}</b>`,
    )
    return html`<div class="lane ${kind}"><div class="name">${lane.name}</div><div class="track">${grid}${kind === '' && bands}${spans}${signs}</div></div>`
  }
  const faults = windows.map(window => row({name: 'fault', spans: [{...window, tone: 'bad'}]}, 'fault'))
  const axis = steps.map((ms, index) => {
    const place = (ms - from) / (to - from)
    const kind = [index % 2 === 1 ? 'minor' : '', place < 0.03 ? 'first' : place > 0.97 ? 'last' : ''].join(' ')
    return html`<span class="${kind}" style="left:${share(ms)}">${timeLabel(ms)}</span>`
  })
  const legend = marks.map(
    ({mark, lane}) =>
      html`<li><b class="mark">${letters.get(mark)}</b> <span class="at">${instant(mark.atMs)}</span> <span>${lane}: ${mark.label}</span></li>`,
  )
  return html`<div class="timeline">${faults}${figure.lanes.map(lane => row(lane))}<div class="lane axis"><div class="name"></div><div class="track">${axis}</div></div></div>${legend.length > 0 && html`<ul class="marks">${legend}</ul>`}`
}

function spanHtml(
  {fromMs, toMs, label, tone}: Lane['spans'][number],
  marks: NonNullable<Lane['marks']>,
  [from, to]: readonly [number, number],
): Html {
  const share = (ms: number) => ms / (to - from)
  // A mark at the beginning of a span lies over the first letters of its label; in a short span nothing is left of it.
  const covered = marks.some(({atMs}) => Math.abs(share(atMs - fromMs)) < 0.012)
  const room = share(toMs - fromMs) < (covered ? 0.1 : 0.05) ? 'tiny' : covered ? 'covered' : ''
  const told = `${label}: ${instant(fromMs)} to ${instant(toMs)}`
  return html`<span class="span ${tone} ${room}" style="left:${percent(share(fromMs - from))};width:${percent(share(toMs - fromMs))}" title="${told}">${label}</span>`
}

function letter(index: number): string {
  return String.fromCharCode(97 + (index % 26)) + (index >= 26 ? String(Math.floor(index / 26)) : '')
}
