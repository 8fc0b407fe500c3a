import {describe, expect, test} from 'vitest'
import {findingCodes, type FindingKind} from '../../../../src/log/verify/codes.js'
import {FindingList} from '../../../../src/log/verify/finding-list.js'
import {reportText} from '../../../../src/log/verify/report-text.js'
import {table, wrap} from '../../../../src/log/verify/text-layout.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {abc, goldenFiles, patched, stem, verified, verifiedFile} from './folders.js'

const log = `${stem}.log`
const layout = {columns: 100, unicode: true}

describe('the text of a report', () => {
  test('has the overview, the findings and the conclusions', async () => {
    const lines = reportText(await verifiedFile({[log]: patched(abc, 70, 9)}, log), layout)
    expect(lines).toEqual([
      'orders-0/00000000000000000000.log: log, 233 bytes',
      '  offsets       0 to 3',
      '  batches       3 (1 control, 1 damaged), 2 records',
      '  times         2023-11-14T22:13:20.010Z to 2023-11-14T22:13:20.020Z',
      '  none          2 batches, 26 B',
      '  producers     1000 (epoch 1, 1 record, transactional)',
      '  epochs        3 from 0',
      '  transactions  1 committed, 0 aborted, 0 open; last stable offset 4',
      '',
      'Findings',
      '  error   crc: 00000000000000000000.log at byte 0, offset 0: the stored CRC is 4051016623, that of',
      '          the 85 bytes of the batch is 1857929966',
      '',
      'Conclusions',
      '  • 1 error.',
      '  • The first damage is at byte 0 of 00000000000000000000.log (offset 0). In all, 1 batch cannot be',
      '    trusted.',
      '  • Behind it 2 records in 2 batches can be read; --salvage copies the readable batches to a new',
      '    file.',
      '  • After an unclean stop the broker recovers: it cuts 00000000000000000000.log at byte 0; 2',
      '    readable records, offsets 0 to 3, would be lost on this replica. After a clean stop it checks',
      '    nothing.',
      '  • As long as it is not cut and this replica leads, consumers and followers stop at offset 0 (byte',
      '    0 of 00000000000000000000.log): a consumer gets an exception on each poll until it seeks beyond',
      '    it, a follower cannot copy further and leaves the in-sync replicas.',
    ])
  })

  test('lists the segments of a folder', async () => {
    const lines = reportText(await verified(goldenFiles('real', 'txn-clean')), layout)
    expect(lines).toContain(
      '  segment                   offsets     size  batches  records  newest                    indexes',
    )
    expect(lines.filter(line => /^ {2}0{19}[03]\.log {2}/.test(line))).toHaveLength(2)
    expect(lines).toContain('  • Nothing is wrong. 1 thing is worth knowing.')
  })

  test('is never wider than asked, but for what has no blank', async () => {
    const lines = reportText(await verifiedFile({[log]: abc.subarray(0, 200)}, log), {columns: 60, unicode: true})
    expect(lines.filter(line => line.length > 60)).toEqual([])
  })

  test('is ASCII where it must be', async () => {
    const report = await verifiedFile({[log]: abc.subarray(0, 200)}, log)
    const lines = reportText(report, {columns: 80, unicode: false})
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
    expect(lines.join('\n')).toMatch(/^[\x00-\x7f]*$/)
  })

  test('is bounded: the first of a kind, and how many more there are', async () => {
    const one = writeBatch({records: [{timestamp: 1n, key: null, value: Buffer.from('v')}]})
    const batches = Array.from({length: 1_239}, (_, n) => {
      const batch = patched(one, one.length - 2, 0x41)
      batch.writeBigInt64BE(BigInt(n))
      return batch
    })
    const lines = reportText(await verifiedFile({[log]: Buffer.concat(batches)}, log), layout)
    expect(lines).toContain('  error   crc: and 1,234 more')
    expect(lines.length).toBeLessThan(60)
  })

  test('drives no terminal', async () => {
    const name = '\u001b[31mred.log'
    const lines = reportText(await verifiedFile({[name]: abc.subarray(0, 200)}, name), layout)
    expect(lines.join('\n')).not.toContain('\u001b')
  })

  test('is plain data: a report survives JSON but for its 64-bit numbers', async () => {
    const report = await verified(goldenFiles('real', 'txn-clean'))
    const json = JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
    expect(JSON.parse(json)).toMatchObject({kind: 'partition', log: {lastOffset: '32'}})
  })
})

describe('findings', () => {
  test('have codes that are words, each with its meaning', () => {
    for (const [code, kind] of Object.entries<FindingKind>(findingCodes)) {
      expect(code).toMatch(/^[a-z]+(-[a-z0-9]+)*$/)
      expect(kind.meaning).toMatch(/^[A-Z].*\.$/)
      if (kind.kafka !== undefined) expect(kind.kafka).toMatch(/\.$/)
    }
  })

  test('are kept up to a bound, counted, and in the order of severity and place', () => {
    const list = new FindingList(2)
    for (const position of [30, 20, 10]) list.add('crc', {file: 'b', position, explanation: 'x'})
    list.add('crc', {file: 'a', position: 99, explanation: 'x'})
    list.add('offset-gap', {file: 'a', position: 1, explanation: 'x', severity: 'info'})
    list.more('offset-gap', 'warning', 7)
    expect(list.findings.map(({file, position}) => [file, position])).toEqual([
      ['b', 20],
      ['b', 30],
      ['a', 1],
    ])
    expect(list.counts).toEqual([
      {code: 'crc', severity: 'error', count: 4},
      {code: 'offset-gap', severity: 'warning', count: 7},
      {code: 'offset-gap', severity: 'info', count: 1},
    ])
    expect(list.count('error', 'warning')).toBe(11)
    expect([list.countOf('a'), list.countOf('b'), list.countOf('c')]).toEqual([1, 3, 0])
  })
})

test('words are wrapped behind their indentation', () => {
  expect(wrap('one two three four five six', '  - ', 24)).toEqual(['  - one two three four', '    five six'])
  expect(wrap('', '- ', 40)).toEqual(['- '])
})

test('columns are as wide as their widest cell', () => {
  expect(
    table(
      ['a', 'size', ''],
      [
        ['long name', '7', ''],
        ['b', '12,345', 'x'],
      ],
      [1],
    ),
  ).toEqual(['  a            size', '  long name       7', '  b          12,345  x'])
})
