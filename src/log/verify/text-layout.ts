/** Words of a text on lines of at most `columns`; the first begins with `first`, the others with as many blanks. */
export function wrap(text: string, first: string, columns: number): string[] {
  const width = Math.max(20, columns - first.length)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  lines.push(line)
  const indent = ' '.repeat(first.length)
  return lines.map((one, n) => `${n === 0 ? first : indent}${one}`)
}

/** Columns as wide as their widest cell, two blanks between them; `right`: columns of numbers. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
): string[] {
  const widths = heads.map((head, n) => Math.max(head.length, ...rows.map(row => (row[n] ?? '').length)))
  return [heads, ...rows].map(row => {
    const cells = widths.map((width, n) => {
      const cell = row[n] ?? ''
      return right.includes(n) ? cell.padStart(width) : cell.padEnd(width)
    })
    return `  ${cells.join('  ')}`.trimEnd()
  })
}
