/** Plain text for a terminal: width, wrapping and tables. Everything that kx prints in columns goes through here. */

export interface TextColumn {
  readonly head: string
  readonly align?: 'left' | 'right'
  /** Wider cells are wrapped. */
  readonly maxWidth?: number
  /** Never wrapped to make a table fit. */
  readonly fixed?: boolean
  /** Colours a finished piece of a cell (row −1 is the head). It must not change the width. */
  readonly paint?: (text: string, row: number) => string
}

export interface TextTableOptions {
  /** Spaces between two columns; 3 if not said. */
  readonly gap?: number
  /** If the table is wider, its widest left-aligned columns are wrapped until it fits (never below 12). */
  readonly width?: number
  /** `false` leaves the head out. */
  readonly head?: boolean
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const ansi = /\u001b\[[0-9;]*m/g
const zeroWidth = /\p{Mark}|\p{Format}/u
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** Columns that a text takes on a terminal; colour takes none, East Asian characters and emoji take two. */
export function textWidth(text: string): number {
  let width = 0
  for (const character of text.replace(ansi, '')) width += zeroWidth.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const gap = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'left' ? text + gap : gap + text
}

/**
 * Breaks a text into lines at its spaces. A word longer than a line is cut in a table cell (`cut`), and left whole
 * elsewhere, because a path or a command must survive copying.
 */
export function wrap(text: string, width: number, {cut = false} = {}): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/ +/).flatMap(each => (cut ? pieces(each, width) : [each]))) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Cuts a text to a width; what was cut is shown by `ellipsis`. */
export function clip(text: string, width: number, ellipsis = '…'): string {
  if (textWidth(text) <= width) return text
  if (width <= textWidth(ellipsis)) return take(text, width)
  return take(text, width - textWidth(ellipsis)) + ellipsis
}

function take(text: string, width: number): string {
  let taken = ''
  let used = 0
  for (const character of text) {
    used += textWidth(character)
    if (used > width) break
    taken += character
  }
  return taken
}

function pieces(word: string, width: number): string[] {
  const result: string[] = []
  let rest = word
  while (textWidth(rest) > width) {
    const piece = take(rest, width) || [...rest][0] || ''
    result.push(piece)
    rest = rest.slice(piece.length)
  }
  return [...result, rest]
}

/** The lines of a table, without trailing spaces. A row that is too short is filled with empty cells. */
export function textTable(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  {gap = 3, width, head = true}: TextTableOptions = {},
): string[] {
  const widths = columnWidths(columns, rows, gap, width, head)
  const all = head ? [columns.map(column => column.head), ...rows] : rows
  return all.flatMap((cells, index) => {
    const row = head ? index - 1 : index
    const wrapped = columns.map((_, c) => wrap(cells[c] ?? '', widths[c] ?? 1, {cut: true}))
    const height = Math.max(1, ...wrapped.map(lines => lines.length))
    return Array.from({length: height}, (_, line) => {
      const parts = columns.map(({align = 'left', paint = plain}, c) => {
        // A head of two lines stands on the bottom, next to its numbers.
        const lines = wrapped[c] ?? []
        const text = lines[row === -1 ? line - (height - lines.length) : line] ?? ''
        const padded = pad(text, widths[c] ?? 0, align)
        return text === '' ? padded : paint(padded, row)
      })
      return trimmed(parts.join(' '.repeat(gap)))
    })
  })
}

/** The width that a table would take. */
export function tableWidth(columns: readonly TextColumn[], rows: readonly (readonly string[])[], gap = 3): number {
  return total(columnWidths(columns, rows, gap, undefined, true), gap)
}

function columnWidths(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  gap: number,
  width: number | undefined,
  head: boolean,
): number[] {
  const widths = columns.map((column, c) => {
    // Not by way of arguments: there may be more rows than a call takes.
    const natural = rows.reduce(
      (widest, row) => Math.max(widest, textWidth(row[c] ?? '')),
      Math.max(1, head ? textWidth(column.head) : 0),
    )
    return Math.min(natural, column.maxWidth ?? natural)
  })
  if (width === undefined) return widths
  for (;;) {
    const excess = total(widths, gap) - width
    const shrinkable = columns.flatMap(({align = 'left', fixed}, c) =>
      align === 'left' && !fixed && (widths[c] ?? 0) > 12 ? [c] : [],
    )
    const widest = shrinkable.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0]
    if (excess <= 0 || widest === undefined) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
  }
}

function total(widths: readonly number[], gap: number): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap * Math.max(0, widths.length - 1)
}

function plain(text: string): string {
  return text
}

/** Trailing spaces, also those in front of a closing colour. */
export function trimmed(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the reset sequence is meant
  return line.replace(/ +((?:\u001b\[[0-9;]*m)*)$/, '$1')
}
