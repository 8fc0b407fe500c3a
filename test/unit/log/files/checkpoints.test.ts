import {describe, expect, test} from 'vitest'
import {
  parseLeaderEpochCheckpoint,
  parseOffsetCheckpoint,
  writeCheckpoint,
} from '../../../../src/log/files/checkpoints.js'
import {linesAtMost} from '../../../../src/log/files/text-lines.js'

const epochs = (text: string | Buffer) => {
  const file = parseLeaderEpochCheckpoint(Buffer.from(text))
  return {
    file,
    entries: file.entries.map(({epoch, startOffset}) => `${epoch} ${startOffset}`),
    codes: file.problems.map(({code, severity}) => `${severity} ${code}`),
  }
}

describe('a leader epoch checkpoint', () => {
  test('gives its epochs, and is written back as it was', () => {
    const text = '0\n2\n0 0\n3 28\n'
    const {file, entries, codes} = epochs(text)
    expect({entries, codes}).toEqual({entries: ['0 0', '3 28'], codes: []})
    expect(file).toMatchObject({version: 0, statedCount: 2, badLines: []})
    expect(writeCheckpoint(file.entries)).toBe(text)
  })

  test('keeps offsets exact', () => {
    expect(epochs('0\n1\n2147483647 9223372036854775807\n').entries).toEqual(['2147483647 9223372036854775807'])
  })

  test('has no entries if it is empty, or only has a version', () => {
    expect(epochs('')).toMatchObject({entries: [], codes: [], file: {version: undefined, statedCount: undefined}})
    expect(epochs('0\n')).toMatchObject({entries: [], codes: []})
    expect(epochs('0\n0\n')).toMatchObject({entries: [], codes: []})
  })

  test.each([
    ['a count that is too large', '0\n3\n0 0\n', ['0 0'], ['error count-wrong']],
    ['a count that is too small', '0\n1\n0 0\n1 5\n', ['0 0', '1 5'], ['error count-wrong']],
    ['a count that is no number', '0\nx\n0 0\n', ['0 0'], ['error count-unreadable']],
    ['a negative count', '0\n-1\n', [], ['error count-unreadable']],
    ['version 1', '1\n1\n0 0\n', ['0 0'], ['error version-unknown']],
    ['no version', 'zero\n1\n0 0\n', ['0 0'], ['error version-unreadable']],
    ['falling epochs', '0\n2\n5 0\n3 9\n', ['5 0', '3 9'], ['error checkpoint-epoch-falls']],
    ['an epoch twice', '0\n2\n5 0\n5 9\n', ['5 0', '5 9'], ['error checkpoint-epoch-repeats']],
    ['falling offsets', '0\n2\n0 9\n3 8\n', ['0 9', '3 8'], ['error checkpoint-offset-falls']],
    ['two epochs at one offset', '0\n2\n0 9\n3 9\n', ['0 9', '3 9'], ['warning checkpoint-offset-repeats']],
    ['a negative epoch', '0\n1\n-1 9\n', ['-1 9'], ['error checkpoint-epoch-negative']],
    ['a line that is no entry', '0\n2\n0 0\n1 x\n', ['0 0'], ['error line-unreadable']],
    ['a line of three fields', '0\n1\n1 2 3\n', [], ['error line-unreadable']],
    ['a leading blank', '0\n1\n 1 2\n', [], ['error line-unreadable']],
    ['an empty line', '0\n1\n0 0\n\n', ['0 0'], ['error line-unreadable', 'error count-wrong']],
    ['an offset beyond 64 bits', '0\n1\n0 9223372036854775808\n', [], ['error line-unreadable']],
    ['CRLF', '0\r\n1\r\n0 7\r\n', ['0 7'], ['info carriage-returns']],
    ['CR only', '0\r1\r0 7\r', ['0 7'], ['info carriage-returns']],
    ['no last line end', '0\n1\n0 7', ['0 7'], ['warning unfinished-line']],
    ['signs and many blanks, as Java reads them', '+0\n+1\n+3\t \t7  \n', ['3 7'], []],
  ])('with %s says so', (_, text, entries, codes) => {
    expect(epochs(text)).toMatchObject({entries, codes})
  })

  test('that is no text says so, and shows no bytes that drive a terminal', () => {
    const {codes, file} = epochs(Buffer.from([0x30, 0x0a, 0xff, 0x1b, 0x5b, 0x32, 0x4a, 0x0a, 0xff, 0x0a]))
    expect(codes).toEqual(['error not-utf8', 'error count-unreadable', 'error line-unreadable'])
    for (const {explanation} of file.problems) expect(explanation).not.toMatch(/[^ -~\u00a0-\uffff]/)
  })

  test('keeps bad lines as they stand, with their numbers and places', () => {
    const {file} = epochs('0\n2\n0 0\nwhat\n')
    expect(file.badLines).toEqual([{line: 4, raw: 'what'}])
    expect(file.problems[0]).toMatchObject({position: 8, explanation: 'line 4 is no entry: "what"'})
  })

  test('of more lines than any broker has tells the first bad ones and counts the rest', () => {
    const {file} = epochs(`0\n${linesAtMost}\n${'x\n'.repeat(linesAtMost)}`)
    expect(file.problems.length).toBeLessThan(25)
    expect(file.problems.map(({explanation}) => explanation)).toContain(
      `of ${linesAtMost + 2} lines only the first ${linesAtMost} were read`,
    )
    expect(file.problems.map(({code}) => code)).not.toContain('count-wrong')
  })
})

describe('an offset checkpoint', () => {
  const offsets = (text: string) => {
    const file = parseOffsetCheckpoint(Buffer.from(text))
    return {file, codes: file.problems.map(({code}) => code)}
  }

  test('gives offsets per partition, and is written back as it was', () => {
    const text = '0\n2\n__consumer_offsets 0 86\nmy-topic 12 9223372036854775807\n'
    const {file, codes} = offsets(text)
    expect(codes).toEqual([])
    expect(file.entries).toEqual([
      {topic: '__consumer_offsets', partition: 0, offset: 86n},
      {topic: 'my-topic', partition: 12, offset: 2n ** 63n - 1n},
    ])
    expect(writeCheckpoint(file.entries)).toBe(text)
  })

  test.each([
    ['0\n1\na 0\n', ['line-unreadable']],
    ['0\n1\na x 0\n', ['line-unreadable']],
    ['0\n1\na 0 1 2\n', ['line-unreadable']],
    ['0\n2\na 0 1\na 0 2\n', ['partition-twice']],
    ['0\n1\na 0 -1\n', ['checkpoint-offset-negative']],
    ['0\n1\na -1 5\n', ['partition-negative']],
    ['0\n0\n', []],
    ['', []],
  ])('%j has the problems %j', (text, expected) => {
    expect(offsets(text).codes).toEqual(expected)
  })
})
