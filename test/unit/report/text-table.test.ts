import {describe, expect, test} from 'vitest'
import {clip, pad, tableWidth, textTable, textWidth, wrap} from '../../../src/report/text-table.js'

test('width counts what a terminal shows: no colour codes, no combining marks, two for wide characters', () => {
  expect(textWidth('abc')).toBe(3)
  expect(textWidth('\u001b[32mabc\u001b[39m')).toBe(3)
  expect(textWidth('e\u0301')).toBe(1)
  expect(textWidth('記録')).toBe(4)
  expect(textWidth('✅')).toBe(2)
  expect(textWidth('a\u200bb')).toBe(2)
})

test('padding goes to the other side of the alignment, and never cuts', () => {
  expect(pad('ab', 4)).toBe('ab  ')
  expect(pad('ab', 4, 'right')).toBe('  ab')
  expect(pad('abcdef', 4)).toBe('abcdef')
})

test('clipping shows that something was cut, and never breaks a wide character in two', () => {
  expect(clip('abcdef', 6)).toBe('abcdef')
  expect(clip('abcdef', 4)).toBe('abc…')
  expect(clip('記録記録', 4)).toBe('記…')
  expect(clip('abcdef', 2, '...')).toBe('ab')
})

test('text breaks at spaces; a path stays whole unless it stands in a cell', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('see /a/very/long/path now', 8)).toEqual(['see', '/a/very/long/path', 'now'])
  expect(wrap('abcdefgh ij', 3, {cut: true})).toEqual(['abc', 'def', 'gh', 'ij'])
  expect(wrap('', 10)).toEqual([''])
})

describe('a table', () => {
  const columns = [{head: 'name'}, {head: 'size', align: 'right'}] as const

  test('aligns, keeps its gaps and leaves no space at the end of a line', () => {
    expect(
      textTable(columns, [
        ['a', '1'],
        ['longer', '1,000'],
      ]),
    ).toEqual(['name      size', 'a            1', 'longer   1,000'])
    expect(textTable([...columns, {head: 'note'}], [['a', '1', '']])).toEqual(['name   size   note', 'a         1'])
  })

  test('folds a long cell and lets a folded head stand on its numbers', () => {
    const folded = textTable([{head: 'condition'}, {head: 'acked acks=1', align: 'right', maxWidth: 6}], [['a', '500']])
    expect(folded).toEqual(['             acked', 'condition   acks=1', 'a              500'])
  })

  test('gives up width of its widest columns first, of fixed ones never', () => {
    const rows = [['0123456789abcdef', 'one two three four five six seven', '1']]
    const lines = textTable([{head: 'id', fixed: true}, {head: 'text'}, {head: 'n', align: 'right'}], rows, {
      gap: 2,
      width: 40,
    })
    expect(lines.every(line => line.length <= 40)).toBe(true)
    expect(lines[1]).toMatch(/^0123456789abcdef /)
  })

  test('fills rows that are too short, and can do without a head', () => {
    expect(textTable(columns, [['a'], []], {head: false})).toEqual(['a', ''])
  })

  test('paints pieces after they were measured', () => {
    const painted = textTable([{head: 'x', paint: (text, row) => `<${row}:${text}>`}], [['ab'], ['c']])
    expect(painted).toEqual(['<-1:x >', '<0:ab>', '<1:c >'])
  })

  test('tells its width without being drawn', () => {
    const rows = [['abc', '12345']]
    expect(tableWidth(columns, rows)).toBe(Math.max(...textTable(columns, rows).map(textWidth)))
  })
})
