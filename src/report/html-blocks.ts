import type {Block, BlocksFigure} from '../experiment/figures.js'
import {type Html, html} from './html-text.js'
import {quantity, shownUnit, withUnit} from './values.js'

/** Parts of a whole as blocks, each as wide as it is large. With a `line` they are small, and long rows go on below. */
export function blocksHtml(figure: BlocksFigure): Html {
  const {rows, unit, line, caption, legend = []} = figure
  const largest = Math.max(1, ...rows.map(({blocks}) => blocks.reduce((sum, {size}) => sum + size, 0)))
  const drawn = rows.map(({name, note, blocks}) => {
    const parts = blocks.map(block => (line === undefined ? large(block, unit, largest) : small(block, unit, line)))
    const list = html`<p class="parts on-narrow">${blocks.map(({size, label}) => `${label} ${quantity(size, unit)}`).join(', ')}</p>`
    return html`<div class="row"><div class="name">${name}${note !== undefined && html`<small>${note}</small>`}</div><div class="bar">${parts}</div>${line === undefined && list}</div>`
  })
  const tones = legend.map(({tone, text}) => html`<li><span class="block ${tone}"></span> ${text}</li>`)
  const told = caption ?? (shownUnit(unit) ? `Widths and numbers: ${unit}.` : undefined)
  const kind = line === undefined ? '' : 'strip'
  return html`<div class="stack ${kind}">${drawn}</div>${told !== undefined && html`<p class="soft small">${told}</p>`}${tones.length > 0 && html`<ul class="tones">${tones}</ul>`}`
}

function large(block: Block, unit: string, largest: number): Html {
  const {size, label, tone} = block
  return html`<span class="block ${tone}" style="width:${percent(size / largest)}" title="${detailOf(block, unit)}"><em>${label}</em> ${quantity(size, unit)}</span>`
}

/** The gaps between blocks take a part of the line. */
const usable = 0.94
/** About so many letters fit into a line, beside the room that each block leaves at its sides. */
const lettersInLine = 84
const lettersBeside = 1.5

function small(block: Block, unit: string, line: number): Html {
  const {size, label, tone, head = 0, short = label} = block
  const share = (size / line) * usable
  const style = `width:${percent(share)};--head:${percent(size > 0 ? head / size : 0)}`
  const number = quantity(size, unit)
  const fits = (text: string) => text.length + lettersBeside <= share * lettersInLine
  const slim = !fits(number)
  const text = slim ? html`<em>${short}</em>` : html`<em>${fits(label) ? label : short}</em><i>${number}</i>`
  return html`<span class="block ${tone} ${slim && 'slim'}" style="${style}" title="${detailOf(block, unit)}">${text}</span>`
}

function detailOf({size, label, detail}: Block, unit: string): string {
  return detail ?? `${label}: ${withUnit(quantity(size, unit), shownUnit(unit))}`
}

/** A share of the width, within the drawing whatever the numbers are. */
export function percent(share: number): string {
  return `${Number((Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * 100).toFixed(3))}%`
}
