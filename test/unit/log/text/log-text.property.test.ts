import fc from 'fast-check'
import {expect, test} from 'vitest'
import {scanBuffer} from '../../../../src/log/scan.js'
import {kafkaStyles} from '../../../../src/log/decode/style.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {batch} from '../arbitraries.js'
import {unescaped} from './escapes.js'
import {memoryFolder, print} from './golden-runs.js'
import {naiveLines} from './naive-text.js'
import {FinalReport} from '../../../../src/log/text/final-report.js'
import {dumpText, type DumpTextOptions} from '../../../../src/log/text/dump-kafka.js'
import {LineWriter} from '../../../../src/log/text/line-writer.js'

const name = '00000000000000000000.log'
const plain = batch.map(made => ({...made, codec: 'none' as const, isControl: false}))
const batches = fc.array(plain, {minLength: 1, maxLength: 4})

test('lines of any records, in every style, are those of a formatter that makes strings', async () => {
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.constantFrom(...kafkaStyles),
      fc.boolean(),
      fc.boolean(),
      async (made, style, data, skip) => {
        const log = Buffer.concat(made.map(writeBatch))
        const options = {style, printDataLog: data, deepIteration: true, skipRecordMetadata: skip}
        const {stdout} = await print(memoryFolder({[name]: log}), name, options)
        const expected = [Buffer.from(`Dumping ${name}\nLog starting offset: 0\n`), ...naiveLines(log, options)]
        expect(stdout.equals(Buffer.concat(expected))).toBe(true)
      },
    ),
    {numRuns: 300},
  )
})

/** All but the header line. */
async function kxLines(log: Buffer, options: Partial<DumpTextOptions>): Promise<string[]> {
  const folder = memoryFolder({[name]: log})
  const file = await folder.open(name)
  if (!file) throw new Error('no file')
  const written: Buffer[] = []
  const writer = new LineWriter(bytes => void written.push(Buffer.from(bytes)), 1000)
  const out = {writer, report: new FinalReport('4.4'), complain: () => {}, absolutePath: name}
  await dumpText('log', file, folder, {style: '4.4', dialect: 'kx', printDataLog: true, ...options}, out)
  await writer.drain()
  const text = Buffer.concat(written).toString('latin1')
  expect(text.endsWith('\n')).toBe(true)
  return text.slice(0, -1).split('\n').slice(1)
}

test("in kx's dialect each record is one line, and key, value and headers can be read back from it", async () => {
  await fc.assert(
    fc.asyncProperty(batches, async made => {
      const log = Buffer.concat(made.map(writeBatch))
      const lines = (await kxLines(log, {})).filter(line => line.startsWith('| '))
      const told = lines.map(line => parts(line))
      const records: unknown[] = []
      scanBuffer(log, each => {
        each.records(record => {
          const headers = record.headers.map(({keyBytes, value}) => [
            keyBytes.toString('hex'),
            value?.toString('hex') ?? null,
          ])
          records.push([record.key?.toString('hex') ?? null, record.value?.toString('hex') ?? null, headers])
        })
      })
      expect(told).toEqual(records)
    }),
    {numRuns: 300},
  )
})

const quoted = `("(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')`

/** Key, value and headers of a line, as hex. */
function parts(line: string): unknown[] {
  const headers = new RegExp(` header(?:s|Keys): \\[((?:${quoted}|[^\\]"'])*)\\]`).exec(line)
  const rest = line.slice((headers?.index ?? 0) + (headers?.[0].length ?? 0))
  const all = new RegExp(`^(?: key: ${quoted})?(?: payload: ${quoted})?$`).exec(rest)
  if (!headers || !all) throw new Error(`no line of a record: ${line}`)
  const entries = (headers[1] as string).matchAll(new RegExp(`(?:${quoted}|([^"',=]+))=(?:${quoted}|null)(?:,|$)`, 'g'))
  const hex = (text: string | undefined): string | null =>
    text === undefined ? null : unescaped(/^["']/.test(text) ? text.slice(1, -1) : text).toString('hex')
  return [hex(all[1]), hex(all[2]), [...entries].map(([, key, word, value]) => [hex(key ?? word), hex(value)])]
}

test("kx's dialect writes printable characters only", async () => {
  await fc.assert(
    fc.asyncProperty(batches, async made => {
      for (const line of await kxLines(Buffer.concat(made.map(writeBatch)), {})) {
        const text = Buffer.from(line, 'latin1').toString('utf8')
        expect(Buffer.from(text, 'utf8').toString('latin1')).toBe(line)
        expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
      }
    }),
    {numRuns: 200},
  )
})

test('redacted lines hold nothing of keys, values and header values', async () => {
  const secret = Buffer.from('s3cr3t')
  const record = {timestamp: 1n, key: secret, value: secret, headers: [{key: 'h', value: secret}]}
  const log = writeBatch({records: [record, record]})
  const lines = await kxLines(log, {redact: true})
  expect(lines.join('\n')).not.toContain('s3cr3t')
  expect(lines[1]).toContain('headers: [h=<redacted, 6 bytes>] key: <redacted, 6 bytes> payload: <redacted, 6 bytes>')
})

test('where lines are handed on in small pieces, the bytes are the same', async () => {
  const value = Buffer.from('ä\u{1f600}"\\\n'.repeat(30_000))
  const log = writeBatch({
    records: [
      {timestamp: 1n, key: null, value},
      {timestamp: 2n, key: Buffer.from('k'), value},
    ],
  })
  for (const valueFormat of ['string', 'hex', 'base64'] as const) {
    const lines = await kxLines(log, {valueFormat})
    expect(lines).toHaveLength(3)
    const [, shown = ''] = / payload: (.*)$/.exec(lines[1] as string) ?? []
    const bytes = valueFormat === 'string' ? unescaped(shown.slice(1, -1)) : Buffer.from(shown, valueFormat)
    expect(bytes.equals(value)).toBe(true)
  }
})
