import type {LanesFigure, Tone} from '../experiment/figures.js'
import {inkOfTone, type Pen} from './pen.js'
import {instant, joined, ticks, timeExtent, timeLabel} from './scale.js'
import {clip, pad, textTable, textWidth, trimmed} from './text-table.js'

type Lane = LanesFigure['lanes'][number]
type Cell = {readonly character: string; readonly tone?: Tone}
const strokes: Readonly<Record<Tone, readonly [string, string]>> = {
  good: ['━', '='],
  accent: ['═', '#'],
  neutral: ['─', '-'],
  warn: ['╌', '~'],
  bad: ['░', 'x'],
}

/**
 * A timeline for the terminal: a row per lane, spans as strokes (each tone has its own stroke, so that colour is not
 * needed) with their label in them, fault windows as rows of their own on top, marks as numbers told below.
 */
export function lanesText(figure: LanesFigure, pen: Pen, width: number): string[] {
  if (figure.lanes.length === 0) return ['no data']
  const [from, to] = timeExtent(figure)
  const faults = (figure.windows ?? []).map(
    ({fromMs, toMs, label}): Lane => ({name: 'fault', spans: [{fromMs, toMs, label, tone: 'bad'}]}),
  )
  const lanes = [...faults, ...figure.lanes]
  const longest = Math.max(...lanes.map(({name}) => textWidth(pen.text(name))))
  const names = Math.min(longest, Math.max(8, Math.floor(width * 0.25)))
  const room = Math.max(20, width - names - 2)
  const place = (ms: number) => Math.min(room, Math.max(0, Math.round(((ms - from) / (to - from)) * room)))
  const marks = lanes
    .flatMap(({name, marks: own = []}) => own.map(mark => ({mark, name})))
    .sort((a, b) => a.mark.atMs - b.mark.atMs)
  const signs = new Map(marks.map(({mark}, index) => [mark, String.fromCharCode(97 + (index % 26))]))
  const rows = lanes.map(lane => {
    const cells: Cell[] = Array.from({length: room}, () => ({character: ' '}))
    for (const span of joined(lane.spans))
      draw(cells, place(span.fromMs), Math.max(place(span.fromMs) + 1, place(span.toMs)), span, pen)
    for (const mark of lane.marks ?? []) {
      cells[Math.min(room - 1, place(mark.atMs))] = {character: signs.get(mark) ?? '*'}
    }
    return trimmed(`${pad(clip(pen.text(lane.name), names, pen.ellipsis), names)}  ${inked(cells, pen)}`)
  })
  const told = marks.map(({mark, name}) => [
    signs.get(mark) ?? '',
    instant(mark.atMs),
    `${pen.text(name)}: ${pen.text(mark.label)}`,
  ])
  const legend = textTable([{head: ''}, {head: '', align: 'right'}, {head: ''}], told, {
    gap: 2,
    head: false,
    width: width - 2,
  })
  return [...rows, ' '.repeat(names + 2) + axisOf(from, to, room, place), ...legend.map(line => `  ${line}`)]
}

/** A span: `━ broker 1 ━━━━`; a label that is too long ends with an ellipsis, or is left out of a very short span. */
function draw(cells: Cell[], start: number, end: number, {label, tone}: Lane['spans'][number], pen: Pen): void {
  const stroke = strokes[tone][pen.unicode ? 0 : 1]
  const said = clip(pen.text(label), end - start - 3, pen.ellipsis)
  const text = end - start < 6 || said === '' ? '' : `${stroke} ${said} `
  const characters = [...pad(text, end - start).replace(/ +$/, spaces => stroke.repeat(spaces.length))]
  if (text !== '') characters[textWidth(text) - 1] = ' '
  characters.slice(0, cells.length - start).forEach((character, at) => {
    cells[start + at] = {character, tone}
  })
}

/** One colour code per piece of one tone. */
function inked(cells: readonly Cell[], pen: Pen): string {
  let line = ''
  for (let at = 0; at < cells.length; ) {
    const tone = cells[at]?.tone
    let piece = ''
    for (; at < cells.length && cells[at]?.tone === tone; at++) piece += cells[at]?.character
    line += tone === undefined ? piece : pen.ink(inkOfTone[tone], piece)
  }
  return line
}

function axisOf(from: number, to: number, room: number, place: (ms: number) => number): string {
  let line = ''
  for (const tick of ticks(from, to, Math.max(2, Math.floor(room / 12)))) {
    const label = timeLabel(tick)
    const at = Math.min(place(tick), room - label.length)
    if (at >= line.length + (line === '' ? 0 : 1)) line = line.padEnd(at) + label
  }
  return line
}
