import {safe} from '../util/format.js'

/** Markup that is safe to put into a page. Only this module makes it from text, and it escapes. */
export class Html {
  constructor(readonly markup: string) {}
}

export type Piece = Html | string | number | undefined | false | readonly Piece[]

/**
 * html`<td>${label}</td>`: strings and numbers are escaped, `Html` and arrays of it are taken over, `undefined` and
 * `false` are nothing. So a value of a record can't become markup by being forgotten.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(strings.map((text, index) => text + (index < values.length ? render(values[index]) : '')).join(''))
}

function render(piece: Piece): string {
  if (piece === undefined || piece === false) return ''
  if (piece instanceof Html) return piece.markup
  return typeof piece === 'object' ? piece.map(render).join('') : escaped(String(piece))
}

const entities: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'}

/** For text and for attributes in quotes. Control characters and bidirectional overrides become visible. */
export function escaped(text: string): string {
  return entitled(safe(text.replace(/\s+/gu, ' ')))
}

function entitled(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character] ?? '')
}

/** Lines to be copied: spaces are kept. */
export function commandBlock(lines: readonly string[]): Html {
  return new Html(
    `<pre tabindex="0"><code>${lines.map(line => `<span>${entitled(safe(line))}</span>`).join('')}</code></pre>`,
  )
}

/** A relative path as a link. Never another scheme, whatever the path is called. */
export function relativeLink(path: string): string {
  const part = (name: string) => encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'))
  return `./${path.split('/').map(part).join('/')}`
}
