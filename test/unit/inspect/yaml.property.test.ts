import fc from 'fast-check'
import {expect, test} from 'vitest'
import {parse} from 'yaml'
import {yamlBlock} from '../../../src/cli/answer.js'
import {DataWriter} from '../../../src/inspect/data-writer.js'
import {type Framing, OneDocument, OneValue} from '../../../src/inspect/framing.js'
import type {DumpInput, DumpOptions} from '../../../src/inspect/job.js'
import {classify} from '../../../src/log/files/kinds.js'
import {writeBatch} from '../../../src/log/write-batch.js'
import {file, folder, stem} from '../log/verify/folders.js'

const odd = [
  '"',
  "'",
  '\\',
  ': ',
  ' #',
  '\n',
  '\t',
  '\r',
  '\u0000',
  '\u001b',
  '\u0085',
  '\u2028',
  '- ',
  '? ',
  '{',
  '}',
  '&a',
  '*a',
  '!t',
  '%',
  '@',
  '`',
  '|',
  '>',
  '~',
]
const text = fc.array(
  fc.oneof(fc.constantFrom(...odd, 'null', 'true', '1', '0x1', 'ä', '😀'), fc.string({unit: 'grapheme', maxLength: 3})),
  {maxLength: 6},
)
const json = fc.constantFrom('{"a":1,"a":[2,{"b":null}]}', ' [1.50, "x: y"] ', '{"": {"long": true}}')
const bytes = fc.oneof(
  text.map(all => Buffer.from(all.join(''))),
  json.map(one => Buffer.from(one)),
  fc.uint8Array({maxLength: 8}).map(Buffer.from),
)
const field = fc.option(bytes)
const headers = fc.array(fc.record({key: fc.string({unit: 'grapheme', maxLength: 4}), value: field}), {maxLength: 2})
const record = fc.record({timestamp: fc.bigInt({min: -1n, max: 2n ** 62n}), key: field, value: field, headers})
const batches = fc.array(fc.array(record, {maxLength: 3}), {maxLength: 3})

async function shown(framing: Framing, bytes: Buffer, valueFormat: DumpOptions['valueFormat']): Promise<string> {
  const pieces: Buffer[] = []
  const options = {
    ...{deep: true, printData: true, decoder: 'none', valueFormat, redact: false, raw: false, filter: {}},
    ...{limit: Number.POSITIVE_INFINITY, signal: new AbortController().signal},
  } as unknown as DumpOptions
  const writer = new DataWriter(framing, piece => void pieces.push(Buffer.from(piece)), options)
  const name = `${stem}.log`
  const input = {
    file: file(bytes, name),
    classified: classify(name, bytes, bytes.length),
    folder: folder({[name]: bytes}),
  }
  await writer.file({...input, place: undefined, decoder: undefined} satisfies DumpInput)
  await writer.end()
  return Buffer.concat(pieces).toString()
}

test('YAML says what JSON says, whatever is in the records', async () => {
  const block = await yamlBlock()
  const formats = fc.constantFrom(undefined, 'json' as const, 'hex' as const)
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), formats, async (all, isControl, format) => {
      let baseOffset = 0n
      const log = Buffer.concat([
        ...all.map(records => {
          const batch = writeBatch({records, baseOffset, isControl, lastOffsetDelta: 5})
          baseOffset += 6n
          return batch
        }),
        Buffer.from('not a batch'),
      ])
      const value = JSON.parse(await shown(new OneValue(), log, format))
      expect(parse(await shown(new OneDocument(block), log, format))).toEqual(value)
    }),
    {numRuns: 400},
  )
})
